#include "host-agent/kubernetes/kubelet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/backoff.h"
#include "rackmesh/core/error.h"
#include "rackmesh/core/file.h"
#include "rackmesh/core/random.h"
#include "rackmesh/http/http_client.h"
#include "rackmesh/http/http_origin.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/worker.h"

/* maximum number of pods that were looked up and are not in the list */
#define MAX_UNKNOWN 64

struct job {                     /* belongs to the worker until done is called */
	struct kubelet *kubelet; /* NULL: the reading was cancelled */
	char *text;
	size_t len;
	struct pod_list *list;
	struct rm_error error;
};

struct kubelet {
	struct kubelet_options options;
	char *url;
	struct rm_http_client *http;
	struct rm_timer *timer;
	struct rm_http_call *call;
	struct job *job;
	struct rm_backoff backoff;

	struct pod_list *list; /* NULL: no list yet */
	rm_mono_t asked, list_asked;
	bool up;
	char error[sizeof(((struct rm_error *)NULL)->text)];
	struct kubelet_counts counts;
	/* The last failure that was reported; "": a reading has succeeded since. */
	char reported[sizeof(((struct rm_error *)NULL)->text)];
	rm_mono_t reported_at;

	/* The pods that were looked up and not in the last list; looking them up again
	 * causes no further request. */
	char unknown[MAX_UNKNOWN][POD_UID_BYTES];
	size_t unknown_count; /* refused pods, summed over all readings */
	/* a pod that the list does not have was looked up after the last request */
	bool wanted;
};

/* ---- time of the next request ---- */

static void
ask_again(struct kubelet *kubelet)
{
	rm_mono_t at = rm_mono_add(kubelet->asked, kubelet->options.apart_ns);

	if (!kubelet->up)
		at = rm_mono_add(
		    at, rm_backoff_next_ns(&kubelet->backoff, rm_random_u64()));
	else if (!kubelet->wanted)
		at = rm_mono_add(kubelet->asked, kubelet->options.interval_ns);
	rm_timer_at(kubelet->timer, at);
}

static bool
is_unknown(const struct kubelet *kubelet, const char *uid)
{
	for (size_t i = 0; i < MAX_UNKNOWN && i < kubelet->unknown_count; i++)
		if (strcmp(kubelet->unknown[i], uid) == 0)
			return true;
	return false;
}

void
kubelet_want(struct kubelet *kubelet, const char *uid)
{
	if (kubelet == NULL || strlen(uid) >= POD_UID_BYTES ||
	    pod_list_find(kubelet->list, uid) != NULL || is_unknown(kubelet, uid))
		return;
	snprintf(kubelet->unknown[kubelet->unknown_count++ % MAX_UNKNOWN],
	    POD_UID_BYTES, "%s", uid);
	kubelet->wanted = true;
	/* While requests fail, or one is running, the next one is scheduled already. */
	if (kubelet->up && kubelet->call == NULL && kubelet->job == NULL)
		ask_again(kubelet);
}

/* ---- the end of a reading ---- */

/* Returns the number of digits of a time in milliseconds ("12 ms") at the start of
 * text; 0: there is no such time. */
static size_t
time_at(const char *text)
{
	const size_t digits = strspn(text, "0123456789");
	const char *unit = text + digits;

	return digits > 0 && (strncmp(unit, " ms", 3) == 0 ||
				 strncmp(unit, " milliseconds", 13) == 0)
		   ? digits
		   : 0;
}

/* Compares two texts without the durations in them, because libcurl's text has the
 * number of milliseconds after which it gave up. */
static bool
is_same_reason(const char *a, const char *b)
{
	for (; *a != '\0' && *b != '\0'; a++, b++) {
		const size_t in_a = time_at(a), in_b = time_at(b);

		if (in_a > 0 && in_b > 0) {
			a += in_a;
			b += in_b;
		}
		if (*a != *b)
			return false;
	}
	return *a == *b;
}

static bool
is_news(struct kubelet *kubelet, rm_mono_t now)
{
	const bool first = kubelet->reported[0] == '\0';

	if (kubelet->up) {
		kubelet->reported[0] = '\0';
		return !first;
	}
	if (!first &&
	    (is_same_reason(kubelet->reported, kubelet->error) ||
		rm_mono_since(now, kubelet->reported_at) < kubelet->options.news_ns))
		return false;
	snprintf(kubelet->reported, sizeof(kubelet->reported), "%s", kubelet->error);
	kubelet->reported_at = now;
	return true;
}

