/*
 * proof - the figures that show whether congestion control works in one rack, from
 * sender over switch to receiver: marks (ECN), the notifications that answer them
 * (CNP), and pauses (PFC), added up over the last minute. Pure. proof_judge.h says what
 * they mean.
 *
 * Each RNIC and each port of the switch is a part with its own readings, so that a
 * single one does not disappear in the sum. A ratio uses only the parts that count both
 * of its sides. Unknown is not zero, and names the missing counter.
 *
 * The readings of the last PROOF_KEPT_NS count for each part; if a part is read more
 * seldom, its last one, until its age is twice the time that it covers.
 */
#ifndef TOR_AGGREGATOR_DIAGNOSIS_PROOF_H
#define TOR_AGGREGATOR_DIAGNOSIS_PROOF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "tor-aggregator/diagnosis/evidence.h"

#define PROOF_KEPT_NS (60 * RM_NS_PER_S)
#define PROOF_READINGS 12    /* of each part: a minute of them, one in 5 s */
#define PROOF_MAX_PARTS 2048 /* of each side */
/* A part without readings is dropped after this. */
#define PROOF_FORGET_NS (600 * RM_NS_PER_S)
#define PROOF_PRIORITIES EVIDENCE_INDEXES
#define PROOF_FEW 100 /* no share is computed of fewer */

/* A part paused for more than this share of a reading uses PFC to control load: at
 * most 1 % is healthy, and "for 30 s more than 5 %" is its steady state. */
#define PROOF_STEADY_PCT 5
#define PROOF_STEADY_NS (30 * RM_NS_PER_S)

/* From so many marks on, an RNIC without CNPs does not answer them: it must send one
 * for at least every 62 marks, and to a flow at most one in some 50 us, so that few
 * marks at once are answered by one. Shares are those of the diagnoses cnp-off and
 * cnp-ignored. */
#define PROOF_CNP_OFF_MARKS 1000
#define PROOF_CNP_OFF_PCT 0.1
#define PROOF_CNP_IGNORED_PCT 10

enum proof_side { PROOF_HOST, PROOF_SWITCH, PROOF_SIDES, PROOF_PROBES = PROOF_SIDES };

enum proof_number {
	PROOF_MARKED,  /* host: received so; switch: marked by it; probes: arrived so */
	PROOF_PACKETS, /* of which: received, sent, able to be marked */
	PROOF_CNPS_SENT,
	PROOF_CNPS_RECEIVED,
	PROOF_CNPS_IGNORED, /* of those received */
	PROOF_DROPPED,      /* of the switch: to be sent, of any class */
	PROOF_SENT,         /* of hosts: packets of RDMA */
	PROOF_NUMBERS,
};

enum proof_ratio {      /* in per cent */
	PROOF_PROBE_CE, /* of the probes that could be marked: with a mark on arrival */
	PROOF_SWITCH_CE,   /* of the packets that the switch sent: it has marked */
	PROOF_HOST_CE,     /* of the RDMA packets that RNICs received: with a mark */
	PROOF_CNP_PER_CE,  /* CNPs sent for those marks */
	PROOF_CNP_BALANCE, /* of the CNPs sent in the rack: so many reached RNICs of it
			    */
	PROOF_CNP_IGNORED, /* of the CNPs that reached RNICs: without effect */
	PROOF_RATIOS,
};

struct proof_sum {
	uint64_t of, per;
	double most_pct; /* of any part with PROOF_FEW of them */
	/* Parts that count both; and parts with two or more readings, none of which
	 * does. */
	uint32_t counted, missing;
};

struct proof_share { /* of the time, in one direction and priority */
	bool known;
	double pct; /* the most of any part, over all its readings that count */
	char who[EVIDENCE_NAME_BYTES];
	int64_t ns;      /* that those cover */
	uint32_t steady; /* parts paused that much, of all the time and in readings of
			    that length */
	uint32_t timed, untimed; /* parts that count time; that count only frames */
	double untimed_rate;     /* the most frames per second among the latter */
};

/* Pauses of one priority counted by one side. received: the other side paused it. */
struct proof_pauses {
	/* Any part counts this; else it is unknown, and 0 says nothing. */
	bool knows_received, knows_sent;
	uint64_t received, sent; /* frames */
	struct proof_share paused, pausing;
};

struct proof_parts {     /* of one side */
	uint32_t read;   /* with a reading that counts */
	uint32_t pauses; /* of those: that count pauses */
	bool ever;       /* a part was read at any time */
	int64_t age_ns;  /* of the newest reading, if ever */
	int64_t ns;      /* the longest time that a part's readings cover */
};

struct proof_worst { /* parts at fault, and the worst of them, with the most marks or
			CNPs */
	uint32_t parts;
	char who[EVIDENCE_NAME_BYTES];
	uint64_t of, per;
};

struct proof_total {
	struct proof_parts parts[PROOF_SIDES];
	struct proof_sum ratios[PROOF_RATIOS];
	struct proof_sum numbers[PROOF_SIDES][PROOF_NUMBERS]; /* each of itself */
	struct proof_pauses pauses[PROOF_SIDES][PROOF_PRIORITIES];
	struct proof_worst cnp_off;     /* of: CNPs sent, per: marks */
	struct proof_worst cnp_ignored; /* of: ignored, per: received */
};

struct proof;

struct proof *proof_new(void);        /* NULL when out of memory */
void proof_free(struct proof *proof); /* NULL is allowed */

/* Adds a reading that ended at `at`. A reading without a length, or beyond the
 * limits, is ignored. */
void proof_add_rnic(struct proof *proof, const struct evidence *evidence, rm_mono_t at);
/* With SWITCH_* numbers and a port's name. */
void proof_add_port(struct proof *proof, const struct evidence *evidence, rm_mono_t at);
/* Of probes that arrived with a mark or able to be marked, in the time up to `at`. */
void proof_add_probes(
    struct proof *proof, uint64_t markable, uint64_t marked, int64_t ns, rm_mono_t at);

void proof_sum_up(const struct proof *proof, rm_mono_t now, struct proof_total *ret);

/* Of RNICs that count all of it, and do so for PROOF_CNPS_NS at least: for one minute,
 * whatever time their readings cover. */
#define PROOF_CNPS_NS (30 * RM_NS_PER_S)
struct proof_cnps {
	uint32_t rnics;
	uint64_t rdma_sent, rdma_received, cnps_sent, cnps_received;
};

struct proof_cnps proof_cnps(const struct proof *proof, rm_mono_t now);
/* Whether the RNIC "host/device" is one of these. */
bool proof_counts_cnps(const struct proof *proof, const char *rnic, rm_mono_t now);

const char *proof_ratio_str(enum proof_ratio ratio);  /* "host_ce" */
const char *proof_ratio_what(enum proof_ratio ratio); /* a phrase, for display */

enum proof_status {
	PROOF_KNOWN,
	PROOF_IDLE,    /* nothing to take a share of */
	PROOF_UNKNOWN, /* no part counts it, or the readings are outdated */
};

/* error: why it is not known, or for how few parts it is; "": of all. */
#define PROOF_TEXT 240
enum proof_status proof_read(const struct proof_total *total, enum proof_ratio ratio,
    double *ret, char error[PROOF_TEXT]);

#endif
