/*
 * nexus_values - the values of one answer of a Nexus: nexus.c extracts and sorts them,
 * nexus_list.c makes the list of the reading of them. Only these two files include it.
 */
#ifndef TOR_AGGREGATOR_SWITCH_NEXUS_VALUES_H
#define TOR_AGGREGATOR_SWITCH_NEXUS_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tor-aggregator/optics/nexus_optics.h"
#include "tor-aggregator/switch/switch_list.h"
#include "tor-aggregator/switch/switch_neighbor.h"
#include "tor-aggregator/switch/switch_table.h"

#define NEXUS_MAX_SOURCES 192

struct nexus_source { /* one name in the source of a row */
	char name[SWITCH_NAME_BYTES];
	char matching[16]; /* the word that gives 1; "": the value is a number */
	const struct switch_row *row;
	uint16_t slot; /* index of the row's first value among those of its part */
	/* index of the alternative, and of the summand in it */
	uint8_t alternative, term;
};

struct nexus_value {
	struct switch_object of; /* its id is the port's name; without states */
	uint64_t value;
	uint16_t slot;
	uint8_t alternative, term;
	/* a value of an optical module; an interface with no other values is no port */
	bool light;
	uint32_t order; /* position in the answer */
	/* after sorting: the number of the object, the same for all values of one
	 * object */
	uint32_t object;
};

struct nexus_neighbor {
	char port[SWITCH_PORT_BYTES]; /* port of the switch */
	struct switch_neighbor of;
};

struct nexus_values {
	struct nexus_value *values;
	size_t count, capacity;
	/* array of SWITCH_MAX_PORTS; NULL: there is no neighbour yet */
	struct nexus_neighbor *neighbors;
	size_t neighbor_count;
	struct switch_counts counts; /* of this reading */
	unsigned asked, answered;    /* NEXUS_* */
	bool no_memory;
	struct nexus_source sources[NEXUS_MAX_SOURCES];
	size_t source_count;
	/* slot of each optical value, see struct nexus_source */
	uint16_t lights[NEXUS_LIGHTS];
};

/* True: the row's values are those of an optical module. */
bool nexus_is_of_optics(const struct switch_row *row);

#endif
