#include "tor-aggregator/history_points.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "rackmesh/base/line_protocol.h"
#include "rackmesh/base/sketch.h"
#include "rackmesh/fabric/part.h"
#include "schemas/wire_text.h"

#define POINTS_MAX_BYTES (64u << 20)

struct points {
	char *text;
	size_t capacity, len;
	uint64_t count;
	struct rm_sketch *sketch; /* to read quantiles out of bytes */
};

/* Room for one more point: growing doubles, so that it is rare. */
static int
points_room(struct points *points, struct rm_line *line)
{
	if (points->capacity - points->len < HISTORY_POINT_BYTES) {
		size_t capacity = points->capacity == 0 ? 4 * HISTORY_POINT_BYTES
							: 2 * points->capacity;
		char *text;

		if (capacity > POINTS_MAX_BYTES)
			return -EMSGSIZE;
		text = realloc(points->text, capacity);
		if (text == NULL)
			return -ENOMEM;
		points->text = text;
		points->capacity = capacity;
	}
	rm_line_init(line, points->text + points->len, points->capacity - points->len);
	return 0;
}

static int
points_end(struct points *points, struct rm_line *line, uint64_t when_ns)
{
	int r = rm_line_end(line, (rm_wall_t){ (int64_t)when_ns });

	if (r < 0)
		return r;
	points->len += line->len;
	points->count++;
	return 0;
}

static void
line_outcomes(struct rm_line *line, uint64_t sent, const uint64_t *outcomes)
{
	rm_line_int(line, "sent", (int64_t)sent);
	for (int o = 0; o < WIRE_OUTCOMES; o++)
		rm_line_int(line, wire_outcome_word((unsigned)o), (int64_t)outcomes[o]);
}

static void
line_head(struct rm_line *line, const struct wire_lane_head *head)
{
	rm_line_tag(line, "region", head->region);
	rm_line_tag(line, "aggregator", head->aggregator);
}

static void
line_sketch(struct rm_line *line, struct rm_sketch *sketch, const char *name,
    const struct wire_bytes *bytes)
{
	static const struct {
		const char *suffix;
		double rank;
	} ranks[] = { { "p50_ns", 0.50 }, { "p95_ns", 0.95 }, { "p99_ns", 0.99 } };
	char field[64];

	if (rm_sketch_decode(sketch, bytes->data, bytes->len) < 0 ||
	    rm_sketch_count(sketch) == 0)
		return;
	for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++) {
		snprintf(field, sizeof(field), "%s_%s", name, ranks[i].suffix);
		rm_line_int(
		    line, field, (int64_t)rm_sketch_quantile_ns(sketch, ranks[i].rank));
	}
	snprintf(field, sizeof(field), "%s_max_ns", name);
	rm_line_int(line, field, (int64_t)rm_sketch_max_ns(sketch));
}

static int
row_point(struct points *points, const struct wire_summary *summary,
    const struct wire_row *row)
{
	struct rm_line line;
	char dscp[8];
	int r;

	r = points_room(points, &line);
	if (r < 0)
		return r;
	snprintf(dscp, sizeof(dscp), "%u", row->dscp);
	rm_line_begin(&line, "rm_path");
	line_head(&line, &summary->head);
	rm_line_tag(&line, "src_tor", row->src_tor);
	rm_line_tag(&line, "dst_tor", row->dst_tor);
	rm_line_tag(&line, "dscp", dscp);
	line_outcomes(&line, row->sent, row->outcomes);
	rm_line_int(&line, "lost_forward", (int64_t)row->lost_forward);
	rm_line_int(&line, "lost_reverse", (int64_t)row->lost_reverse);
	rm_line_int(&line, "lost_unknown", (int64_t)row->lost_unknown);
	rm_line_int(&line, "bad", row->bad);
	rm_line_string(&line, "flow_set", row->flow_set);
	line_sketch(&line, points->sketch, "rtt", &row->rtt);
	line_sketch(&line, points->sketch, "prober_delay", &row->prober_delay);
	line_sketch(&line, points->sketch, "responder_delay", &row->responder_delay);
	return points_end(points, &line, summary->end_wall_ns);
}

static void
line_quantiles(struct rm_line *line, const char *name, const uint32_t *values)
{
	static const char *const suffixes[WIRE_QUANTILES] = {
		[WIRE_P50] = "p50_ns",
		[WIRE_P95] = "p95_ns",
		[WIRE_P99] = "p99_ns",
		[WIRE_MAX] = "max_ns",
	};
	char field[64];

	for (int q = 0; q < WIRE_QUANTILES; q++) {
		snprintf(field, sizeof(field), "%s_%s", name, suffixes[q]);
		rm_line_int(line, field, values[q]);
	}
}

