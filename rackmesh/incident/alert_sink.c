#include "rackmesh/incident/alert_sink.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "rackmesh/core/backoff.h"
#include "rackmesh/core/random.h"
#include "rackmesh/http/http_client.h"
#include "rackmesh/incident/alert_counts.h"
#include "rackmesh/incident/alert_notice.h"
#include "rackmesh/incident/alert_reach.h"
#include "rackmesh/loop/loop.h"

#define SINK_TIMEOUT_NS (5 * RM_NS_PER_S)
#define SINK_BACKOFF_BASE_NS (200 * RM_NS_PER_MS)
#define SINK_BACKOFF_CAP_NS (10 * RM_NS_PER_S)
#define SINK_RETRY_AFTER_MAX_S 60
#define TOO_LARGE 413
#define GROW_AFTER_MAX 256

struct entry {
	struct entry *prev, *next;
	char *key;
	enum alert_news news;
	json_t *alert;
	struct alert_notice *notice; /* NULL: none */
};

/* An exchange may end after its sink was freed: then sink is NULL. */
struct flight {
	struct alert_sink *sink;
	struct rm_http_call *call;
	size_t entries; /* entries of the exchange, from the front of the queue */
};

struct alert_sink {
	struct rm_http_client *http;
	struct alert_reach *reach;
	struct rm_timer *retry;
	struct rm_timer *patience; /* waits until the front of the queue may be sent */
	struct rm_alert_counts *counts;
	struct alert_sink_options options; /* url is a copy */
	char *url;
	struct entry *queue;
	size_t queued;
	/* alerts in a batch: as many as the option says, or fewer, if a batch was
	 * refused as too large */
	size_t batch;
	/* A smaller batch grows by one alert after grow_after full batches were
	 * accepted; grow_after doubles if the larger batch is refused. */
	size_t grow_after, full;
	/* the size to which it grew last; 0: it has not grown since it became smaller
	 */
	size_t grown_to;
	struct flight *flight; /* the running exchange; NULL: none is running */
	bool waiting;          /* the retry timer is set */
	struct rm_backoff backoff;
};

static void sink_send(struct alert_sink *sink);

static void
entry_free(struct entry *entry, bool taken)
{
	if (entry == NULL)
		return;
	alert_notice_put(entry->notice, taken);
	json_decref(entry->alert);
	free(entry->key);
	free(entry);
}

static void
sink_remove(struct alert_sink *sink, struct entry *entry, bool taken)
{
	DL_DELETE(sink->queue, entry);
	sink->queued--;
	entry_free(entry, taken);
}

static void
sink_lose(struct alert_sink *sink, struct alert_notice *notice)
{
	sink->counts->dropped++;
	alert_notice_lose(notice);
}

static void
on_patience(void *arg)
{
	sink_send(arg);
}

static void
on_retry(void *arg)
{
	struct alert_sink *sink = arg;

	sink->waiting = false;
	sink_send(sink);
}

static void
sink_retry(struct alert_sink *sink, int64_t after_ns)
{
	sink->counts->failed_attempts++;
	sink->waiting = true;
	rm_timer_after(sink->retry, after_ns);
}

/* True: a 4xx that repetition does not change. 401, 403 and 404 come from a
 * configuration that an operator can correct, so these alerts wait. */
static bool
is_refused(long status)
{
	return status >= 400 && status < 500 && status != 401 && status != 403 &&
	       status != 404 && status != 408 && status != 429;
}

/* The request was too large for a proxy: halves the batch. Its alerts are not refused,
 * and are sent again. */
static void
sink_shrink(struct alert_sink *sink, size_t entries)
{
	const bool grew = entries == sink->grown_to;

	sink->batch = grew ? entries - 1 : entries / 2;
	if (grew && sink->grow_after < GROW_AFTER_MAX)
		sink->grow_after *= 2;
	sink->grown_to = sink->full = 0;
}

/* Lets a smaller batch grow again, because alerts differ in size, and the limit of the
 * receiver may have been raised. */
static void
sink_grow(struct alert_sink *sink, size_t entries)
{
	if (sink->batch == sink->options.batch || entries < sink->batch ||
	    ++sink->full < sink->grow_after)
		return;
	sink->grown_to = ++sink->batch;
	sink->full = 0;
}

