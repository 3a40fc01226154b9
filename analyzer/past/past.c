#include "analyzer/past/past.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/history/history_schema.h"
#include "analyzer/history/influx_config.h"
#include "analyzer/history/influx_target.h"
#include "analyzer/past/past_answer.h"
#include "analyzer/past/past_question.h"
#include "rackmesh/http/http_client.h"
#include "rackmesh/http/http_server.h"
#include "rackmesh/http/http_url.h"
#include "rackmesh/identity/sight.h"
#include "rackmesh/loop/worker.h"

#define PATIENCE_NS (20 * RM_NS_PER_S)
#define DATABASE_NS (10 * RM_NS_PER_S)

enum language { /* the query language of the database at influx.url */
	LANGUAGE_UNKNOWN,
	LANGUAGE_INFLUXQL,
	LANGUAGE_VICTORIA,
};

/* A request. While its job runs, the worker uses all members except `past`. */
struct asked {
	struct past *past;
	bool busy;
	/* the client may see only some regions, so its errors do not show how the
	 * history is stored */
	bool limited;
	uint64_t http; /* id of the HTTP request that waits for the answer */
	struct past_question question;
	struct rm_http_call *call;
	enum language language;
	char *body; /* a database's answer; NULL: files are read */
	size_t body_len;
	char *json;
	struct rm_error error;
};

struct past {
	struct past_options options;
	struct rm_worker *worker;
	enum language language; /* LANGUAGE_UNKNOWN until the database has answered */
	struct asked asked[PAST_MAX];
	struct past_counts counts;
};

int
past_new(const struct past_options *options, struct past **ret)
{
	struct past *past = calloc(1, sizeof(*past));
	int r;

	if (past == NULL)
		return -ENOMEM;
	past->options = *options;
	for (size_t i = 0; i < PAST_MAX; i++)
		past->asked[i].past = past;
	r = rm_worker_new(options->loop, PAST_MAX, &past->worker);
	if (r < 0) {
		past_free(past);
		return r;
	}
	*ret = past;
	return 0;
}

void
past_free(struct past *past)
{
	if (past == NULL)
		return;
	rm_worker_free(past->worker);
	for (size_t i = 0; i < PAST_MAX; i++) {
		if (past->asked[i].call != NULL)
			rm_http_call_cancel(past->asked[i].call);
		free(past->asked[i].body);
		free(past->asked[i].json);
	}
	free(past);
}

const struct past_counts *
past_counts(const struct past *past)
{
	return &past->counts;
}

static void
asked_end(struct asked *asked)
{
	free(asked->body);
	free(asked->json);
	asked->body = asked->json = NULL;
	asked->busy = false;
}

static void
asked_fail(struct asked *asked, const char *sentence)
{
	struct past *past = asked->past;
	const char *url = past->options.influx->url;
	char shown[RM_HTTP_URL_SHOWN_BYTES] = "the database";

	past->counts.failed++;
	if (!asked->limited)
		rm_http_url_show(url, true, shown);
	rm_http_reply_error(rm_http_deferred(past->options.server, asked->http), 502,
	    "%s%s%s", url[0] != '\0' ? shown : "", url[0] != '\0' ? ": " : "",
	    sentence);
	asked_end(asked);
}

/* Answers with an error. The reason contains paths, or text of the database, so a
 * client with limited rights does not get it. */
static void
asked_fail_inside(struct asked *asked)
{
	asked_fail(asked, asked->limited ? "history cannot be read now; a viewer of "
					   "all regions is shown the reason"
					 : asked->error.text);
}

/* ---- in the worker --------------------------------------------------------------- */

static int
read_run(void *job)
{
	struct asked *asked = job;

	if (asked->body != NULL)
		return (asked->language == LANGUAGE_VICTORIA
			    ? past_answer_victoria
			    : past_answer_influx)(&asked->question, asked->body,
		    asked->body_len, &asked->json, &asked->error);
	return past_answer_files(&asked->question, asked->past->options.files_folder,
	    &asked->json, &asked->error);
}

static void
read_done(void *job, int r)
{
	struct asked *asked = job;
	struct past *past = asked->past;

	if (r == -ECANCELED)
		return; /* past_free frees it */
	if (r < 0) {
		/* after a restart the database may be of another kind */
		past->language = LANGUAGE_UNKNOWN;
		if (r == -EMSGSIZE)
			asked_fail(asked, asked->error.text);
		else
			asked_fail_inside(asked);
		return;
	}
	past->counts.answered++;
	rm_http_reply_text(rm_http_deferred(past->options.server, asked->http), 200,
	    asked->json, strlen(asked->json));
	asked_end(asked);
}

static void
read_start(struct asked *asked)
{
	if (rm_http_deferred(asked->past->options.server, asked->http) == NULL) {
		asked_end(asked); /* the client has disconnected */
		return;
	}
	if (rm_worker_submit(asked->past->worker, read_run, read_done, asked) < 0)
		asked_fail(asked, "too many requests at once; try again");
}

