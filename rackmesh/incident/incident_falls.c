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
incident_has_links(const struct rm_incident *incident, const struct rm_verdict *links)
{
	return incident->fault == RM_FAULT_LINKS &&
	       rm_part_equal(&incident->links.of, &links->part) &&
	       has_common_link(incident->links.names, links->evidence.links);
}

bool
incident_is_same_fault(
    const struct rm_incident *incident, const struct rm_verdict *verdict)
{
	const struct rm_verdict *mine = &incident->verdict;
	const enum rm_fault fault = incident_fault_of(verdict->kind);

	if (incident->fault == RM_FAULT_LINKS && fault == RM_FAULT_LOSSES &&
	    rm_links_have(incident->links.names, &verdict->part))
		return true;
	if (fault != incident->fault && fault != incident_fault_of(mine->kind))
		return false;
	if (fault != RM_FAULT_LINKS)
		return true;
	return has_common_link(incident->fault == RM_FAULT_LINKS ? incident->links.names
								 : mine->evidence.links,
	    verdict->evidence.links);
}

static void
add_names(char names[RM_LINKS_BYTES], const char *more)
{
	struct rm_part part = { .type = RM_PART_LINK };
	struct rm_link link;

	while (rm_links_next(&more, &link)) {
		strcpy(part.name, link.name);
		if (!rm_links_have(names, &part))
			rm_links_add(names, &link);
	}
}

void
incident_add_links(struct rm_incident *incident, const struct rm_verdict *links)
{
	if (incident->links.of.type == 0)
		incident->links.of = links->part;
	add_names(incident->links.names, links->evidence.links);
}

void
incident_guess_links(struct rm_incident *incident)
{
	struct rm_verdict of = incident->verdict;

	if (incident->fault != RM_FAULT_LINKS || incident->links.of.type != 0)
		return;
	if (of.part.type == RM_PART_LINK && of.evidence.widened[0] != '\0') {
		of.part = (struct rm_part){ .type = of.evidence.widened_is_tor
							? RM_PART_TOR
							: RM_PART_SWITCH };
		strcpy(of.part.name, of.evidence.widened);
	}
	incident_add_links(incident, &of);
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

/* The part whose falls are counted. */
static const struct rm_part *
falling_part(const struct rm_incident *incident)
{
	return incident->fault == RM_FAULT_LINKS ? &incident->links.of
						 : &incident->verdict.part;
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
		    (fault != RM_FAULT_LINKS ||
			has_common_link(falls->links.names, links)))
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
	const size_t i = find(
	    incidents, falling_part(incident), incident->fault, incident->links.names);

	if (i == incidents->falls_count)
		return;
	incident->recurrence = incidents->falls[i]->recurrence;
	if (incident->fault == RM_FAULT_LINKS) {
		add_names(incident->links.names, incidents->falls[i]->links.names);
		incident->links.apart |= incidents->falls[i]->links.apart;
	}
	forget(incidents, i);
}

void
incident_falls_uncount(struct rm_incident *incident)
{
	struct rm_recurrence *recurrence = &incident->recurrence;

	recurrence->at[0] = recurrence->at[1];
	if (!recurrence->flaps)
		recurrence->at[1].ns = 0; /* the fall before that is not known */
}

void
incident_falls_widen(struct rm_incidents *incidents, struct rm_incident *incident,
    const struct rm_verdict *links, rm_mono_t now)
{
	const struct rm_recurrence own = incident->recurrence;

	incident_falls_uncount(incident);
	incident_falls_keep(incidents, incident, now);
	incident->fault = RM_FAULT_LINKS;
	incident->links = (struct rm_incident_links){ .apart = true };
	incident_add_links(incident, links);
	incident->recurrence = (struct rm_recurrence){ 0 };
	incident_falls_take(incidents, incident);
	rm_recurrence_fall(
	    &incident->recurrence, now, incidents->options.flap_within_ns);
	if (own.flaps && !incident->recurrence.flaps)
		incident->recurrence = own;
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
	struct incident_falls *falls;
	size_t i;

	if (incident->recurrence.at[0].ns == 0)
		return;
	i = find(
	    incidents, falling_part(incident), incident->fault, incident->links.names);
	if (i < incidents->falls_count)
		forget(incidents, i);
	if (incidents->falls_count == INCIDENT_FALLS_MAX)
		make_room(incidents, now);
	falls = calloc(1, sizeof(*falls));
	if (falls == NULL) {
		incidents->counts.forgotten++;
		return;
	}
	falls->part = *falling_part(incident);
	falls->fault = incident->fault;
	if (falls->fault == RM_FAULT_LINKS)
		falls->links = incident->links;
	falls->recurrence = incident->recurrence;
	falls->recurrence.flaps = false; /* until the part falls again */
	incidents->falls[incidents->falls_count++] = falls;
}

