#include "rackmesh/incident/alert.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "rackmesh/http/http_url.h"
#include "rackmesh/incident/alert_message.h"
#include "rackmesh/incident/alert_notice.h"
#include "rackmesh/incident/alert_reach.h"
#include "rackmesh/incident/alert_sink.h"
#include "rackmesh/incident/alert_time.h"
#include "rackmesh/incident/incident.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/metrics/metrics.h"

/* ---- alerts ---- */

#define DATE_EVERY_NS (ALERT_REACH_DATE_NS / 3)
#define ALERTS_RESEND_NS (30 * RM_NS_PER_S)
/* an alert ends for an Alertmanager after it has missed this many repeats */
#define ALERTS_ENDS_AFTER 4
#define ALERTS_MAX_QUEUE 1024
#define ALERTS_BATCH 32 /* alerts in one request to an Alertmanager */
#define ALERTS_MAX_URL 2048
#define ALERTS_MAX_RECEIVERS 64
#define ALERT_KEY_BYTES (RM_PART_NAME_BYTES + RM_NAME_BYTES + 32)

struct firing {
	char key[ALERT_KEY_BYTES];
	struct rm_incident incident;
	json_t *labels;  /* labels of the alert's first notice; NULL: out of memory */
	rm_mono_t since; /* when the first notice was sent (monotonic clock) */
	rm_wall_t since_wall; /* the wall-clock time in that notice */
	UT_hash_handle hh;
};

struct own_texts {
	char **labels;
	size_t label_count;
	char *page_url, *runbook_url;
};

struct rm_alerts {
	struct rm_timer *resend;
	struct rm_loop *loop;
	struct rm_http_client *http;
	struct alert_sink **sinks; /* Alertmanagers first, then webhooks */
	char **urls;               /* the configured URL of each receiver */
	size_t sink_count, alertmanager_count;
	struct rm_alert_options options; /* without the list of receivers */
	struct own_texts texts;          /* strings that options.texts borrows */
	char *region, *source;
	struct firing *firing;
	struct rm_alert_counts counts;
	struct rm_metrics *metrics; /* NULL: the alert has no notice */
	const char *metric_name;
	char *metric_labels;
};

static void
alert_key(const struct rm_part *part, char key[ALERT_KEY_BYTES])
{
	snprintf(key, ALERT_KEY_BYTES, "%s|%s|%s", rm_part_type_str(part->type),
	    part->name, part->place);
}

/* ---- creation and end ---- */

static struct firing *
find(const struct rm_alerts *alerts, const char *key)
{
	struct firing *firing;

	HASH_FIND_STR(alerts->firing, key, firing);
	return firing;
}

/* Fills in the clock to use for an alert: that of the Alertmanager that is nearest to
 * ours, so that one with a wrong clock is ignored. firing NULL: the alert is of a
 * former run. */
static struct alert_time
time_of(const struct rm_alerts *alerts, const struct firing *firing)
{
	struct alert_time time = { .now = rm_mono_now(), .wall = rm_wall_now() };
	rm_wall_t theirs;

	time.sent = time.wall;
	for (size_t i = 0; i < alerts->alertmanager_count; i++) {
		if (!alert_reach_date(
			alert_sink_reach(alerts->sinks[i]), time.now, &theirs))
			continue;
		if (!time.known || llabs(theirs.ns - time.wall.ns) <
				       llabs(time.sent.ns - time.wall.ns))
			time.sent = theirs;
		time.known = true;
	}
	if (llabs(time.sent.ns - time.wall.ns) <= ALERT_TIME_STEP_NS)
		time.sent = time.wall;
	if (firing != NULL) {
		time.since = firing->since;
		time.since_wall = firing->since_wall;
	}
	return time;
}

