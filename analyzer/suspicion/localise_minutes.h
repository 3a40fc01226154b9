/*
 * localise_minutes - the part that minutes blame, when seconds blame another. Pure. A
 * part with a loss of 1 % loses a handful of packets in a second, and where these were
 * lost is known only roughly: a switch that innocent replies may have crossed sometimes
 * seems more likely. Minutes include the same packets, and many more.
 */
#ifndef ANALYZER_SUSPICION_LOCALISE_MINUTES_H
#define ANALYZER_SUSPICION_LOCALISE_MINUTES_H

#include "analyzer/finding/localise_find.h"

struct localise_minutes {
	struct rm_part parts[LOCALISE_MAX_PARTS];
	size_t count;
	rm_mono_t judged;
};

/* The minutes are judged again; then called for each finding of that. */
void localise_minutes_begin(struct localise_minutes *minutes, rm_mono_t now);
void localise_minutes_add(
    struct localise_minutes *minutes, const struct localise_finding *finding);

/* Minutes blame others for most of what the finding, of seconds, has lost of late, and
 * not it. False of what loses whole flows, or all. */
bool localise_minutes_explain(const struct localise_minutes *minutes,
    const struct localise_map *map, const struct localise_finding *finding,
    rm_mono_t now);

#endif
