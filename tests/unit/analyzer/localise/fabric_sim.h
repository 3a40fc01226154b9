/*
 * fabric_sim - a Clos of racks that probe each other through spines, with faults on
 * demand: path rows go through the real messages into the real judgement.
 *
 * Time is simulated, randomness is seeded: a run repeats exactly. Racks are "tor1",
 * "tor2", ..., spines "s1", "s2", ...; summaries end at each rack's own phase of the
 * second and come 0.6 to 1.4 s later. Where nothing of a pair comes back, nobody knows
 * which way it was lost, as in the real thing.
 */
#ifndef TESTS_FABRIC_SIM_H
#define TESTS_FABRIC_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/localise/localise.h"

#define FABRIC_MAX_TORS 1024
#define FABRIC_MAX_FAULTS 8
#define FABRIC_STEP_NS (250 * RM_NS_PER_MS)

enum fabric_fault_kind {
	FABRIC_DOWN_PORT, /* spine -> ToR: `share` of all flows die */
	FABRIC_UP_PORT,   /* ToR -> spine, the same */
	FABRIC_LINK,      /* both ways, all */
	FABRIC_SPINE,     /* `spine`, `share` of all flows */
	FABRIC_TOR,       /* `tor`, all; its rows still come, over the other network */
	FABRIC_LOSSY,     /* spine -> ToR: `share` of packets */
	FABRIC_REPLIES,   /* replies from tor to tor `spine`, `share` of flows */
	FABRIC_RNIC,      /* RNIC 0 of `tor`, both ways, for `share` of the time */
	FABRIC_MUTE,      /* rows of `tor` do not come */
	FABRIC_LATE,      /* spine -> ToR: 400 ms, within what probes wait for */
	FABRIC_OVERDUE,   /* the same, 1.5 s: they are given up, and come then */
	FABRIC_OVERDUE_LINK, /* both ways */
	FABRIC_LATE_SPINE,   /* `spine`: 400 ms */
	FABRIC_LATE_RNIC,    /* what is sent to RNIC 0 of `tor`: 400 ms */
	FABRIC_CLOCK,        /* that of `tor`'s aggregator stands ten years ahead */
};

struct fabric_fault {
	enum fabric_fault_kind kind;
	size_t tor, spine; /* from 0 */
	double share;
	int64_t from_ns, to_ns;
};

struct fabric_options {
	size_t tors, spines;
	const size_t *rnics; /* by ToR; NULL: 4 each */
	size_t peers;        /* other racks that each one probes; 0: all */
	size_t flows;        /* of a pair of racks, each way */
	double flow_rate;    /* probes per second of a flow */
	double loss;         /* background, each way */
	bool same_back;      /* replies take the probe's spine; else by chance */
	uint64_t seed;
};

struct fabric;

int fabric_new(const struct fabric_options *options, struct fabric **ret);
void fabric_free(struct fabric *fabric);
void fabric_add_fault(struct fabric *fabric, struct fabric_fault fault);
/* From now on probes go where the spine is not taken: as after a routing change. */
void fabric_avoid(struct fabric *fabric, size_t spine);

/* 250 ms on, and judged. Returns how many verdicts. */
int fabric_step(struct fabric *fabric, const struct rm_verdict **verdicts);
int64_t fabric_now(const struct fabric *fabric);
struct localise *fabric_localise(struct fabric *fabric);
uint64_t fabric_probes(const struct fabric *fabric);
uint64_t fabric_lost(const struct fabric *fabric);
/* Of the flows whose probes cross what the fault is on: how many it swallows whole, and
 * how many it lets pass. Of all kinds but FABRIC_LOSSY. */
void fabric_flows(struct fabric *fabric, const struct fabric_fault *fault, size_t *dead,
    size_t *alive);
int64_t fabric_judge_ns(const struct fabric *fabric); /* the last judgement's cost */

#endif
