/*
 * proof - what tells whether congestion control works for one rack, from sender over
 * switch to receiver: marks (ECN), the notifications that answer them (CNP), and pauses
 * (PFC), added up over the last minute. Pure. What it means says proof_judge.h.
 *
 * Each RNIC and each port of the switch is a part, and its readings are kept apart, so
 * that one of them does not hide in the sum. A ratio is of those parts alone that count
 * both of its sides. Unknown is not zero, and says which counter is missing.
 *
 * Of each part the readings of the last PROOF_KEPT_NS count; of one that is read more
 * seldom the last one, until its age is twice the time that it covers.
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
#define PROOF_FORGET_NS                                              \
	(600 * RM_NS_PER_S) /* a part without readings, at the least \
			     */
#define PROOF_PRIORITIES EVIDENCE_INDEXES
#define PROOF_FEW 100 /* of which no share is taken */

/* Paused for so long a share of a reading, PFC carries load: at most 1 % is healthy,
 * and "for 30 s more than 5 %" is its steady state. */
#define PROOF_STEADY_PCT 5
#define PROOF_STEADY_NS (30 * RM_NS_PER_S)

/* From so many marks on an RNIC without CNPs answers none: it sends one for each 62
 * marks at the least, and to a flow one in some 50 us at the most, so that few marks at
 * once are answered by one. Shares as of the diagnoses cnp-off and cnp-ignored. */
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
	/* Parts that count both, and those of whose readings, two or more, none does.
	 */
	uint32_t counted, missing;
};

struct proof_share { /* of the time, in one direction and priority */
	bool known;
	double pct; /* the most of any part, over all its readings that count */
	char who[EVIDENCE_NAME_BYTES];
	int64_t ns; /* that those cover */
	uint32_t
	    steady; /* parts held up so, of all the time and in readings of so long */
	uint32_t timed, untimed; /* parts that count it; that count frames alone */
	double untimed_rate;     /* the most frames per second of one of the latter */
};

/* What one side counts of one priority. received: the other side paused it. */
struct proof_pauses {
	/* Any part counts this; else it is unknown, and 0 says nothing. */
	bool knows_received, knows_sent;
	uint64_t received, sent; /* frames */
	struct proof_share paused, pausing;
};

struct proof_parts {     /* of one side */
	uint32_t read;   /* with a reading that counts */
	uint32_t pauses; /* of those: that count pauses */
	bool ever;       /* any part was read, lately or not */
	int64_t age_ns;  /* of the newest reading, if ever */
	int64_t ns;      /* the longest time that a part's readings cover */
};

struct proof_worst { /* parts at fault, and the one of them with the most marks or CNPs
		      */
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
void proof_free(struct proof *proof); /* NULL is fine */

/* A reading that ended at `at`. Without a length, or beyond the limits, it is left
 * out. */
void proof_add_rnic(struct proof *proof, const struct evidence *evidence, rm_mono_t at);
/* With SWITCH_* numbers and a port's name. */
void proof_add_port(struct proof *proof, const struct evidence *evidence, rm_mono_t at);
/* Of those that arrived able to be marked, in the time up to `at`. */
void proof_add_probes(
    struct proof *proof, uint64_t markable, uint64_t marked, int64_t ns, rm_mono_t at);

void proof_sum_up(const struct proof *proof, rm_mono_t now, struct proof_total *ret);

const char *proof_ratio_str(enum proof_ratio ratio);  /* "host_ce" */
const char *proof_ratio_what(enum proof_ratio ratio); /* a phrase, for people */

enum proof_status {
	PROOF_KNOWN,
	PROOF_IDLE,    /* nothing to take a share of */
	PROOF_UNKNOWN, /* nobody counts it, or the readings are old */
};

/* error: why it is not known, or of how few it is known; "": of all. */
#define PROOF_TEXT 240
enum proof_status proof_read(const struct proof_total *total, enum proof_ratio ratio,
    double *ret, char error[PROOF_TEXT]);

#endif