/* file: see alert_notice_follow; NULL: none. */
static void
alerts_push_to(struct rm_alerts *alerts, const struct rm_incident *incident,
    enum alert_news news, struct alert_sink *const *sinks, size_t count,
    const struct rm_incident_file *file)
{
	struct rm_incident reported = *incident;
	struct alert_notice *notice = NULL;
	const struct firing *firing;
	char key[ALERT_KEY_BYTES];
	struct alert_time time;
	json_t *alert;

	alert_key(&incident->verdict.part, key);
	firing = find(alerts, key);
	time = time_of(alerts, firing);
	alert_time_mend(&reported, &time);
	alert = alert_message_json(&alerts->options.texts, &reported,
	    ALERTS_ENDS_AFTER * alerts->options.resend_ns,
	    firing != NULL && firing->labels != NULL
		? json_incref(firing->labels)
		: alert_message_labels(&alerts->options.texts, incident));
	if (alert == NULL) {
		alerts->counts.dropped += count;
		return;
	}
	if (news != ALERT_UPDATED)
		notice = alert_notice_new(incident->id, news == ALERT_RESOLVED,
		    alerts->options.on_notified, alerts->options.arg);
	if (notice != NULL && file != NULL)
		alert_notice_follow(notice, file, rm_mono_now());
	for (size_t i = 0; i < count; i++)
		alert_sink_push(sinks[i], key, news, alert, notice);
	alert_notice_put(notice, true);
	json_decref(alert);
}

/* Sends to the sinks before index `count`. */
static void
alerts_push(struct rm_alerts *alerts, const struct rm_incident *incident,
    enum alert_news news, size_t count, const struct rm_incident_file *file)
{
	alerts_push_to(alerts, incident, news, alerts->sinks, count, file);
}

/* Sends all firing alerts again. endsAt is computed from `changed`, so `changed` is set
 * to now first. */
static void
on_resend(void *arg)
{
	struct rm_alerts *alerts = arg;
	struct firing *firing, *next;

	HASH_ITER (hh, alerts->firing, firing, next) {
		firing->incident.changed = rm_wall_now();
		alerts_push(alerts, &firing->incident, ALERT_UPDATED,
		    alerts->alertmanager_count, NULL);
	}
	rm_timer_after(alerts->resend, alerts->options.resend_ns);
}

/* restored: the incident is of a former run. */
static void
alerts_fire(struct rm_alerts *alerts, const struct rm_incident *incident, bool restored,
    const struct rm_incident_file *file)
{
	char key[ALERT_KEY_BYTES];
	struct firing *firing;
	bool known;

	alert_key(&incident->verdict.part, key);
	firing = find(alerts, key);
	known = firing != NULL;
	if (!known) {
		firing = calloc(1, sizeof *firing);
		if (firing == NULL) {
			alerts->counts.dropped++;
			return;
		}
		strcpy(firing->key, key);
		firing->labels = alert_message_labels(&alerts->options.texts, incident);
		firing->since = rm_mono_now();
		firing->since_wall = rm_wall_now();
		HASH_ADD_STR(alerts->firing, key, firing);
		if (firing->hh.tbl == NULL) { /* uthash could not grow */
			json_decref(firing->labels);
			free(firing);
			alerts->counts.dropped++;
			return;
		}
	}
	firing->incident = *incident;
	/* The last change may be so long ago that the alert would seem to have
	 * ended. */
	if (restored)
		firing->incident.changed = rm_wall_now();
	known = known || (restored && incident->notified_opened);
	alerts_push(alerts, &firing->incident, known ? ALERT_UPDATED : ALERT_OPENED,
	    known ? alerts->alertmanager_count : alerts->sink_count,
	    known ? NULL : file);
}

void
rm_alerts_fire(struct rm_alerts *alerts, const struct rm_incident *incident)
{
	alerts_fire(alerts, incident, false, NULL);
}

void
rm_alerts_fire_kept(struct rm_alerts *alerts, const struct rm_incident *incident,
    const struct rm_incident_file *file)
{
	alerts_fire(alerts, incident, false, file);
}

void
rm_alerts_note(struct rm_alerts *alerts, const struct rm_incident *incident)
{
	char key[ALERT_KEY_BYTES];
	struct firing *firing;

	alert_key(&incident->verdict.part, key);
	firing = find(alerts, key);
	if (firing != NULL)
		firing->incident = *incident;
}

void
rm_alerts_look(void *arg)
{
	struct rm_alerts *alerts = arg;

	for (size_t i = 0; i < alerts->sink_count; i++)
		alert_sink_look(alerts->sinks[i]);
}

/* NULL is allowed. */
static void
forget(struct rm_alerts *alerts, struct firing *firing)
{
	if (firing == NULL)
		return;
	HASH_DEL(alerts->firing, firing);
	json_decref(firing->labels);
	free(firing);
}

void
rm_alerts_withdraw(struct rm_alerts *alerts, const struct rm_part *part)
{
	char key[ALERT_KEY_BYTES];

	alert_key(part, key);
	forget(alerts, find(alerts, key));
	for (size_t i = 0; i < alerts->sink_count; i++)
		alert_sink_withdraw(alerts->sinks[i], key);
}