void
incident_falls_count(struct rm_incidents *incidents, const struct rm_part *link,
    rm_mono_t at, rm_mono_t up_since)
{
	struct rm_incident alone = { .verdict.part = *link, .fault = RM_FAULT_LOSSES };

	incident_falls_take(incidents, &alone);
	if (alone.recurrence.at[0].ns == 0 ||
	    rm_mono_since(at, alone.recurrence.at[0]) > 0)
		rm_recurrence_fall(
		    &alone.recurrence, at, incidents->options.flap_within_ns);
	alone.recurrence.up_since = up_since;
	incident_falls_keep(incidents, &alone, up_since);
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

/* part: that whose falls these are. */
static int
set_links(
    json_t *json, const struct rm_part *part, const struct rm_incident_links *links)
{
	if (json_object_set_new(
		json, "part_type", json_string(rm_part_type_str(part->type))) < 0 ||
	    json_object_set_new(json, "part", json_string(part->name)) < 0 ||
	    json_object_set_new(json, "place", json_string(part->place)) < 0 ||
	    json_object_set_new(json, "links", json_string(links->names)) < 0 ||
	    json_object_set_new(json, "apart", json_boolean(links->apart)) < 0)
		return -1;
	return 0;
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
	if (json_object_set_new(json, "total", json_boolean(incident->is_total)) < 0 ||
	    (incident->links.of.type != 0 &&
		set_links(json, &incident->links.of, &incident->links) < 0)) {
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

static bool
take_text(const json_t *saved, const char *key, char *ret, size_t size)
{
	const char *text = json_string_value(json_object_get(saved, key));

	if (text == NULL || strlen(text) >= size)
		return false;
	strcpy(ret, text);
	return true;
}

/* Reads what set_links writes. NULL, or the name of the wrong key. */
static const char *
take_links(const json_t *saved, struct rm_part *part, struct rm_incident_links *links)
{
	const char *type = json_string_value(json_object_get(saved, "part_type"));

	for (int i = 1; i < RM_PART_TYPES && type != NULL; i++)
		if (strcmp(type, rm_part_type_str((enum rm_part_type)i)) == 0)
			part->type = (enum rm_part_type)i;
	if (part->type == 0)
		return "part_type";
	if (!take_text(saved, "part", part->name, sizeof(part->name)) ||
	    part->name[0] == '\0')
		return "part";
	if (!take_text(saved, "place", part->place, sizeof(part->place)))
		return "place";
	if (!take_text(saved, "links", links->names, sizeof(links->names)))
		return "links";
	links->apart = json_is_true(json_object_get(saved, "apart"));
	return NULL;
}

const char *
rm_incident_falls_read(
    const json_t *saved, rm_mono_t now, rm_wall_t wall, struct rm_incident *incident)
{
	const enum rm_fault fault = take_fault(saved);
	struct rm_incident_links links = { 0 };
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
	/* An older version saved the falls of an incident without its links. */
	if (wrong == NULL && fault == RM_FAULT_LINKS &&
	    json_object_get(saved, "part") != NULL)
		wrong = take_links(saved, &links.of, &links);
	if (wrong != NULL)
		return wrong;
	incident->fault = fault;
	incident->links = links;
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

		if (set_links(one, &falls->part, &falls->links) < 0 ||
		    json_array_append(list, one) < 0) {
			json_decref(one);
			json_decref(list);
			return NULL;
		}
		json_decref(one);
	}
	return list;
}

const char *
incident_falls_restore(
    struct rm_incidents *incidents, const json_t *saved, rm_mono_t now, rm_wall_t wall)
{
	struct rm_incident incident = { 0 };
	const char *wrong = take_links(saved, &incident.verdict.part, &incident.links);

	if (wrong != NULL)
		return wrong;
	wrong = rm_incident_falls_read(saved, now, wall, &incident);
	if (wrong == NULL)
		incident_falls_keep(incidents, &incident, now);
	return wrong;
}
