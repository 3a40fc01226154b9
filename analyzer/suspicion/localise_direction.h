/*
 * localise_direction - which way a link loses what it loses. Pure.
 *
 * Receive counts tell of many lost probes whether the probe or its reply was lost: the
 * former is lost one way for sure, the latter had passed that way.
 */
#ifndef ANALYZER_SUSPICION_LOCALISE_DIRECTION_H
#define ANALYZER_SUSPICION_LOCALISE_DIRECTION_H

#include "analyzer/finding/localise_case.h"
#include "rackmesh/judge/verdict.h"

enum localise_direction {
	LOCALISE_UNKNOWN_DIRECTION, /* one way or both */
	LOCALISE_THERE,             /* from the first element's beginning to its end */
	LOCALISE_BACK,
	LOCALISE_BOTH_DIRECTIONS,
};

struct localise_directed { /* a link */
	enum localise_direction direction;
	struct localise_element *there, *back; /* back may be NULL */
};

/* What is known of a link, of seconds, or (slow) of minutes: then other parts that lose
 * a few are on ways over it as well, so what the judge blames decides. */
void localise_direction_see(const struct localise_map *map,
    const struct localise_suspect *link, bool slow, rm_mono_t now,
    struct localise_directed *ret);
/* "from s1 to tor1 at 10.0.0.1" */
void localise_direction_report(
    const struct localise_directed *directed, char out[RM_EVIDENCE_TEXT]);

#endif
