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

struct count {                     /* of one incident */
	struct health_rack *racks; /* sorted by name */
	size_t rack_count;
	const struct incident_table_entry *entry;
};

/* Counts the incident for this rack, once. */
static void
count_at(const struct count *count, const char *tor)
{
	struct rack key = { 0 };
	struct health_rack wanted = { .rack = &key }, *found;

	strcpy(key.region, count->entry->region);
	strcpy(key.tor, tor);
	found = bsearch(
	    &wanted, count->racks, count->rack_count, sizeof(*count->racks), by_name);
	if (found == NULL || found->last == count->entry)
		return;
	found->last = count->entry;
	found->incidents++;
	found->by_part[type_of(count->entry)]++;
}

static void
count_names(const struct count *count, const char *part)
{
	char names[PART_NAMES_MAX][RM_NAME_BYTES];
	const size_t name_count = part_names_of(part, names);

	for (size_t i = 0; i < name_count; i++)
		count_at(count, names[i]);
}

/* Several links of a switch have one incident: its part is the switch or the first
 * link, and the evidence lists the links. */
static void
count_links(const struct count *count)
{
	json_t *evidence = incident_table_evidence(count->entry);
	const json_t *link;
	size_t i;

	json_array_foreach (json_object_get(evidence, "links"), i, link)
		if (json_is_string(link))
			count_names(count, json_string_value(link));
	json_decref(evidence);
}

/* Counts an incident for the rack that has reported it. An incident between racks
 * counts for every rack that its name or one of its links contains. */
static void
count_incident(const struct count *count)
{
	const struct incident_table_entry *entry = count->entry;

	if (entry->tor[0] != '\0') {
		count_at(count, entry->tor);
		return;
	}
	switch (type_of(entry)) {
	case RM_PART_TOR:    /* "tor1 or tor2" */
	case RM_PART_SWITCH: /* "spine1 or spine1--tor1 or spine1--tor2" */
	case RM_PART_LINK:
	case RM_PART_PATH:
		count_names(count, entry->part);
		if (strncmp(entry->kind, "links-", strlen("links-")) == 0)
			count_links(count);
		break;
	default:
		break;
	}
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
		count_incident(
		    &(struct count){ list, count, incident_table_get(table, i) });
	for (size_t i = 0; i < count; i++)
		list[i].state = state_of(&list[i]);
	qsort(list, count, sizeof(*list), by_trouble);
	*ret = list;
	*ret_count = count;
	return 0;
}
