/*
 * localise_passage - whether a switch, or one direction of a link, lets some flows pass
 * without losses. Pure. Flows count, not packets: a hash selects the flows that a part
 * loses, and if only few are probed, all of them may be among those. Only seconds that
 * began after the first losses count: before, flows passed that lose everything now.
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
	double sent, lost;   /* packets: on the way out, or of unknown direction */
	double lost_replies; /* as far as is known */
	double dead;         /* flows of which nothing came back */
	double passed;       /* flows of which all did */
	int64_t window_ns;   /* of the rows that count; 0: none yet */
	bool is_awaited;     /* some rack has not reported such a second yet */
};

/* since: the end of the first rows that showed losses. Remembers in the element that
 * flows passed. */
void localise_passage_see(struct localise_element *element, rm_mono_t now,
    rm_wall_t since, struct localise_passed *ret);

#endif