/* ---- of a database --------------------------------------------------------------- */

static void
explain(const struct rm_http_answer *answer, bool limited, struct rm_error *error)
{
	char detail[256] = "";

	if (!limited && answer->r == 0)
		snprintf(detail, sizeof(detail), ", \"%.200s\"", answer->body);
	if (answer->r == -EMSGSIZE)
		rm_error_set(
		    error, 0, "that is too much: ask for less time, or fewer columns");
	else if (answer->r < 0 && limited)
		rm_error_set(error, 0, "it does not answer");
	else if (answer->r < 0)
		rm_error_set(error, 0, "it does not answer: %s",
		    answer->reason != NULL && answer->reason[0] != '\0'
			? answer->reason
			: strerror(-answer->r));
	else if (answer->status == 401 || answer->status == 403)
		rm_error_set(error, 0,
		    "it does not let the analyzer read (HTTP %ld): give the user or "
		    "token that the analyzer writes with the right to read, too",
		    answer->status);
	else if (answer->status == 429 || answer->status >= 500)
		rm_error_set(error, 0, "it cannot answer now (HTTP %ld%s): try again",
		    answer->status, detail);
	else
		rm_error_set(error, 0,
		    "it answers neither InfluxQL nor as VictoriaMetrics (HTTP %ld%s); "
		    "InfluxDB 2 answers InfluxQL only for a bucket with a DBRP mapping",
		    answer->status, detail);
}

/* True: the answer can be used. False: the client got an error; the kind of the
 * database counts as unknown again, because it may have been replaced. */
static bool
answer_is_good(struct asked *asked, const struct rm_http_answer *answer)
{
	asked->call = NULL;
	if (answer->r == -ECANCELED)
		return false;
	if (answer->r == 0 && answer->status == 200)
		return true;
	asked->past->language = LANGUAGE_UNKNOWN;
	explain(answer, asked->limited, &asked->error);
	asked_fail(asked, asked->error.text);
	return false;
}

static void
on_answer(const struct rm_http_answer *answer, void *arg)
{
	struct asked *asked = arg;

	if (!answer_is_good(asked, answer))
		return;
	asked->body = malloc(answer->body_len + 1);
	if (asked->body == NULL) {
		asked_fail(asked, "out of memory");
		return;
	}
	memcpy(asked->body, answer->body, answer->body_len);
	asked->body_len = answer->body_len;
	read_start(asked);
}

/* Secrets are read again for each query: they may be changed without a restart. */
static int
send_to_database(struct asked *asked, const char *url,
    void (*done)(const struct rm_http_answer *answer, void *arg))
{
	struct influx_target target = { 0 };
	const char *const headers[] = { target.authorization, NULL };
	struct rm_http_exchange exchange = { .url = url,
		.max_body_bytes = PAST_ANSWER_BYTES,
		.whole = true,
		.timeout_ns = DATABASE_NS,
		.done = done,
		.arg = asked };
	int r =
	    influx_target_reread(&target, asked->past->options.influx, &asked->error);

	if (r == 0) {
		if (target.authorization[0] != '\0')
			exchange.headers = headers;
		if (target.user[0] != '\0') {
			exchange.user = target.user;
			exchange.password = target.password;
		}
		r = rm_http_client_start(
		    asked->past->options.http, &exchange, &asked->call);
		if (r < 0)
			asked->call = NULL;
		rm_error_set(&asked->error, r, "cannot ask it: %s", strerror(-r));
	}
	explicit_bzero(&target, sizeof(target));
	return r;
}

static int
write_influxql(const struct asked *asked, char url[INFLUX_URL_BYTES])
{
	const struct influx_config *config = asked->past->options.influx;
	const char *policy = asked->question.measurement->retention == HISTORY_RAW
				 ? config->retention_policy
				 : config->incident_retention_policy;
	char statement[PAST_STATEMENT_BYTES];
	/* A bucket of InfluxDB 2 has no retention policies. */
	int r = past_question_influxql(
	    &asked->question, config->version == 2 ? "" : policy, statement);

	return r == 0 ? influx_target_ask(config, statement, url) : r;
}

static int
write_export(const struct asked *asked, char url[INFLUX_URL_BYTES])
{
	const struct influx_config *config = asked->past->options.influx;
	char texts[2][PAST_STATEMENT_BYTES];
	const char *selectors[3] = { NULL };
	int count = past_question_selectors(&asked->question, config->database, texts);

	for (int i = 0; i < count; i++)
		selectors[i] = texts[i];
	return count < 0 ? count
			 : influx_target_export(config, selectors, asked->question.from,
			       asked->question.to, url);
}

