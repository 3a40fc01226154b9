/*
 * rack_pair - a window's counts of the probes from one RNIC to another, by size. Pure.
 *
 * Pairs are no evidence if the host of one end is no witness, or the port of one end is
 * down.
 */
#ifndef TOR_AGGREGATOR_SUSPECT_RACK_PAIR_H
#define TOR_AGGREGATOR_SUSPECT_RACK_PAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tor-aggregator/window/window_release.h"

struct rack;
struct window_pair;

#define RACK_PAIR_SIZES 2 /* small and large */

struct rack_pair {         /* probes between two hosts that are both witnesses */
	uint32_t src, dst; /* members; dst of a pair that leaves the rack: index of the
			      remote RNIC */
	bool remote;
	bool reflector; /* the remote RNIC is the ToR's own: there is no uplink in
			   between */
	bool counted;
	bool large; /* only probes above WIRE_ROCE_SMALL_BYTES; else only the small ones
		     */
	float weight; /* this size's part of the receive count's uncertainty */
	uint32_t sent, answered, arrived; /* arrived: valid when counted */
	uint32_t newest_sent, newest_lost;
	uint32_t send_failed;
	/* As in the window; for both sizes together, in the first pair. */
	uint32_t timed, slow, overdue;
	/* Of the window's slow and overdue ones; if they were let go at one moment,
	 * slow and overdue here are 0. */
	struct window_release release;
	uint16_t bytes; /* size of the largest of them */
};

/* Fills one pair for each of the sizes that occurred, and returns how many; 0: not
 * of this rack, or no evidence. */
size_t rack_pair_read(const struct rack *rack, const struct window_pair *from,
    struct rack_pair pairs[RACK_PAIR_SIZES]);

/* Number of packets that the edges of the window, of any length, may have moved from
 * one leg to the other, of `sent`. */
uint32_t rack_pair_slack(const struct window_pair *from, uint32_t sent, double seconds);

#endif
