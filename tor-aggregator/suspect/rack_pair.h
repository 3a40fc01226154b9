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

struct rack_pair { /* probes between two hosts that are both witnesses */
	/* indexes of members; for a pair that leaves the rack, dst is the index of the
	 * remote RNIC */
	uint32_t src, dst;
	bool remote;
	/* the remote RNIC is that of the ToR itself, so that there is no uplink in
	 * between */
	bool reflector;
	bool counted;
	bool large; /* true: counts only the large probes; false: only the small ones */
	/* factor of the variance of the receive count; the pair of each size has a part
	 * of it */
	float weight;
	uint32_t sent, answered, arrived; /* arrived: valid if `counted` is true */
	uint32_t newest_sent, newest_lost;
	uint32_t send_failed;
	/* The same as in struct window_pair, over both sizes; set only in the first of
	 * the two pairs. */
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

/* Returns how many of `sent` probes may be counted for the wrong leg, because they were
 * sent and received at different sides of an edge of the window. seconds: length of the
 * window. */
uint32_t rack_pair_slack(const struct window_pair *from, uint32_t sent, double seconds);

#endif
