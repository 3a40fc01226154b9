/*
 * proof - sums up, over the last minute, the counters that show whether congestion
 * control works in one rack: ECN marks, the CNPs that answer them, and PFC pauses.
 * Pure. proof_judge.h interprets these sums.
 *
 * Each RNIC and each port of the switch is a part with its own readings, so that a
 * single bad part is not hidden in a sum. A ratio uses only parts that have both
 * counters. A value that is not known is never taken for 0; the missing counter is
 * named instead.
 *
 * For each part the readings of the last PROOF_KEPT_NS are used. If a part is read less
 * often, its last reading is used, until its age is twice the time that it covers.
 */
#ifndef TOR_AGGREGATOR_DIAGNOSIS_PROOF_H
#define TOR_AGGREGATOR_DIAGNOSIS_PROOF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "tor-aggregator/diagnosis/evidence.h"

#define PROOF_KEPT_NS (60 * RM_NS_PER_S)
/* readings of one part that are kept: one every 5 s for a minute */
#define PROOF_READINGS 12
#define PROOF_MAX_PARTS 2048 /* maximum number of parts of one side */
/* After this time a part without readings is deleted. */
#define PROOF_FORGET_NS (600 * RM_NS_PER_S)
#define PROOF_PRIORITIES EVIDENCE_INDEXES
#define PROOF_FEW 100 /* if there are fewer packets, no share is calculated */

/* A part that is paused for more than PROOF_STEADY_PCT of the time, for
 * PROOF_STEADY_NS, is paused steadily: PFC then limits the load, which is the task of
 * ECN. Up to 1 % is healthy. */
#define PROOF_STEADY_PCT 5
#define PROOF_STEADY_NS (30 * RM_NS_PER_S)

/* An RNIC with at least this many marks and no CNPs does not answer marks. An RNIC must
 * send a CNP for at most 62 marks; but it sends a flow at most one in about 50 us, so
 * one CNP may answer several marks that arrive together. The shares are those of the
 * diagnoses cnp-off and cnp-ignored. */
#define PROOF_CNP_OFF_MARKS 1000
#define PROOF_CNP_OFF_PCT 0.1
#define PROOF_CNP_IGNORED_PCT 10

enum proof_side { PROOF_HOST, PROOF_SWITCH, PROOF_SIDES, PROOF_PROBES = PROOF_SIDES };

enum proof_number {
	/* marked packets: those that hosts have received, those that the switch has
	   marked, and probes that arrived marked */
	PROOF_MARKED,
	/* all such packets: those that hosts have received, those that the switch has
	   sent, and probes that could be marked */
	PROOF_PACKETS,
	PROOF_CNPS_SENT,
	PROOF_CNPS_RECEIVED,
	PROOF_CNPS_IGNORED, /* part of PROOF_CNPS_RECEIVED */
	/* packets that the switch dropped before sending, of all classes */
	PROOF_DROPPED,
	PROOF_SENT, /* RDMA packets that hosts sent */
	PROOF_NUMBERS,
};

enum proof_ratio { /* in per cent */
	/* share of the probes that could be marked that arrived with a mark */
	PROOF_PROBE_CE,
	/* share of the packets sent by the switch that it has marked */
	PROOF_SWITCH_CE,
	/* share of the RDMA packets received by RNICs that had a mark */
	PROOF_HOST_CE,
	/* CNPs sent, as a share of the marked packets that RNICs have received */
	PROOF_CNP_PER_CE,
	/* CNPs received in the rack, as a share of the CNPs sent in the rack */
	PROOF_CNP_BALANCE,
	PROOF_CNP_IGNORED, /* share of the CNPs received by RNICs that had no effect */
	PROOF_RATIOS,
};

struct proof_sum {
	uint64_t of, per;
	/* highest share of one part, among the parts with at least PROOF_FEW packets */
	double most_pct;
	/* counted: number of parts that have both counters; missing: number of parts
	 * that were read at least twice and lack one of the two counters */
	uint32_t counted, missing;
};

struct proof_share { /* a share of the time, in one direction and priority */
	bool known;
	double pct; /* highest share of one part, over all its readings that are used */
	char who[EVIDENCE_NAME_BYTES];
	int64_t ns; /* the time that these readings cover */
	/* number of parts that are paused steadily: for PROOF_STEADY_PCT of the time,
	 * in readings of PROOF_STEADY_NS or more */
	uint32_t steady;
	/* number of parts that count the paused time; that count only frames */
	uint32_t timed, untimed;
	/* highest number of frames per second among the parts that count only frames */
	double untimed_rate;
};

