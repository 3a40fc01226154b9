/*
 * alert_message - builds the alert object and the bodies of Alertmanager's API and of
 * its webhooks. Pure. All functions return new references; NULL: no memory.
 */
#ifndef RACKMESH_INCIDENT_ALERT_MESSAGE_H
#define RACKMESH_INCIDENT_ALERT_MESSAGE_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct rm_incident;

struct rm_alert_texts { /* fields that are equal in all alerts of a daemon, or of a
			   region */
	const char *region;
	const char *source; /* name of the daemon that sends them, an annotation */
	const char *const *labels; /* labels of the operator: "team=fabric" */
	size_t label_count;
	const char *page_url; /* base of links to incidents; "" or NULL: none */
	/* URL to which the kind of the fault is appended; "" or NULL: the text of the
	 * page itself. */
	const char *runbook_url;
};

json_t *alert_message_labels(
    const struct rm_alert_texts *texts, const struct rm_incident *incident);
/* The alert object, which both formats share: status, labels, annotations, startsAt,
 * endsAt, generatorURL, fingerprint. Takes labels; labels NULL: there was no memory for
 * them, and the result is NULL. */
json_t *alert_message_json(const struct rm_alert_texts *texts,
    const struct rm_incident *incident, int64_t ends_after_ns, json_t *labels);

/* Both functions make a request body from an array of alerts, for alert_sink_options.
 * They take ownership of alerts. texts: struct rm_alert_texts. Fields that Alertmanager
 * computes itself are left out. */
json_t *alert_message_alertmanager(json_t *alerts, const void *texts);
/* The body has one alert, in a group of its own: so it works for programs that identify
 * a fault by the group's key, such as bridges to pagers. */
json_t *alert_message_webhook(json_t *alerts, const void *texts);

#endif
