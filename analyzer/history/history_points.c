#include "analyzer/history/history_points.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "analyzer/sla/sla.h"
#include "rackmesh/incident/incident.h"
#include "rackmesh/judge/links.h"
#include "rackmesh/judge/part.h"
#include "rackmesh/judge/severity.h"
#include "rackmesh/metrics/line_protocol.h"
#include "rackmesh/metrics/sketch.h"
#include "schemas/wire/text.h"

struct history_points {
	char *text;
	size_t capacity, len;
	uint64_t count, left_out, paths_left_out;
	struct rm_sketch *sketch; /* only reads quantiles out of encoded sketches */
};

/* ---- the buffer for points; it grows ---- */

struct history_points *
history_points_new(void)
{
	struct history_points *points = calloc(1, sizeof(*points));

	if (points == NULL)
		return NULL;
	points->sketch = rm_sketch_new();
	if (points->sketch == NULL) {
		free(points);
		return NULL;
	}
	return points;
}

void
history_points_free(struct history_points *points)
{
	if (points == NULL)
		return;
	rm_sketch_free(points->sketch);
	free(points->text);
	free(points);
}

/* Makes room for one more point. The buffer doubles, so this is rare. */
static int
history_text_begin(
    struct history_points *points, struct rm_line *line, const char *measurement)
{
	if (points->capacity - points->len < HISTORY_POINT_BYTES) {
		size_t capacity = points->capacity == 0 ? 2 * HISTORY_POINT_BYTES
							: 2 * points->capacity;
		char *text;

		if (capacity > HISTORY_TEXT_MAX_BYTES)
			return -EMSGSIZE;
		text = realloc(points->text, capacity);
		if (text == NULL)
			return -ENOMEM;
		points->text = text;
		points->capacity = capacity;
	}
	rm_line_init(line, points->text + points->len, points->capacity - points->len);
	rm_line_begin(line, measurement);
	return 0;
}

/* Values that no point can hold are left out and counted. */
static void
history_text_end(struct history_points *points, struct rm_line *line, uint64_t when_ns)
{
	if (rm_line_end(line, (rm_wall_t){ (int64_t)when_ns }) < 0) {
		points->left_out++;
		return;
	}
	points->len += line->len;
	points->count++;
}

static void
history_text_start(struct history_points *points)
{
	points->len = 0;
	points->count = 0;
	points->left_out = 0;
	points->paths_left_out = 0;
}

static int
history_text_finish(struct history_points *points, int r, struct history_text *ret)
{
	if (r == -EMSGSIZE || r == -EINVAL)
		r = -EBADMSG;
	if (r == 0 && points->count == 0)
		r = -EBADMSG;
	if (r < 0)
		return r;
	*ret = (struct history_text){ points->text, points->len, points->count,
		points->left_out, points->paths_left_out };
	return 0;
}

/* Writes the tags that several measurements have in common. */
static void
history_text_head(struct rm_line *line, const struct wire_lane_head *head)
{
	rm_line_tag(line, "region", head->region);
	rm_line_tag(line, "aggregator", head->aggregator);
}

static void
history_text_dscp(struct rm_line *line, uint8_t dscp)
{
	char text[8];

	snprintf(text, sizeof(text), "%u", dscp);
	rm_line_tag(line, "dscp", text);
}

static void
history_text_quantile(
    struct rm_line *line, const char *term, int quantile, uint64_t value_ns)
{
	static const char *const suffixes[WIRE_QUANTILES] = {
		[WIRE_P50] = "_p50_ns",
		[WIRE_P95] = "_p95_ns",
		[WIRE_P99] = "_p99_ns",
		[WIRE_MAX] = "_max_ns",
	};
	char field[64];

	stpcpy(stpcpy(field, term), suffixes[quantile]);
	rm_line_int(line, field, (int64_t)value_ns);
}

/* ---- points ---- */

/* ---- Incidents, of racks and our own, and SLA minutes as points ---- */

/* Writes the links, separated by ", ". Writes nothing if the evidence does not list all
 * of them: a reader would think that the others are not at fault. */
static void
line_links(struct rm_line *line, const json_t *evidence)
{
	const json_t *links = json_object_get(evidence, "links");
	const json_int_t down =
	    json_integer_value(json_object_get(evidence, "links_down"));
	const json_int_t lossy =
	    json_integer_value(json_object_get(evidence, "links_lossy"));
	json_int_t count;
	char text[RM_LINKS_BYTES * 2] = "";
	size_t len = 0;

	if (__builtin_add_overflow(down, lossy, &count) ||
	    (json_int_t)json_array_size(links) < count)
		return;
	for (size_t i = 0; i < json_array_size(links); i++) {
		const char *name = json_string_value(json_array_get(links, i));

		if (name == NULL || len + strlen(name) + sizeof(", ") > sizeof(text))
			return;
		len += (size_t)sprintf(text + len, "%s%s", len == 0 ? "" : ", ", name);
	}
	if (len > 0)
		rm_line_string(line, "links", text);
}

