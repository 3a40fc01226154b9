/*
 * localise_passage - decides whether a switch, or one direction of a link, lets some
 * flows pass without losses, or loses all packets. Pure. Flows count, not packets: if a
 * hash selects the flows that a part loses, and only few flows are probed, all of these
 * may be lost although others pass. Only seconds that began after the first losses
 * count: before those, flows passed that lose all packets now.
 */
#ifndef ANALYZER_SUSPICION_LOCALISE_PASSAGE_H
#define ANALYZER_SUSPICION_LOCALISE_PASSAGE_H

#include "analyzer/paths/localise_map.h"

enum localise_passage {
	LOCALISE_PASSES,    /* some flows pass, or a share of the packets */
	LOCALISE_UNDECIDED, /* no flow is known to pass, but few flows are known */
	LOCALISE_CLOSED,    /* nothing passes */
};

struct localise_passed {
	enum localise_passage passage;
	/* probes sent; probes lost on the way out, or in unknown direction */
	double sent, lost;
	double lost_replies; /* probes that arrived, but whose reply was lost */
	double dead;         /* number of flows without any reply */
	double passed;       /* flows without a loss */
	/* time that the counted rows cover; 0: no rows are counted yet */
	int64_t window_ns;
	bool is_awaited; /* some rack has not reported a second after `since` yet */
};

/* since: end of the time of the first rows with losses. Sets element->passed if flows
 * pass. */
void localise_passage_see(struct localise_element *element, rm_mono_t now,
    rm_wall_t since, struct localise_passed *ret);

#endif
