/*
 * port_flaps - decides whether a port flaps: it goes down, comes back and goes down
 * again. Pure.
 *
 * Three link-downs within half an hour are flapping, however short each of them is.
 * Flapping is over when the port has been up for three times the longest time between
 * two of its link-downs, but for at least 15 s and at most an hour: so a port that goes
 * down every ten minutes flaps all the time, and does not flap anew every ten minutes.
 * (If link-downs come by chance at a steady rate, one gap in ten is that long at first,
 * and fewer later, because the longest gap grows.)
 */
#ifndef TOR_AGGREGATOR_SUSPECT_PORT_FLAPS_H
#define TOR_AGGREGATOR_SUSPECT_PORT_FLAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/judge/part.h"

#define PORT_FLAPS_FALLS 3
#define PORT_FLAPS_WITHIN_NS (1800 * RM_NS_PER_S)
#define PORT_FLAPS_QUIET_MIN_NS (15 * RM_NS_PER_S)
#define PORT_FLAPS_QUIET_MAX_NS (3600 * RM_NS_PER_S)

struct port_flaps { /* all zero: a port that never went down */
	bool flaps;
	uint32_t falls;     /* number of link-downs since it began to flap */
	rm_mono_t since;    /* time of the first of them */
	rm_mono_t at[2];    /* the last two link-downs, the newest first; ns 0: none */
	int64_t longest_ns; /* longest time between two of these link-downs */
	/* Start of the observation, e.g. after a restart: the time before does not
	 * count as up. ns 0: the port was always observed. */
	rm_mono_t observed_since;
};

struct port_flaps_of { /* an RNIC and the flaps of its port */
	struct rm_rnic_id rnic;
	struct port_flaps flaps;
};

/* Call it for each window. falls: number of link-downs since the last call, may be 0;
 * down: the state of the port now. True: the port flaps. */
bool port_flaps_note(
    struct port_flaps *flaps, rm_mono_t now, uint32_t falls, bool down);

/* True: the last link-down is longer ago than half an hour, and than the time that ends
 * flapping, so a saved state is of no use any more, even if the port was not observed
 * since. */
bool port_flaps_is_old(const struct port_flaps *flaps, rm_mono_t now);

#endif
