/*
 * localise_naming - the verdict on what is named: its kind, confidence, evidence. Pure.
 */
#ifndef ANALYZER_SUSPICION_LOCALISE_NAMING_H
#define ANALYZER_SUSPICION_LOCALISE_NAMING_H

#include "analyzer/suspicion/localise_standing.h"

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
