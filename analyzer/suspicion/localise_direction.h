/*
 * localise_direction - in which direction a link loses packets. Pure. Receive counts
 * tell for many lost probes whether the probe or its reply was lost: a lost probe was
 * certainly lost in the one direction, and a probe whose reply was lost has certainly
 * passed in it.
 */
#ifndef ANALYZER_SUSPICION_LOCALISE_DIRECTION_H
#define ANALYZER_SUSPICION_LOCALISE_DIRECTION_H

#include "analyzer/finding/localise_case.h"
#include "rackmesh/judge/verdict.h"

enum localise_direction {
	LOCALISE_UNKNOWN_DIRECTION, /* one or both directions */
	LOCALISE_THERE,             /* from the first element's beginning to its end */
	LOCALISE_BACK,
	LOCALISE_BOTH_DIRECTIONS,
};

struct localise_directed { /* a link */
	enum localise_direction direction;
	struct localise_element *there, *back; /* back may be NULL */
};

/* The losses of a link by direction, of seconds or (slow) of minutes. Over minutes
 * other parts with small losses are on paths over the link as well, so the parts that
 * the judge blames decide. */
void localise_direction_see(const struct localise_map *map,
    const struct localise_suspect *link, bool slow, rm_mono_t now,
    struct localise_directed *ret);
/* "from s1 to tor1 at 10.0.0.1" */
void localise_direction_report(
    const struct localise_directed *directed, char out[RM_EVIDENCE_TEXT]);

#endif
