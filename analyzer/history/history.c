#include "analyzer/history/history.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/history/history_batch.h"
#include "analyzer/history/history_files.h"
#include "analyzer/history/history_points.h"
#include "analyzer/history/influx.h"
#include "analyzer/history/influx_config.h"
#include "analyzer/sla/sla.h"
#include "rackmesh/core/random.h"
#include "rackmesh/judge/part.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/metrics/metrics.h"
#include "rackmesh/spool/spool.h"

#define FIRST_LANE WIRE_LANE_SUMMARY
#define LANES (WIRE_LANE_INCIDENT + 1)
/* Records are pieces of this size, so that a batch can be cut at the end of a piece. */
#define RECORD_BYTES (64u << 10)
#define RECORD_POINTS 1000
/* pause in which more points of the same turn of the loop may arrive */
#define INCIDENT_WAIT_NS (10 * RM_NS_PER_MS)
#define MEMORY_RETRY_NS RM_NS_PER_S
#define BATCH_BYTES (4u << 20)
/* limit on batches that are discarded in one turn of the loop */
#define BATCHES_PER_TURN 16
/* Limit on the bytes of one lane that are not synced to disk. Above it, the lane
 * accepts no messages. */
#define MAX_UNSYNCED_BYTES (32u << 20)

struct lane {
	struct history *history;
	enum wire_lane lane;
	struct rm_spool *spool;
	struct history_batch batch; /* the batch that is being filled, or being sent */
	bool busy;                  /* being sent */
	rm_mono_t since;            /* when the batch got its first point */
	uint64_t safe;              /* the last ticket that was passed to on_durable */
	struct rm_timer *timer;
};

struct history {
	struct history_callbacks callbacks;
	struct history_points *points;
	struct influx *influx;       /* NULL: influx.url is "" */
	struct history_files *files; /* NULL, and influx is NULL: points are dropped */
	char analyzer[RM_NAME_BYTES];
	uint64_t batch_points;
	int64_t batch_ns;
	struct lane lanes[LANES];
	struct history_counts counts;
};

/* Calls on_durable up to seq. A point that the database has acknowledged is durable
 * even if the spool has not synced it: the spool does not sync points that are done. */
static void
lane_safe(struct lane *lane, uint64_t seq)
{
	const struct history_callbacks *callbacks = &lane->history->callbacks;

	if (seq <= lane->safe)
		return;
	lane->safe = seq;
	if (callbacks->on_durable != NULL)
		callbacks->on_durable(lane->lane, seq, callbacks->arg);
}

static void
lane_done(struct lane *lane)
{
	rm_spool_done(lane->spool, lane->batch.last_seq);
	history_batch_empty(&lane->batch);
	lane_safe(lane, lane->batch.last_seq);
}

static void
lane_send(struct lane *lane)
{
	struct history *history = lane->history;

	lane->busy = true;
	if (history->influx != NULL)
		influx_send(
		    history->influx, lane->lane, lane->batch.text, lane->batch.len);
	else
		history_files_write(
		    history->files, lane->lane, lane->batch.text, lane->batch.len);
}

static int
lane_fill(struct lane *lane)
{
	const struct history *history = lane->history;
	size_t most = BATCH_BYTES;

	if (history->files != NULL)
		most = history_files_most(history->files, lane->lane);
	if (most > BATCH_BYTES)
		most = BATCH_BYTES;
	return history_batch_fill(
	    &lane->batch, lane->spool, history->batch_points, most);
}

/* Drops points when neither a database nor files are configured. */
static void
lane_discard(struct lane *lane)
{
	for (int i = 0; i < BATCHES_PER_TURN && lane->batch.points > 0; i++) {
		lane_done(lane);
		lane_fill(lane);
	}
	if (lane->batch.points > 0)
		rm_timer_after(lane->timer, 0);
}

