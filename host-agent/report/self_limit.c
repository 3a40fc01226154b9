#include "host-agent/report/self_limit.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* Usage counts as low if it is below these shares of both limits. */
#define QUIET_CPU 0.75
#define QUIET_MEMORY 0.90
/* CPU usage is not measured over a shorter time: the result would be too
 * imprecise, because of the resolution of the clock. */
#define MIN_SPAN_NS (100 * RM_NS_PER_MS)
/* After this time a rise of the rate counts as successful. */
#define HELD_NS (60 * RM_NS_PER_S)

static const uint32_t steps[] = { 1000, 500, 250, SELF_LIMIT_FLOOR };

#define STEPS (sizeof(steps) / sizeof(steps[0]))

void
self_limit_init(struct self_limit *limit, const struct self_limit_options *options)
{
	*limit = (struct self_limit){ .options = *options,
		.permille = steps[0],
		.quiet_ns = SELF_LIMIT_QUIET_NS,
		.risen = { INT64_MIN / 2 } };
}

void
self_limit_tune(struct self_limit *limit, const struct self_limit_options *options)
{
	limit->options = *options;
	limit->over = 0;
}

/* Returns the index of the present rate among the steps. */
static size_t
step_of(const struct self_limit *limit)
{
	size_t i = 0;

	while (i + 1 < STEPS && steps[i] != limit->permille)
		i++;
	return i;
}

static enum wire_slow
what_is_over(const struct self_limit *limit)
{
	const struct self_limit_options *options = &limit->options;

	if (options->memory_bytes != 0 && limit->memory_bytes > options->memory_bytes)
		return WIRE_SLOW_MEMORY;
	if (options->cpu_percent != 0 &&
	    limit->cpu_percent > (double)options->cpu_percent)
		return WIRE_SLOW_CPU;
	return WIRE_SLOW_NOT;
}

static bool
is_quiet(const struct self_limit *limit)
{
	const struct self_limit_options *options = &limit->options;

	return (options->cpu_percent == 0 ||
		   limit->cpu_percent < QUIET_CPU * (double)options->cpu_percent) &&
	       (options->memory_bytes == 0 ||
		   (double)limit->memory_bytes <
		       QUIET_MEMORY * (double)options->memory_bytes);
}

static void
fall(struct self_limit *limit, enum wire_slow reason, rm_mono_t now)
{
	size_t step = step_of(limit);

	limit->reason = reason;
	limit->over = 0;
	if (step + 1 == STEPS)
		return;
	/* The last rise was followed by too much usage: the next rise has to wait
	 * longer. */
	if (rm_mono_since(now, limit->risen) < HELD_NS &&
	    limit->quiet_ns < SELF_LIMIT_QUIET_MAX_NS)
		limit->quiet_ns *= 2;
	limit->permille = steps[step + 1];
	limit->falls++;
}

static void
rise(struct self_limit *limit, rm_mono_t now)
{
	limit->permille = steps[step_of(limit) - 1];
	limit->risen = now;
	limit->quiet_since = now;
	limit->rises++;
	if (limit->permille == steps[0])
		limit->reason = WIRE_SLOW_NOT;
}

static void
judge(struct self_limit *limit, rm_mono_t now)
{
	enum wire_slow over = what_is_over(limit);

	if (limit->permille == steps[0] && rm_mono_since(now, limit->risen) > HELD_NS)
		limit->quiet_ns = SELF_LIMIT_QUIET_NS;
	if (over != WIRE_SLOW_NOT) {
		limit->quiet_since = now;
		if (++limit->over >= SELF_LIMIT_OVER_SAMPLES)
			fall(limit, over, now);
		return;
	}
	limit->over = 0;
	if (!is_quiet(limit)) {
		limit->quiet_since = now;
		return;
	}
	if (limit->permille != steps[0] &&
	    rm_mono_since(now, limit->quiet_since) >= limit->quiet_ns)
		rise(limit, now);
}

bool
self_limit_take(
    struct self_limit *limit, const struct self_sample *sample, rm_mono_t now)
{
	int64_t span = rm_mono_since(now, limit->at);
	uint32_t permille = limit->permille;
	enum wire_slow reason = limit->reason;

	if (limit->sampled && span < MIN_SPAN_NS)
		return false;
	limit->memory_bytes = sample->memory_bytes;
	if (limit->sampled) {
		limit->cpu_percent =
		    100.0 * (double)(sample->cpu_ns - limit->cpu_ns) / (double)span;
		judge(limit, now);
	} else {
		limit->quiet_since = now;
	}
	limit->sampled = true;
	limit->cpu_ns = sample->cpu_ns;
	limit->at = now;
	return permille != limit->permille || reason != limit->reason;
}

/* The fields are in pages: size, resident, shared, ... */
static int
read_resident(uint64_t *ret)
{
	char text[128];
	unsigned long long size, resident;
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n < 0)
		return -EIO;
	text[n] = '\0';
	if (sscanf(text, "%llu %llu", &size, &resident) != 2)
		return -EBADMSG;
	*ret = resident * (uint64_t)sysconf(_SC_PAGESIZE);
	return 0;
}

int
self_sample_read(struct self_sample *ret)
{
	struct self_sample sample;
	struct timespec used;
	int r;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) < 0)
		return -errno;
	sample.cpu_ns = used.tv_sec * RM_NS_PER_S + used.tv_nsec;
	r = read_resident(&sample.memory_bytes);
	if (r == 0)
		*ret = sample;
	return r;
}
