/*
 * localise_evidence - the figures behind a verdict between racks, in counts and words.
 * Pure.
 */
#ifndef ANALYZER_SUSPICION_LOCALISE_EVIDENCE_H
#define ANALYZER_SUSPICION_LOCALISE_EVIDENCE_H

#include "analyzer/finding/localise_find.h"
#include "analyzer/suspicion/localise_standings.h"
#include "rackmesh/judge/verdict.h"

struct localise_now;
struct localise_standings;

/* What the lossy ways over a suspect lost, seen so. */
void localise_evidence_losses(const struct localise_map *map,
    const struct localise_suspect *suspect, rm_mono_t now, localise_seen *seen,
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

/* The verdict on what is named: its kind, confidence, evidence. */
/* The rack of the ToR that is found, and of it alone; or NULL. */
const struct localise_rack *localise_rack_of(
    const struct localise_map *map, const struct localise_finding *finding);

/* Names it, or, once a second, brings what was said of it up to date. Holds a first
 * word back for a moment while it is not known whether anything passes it; first: since
 * it came under suspicion, or one of its kind. */
void localise_name(struct localise_standing *s, const struct localise_now *now,
    const struct localise_finding *finding, const struct localise_standing *first,
    bool slow);

#endif
