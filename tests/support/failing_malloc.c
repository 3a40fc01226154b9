#include "tests/support/failing_malloc.h"

#include <errno.h>
#include <stddef.h>

/* The linker's names for the allocator's functions and their replacements. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *p, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t len);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *p, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t len);

static unsigned armed;

void
failing_malloc_arm(unsigned n)
{
	armed = n;
}

bool
failing_malloc_disarm(void)
{
	bool still = armed > 0;

	armed = 0;
	return still;
}

static bool
fails(void)
{
	if (armed == 0 || --armed > 0)
		return false;
	errno = ENOMEM;
	return true;
}

void *
__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *
__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : __real_calloc(count, size);
}

void *
__wrap_realloc(void *p, size_t size)
{
	return fails() ? NULL : __real_realloc(p, size);
}

char *
__wrap_strdup(const char *text)
{
	return fails() ? NULL : __real_strdup(text);
}

char *
__wrap_strndup(const char *text, size_t len)
{
	return fails() ? NULL : __real_strndup(text, len);
}