/* Writes the fields of the evidence, so that a query need not parse JSON. */
static void
line_evidence(struct rm_line *line, const char *evidence_json)
{
	static const char *const names[] = { "impact", "services" };
	json_t *verdict = json_loads(evidence_json, 0, NULL);
	const json_t *evidence = json_object_get(verdict, "evidence");

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *text =
		    json_string_value(json_object_get(evidence, names[i]));

		if (text != NULL)
			rm_line_string(line, names[i], text);
	}
	line_links(line, evidence);
	json_decref(verdict);
}

static int
history_text_incident(
    struct history_points *points, const struct wire_incident *incident)
{
	static const char *const states[] = {
		[WIRE_OPENED] = "opened",
		[WIRE_UPDATED] = "updated",
		[WIRE_RESOLVED] = "resolved",
	};
	struct rm_line line;
	char id[24];
	int r;

	r = history_text_begin(points, &line, "rm_incident");
	if (r < 0)
		return r;
	snprintf(id, sizeof(id), "%016llx", (unsigned long long)incident->incident_id);
	history_text_head(&line, &incident->head);
	rm_line_tag(&line, "tor", incident->tor);
	rm_line_tag(&line, "part_type", incident->part_type);
	rm_line_tag(&line, "part", incident->part);
	rm_line_tag(&line, "place", incident->place);
	rm_line_tag(&line, "state", states[incident->state]);
	rm_line_string(&line, "id", id);
	rm_line_string(&line, "kind", incident->kind);
	if (incident->severity != NULL && incident->severity[0] != '\0')
		rm_line_string(&line, "severity", incident->severity);
	line_evidence(&line, incident->evidence_json);
	rm_line_double(&line, "confidence", incident->confidence);
	rm_line_int(&line, "began_ns", (int64_t)incident->began_wall_ns);
	rm_line_int(&line, "opened_ns", (int64_t)incident->opened_wall_ns);
	rm_line_string(&line, "sentence", incident->sentence);
	rm_line_string(&line, "evidence", incident->evidence_json);
	history_text_end(points, &line, incident->changed_wall_ns);
	return 0;
}

int
history_points_incident(struct history_points *points, const char *analyzer,
    const char *region, enum wire_incident_state state,
    const struct rm_incident *incident, struct history_text *ret)
{
	const struct rm_verdict *verdict = &incident->verdict;
	char sentence[RM_SENTENCE_BYTES];
	json_t *json = rm_verdict_json(verdict);
	char *evidence = json == NULL ? NULL : json_dumps(json, JSON_COMPACT);
	const struct wire_incident view = {
		.head = { .aggregator = analyzer, .region = region },
		.incident_id = incident->id,
		.state = state,
		.tor = "",
		.part_type = rm_part_type_str(verdict->part.type),
		.part = verdict->part.name,
		.place = verdict->part.place,
		.kind = rm_kind_str(verdict->kind),
		.confidence = verdict->confidence,
		.began_wall_ns = (uint64_t)verdict->evidence.window_start.ns,
		.opened_wall_ns = (uint64_t)incident->opened.ns,
		.changed_wall_ns =
		    (uint64_t)(state == WIRE_RESOLVED ? incident->resolved.ns
						      : incident->changed.ns),
		.sentence = sentence,
		.evidence_json = evidence == NULL ? "{}" : evidence,
		.severity = rm_severity_str(incident->severity),
	};
	int r;

	rm_verdict_sentence(verdict, sentence, sizeof(sentence));
	history_text_start(points);
	r = history_text_finish(points, history_text_incident(points, &view), ret);
	free(evidence);
	json_decref(json);
	return r;
}

static void
line_sla(struct rm_line *line, const char *analyzer, const struct sla_minute *minute)
{
	rm_line_tag(line, "region", minute->region);
	rm_line_tag(line, "aggregator", analyzer);
	if (minute->service[0] != '\0')
		rm_line_tag(line, "service", minute->service);
	else
		rm_line_tag(line, "scope", minute->scope);
	history_text_dscp(line, minute->dscp);
}

