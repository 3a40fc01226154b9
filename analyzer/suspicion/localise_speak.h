/*
 * localise_speak - when what is suspected may be said. Pure.
 */
#ifndef ANALYZER_SUSPICION_LOCALISE_SPEAK_H
#define ANALYZER_SUSPICION_LOCALISE_SPEAK_H

#include "analyzer/suspicion/localise_standing.h"

enum localise_enough { LOCALISE_NOTHING, LOCALISE_SUSPICIOUS, LOCALISE_ENOUGH };

/* What its losses amount to; named: it is already, for slow losses. *lossy_end: of the
 * newest rows that show any. */
enum localise_enough localise_how_much(const struct localise_now *now,
    const struct localise_finding *finding, bool slow, bool named,
    rm_wall_t *lossy_end);

/* It has been under suspicion for long enough; first: since it, or one of its kind. */
bool localise_may_speak(const struct localise_standings *standings,
    const struct localise_now *now, const struct localise_finding *finding,
    const struct localise_standing *first, bool slow, rm_wall_t lossy_end);

/* One dead RNIC might look like this, so far. */
bool localise_may_be_rnic(
    const struct localise_finding *finding, rm_mono_t since, rm_mono_t now);

bool localise_may_be_one_pair(
    const struct localise_finding *finding, rm_mono_t since, rm_mono_t now);

#endif
