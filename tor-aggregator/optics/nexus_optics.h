/*
 * nexus_optics - what a Nexus tells of the optical module in a port ("show interface
 * transceiver details"). Pure.
 *
 * Each lane has its own power, temperature and alarms, in dBm and degrees; a module of
 * one lane may have them beside its name. Copper has none, "N/A" and "--" stand for
 * what is not measured. The darkest lane is one of those on which the module itself
 * sends: others are not in use.
 */
#ifndef TOR_AGGREGATOR_OPTICS_NEXUS_OPTICS_H
#define TOR_AGGREGATOR_OPTICS_NEXUS_OPTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_t;

/* Sources of the table's rows begin so. */
#define NEXUS_OPTICS_PREFIX "optics/"
#define NEXUS_MAX_LANES 16 /* of a module; more are left out */

enum nexus_light {
	NEXUS_RX_LOWEST_NW,
	NEXUS_RX_HIGHEST_NW,
	NEXUS_TX_LOWEST_NW,
	NEXUS_RX_LOW_ALARM_NW, /* of the lane whose alarm is the highest */
	NEXUS_CELSIUS,
	NEXUS_LIGHTS,
};

struct nexus_optics {
	bool there[NEXUS_LIGHTS];
	uint64_t value[NEXUS_LIGHTS];
};

/* "optics_rx_lowest_nw": the row of switch_rows[]. */
const char *nexus_light_str(enum nexus_light light);

/* row: of one interface. Returns how many of its values make no sense. */
size_t nexus_optics_read(const struct json_t *row, struct nexus_optics *ret);

#endif