static void
on_answer(const struct rm_http_answer *answer, void *arg)
{
	struct flight *flight = arg;
	struct alert_sink *sink = flight->sink;
	size_t entries = flight->entries;
	int64_t after_ns;
	bool took;

	free(flight);
	if (sink == NULL)
		return;
	sink->flight = NULL;
	if (answer->r == -ECANCELED)
		return; /* the HTTP client is being freed */
	took = alert_reach_took(sink->reach, answer);
	if (answer->r == 0 && answer->status == TOO_LARGE && entries > 1) {
		sink_shrink(sink, entries);
		sink_send(sink);
		return;
	}
	if (took || (answer->r == 0 && is_refused(answer->status))) {
		if (!took)
			sink->counts->refused += entries;
		else
			sink->counts->delivered += entries;
		if (took)
			sink_grow(sink, entries);
		while (entries-- > 0)
			sink_remove(sink, sink->queue, true);
		rm_backoff_reset(&sink->backoff);
		alert_reach_note(sink->reach, answer, true);
		sink_send(sink);
		return;
	}
	alert_reach_note(sink->reach, answer, false);
	after_ns = rm_backoff_next_ns(&sink->backoff, rm_random_u64());
	if (answer->r == 0 && answer->retry_after_s > 0) {
		int64_t asked = answer->retry_after_s > SINK_RETRY_AFTER_MAX_S
				    ? SINK_RETRY_AFTER_MAX_S
				    : answer->retry_after_s;

		if (after_ns < asked * RM_NS_PER_S)
			after_ns = asked * RM_NS_PER_S;
	}
	sink_retry(sink, after_ns);
}

/* Returns the entries at the front of the queue that may be sent. All are firing or all
 * are resolved, because a body has one status. */
static json_t *
sink_batch(struct alert_sink *sink, size_t *count)
{
	const rm_mono_t now = rm_mono_now();
	bool resolved = sink->queue->news == ALERT_RESOLVED;
	json_t *alerts = json_array();
	struct entry *entry;

	*count = 0;
	if (alerts == NULL)
		return NULL;
	DL_FOREACH (sink->queue, entry) {
		if (*count == sink->batch ||
		    (entry->news == ALERT_RESOLVED) != resolved ||
		    !alert_notice_may_leave(entry->notice, now))
			break;
		if (json_array_append(alerts, entry->alert) < 0) {
			json_decref(alerts);
			return NULL;
		}
		sink->counts->unkept += alert_notice_left_early(entry->notice);
		(*count)++;
	}
	return sink->options.render(alerts, sink->options.arg);
}

static int
sink_post(struct alert_sink *sink)
{
	static const char *const headers[] = { "Content-Type: application/json", NULL };
	struct flight *flight = calloc(1, sizeof *flight);
	struct rm_http_exchange exchange = { .url = sink->url,
		.headers = headers,
		.timeout_ns = SINK_TIMEOUT_NS,
		.done = on_answer,
		.arg = flight };
	json_t *document = NULL;
	char *body = NULL;
	int r = -ENOMEM;

	if (flight == NULL)
		return -ENOMEM;
	flight->sink = sink;
	document = sink_batch(sink, &flight->entries);
	if (document != NULL)
		body = json_dumps(document, JSON_COMPACT);
	json_decref(document);
	if (body != NULL) {
		exchange.body = body;
		exchange.body_len = strlen(body);
		r = rm_http_client_start(sink->http, &exchange, &flight->call);
	}
	free(body);
	if (r < 0) {
		free(flight);
		return r;
	}
	sink->flight = flight;
	return 0;
}

static void
sink_send(struct alert_sink *sink)
{
	const struct entry *first = sink->queue;

	if (first == NULL || sink->flight != NULL || sink->waiting)
		return;
	if (!alert_notice_may_leave(first->notice, rm_mono_now())) {
		rm_timer_at(sink->patience, alert_notice_patience(first->notice));
		return;
	}
	if (sink_post(sink) < 0)
		sink_retry(sink, rm_backoff_next_ns(&sink->backoff, rm_random_u64()));
}

void
alert_sink_look(struct alert_sink *sink)
{
	sink_send(sink);
}

/* True: the entry is in the running exchange, whose answer removes it. */
static bool
in_flight(const struct alert_sink *sink, const struct entry *wanted)
{
	size_t left = sink->flight != NULL ? sink->flight->entries : 0;
	const struct entry *entry;

	DL_FOREACH (sink->queue, entry) {
		if (left-- == 0)
			return false;
		if (entry == wanted)
			return true;
	}
	return false;
}