bool
rm_alerts_deliver(const struct rm_alerts *alerts)
{
	bool any = alerts->sink_count == 0;

	for (size_t i = 0; i < alerts->sink_count; i++)
		any = any || alert_reach_is_good(alert_sink_reach(alerts->sinks[i]));
	return any;
}

const char *
rm_alerts_trouble(const struct rm_alerts *alerts)
{
	const char *trouble = "";

	for (size_t i = 0; i < alerts->sink_count && trouble[0] == '\0'; i++)
		trouble = alert_reach_trouble(alert_sink_reach(alerts->sinks[i]));
	return trouble;
}

bool
rm_alerts_answered(struct rm_alerts *alerts, rm_mono_t since)
{
	bool any = alerts->sink_count == 0;

	for (size_t i = 0; i < alerts->sink_count; i++)
		any |= alert_reach_answered(alert_sink_reach(alerts->sinks[i]), since);
	return any;
}

void
rm_alerts_resolve(struct rm_alerts *alerts, const struct rm_incident *incident)
{
	char key[ALERT_KEY_BYTES];
	struct firing *firing;

	alert_key(&incident->verdict.part, key);
	firing = find(alerts, key);
	if (firing != NULL) {
		firing->incident = *incident;
		incident = &firing->incident;
	}
	alerts_push(alerts, incident, ALERT_RESOLVED, alerts->sink_count, NULL);
	forget(alerts, firing);
}

void
rm_alerts_restore(struct rm_alerts *alerts, const struct rm_incident *incident)
{
	if (incident->resolved.ns == 0)
		alerts_fire(alerts, incident, true, NULL);
	else if (!incident->notified_resolved)
		rm_alerts_resolve(alerts, incident);
}

const struct rm_alert_counts *
rm_alerts_counts(const struct rm_alerts *alerts)
{
	return &alerts->counts;
}

/* ---- receivers ------------------------------------------------------------------- */

/* The i-th receiver of the whole list, Alertmanagers first. */
static const char *
url_at(const struct rm_alert_options *options, size_t i)
{
	return i < options->alertmanager_count
		   ? options->alertmanagers[i]
		   : options->webhooks[i - options->alertmanager_count];
}

static double
read_receiver(const void *arg)
{
	return alert_reach_trouble(alert_sink_reach(arg))[0] == '\0';
}

static int
receivers_register(struct rm_alerts *alerts)
{
	char labels[METRICS_LABEL_BYTES], shown[RM_HTTP_URL_SHOWN_BYTES];
	int r = 0;

	for (size_t i = 0; r == 0 && i < alerts->sink_count; i++) {
		const bool alertmanager = i < alerts->alertmanager_count;

		rm_http_url_show(alerts->urls[i], alertmanager, shown);
		snprintf(labels, sizeof labels, "%s%sreceiver=\"%s[%zu]\",url=\"%s\"",
		    alerts->metric_labels, alerts->metric_labels[0] != '\0' ? "," : "",
		    alertmanager ? "alertmanagers" : "webhooks",
		    alertmanager ? i : i - alerts->alertmanager_count, shown);
		r = rm_metrics_gauge(alerts->metrics, alerts, alerts->metric_name,
		    labels, "1: the receiver accepts alerts; 0: it does not",
		    read_receiver, alerts->sinks[i]);
	}
	return r;
}

int
rm_alerts_metrics(struct rm_alerts *alerts, struct rm_metrics *metrics,
    const char *name, const char *labels)
{
	alerts->metric_labels = strdup(labels);
	if (alerts->metric_labels == NULL)
		return -ENOMEM;
	alerts->metrics = metrics;
	alerts->metric_name = name;
	return receivers_register(alerts);
}

static int
sink_open(struct rm_alerts *alerts, const struct rm_alert_options *options, size_t i,
    struct alert_sink **ret)
{
	bool alertmanager = i < options->alertmanager_count;
	struct alert_reach *reach;
	char url[ALERTS_MAX_URL], shown[RM_HTTP_URL_SHOWN_BYTES];
	const struct alert_sink_options sink = {
		.url = url,
		.max_queue = alerts->options.max_queue,
		.batch = alertmanager ? ALERTS_BATCH : 1,
		.render =
		    alertmanager ? alert_message_alertmanager : alert_message_webhook,
		.arg = &alerts->options.texts,
	};
	int n, r;

