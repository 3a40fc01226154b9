/*
 * localise_passage - whether a switch, or a link one way, lets flows pass whole. Pure.
 *
 * Flows count, not packets: which flows a part swallows is a hash of theirs, and of a
 * few that are probed all may be among those that die. Only seconds that began after
 * the first losses count: before, flows passed that die now.
 */
#ifndef ANALYZER_SUSPICION_LOCALISE_PASSAGE_H
#define ANALYZER_SUSPICION_LOCALISE_PASSAGE_H

#include "analyzer/paths/localise_map.h"

enum localise_passage {
	LOCALISE_PASSES,    /* some flows, or a share of the packets */
	LOCALISE_UNDECIDED, /* what is known of died, but few flows are */
	LOCALISE_CLOSED,    /* nothing passes */
};

struct localise_passed {
	enum localise_passage passage;
	double sent, lost;   /* packets: on the way out, or nobody knows where */
	double lost_replies; /* as far as is known */
	double dead;         /* flows of which nothing came back */
	double passed;       /* flows of which all did */
	int64_t window_ns;   /* of the rows that tell; 0: none yet */
	bool is_awaited;     /* some rack has told of no such second yet */
};

/* since: the end of the first rows that showed losses. Remembers in the element that
 * flows passed. */
void localise_passage_see(struct localise_element *element, rm_mono_t now,
    rm_wall_t since, struct localise_passed *ret);

#endif
