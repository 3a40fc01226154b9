#include "tor-aggregator/standby/incident_message.h"

#include "rackmesh/incident/incident.h"

struct wire_incident
incident_message(const char *tor, enum wire_incident_state state,
    const struct rm_incident *incident, char sentence[RM_SENTENCE_BYTES])
{
	const struct rm_verdict *verdict = &incident->verdict;
	rm_wall_t changed =
	    state == WIRE_RESOLVED ? incident->resolved : incident->changed;

	rm_incident_sentence(incident, sentence, RM_SENTENCE_BYTES);
	return (struct wire_incident){
		.incident_id = incident->id,
		.state = state,
		.tor = tor,
		.part_type = rm_part_type_str(verdict->part.type),
		.part = verdict->part.name,
		.place = verdict->part.place,
		.kind = rm_kind_str(verdict->kind),
		.confidence = verdict->confidence,
		.began_wall_ns = (uint64_t)verdict->evidence.window_start.ns,
		.opened_wall_ns = (uint64_t)incident->opened.ns,
		.changed_wall_ns = (uint64_t)changed.ns,
		.sentence = sentence,
		.severity = rm_severity_str(incident->severity),
		.good_since_wall_ns = (uint64_t)incident->good_since.ns,
		.returned_wall_ns = (uint64_t)incident->returned.ns,
	};
}