	n = snprintf(url, sizeof url, "%s%s", url_at(options, i),
	    alertmanager ? "/api/v2/alerts" : "");
	if (n < 0 || (size_t)n >= sizeof url)
		return -ENAMETOOLONG;
	/* An Alertmanager gets a request with an empty list of alerts, a webhook gets a
	 * GET. An Alertmanager gets it even if ask_ns is 0, because the time of its
	 * clock is needed. */
	rm_http_url_show(url, alertmanager, shown);
	r = alert_reach_new(alerts->loop, alerts->http, url, shown,
	    alertmanager ? "[]" : NULL,
	    alertmanager && alerts->options.ask_ns == 0 ? DATE_EVERY_NS
							: alerts->options.ask_ns,
	    &reach);
	if (r < 0)
		return r;
	return alert_sink_new(
	    alerts->loop, alerts->http, &sink, reach, &alerts->counts, ret);
}

/* Returns the index of the present sink of the i-th receiver in the options, or
 * sink_count if there is no such sink. */
static size_t
sink_find(
    const struct rm_alerts *alerts, const struct rm_alert_options *options, size_t i)
{
	bool alertmanager = i < options->alertmanager_count;

	for (size_t k = 0; k < alerts->sink_count; k++)
		if ((k < alerts->alertmanager_count) == alertmanager &&
		    strcmp(alerts->urls[k], url_at(options, i)) == 0)
			return k;
	return alerts->sink_count;
}

/* True: an earlier receiver of the same list has the URL of receiver i. A URL that is
 * in a list twice gets every notice twice. */
static bool
is_repeated(const struct rm_alert_options *options, size_t i)
{
	for (size_t k = i < options->alertmanager_count ? 0
							: options->alertmanager_count;
	     k < i; k++)
		if (strcmp(url_at(options, k), url_at(options, i)) == 0)
			return true;
	return false;
}

struct receivers { /* receivers of the new options */
	/* the present receiver with the same URL; NULL: a new receiver */
	struct alert_sink **sinks;
	char **urls;
	size_t count;
};

static void
receivers_clear(struct receivers *next)
{
	for (size_t i = 0; i < next->count; i++) {
		if (next->sinks != NULL)
			alert_sink_free(next->sinks[i]);
		if (next->urls != NULL)
			free(next->urls[i]);
	}
	free(next->sinks);
	free(next->urls);
}

static int
receivers_open(struct rm_alerts *alerts, const struct rm_alert_options *options,
    struct receivers *next)
{
	int r = 0;

	next->count = options->alertmanager_count + options->webhook_count;
	next->sinks = calloc(next->count + 1, sizeof *next->sinks);
	next->urls = calloc(next->count + 1, sizeof *next->urls);
	if (next->sinks == NULL || next->urls == NULL)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < next->count; i++) {
		next->urls[i] = strdup(url_at(options, i));
		if (next->urls[i] == NULL)
			return -ENOMEM;
		if (is_repeated(options, i) ||
		    sink_find(alerts, options, i) == alerts->sink_count)
			r = sink_open(alerts, options, i, &next->sinks[i]);
	}
	return r;
}

/* A new receiver has got no notice yet, so it gets all firing alerts. */
static void
report_firing(struct rm_alerts *alerts, struct alert_sink *sink)
{
	struct firing *firing, *following;

	HASH_ITER (hh, alerts->firing, firing, following) {
		firing->incident.changed = rm_wall_now();
		alerts_push_to(alerts, &firing->incident, ALERT_OPENED, &sink, 1, NULL);
	}
}

static void
texts_clear(struct own_texts *texts)
{
	for (size_t i = 0; texts->labels != NULL && i < texts->label_count; i++)
		free(texts->labels[i]);
	free(texts->labels);
	free(texts->page_url);
	free(texts->runbook_url);
}

static char *
copy(const char *text)
{
	return strdup(text != NULL ? text : "");
}