static int
rnic_point(struct points *points, const struct wire_summary *summary,
    const struct wire_rnic_row *row)
{
	char id[RM_RNIC_ID_TEXT];
	struct rm_line line;
	int r;

	r = points_room(points, &line);
	if (r < 0)
		return r;
	rm_rnic_id_format((struct rm_rnic_id){ row->id.guid, row->id.port }, id);
	rm_line_begin(&line, "rm_rnic");
	line_head(&line, &summary->head);
	rm_line_tag(&line, "tor", summary->tor);
	rm_line_tag(&line, "host", row->host);
	rm_line_tag(&line, "device", row->device);
	rm_line_tag(&line, "rnic", id);
	line_outcomes(&line, row->sent, row->outcomes);
	rm_line_int(&line, "bad", row->bad);
	if (row->outcomes[WIRE_OK] > 0) {
		line_quantiles(&line, "rtt", row->rtt_ns);
		line_quantiles(&line, "prober_delay", row->prober_delay_ns);
		line_quantiles(&line, "responder_delay", row->responder_delay_ns);
	}
	return points_end(points, &line, summary->end_wall_ns);
}

static int
rack_point(struct points *points, const struct wire_summary *summary)
{
	struct rm_line line;
	int r;

	r = points_room(points, &line);
	if (r < 0)
		return r;
	rm_line_begin(&line, "rm_rack");
	line_head(&line, &summary->head);
	rm_line_tag(&line, "tor", summary->tor);
	rm_line_int(&line, "start_ns", (int64_t)summary->start_wall_ns);
	rm_line_int(&line, "partial", summary->partial);
	rm_line_int(&line, "taken", (int64_t)summary->taken);
	rm_line_int(&line, "windowed", (int64_t)summary->windowed);
	rm_line_int(&line, "late", (int64_t)summary->late);
	rm_line_int(&line, "invalid", (int64_t)summary->invalid);
	rm_line_int(&line, "duplicate", (int64_t)summary->duplicate);
	rm_line_int(&line, "agent_dropped", (int64_t)summary->agent_dropped);
	return points_end(points, &line, summary->end_wall_ns);
}

static int
summary_points(struct points *points, const uint8_t *data, size_t len)
{
	struct wire_summary_view view;
	int r;

	r = wire_open_summary(&view, data, len);
	if (r == 0)
		r = rack_point(points, &view.summary);
	for (size_t i = 0; r == 0 && i < view.summary.row_count; i++) {
		struct wire_row row;

		wire_summary_row(&view, i, &row);
		r = row_point(points, &view.summary, &row);
	}
	for (size_t i = 0; r == 0 && i < view.summary.rnic_count; i++) {
		struct wire_rnic_row row;

		wire_summary_rnic(&view, i, &row);
		r = rnic_point(points, &view.summary, &row);
	}
	return r;
}

static int
incident_points(struct points *points, const uint8_t *data, size_t len)
{
	static const char *const states[] = {
		[WIRE_OPENED] = "opened",
		[WIRE_UPDATED] = "updated",
		[WIRE_RESOLVED] = "resolved",
	};
	struct wire_incident incident;
	struct rm_line line;
	char id[24];
	int r;

	r = wire_open_incident(&incident, data, len);
	if (r == 0)
		r = points_room(points, &line);
	if (r < 0)
		return r;
	snprintf(id, sizeof(id), "%016llx", (unsigned long long)incident.incident_id);
	rm_line_begin(&line, "rm_incident");
	line_head(&line, &incident.head);
	rm_line_tag(&line, "tor", incident.tor);
	rm_line_tag(&line, "part_type", incident.part_type);
	rm_line_tag(&line, "part", incident.part);
	rm_line_tag(&line, "place", incident.place);
	rm_line_string(&line, "id", id);
	rm_line_string(&line, "state", states[incident.state]);
	rm_line_string(&line, "kind", incident.kind);
	rm_line_double(&line, "confidence", incident.confidence);
	rm_line_int(&line, "began_ns", (int64_t)incident.began_wall_ns);
	rm_line_int(&line, "opened_ns", (int64_t)incident.opened_wall_ns);
	rm_line_string(&line, "sentence", incident.sentence);
	rm_line_string(&line, "evidence", incident.evidence_json);
	return points_end(points, &line, incident.changed_wall_ns);
}

int
history_points(
    const uint8_t *data, size_t len, char **out, size_t *out_len, uint64_t *count)
{
	struct points points = { .sketch = rm_sketch_new() };
	int r = -EINVAL;

	if (points.sketch == NULL)
		return -ENOMEM;
	if (wire_kind_of(data, len) == WIRE_SUMMARY)
		r = summary_points(&points, data, len);
	else if (wire_kind_of(data, len) == WIRE_INCIDENT)
		r = incident_points(&points, data, len);
	rm_sketch_free(points.sketch);
	if (r < 0) {
		free(points.text);
		return r;
	}
	*out = points.text;
	*out_len = points.len;
	*count = points.count;
	return 0;
}
