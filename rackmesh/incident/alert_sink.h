/*
 * alert_sink - one receiver of alerts, its bounded queue and its retries.
 *
 * Delivers in order, one exchange at a time. A newer message on an alert that still
 * waits replaces the older one. A message that may not be sent yet
 * (alert_notice_may_leave) delays the messages after it. A message that a receiver
 * refuses permanently (4xx) is dropped and counted; after every other failure it is
 * sent again, with back-off, until it is accepted.
 */
#ifndef RACKMESH_INCIDENT_ALERT_SINK_H
#define RACKMESH_INCIDENT_ALERT_SINK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct alert_reach;
struct alert_sink;
struct alert_notice;
struct rm_alert_counts;
struct rm_http_client;
struct rm_loop;

enum alert_news { ALERT_OPENED, ALERT_UPDATED, ALERT_RESOLVED };

struct alert_sink_options {
	const char *url; /* the whole URL; copied */
	size_t max_queue;
	size_t
	    batch; /* maximum number of alerts in one exchange; all have one status */
	/* Takes an array of alert objects, and returns the body, a new reference. */
	json_t *(*render)(json_t *alerts, const void *arg);
	const void *arg; /* outlives the sink */
};

/* counts: shared by all sinks, and outlives them. Takes ownership of reach. */
int alert_sink_new(struct rm_loop *loop, struct rm_http_client *http,
    const struct alert_sink_options *options, struct alert_reach *reach,
    struct rm_alert_counts *counts, struct alert_sink **ret);
void alert_sink_free(struct alert_sink *sink); /* messages that wait are lost */

/* key: identifies the alert, copied. alert: the sink adds a reference. notice:
 * likewise; NULL: the delivery is not reported. */
void alert_sink_push(struct alert_sink *sink, const char *key, enum alert_news news,
    json_t *alert, struct alert_notice *notice);
/* Drops all messages of this alert, because another daemon sends it. A running request
 * that contains it is cancelled, and its other alerts are sent again. */
void alert_sink_withdraw(struct alert_sink *sink, const char *key);
struct alert_reach *alert_sink_reach(const struct alert_sink *sink);
/* Tries to send: a message that had to wait may be sent now. */
void alert_sink_look(struct alert_sink *sink);

#endif
