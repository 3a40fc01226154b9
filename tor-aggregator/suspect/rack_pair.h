/*
 * rack_pair - a window's counts of the probes from one RNIC to another, by size. Pure.
 *
 * Pairs are no evidence if the host of one end is no witness, or the port of one end is
 * down. But a stalled host reads replies late, with the kernel's time of their arrival,
 * and its stall loses hardly any: so probes that it sent to others are evidence on
 * these, though a weaker one. Probes to a stalled host are none.
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
	bool large;   /* only the large probes; else only the small ones */
	float weight; /* factor of the variance of the receive count; of two sizes, each
			 has a part of it */
	uint32_t sent, answered, arrived; /* arrived: valid when counted */
	uint32_t newest_sent, newest_lost;
	uint32_t send_failed;
	/* As in struct window_pair, over both sizes; set only in the first of the two
	 * pairs. */
	uint32_t timed, slow, overdue;
	/* When the slow and overdue replies in the window were released by the part
	 * that delayed them. If they were released together (window_release), slow and
	 * overdue are 0 in this struct. */
	struct window_release release;
	uint16_t bytes; /* size of the largest probe */
};

enum rack_pair_use {
	RACK_PAIR_UNUSABLE, /* not of this rack, or no evidence */
	RACK_PAIR_WAITS,    /* as UNUSABLE, only because a target is stalled */
	RACK_PAIR_STALLED, /* sent by a stalled host to a witness, or out of the rack */
	RACK_PAIR_EVIDENCE,
};

enum rack_pair_use rack_pair_use(
    const struct rack *rack, const struct window_pair *from);

/* Fills one pair for small and one for large probes, if there are any, and returns
 * their number. 0: there are no probes. from: not RACK_PAIR_UNUSABLE. */
size_t rack_pair_split(
    const struct window_pair *from, struct rack_pair pairs[RACK_PAIR_SIZES]);

/* The same. 0: the pair is not RACK_PAIR_EVIDENCE, too. */
size_t rack_pair_read(const struct rack *rack, const struct window_pair *from,
    struct rack_pair pairs[RACK_PAIR_SIZES]);

/* How many of `sent` probes may be counted for the wrong leg, because they were sent
 * and received at different sides of an edge of the window. seconds: its length. */
uint32_t rack_pair_slack(const struct window_pair *from, uint32_t sent, double seconds);

#endif
