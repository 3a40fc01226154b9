#include "rackmesh/core/backoff.h"

int64_t
rm_backoff_next_ns(struct rm_backoff *backoff, uint64_t random)
{
	int64_t most = backoff->base_ns;

	for (unsigned i = 0; i < backoff->attempt && most < backoff->cap_ns; i++)
		most = most > INT64_MAX / 2 ? INT64_MAX : most * 2;
	if (most < backoff->cap_ns)
		backoff->attempt++; /* a larger exponent would overflow one day */
	else
		most = backoff->cap_ns;
	if (most <= 0)
		return 0;
	return (int64_t)(random % ((uint64_t)most + 1));
}

void
rm_backoff_reset(struct rm_backoff *backoff)
{
	backoff->attempt = 0;
}
