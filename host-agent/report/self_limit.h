/*
 * self_limit - how much the agent holds itself back, so that it never costs its host
 * more than it may.
 *
 * Over a limit for SELF_LIMIT_OVER_SAMPLES in a row its pace falls by a step, down to a
 * floor and never to silence; well below it for a while it rises by one. A rise that
 * had to be taken back makes the next one wait twice as long. Pure: samples come in.
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
#define SELF_LIMIT_QUIET_NS (10 * RM_NS_PER_S) /* before the first rise */
#define SELF_LIMIT_QUIET_MAX_NS (320 * RM_NS_PER_S)

struct self_limit_options {
	uint64_t cpu_percent;  /* of one core; 0: no limit */
	uint64_t memory_bytes; /* resident; 0: no limit */
};

struct self_sample {
	int64_t cpu_ns; /* that the process has used since its start */
	uint64_t memory_bytes;
};

struct self_limit { /* by self_limit_init */
	struct self_limit_options options;
	uint32_t permille;     /* of what pinglists ask for */
	enum wire_slow reason; /* WIRE_SLOW_NOT at 1000 */
	double cpu_percent;    /* by the last two samples */
	uint64_t memory_bytes;
	uint64_t falls, rises;

	bool sampled;
	int64_t cpu_ns;
	rm_mono_t at, quiet_since, risen;
	int64_t quiet_ns; /* so long it has to be calm before a rise */
	unsigned over;    /* samples in a row */
};

void self_limit_init(
    struct self_limit *limit, const struct self_limit_options *options);
/* Other options, at the pace of now. */
void self_limit_tune(
    struct self_limit *limit, const struct self_limit_options *options);

/* Once every SELF_LIMIT_INTERVAL_NS. True: permille or why has changed. */
bool self_limit_take(
    struct self_limit *limit, const struct self_sample *sample, rm_mono_t now);

/* What this process uses of its host, as the kernel counts it. */
struct self_sample;

/* Some microseconds. -EBADMSG: the kernel says what we do not understand. */
int self_sample_read(struct self_sample *ret);

#endif
