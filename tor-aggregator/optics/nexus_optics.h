/*
 * nexus_optics - reads the measurements of the optical module in a port of a Nexus
 * switch, and the rate of its lanes, from "show interface transceiver details". Pure.
 *
 * Each lane has its own power in dBm, temperature in degrees Celsius, and alarm
 * thresholds; a module with one lane may have them beside its name. Copper modules have
 * none. "N/A" and "--" mean that a value is not measured. A lane on which the module
 * does not send is not in use, so it does not count for the lowest received power.
 */
#ifndef TOR_AGGREGATOR_OPTICS_NEXUS_OPTICS_H
#define TOR_AGGREGATOR_OPTICS_NEXUS_OPTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_t;

/* In switch_rows[] the sources of these values begin with this prefix. */
#define NEXUS_OPTICS_PREFIX "optics/"
#define NEXUS_MAX_LANES 16 /* lanes of a module; further lanes are ignored */

enum nexus_light {
	NEXUS_RX_LOWEST_NW,
	NEXUS_RX_HIGHEST_NW,
	NEXUS_TX_LOWEST_NW,
	/* power below which the module raises an alarm; the highest of all lanes */
	NEXUS_RX_LOW_ALARM_NW,
	NEXUS_CELSIUS,
	/* Nominal rate of a lane; also of copper modules. Modules with faster lanes
	 * than 25 Gb/s may have the sum of their lanes here. */
	NEXUS_LANE_MBPS,
	NEXUS_LIGHTS,
};

struct nexus_optics {
	bool there[NEXUS_LIGHTS];
	uint64_t value[NEXUS_LIGHTS];
};

/* Returns the name in switch_rows[], such as "optics_rx_lowest_nw". */
const char *nexus_light_str(enum nexus_light light);

/* Reads the row of one interface. Returns the number of values that are malformed or
 * out of range. */
size_t nexus_optics_read(const struct json_t *row, struct nexus_optics *ret);

#endif