/* Pauses of one priority, counted by one side. received: pauses that the other side
 * sent. */
struct proof_pauses {
	/* A part has this counter; false: the number is 0, but not known. */
	bool knows_received, knows_sent;
	uint64_t received, sent; /* frames */
	struct proof_share paused, pausing;
};

struct proof_parts {     /* counts of the parts of one side */
	uint32_t read;   /* parts with a reading that is used */
	uint32_t pauses; /* number of the parts in `read` that count pauses */
	bool ever;       /* some part was read at some time */
	int64_t age_ns;  /* age of the newest reading; valid only if `ever` is set */
	int64_t ns;      /* the longest time that a part's readings cover */
};

/* number of parts at fault, and the worst of them: the part with the most marks or CNPs
 */
struct proof_worst {
	uint32_t parts;
	char who[EVIDENCE_NAME_BYTES];
	uint64_t of, per;
};

struct proof_total {
	struct proof_parts parts[PROOF_SIDES];
	struct proof_sum ratios[PROOF_RATIOS];
	/* the sums of each number */
	struct proof_sum numbers[PROOF_SIDES][PROOF_NUMBERS];
	struct proof_pauses pauses[PROOF_SIDES][PROOF_PRIORITIES];
	/* RNICs that do not answer marks; of: CNPs sent, per: marks */
	struct proof_worst cnp_off;
	/* RNICs that ignore CNPs; of: ignored, per: received */
	struct proof_worst cnp_ignored;
};

struct proof;

struct proof *proof_new(void);        /* NULL when out of memory */
void proof_free(struct proof *proof); /* NULL is allowed */

/* Adds a reading that ended at `at`. A reading with a length of 0, or beyond the
 * limits, is ignored. */
void proof_add_rnic(struct proof *proof, const struct evidence *evidence, rm_mono_t at);
/* The evidence must have SWITCH_* numbers and the name of a port. */
void proof_add_port(struct proof *proof, const struct evidence *evidence, rm_mono_t at);
/* Adds counts of probes: `markable` arrived with ECT or CE, `marked` with CE, in the
 * last ns before `at`. */
void proof_add_probes(
    struct proof *proof, uint64_t markable, uint64_t marked, int64_t ns, rm_mono_t at);

void proof_sum_up(const struct proof *proof, rm_mono_t now, struct proof_total *ret);

/* The sums over RNICs that have all these counters in readings of at least
 * PROOF_CNPS_NS. They are scaled to one minute, whatever time the readings cover. */
#define PROOF_CNPS_NS (30 * RM_NS_PER_S)
struct proof_cnps {
	uint32_t rnics;
	uint64_t rdma_sent, rdma_received, cnps_sent, cnps_received;
};

struct proof_cnps proof_cnps(const struct proof *proof, rm_mono_t now);

enum proof_cnp_counters {
	PROOF_COUNTS_NONE,
	/* the RNIC counts the RDMA packets that it sends, but not all of these */
	PROOF_COUNTS_SENT,
	PROOF_COUNTS_CNPS, /* the RNIC has all these counters */
};

/* Returns what the RNIC "host/device" counts, in readings of at least PROOF_CNPS_NS.
 * *sent: the RDMA packets that it sends in a minute, if it counts them; else 0. */
enum proof_cnp_counters proof_cnp_counters(
    const struct proof *proof, const char *rnic, rm_mono_t now, uint64_t *sent);

const char *proof_ratio_str(enum proof_ratio ratio);  /* "host_ce" */
const char *proof_ratio_what(enum proof_ratio ratio); /* a phrase, for display */

enum proof_status {
	PROOF_KNOWN,
	PROOF_IDLE,    /* the total is 0, or too small for a share */
	PROOF_UNKNOWN, /* no part has the counters, or the readings are outdated */
};

/* error: why the ratio is not known, or how many parts are missing; "": the ratio
 * includes all parts. */
#define PROOF_TEXT 240
enum proof_status proof_read(const struct proof_total *total, enum proof_ratio ratio,
    double *ret, char error[PROOF_TEXT]);

#endif
