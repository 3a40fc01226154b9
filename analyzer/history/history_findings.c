/* Incidents, of racks and our own, and SLA minutes as points. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/history/history_text.h"
#include "analyzer/sla/sla.h"
#include "rackmesh/incident/incident.h"

int
history_text_incident(
    struct history_points *points, const struct wire_incident *incident)
{
	static const char *const states[] = {
		[WIRE_OPENED] = "opened",
		[WIRE_UPDATED] = "updated",
		[WIRE_RESOLVED] = "resolved",
	};
	struct rm_line line;
	char id[24];
	int r;

	r = history_text_begin(points, &line, "rm_incident");
	if (r < 0)
		return r;
	snprintf(id, sizeof(id), "%016llx", (unsigned long long)incident->incident_id);
	history_text_head(&line, &incident->head);
	rm_line_tag(&line, "tor", incident->tor);
	rm_line_tag(&line, "part_type", incident->part_type);
	rm_line_tag(&line, "part", incident->part);
	rm_line_tag(&line, "place", incident->place);
	rm_line_tag(&line, "state", states[incident->state]);
	rm_line_string(&line, "id", id);
	rm_line_string(&line, "kind", incident->kind);
	rm_line_double(&line, "confidence", incident->confidence);
	rm_line_int(&line, "began_ns", (int64_t)incident->began_wall_ns);
	rm_line_int(&line, "opened_ns", (int64_t)incident->opened_wall_ns);
	rm_line_string(&line, "sentence", incident->sentence);
	rm_line_string(&line, "evidence", incident->evidence_json);
	history_text_end(points, &line, incident->changed_wall_ns);
	return 0;
}

int
history_points_incident(struct history_points *points, const char *analyzer,
    const char *region, enum wire_incident_state state,
    const struct rm_incident *incident, struct history_text *ret)
{
	const struct rm_verdict *verdict = &incident->verdict;
	char sentence[RM_SENTENCE_BYTES];
	json_t *json = rm_verdict_json(verdict);
	char *evidence = json == NULL ? NULL : json_dumps(json, JSON_COMPACT);
	const struct wire_incident view = {
		.head = { .aggregator = analyzer, .region = region },
		.incident_id = incident->id,
		.state = state,
		.tor = "",
		.part_type = rm_part_type_word(verdict->part.type),
		.part = verdict->part.name,
		.place = verdict->part.place,
		.kind = rm_kind_word(verdict->kind),
		.confidence = verdict->confidence,
		.began_wall_ns = (uint64_t)verdict->evidence.window_start.ns,
		.opened_wall_ns = (uint64_t)incident->opened.ns,
		.changed_wall_ns =
		    (uint64_t)(state == WIRE_RESOLVED ? incident->resolved.ns
						      : incident->changed.ns),
		.sentence = sentence,
		.evidence_json = evidence == NULL ? "{}" : evidence,
	};
	int r;

	rm_verdict_sentence(verdict, sentence, sizeof(sentence));
	history_text_start(points);
	r = history_text_finish(points, history_text_incident(points, &view), ret);
	free(evidence);
	json_decref(json);
	return r;
}

int
history_points_sla(struct history_points *points, const char *analyzer,
    const struct sla_minute *minute, struct history_text *ret)
{
	struct rm_line line;
	int r;

	history_text_start(points);
	r = history_text_begin(points, &line, "rm_sla");
	if (r < 0)
		return history_text_finish(points, r, ret);
	rm_line_tag(&line, "region", minute->region);
	rm_line_tag(&line, "aggregator", analyzer);
	rm_line_tag(&line, "scope", minute->scope);
	history_text_dscp(&line, minute->dscp);
	rm_line_int(&line, "sent", (int64_t)minute->sent);
	rm_line_int(&line, "lost", (int64_t)minute->lost);
	rm_line_int(&line, "invalid", (int64_t)minute->invalid);
	rm_line_int(&line, "not_sent", (int64_t)minute->not_sent);
	rm_line_int(&line, "racks_available", (int64_t)minute->racks_available);
	rm_line_int(&line, "racks_unavailable", (int64_t)minute->racks_unavailable);
	rm_line_int(&line, "racks_unknown", (int64_t)minute->racks_unknown);
	for (int q = 0; minute->rtt_ns[WIRE_MAX] > 0 && q < WIRE_QUANTILES; q++)
		history_text_quantile(&line, "rtt", q, minute->rtt_ns[q]);
	history_text_end(points, &line, (uint64_t)minute->start.ns);
	return history_text_finish(points, 0, ret);
}