/* Sends the batch when it is full, or when its oldest point has waited long enough. */
static void
lane_pump(struct lane *lane)
{
	struct history *history = lane->history;
	int64_t age =
	    lane->lane == WIRE_LANE_INCIDENT ? INCIDENT_WAIT_NS : history->batch_ns;
	bool was_empty = lane->batch.points == 0;
	int r;

	if (lane->busy)
		return;
	r = lane_fill(lane);
	if (lane->batch.points == 0) {
		if (r < 0)
			rm_timer_after(lane->timer, MEMORY_RETRY_NS);
		return;
	}
	if (history->influx == NULL && history->files == NULL) {
		lane_discard(lane);
		return;
	}
	if (was_empty)
		lane->since = rm_mono_now();
	if (r != 0 || rm_mono_since(rm_mono_now(), lane->since) >= age)
		lane_send(lane);
	else
		rm_timer_at(lane->timer, rm_mono_add(lane->since, age));
}

static void
lane_on_timer(void *arg)
{
	lane_pump(arg);
}

static void
lane_on_fetched(void *arg)
{
	lane_pump(arg);
}

static void
lane_on_durable(uint64_t seq, void *arg)
{
	lane_safe(arg, seq);
}

/* Called when each point of the batch was stored, or was refused by the database. */
static void
history_on_done(enum wire_lane name, void *arg)
{
	struct history *history = arg;
	struct lane *lane = &history->lanes[name];

	lane->busy = false;
	lane_done(lane);
	lane_pump(lane);
}

static int
lane_init(
    struct lane *lane, const struct history_options *history, struct rm_error *error)
{
	const struct rm_spool_callbacks callbacks = { lane_on_durable, lane_on_fetched,
		lane };
	bool incidents = lane->lane == WIRE_LANE_INCIDENT;
	char folder[2048];
	const struct rm_spool_options options = {
		.folder = history->state_folder[0] != '\0' ? folder : NULL,
		.max_bytes = incidents ? history->influx->incident_spool_bytes
				       : history->influx->spool_bytes,
		.identity = rm_random_u64(),
	};

	if (snprintf(folder, sizeof(folder), "%s/%s", history->state_folder,
		incidents ? "spool-incidents" : "spool-summaries") >=
	    (int)sizeof(folder))
		return rm_error_set(error, -ENAMETOOLONG, "%s is too long a name",
		    history->state_folder);
	if (rm_timer_new(history->loop, lane_on_timer, lane, &lane->timer) < 0)
		return rm_error_set(error, -ENOMEM, "out of memory");
	return rm_spool_new(
	    history->loop, history->worker, &options, &callbacks, &lane->spool, error);
}

static int
history_open(struct history *history, const struct history_options *options,
    struct rm_error *error)
{
	const struct influx_options influx = { .loop = options->loop,
		.worker = options->worker,
		.http = options->http,
		.config = options->influx,
		.counts = &history->counts,
		.on_done = history_on_done,
		.arg = history,
		.config_wait_ns = options->config_wait_ns };
	const struct history_files_options files = { .loop = options->loop,
		.worker = options->worker,
		.folder = options->files_folder,
		.max_bytes = options->files_max_bytes,
		.counts = &history->counts,
		.on_done = history_on_done,
		.arg = history };
	int r;

	if (options->influx->url[0] != '\0')
		return influx_new(&influx, &history->influx, error);
	if (options->files_folder[0] == '\0')
		return 0;
	r = history_files_new(&files, &history->files);
	return r < 0 ? rm_error_set(error, r, "cannot use the history folder %s: %s",
			   options->files_folder, strerror(-r))
		     : 0;
}

int
history_new(const struct history_options *options,
    const struct history_callbacks *callbacks, struct history **ret,
    struct rm_error *error)
{
	struct history *history = calloc(1, sizeof(*history));
	int r;

