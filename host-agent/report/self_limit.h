/*
 * self_limit - slows down probing when the agent uses more CPU or memory than its
 * limits.
 *
 * After SELF_LIMIT_OVER_SAMPLES samples in a row above a limit the rate falls by a
 * step, to SELF_LIMIT_FLOOR at the lowest. After a time of low usage it rises by a
 * step. If a rise is followed by a fall, the next rise waits twice as long. Pure:
 * samples are arguments.
 */
#ifndef HOST_AGENT_REPORT_SELF_LIMIT_H
#define HOST_AGENT_REPORT_SELF_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

#define SELF_LIMIT_INTERVAL_NS RM_NS_PER_S /* between two samples */
#define SELF_LIMIT_FLOOR 100               /* permille */
#define SELF_LIMIT_OVER_SAMPLES 3
/* time of low usage before the first rise */
#define SELF_LIMIT_QUIET_NS (10 * RM_NS_PER_S)
#define SELF_LIMIT_QUIET_MAX_NS (320 * RM_NS_PER_S)

struct self_limit_options {
	uint64_t cpu_percent;  /* percent of one core; 0: no limit */
	uint64_t memory_bytes; /* resident memory; 0: no limit */
};

struct self_sample {
	int64_t cpu_ns; /* CPU time of the process since its start */
	uint64_t memory_bytes;
};

struct self_limit { /* by self_limit_init */
	struct self_limit_options options;
	uint32_t permille;     /* share of the rates that pinglists ask for */
	enum wire_slow reason; /* WIRE_SLOW_NOT at 1000 */
	double cpu_percent;    /* percent of one core, between the last two samples */
	uint64_t memory_bytes;
	uint64_t falls, rises;

	bool sampled;
	int64_t cpu_ns;
	rm_mono_t at, quiet_since, risen;
	int64_t quiet_ns; /* time of low usage before the next rise */
	unsigned over;    /* number of samples in a row above a limit */
};

void self_limit_init(
    struct self_limit *limit, const struct self_limit_options *options);
/* Changes the options and keeps the present rate. */
void self_limit_tune(
    struct self_limit *limit, const struct self_limit_options *options);

/* Call it every SELF_LIMIT_INTERVAL_NS. True: permille or the reason changed. */
bool self_limit_take(
    struct self_limit *limit, const struct self_sample *sample, rm_mono_t now);

/* CPU and memory of this process, from the kernel. */
struct self_sample;

/* Takes some microseconds. -EBADMSG: the kernel's text is not understood. */
int self_sample_read(struct self_sample *ret);

#endif
