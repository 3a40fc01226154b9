/*
 * alert - what leaves for Alertmanager (v2 API) and for plain webhooks.
 *
 * Labels identify the fault (alertname, part_type, part, place, region, severity as it
 * opened, and the operator's own) and never change while it lasts; kind, confidence,
 * evidence, incident id are annotations. Firing alerts are re-sent, resolved ones are
 * sent resolved until every sink has taken them. Each sink has its own bounded queue,
 * in order: firing before resolved. Times are those of Alertmanager's clock where ours
 * is wrong. The webhook's body is Alertmanager's webhook format, version 4.
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
	int64_t ask_ns; /* sinks that nothing is sent to are asked so often whether they
			   would take it; 0: never, but Alertmanagers what time it is */
	size_t max_queue; /* alerts waiting per sink; 0: 1024; oldest update dropped
			     first */
	/* Every sink has taken, or refused for good, that this incident opened, or that
	 * it resolved; at once if there is no sink. What a full queue dropped is not
	 * told. It must not fire or resolve anything. May be NULL. */
	void (*on_notified)(uint64_t incident, bool resolved, void *arg);
	void *arg;
};

/* Copies the options. */
int rm_alerts_new(struct rm_loop *loop, struct rm_http_client *http,
    const struct rm_alert_options *options, struct rm_alerts **ret);
void rm_alerts_free(struct rm_alerts *alerts);

/*
 * From now on alerts go to these receivers, with these links, and new ones have these
 * labels; nothing else of the options counts. What waits for a receiver that stays goes
 * on waiting, what waits for one that goes is lost; a new one is told at once what is
 * firing. What is firing keeps its labels until it is resolved. On failure nothing has
 * changed. Not from on_notified.
 */
int rm_alerts_reload(struct rm_alerts *alerts, const struct rm_alert_options *options);

/* The incident is copied. fire: opened or updated. Only openings and resolutions go to
 * webhooks; Alertmanager gets updates too. */
void rm_alerts_fire(struct rm_alerts *alerts, const struct rm_incident *incident);
/* The same; that it opened leaves when the next save of the file is on the disk, or a
 * second later where that hangs. NULL: nothing is kept. */
void rm_alerts_fire_kept(struct rm_alerts *alerts, const struct rm_incident *incident,
    const struct rm_incident_file *file);
/* The file has written something: for its on_write. */
void rm_alerts_look(void *alerts);
/* One of an earlier life, open or resolved. What was not told is told now, to all; that
 * it is still open only Alertmanager needs to hear. */
void rm_alerts_restore(struct rm_alerts *alerts, const struct rm_incident *incident);
void rm_alerts_resolve(struct rm_alerts *alerts, const struct rm_incident *incident);

/* Another one speaks of this part from now on: it is not re-sent, what waits does not
 * leave, and nothing is said of its end. */
void rm_alerts_withdraw(struct rm_alerts *alerts, const struct rm_part *part);
/* At least one sink took what it was sent last, or answered when it was asked; or there
 * is none, or nothing was sent yet. */
bool rm_alerts_deliver(const struct rm_alerts *alerts);
/* Is the way to any sink good, as alert_reach_answered has it, or is there none? If
 * not, they are asked. */
bool rm_alerts_answered(struct rm_alerts *alerts, rm_mono_t since);

/* What is wrong with the first receiver that takes nothing, see alert_reach_trouble;
 * "": all do. */
const char *rm_alerts_trouble(const struct rm_alerts *alerts);
/* A gauge per receiver, 1 or 0 (it takes nothing), with the labels receiver
 * ("alertmanagers[0]", its place in the config) and url, after labels ("": none); also
 * after the receivers have changed. name: borrowed, for ever. metrics: it is not
 * rendered any more when the alerts are freed. */
int rm_alerts_metrics(struct rm_alerts *alerts, struct rm_metrics *metrics,
    const char *name, const char *labels);

const struct rm_alert_counts *rm_alerts_counts(const struct rm_alerts *alerts);

#endif
