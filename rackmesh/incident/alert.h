/*
 * alert - sends alerts to Alertmanager (v2 API) and to plain webhooks.
 *
 * Labels identify the fault (alertname, part_type, part, place, region, severity as it
 * opened, and the operator's own) and never change while it lasts; kind, confidence,
 * evidence, incident id are annotations. Firing alerts are sent again and again;
 * resolved ones are sent until every receiver has accepted them. Each receiver has its
 * own bounded queue, in order: firing before resolved. Where this host's clock is
 * wrong, times are those of Alertmanager's clock. The webhook's body is Alertmanager's
 * webhook format, version 4.
 */
#ifndef RACKMESH_INCIDENT_ALERT_H
#define RACKMESH_INCIDENT_ALERT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/incident/alert_counts.h"
#include "rackmesh/incident/alert_message.h"

struct rm_alerts;
struct rm_http_client;
struct rm_incident;
struct rm_incident_file;
struct rm_loop;
struct rm_metrics;
struct rm_part;

struct rm_alert_options {
	const char *const
	    *alertmanagers; /* base URLs, "http://127.0.0.1:9093"; every one gets all */
	size_t alertmanager_count;
	const char *const *webhooks; /* whole URLs */
	size_t webhook_count;
	struct rm_alert_texts texts;
	int64_t resend_ns; /* to Alertmanager; 0: 30 s; endsAt lies 4 of them ahead */
	int64_t ask_ns;   /* an idle receiver is asked at this interval whether it would
			     accept alerts; 0: never, but Alertmanagers are asked for the
			     time of day */
	size_t max_queue; /* alerts waiting per sink; 0: 1024; oldest update dropped
			     first */
	/* Called when every receiver has accepted, or refused for good, the opening or
	 * the resolution of this incident; at once if there is no receiver. Not called
	 * for what a full queue dropped. It must not fire or resolve anything. May be
	 * NULL. */
	void (*on_notified)(uint64_t incident, bool resolved, void *arg);
	void *arg;
};

/* Copies the options. */
int rm_alerts_new(struct rm_loop *loop, struct rm_http_client *http,
    const struct rm_alert_options *options, struct rm_alerts **ret);
void rm_alerts_free(struct rm_alerts *alerts);

/*
 * Replaces the receivers, the links and the labels of new alerts; other options are
 * ignored. Alerts that wait for a receiver that stays keep waiting; those for a removed
 * one are lost; a new one gets at once all that is firing. Firing alerts keep their
 * labels until they are resolved. On failure nothing has changed. Not from on_notified.
 */
int rm_alerts_reload(struct rm_alerts *alerts, const struct rm_alert_options *options);

/* The incident is copied. fire: opened or updated. Only openings and resolutions go to
 * webhooks; Alertmanager gets updates too. */
void rm_alerts_fire(struct rm_alerts *alerts, const struct rm_incident *incident);
/* The same, but the opening is sent only when the next save of the file is on the disk,
 * or after a second if the disk hangs. NULL: no file. */
void rm_alerts_fire_kept(struct rm_alerts *alerts, const struct rm_incident *incident,
    const struct rm_incident_file *file);
/* The file has written something: call it from the file's on_write. */
void rm_alerts_look(void *alerts);
/* Restores an incident from before the restart, open or resolved. An opening or
 * resolution that was not delivered is sent now, to all receivers; that it is still
 * open is sent to Alertmanager only. */
void rm_alerts_restore(struct rm_alerts *alerts, const struct rm_incident *incident);
void rm_alerts_resolve(struct rm_alerts *alerts, const struct rm_incident *incident);

/* Another daemon sends the alerts of this part from now on: the alert is not repeated,
 * queued messages are dropped, and its end is not sent. */
void rm_alerts_withdraw(struct rm_alerts *alerts, const struct rm_part *part);
/* True: at least one receiver accepted the last message or answered the last question;
 * or there is no receiver, or nothing was sent yet. */
bool rm_alerts_deliver(const struct rm_alerts *alerts);
/* True: at least one receiver can be reached (alert_reach_answered), or none is
 * configured. If false, they are asked. */
bool rm_alerts_answered(struct rm_alerts *alerts, rm_mono_t since);

/* The trouble of the first receiver that does not accept alerts, see
 * alert_reach_trouble; "": all accept. */
const char *rm_alerts_trouble(const struct rm_alerts *alerts);
/* Registers a gauge per receiver: 1, or 0 when it does not accept alerts. Its labels
 * are receiver ("alertmanagers[0]", its place in the config) and url, after labels ("":
 * none). It follows changes of the receivers. name: borrowed for ever. Do not render
 * metrics after the alerts are freed. */
int rm_alerts_metrics(struct rm_alerts *alerts, struct rm_metrics *metrics,
    const char *name, const char *labels);

const struct rm_alert_counts *rm_alerts_counts(const struct rm_alerts *alerts);

#endif
