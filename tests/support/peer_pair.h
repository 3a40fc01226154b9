/*
 * peer_pair - two aggregators of a ToR, four agents, and what may befall them, as peer
 * sees it: in simulated time, told by bytes.
 *
 * Aborts when nobody has spoken for too long though one of them could, or when both
 * speak for long though they hear each other.
 */
#ifndef SUPPORT_PEER_PAIR_H
#define SUPPORT_PEER_PAIR_H

#include <stddef.h>
#include <stdint.h>

struct peer_pair_figures {
	uint64_t turns;    /* times that one began to speak */
	int64_t silent_ns; /* the longest that nobody spoke though one could */
	int64_t both_ns;   /* the longest that both did though they heard each other */
};

/* Two bytes an event: what, and how long until the next. */
struct peer_pair_figures peer_pair_run(const uint8_t *events, size_t len);

#endif
