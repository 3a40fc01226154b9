#include "rackmesh/incident/alert_message.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/incident/alert_label.h"
#include "rackmesh/incident/incident.h"

#define ALERT_LINK_BYTES 1280          /* options limit a link to 1023 */
#define NO_TIME "0001-01-01T00:00:00Z" /* endsAt of an alert that has not ended */

/* text: "team=fabric", checked. */
static int
label_add(json_t *labels, const char *text)
{
	const char *value = strchr(text, '=');
	char name[ALERT_LABEL_NAME];

	if (value == NULL || value - text >= (ptrdiff_t)sizeof name)
		return -1;
	snprintf(name, sizeof name, "%.*s", (int)(value - text), text);
	return json_object_set_new(labels, name, json_string(value + 1));
}

json_t *
alert_message_labels(
    const struct rm_alert_texts *texts, const struct rm_incident *incident)
{
	const struct rm_verdict *verdict = &incident->verdict;
	const struct rm_part *part = &verdict->part;
	const enum rm_severity severity =
	    incident->severity != RM_SEVERITY_UNSET
		? incident->severity
		: rm_severity(verdict->kind, verdict->evidence.impact);
	json_t *labels = json_pack("{s:s, s:s, s:s, s:s, s:s}", "alertname",
	    rm_part_alertname(part->type), "part_type", rm_part_type_str(part->type),
	    "part", part->name, "region", texts->region, "severity",
	    rm_severity_str(severity));

	for (size_t i = 0; labels != NULL && i < texts->label_count; i++)
		if (label_add(labels, texts->labels[i]) < 0) {
			json_decref(labels);
			return NULL;
		}
	/* Alertmanager treats an empty label as missing, so it is left out. */
	if (labels != NULL && part->place[0] != '\0' &&
	    json_object_set_new(labels, "place", json_string(part->place)) < 0) {
		json_decref(labels);
		return NULL;
	}
	return labels;
}

static bool
is_set(const char *text)
{
	return text != NULL && text[0] != '\0';
}

/* The operator's page on the kind of fault if there is one, else the analyzer's. False:
 * there is none. */
static bool
runbook_of(
    const struct rm_alert_texts *texts, const char *kind, char ret[ALERT_LINK_BYTES])
{
	if (is_set(texts->runbook_url))
		snprintf(ret, ALERT_LINK_BYTES, "%s%s", texts->runbook_url, kind);
	else if (is_set(texts->page_url))
		snprintf(ret, ALERT_LINK_BYTES, "%s/#/kind/%s", texts->page_url, kind);
	else
		return false;
	return true;
}

static json_t *
alert_annotations(
    const struct rm_alert_texts *texts, const struct rm_incident *incident)
{
	const struct rm_verdict *verdict = &incident->verdict;
	char sentence[RM_SENTENCE_BYTES], rnic[RM_RNIC_ID_TEXT] = "", confidence[16];
	char id[24], impact[RM_EVIDENCE_TEXT + 16], flapping[RM_INCIDENT_FLAP_TEXT];
	json_t *details = rm_verdict_json(verdict), *annotations = NULL;
	char *evidence = NULL, runbook[ALERT_LINK_BYTES];

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
	    "summary", sentence, "kind", rm_kind_str(verdict->kind), "confidence",
	    confidence, "impact", impact, "flapping", flapping, "rnic", rnic,
	    "incident", id, "source", texts->source, "evidence", evidence);
	free(evidence);
	if (runbook_of(texts, rm_kind_str(verdict->kind), runbook) &&
	    annotations != NULL)
		json_object_set_new(annotations, "runbook_url", json_string(runbook));
	return annotations;
}

json_t *
alert_message_json(const struct rm_alert_texts *texts,
    const struct rm_incident *incident, int64_t ends_after_ns, json_t *labels)
{
	char starts[RM_WALL_TEXT], ends[RM_WALL_TEXT];
	char fingerprint[ALERT_FINGERPRINT_TEXT] = "", link[ALERT_LINK_BYTES] = "";
	bool resolved = incident->resolved.ns != 0;
	rm_wall_t start = incident->opened, end = incident->resolved;

	/* The clock may have been set back: the start must not be after the last
	 * change, as an alert that ends before its start is refused. */
	if (incident->changed.ns < start.ns)
		start = incident->changed;
	if (!resolved)
		end.ns = incident->changed.ns + ends_after_ns;
	rm_wall_format(start, starts);
	rm_wall_format(end, ends);
	if (is_set(texts->page_url))
		snprintf(link, sizeof link, "%s/#/incident/%016llx", texts->page_url,
		    (unsigned long long)incident->id);
	if (labels != NULL)
		alert_label_fingerprint(labels, fingerprint);
	return json_pack("{s:s, s:o, s:o, s:s, s:s, s:s, s:s}", "status",
	    resolved ? "resolved" : "firing", "labels", labels, "annotations",
	    alert_annotations(texts, incident), "startsAt", starts, "endsAt", ends,
	    "generatorURL", link, "fingerprint", fingerprint);
}

json_t *
alert_message_alertmanager(json_t *alerts, const void *texts)
{
	json_t *alert;
	size_t i;

	(void)texts;
	json_array_foreach (alerts, i, alert) {
		json_t *copy = json_copy(alert);

		if (copy == NULL || json_array_set_new(alerts, i, copy) < 0) {
			json_decref(alerts);
			return NULL;
		}
		json_object_del(copy, "status");
		json_object_del(copy, "fingerprint");
		if (json_string_length(json_object_get(copy, "generatorURL")) == 0)
			/* Alertmanager refuses "", which is no URI */
			json_object_del(copy, "generatorURL");
	}
	return alerts;
}

json_t *
alert_message_webhook(json_t *alerts, const void *arg)
{
	const struct rm_alert_texts *texts = arg;
	json_t *alert = json_copy(json_array_get(alerts, 0));
	json_t *labels = json_object_get(alert, "labels");
	const char *status = json_string_value(json_object_get(alert, "status"));
	char *key = labels != NULL ? alert_label_group(labels) : NULL;
	json_t *body = NULL;

	json_decref(alerts);
	if (key != NULL && status != NULL &&
	    (strcmp(status, "firing") != 0 ||
		json_object_set_new(alert, "endsAt", json_string(NO_TIME)) == 0))
		body = json_pack("{s:s, s:s, s:i, s:s, s:s, s:O, s:O, s:O, s:s, s:[O]}",
		    "version", "4", "groupKey", key, "truncatedAlerts", 0, "status",
		    status, "receiver", "rackmesh", "groupLabels", labels,
		    "commonLabels", labels, "commonAnnotations",
		    json_object_get(alert, "annotations"), "externalURL",
		    texts->page_url != NULL ? texts->page_url : "", "alerts", alert);
	json_decref(alert);
	free(key);
	return body;
}
