#include "rackmesh/core/random.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

uint64_t
rm_random_u64(void)
{
	uint64_t bits;
	ssize_t n;

	do
		n = getrandom(&bits, sizeof(bits), 0);
	while (n < 0 && errno == EINTR);
	/* There is no fallback: a predictable epoch is worse than a daemon that does
	 * not start. */
	if (n != (ssize_t)sizeof(bits))
		abort();
	return bits;
}
