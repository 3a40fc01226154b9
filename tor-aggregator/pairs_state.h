/*
 * pairs_state - the struct of a ToR's two aggregators; private to pairs.c and its test.
 */
#ifndef TOR_AGGREGATOR_PAIRS_STATE_H
#define TOR_AGGREGATOR_PAIRS_STATE_H

#include "schemas/wire.h"
#include "tor-aggregator/pairs.h"
#include "tor-aggregator/standby/peer.h"

#define PAIRS_NO_PEER SIZE_MAX

struct pair {         /* one ToR's */
	size_t other; /* index in the links; NOBODY: it has none */
	struct peer peer;
	struct peer_own own;
	/* Since when neither it nor any agent is connected; ns 0: one is. */
	rm_mono_t isolated_since;
	bool quarrel; /* both are the primary by their configs, or neither is */
	/* The other one has sent all its open incidents since it became active. */
	bool synced;
	/* Its state was received on this link. Until then a primary sends nothing about
	 * the ToR: its open incidents may be outdated. */
	bool state_received;
};

struct pairs {
	struct tor_aggregator *aggregator;
	struct peer_links *links;
	struct wire_writer *writer;
	struct pair pairs[WIRE_MAX_TORS];
	const char *names[WIRE_MAX_TORS]; /* indexed as the links; borrowed */
	size_t other_count;
	rm_mono_t judged;
	rm_mono_t stood[WIRE_MAX_TORS]; /* when our state was last sent to it */
};

/* True: this aggregator shares that ToR with that one. */
static inline bool
pairs_share(const struct pairs *pairs, size_t tor, size_t other)
{
	return pairs->pairs[tor].other == other;
}

/* Callbacks of the links. */
void pairs_on_session(size_t other, void *pairs);

#endif
