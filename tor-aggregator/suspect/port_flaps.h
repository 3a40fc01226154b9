/*
 * port_flaps - whether a port that falls comes back only to fall again. Pure.
 *
 * Three falls within half an hour are flapping, however short each of them is. It is
 * over when the port was up for three times its longest time between two falls: a port
 * that falls every ten minutes flaps all the time, not every ten minutes. (If falls
 * come by chance at a steady rate, a gap is that long once in ten at first, and ever
 * more rarely, because the longest of many is longer.)
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

struct port_flaps { /* zeroed: of a port that never fell */
	bool flaps;
	uint32_t falls;     /* since then, while it flaps */
	rm_mono_t since;    /* the first of them */
	rm_mono_t at[2];    /* the last two falls, the newest first; ns 0: none */
	int64_t longest_ns; /* between two falls, while it flaps */
	/* It is seen since then only: a calm before it is none. ns 0: always. */
	rm_mono_t seen;
};

struct port_flaps_of { /* of a port */
	struct rm_rnic_id rnic;
	struct port_flaps flaps;
};

/* It fell so many times since the last call, which may be none; down: it is so now.
 * Returns whether it flaps. */
bool port_flaps_note(
    struct port_flaps *flaps, rm_mono_t now, uint32_t falls, bool down);

/* Its last fall is so long ago, half an hour or the calm that ends the flapping if that
 * is more, that it tells nothing of now, whoever watched meanwhile. */
bool port_flaps_is_old(const struct port_flaps *flaps, rm_mono_t now);

#endif