int
history_points_sla(struct history_points *points, const char *analyzer,
    const struct sla_minute *minute, struct history_text *ret)
{
	struct rm_line line;
	int r;

	history_text_start(points);
	r = history_text_begin(
	    points, &line, minute->service[0] != '\0' ? "rm_sla_service" : "rm_sla");
	if (r < 0)
		return history_text_finish(points, r, ret);
	line_sla(&line, analyzer, minute);
	rm_line_int(&line, "sent", (int64_t)minute->sent);
	rm_line_int(&line, "lost", (int64_t)minute->lost);
	rm_line_int(&line, "invalid", (int64_t)minute->invalid);
	rm_line_int(&line, "not_sent", (int64_t)minute->not_sent);
	rm_line_int(&line, "racks_available", (int64_t)minute->racks_available);
	rm_line_int(&line, "racks_unavailable", (int64_t)minute->racks_unavailable);
	rm_line_int(&line, "racks_unknown", (int64_t)minute->racks_unknown);
	for (int q = 0; minute->rtt_ns[WIRE_MAX] > 0 && q < WIRE_QUANTILES; q++)
		history_text_quantile(&line, "rtt", q, minute->rtt_ns[q]);
	history_text_end(points, &line, (uint64_t)minute->start.ns);
	return history_text_finish(points, 0, ret);
}

int
history_points_sla_racks(struct history_points *points, const char *analyzer,
    const struct sla_minute *minute, struct history_text *ret)
{
	int r = 0;

	history_text_start(points);
	for (size_t i = 0; r == 0 && i < minute->rack_count; i++) {
		const struct sla_rack_minute *rack = &minute->racks[i];
		struct rm_line line;

		r = history_text_begin(points, &line, "rm_sla_rack");
		if (r < 0)
			break;
		line_sla(&line, analyzer, minute);
		rm_line_tag(&line, "tor", rack->tor);
		rm_line_int(&line, "sent", (int64_t)rack->sent);
		rm_line_int(&line, "lost", (int64_t)rack->lost);
		rm_line_int(&line, "available", rack->state == SLA_AVAILABLE);
		rm_line_int(&line, "unavailable", rack->state == SLA_UNAVAILABLE);
		rm_line_int(&line, "unknown", rack->state == SLA_UNKNOWN);
		history_text_end(points, &line, (uint64_t)minute->start.ns);
	}
	return history_text_finish(points, r, ret);
}

static const char *const terms[] = { "rtt", "prober_delay", "responder_delay" };

static void
line_outcomes(struct rm_line *line, uint64_t sent, const uint64_t *outcomes)
{
	rm_line_int(line, "sent", (int64_t)sent);
	for (int o = 0; o < WIRE_OUTCOMES; o++)
		rm_line_int(line, wire_outcome_str((unsigned)o), (int64_t)outcomes[o]);
}

static void
line_sketch(struct rm_line *line, struct rm_sketch *sketch, const char *term,
    const struct wire_bytes *bytes)
{
	static const double ranks[] = {
		[WIRE_P50] = 0.50, [WIRE_P95] = 0.95, [WIRE_P99] = 0.99
	};

	if (rm_sketch_decode(sketch, bytes->data, bytes->len) < 0 ||
	    rm_sketch_count(sketch) == 0)
		return;
	for (int q = WIRE_P50; q <= WIRE_P99; q++)
		history_text_quantile(
		    line, term, q, rm_sketch_quantile_ns(sketch, ranks[q]));
	history_text_quantile(line, term, WIRE_MAX, rm_sketch_max_ns(sketch));
}

/* Writes nothing for an unknown value. A value is unknown if an older aggregator does
 * not send it, or no agent reports it. */
static void
line_pair_marks(struct rm_line *line, const struct wire_row *row)
{
	if (row->arrived == 0)
		return;
	rm_line_int(line, "arrived", (int64_t)row->arrived);
	rm_line_int(line, "rewritten", (int64_t)row->rewritten);
	rm_line_int(line, "congested", (int64_t)row->congested);
	if (row->rewritten > 0)
		rm_line_int(line, "arrived_dscp", row->arrived_dscp);
}

static void
line_hops(struct rm_line *line, const struct wire_row *row)
{
	if (row->hops_known == 0)
		return;
	rm_line_int(line, "hops_known", (int64_t)row->hops_known);
	rm_line_int(line, "hops", (int64_t)row->hops);
	rm_line_int(line, "hops_least", row->hops_least);
	rm_line_int(line, "hops_most", row->hops_most);
}

