#include <stdlib.h>
#include <string.h>

#include "rackmesh/incident/incident_file.h"
#include "rackmesh/incident/incident_state.h"

enum rm_fault
incident_fault_of(enum rm_kind kind)
{
	switch (kind) {
	case RM_KIND_RNIC_LATE:
	case RM_KIND_LINK_LATE:
	case RM_KIND_SWITCH_LATE:
	case RM_KIND_PATH_LATE:
		return RM_FAULT_DELAYS;
	case RM_KIND_LINKS_DOWN:
	case RM_KIND_LINKS_LOSSY:
		return RM_FAULT_LINKS;
	case RM_KIND_RNIC_MTU:
		return RM_FAULT_MTU;
	case RM_KIND_AGENT_CONTRADICTED:
	case RM_KIND_PAIR_CONTRADICTED:
		return RM_FAULT_CONTRADICTED;
	case RM_KIND_CERTIFICATE_ENDING:
		return RM_FAULT_CERTIFICATE;
	case RM_KIND_CLASS_REWRITTEN:
		return RM_FAULT_REWRITTEN;
	default:
		return RM_FAULT_LOSSES;
	}
}

bool
incident_kind_is_total(enum rm_kind kind)
{
	switch (kind) {
	case RM_KIND_RNIC_LOSSY:
	case RM_KIND_LINK_LOSSY:
	case RM_KIND_LINKS_LOSSY:
	case RM_KIND_SWITCH_LOSSY:
	case RM_KIND_PATH_LOSSY:
	case RM_KIND_MANAGEMENT_DOWN:
		return false;
	default:
		return true;
	}
}

/* True: a link is in both lists, or one of the lists is empty. */
static bool
has_common_link(const char *a, const char *b)
{
	struct rm_part part = { .type = RM_PART_LINK };
	struct rm_link link;

	if (a[0] == '\0' || b[0] == '\0')
		return true;
	while (rm_links_next(&a, &link)) {
		strcpy(part.name, link.name);
		if (rm_links_have(b, &part))
			return true;
	}
	return false;
}

bool
incident_is_same_fault(const struct rm_incident *incident, enum rm_fault fault,
    const struct rm_evidence *evidence)
{
	const struct rm_verdict *mine = &incident->verdict;

	if (fault != incident->fault && fault != incident_fault_of(mine->kind))
		return false;
	return fault != RM_FAULT_LINKS ||
	       has_common_link(mine->evidence.links, evidence->links);
}

void
incident_falls_show(struct rm_incident *incident, rm_mono_t now, rm_wall_t wall)
{
	const struct rm_recurrence *recurrence = &incident->recurrence;

	if (!recurrence->flaps)
		return;
	incident->flaps_since.ns = wall.ns - rm_mono_since(now, recurrence->since);
	incident->returned.ns = wall.ns - rm_mono_since(now, recurrence->at[0]);
	incident->returns = recurrence->falls - 1;
}

/* ---- falls of parts without an open incident ---- */

static void
forget(struct rm_incidents *incidents, size_t i)
{
	free(incidents->falls[i]);
	incidents->falls[i] = incidents->falls[--incidents->falls_count];
}

void
incident_falls_free(struct rm_incidents *incidents)
{
	while (incidents->falls_count > 0)
		forget(incidents, 0);
}

/* Returns falls_count if there are none. */
static size_t
find(const struct rm_incidents *incidents, const struct rm_part *part,
    enum rm_fault fault, const char *links)
{
	size_t i;

	for (i = 0; i < incidents->falls_count; i++) {
		const struct incident_falls *falls = incidents->falls[i];

		if (falls->fault == fault && rm_part_equal(&falls->part, part) &&
		    (fault != RM_FAULT_LINKS || has_common_link(falls->links, links)))
			break;
	}
	return i;
}

const struct rm_recurrence *
incident_falls_find(const struct rm_incidents *incidents, const struct rm_part *part,
    enum rm_fault fault, const char *links)
{
	const size_t i = find(incidents, part, fault, links);

	return i < incidents->falls_count ? &incidents->falls[i]->recurrence : NULL;
}

