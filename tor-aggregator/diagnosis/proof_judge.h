/*
 * proof_judge - whether ECN, CNPs and PFC work in one rack, by what proof has added up,
 * in a word and a sentence. Pure.
 *
 * A sentence names no cause that a figure contradicts. "not-known", with what is
 * missing, goes before a guess: marks are counted where packets arrive, maybe in
 * another rack, and frames of PFC do not tell for how long they pause. The limits of
 * pauses and CNPs are proof.h's; all are starting points.
 */
#ifndef TOR_AGGREGATOR_DIAGNOSIS_PROOF_JUDGE_H
#define TOR_AGGREGATOR_DIAGNOSIS_PROOF_JUDGE_H

#include "tor-aggregator/diagnosis/proof.h"

/* Where no port or RNIC reaches that share of marks beside a steady pause, the
 * threshold of ECN lies above that of PFC, or ECN is off: at work, it marks more of
 * what passes the congestion (as of the diagnosis ecn-congestion). */
#define PROOF_LOW_CE_PCT 0.1
/* Up to here a pause is an accident of a burst, and says nothing of ECN. */
#define PROOF_HEALTHY_PCT 1
/* Frames per second of one part: below it they pause for 0.3 % of the time at the most
 * at 100 Gb/s (335 us each), 1.3 % at 25; above it nobody knows without durations. */
#define PROOF_BUSY_FRAMES 10

enum proof_question { PROOF_ECN, PROOF_CNP, PROOF_PFC, PROOF_QUESTIONS };
enum proof_state { PROOF_WORKING, PROOF_NOT_NEEDED, PROOF_FAILING, PROOF_NOT_KNOWN };

const char *proof_question_str(enum proof_question question); /* "ecn" */
const char *proof_state_str(enum proof_state state);          /* "not-needed" */
enum proof_state proof_judge(const struct proof_total *total,
    enum proof_question question, char sentence[PROOF_TEXT]);

#endif
