#include "tor-aggregator/uplink.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "rackmesh/base/queue.h"
#include "rackmesh/fabric/incident.h"

#define MAX_QUEUED 65536 /* messages of one lane; bytes are the tighter bound */

struct lane {
	struct rm_queue *queue;
	uint64_t seq;       /* of the last that went in */
	size_t handed_over; /* of the queue's front: the sink has them */
	struct uplink_counts counts;
};

struct uplink {
	char aggregator[RM_NAME_BYTES], region[RM_NAME_BYTES];
	uint64_t incarnation;
	struct uplink_sink sink;
	struct wire_writer *writer;
	struct lane summary, incident;
};

int
uplink_new(const struct uplink_options *options, const struct uplink_sink *sink,
    struct uplink **ret)
{
	struct uplink *uplink = calloc(1, sizeof(*uplink));
	int r;

	if (uplink == NULL)
		return -ENOMEM;
	snprintf(
	    uplink->aggregator, sizeof(uplink->aggregator), "%s", options->aggregator);
	snprintf(uplink->region, sizeof(uplink->region), "%s", options->region);
	uplink->incarnation = options->incarnation;
	uplink->sink = *sink;
	uplink->writer = wire_writer_new();
	r = uplink->writer == NULL ? -ENOMEM : 0;
	if (r == 0)
		r = rm_queue_new(
		    MAX_QUEUED, options->summary_bytes, &uplink->summary.queue);
	if (r == 0)
		r = rm_queue_new(
		    MAX_QUEUED, options->incident_bytes, &uplink->incident.queue);
	if (r < 0) {
		uplink_free(uplink);
		return r;
	}
	*ret = uplink;
	return 0;
}

void
uplink_free(struct uplink *uplink)
{
	if (uplink == NULL)
		return;
	rm_queue_free(uplink->summary.queue);
	rm_queue_free(uplink->incident.queue);
	wire_writer_free(uplink->writer);
	free(uplink);
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
		.incarnation = uplink->incarnation,
		.seq = lane->seq + 1,
	};
}

/* r: what writing the message said. */
static void
lane_push(struct lane *lane, int r, const struct wire_bytes *bytes)
{
	size_t before = rm_queue_items(lane->queue), gone;

	lane->counts.in++;
	lane->seq++;
	if (r == 0) {
		uint64_t dropped = rm_queue_counts(lane->queue)->dropped_items;

		r = rm_queue_push(lane->queue, lane->seq, 1, bytes->data, bytes->len);
		dropped = rm_queue_counts(lane->queue)->dropped_items - dropped;
		if (r == 0) {
			lane->counts.bytes += bytes->len;
			lane->counts.dropped_full += dropped;
		}
	}
	if (r < 0)
		lane->counts.dropped_write++;
	/* What was pushed out at the front was handed over first. */
	gone = before + (r == 0) - rm_queue_items(lane->queue);
	lane->handed_over -= gone < lane->handed_over ? gone : lane->handed_over;
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
	uplink_pump(uplink);
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
	const struct rm_verdict *verdict = &incident->verdict;
	char sentence[RM_SENTENCE_BYTES];
	struct wire_bytes bytes = { 0 };
	struct wire_incident out = {
		.head = head_of(uplink, &uplink->incident),
		.incident_id = incident->id,
		.state = state,
		.tor = tor,
		.part_type = rm_part_type_word(verdict->part.type),
		.part = verdict->part.name,
		.place = verdict->part.place,
		.kind = rm_kind_word(verdict->kind),
		.confidence = verdict->confidence,
		.began_wall_ns = (uint64_t)verdict->evidence.window_start.ns,
		.opened_wall_ns = (uint64_t)incident->opened.ns,
		.changed_wall_ns = (uint64_t)incident->changed.ns,
		.sentence = sentence,
	};
	char *evidence = evidence_text(verdict);
	int r;

	rm_verdict_sentence(verdict, sentence, sizeof(sentence));
	if (state == WIRE_RESOLVED)
		out.changed_wall_ns = (uint64_t)incident->resolved.ns;
	out.evidence_json = evidence == NULL ? "{}" : evidence;
	r = wire_write_incident(uplink->writer, &out, &bytes);
	lane_push(&uplink->incident, r, &bytes);
	free(evidence);
	uplink_pump(uplink);
}

static void
lane_pump(struct uplink *uplink, enum wire_lane name)
{
	struct lane *lane = lane_of(uplink, name);
	struct rm_queue_item item;

	while (uplink->sink.send != NULL &&
	       rm_queue_peek(lane->queue, lane->handed_over, &item) == 0) {
		if (uplink->sink.send(
			uplink->sink.arg, name, item.seq, item.data, item.len) < 0)
			return;
		lane->handed_over++;
	}
}

void
uplink_pump(struct uplink *uplink)
{
	lane_pump(uplink, WIRE_LANE_INCIDENT);
	lane_pump(uplink, WIRE_LANE_SUMMARY);
}

void
uplink_acked(struct uplink *uplink, enum wire_lane name, uint64_t seq)
{
	struct lane *lane = lane_of(uplink, name);
	struct rm_queue_item item;

	while (rm_queue_peek(lane->queue, 0, &item) == 0 && item.seq <= seq) {
		rm_queue_pop(lane->queue);
		lane->counts.delivered++;
		if (lane->handed_over > 0)
			lane->handed_over--;
	}
	lane_pump(uplink, name);
}

void
uplink_failed(struct uplink *uplink, enum wire_lane name)
{
	lane_of(uplink, name)->handed_over = 0;
}

uint64_t
uplink_spooled(const struct uplink *uplink, enum wire_lane lane)
{
	return rm_queue_items(lane == WIRE_LANE_INCIDENT ? uplink->incident.queue
							 : uplink->summary.queue);
}

const struct uplink_counts *
uplink_counts(const struct uplink *uplink, enum wire_lane lane)
{
	return lane == WIRE_LANE_INCIDENT ? &uplink->incident.counts
					  : &uplink->summary.counts;
}
