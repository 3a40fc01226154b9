#include "rackmesh/core/clock.h"

#include <stdio.h>
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

void
rm_wall_format(rm_wall_t t, char text[RM_WALL_TEXT])
{
	int64_t ns = t.ns % RM_NS_PER_S;
	time_t s = t.ns / RM_NS_PER_S;
	struct tm tm;
	size_t at;

	if (ns < 0) { /* before 1970: round towards the past, as after it */
		ns += RM_NS_PER_S;
		s--;
	}
	gmtime_r(&s, &tm);
	at = strftime(text, RM_WALL_TEXT, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + at, RM_WALL_TEXT - at, ".%03uZ",
	    (unsigned)(ns / RM_NS_PER_MS) % 1000);
}