static void
finish(struct kubelet *kubelet, int r, const char *reason, struct pod_list *list)
{
	snprintf(kubelet->error, sizeof(kubelet->error), "%s",
	    r == 0              ? ""
	    : reason[0] == '\0' ? strerror(-r)
				: reason);
	kubelet->up = r == 0;
	if (r == 0) {
		pod_list_free(kubelet->list);
		kubelet->list = list;
		kubelet->list_asked = kubelet->asked;
		kubelet->counts.refused += pod_list_refused(list);
		rm_backoff_reset(&kubelet->backoff);
	} else {
		kubelet->counts.failed++;
	}
	ask_again(kubelet);
	kubelet->options.done(
	    r, kubelet->error, is_news(kubelet, rm_mono_now()), kubelet->options.arg);
}

/* ---- the answer, on the worker ---- */

static void
free_job(struct job *job)
{
	free(job->text);
	pod_list_free(job->list);
	free(job);
}

static int
run_job(void *arg)
{
	struct job *job = arg;

	int r = pod_list_parse(job->text, job->len, &job->list, &job->error);

	/* A node always has some pods: an empty list comes from a kubelet that has just
	 * started. */
	if (r == 0 && pod_list_count(job->list) + pod_list_refused(job->list) == 0) {
		pod_list_free(job->list);
		job->list = NULL;
		r = rm_error_set(
		    &job->error, -EAGAIN, "the kubelet does not know any pod yet");
	}
	return r;
}

static void
on_job(void *arg, int r)
{
	struct job *job = arg;
	struct kubelet *kubelet = job->kubelet;
	struct pod_list *list = job->list;

	if (kubelet != NULL) {
		kubelet->job = NULL;
		job->list = NULL;
		finish(kubelet, r, job->error.text, list);
	}
	free_job(job);
}

static int
submit(struct kubelet *kubelet, const struct rm_http_answer *answer)
{
	struct job *job = calloc(1, sizeof(*job));
	int r = -ENOMEM;

	if (job == NULL)
		return r;
	job->kubelet = kubelet;
	job->len = answer->body_len;
	job->text = malloc(answer->body_len + 1);
	if (job->text != NULL) {
		memcpy(job->text, answer->body, answer->body_len);
		r = rm_worker_submit(kubelet->options.worker, run_job, on_job, job);
	}
	if (r < 0)
		free_job(job);
	else
		kubelet->job = job;
	return r;
}

/* ---- the exchange ---- */

static int
classify(const struct rm_http_answer *answer, struct rm_error *error)
{
	if (answer->r == -EMSGSIZE)
		return rm_error_set(error, answer->r,
		    "the kubelet's answer is larger than %u MiB",
		    POD_LIST_MAX_BYTES >> 20);
	if (answer->r == -ETIMEDOUT)
		return rm_error_set(
		    error, answer->r, "the kubelet's answer did not end in time");
	if (answer->r < 0)
		return rm_error_set(error, answer->r, "%s",
		    answer->reason[0] != '\0' ? answer->reason : strerror(-answer->r));
	if (answer->status == 401)
		return rm_error_set(error, -EACCES,
		    "the kubelet does not accept the token of kubernetes.token_file, "
		    "or the certificate (HTTP 401)");
	if (answer->status == 403)
		return rm_error_set(error, -EACCES,
		    "the token has no right to get nodes/pods, or nodes/proxy before "
		    "Kubernetes 1.33 (HTTP 403)");
	if (answer->status != 200)
		return rm_error_set(error, -EPROTO,
		    "the kubelet answered with HTTP %ld: is it a kubelet?",
		    answer->status);
	return 0;
}

static void
on_answer(const struct rm_http_answer *answer, void *arg)
{
	struct kubelet *kubelet = arg;
	struct rm_error error = { .text = "" };
	int r;

	kubelet->call = NULL;
	r = classify(answer, &error);
	if (r == 0)
		r = submit(kubelet, answer);
	if (r < 0)
		finish(kubelet, r, error.text, NULL);
}

