/*
 * evidence_samples - what the raw results in the ring add to a verdict: sample probes
 * that others can check, and the losses by class and of services. Pure.
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

#define EVIDENCE_MAX_SCANNED 262144 /* results searched for one judgement */

/* True: this member is the part, or belongs to it. "host/device", "a or b", a host,
 * a ToR. */
bool evidence_concerns(const struct rm_part *part, const struct roster_rnic *member);

/* Fills the samples of each verdict with the newest unanswered probes of its part
 * that were sent since `since`; for verdicts on lateness also with slow ones. */
void evidence_samples_fill(struct rm_verdict *verdicts, size_t count,
    const struct ring *ring, const struct roster *roster, rm_mono_t since);

/* For verdicts on one RNIC each: the only class that loses packets, and the results
 * of its services' probes, in the verdict's own window that ended at `end`. */
void evidence_classes_fill(
    struct rm_verdict *verdicts, size_t count, const struct ring *ring, rm_mono_t end);

#endif
