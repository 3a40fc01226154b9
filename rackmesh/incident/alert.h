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
	/* base URLs, "http://127.0.0.1:9093"; each one gets all alerts */
	const char *const *alertmanagers;
	size_t alertmanager_count;
	const char *const *webhooks; /* whole URLs */
	size_t webhook_count;
	struct rm_alert_texts texts;
	/* ns between two sendings of a firing alert to an Alertmanager; 0: 30 s. endsAt
	 * is 4 of these ahead */
	int64_t resend_ns;
	/* ns after which an idle receiver is asked whether it would accept alerts; 0:
	 * never, except that Alertmanagers are asked for the time of day */
	int64_t ask_ns;
	/* maximum number of alerts that wait for one receiver; 0: 1024. The oldest
	 * update is dropped first */
	size_t max_queue;
	/* Called when every receiver has accepted, or refused for good, the opening or
	 * the resolution of this incident; if there is no receiver, at once. Not called
	 * for notices that were dropped from a full queue. The callback must not fire
	 * or resolve anything. May be NULL. */
	void (*on_notified)(uint64_t incident, bool resolved, void *arg);
	void *arg;
};

/* Copies the options. */
int rm_alerts_new(struct rm_loop *loop, struct rm_http_client *http,
    const struct rm_alert_options *options, struct rm_alerts **ret);
void rm_alerts_free(struct rm_alerts *alerts);

/*
 * Replaces the receivers, the links, and the labels of later alerts; other options are
 * ignored. Alerts in the queue of a receiver that stays are kept, and those of a
 * removed receiver are lost. A new receiver gets all firing alerts at once. Firing
 * alerts keep their labels until they are resolved. On failure nothing has changed. Not
 * to be called from on_notified.
 */
int rm_alerts_reload(struct rm_alerts *alerts, const struct rm_alert_options *options);

/* Sends the opening or an update of an incident, which is copied. Webhooks get openings
 * and resolutions only, Alertmanagers updates, too. */
void rm_alerts_fire(struct rm_alerts *alerts, const struct rm_incident *incident);
/* Sets the text of the next repetition of the alert; sends nothing now. */
void rm_alerts_note(struct rm_alerts *alerts, const struct rm_incident *incident);
/* The same as rm_alerts_fire, but the opening is sent only when the next save of the
 * file is on the disk, or after a second if the disk hangs. file NULL: it is sent at
 * once. */
void rm_alerts_fire_kept(struct rm_alerts *alerts, const struct rm_incident *incident,
    const struct rm_incident_file *file);
/* Sends what waits for the save. Set it as the file's on_write. arg: the rm_alerts. */
void rm_alerts_look(void *alerts);
/* Takes an incident from before the restart, open or resolved. If its opening or
 * resolution was not delivered, all receivers get it now; if it was, and the incident
 * is still open, only Alertmanagers get it. */
void rm_alerts_restore(struct rm_alerts *alerts, const struct rm_incident *incident);
void rm_alerts_resolve(struct rm_alerts *alerts, const struct rm_incident *incident);

/* Another daemon sends the alerts of this part from now on. So this daemon does not
 * repeat the alert, drops its queued messages, and will not send its end. */
void rm_alerts_withdraw(struct rm_alerts *alerts, const struct rm_part *part);
/* True: at least one receiver has accepted its last message or answered its last
 * question; or nothing was sent yet; or there is no receiver. */
bool rm_alerts_deliver(const struct rm_alerts *alerts);
/* True: at least one receiver has answered since then (alert_reach_answered), or there
 * are no receivers. If false, a request is sent to the receivers. */
bool rm_alerts_answered(struct rm_alerts *alerts, rm_mono_t since);

/* Returns a text about the first receiver that does not accept alerts, as
 * alert_reach_trouble does; "": all accept them. */
const char *rm_alerts_trouble(const struct rm_alerts *alerts);
/* Registers a gauge per receiver: 1, or 0 while it does not accept alerts. Its labels
 * are those in labels ("": none), receiver (its place in the config,
 * "alertmanagers[0]") and url. The gauges follow changes of the receivers. name:
 * borrowed for ever. Do not render metrics after the alerts are freed. */
int rm_alerts_metrics(struct rm_alerts *alerts, struct rm_metrics *metrics,
    const char *name, const char *labels);

const struct rm_alert_counts *rm_alerts_counts(const struct rm_alerts *alerts);

#endif
