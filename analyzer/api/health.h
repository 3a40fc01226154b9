/*
 * health - the state of every rack, worst first, from the racks' reports, the
 * incidents, and silence. For the API.
 */
#ifndef ANALYZER_API_HEALTH_H
#define ANALYZER_API_HEALTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/racks/racks.h"

struct incident_table;
struct rm_sight;

enum health_state { /* the worst first */
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
	uint64_t incidents;              /* open, that concern it */
	uint64_t by_part[RM_PART_TYPES]; /* of them */
};

const char *health_str(enum health_state state);

/* Of the regions in sight. Borrows from racks; the caller frees *ret. -ENOMEM. */
int health_of(const struct racks *racks, const struct incident_table *table,
    const struct rm_sight *sight,
    bool (*is_seen)(const struct rack *rack, rm_mono_t now, void *arg), void *arg,
    rm_mono_t now, struct health_rack **ret, size_t *count);

#endif
