/*
 * proof - whether congestion control works for one rack, from sender over switch to
 * receiver: marks (ECN), the notifications that answer them (CNP), and pauses (PFC).
 * Pure.
 *
 * It adds up rounds, of some seconds each, of what RNICs, the switch's ports and probes
 * have counted. A ratio is of those RNICs alone that count both of its sides. Unknown
 * is not zero, and says which counter is missing.
 */
#ifndef TOR_AGGREGATOR_DIAGNOSIS_PROOF_H
#define TOR_AGGREGATOR_DIAGNOSIS_PROOF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tor-aggregator/diagnosis/evidence.h"

#define PROOF_ROUNDS 12
#define PROOF_PRIORITIES EVIDENCE_INDEXES

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

struct proof_sum { /* POD: rounds are added up */
	uint64_t of, per;
	uint32_t counted,
	    missing; /* parts that count both, or do not: the most in a round */
};

enum proof_side { PROOF_HOST, PROOF_SWITCH, PROOF_SIDES };

/* What one side counts of one priority. received: the other side paused it. */
struct proof_pauses {
	/* Any part counts this; else it is unknown, and 0 says nothing. */
	bool knows_received, knows_sent, knows_paused, knows_pausing;
	uint64_t received, sent;        /* frames */
	double paused_pct, pausing_pct; /* the most of any part in a round */
	char paused[EVIDENCE_NAME_BYTES], pausing[EVIDENCE_NAME_BYTES]; /* who */
};

struct proof_round {
	int64_t ns; /* its length */
	struct proof_sum ratios[PROOF_RATIOS];
	struct proof_pauses pauses[PROOF_SIDES][PROOF_PRIORITIES];
};

struct proof {
	struct proof_round rounds[PROOF_ROUNDS], now; /* now: not ended yet */
	size_t next, count;
};

/* Into the round that is not ended. */
void proof_add_rnic(struct proof *proof, const struct evidence *evidence);
/* With SWITCH_* numbers and a port's name. */
void proof_add_port(struct proof *proof, const struct evidence *evidence);
/* Of those that arrived able to be marked. */
void proof_add_probes(struct proof *proof, uint64_t markable, uint64_t marked);
void proof_end_round(struct proof *proof, int64_t ns);

/* All rounds that are kept. */
void proof_total(const struct proof *proof, struct proof_round *ret);

const char *proof_ratio_word(enum proof_ratio ratio); /* "host_ce" */
const char *proof_ratio_what(enum proof_ratio ratio); /* a phrase, for people */

enum proof_status {
	PROOF_KNOWN,
	PROOF_IDLE,    /* nothing to take a share of */
	PROOF_UNKNOWN, /* nobody counts it */
};

/* error: why it is not known, or of how few it is known; "": of all. */
#define PROOF_TEXT 200
enum proof_status proof_read(const struct proof_round *total, enum proof_ratio ratio,
    double *ret, char error[PROOF_TEXT]);

enum proof_question { PROOF_ECN, PROOF_CNP, PROOF_PFC, PROOF_QUESTIONS };
enum proof_state { PROOF_WORKING, PROOF_NOT_NEEDED, PROOF_FAILING, PROOF_NOT_KNOWN };

const char *proof_question_word(enum proof_question question); /* "ecn" */
const char *proof_state_word(enum proof_state state);          /* "not-needed" */
enum proof_state proof_answer(const struct proof_round *total,
    enum proof_question question, char sentence[PROOF_TEXT]);

#endif
