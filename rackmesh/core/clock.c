#include "rackmesh/core/clock.h"

#include <time.h>

static int64_t
clock_read(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t); /* cannot fail for these clocks */
	return (int64_t)t.tv_sec * RM_NS_PER_S + t.tv_nsec;
}

rm_mono_t
rm_mono_now(void)
{
	return (rm_mono_t){ clock_read(CLOCK_MONOTONIC) };
}

rm_wall_t
rm_wall_now(void)
{
	return (rm_wall_t){ clock_read(CLOCK_REALTIME) };
}

int64_t
rm_thread_cpu_ns(void)
{
	return clock_read(CLOCK_THREAD_CPUTIME_ID);
}