static const char *
option(const char *text)
{
	return text == NULL || text[0] == '\0' ? NULL : text;
}

static int
ask(struct kubelet *kubelet, struct rm_error *error)
{
	static const char *const headers[] = { "Accept: application/json", NULL };
	const struct rm_http_origin *origin = kubelet->options.origin;
	const struct rm_http_tls tls = { .authorities = option(origin->authorities),
		.certificate = option(origin->certificate),
		.key = option(origin->key) };
	char token[RM_HTTP_SECRET_BYTES];
	const struct rm_http_exchange exchange = {
		.url = kubelet->url,
		.headers = headers,
		.bearer = option(origin->token_file) == NULL ? NULL : token,
		.tls = &tls,
		.max_body_bytes = POD_LIST_MAX_BYTES,
		.whole = true,
		.timeout_ns = KUBELET_TIMEOUT_NS,
		.done = on_answer,
		.arg = kubelet,
	};
	int r = 0;

	if (exchange.bearer != NULL)
		r = rm_file_read_password(
		    origin->token_file, token, sizeof(token), error);
	if (r == 0 && tls.key != NULL)
		r = rm_file_check_secret(tls.key, error);
	if (r == 0)
		r = rm_http_client_start(kubelet->http, &exchange, &kubelet->call);
	explicit_bzero(token, sizeof(token));
	return r;
}

static void
on_timer(void *arg)
{
	struct kubelet *kubelet = arg;
	struct rm_error error = { .text = "" };
	int r;

	kubelet->asked = rm_mono_now();
	kubelet->wanted = false;
	kubelet->counts.reads++;
	r = ask(kubelet, &error);
	if (r < 0)
		finish(kubelet, r, error.text, NULL);
}

/* ---- creation and end ---- */

int
kubelet_new(const struct kubelet_options *options, struct kubelet **ret)
{
	struct kubelet *kubelet = calloc(1, sizeof(*kubelet));
	size_t len = strlen(options->url);
	int r;

	if (kubelet == NULL)
		return -ENOMEM;
	kubelet->options = *options;
	kubelet->options.url = NULL;
	kubelet->backoff = (struct rm_backoff){ .base_ns = options->apart_ns,
		.cap_ns = options->interval_ns };
	while (len > 0 && options->url[len - 1] == '/')
		len--;
	r = asprintf(&kubelet->url, "%.*s" KUBELET_PAGE, (int)len, options->url);
	if (r < 0)
		kubelet->url = NULL;
	r = r < 0 ? -ENOMEM : rm_http_client_new(options->loop, &kubelet->http);
	if (r == 0)
		r = rm_timer_new(options->loop, on_timer, kubelet, &kubelet->timer);
	if (r < 0) {
		kubelet_free(kubelet);
		return r;
	}
	rm_timer_after(kubelet->timer, 0);
	*ret = kubelet;
	return 0;
}

void
kubelet_free(struct kubelet *kubelet)
{
	if (kubelet == NULL)
		return;
	if (kubelet->call != NULL)
		rm_http_call_cancel(kubelet->call);
	if (kubelet->job != NULL)
		kubelet->job->kubelet = NULL;
	rm_timer_free(kubelet->timer);
	rm_http_client_free(kubelet->http);
	pod_list_free(kubelet->list);
	free(kubelet->url);
	free(kubelet);
}

/* ---- lookups ---- */

const struct pod *
kubelet_pod(const struct kubelet *kubelet, const char *uid)
{
	return kubelet == NULL ? NULL : pod_list_find(kubelet->list, uid);
}

bool
kubelet_up(const struct kubelet *kubelet)
{
	return kubelet != NULL && kubelet->up;
}

const char *
kubelet_error(const struct kubelet *kubelet)
{
	return kubelet == NULL ? "" : kubelet->error;
}

int64_t
kubelet_age_ns(const struct kubelet *kubelet, rm_mono_t now)
{
	return kubelet == NULL || kubelet->list == NULL
		   ? -1
		   : rm_mono_since(now, kubelet->list_asked);
}

size_t
kubelet_pods(const struct kubelet *kubelet)
{
	return kubelet == NULL ? 0 : pod_list_count(kubelet->list);
}

const struct kubelet_counts *
kubelet_counts(const struct kubelet *kubelet)
{
	return &kubelet->counts;
}