/* Makes room: removes the oldest update, or else the oldest entry. */
static bool
sink_drop_one(struct alert_sink *sink)
{
	struct entry *entry, *oldest = NULL;

	DL_FOREACH (sink->queue, entry) {
		if (in_flight(sink, entry))
			continue;
		if (oldest == NULL)
			oldest = entry;
		if (entry->news == ALERT_UPDATED) {
			oldest = entry;
			break;
		}
	}
	if (oldest == NULL)
		return false;
	sink_remove(sink, oldest, false);
	sink->counts->dropped++;
	return true;
}

/* Returns the newest entry of this alert that waits, and that a newer one may replace.
 */
static struct entry *
sink_waiting(struct alert_sink *sink, const char *key)
{
	struct entry *entry, *newest = NULL;

	DL_FOREACH (sink->queue, entry)
		if (strcmp(entry->key, key) == 0)
			newest = entry;
	if (newest == NULL || newest->news == ALERT_RESOLVED || in_flight(sink, newest))
		return NULL;
	return newest;
}

void
alert_sink_push(struct alert_sink *sink, const char *key, enum alert_news news,
    json_t *alert, struct alert_notice *notice)
{
	struct entry *entry = NULL;

	if (news == ALERT_UPDATED)
		entry = sink_waiting(sink, key);
	if (entry != NULL) {
		json_decref(entry->alert);
		entry->alert = json_incref(alert);
		return;
	}
	sink->counts->queued++;
	if (sink->queued >= sink->options.max_queue && !sink_drop_one(sink)) {
		sink_lose(sink, notice);
		return;
	}
	entry = calloc(1, sizeof *entry);
	if (entry != NULL)
		entry->key = strdup(key);
	if (entry == NULL || entry->key == NULL) {
		entry_free(entry, false);
		sink_lose(sink, notice);
		return;
	}
	entry->notice = notice;
	alert_notice_hold(notice);
	entry->news = news;
	entry->alert = json_incref(alert);
	DL_APPEND(sink->queue, entry);
	sink->queued++;
	sink_send(sink);
}

void
alert_sink_withdraw(struct alert_sink *sink, const char *key)
{
	struct entry *entry, *next;

	DL_FOREACH_SAFE (sink->queue, entry, next) {
		if (strcmp(entry->key, key) != 0)
			continue;
		sink->counts->withdrawn++;
		if (in_flight(sink, entry)) {
			rm_http_call_cancel(sink->flight->call);
			free(sink->flight);
			sink->flight = NULL;
		}
		sink_remove(sink, entry, false);
	}
	sink_send(sink);
}

struct alert_reach *
alert_sink_reach(const struct alert_sink *sink)
{
	return sink->reach;
}

int
alert_sink_new(struct rm_loop *loop, struct rm_http_client *http,
    const struct alert_sink_options *options, struct alert_reach *reach,
    struct rm_alert_counts *counts, struct alert_sink **ret)
{
	struct alert_sink *sink = calloc(1, sizeof *sink);
	int r = -ENOMEM;

	if (sink == NULL) {
		alert_reach_free(reach);
		return r;
	}
	sink->reach = reach;
	sink->http = http;
	sink->counts = counts;
	sink->options = *options;
	sink->batch = options->batch;
	sink->grow_after = 1;
	sink->backoff.base_ns = SINK_BACKOFF_BASE_NS;
	sink->backoff.cap_ns = SINK_BACKOFF_CAP_NS;
	sink->url = strdup(options->url);
	sink->options.url = sink->url;
	if (sink->url != NULL)
		r = rm_timer_new(loop, on_retry, sink, &sink->retry);
	if (r == 0)
		r = rm_timer_new(loop, on_patience, sink, &sink->patience);
	if (r < 0) {
		alert_sink_free(sink);
		return r;
	}
	*ret = sink;
	return 0;
}

void
alert_sink_free(struct alert_sink *sink)
{
	if (sink == NULL)
		return;
	if (sink->flight != NULL)
		sink->flight->sink = NULL;
	while (sink->queue != NULL)
		sink_remove(sink, sink->queue, false);
	rm_timer_free(sink->retry);
	rm_timer_free(sink->patience);
	alert_reach_free(sink->reach);
	free(sink->url);
	free(sink);
}
