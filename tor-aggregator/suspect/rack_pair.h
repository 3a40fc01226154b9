/*
 * rack_pair - what a window tells of one RNIC's probes to another, by size. Pure.
 *
 * Pairs of which one end's host is no witness, or one end's port is down, tell nothing.
 */
#ifndef TOR_AGGREGATOR_SUSPECT_RACK_PAIR_H
#define TOR_AGGREGATOR_SUSPECT_RACK_PAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rack;
struct window_pair;

#define RACK_PAIR_SIZES 2 /* small and large */

struct rack_pair { /* probes of which both ends may bear witness */
	uint32_t src,
	    dst; /* members; dst of a foreign pair: index of the remote RNIC */
	bool remote;
	bool reflector; /* the remote RNIC is the ToR's own: no uplink in between */
	bool counted;
	bool large;   /* probes above WIRE_ROCE_SMALL_BYTES only; else the small ones */
	float weight; /* of the receive count's uncertainty, this size's part */
	uint32_t sent, answered, arrived; /* arrived: when counted */
	uint32_t newest_sent, newest_lost;
	uint32_t send_failed;
	/* As in the window; of both sizes, with the first of them. */
	uint32_t timed, slow, overdue;
	uint16_t bytes; /* the largest of them */
};

/* Fills one pair for each of the sizes that were seen, and returns how many; 0: not of
 * this rack, or it tells nothing. */
size_t rack_pair_read(const struct rack *rack, const struct window_pair *from,
    struct rack_pair pairs[RACK_PAIR_SIZES]);

/* Packets that the window's edges, whatever its length, may have moved from one leg to
 * the other, of `sent`. */
uint32_t rack_pair_slack(const struct window_pair *from, uint32_t sent, double seconds);

#endif
