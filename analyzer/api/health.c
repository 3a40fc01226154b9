#include "analyzer/api/health.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/incidents/incident_table.h"
#include "analyzer/incidents/part_names.h"
#include "rackmesh/identity/sight.h"

static const char *const state_names[HEALTH_STATES] = {
	[HEALTH_BAD] = "bad",
	[HEALTH_BLIND] = "blind",
	[HEALTH_PAUSED] = "paused",
	[HEALTH_SLOWED] = "slowed",
	[HEALTH_UNKNOWN] = "unknown",
	[HEALTH_OK] = "ok",
};

const char *
health_str(enum health_state state)
{
	return state_names[state];
}

static int
by_name(const void *a, const void *b)
{
	const struct health_rack *one = a, *other = b;
	int order = strcmp(one->rack->region, other->rack->region);

	return order != 0 ? order : strcmp(one->rack->tor, other->rack->tor);
}

static int
by_trouble(const void *a, const void *b)
{
	const struct health_rack *one = a, *other = b;
	uint64_t lost = one->inside.lost + one->outgoing.lost;
	uint64_t other_lost = other->inside.lost + other->outgoing.lost;
	int order;

	if (one->state != other->state)
		return one->state < other->state ? -1 : 1;
	if (one->incidents != other->incidents)
		return one->incidents > other->incidents ? -1 : 1;
	if (lost != other_lost)
		return lost > other_lost ? -1 : 1;
	order = strcmp(one->rack->region, other->rack->region);
	/* Compares names as people sort them: tor2 comes before tor10. */
	return order != 0 ? order : strverscmp(one->rack->tor, other->rack->tor);
}

/* ---- incidents ------------------------------------------------------------------- */

static enum rm_part_type
type_of(const struct incident_table_entry *entry)
{
	for (int i = RM_PART_RNIC; i < RM_PART_TYPES; i++)
		if (strcmp(entry->part_type, rm_part_type_str((enum rm_part_type)i)) ==
		    0)
			return (enum rm_part_type)i;
	return 0;
}

/* racks are sorted by name. */
static void
count_at(struct health_rack *racks, size_t count, const char *region, const char *tor,
    enum rm_part_type type)
{
	struct rack key = { 0 };
	struct health_rack wanted = { .rack = &key }, *found;

	strcpy(key.region, region);
	strcpy(key.tor, tor);
	found = bsearch(&wanted, racks, count, sizeof(*racks), by_name);
	if (found == NULL)
		return;
	found->incidents++;
	found->by_part[type]++;
}

/* Counts an incident for the rack that has reported it. An incident between racks
 * counts for every rack that its name contains. */
static void
count_incident(
    struct health_rack *racks, size_t count, const struct incident_table_entry *entry)
{
	char names[PART_NAMES_MAX][RM_NAME_BYTES];
	enum rm_part_type type = type_of(entry);
	size_t name_count;

	if (entry->tor[0] != '\0') {
		count_at(racks, count, entry->region, entry->tor, type);
		return;
	}
	/* The name of a switch may go on with its links: "spine1 or spine1--tor1". */
	if (type != RM_PART_LINK && type != RM_PART_PATH && type != RM_PART_SWITCH &&
	    type != RM_PART_TOR)
		return;
	name_count = part_names_of(entry->part, names);
	for (size_t i = 0; i < name_count; i++)
		count_at(racks, count, entry->region, names[i], type);
}

/* ---- racks ---------------------------------------------------------------------- */

static enum health_state
state_of(const struct health_rack *health)
{
	const struct wire_rack_state *state = &health->rack->state;

	/* The rest of the state is old: "blind" is more useful than the last known
	 * state. */
	if (!health->is_seen || health->by_part[RM_PART_RACK] > 0)
		return HEALTH_BLIND;
	if (health->incidents > 0 || state->rnics_bad > 0)
		return HEALTH_BAD;
	if (!health->rack->has_state)
		return HEALTH_UNKNOWN;
	if (state->brake_permille == 0 ||
	    (state->hosts_paused > 0 && state->hosts_paused == state->hosts))
		return HEALTH_PAUSED;
	if (state->hosts_slowed > 0)
		return HEALTH_SLOWED;
	return state->rnics_good > 0 ? HEALTH_OK : HEALTH_UNKNOWN;
}

int
health_of(const struct racks *racks, const struct incident_table *table,
    const struct rm_sight *sight,
    bool (*is_seen)(const struct rack *rack, rm_mono_t now, void *arg), void *arg,
    rm_mono_t now, struct health_rack **ret, size_t *ret_count)
{
	size_t room = racks_counts(racks)->racks, count = 0;
	struct health_rack *list = calloc(room + 1, sizeof(*list));
	const struct rack *rack;

	if (list == NULL)
		return -ENOMEM;
	for (size_t i = 0; (rack = racks_get(racks, i)) != NULL; i++) {
		struct health_rack *health = &list[count];

		if (!rm_sight_shows(sight, rack->region))
			continue;
		health->rack = rack;
		health->is_seen = is_seen(rack, now, arg);
		racks_figures(rack, racks, now, &health->inside, &health->outgoing);
		count++;
	}
	qsort(list, count, sizeof(*list), by_name);
	for (size_t i = 0; i < incident_table_open(table); i++)
		count_incident(list, count, incident_table_get(table, i));
	for (size_t i = 0; i < count; i++)
		list[i].state = state_of(&list[i]);
	qsort(list, count, sizeof(*list), by_trouble);
	*ret = list;
	*ret_count = count;
	return 0;
}