static int
texts_copy(const struct rm_alert_texts *from, struct own_texts *ret)
{
	struct own_texts texts = {
		.labels = calloc(from->label_count + 1, sizeof *texts.labels),
		.label_count = from->label_count,
		.page_url = copy(from->page_url),
		.runbook_url = copy(from->runbook_url),
	};
	bool whole =
	    texts.labels != NULL && texts.page_url != NULL && texts.runbook_url != NULL;

	for (size_t i = 0; whole && i < texts.label_count; i++) {
		texts.labels[i] = strdup(from->labels[i]);
		whole = texts.labels[i] != NULL;
	}
	if (!whole) {
		texts_clear(&texts);
		return -ENOMEM;
	}
	*ret = texts;
	return 0;
}

/* Takes ownership of the new texts, and frees the old ones. */
static void
texts_use(struct rm_alerts *alerts, const struct own_texts *texts)
{
	texts_clear(&alerts->texts);
	alerts->texts = *texts;
	alerts->options.texts.labels = (const char *const *)texts->labels;
	alerts->options.texts.label_count = texts->label_count;
	alerts->options.texts.page_url = texts->page_url;
	alerts->options.texts.runbook_url = texts->runbook_url;
}

int
rm_alerts_reload(struct rm_alerts *alerts, const struct rm_alert_options *options)
{
	struct receivers next = { 0 }, former;
	bool is_new[ALERTS_MAX_RECEIVERS] = { false };
	struct own_texts texts;
	int r =
	    options->alertmanager_count + options->webhook_count > ALERTS_MAX_RECEIVERS
		? -ENOSPC
		: receivers_open(alerts, options, &next);

	if (r == 0)
		r = texts_copy(&options->texts, &texts);
	if (r < 0) {
		receivers_clear(&next);
		return r;
	}
	texts_use(alerts, &texts);
	for (size_t i = 0; i < next.count; i++) {
		size_t k = sink_find(alerts, options, i);

		is_new[i] = next.sinks[i] != NULL;
		if (is_new[i])
			continue;
		next.sinks[i] = alerts->sinks[k];
		alerts->sinks[k] = NULL;
	}
	former = (struct receivers){ alerts->sinks, alerts->urls, alerts->sink_count };
	alerts->sinks = next.sinks;
	alerts->urls = next.urls;
	alerts->sink_count = next.count;
	alerts->alertmanager_count = options->alertmanager_count;
	receivers_clear(&former);
	if (alerts->metrics != NULL) {
		rm_metrics_forget(alerts->metrics, alerts);
		/* registers those for which there was memory */
		(void)receivers_register(alerts);
	}
	for (size_t i = 0; i < next.count; i++)
		if (is_new[i])
			report_firing(alerts, alerts->sinks[i]);
	return 0;
}

int
rm_alerts_new(struct rm_loop *loop, struct rm_http_client *http,
    const struct rm_alert_options *options, struct rm_alerts **ret)
{
	struct rm_alerts *alerts = calloc(1, sizeof *alerts);
	int r = -ENOMEM;

	if (alerts == NULL)
		return r;
	alerts->loop = loop;
	alerts->http = http;
	alerts->region = strdup(options->texts.region);
	alerts->source = strdup(options->texts.source);
	if (alerts->region == NULL || alerts->source == NULL)
		goto fail;
	alerts->options.texts.region = alerts->region;
	alerts->options.texts.source = alerts->source;
	alerts->options.on_notified = options->on_notified;
	alerts->options.arg = options->arg;
	alerts->options.ask_ns = options->ask_ns;
	alerts->options.max_queue =
	    options->max_queue > 0 ? options->max_queue : ALERTS_MAX_QUEUE;
	alerts->options.resend_ns =
	    options->resend_ns > 0 ? options->resend_ns : ALERTS_RESEND_NS;
	r = rm_alerts_reload(alerts, options);
	if (r < 0)
		goto fail;
	r = rm_timer_new(loop, on_resend, alerts, &alerts->resend);
	if (r < 0)
		goto fail;
	rm_timer_after(alerts->resend, alerts->options.resend_ns);
	*ret = alerts;
	return 0;
fail:
	rm_alerts_free(alerts);
	return r;
}

void
rm_alerts_free(struct rm_alerts *alerts)
{
	struct firing *firing, *next;

	if (alerts == NULL)
		return;
	HASH_ITER (hh, alerts->firing, firing, next)
		forget(alerts, firing);
	texts_clear(&alerts->texts);
	receivers_clear(
	    &(struct receivers){ alerts->sinks, alerts->urls, alerts->sink_count });
	rm_timer_free(alerts->resend);
	free(alerts->region);
	free(alerts->source);
	free(alerts->metric_labels);
	free(alerts);
}