	if (history == NULL)
		return rm_error_set(error, -ENOMEM, "out of memory");
	history->callbacks = *callbacks;
	snprintf(history->analyzer, sizeof(history->analyzer), "%s", options->analyzer);
	history->batch_points = options->influx->batch_points;
	history->batch_ns = (int64_t)options->influx->batch_ms * RM_NS_PER_MS;
	history->points = history_points_new();
	r = history->points == NULL ? rm_error_set(error, -ENOMEM, "out of memory") : 0;
	if (r == 0)
		r = history_open(history, options, error);
	for (int i = FIRST_LANE; r == 0 && i < LANES; i++) {
		struct lane *lane = &history->lanes[i];

		lane->history = history;
		lane->lane = (enum wire_lane)i;
		r = lane_init(lane, options, error);
		if (r == 0) /* sends the points that were in the spool at the start */
			rm_timer_after(lane->timer, 0);
	}
	if (r < 0) {
		history_free(history);
		return r;
	}
	*ret = history;
	return 0;
}

void
history_free(struct history *history)
{
	if (history == NULL)
		return;
	influx_free(history->influx);
	history_files_free(history->files);
	for (int i = FIRST_LANE; i < LANES; i++) {
		struct lane *lane = &history->lanes[i];

		rm_timer_free(lane->timer);
		rm_spool_free(lane->spool);
		history_batch_clear(&lane->batch);
	}
	history_points_free(history->points);
	free(history);
}

/* Pieces before one that fails stay in the spool. The sender repeats the whole message,
 * and equal points replace each other. */
static int
lane_append(struct lane *lane, const struct history_text *text, uint64_t *ticket)
{
	struct history *history = lane->history;
	uint64_t max = history->batch_points < RECORD_POINTS ? history->batch_points
							     : RECORD_POINTS;
	int r = 0;

	for (size_t at = 0; r == 0 && at < text->len;) {
		size_t len = history_batch_piece(
		    text->text + at, text->len - at, max, RECORD_BYTES);

		r = rm_spool_append(
		    lane->spool, (const uint8_t *)text->text + at, len, ticket);
		at += len;
	}
	if (r < 0)
		return r;
	history->counts.points += text->points;
	history->counts.left_out_points += text->left_out;
	history->counts.left_out_paths += text->paths_left_out;
	if (!lane->busy) /* the points are sent together with further points of this
			    turn of the loop */
		rm_timer_after(lane->timer, 0);
	return 0;
}

static bool
lane_is_full(const struct lane *lane)
{
	return rm_spool_unsynced_bytes(lane->spool) > MAX_UNSYNCED_BYTES;
}

/* Writes the text to the lane's spool. r: the result of the function that has made the
 * text. */
static int
lane_take(struct lane *lane, int r, const struct history_text *text, uint64_t *ticket)
{
	if (r == 0)
		r = lane_append(lane, text, ticket);
	if (r == 0 || r == -ENOMEM)
		return r;
	lane->history->counts.refused_messages++;
	return -EBADMSG;
}

int
history_take_summary(
    struct history *history, const struct wire_summary_view *view, uint64_t *ticket)
{
	struct lane *lane = &history->lanes[WIRE_LANE_SUMMARY];
	struct history_text text;

	if (lane_is_full(lane))
		return -ENOBUFS;
	return lane_take(
	    lane, history_points_summary(history->points, view, &text), &text, ticket);
}

int
history_take_incident(
    struct history *history, const struct wire_incident *incident, uint64_t *ticket)
{
	struct lane *lane = &history->lanes[WIRE_LANE_INCIDENT];
	struct history_text text;

	if (lane_is_full(lane))
		return -ENOBUFS;
	return lane_take(lane,
	    history_points_rack_incident(history->points, incident, &text), &text,
	    ticket);
}

int
history_incident(struct history *history, const char *region,
    enum wire_incident_state state, const struct rm_incident *incident)
{
	struct history_text text;
	int r = history_points_incident(
	    history->points, history->analyzer, region, state, incident, &text);

	if (r == 0)
		r = lane_append(&history->lanes[WIRE_LANE_INCIDENT], &text, NULL);
	return r;
}

