/*
 * port_flaps - decides whether a port flaps: it goes down, comes back and goes down
 * again. Pure.
 *
 * Three link-downs within half an hour are flapping, however short each of them is.
 * Flapping is over when the port has been up for three times its longest time between
 * two link-downs: a port that goes down every ten minutes flaps all the time, not every
 * ten minutes. (If link-downs come by chance at a steady rate, one gap in ten is that
 * long at first, and ever fewer, because the longest gap grows.)
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
	uint32_t falls;     /* number of link-downs since then, while it flaps */
	rm_mono_t since;    /* time of the first of them */
	rm_mono_t at[2];    /* the last two link-downs, the newest first; ns 0: none */
	int64_t longest_ns; /* between two link-downs, while it flaps */
	/* The port is observed since then: the time before does not count as up. ns
	 * 0: always. */
	rm_mono_t seen;
};

struct port_flaps_of { /* of a port */
	struct rm_rnic_id rnic;
	struct port_flaps flaps;
};

/* falls: number of link-downs since the last call, may be 0; down: its present
 * state. Returns whether it flaps. */
bool port_flaps_note(
    struct port_flaps *flaps, rm_mono_t now, uint32_t falls, bool down);

/* True: its last link-down is longer ago than half an hour and than the time that
 * ends the flapping, so it says nothing about the present state, whether observed or
 * not. */
bool port_flaps_is_old(const struct port_flaps *flaps, rm_mono_t now);

#endif
