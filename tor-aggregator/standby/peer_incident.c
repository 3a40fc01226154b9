#include "tor-aggregator/standby/peer_incident.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "rackmesh/incident/incident.h"
#include "rackmesh/incident/incident_file.h"
#include "tor-aggregator/standby/incident_message.h"

static enum rm_part_type
type_of(const char *name)
{
	for (int i = 1; i < RM_PART_TYPES; i++)
		if (strcmp(name, rm_part_type_str((enum rm_part_type)i)) == 0)
			return (enum rm_part_type)i;
	return 0;
}

static enum rm_kind
kind_of(const char *name)
{
	for (int i = 1; i < RM_KINDS; i++)
		if (strcmp(name, rm_kind_str((enum rm_kind)i)) == 0)
			return (enum rm_kind)i;
	return 0;
}

/* An older peer sends none. */
static void
take_impact(const json_t *json, struct rm_evidence *evidence)
{
	const char *impact = json_string_value(json_object_get(json, "impact"));
	const char *services = json_string_value(json_object_get(json, "services"));

	if (impact == NULL || !rm_impact_parse(impact, &evidence->impact) ||
	    services == NULL)
		return;
	snprintf(evidence->services, sizeof(evidence->services), "%s", services);
	for (char *at = evidence->services; *at != '\0'; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
}

/* The falls are sent with their age, because the wall clocks of the two hosts differ:
 * both sides convert with this time as the present. */
static const rm_wall_t present = { INT64_C(1) << 62 };

static void
take_falls(const json_t *falls, rm_mono_t now, struct rm_incident *incident)
{
	const rm_wall_t returned = incident->returned;
	int64_t span_ns;

	incident->returned.ns = 0;
	if (rm_incident_falls_read(falls, now, present, incident) != NULL ||
	    !incident->recurrence.flaps)
		return;
	span_ns = rm_mono_since(incident->recurrence.at[0], incident->recurrence.since);
	incident->returned = returned;
	incident->flaps_since.ns = returned.ns > span_ns ? returned.ns - span_ns : 1;
}

/* Reads the RNIC's id, which is optional, and the severity. An older peer sends no
 * severity: then it is critical. */
static void
take_evidence(const char *evidence, rm_mono_t now, struct rm_incident *incident)
{
	json_t *json = json_loads(evidence, 0, NULL);
	const char *text = json_string_value(json_object_get(json, "rnic"));
	const char *severity = json_string_value(json_object_get(json, "severity"));
	const char *narrowed = json_string_value(json_object_get(json, "narrowed"));
	struct rm_verdict *verdict = &incident->verdict;

	if (narrowed != NULL && rm_part_names(&verdict->part, narrowed))
		strcpy(verdict->evidence.narrowed, narrowed);
	take_impact(json, &verdict->evidence);
	if (text != NULL && text[0] != '\0')
		(void)rm_rnic_id_parse(text, &verdict->rnic);
	incident->notified_resolved =
	    incident->resolved.ns != 0 && !json_is_false(json_object_get(json, "told"));
	if (severity != NULL)
		incident->severity = rm_severity_parse(severity);
	if (incident->severity == RM_SEVERITY_UNSET)
		incident->severity = RM_SEVERITY_CRITICAL;
	take_falls(json_object_get(json, "falls"), now, incident);
	json_decref(json);
}

int
peer_incident_read(
    const struct wire_incident *wire, rm_mono_t now, struct rm_incident *ret)
{
	struct rm_incident incident = { .id = wire->incident_id };
	struct rm_verdict *verdict = &incident.verdict;

	verdict->part.type = type_of(wire->part_type);
	verdict->kind = kind_of(wire->kind);
	verdict->confidence = wire->confidence;
	if (wire->incident_id == 0 || verdict->part.type == 0 || verdict->kind == 0 ||
	    wire->part[0] == '\0' || strlen(wire->part) >= sizeof(verdict->part.name) ||
	    strlen(wire->place) >= sizeof(verdict->part.place) ||
	    !isfinite(wire->confidence) || wire->confidence < 0 ||
	    wire->confidence > 1 || wire->began_wall_ns > INT64_MAX ||
	    wire->opened_wall_ns > INT64_MAX || wire->changed_wall_ns > INT64_MAX ||
	    wire->good_since_wall_ns > INT64_MAX || wire->returned_wall_ns > INT64_MAX)
		return -EINVAL;
	strcpy(verdict->part.name, wire->part);
	strcpy(verdict->part.place, wire->place);
	verdict->evidence.window_start.ns = (int64_t)wire->began_wall_ns;
	incident.opened.ns = (int64_t)wire->opened_wall_ns;
	incident.changed.ns = (int64_t)wire->changed_wall_ns;
	incident.good_since.ns = (int64_t)wire->good_since_wall_ns;
	incident.returned.ns = (int64_t)wire->returned_wall_ns;
	incident.notified_opened = wire->state != WIRE_OPENED;
	if (wire->state == WIRE_RESOLVED)
		incident.resolved = incident.changed;
	take_evidence(wire->evidence_json, now, &incident);
	*ret = incident;
	return 0;
}

int
peer_incident_write(struct wire_writer *writer, const char *tor,
    const struct rm_incident *incident, rm_mono_t now, struct wire_bytes *out)
{
	const struct rm_verdict *verdict = &incident->verdict;
	const struct rm_evidence *evidence = &verdict->evidence;
	char sentence[RM_SENTENCE_BYTES], rnic[RM_RNIC_ID_TEXT] = "";
	enum wire_incident_state state =
	    incident->notified_opened ? WIRE_UPDATED : WIRE_OPENED;
	struct wire_incident wire;
	char *text = NULL;
	json_t *json;
	int r;

	if (incident->resolved.ns != 0)
		state = WIRE_RESOLVED;
	wire = incident_message(tor, state, incident, sentence);
	if (verdict->rnic.guid != 0)
		rm_rnic_id_format(verdict->rnic, rnic);
	json = json_pack("{s:s, s:s, s:s, s:b, s:s, s:s, s:o}", "rnic", rnic,
	    "severity", rm_severity_str(incident->severity), "narrowed",
	    evidence->narrowed, "told", incident->notified_resolved, "impact",
	    rm_impact_str(evidence->impact), "services", evidence->services, "falls",
	    rm_incident_falls_save(incident, now, present));
	if (json != NULL)
		text = json_dumps(json, JSON_COMPACT);
	json_decref(json);
	if (text == NULL)
		return -ENOMEM;
	wire.evidence_json = text;
	r = wire_write_incident(writer, &wire, out);
	free(text);
	return r;
}