static void
ask_rows(struct asked *asked)
{
	const char *by = past_question_text_filter(&asked->question);
	char url[INFLUX_URL_BYTES];
	int r;

	asked->language = asked->past->language;
	if (asked->language == LANGUAGE_VICTORIA && asked->question.measurement->dense)
		r = rm_error_set(&asked->error, -ENOTSUP,
		    "%s cannot be read from VictoriaMetrics: it stores one point per "
		    "millisecond, and %s may have several",
		    asked->question.measurement->name,
		    asked->question.measurement->name);
	else if (asked->language == LANGUAGE_VICTORIA && by != NULL)
		r = rm_error_set(&asked->error, -ENOTSUP,
		    "VictoriaMetrics stores no texts: it cannot find rows by their %s",
		    by);
	else
		r = rm_error_set(&asked->error,
		    asked->language == LANGUAGE_VICTORIA ? write_export(asked, url)
							 : write_influxql(asked, url),
		    "the names in influx are too long");
	if (r < 0)
		asked_fail(asked, asked->error.text);
	else if (send_to_database(asked, url, on_answer) < 0)
		asked_fail_inside(asked);
}

/* 404 means InfluxDB 1, which has no such path. Any other good answer means
 * VictoriaMetrics; an error leaves the kind open. */
static void
on_kind(const struct rm_http_answer *answer, void *arg)
{
	struct asked *asked = arg;
	const bool is_influx = answer->r == 0 && answer->status == 404;

	asked->call = NULL;
	if (!is_influx && !answer_is_good(asked, answer))
		return;
	asked->past->language = is_influx ? LANGUAGE_INFLUXQL : LANGUAGE_VICTORIA;
	ask_rows(asked);
}

static void
ask_database(struct asked *asked)
{
	const struct influx_config *config = asked->past->options.influx;
	char url[INFLUX_URL_BYTES];
	int r;

	if (config->version == 2)
		asked->past->language = LANGUAGE_INFLUXQL;
	if (asked->past->language != LANGUAGE_UNKNOWN) {
		ask_rows(asked);
		return;
	}
	r = influx_target_kind(config, url);
	rm_error_set(&asked->error, r, "influx.url is too long");
	if (r == 0)
		r = send_to_database(asked, url, on_kind);
	if (r < 0)
		asked_fail_inside(asked);
}

/* ---- HTTP ------------------------------------------------------------------------ */

static struct asked *
place_for(struct past *past)
{
	for (size_t i = 0; i < PAST_MAX; i++)
		if (!past->asked[i].busy)
			return &past->asked[i];
	return NULL;
}

static void
start(struct past *past, struct rm_http_request *request,
    const struct past_question *question, bool limited)
{
	struct asked *asked = place_for(past);

	if (asked == NULL || rm_http_defer(request, PATIENCE_NS, &asked->http) < 0) {
		past->counts.refused++;
		rm_http_reply_error(
		    request, 503, "too many requests at once; try again");
		return;
	}
	past->counts.asked++;
	asked->busy = true;
	asked->limited = limited;
	asked->question = *question;
	asked->error.text[0] = '\0';
	if (past->options.influx->url[0] != '\0')
		ask_database(asked);
	else
		read_start(asked);
}

/* Without ?region=, uses all regions that the client may see. False: an error was sent
 * as the answer. */
static bool
take_region(struct rm_http_request *request, struct rm_sight *sight,
    struct past_parameters *parameters)
{
	rm_sight_of(sight, request);
	if (sight->asked != NULL && !rm_sight_shows(sight, sight->asked)) {
		rm_http_reply_error(request, 403,
		    "you may not see that region: ?region= is one of %s",
		    sight->regions);
		return false;
	}
	if (sight->asked == NULL && rm_sight_is_limited(sight))
		parameters->regions = sight->regions;
	return true;
}

void
past_ask(struct rm_http_request *request, void *arg)
{
	struct past *past = arg;
	struct past_parameters parameters = { .measurement = rm_http_path_rest(request),
		.by = rm_http_query(request, "by"),
		.from = rm_http_query(request, "from"),
		.to = rm_http_query(request, "to"),
		.columns = rm_http_query(request, "columns") };
	struct past_question question;
	struct rm_error error = { 0 };
	struct rm_sight sight;
	int r;

	for (int i = 0; i < PAST_FILTERS; i++)
		parameters.filter[i] = rm_http_query(request, past_filter_names[i]);
	if (!take_region(request, &sight, &parameters))
		return;
	if (!rm_http_query_number(
		request, "limit", 1, PAST_MAX_LIMIT, &parameters.limit) ||
	    !rm_http_query_number(
		request, "step_s", 1, PAST_MAX_STEP_S, &parameters.step_s))
		return;
	r = past_question_make(&parameters, rm_wall_now(), &question, &error);
	if (r < 0) {
		rm_http_reply_error(
		    request, r == -ENOENT ? 404 : 400, "%s", error.text);
		return;
	}
	if (past->options.influx->url[0] == '\0' &&
	    past->options.files_folder[0] == '\0') {
		rm_http_reply_error(request, 404,
		    "no history is stored: the analyzer's config has neither "
		    "influx.url nor history.folder");
		return;
	}
	start(past, request, &question, rm_sight_is_limited(&sight));
}