/* Stores the points of racks in the lane of summaries: there are many, and they need to
 * be kept as long as rows. */
static int
sla_racks(struct history *history, const struct sla_minute *minute)
{
	struct lane *lane = &history->lanes[WIRE_LANE_SUMMARY];
	struct history_text text;
	int r;

	if (lane_is_full(lane))
		return -ENOBUFS;
	r = history_points_sla_racks(history->points, history->analyzer, minute, &text);
	return r < 0 ? r : lane_append(lane, &text, NULL);
}

/* Stores the point of a service in the lane of summaries, because there may be many
 * services, with ever new names: too many to be kept for a year. */
static int
sla_service(struct history *history, const struct sla_minute *minute)
{
	struct lane *lane = &history->lanes[WIRE_LANE_SUMMARY];
	struct history_text text;
	int r;

	if (lane_is_full(lane))
		return -ENOBUFS;
	r = history_points_sla(history->points, history->analyzer, minute, &text);
	return r < 0 ? r : lane_append(lane, &text, NULL);
}

int
history_sla(struct history *history, const struct sla_minute *minute)
{
	struct history_text text;
	int r;

	if (minute->service[0] != '\0')
		return sla_service(history, minute);
	r = history_points_sla(history->points, history->analyzer, minute, &text);
	if (r == 0)
		r = lane_append(&history->lanes[WIRE_LANE_INCIDENT], &text, NULL);
	return r < 0 || minute->rack_count == 0 ? r : sla_racks(history, minute);
}

static const char *
lane_trouble(const struct history *history, enum wire_lane lane)
{
	const char *trouble = "";

	if (history->influx != NULL)
		trouble = influx_trouble(history->influx, lane);
	else if (history->files != NULL)
		trouble = history_files_trouble(history->files, lane);
	if (trouble[0] == '\0' &&
	    rm_spool_counts(history->lanes[lane].spool)->durable == 0)
		trouble =
		    "waiting points cannot be written to disk: they are kept in memory";
	return trouble;
}

const char *
history_trouble(const struct history *history)
{
	const char *trouble = lane_trouble(history, WIRE_LANE_INCIDENT);

	return trouble[0] != '\0' ? trouble : lane_trouble(history, WIRE_LANE_SUMMARY);
}

uint64_t
history_waiting(const struct history *history, enum wire_lane lane)
{
	return rm_spool_waiting(history->lanes[lane].spool);
}

const struct history_counts *
history_counts(const struct history *history)
{
	return &history->counts;
}

static const struct rm_spool_counts *
history_spool_counts(const struct history *history, enum wire_lane lane)
{
	return rm_spool_counts(history->lanes[lane].spool);
}

/* ---- state and metrics ---- */

#define N(what) "rackmesh_analyzer_history_" what
#define C(field) offsetof(struct history_counts, field)
#define S(field) offsetof(struct rm_spool_counts, field)

struct counter {
	const char *name;
	size_t offset;
	const char *help;
};

/* clang-format off */
static const struct counter counters[] = {
	{ N("points_total"), C(points), "Points put into the spools." },
	{ N("messages_refused_total"), C(refused_messages), "Messages from which no points can be made." },
	{ N("rows_refused_total"), C(left_out_points),
	  "Rows from which no point can be made, of messages whose other rows were taken." },
	{ N("paths_left_out_total"), C(left_out_paths),
	  "Paths without losses that are not in rm_path, because 32 others of the same message had more changed marks." },
	{ N("points_refused_total"), C(refused_points), "Points that the database refused." },
	{ N("points_delivered_total"), C(delivered_points),
	  "Points that the database accepted or that were written to files." },
	{ N("batches_total"), C(batches), "Batches of points finished: accepted, refused or dropped." },
	{ N("failed_attempts_total"), C(failed_attempts), "Writes that the database did not accept as a whole." },
	{ N("splits_total"), C(splits), "Times that a batch was halved to find the points that the database refuses." },
	{ N("config_faults_total"), C(config_faults),
	  "Writes that failed with 401, 403 or 404: the configuration has to be corrected." },
};