static int
row_point(struct history_points *points, const struct wire_summary *summary,
    const struct wire_row *row)
{
	struct rm_line line;
	int r;

	r = history_text_begin(points, &line, "rm_tor_pair");
	if (r < 0)
		return r;
	history_text_head(&line, &summary->head);
	rm_line_tag(&line, "src_tor", row->src_tor);
	rm_line_tag(&line, "dst_tor", row->dst_tor);
	history_text_dscp(&line, row->dscp);
	line_outcomes(&line, row->sent, row->outcomes);
	rm_line_int(&line, "lost_forward", (int64_t)row->lost_forward);
	rm_line_int(&line, "lost_reverse", (int64_t)row->lost_reverse);
	rm_line_int(&line, "lost_unknown", (int64_t)row->lost_unknown);
	line_pair_marks(&line, row);
	line_hops(&line, row);
	rm_line_int(&line, "bad", row->bad);
	rm_line_string(&line, "flow_set", row->flow_set);
	line_sketch(&line, points->sketch, terms[0], &row->rtt);
	line_sketch(&line, points->sketch, terms[1], &row->prober_delay);
	line_sketch(&line, points->sketch, terms[2], &row->responder_delay);
	history_text_end(points, &line, summary->end_wall_ns);
	return 0;
}

/* As line_pair_marks. */
static void
line_path_marks(struct rm_line *line, const struct wire_path_row *row)
{
	if (row->arrived == 0)
		return;
	rm_line_int(line, "arrived", (int64_t)row->arrived);
	rm_line_int(line, "rewritten", (int64_t)row->rewritten);
	rm_line_int(line, "congested", (int64_t)row->congested);
	rm_line_int(line, "not_ect", (int64_t)row->not_ect);
}

/* Thousandths of the arrived probes whose marks were changed; at least 1 if any were.
 */
static unsigned
changed_permille(const struct wire_path_row *row)
{
	const uint64_t changed = row->rewritten + row->congested + row->not_ect;

	if (changed == 0)
		return 0;
	if (changed >= row->arrived)
		return 1000;
	return 1 + (unsigned)(998.0 * (double)changed / (double)row->arrived);
}

static bool
has_losses(const struct wire_path_row *row)
{
	return row->lost_forward + row->lost_reverse + row->lost_unknown > 0;
}

/* Which paths of a message without losses are stored: the HISTORY_MAX_MARKED_PATHS of
 * them with the largest share of changed marks. In a congested fabric all paths have
 * marks. */
struct marked_paths {
	unsigned least; /* all paths with a larger share than this, in thousandths */
	size_t room;    /* and so many with exactly this share */
};

static struct marked_paths
marked_paths(const struct wire_summary_view *view)
{
	struct marked_paths stored = { 1000, HISTORY_MAX_MARKED_PATHS };
	size_t paths[1001] = { 0 }; /* without losses, by share */

	for (size_t i = 0; i < view->summary.path_count; i++) {
		struct wire_path_row row;

		wire_summary_path(view, i, &row);
		paths[changed_permille(&row)] += !has_losses(&row);
	}
	while (stored.least > 1 && paths[stored.least] <= stored.room)
		stored.room -= paths[stored.least--];
	return stored;
}

/* Every path with losses is stored. A path without losses and without changed marks
 * would only cost room in the database. */
static bool
is_path_stored(struct history_points *points, struct marked_paths *stored,
    const struct wire_path_row *row)
{
	const unsigned share = changed_permille(row);

	if (has_losses(row))
		return true;
	if (share == 0)
		return false;
	if (share < stored->least || (share == stored->least && stored->room == 0)) {
		points->paths_left_out++;
		return false;
	}
	stored->room -= share == stored->least;
	return true;
}

/*
 * All paths between two racks are one series: a tag for the path would make too many
 * series. Each row of a message gets a time one nanosecond later, so that rows do not
 * replace each other.
 */
static int
route_point(struct history_points *points, const struct wire_summary *summary, size_t i,
    const struct wire_path_row *row)
{
	struct rm_line line;
	int r;

	r = history_text_begin(points, &line, "rm_path");
	if (r < 0)
		return r;
	history_text_head(&line, &summary->head);
	rm_line_tag(&line, "src_tor", summary->tor);
	rm_line_tag(&line, "dst_tor", row->dst_tor);
	history_text_dscp(&line, row->dscp);
	rm_line_int(&line, "start_ns", (int64_t)summary->paths_start_wall_ns);
	rm_line_int(&line, "sent", (int64_t)row->sent);
	rm_line_int(&line, "lost_forward", (int64_t)row->lost_forward);
	rm_line_int(&line, "lost_reverse", (int64_t)row->lost_reverse);
	rm_line_int(&line, "lost_unknown", (int64_t)row->lost_unknown);
	rm_line_int(&line, "flows", row->flows);
	rm_line_int(&line, "flows_dead", row->flows_dead);
	line_path_marks(&line, row);
	rm_line_string(&line, "path", row->path);
	rm_line_string(&line, "samples", row->samples);
	history_text_end(points, &line, summary->end_wall_ns + i);
	return 0;
}

