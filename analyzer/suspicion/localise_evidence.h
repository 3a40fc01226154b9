/*
 * localise_evidence - makes the verdict on a part between racks: its kind, its
 * confidence, and its evidence as counts and as text. Pure.
 */
#ifndef ANALYZER_SUSPICION_LOCALISE_EVIDENCE_H
#define ANALYZER_SUSPICION_LOCALISE_EVIDENCE_H

#include "analyzer/finding/localise_find.h"
#include "analyzer/suspicion/localise_standings.h"
#include "rackmesh/judge/verdict.h"

struct localise_now;
struct localise_standings;

/* *ret: the sum of the lossy paths over a suspect */
void localise_evidence_losses(const struct localise_map *map,
    const struct localise_suspect *suspect, rm_mono_t now, localise_seen *seen,
    struct localise_sum *ret);

/* True: most of the named lost flows over the suspect begin, or end, at one RNIC. Flows
 * over another suspected or named part, which is not in the finding, do not count.
 * one_pair: the result is true also if all these flows are between the same two RNICs.
 */
bool localise_evidence_one_rnic(const struct localise_now *now,
    const struct localise_finding *finding, const struct localise_suspect *suspect,
    localise_seen *seen, const struct localise_standings *standings, bool one_pair);

/* True: between the same racks, flows over paths that avoid the suspect have no losses.
 * If an RNIC were at fault, some of these flows would have losses, because each flow of
 * an RNIC uses a random path. */
bool localise_evidence_confined(
    const struct localise_now *now, const struct localise_suspect *suspect);

/* If the finding is a single ToR, returns its rack, otherwise NULL. */
const struct localise_rack *localise_rack_of(
    const struct localise_map *map, const struct localise_finding *finding);

/* Names s: makes its verdict, or updates it once a second. Waits for one or two more
 * sets of rows if it is not known yet whether the part passes any packets. first: the
 * part among the ties that has been suspected longest. */
void localise_name(struct localise_standing *s, const struct localise_now *now,
    const struct localise_finding *finding, const struct localise_standing *first,
    bool slow);

#endif
