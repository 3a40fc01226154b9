#include "rackmesh/incident/alert_body.h"

#include <stdio.h>
#include <stdlib.h>

#include "rackmesh/incident/alert.h"
#include "rackmesh/incident/incident.h"

static json_t *
alert_labels(const struct rm_alert_options *options, const struct rm_part *part)
{
	json_t *labels = json_pack("{s:s, s:s, s:s, s:s, s:s}", "alertname",
	    rm_part_alertname(part->type), "part_type", rm_part_type_word(part->type),
	    "part", part->name, "region", options->region, "severity", "critical");

	/* An empty label is no label to Alertmanager. */
	if (labels != NULL && part->place[0] != '\0' &&
	    json_object_set_new(labels, "place", json_string(part->place)) < 0) {
		json_decref(labels);
		return NULL;
	}
	return labels;
}

static json_t *
alert_annotations(
    const struct rm_alert_options *options, const struct rm_incident *incident)
{
	const struct rm_verdict *verdict = &incident->verdict;
	char sentence[RM_SENTENCE_BYTES], rnic[RM_RNIC_ID_TEXT] = "", confidence[16];
	char id[24], impact[RM_EVIDENCE_TEXT + 16], flapping[RM_INCIDENT_FLAP_TEXT];
	json_t *details = rm_verdict_json(verdict), *annotations = NULL;
	char *evidence = NULL;

	if (details != NULL)
		evidence =
		    json_dumps(json_object_get(details, "evidence"), JSON_COMPACT);
	json_decref(details);
	if (evidence == NULL)
		return NULL;
	rm_verdict_sentence(verdict, sentence, sizeof sentence);
	if (verdict->rnic.guid != 0)
		rm_rnic_id_format(verdict->rnic, rnic);
	snprintf(confidence, sizeof confidence, "%.3f", verdict->confidence);
	snprintf(id, sizeof id, "%016llx", (unsigned long long)incident->id);
	rm_verdict_impact(verdict, impact, sizeof impact);
	rm_incident_flapping(incident, flapping);
	annotations = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}",
	    "summary", sentence, "kind", rm_kind_word(verdict->kind), "confidence",
	    confidence, "impact", impact, "flapping", flapping, "rnic", rnic,
	    "incident", id, "source", options->source, "evidence", evidence);
	free(evidence);
	return annotations;
}

json_t *
rm_alert_json(const struct rm_alert_options *options,
    const struct rm_incident *incident, int64_t ends_after_ns)
{
	char starts[RM_WALL_TEXT], ends[RM_WALL_TEXT];
	bool resolved = incident->resolved.ns != 0;
	rm_wall_t start = incident->opened, end = incident->resolved;

	/* The clock may have been set back, and what ends before it starts is refused.
	 */
	if (incident->changed.ns < start.ns)
		start = incident->changed;
	if (!resolved)
		end.ns = incident->changed.ns + ends_after_ns;
	rm_wall_format(start, starts);
	rm_wall_format(end, ends);
	return json_pack("{s:s, s:o, s:o, s:s, s:s}", "status",
	    resolved ? "resolved" : "firing", "labels",
	    alert_labels(options, &incident->verdict.part), "annotations",
	    alert_annotations(options, incident), "startsAt", starts, "endsAt", ends);
}

/* It derives the status from endsAt. */
json_t *
alert_body_alertmanager(json_t *alerts, enum alert_news news)
{
	json_t *alert;
	size_t i;

	(void)news;
	json_array_foreach (alerts, i, alert) {
		json_t *copy = json_copy(alert);

		if (copy == NULL || json_array_set_new(alerts, i, copy) < 0) {
			json_decref(alerts);
			return NULL;
		}
		json_object_del(copy, "status");
	}
	return alerts;
}

json_t *
alert_body_webhook(json_t *alerts, enum alert_news news)
{
	json_t *first = json_array_get(alerts, 0);

	return json_pack("{s:s, s:s, s:s, s:i, s:s, s:O, s:O, s:O, s:s, s:o}",
	    "version", "4", "status", news == ALERT_RESOLVED ? "resolved" : "firing",
	    "receiver", "rackmesh", "truncatedAlerts", 0, "groupKey",
	    json_string_value(
		json_object_get(json_object_get(first, "annotations"), "incident")),
	    "groupLabels", json_object_get(first, "labels"), "commonLabels",
	    json_object_get(first, "labels"), "commonAnnotations",
	    json_object_get(first, "annotations"), "externalURL", "", "alerts", alerts);
}