void
incident_falls_take(struct rm_incidents *incidents, struct rm_incident *incident)
{
	const struct rm_verdict *verdict = &incident->verdict;
	const size_t i =
	    find(incidents, &verdict->part, incident->fault, verdict->evidence.links);

	if (i == incidents->falls_count)
		return;
	incident->recurrence = incidents->falls[i]->recurrence;
	forget(incidents, i);
}

static void
make_room(struct rm_incidents *incidents, rm_mono_t now)
{
	size_t oldest = 0;

	for (size_t i = incidents->falls_count; i-- > 0;)
		if (rm_recurrence_is_old(&incidents->falls[i]->recurrence, now))
			forget(incidents, i);
	if (incidents->falls_count < INCIDENT_FALLS_MAX)
		return;
	for (size_t i = 1; i < incidents->falls_count; i++)
		if (rm_mono_since(incidents->falls[oldest]->recurrence.at[0],
			incidents->falls[i]->recurrence.at[0]) > 0)
			oldest = i;
	incidents->counts.forgotten++;
	forget(incidents, oldest);
}

void
incident_falls_keep(
    struct rm_incidents *incidents, const struct rm_incident *incident, rm_mono_t now)
{
	const struct rm_verdict *verdict = &incident->verdict;
	struct incident_falls *falls;
	size_t i;

	if (incident->recurrence.at[0].ns == 0)
		return;
	i = find(incidents, &verdict->part, incident->fault, verdict->evidence.links);
	if (i < incidents->falls_count)
		forget(incidents, i);
	if (incidents->falls_count == INCIDENT_FALLS_MAX)
		make_room(incidents, now);
	falls = calloc(1, sizeof(*falls));
	if (falls == NULL) {
		incidents->counts.forgotten++;
		return;
	}
	falls->part = verdict->part;
	falls->fault = incident->fault;
	if (falls->fault == RM_FAULT_LINKS)
		strcpy(falls->links, verdict->evidence.links);
	falls->recurrence = incident->recurrence;
	falls->recurrence.flaps = false; /* until the part falls again */
	incidents->falls[incidents->falls_count++] = falls;
}

/* ---- as JSON ---- */

#define VERSION 1

static const char *const fault_names[RM_FAULTS] = {
	[RM_FAULT_LOSSES] = "losses",
	[RM_FAULT_DELAYS] = "delays",
	[RM_FAULT_LINKS] = "links",
	[RM_FAULT_MTU] = "mtu",
	[RM_FAULT_CONTRADICTED] = "contradicted",
	[RM_FAULT_CERTIFICATE] = "certificate",
	[RM_FAULT_REWRITTEN] = "rewritten",
};

static json_t *
falls_json(enum rm_fault fault, const struct rm_recurrence *recurrence, rm_mono_t now,
    rm_wall_t wall)
{
	json_t *json = rm_recurrence_save(recurrence, now, wall);

	if (json_object_set_new(json, "version", json_integer(VERSION)) < 0 ||
	    json_object_set_new(json, "fault", json_string(fault_names[fault])) < 0) {
		json_decref(json);
		return NULL;
	}
	return json;
}

json_t *
rm_incident_falls_save(
    const struct rm_incident *incident, rm_mono_t now, rm_wall_t wall)
{
	const enum rm_fault fault = incident->fault != RM_FAULT_UNSET
					? incident->fault
					: incident_fault_of(incident->verdict.kind);
	json_t *json;

	if (incident->recurrence.at[0].ns == 0)
		return json_null();
	json = falls_json(fault, &incident->recurrence, now, wall);
	if (json_object_set_new(json, "total", json_boolean(incident->is_total)) < 0) {
		json_decref(json);
		return NULL;
	}
	return json;
}

static enum rm_fault
take_fault(const json_t *saved)
{
	const char *name = json_string_value(json_object_get(saved, "fault"));

	for (int i = RM_FAULT_UNSET + 1; i < RM_FAULTS && name != NULL; i++)
		if (strcmp(name, fault_names[i]) == 0)
			return (enum rm_fault)i;
	return RM_FAULT_UNSET;
}

