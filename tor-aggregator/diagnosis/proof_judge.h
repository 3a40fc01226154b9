/*
 * proof_judge - decides whether ECN, CNPs and PFC work in one rack, from the sums of
 * proof, as a status and a sentence. Pure.
 *
 * A sentence names no cause that a figure contradicts. "not-known", with the missing
 * counters, is better than a guess: marks are counted where packets arrive, which may
 * be another rack, and frames of PFC have no known duration. The limits of pauses and
 * CNPs are proof.h's; all are starting points.
 */
#ifndef TOR_AGGREGATOR_DIAGNOSIS_PROOF_JUDGE_H
#define TOR_AGGREGATOR_DIAGNOSIS_PROOF_JUDGE_H

#include "tor-aggregator/diagnosis/proof.h"

/* If no port or RNIC reaches this share of marks beside a steady pause, the
 * threshold of ECN is above that of PFC, or ECN is off: a working ECN marks more of
 * the packets that pass the congestion (as in the diagnosis ecn-congestion). */
#define PROOF_LOW_CE_PCT 0.1
/* Up to this share a pause is the effect of a burst, and says nothing about ECN. */
#define PROOF_HEALTHY_PCT 1
/* Frames per second of one part: below it they pause for at most 0.3 % of the time
 * at 100 Gb/s (335 us each), 1.3 % at 25; above it the share is not known without
 * durations. */
#define PROOF_BUSY_FRAMES 10

enum proof_question { PROOF_ECN, PROOF_CNP, PROOF_PFC, PROOF_QUESTIONS };
enum proof_state { PROOF_WORKING, PROOF_NOT_NEEDED, PROOF_FAILING, PROOF_NOT_KNOWN };

const char *proof_question_str(enum proof_question question); /* "ecn" */
const char *proof_state_str(enum proof_state state);          /* "not-needed" */
enum proof_state proof_judge(const struct proof_total *total,
    enum proof_question question, char sentence[PROOF_TEXT]);

#endif
