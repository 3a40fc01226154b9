/*
 * clock - the two clocks, as two types that the compiler keeps apart.
 *
 * rm_mono_t is for schedules and durations; rm_wall_t is only for data. Pure modules
 * take time as an argument and never call the two *_now functions.
 */
#ifndef RACKMESH_CORE_CLOCK_H
#define RACKMESH_CORE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define RM_NS_PER_US INT64_C(1000)
#define RM_NS_PER_MS INT64_C(1000000)
#define RM_NS_PER_S INT64_C(1000000000)

typedef struct {
	int64_t ns; /* CLOCK_MONOTONIC */
} rm_mono_t;

typedef struct {
	int64_t ns; /* CLOCK_REALTIME, since the epoch */
} rm_wall_t;

rm_mono_t rm_mono_now(void);
rm_wall_t rm_wall_now(void);

/* CPU time of the calling thread so far, in ns: to measure what some work costs. */
int64_t rm_thread_cpu_ns(void);

static inline rm_mono_t
rm_mono_add(rm_mono_t t, int64_t ns)
{
	return (rm_mono_t){ t.ns + ns };
}

/* later - earlier, in ns; negative when `later` is before `earlier`. */
static inline int64_t
rm_mono_since(rm_mono_t later, rm_mono_t earlier)
{
	return later.ns - earlier.ns;
}

/* RFC 3339 in UTC with milliseconds, "2026-01-31T12:00:00.000Z". */
#define RM_WALL_TEXT 32
void rm_wall_format(rm_wall_t t, char text[RM_WALL_TEXT]);
/* Reads such a time, with any number of digits of the fraction, without a fraction, or
 * without seconds. False: not such a time, or not in the years 1970 to 2200. */
bool rm_wall_parse(const char *text, rm_wall_t *ret);

#endif
