/*
 * proof_judge - decides whether ECN, CNPs and PFC work in one rack, by the sums of
 * proof. The result is a status and a sentence. Pure.
 *
 * A sentence never names a cause that a figure contradicts. If figures are missing, the
 * status is "not-known" with the missing counters. That may be because marks are
 * counted where packets arrive, which may be another rack, or because the duration of
 * PFC frames is not known. The limits of pauses and CNPs are in proof.h; all limits are
 * rough values.
 */
#ifndef TOR_AGGREGATOR_DIAGNOSIS_PROOF_JUDGE_H
#define TOR_AGGREGATOR_DIAGNOSIS_PROOF_JUDGE_H

#include "tor-aggregator/diagnosis/proof.h"

/* If there is a steady pause, and no port or RNIC has at least this share of marked
 * packets, then ECN is off, or its threshold is above that of PFC: a working ECN marks
 * a larger share of the packets that pass a congested queue (as in the diagnosis
 * ecn-congestion). */
#define PROOF_LOW_CE_PCT 0.1
/* A pause of at most this share is the effect of a burst, and no evidence on ECN. */
#define PROOF_HEALTHY_PCT 1
/* PFC frames per second of one part. With fewer, it is paused for at most 0.3 % of the
 * time at 100 Gb/s (335 us per frame), or 1.3 % at 25 Gb/s. With more, the share is not
 * known without the paused time. */
#define PROOF_BUSY_FRAMES 10

enum proof_question { PROOF_ECN, PROOF_CNP, PROOF_PFC, PROOF_QUESTIONS };
enum proof_state { PROOF_WORKING, PROOF_NOT_NEEDED, PROOF_FAILING, PROOF_NOT_KNOWN };

const char *proof_question_str(enum proof_question question); /* "ecn" */
const char *proof_state_str(enum proof_state state);          /* "not-needed" */
enum proof_state proof_judge(const struct proof_total *total,
    enum proof_question question, char sentence[PROOF_TEXT]);

#endif
