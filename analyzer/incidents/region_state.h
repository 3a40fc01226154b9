/*
 * region_state - what a region is made of; private to region*.c.
 */
#ifndef ANALYZER_INCIDENTS_REGION_STATE_H
#define ANALYZER_INCIDENTS_REGION_STATE_H

#include "analyzer/incidents/region.h"
#include "rackmesh/judge/part.h"

struct region {
	char name[RM_NAME_BYTES];
	struct region_callbacks callbacks;
	struct localise *localise;
	struct recorder *recorder; /* NULL: nothing is written down */
	struct blind *blind;
	struct rm_incidents *incidents;
	struct rm_alerts *alerts;
	struct rm_incident_file *file; /* NULL: nothing is kept */
	bool is_dirty;                 /* the file is not as the incidents are */
	bool is_first;                 /* of the analyzers; else: */
	bool is_left;                  /* all aggregators are at another one */
	rm_mono_t cut_off;             /* we ourselves, since then; ns 0: we are not */
	rm_mono_t connected;           /* one of them was, last */
	rm_mono_t now;                 /* of the judgement that goes on */
	const struct rm_verdict *silent; /* blind's, of its last judgement */
	size_t silent_count;
	struct rm_verdict *verdicts; /* all that stand */
	size_t verdict_room;
};

/* Not the first of the analyzers, and nobody has come for a while: they are at another
 * one. What is open here is left. */
bool region_is_left(struct region *region, rm_mono_t now);

/* Nothing has come from anybody for a while, and no receiver of alerts answers either:
 * it is we who are cut off, and nobody is missed for that. */
bool region_is_cut_off(struct region *region, rm_mono_t now);

#endif
