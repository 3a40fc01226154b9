#include "tor-aggregator/analyzer/report_spool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "rackmesh/incident/incident.h"
#include "tor-aggregator/standby/incident_message.h"

#define MAX_PATH 4096

struct lane {
	struct report_spool *reports;
	struct rm_spool *spool; /* NULL: the lane is off */
	uint64_t durable;       /* messages up to this number are on disk */
	uint64_t made;
	struct report_spool_counts counts;
};

struct report_spool {
	char aggregator[RM_NAME_BYTES], region[RM_NAME_BYTES];
	struct wire_writer *writer;
	struct lane summary, incident;
	void (*on_ready)(void *arg);
	void *arg;
};

static void
ready(struct report_spool *reports)
{
	if (reports->on_ready != NULL)
		reports->on_ready(reports->arg);
}

static void
on_durable(uint64_t seq, void *arg)
{
	struct lane *lane = arg;

	lane->durable = seq;
	ready(lane->reports);
}

static void
on_fetched(void *arg)
{
	struct lane *lane = arg;

	ready(lane->reports);
}

static int
lane_open(struct rm_loop *loop, struct rm_worker *worker,
    const struct report_spool_options *options, const char *name, uint64_t bytes,
    struct lane *lane, struct rm_error *error)
{
	const struct rm_spool_callbacks callbacks = { on_durable, on_fetched, lane };
	struct rm_spool_options spool = {
		.max_bytes = bytes,
		.identity = options->incarnation,
	};
	char folder[MAX_PATH];
	int n, r;

	if (options->folder != NULL) {
		n = snprintf(folder, sizeof(folder), "%s/%s", options->folder, name);
		if (n < 0 || n >= MAX_PATH)
			return -ENAMETOOLONG;
		spool.folder = folder;
	}
	r = rm_spool_new(loop, worker, &spool, &callbacks, &lane->spool, error);
	if (r == 0)
		/* Messages found at the start are on disk. */
		lane->durable = rm_spool_next(lane->spool) - 1;
	return r;
}

int
report_spool_new(struct rm_loop *loop, struct rm_worker *worker,
    const struct report_spool_options *options, struct report_spool **ret,
    struct rm_error *error)
{
	struct report_spool *reports = calloc(1, sizeof(*reports));
	int r;

	if (reports == NULL)
		return -ENOMEM;
	snprintf(reports->aggregator, sizeof(reports->aggregator), "%s",
	    options->aggregator);
	snprintf(reports->region, sizeof(reports->region), "%s", options->region);
	reports->summary.reports = reports->incident.reports = reports;
	reports->writer = wire_writer_new();
	r = reports->writer == NULL ? -ENOMEM : 0;
	if (r == 0 && !options->off)
		r = lane_open(loop, worker, options, "summaries",
		    options->summary_bytes, &reports->summary, error);
	if (r == 0 && !options->off)
		r = lane_open(loop, worker, options, "incidents",
		    options->incident_bytes, &reports->incident, error);
	if (r < 0) {
		report_spool_free(reports);
		return r;
	}
	report_spool_held(reports, WIRE_LANE_SUMMARY);
	report_spool_held(reports, WIRE_LANE_INCIDENT);
	*ret = reports;
	return 0;
}

void
report_spool_free(struct report_spool *reports)
{
	if (reports == NULL)
		return;
	rm_spool_free(reports->summary.spool);
	rm_spool_free(reports->incident.spool);
	wire_writer_free(reports->writer);
	free(reports);
}

void
report_spool_listen(
    struct report_spool *reports, void (*on_ready)(void *arg), void *arg)
{
	reports->on_ready = on_ready;
	reports->arg = arg;
}

static struct lane *
lane_of(struct report_spool *reports, enum wire_lane lane)
{
	return lane == WIRE_LANE_INCIDENT ? &reports->incident : &reports->summary;
}

static struct wire_lane_head
head_of(const struct report_spool *reports, const struct lane *lane)
{
	return (struct wire_lane_head){
		.aggregator = reports->aggregator,
		.region = reports->region,
		.incarnation = lane->spool == NULL ? 0 : rm_spool_identity(lane->spool),
		.seq =
		    lane->spool == NULL ? lane->made + 1 : rm_spool_next(lane->spool),
	};
}

static void
lane_count(struct lane *lane)
{
	const struct rm_spool_counts *counts;

	lane->counts.in = lane->made;
	if (lane->spool == NULL)
		return;
	counts = rm_spool_counts(lane->spool);
	lane->counts.in += counts->found;
	lane->counts.delivered = counts->done;
	lane->counts.dropped_full = counts->dropped_full;
}

