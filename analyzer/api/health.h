/*
 * health - decides the state of each rack, from its reports, its incidents, and whether
 * it is silent. For the API.
 */
#ifndef ANALYZER_API_HEALTH_H
#define ANALYZER_API_HEALTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/racks/racks.h"

struct incident_table;
struct incident_table_entry;
struct rm_sight;

enum health_state { /* The states, from the worst to the best. */
	HEALTH_BAD,
	HEALTH_BLIND,
	HEALTH_PAUSED,
	HEALTH_SLOWED, /* some of its hosts slow down their probing */
	HEALTH_UNKNOWN,
	HEALTH_OK,
	HEALTH_STATES
};

struct health_rack {
	const struct rack *rack;
	enum health_state state;
	bool is_seen;
	struct rack_figures inside, outgoing;
	uint64_t incidents;              /* number of open incidents on the rack */
	uint64_t by_part[RM_PART_TYPES]; /* number of open incidents by type of part */
	const struct incident_table_entry *last; /* the incident counted last */
};

const char *health_str(enum health_state state);

/* Lists the racks of the regions that sight shows, the worst first. *ret borrows from
 * racks; the caller frees it. -ENOMEM. */
int health_of(const struct racks *racks, const struct incident_table *table,
    const struct rm_sight *sight,
    bool (*is_seen)(const struct rack *rack, rm_mono_t now, void *arg), void *arg,
    rm_mono_t now, struct health_rack **ret, size_t *count);

#endif
