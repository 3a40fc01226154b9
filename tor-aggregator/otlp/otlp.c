#include "tor-aggregator/otlp/otlp.h"

#include <errno.h>
#include <event2/buffer.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/backoff.h"
#include "rackmesh/core/log.h"
#include "rackmesh/core/random.h"
#include "rackmesh/http/http_client.h"
#include "rackmesh/http/http_url.h"
#include "rackmesh/loop/loop.h"
#include "tor-aggregator/otlp/otlp_answer.h"
#include "tor-aggregator/otlp/otlp_config.h"

#define TIMEOUT_NS (10 * RM_NS_PER_S)
#define RETRY_BASE_NS RM_NS_PER_S
#define RETRY_CAP_NS (60 * RM_NS_PER_S)
#define RETRY_AFTER_CAP_S 300

struct otlp {
	struct otlp_options options;
	char *url;
	char shown[RM_HTTP_URL_SHOWN_BYTES];
	int64_t interval_ns;
	rm_mono_t next;
	struct rm_timer *interval, *retry;
	struct rm_http_call *call; /* the running request; NULL: none */
	bool waiting;              /* the retry timer is armed */
	bool failing, rejecting;   /* the failure, or the rejection, has been logged */
	struct rm_backoff backoff;
	struct otlp_counts counts;
};

static void on_interval(void *arg);
static void on_retry(void *arg);

int
otlp_new(const struct otlp_options *options, struct otlp **ret)
{
	const struct otlp_config *config = options->config;
	struct otlp *otlp = calloc(1, sizeof(*otlp));
	int r = -ENOMEM;

	if (otlp == NULL)
		return r;
	otlp->options = *options;
	otlp->interval_ns = options->interval_ns > 0
				? options->interval_ns
				: (int64_t)config->interval_s * RM_NS_PER_S;
	otlp->backoff.base_ns =
	    options->retry_base_ns > 0 ? options->retry_base_ns : RETRY_BASE_NS;
	otlp->backoff.cap_ns = RETRY_CAP_NS;
	if (asprintf(&otlp->url, "%s%s", config->url, OTLP_PATH) < 0)
		otlp->url = NULL;
	else
		r = rm_timer_new(options->loop, on_interval, otlp, &otlp->interval);
	if (r == 0)
		r = rm_timer_new(options->loop, on_retry, otlp, &otlp->retry);
	if (r < 0) {
		otlp_free(otlp);
		return r;
	}
	rm_http_url_show(otlp->url, true, otlp->shown);
	/* Start at a random time within the first interval, so that the aggregators of
	 * a fleet do not send all at once. */
	otlp->next = rm_mono_add(
	    rm_mono_now(), (int64_t)(rm_random_u64() % (uint64_t)otlp->interval_ns));
	if (config->url[0] != '\0')
		rm_timer_at(otlp->interval, otlp->next);
	*ret = otlp;
	return 0;
}

void
otlp_free(struct otlp *otlp)
{
	if (otlp == NULL)
		return;
	if (otlp->call != NULL)
		rm_http_call_cancel(otlp->call);
	rm_timer_free(otlp->interval);
	rm_timer_free(otlp->retry);
	free(otlp->url);
	free(otlp);
}

const struct otlp_counts *
otlp_counts(const struct otlp *otlp)
{
	return &otlp->counts;
}

static void
note_failure(struct otlp *otlp, const char *sentence)
{
	otlp->counts.failed_attempts++;
	if (!otlp->failing)
		rm_log_warn(0, "otlp: collector failed: %s: %s", otlp->shown, sentence);
	otlp->failing = true;
}

static void
try_again(struct otlp *otlp, int64_t after_s)
{
	int64_t wait = rm_backoff_next_ns(&otlp->backoff, rm_random_u64());

	if (after_s > RETRY_AFTER_CAP_S)
		after_s = RETRY_AFTER_CAP_S;
	if (after_s > 0 && wait < after_s * RM_NS_PER_S)
		wait = after_s * RM_NS_PER_S;
	otlp->waiting = true;
	rm_timer_after(otlp->retry, wait);
}

static void
note_taken(struct otlp *otlp, const struct otlp_answer *answer)
{
	otlp->counts.sent++;
	otlp->counts.rejected_points += answer->rejected;
	rm_backoff_reset(&otlp->backoff);
	if (otlp->failing)
		rm_log_info("otlp: collector recovered: %s", otlp->shown);
	otlp->failing = false;
	if (answer->sentence[0] != '\0' && !otlp->rejecting)
		rm_log_warn(0, "otlp: collector rejected %llu values: %s: %s",
		    (unsigned long long)answer->rejected, otlp->shown,
		    answer->sentence);
	otlp->rejecting = answer->sentence[0] != '\0';
}

static void
on_answer(const struct rm_http_answer *http, void *arg)
{
	struct otlp *otlp = arg;
	struct otlp_answer answer;

	otlp->call = NULL;
	if (http->r == -ECANCELED)
		return; /* the HTTP client is being freed */
	otlp_answer_read(http, &answer);
	switch (answer.status) {
	case OTLP_TAKEN:
		note_taken(otlp, &answer);
		break;
	case OTLP_REFUSED:
		note_failure(otlp, answer.sentence);
		otlp->counts.dropped++;
		break;
	case OTLP_RETRY:
		note_failure(otlp, answer.sentence);
		try_again(otlp, answer.retry_after_s);
		break;
	}
}

static int
post(struct otlp *otlp, struct evbuffer *body, const struct otlp_headers *headers)
{
	struct rm_http_exchange exchange = {
		.url = otlp->url,
		.headers = headers->list,
		.timeout_ns = TIMEOUT_NS,
		.done = on_answer,
		.arg = otlp,
	};
	int r = otlp->options.fill(body, otlp->options.arg);

	if (r < 0)
		return r;
	exchange.body_len = evbuffer_get_length(body);
	exchange.body = (const char *)evbuffer_pullup(body, -1);
	if (exchange.body == NULL)
		return -ENOMEM;
	return rm_http_client_start(otlp->options.http, &exchange, &otlp->call);
}

static void
attempt(struct otlp *otlp)
{
	struct evbuffer *body = evbuffer_new();
	struct otlp_headers headers = { 0 };
	struct rm_error error = { .text = "" };
	int r = -ENOMEM;

	if (body != NULL)
		r = otlp_headers_read(
		    otlp->options.config->headers_file, &headers, &error);
	if (r == 0)
		r = post(otlp, body, &headers);
	otlp_headers_clear(&headers);
	if (body != NULL)
		evbuffer_free(body);
	if (r == 0)
		return;
	otlp->call = NULL;
	note_failure(otlp, error.text[0] != '\0' ? error.text : strerror(-r));
	try_again(otlp, 0);
}

static void
on_retry(void *arg)
{
	struct otlp *otlp = arg;

	otlp->waiting = false;
	attempt(otlp);
}

static void
on_interval(void *arg)
{
	struct otlp *otlp = arg;
	const rm_mono_t now = rm_mono_now();

	otlp->next = rm_mono_add(otlp->next, otlp->interval_ns);
	if (otlp->next.ns <=
	    now.ns) /* the process was stopped: skip the intervals that have passed */
		otlp->next = rm_mono_add(now, otlp->interval_ns);
	rm_timer_at(otlp->interval, otlp->next);
	if (otlp->call != NULL || otlp->waiting)
		otlp->counts.dropped++;
	else
		attempt(otlp);
}
