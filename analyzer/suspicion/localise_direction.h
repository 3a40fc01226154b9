/*
 * localise_direction - finds in which direction a link loses packets. Pure. For many
 * lost probes receive counts show whether the probe or its reply was lost. A probe
 * crosses the link in a known direction: if the probe was lost, that direction may be
 * at fault; if its reply was lost, the probe has passed in that direction.
 */
#ifndef ANALYZER_SUSPICION_LOCALISE_DIRECTION_H
#define ANALYZER_SUSPICION_LOCALISE_DIRECTION_H

#include "analyzer/finding/localise_case.h"
#include "rackmesh/judge/verdict.h"

enum localise_direction {
	/* one of the directions loses packets, or both do */
	LOCALISE_UNKNOWN_DIRECTION,
	LOCALISE_THERE, /* that of localise_directed.there */
	LOCALISE_BACK,
	LOCALISE_BOTH_DIRECTIONS,
};

struct localise_directed { /* a link */
	enum localise_direction direction;
	struct localise_element *there, *back; /* back may be NULL */
};

/* Finds the direction in which the link loses packets, from the counts of seconds or,
 * if `slow`, of minutes. Over minutes other parts with small losses are on paths over
 * the link, too: then a direction must lose about as large a share as the other one. */
void localise_direction_see(const struct localise_map *map,
    const struct localise_suspect *link, bool slow, rm_mono_t now,
    struct localise_directed *ret);
/* The only direction in which it does; NULL: in both, or it is not known which. */
const struct localise_element *localise_direction_only(
    const struct localise_directed *directed);
/* "from s1 to tor1 at 10.0.0.1" */
void localise_direction_report(
    const struct localise_directed *directed, char out[RM_EVIDENCE_TEXT]);

#endif
