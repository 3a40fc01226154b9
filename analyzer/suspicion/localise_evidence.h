/*
 * localise_evidence - the figures behind a verdict between racks, in counts and words.
 * Pure.
 */
#ifndef ANALYZER_SUSPICION_LOCALISE_EVIDENCE_H
#define ANALYZER_SUSPICION_LOCALISE_EVIDENCE_H

#include "analyzer/finding/localise_find.h"
#include "rackmesh/judge/verdict.h"

struct localise_now;
struct localise_standings;

/* What the lossy ways over a suspect lost, seen so. */
void localise_evidence_losses(const struct localise_map *map,
    const struct localise_suspect *suspect, rm_mono_t now, localise_seen *seen,
    struct localise_sum *ret);
/* What all ways over it carried, and lost, seen so. */
void localise_evidence_traffic(const struct localise_map *map,
    const struct localise_suspect *suspect, localise_seen *seen, rm_mono_t now,
    struct localise_sum *ret);

/* Most of the lost flows over the suspect that are known begin, or end, at one RNIC;
 * but for those that a part which is not the finding's explains. one_pair: also if all
 * are between the same two. */
bool localise_evidence_one_rnic(const struct localise_now *now,
    const struct localise_finding *finding, const struct localise_suspect *suspect,
    localise_seen *seen, const struct localise_standings *standings, bool one_pair);

/* Between the same racks, flows over other ways than the suspect's lose nothing,
 * although some would if it was an RNIC's doing: that one's flows take all ways alike,
 * each by itself. */
bool localise_evidence_confined(
    const struct localise_now *now, const struct localise_suspect *suspect);

/* Fills all but the window, its start and a link's direction; told: the suspect, or the
 * direction of it that is told. */
void localise_evidence_fill(struct localise_map *map,
    const struct localise_finding *finding, const struct localise_suspect *told,
    localise_seen *seen, rm_mono_t now, struct rm_evidence *evidence);

#endif
