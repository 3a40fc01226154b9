#include "analyzer/history/influx.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/history/history_counts.h"
#include "analyzer/history/influx_answer.h"
#include "analyzer/history/influx_config.h"
#include "analyzer/history/influx_parts.h"
#include "analyzer/history/influx_target.h"
#include "rackmesh/core/backoff.h"
#include "rackmesh/core/log.h"
#include "rackmesh/core/random.h"
#include "rackmesh/http/http_client.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/worker.h"

#define RETRY_BASE_NS (200 * RM_NS_PER_MS)
#define RETRY_CAP_NS (30 * RM_NS_PER_S)
#define RETRY_INCIDENT_CAP_NS (5 * RM_NS_PER_S)
#define CONFIG_WAIT_NS (30 * RM_NS_PER_S)
#define RETRY_AFTER_CAP_S 300
#define ANSWER_BYTES (4 << 20) /* InfluxDB 3 lists every line that it refuses */
#define FIRST_LANE WIRE_LANE_SUMMARY
#define LANES (WIRE_LANE_INCIDENT + 1)

struct pack_job { /* used by the worker while the job runs */
	struct lane *lane;
	const char *text;
	size_t len;
	uint8_t *packed;
	size_t packed_len;
};

struct lane {
	struct influx *influx;
	enum wire_lane lane;
	struct influx_parts parts;
	/* the compressed part that is being sent; NULL: not compressed yet */
	uint8_t *packed;
	size_t packed_len;
	struct rm_timer *timer; /* time of the next attempt */
	bool waiting;           /* the timer is set to that time */
	/* the database asked for a pause, or an operator must correct something */
	bool asked_to_wait;
	/* The last answer showed a wrong configuration; the next attempt clears this.
	 */
	bool misconfigured;
	struct rm_http_call *call;
	struct rm_backoff backoff;
	char trouble[sizeof(struct rm_error) + 64];
};

struct influx {
	struct influx_options options;
	struct influx_target target;
	struct lane lanes[LANES];
};

static void lane_attempt(void *arg);

int
influx_new(
    const struct influx_options *options, struct influx **ret, struct rm_error *error)
{
	struct influx *influx = calloc(1, sizeof(*influx));
	int r;

	if (influx == NULL)
		return rm_error_set(error, -ENOMEM, "out of memory");
	influx->options = *options;
	r = influx_target_init(&influx->target, options->config, error);
	for (int i = FIRST_LANE; r == 0 && i < LANES; i++) {
		struct lane *lane = &influx->lanes[i];

		lane->influx = influx;
		lane->lane = (enum wire_lane)i;
		lane->backoff.base_ns =
		    options->retry_base_ns > 0 ? options->retry_base_ns : RETRY_BASE_NS;
		lane->backoff.cap_ns =
		    i == WIRE_LANE_INCIDENT ? RETRY_INCIDENT_CAP_NS : RETRY_CAP_NS;
		r = rm_timer_new(options->loop, lane_attempt, lane, &lane->timer);
		if (r < 0)
			rm_error_set(error, r, "out of memory");
	}
	if (r < 0) {
		influx_free(influx);
		return r;
	}
	*ret = influx;
	return 0;
}

void
influx_free(struct influx *influx)
{
	if (influx == NULL)
		return;
	for (int i = FIRST_LANE; i < LANES; i++) {
		struct lane *lane = &influx->lanes[i];

		if (lane->call != NULL)
			rm_http_call_cancel(lane->call);
		rm_timer_free(lane->timer);
		free(lane->packed);
	}
	explicit_bzero(&influx->target, sizeof(influx->target));
	free(influx);
}

const char *
influx_trouble(const struct influx *influx, enum wire_lane lane)
{
	return influx->lanes[lane].trouble;
}

static void
lane_wait(struct lane *lane, int64_t ns)
{
	lane->waiting = true;
	rm_timer_after(lane->timer, ns);
}

static void
lane_back_off(struct lane *lane)
{
	lane_wait(lane, rm_backoff_next_ns(&lane->backoff, rm_random_u64()));
}

static void
lane_trouble(struct lane *lane, const char *what, const char *sentence)
{
	snprintf(lane->trouble, sizeof(lane->trouble), "%s: %s", what, sentence);
	rm_log_warn(0, "history: %s", lane->trouble);
}

/* The database answers again: reset the back-off of both lanes. */
static void
lanes_encourage(struct influx *influx)
{
	for (int i = FIRST_LANE; i < LANES; i++) {
		struct lane *lane = &influx->lanes[i];

		rm_backoff_reset(&lane->backoff);
		if (lane->waiting && !lane->asked_to_wait)
			rm_timer_after(lane->timer, 0);
	}
}

/* The part is done: sends the next part, or asks for the next batch. */
static void
lane_next(struct lane *lane)
{
	const struct influx_options *options = &lane->influx->options;

	free(lane->packed);
	lane->packed = NULL;
	if (influx_parts_next(&lane->parts)) {
		lane_attempt(lane);
		return;
	}
	options->counts->batches++;
	options->on_done(lane->lane, options->arg);
}

static void
lane_through(struct lane *lane)
{
	rm_backoff_reset(&lane->backoff);
	if (lane->trouble[0] == '\0')
		return;
	lane->trouble[0] = '\0';
	rm_log_info("history: recovered: the database accepts points");
	lanes_encourage(lane->influx);
}

/* Counts and logs points that the database will never accept. */
static void
lane_refused(struct lane *lane, uint64_t points, const char *sentence)
{
	lane->influx->options.counts->refused_points += points;
	rm_log_warn(0, "history: the database refused %llu points: %s",
	    (unsigned long long)points, sentence);
}