/* r: the result of encoding the message; < 0: it is counted as dropped. */
static void
lane_push(struct lane *lane, int r, const struct wire_bytes *bytes)
{
	lane->made++;
	if (r == 0)
		lane->counts.bytes += bytes->len;
	if (r == 0 && lane->spool != NULL)
		r = rm_spool_append(lane->spool, bytes->data, bytes->len, NULL);
	if (r < 0)
		lane->counts.dropped_write++;
	else if (lane->spool == NULL)
		lane->counts.dropped_off++;
	lane_count(lane);
}

void
report_spool_summary(struct report_spool *reports, const struct wire_summary *summary)
{
	struct wire_summary full = *summary;
	struct wire_bytes bytes = { 0 };
	int r;

	full.head = head_of(reports, &reports->summary);
	r = wire_write_summary(reports->writer, &full, &bytes);
	lane_push(&reports->summary, r, &bytes);
}

/* The evidence as JSON. Samples are removed one by one until the text fits into a
 * message. NULL: out of memory. */
static char *
evidence_text(const struct rm_verdict *verdict)
{
	struct rm_verdict *shorter = malloc(sizeof(*shorter));
	char *text = NULL;

	if (shorter == NULL)
		return NULL;
	*shorter = *verdict;
	for (;;) {
		json_t *json = rm_verdict_json(shorter);

		if (json != NULL)
			text = json_dumps(json, JSON_COMPACT);
		json_decref(json);
		if (text == NULL || strlen(text) < WIRE_MAX_STRING ||
		    shorter->evidence.sample_count == 0)
			break;
		free(text);
		text = NULL;
		shorter->evidence.sample_count--;
	}
	free(shorter);
	return text;
}

void
report_spool_incident(struct report_spool *reports, const char *tor,
    enum wire_incident_state state, const struct rm_incident *incident)
{
	char sentence[RM_SENTENCE_BYTES];
	struct wire_incident out = incident_message(tor, state, incident, sentence);
	char *evidence = evidence_text(&incident->verdict);
	struct wire_bytes bytes = { 0 };
	int r;

	out.head = head_of(reports, &reports->incident);
	out.evidence_json = evidence == NULL ? "{}" : evidence;
	r = wire_write_incident(reports->writer, &out, &bytes);
	lane_push(&reports->incident, r, &bytes);
	free(evidence);
}

int
report_spool_take(struct report_spool *reports, enum wire_lane name, uint64_t seq,
    struct rm_spool_item *ret)
{
	struct lane *lane = lane_of(reports, name);
	struct rm_spool_item item;
	int r;

	if (lane->spool == NULL || seq > lane->durable)
		return -ENOENT;
	r = rm_spool_get(lane->spool, seq, &item);
	if (r < 0)
		return r;
	/* Do not send a message that is not on disk: after a crash another message
	 * would get its number. */
	if (item.seq > lane->durable)
		return -ENOENT;
	*ret = item;
	return 0;
}

uint64_t
report_spool_acked(struct report_spool *reports, enum wire_lane name, uint64_t seq)
{
	struct lane *lane = lane_of(reports, name);

	if (lane->spool == NULL)
		return 0;
	if (seq > lane->durable)
		seq = lane->durable;
	rm_spool_done(lane->spool, seq);
	lane_count(lane);
	return seq;
}

uint64_t
report_spool_incarnation(const struct report_spool *reports, enum wire_lane name)
{
	const struct lane *lane =
	    name == WIRE_LANE_INCIDENT ? &reports->incident : &reports->summary;

	return lane->spool == NULL ? 0 : rm_spool_identity(lane->spool);
}

uint64_t
report_spool_held(struct report_spool *reports, enum wire_lane name)
{
	struct lane *lane = lane_of(reports, name);

	lane_count(lane);
	return lane->spool == NULL ? 0 : rm_spool_waiting(lane->spool);
}

const struct report_spool_counts *
report_spool_counts(const struct report_spool *reports, enum wire_lane lane)
{
	return lane == WIRE_LANE_INCIDENT ? &reports->incident.counts
					  : &reports->summary.counts;
}

const struct rm_spool_counts *
report_spool_lane_counts(const struct report_spool *reports, enum wire_lane name)
{
	const struct lane *lane =
	    name == WIRE_LANE_INCIDENT ? &reports->incident : &reports->summary;

	return lane->spool == NULL ? NULL : rm_spool_counts(lane->spool);
}