static const struct counter spool_counters[] = {
	{ N("spool_in_total"), S(in), "Records put into the spool." },
	{ N("spool_found_total"), S(found), "Records found in the spool at the start." },
	{ N("spool_done_total"), S(done), "Records of the spool that are finished." },
	{ N("spool_dropped_total"), S(dropped_full), "Oldest records dropped from the spool to make room for new ones." },
	{ N("spool_refused_total"), S(refused), "Records not spooled because memory ran out." },
	{ N("spool_quarantined_total"), S(quarantined), "Damaged parts of the spool that were set aside." },
	{ N("spool_corrupt_bytes_total"), S(lost_corrupt_bytes), "Bytes of damaged parts of the spool." },
	{ N("spool_failed_writes_total"), S(failed_writes), "Failed writes to the spool." },
	{ N("spool_failed_syncs_total"), S(failed_syncs), "Failed syncs of the spool to disk." },
	{ N("spool_syncs_total"), S(syncs), "Times that the spool was synced to disk." },
	{ N("spool_written_bytes_total"), S(written_bytes), "Bytes written to the spool." },
};
/* clang-format on */

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static double
read_waiting_summaries(const void *arg)
{
	return (double)history_waiting(arg, WIRE_LANE_SUMMARY);
}

static double
read_waiting_incidents(const void *arg)
{
	return (double)history_waiting(arg, WIRE_LANE_INCIDENT);
}

static double
read_durable(const void *arg)
{
	return (double)((const struct rm_spool_counts *)arg)->durable;
}

static int
add_durable(struct rm_metrics *metrics, struct history *history, const char *labels,
    enum wire_lane lane)
{
	return rm_metrics_gauge(metrics, history, N("spool_durable"), labels,
	    "1 when all waiting points are on disk, 0 while some are only in memory.",
	    read_durable, history_spool_counts(history, lane));
}

static double
read_trouble(const void *arg)
{
	return history_trouble(arg)[0] != '\0';
}

static int
add(struct rm_metrics *metrics, const void *owner, const char *labels,
    const struct counter *table, size_t count, const void *base)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++)
		r = rm_metrics_counter(metrics, owner, table[i].name, labels,
		    table[i].help,
		    (const uint64_t *)((const char *)base + table[i].offset));
	return r;
}

int
history_metrics(struct history *history, struct rm_metrics *metrics)
{
	int r = add(
	    metrics, history, "", counters, COUNT(counters), history_counts(history));

	if (r == 0)
		r = add(metrics, history, "lane=\"summary\"", spool_counters,
		    COUNT(spool_counters),
		    history_spool_counts(history, WIRE_LANE_SUMMARY));
	if (r == 0)
		r = add(metrics, history, "lane=\"incident\"", spool_counters,
		    COUNT(spool_counters),
		    history_spool_counts(history, WIRE_LANE_INCIDENT));
	if (r == 0)
		r = rm_metrics_gauge(metrics, history, N("waiting_records"),
		    "lane=\"summary\"",
		    "Records in the spool that are not written to history yet.",
		    read_waiting_summaries, history);
	if (r == 0)
		r = rm_metrics_gauge(metrics, history, N("waiting_records"),
		    "lane=\"incident\"",
		    "Records in the spool that are not written to history yet.",
		    read_waiting_incidents, history);
	if (r == 0)
		r = add_durable(
		    metrics, history, "lane=\"summary\"", WIRE_LANE_SUMMARY);
	if (r == 0)
		r = add_durable(
		    metrics, history, "lane=\"incident\"", WIRE_LANE_INCIDENT);
	if (r == 0)
		r = rm_metrics_gauge(metrics, history, N("trouble"), "",
		    "1 while points cannot be written.", read_trouble, history);
	return r;
}
