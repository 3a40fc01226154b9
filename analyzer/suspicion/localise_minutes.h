/*
 * localise_minutes - whom minutes blame, when seconds blame another. Pure.
 *
 * What loses one of a hundred loses a handful in a second, and where these were lost
 * is known by chance: a switch that innocent replies may have crossed seems likelier
 * now and then. Minutes have seen the same packets, and many more.
 */
#ifndef ANALYZER_SUSPICION_LOCALISE_MINUTES_H
#define ANALYZER_SUSPICION_LOCALISE_MINUTES_H

#include "analyzer/finding/localise_find.h"

struct localise_minutes {
	struct rm_part parts[LOCALISE_MAX_PARTS];
	size_t count;
	rm_mono_t judged;
};

/* The minutes are judged anew; then told of each finding that comes of it. */
void localise_minutes_begin(struct localise_minutes *minutes, rm_mono_t now);
void localise_minutes_add(
    struct localise_minutes *minutes, const struct localise_finding *finding);

/* Minutes blame others for most of what the finding, of seconds, has lost of late, and
 * not it. False of what loses whole flows, or all. */
bool localise_minutes_explain(const struct localise_minutes *minutes,
    const struct localise_map *map, const struct localise_finding *finding,
    rm_mono_t now);

#endif