static int
rnic_point(struct history_points *points, const struct wire_summary *summary,
    const struct wire_rnic_row *row)
{
	char id[RM_RNIC_ID_TEXT];
	struct rm_line line;
	int r;

	r = history_text_begin(points, &line, "rm_rnic");
	if (r < 0)
		return r;
	rm_rnic_id_format((struct rm_rnic_id){ row->id.guid, row->id.port }, id);
	history_text_head(&line, &summary->head);
	rm_line_tag(&line, "tor", summary->tor);
	rm_line_tag(&line, "host", row->host);
	rm_line_tag(&line, "device", row->device);
	rm_line_tag(&line, "rnic", id);
	line_outcomes(&line, row->sent, row->outcomes);
	rm_line_int(&line, "bad", row->bad);
	for (int q = 0; row->outcomes[WIRE_OK] > 0 && q < WIRE_QUANTILES; q++) {
		history_text_quantile(&line, terms[0], q, row->rtt_ns[q]);
		history_text_quantile(&line, terms[1], q, row->prober_delay_ns[q]);
		history_text_quantile(&line, terms[2], q, row->responder_delay_ns[q]);
	}
	history_text_end(points, &line, summary->end_wall_ns);
	return 0;
}

static int
rack_point(struct history_points *points, const struct wire_summary *summary)
{
	const struct wire_rack_state *state = &summary->state;
	struct rm_line line;
	int r;

	r = history_text_begin(points, &line, "rm_rack");
	if (r < 0)
		return r;
	history_text_head(&line, &summary->head);
	rm_line_tag(&line, "tor", summary->tor);
	rm_line_int(&line, "start_ns", (int64_t)summary->start_wall_ns);
	rm_line_int(&line, "partial", summary->partial);
	rm_line_int(&line, "taken", (int64_t)summary->taken);
	rm_line_int(&line, "windowed", (int64_t)summary->windowed);
	rm_line_int(&line, "late", (int64_t)summary->late);
	rm_line_int(&line, "invalid", (int64_t)summary->invalid);
	rm_line_int(&line, "duplicate", (int64_t)summary->duplicate);
	rm_line_int(&line, "agent_dropped", (int64_t)summary->agent_dropped);
	if (summary->has_state) {
		rm_line_int(&line, "rnics", state->rnics);
		rm_line_int(&line, "rnics_good", state->rnics_good);
		rm_line_int(&line, "rnics_bad", state->rnics_bad);
		rm_line_int(&line, "hosts", state->hosts);
		rm_line_int(&line, "hosts_ok", state->hosts_ok);
		rm_line_int(&line, "incidents_open", state->incidents_open);
		rm_line_int(&line, "plan_version", (int64_t)state->plan_version);
		rm_line_int(&line, "brake_permille", state->brake_permille);
		rm_line_int(&line, "hosts_slowed", state->hosts_slowed);
	}
	history_text_end(points, &line, summary->end_wall_ns);
	return 0;
}

static int
summary_points(struct history_points *points, const struct wire_summary_view *view)
{
	const struct wire_summary *summary = &view->summary;
	struct marked_paths stored = marked_paths(view);
	int r = rack_point(points, summary);

	for (size_t i = 0; r == 0 && i < summary->row_count; i++) {
		struct wire_row row;

		wire_summary_row(view, i, &row);
		r = row_point(points, summary, &row);
	}
	for (size_t i = 0; r == 0 && i < summary->rnic_count; i++) {
		struct wire_rnic_row row;

		wire_summary_rnic(view, i, &row);
		r = rnic_point(points, summary, &row);
	}
	for (size_t i = 0; r == 0 && i < summary->path_count; i++) {
		struct wire_path_row row;

		wire_summary_path(view, i, &row);
		if (is_path_stored(points, &stored, &row))
			r = route_point(points, summary, i, &row);
	}
	return r;
}

int
history_points_summary(struct history_points *points,
    const struct wire_summary_view *view, struct history_text *ret)
{
	history_text_start(points);
	return history_text_finish(points, summary_points(points, view), ret);
}

int
history_points_rack_incident(struct history_points *points,
    const struct wire_incident *incident, struct history_text *ret)
{
	history_text_start(points);
	return history_text_finish(
	    points, history_text_incident(points, incident), ret);
}
