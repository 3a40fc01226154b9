/*
 * pairs_state - the struct of a ToR's two aggregators; private to pairs.c and its test.
 */
#ifndef TOR_AGGREGATOR_PAIRS_STATE_H
#define TOR_AGGREGATOR_PAIRS_STATE_H

#include "schemas/wire.h"
#include "tor-aggregator/pairs.h"
#include "tor-aggregator/standby/peer.h"

#define PAIRS_NO_PEER SIZE_MAX

struct pair { /* the two aggregators of one ToR */
	/* index in links of the other aggregator; PAIRS_NO_PEER: there is none */
	size_t other;
	struct peer peer;
	struct peer_own own;
	/* Since when neither the other aggregator nor any agent is connected; ns 0: at
	 * least one is connected. */
	rm_mono_t isolated_since;
	bool quarrel; /* both configs say primary, or neither does */
	/* The other aggregator is active and has sent all its open incidents. */
	bool synced;
	/* The state of the other aggregator was received on the present link. Until
	 * then a primary sends it nothing about the ToR: the primary's open incidents
	 * may be outdated. */
	bool state_received;
};

struct pairs {
	struct tor_aggregator *aggregator;
	struct peer_links *links;
	struct wire_writer *writer;
	struct pair pairs[WIRE_MAX_TORS];
	const char *names[WIRE_MAX_TORS]; /* indexed like the links; borrowed */
	size_t other_count;
	rm_mono_t judged;
	/* when the state of this aggregator was last sent; indexed like the links */
	rm_mono_t stood[WIRE_MAX_TORS];
};

/* True: the other aggregator of ToR number tor has the index `other` in links. */
static inline bool
pairs_share(const struct pairs *pairs, size_t tor, size_t other)
{
	return pairs->pairs[tor].other == other;
}

/* Callbacks of the links. */
void pairs_on_session(size_t other, void *pairs);

#endif