const char *
rm_incident_falls_read(
    const json_t *saved, rm_mono_t now, rm_wall_t wall, struct rm_incident *incident)
{
	const enum rm_fault fault = take_fault(saved);
	struct rm_recurrence recurrence;
	const char *wrong;

	if (saved == NULL || json_is_null(saved))
		return NULL;
	if (!json_is_integer(json_object_get(saved, "version")))
		return "version";
	if (json_integer_value(json_object_get(saved, "version")) != VERSION)
		return NULL;
	wrong = rm_recurrence_restore(saved, now, wall, &recurrence);
	if (wrong == NULL && fault == RM_FAULT_UNSET)
		wrong = "fault";
	if (wrong != NULL)
		return wrong;
	incident->fault = fault;
	incident->is_total = json_is_true(json_object_get(saved, "total"));
	incident->recurrence = recurrence;
	incident_falls_show(incident, now, wall);
	return NULL;
}

void
incident_falls_guess(struct rm_incident *incident, rm_mono_t now, rm_wall_t wall)
{
	const uint32_t falls = (uint32_t)incident->returns + 1;
	int64_t ago_ns = wall.ns - incident->returned.ns;
	int64_t span_ns = incident->returned.ns - incident->flaps_since.ns;

	if (incident->flaps_since.ns == 0)
		return;
	ago_ns = ago_ns > 0 ? ago_ns : 0;
	span_ns = span_ns > 0 ? span_ns : 0;
	incident->recurrence = (struct rm_recurrence){
		.flaps = true,
		.falls = falls > RM_RECURRENCE_FALLS ? falls : RM_RECURRENCE_FALLS,
		.since = rm_mono_add(now, -ago_ns - span_ns),
		.at = { rm_mono_add(now, -ago_ns) },
		.up_since = now,
	};
	if (incident->recurrence.at[0].ns == 0)
		incident->recurrence.at[0].ns = 1;
}

json_t *
incident_falls_save(const struct rm_incidents *incidents)
{
	json_t *list = json_array();

	for (size_t i = 0; i < incidents->falls_count; i++) {
		const struct incident_falls *falls = incidents->falls[i];
		json_t *one = falls_json(falls->fault, &falls->recurrence,
		    incidents->clock_mono, incidents->clock_wall);

		if (json_object_set_new(one, "part_type",
			json_string(rm_part_type_str(falls->part.type))) < 0 ||
		    json_object_set_new(one, "part", json_string(falls->part.name)) <
			0 ||
		    json_object_set_new(one, "place", json_string(falls->part.place)) <
			0 ||
		    json_object_set_new(one, "links", json_string(falls->links)) < 0 ||
		    json_array_append(list, one) < 0) {
			json_decref(one);
			json_decref(list);
			return NULL;
		}
		json_decref(one);
	}
	return list;
}

static bool
take_text(const json_t *saved, const char *key, char *ret, size_t size)
{
	const char *text = json_string_value(json_object_get(saved, key));

	if (text == NULL || strlen(text) >= size)
		return false;
	strcpy(ret, text);
	return true;
}

const char *
incident_falls_restore(
    struct rm_incidents *incidents, const json_t *saved, rm_mono_t now, rm_wall_t wall)
{
	const char *type = json_string_value(json_object_get(saved, "part_type"));
	struct rm_incident incident = { 0 };
	struct rm_verdict *verdict = &incident.verdict;
	const char *wrong;

	for (int i = 1; i < RM_PART_TYPES && type != NULL; i++)
		if (strcmp(type, rm_part_type_str((enum rm_part_type)i)) == 0)
			verdict->part.type = (enum rm_part_type)i;
	if (verdict->part.type == 0)
		return "part_type";
	if (!take_text(saved, "part", verdict->part.name, sizeof(verdict->part.name)) ||
	    verdict->part.name[0] == '\0')
		return "part";
	if (!take_text(
		saved, "place", verdict->part.place, sizeof(verdict->part.place)))
		return "place";
	if (!take_text(saved, "links", verdict->evidence.links,
		sizeof(verdict->evidence.links)))
		return "links";
	wrong = rm_incident_falls_read(saved, now, wall, &incident);
	if (wrong == NULL)
		incident_falls_keep(incidents, &incident, now);
	return wrong;
}
