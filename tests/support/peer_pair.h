/*
 * peer_pair - two aggregators of a ToR, four agents, and random faults, as struct peer
 * sees them, in simulated time; bytes select the faults.
 *
 * Aborts when no aggregator is active for too long though one of them could be, or when
 * both are active for long though they are connected.
 */
#ifndef SUPPORT_PEER_PAIR_H
#define SUPPORT_PEER_PAIR_H

#include <stddef.h>
#include <stdint.h>

struct peer_pair_figures {
	uint64_t turns; /* how often one of them became active */
	/* The longest time without an active one though one could be. */
	int64_t silent_ns;
	/* The longest time with both active though they were connected. */
	int64_t both_ns;
};

/* Each event is two bytes: its kind, and the time until the next one. */
struct peer_pair_figures peer_pair_run(const uint8_t *events, size_t len);

#endif
