#include "tor-aggregator/analyzer/uplink.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "rackmesh/incident/incident.h"
#include "tor-aggregator/standby/incident_message.h"

#define MAX_PATH 4096

struct lane {
	struct uplink *uplink;
	struct rm_spool *spool; /* NULL: off */
	uint64_t durable;       /* up to and with it all are */
	uint64_t made;
	struct uplink_counts counts;
};

struct uplink {
	char aggregator[RM_NAME_BYTES], region[RM_NAME_BYTES];
	struct wire_writer *writer;
	struct lane summary, incident;
	void (*on_ready)(void *arg);
	void *arg;
};

static void
ready(struct uplink *uplink)
{
	if (uplink->on_ready != NULL)
		uplink->on_ready(uplink->arg);
}

static void
on_durable(uint64_t seq, void *arg)
{
	struct lane *lane = arg;

	lane->durable = seq;
	ready(lane->uplink);
}

static void
on_fetched(void *arg)
{
	struct lane *lane = arg;

	ready(lane->uplink);
}

static int
lane_open(struct rm_loop *loop, struct rm_worker *worker,
    const struct uplink_options *options, const char *name, uint64_t bytes,
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
		lane->durable = rm_spool_next(lane->spool) - 1; /* what was found is */
	return r;
}

int
uplink_new(struct rm_loop *loop, struct rm_worker *worker,
    const struct uplink_options *options, struct uplink **ret, struct rm_error *error)
{
	struct uplink *uplink = calloc(1, sizeof(*uplink));
	int r;

	if (uplink == NULL)
		return -ENOMEM;
	snprintf(
	    uplink->aggregator, sizeof(uplink->aggregator), "%s", options->aggregator);
	snprintf(uplink->region, sizeof(uplink->region), "%s", options->region);
	uplink->summary.uplink = uplink->incident.uplink = uplink;
	uplink->writer = wire_writer_new();
	r = uplink->writer == NULL ? -ENOMEM : 0;
	if (r == 0 && !options->off)
		r = lane_open(loop, worker, options, "summaries",
		    options->summary_bytes, &uplink->summary, error);
	if (r == 0 && !options->off)
		r = lane_open(loop, worker, options, "incidents",
		    options->incident_bytes, &uplink->incident, error);
	if (r < 0) {
		uplink_free(uplink);
		return r;
	}
	uplink_spooled(uplink, WIRE_LANE_SUMMARY);
	uplink_spooled(uplink, WIRE_LANE_INCIDENT);
	*ret = uplink;
	return 0;
}

void
uplink_free(struct uplink *uplink)
{
	if (uplink == NULL)
		return;
	rm_spool_free(uplink->summary.spool);
	rm_spool_free(uplink->incident.spool);
	wire_writer_free(uplink->writer);
	free(uplink);
}

void
uplink_listen(struct uplink *uplink, void (*on_ready)(void *arg), void *arg)
{
	uplink->on_ready = on_ready;
	uplink->arg = arg;
}

static struct lane *
lane_of(struct uplink *uplink, enum wire_lane lane)
{
	return lane == WIRE_LANE_INCIDENT ? &uplink->incident : &uplink->summary;
}

static struct wire_lane_head
head_of(const struct uplink *uplink, const struct lane *lane)
{
	return (struct wire_lane_head){
		.aggregator = uplink->aggregator,
		.region = uplink->region,
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

/* r: what writing the message said. */
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
uplink_summary(struct uplink *uplink, const struct wire_summary *summary)
{
	struct wire_summary full = *summary;
	struct wire_bytes bytes = { 0 };
	int r;

	full.head = head_of(uplink, &uplink->summary);
	r = wire_write_summary(uplink->writer, &full, &bytes);
	lane_push(&uplink->summary, r, &bytes);
}

/* Samples go one by one until the text fits into a message. NULL: out of memory. */
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
uplink_incident(struct uplink *uplink, const char *tor, enum wire_incident_state state,
    const struct rm_incident *incident)
{
	char sentence[RM_SENTENCE_BYTES];
	struct wire_incident out = incident_message(tor, state, incident, sentence);
	char *evidence = evidence_text(&incident->verdict);
	struct wire_bytes bytes = { 0 };
	int r;

	out.head = head_of(uplink, &uplink->incident);
	out.evidence_json = evidence == NULL ? "{}" : evidence;
	r = wire_write_incident(uplink->writer, &out, &bytes);
	lane_push(&uplink->incident, r, &bytes);
	free(evidence);
}

int
uplink_take(
    struct uplink *uplink, enum wire_lane name, uint64_t seq, struct rm_spool_item *ret)
{
	struct lane *lane = lane_of(uplink, name);
	struct rm_spool_item item;
	int r;

	if (lane->spool == NULL || seq > lane->durable)
		return -ENOENT;
	r = rm_spool_get(lane->spool, seq, &item);
	if (r < 0)
		return r;
	/* Its number would be another's, should we crash now. */
	if (item.seq > lane->durable)
		return -ENOENT;
	*ret = item;
	return 0;
}

uint64_t
uplink_acked(struct uplink *uplink, enum wire_lane name, uint64_t seq)
{
	struct lane *lane = lane_of(uplink, name);

	if (lane->spool == NULL)
		return 0;
	if (seq > lane->durable)
		seq = lane->durable;
	rm_spool_done(lane->spool, seq);
	lane_count(lane);
	return seq;
}

uint64_t
uplink_incarnation(const struct uplink *uplink, enum wire_lane name)
{
	const struct lane *lane =
	    name == WIRE_LANE_INCIDENT ? &uplink->incident : &uplink->summary;

	return lane->spool == NULL ? 0 : rm_spool_identity(lane->spool);
}

uint64_t
uplink_spooled(struct uplink *uplink, enum wire_lane name)
{
	struct lane *lane = lane_of(uplink, name);

	lane_count(lane);
	return lane->spool == NULL ? 0 : rm_spool_waiting(lane->spool);
}

const struct uplink_counts *
uplink_counts(const struct uplink *uplink, enum wire_lane lane)
{
	return lane == WIRE_LANE_INCIDENT ? &uplink->incident.counts
					  : &uplink->summary.counts;
}

const struct rm_spool_counts *
uplink_spool_counts(const struct uplink *uplink, enum wire_lane name)
{
	const struct lane *lane =
	    name == WIRE_LANE_INCIDENT ? &uplink->incident : &uplink->summary;

	return lane->spool == NULL ? NULL : rm_spool_counts(lane->spool);
}
