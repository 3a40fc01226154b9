/*
 * evidence_classes - of an RNIC's probes what was lost by class, and of services. Pure.
 *
 * Windows count all classes together; the raw results of the same time tell them apart.
 */
#ifndef TOR_AGGREGATOR_JUDGE_EVIDENCE_CLASSES_H
#define TOR_AGGREGATOR_JUDGE_EVIDENCE_CLASSES_H

#include <stddef.h>

#include "rackmesh/core/clock.h"

struct ring;
struct rm_verdict;

/* Of verdicts on one RNIC each: the class that alone loses, and what became of its
 * services' probes, in the verdict's own window that ended at `end`. */
void evidence_classes_fill(
    struct rm_verdict *verdicts, size_t count, const struct ring *ring, rm_mono_t end);

#endif
