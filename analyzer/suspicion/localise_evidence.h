/*
 * localise_evidence - the figures of a verdict between racks, as counts and as text.
 * Pure.
 */
#ifndef ANALYZER_SUSPICION_LOCALISE_EVIDENCE_H
#define ANALYZER_SUSPICION_LOCALISE_EVIDENCE_H

#include "analyzer/finding/localise_find.h"
#include "analyzer/suspicion/localise_standings.h"
#include "rackmesh/judge/verdict.h"

struct localise_now;
struct localise_standings;

/* The losses of the lossy paths over a suspect. */
void localise_evidence_losses(const struct localise_map *map,
    const struct localise_suspect *suspect, rm_mono_t now, localise_seen *seen,
    struct localise_sum *ret);

/* Most of the lost flows over the suspect that are known begin, or end, at one RNIC;
 * but for those that a part which is not the finding's explains. one_pair: also if all
 * are between the same two. */
bool localise_evidence_one_rnic(const struct localise_now *now,
    const struct localise_finding *finding, const struct localise_suspect *suspect,
    localise_seen *seen, const struct localise_standings *standings, bool one_pair);

/* Between the same racks, flows over paths that avoid the suspect have no losses,
 * although some would if an RNIC were at fault: the flows of an RNIC use all paths
 * alike, each independently. */
bool localise_evidence_confined(
    const struct localise_now *now, const struct localise_suspect *suspect);

/* The verdict on what is named: its kind, confidence, evidence. */
/* The rack of the ToR that is found, and of it alone; or NULL. */
const struct localise_rack *localise_rack_of(
    const struct localise_map *map, const struct localise_finding *finding);

/* Names it or, once a second, updates what was reported. Delays the first report for a
 * moment while it is not known whether any packets pass; first: since it, or one of its
 * type, came under suspicion. */
void localise_name(struct localise_standing *s, const struct localise_now *now,
    const struct localise_finding *finding, const struct localise_standing *first,
    bool slow);

#endif
