#include "tests/support/failing_new.h"

#include <stddef.h>
#include <stdlib.h>

/* The names of C++'s operators in the ABI of gcc and clang. */
void *_Znwm(size_t size);
void *_Znam(size_t size);
void *_ZnwmRKSt9nothrow_t(size_t size, const void *nothrow);
void *_ZnamRKSt9nothrow_t(size_t size, const void *nothrow);
void _ZdlPv(void *p);
void _ZdlPvm(void *p, size_t size);
void _ZdaPv(void *p);
void _ZdaPvm(void *p, size_t size);
_Noreturn void _ZSt17__throw_bad_allocv(void);

static unsigned armed;

void
failing_new_arm(unsigned n)
{
	armed = n;
}

bool
failing_new_disarm(void)
{
	bool still = armed > 0;

	armed = 0;
	return still;
}

void *
_ZnwmRKSt9nothrow_t(size_t size, const void *nothrow)
{
	void *p = NULL;

	if (armed != 1)
		p = malloc(size ? size : 1);
	if (armed > 0)
		armed--;
	return p;
}

void *
_Znwm(size_t size)
{
	void *p = _ZnwmRKSt9nothrow_t(size, NULL);

	if (p == NULL)
		_ZSt17__throw_bad_allocv();
	return p;
}

void *
_ZnamRKSt9nothrow_t(size_t size, const void *nothrow)
{
	return _ZnwmRKSt9nothrow_t(size, nothrow);
}

void *
_Znam(size_t size)
{
	return _Znwm(size);
}

void
_ZdlPv(void *p)
{
	free(p);
}

void
_ZdlPvm(void *p, size_t size)
{
	free(p);
}

void
_ZdaPv(void *p)
{
	free(p);
}

void
_ZdaPvm(void *p, size_t size)
{
	free(p);
}
