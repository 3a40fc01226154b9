/*
 * evidence_samples - adds to verdicts the data that only raw results contain: sample
 * probes that an operator can check, the class that loses packets, and the probes of
 * services. Pure.
 */
#ifndef TOR_AGGREGATOR_JUDGE_EVIDENCE_SAMPLES_H
#define TOR_AGGREGATOR_JUDGE_EVIDENCE_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>

#include "rackmesh/core/clock.h"

struct ring;
struct rm_part;
struct rm_verdict;
struct roster;
struct roster_rnic;

#define EVIDENCE_MAX_SCANNED 262144 /* results read for one judgement */

/* True: the member is the part, or one of "a or b", or belongs to the host or ToR. */
bool evidence_is_about(const struct rm_part *part, const struct roster_rnic *member);

/* Fills the samples of each verdict with the newest unanswered probes from or to its
 * part that were sent at `since` or later; if the part is late, also with slow ones. */
void evidence_samples_fill(struct rm_verdict *verdicts, size_t count,
    const struct ring *ring, const struct roster *roster, rm_mono_t since);

/* Fills, for each verdict on one RNIC: the class, if only one loses packets, and the
 * counts of service probes with it. Uses the results in the verdict's window, which
 * ended at `end`. */
void evidence_classes_fill(
    struct rm_verdict *verdicts, size_t count, const struct ring *ring, rm_mono_t end);

#endif