static void
lane_halve(struct lane *lane, const char *sentence)
{
	free(lane->packed);
	lane->packed = NULL;
	if (influx_parts_halve(&lane->parts)) {
		lane->influx->options.counts->splits++;
		lane_attempt(lane);
		return;
	}
	lane_refused(lane, influx_parts_points(&lane->parts), sentence);
	lane_next(lane);
}

static void
lane_misconfigured(struct lane *lane, const char *sentence)
{
	const struct influx_options *options = &lane->influx->options;
	int64_t wait =
	    options->config_wait_ns > 0 ? options->config_wait_ns : CONFIG_WAIT_NS;

	options->counts->config_faults++;
	lane_trouble(lane, "configuration fault, points are kept", sentence);
	lane->misconfigured = true;
	lane->asked_to_wait = true;
	lane_wait(lane, wait);
}

/* An operator may have corrected the cause, for example with a new token: reads the
 * files with secrets again for the next attempt. */
static void
lane_reread(struct lane *lane)
{
	struct influx *influx = lane->influx;
	struct rm_error error = { 0 };

	lane->misconfigured = false;
	if (influx_target_reread(&influx->target, influx->options.config, &error) < 0)
		lane_trouble(lane, "configuration fault, points are kept", error.text);
}

static void
lane_retry(struct lane *lane, const struct influx_answer *answer)
{
	int64_t asked_s = answer->retry_after_s;
	int64_t wait = rm_backoff_next_ns(&lane->backoff, rm_random_u64());

	lane_trouble(lane, "points wait for the database", answer->sentence);
	if (asked_s > RETRY_AFTER_CAP_S)
		asked_s = RETRY_AFTER_CAP_S;
	lane->asked_to_wait = asked_s > 0;
	if (asked_s > 0 && wait < asked_s * RM_NS_PER_S)
		wait = asked_s * RM_NS_PER_S;
	lane_wait(lane, wait);
}

static void
lane_on_answer(const struct rm_http_answer *http, void *arg)
{
	struct lane *lane = arg;
	struct history_counts *counts = lane->influx->options.counts;
	struct influx_answer answer;
	uint64_t points = influx_parts_points(&lane->parts), dropped;

	lane->call = NULL;
	if (http->r == -ECANCELED)
		return; /* the HTTP client is being freed, and this object too */
	influx_answer_read(http, &answer);
	if (answer.status != INFLUX_TAKEN)
		counts->failed_attempts++;
	switch (answer.status) {
	case INFLUX_TAKEN:
	case INFLUX_PARTIAL:
		dropped = answer.dropped < points ? answer.dropped : points;
		counts->delivered_points += points - dropped;
		if (dropped > 0)
			lane_refused(lane, dropped, answer.sentence);
		lane_through(lane);
		lane_next(lane);
		break;
	case INFLUX_REFUSED:
	case INFLUX_TOO_LARGE:
		lane_halve(lane, answer.sentence);
		break;
	case INFLUX_CONFIG:
		lane_misconfigured(lane, answer.sentence);
		break;
	case INFLUX_RETRY:
		lane_retry(lane, &answer);
		break;
	}
}

static void
lane_post(struct lane *lane)
{
	struct influx *influx = lane->influx;
	const struct influx_target *target = &influx->target;
	const char *const headers[] = { "Content-Type: text/plain; charset=utf-8",
		"Content-Encoding: gzip",
		target->authorization[0] != '\0' ? target->authorization : NULL, NULL };
	const struct rm_http_exchange exchange = {
		.url = target->url[lane->lane],
		.headers = headers,
		.body = (const char *)lane->packed,
		.body_len = lane->packed_len,
		.user = target->user[0] != '\0' ? target->user : NULL,
		.password = target->user[0] != '\0' ? target->password : NULL,
		.max_body_bytes = ANSWER_BYTES,
		.timeout_ns =
		    (int64_t)influx->options.config->timeout_ms * RM_NS_PER_MS,
		.done = lane_on_answer,
		.arg = lane,
	};
	int r;

	r = rm_http_client_start(influx->options.http, &exchange, &lane->call);
	if (r < 0) {
		lane->call = NULL;
		lane_trouble(lane, "points wait for the database", strerror(-r));
		lane_back_off(lane);
	}
}

static int
pack_run(void *arg)
{
	struct pack_job *job = arg;

	return influx_gzip(job->text, job->len, &job->packed, &job->packed_len);
}

static void
pack_done(void *arg, int r)
{
	struct pack_job *job = arg;
	struct lane *lane = job->lane;

	if (r == 0) {
		lane->packed = job->packed;
		lane->packed_len = job->packed_len;
		lane_post(lane);
	} else if (r != -ECANCELED)
		lane_back_off(lane);
	free(job);
}

static void
lane_pack(struct lane *lane)
{
	struct pack_job *job = calloc(1, sizeof(*job));
	int r = -ENOMEM;

	if (job != NULL) {
		job->lane = lane;
		job->text = influx_parts_text(&lane->parts, &job->len);
		r = rm_worker_submit(
		    lane->influx->options.worker, pack_run, pack_done, job);
	}
	if (r < 0) {
		free(job);
		lane_back_off(lane);
	}
}

static void
lane_attempt(void *arg)
{
	struct lane *lane = arg;

	lane->waiting = false;
	lane->asked_to_wait = false;
	if (lane->misconfigured)
		lane_reread(lane);
	if (lane->packed != NULL)
		lane_post(lane);
	else
		lane_pack(lane);
}

void
influx_send(struct influx *influx, enum wire_lane name, const char *text, size_t len)
{
	struct lane *lane = &influx->lanes[name];

	influx_parts_init(&lane->parts, text, len);
	lane_attempt(lane);
}
