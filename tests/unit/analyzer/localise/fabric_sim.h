/*
 * fabric_sim - a simulated Clos fabric of racks that probe each other through
 * spines, with faults on demand. Its path rows are sent in real messages to the
 * real judge.
 *
 * Time is simulated and random numbers have a seed, so each run can be repeated
 * exactly. Racks are "tor1", "tor2", ..., spines "s1", "s2", ...; the summaries of
 * each rack end at its own phase of the second, and arrive 0.6 to 1.4 s later. If no
 * reply of a pair arrives, the direction of the loss is not known, as in a real
 * fabric.
 */
#ifndef TESTS_FABRIC_SIM_H
#define TESTS_FABRIC_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/localise/localise.h"

#define FABRIC_MAX_TORS 1024
#define FABRIC_MAX_FAULTS 128
#define FABRIC_STEP_NS (250 * RM_NS_PER_MS)

enum fabric_fault_kind {
	FABRIC_DOWN_PORT, /* spine -> ToR drops `share` of all flows */
	FABRIC_UP_PORT,   /* ToR -> spine drops `share` of all flows */
	FABRIC_LINK,      /* drops all packets in both directions */
	FABRIC_SPINE,     /* `spine` drops `share` of all flows */
	FABRIC_TOR,       /* `tor` drops all packets; its rows still arrive, over the
			     management network */
	FABRIC_LOSSY,     /* spine -> ToR drops `share` of the packets */
	FABRIC_REPLIES,   /* drops replies from ToR `tor` to ToR number `spine`, in
			     `share` of flows */
	FABRIC_RNIC, /* RNIC 0 of `tor` is dead in both directions, for `share` of the
			time */
	FABRIC_MUTE, /* rows of `tor` do not arrive */
	FABRIC_NO_HOSTS, /* the rack of `tor` sends no rows, and reports that none of
			    its hosts reports */
	FABRIC_PAUSED,   /* the rack of `tor` sends no rows, and reports that all its
			    agents are paused */
	FABRIC_LATE, /* spine -> ToR delays by 400 ms: replies still arrive before the
			time-out */
	FABRIC_OVERDUE, /* spine -> ToR delays by 1.5 s: probes are reported as lost
			 before their replies arrive */
	FABRIC_OVERDUE_LINK, /* the same in both directions */
	FABRIC_LATE_SPINE,   /* `spine` delays by 400 ms */
	FABRIC_LATE_RNIC,    /* packets to RNIC 0 of `tor` are delayed by 400 ms */
	FABRIC_CLOCK,        /* the clock of `tor`'s aggregator is ten years ahead */
};

struct fabric_fault {
	enum fabric_fault_kind kind;
	size_t tor, spine; /* from 0 */
	double share;
	int64_t from_ns, to_ns;
};

struct fabric_options {
	size_t tors, spines;
	const size_t *rnics; /* number of RNICs of each ToR; NULL: 4 each */
	size_t peers;        /* number of other racks that each rack probes; 0: all */
	size_t flows;        /* flows of a pair of racks, in each direction */
	double flow_rate;    /* probes per second of a flow */
	double loss;         /* share of packets that are lost without a fault, in each
				direction */
	bool same_back; /* replies cross the spine of their probe; else a random one */
	uint64_t seed;
};

struct fabric;

int fabric_new(const struct fabric_options *options, struct fabric **ret);
void fabric_free(struct fabric *fabric);
void fabric_add_fault(struct fabric *fabric, struct fabric_fault fault);
/* From now on no probe crosses this spine, as after a routing change. */
void fabric_avoid(struct fabric *fabric, size_t spine);

/* Simulates 250 ms, and judges. Returns the number of verdicts. */
int fabric_step(struct fabric *fabric, const struct rm_verdict **verdicts);
int64_t fabric_now(const struct fabric *fabric);
struct localise *fabric_localise(struct fabric *fabric);
uint64_t fabric_probes(const struct fabric *fabric);
uint64_t fabric_lost(const struct fabric *fabric);
/* Counts the flows whose probes cross the faulty part: *dead: those of which it drops
 * all packets; *alive: those that it lets pass. Not for FABRIC_LOSSY. */
void fabric_flows(struct fabric *fabric, const struct fabric_fault *fault, size_t *dead,
    size_t *alive);
int64_t fabric_judge_ns(const struct fabric *fabric); /* time of the last judgement */

#endif
