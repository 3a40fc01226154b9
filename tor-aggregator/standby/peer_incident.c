#include "tor-aggregator/standby/peer_incident.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "rackmesh/incident/incident.h"
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

/* The RNIC's id is optional. An older peer sends no severity: its alerts are
 * critical. */
static void
take_evidence(const char *evidence, struct rm_incident *incident)
{
	json_t *json = json_loads(evidence, 0, NULL);
	const char *text = json_string_value(json_object_get(json, "rnic"));
	const char *severity = json_string_value(json_object_get(json, "severity"));
	const char *narrowed = json_string_value(json_object_get(json, "narrowed"));
	struct rm_verdict *verdict = &incident->verdict;

	if (narrowed != NULL && rm_part_names(&verdict->part, narrowed))
		strcpy(verdict->evidence.narrowed, narrowed);
	if (text != NULL && text[0] != '\0')
		(void)rm_rnic_id_parse(text, &verdict->rnic);
	incident->notified_resolved =
	    incident->resolved.ns != 0 && !json_is_false(json_object_get(json, "told"));
	if (severity != NULL)
		incident->severity = rm_severity_parse(severity);
	if (incident->severity == RM_SEVERITY_UNSET)
		incident->severity = RM_SEVERITY_CRITICAL;
	json_decref(json);
}

int
peer_incident_read(const struct wire_incident *wire, struct rm_incident *ret)
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
	    wire->opened_wall_ns > INT64_MAX || wire->changed_wall_ns > INT64_MAX)
		return -EINVAL;
	strcpy(verdict->part.name, wire->part);
	strcpy(verdict->part.place, wire->place);
	verdict->evidence.window_start.ns = (int64_t)wire->began_wall_ns;
	incident.opened.ns = (int64_t)wire->opened_wall_ns;
	incident.changed.ns = (int64_t)wire->changed_wall_ns;
	incident.notified_opened = wire->state != WIRE_OPENED;
	if (wire->state == WIRE_RESOLVED)
		incident.resolved = incident.changed;
	take_evidence(wire->evidence_json, &incident);
	*ret = incident;
	return 0;
}

int
peer_incident_write(struct wire_writer *writer, const char *tor,
    const struct rm_incident *incident, struct wire_bytes *out)
{
	const struct rm_verdict *verdict = &incident->verdict;
	char sentence[RM_SENTENCE_BYTES], rnic[RM_RNIC_ID_TEXT] = "";
	char evidence[RM_RNIC_ID_TEXT + RM_PART_NAME_BYTES + 64];
	enum wire_incident_state state =
	    incident->notified_opened ? WIRE_UPDATED : WIRE_OPENED;
	struct wire_incident wire;

	if (incident->resolved.ns != 0)
		state = WIRE_RESOLVED;
	wire = incident_message(tor, state, incident, sentence);
	if (verdict->rnic.guid != 0)
		rm_rnic_id_format(verdict->rnic, rnic);
	snprintf(evidence, sizeof(evidence),
	    "{\"rnic\":\"%s\",\"severity\":\"%s\",\"narrowed\":\"%s\",\"told\":%s}",
	    rnic, rm_severity_str(incident->severity), verdict->evidence.narrowed,
	    incident->notified_resolved ? "true" : "false");
	wire.evidence_json = evidence;
	return wire_write_incident(writer, &wire, out);
}
