#include "tor-aggregator/paths/path_rows.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/judge/part.h"
#include "schemas/wire.h"
#include "tor-aggregator/paths/flow_counts.h"
#include "tor-aggregator/paths/inside_rows.h"
#include "tor-aggregator/paths/loss_directions.h"
#include "tor-aggregator/paths/lossy_ends.h"
#include "tor-aggregator/paths/path_ends.h"
#include "tor-aggregator/paths/path_table.h"
#include "tor-aggregator/paths/stopped_ends.h"
#include "tor-aggregator/window/roster.h"
#include "tor-aggregator/window/window_pair.h"
#include "tor-aggregator/window/window_release.h"

struct flow_counts;
struct path_build;
struct path_table;
struct roster;
struct wire_path_row;

#define SAMPLES 8
#define SAMPLE_BYTES (4 * RM_NAME_BYTES + 16) /* "h1/r0>h9/r0:49153 " */
/* Rows with samples in one message; further rows have no samples. */
#define SAMPLED_ROWS 256
/* an RNIC may be dead after this many probes without an answer */
#define DEAD_SENT 2
/* Releases (see window_release) in one second with which the releases of other paths
 * are compared. */
#define MAX_RELEASES 16
/* Replies that arrive within this time of a release belong to it. */
#define RELEASE_CLOSE_NS (50 * RM_NS_PER_MS)

struct path_build {
	size_t max_rows;
	/* Keys (path, ToR, class) in the form of flows: source 0, the path as
	 * destination, the ToR as port. */
	struct flow_counts keys;
	struct wire_path_row *rows; /* rows[i] has the key keys.flows[i] */
	struct row_samples {
		unsigned named; /* number of flows in the samples */
		char *text;     /* NULL: not written yet */
	} * row_samples;
	struct window_release *releases; /* releases[i] belongs to rows[i] */
	char (*texts)[SAMPLES * SAMPLE_BYTES];
	size_t text_count;
};

static void path_build_free(struct path_build *build);
static void place(struct path_rows *rows, const struct path_rows_second *in,
    struct flow_second *second);

static int
path_build_new(size_t max_rows, struct path_build **ret)
{
	struct path_build *build = calloc(1, sizeof(*build));

	if (build == NULL)
		return -ENOMEM;
	build->max_rows = max_rows;
	flow_counts_init(&build->keys, max_rows);
	build->rows = calloc(max_rows, sizeof(*build->rows));
	build->row_samples = calloc(max_rows, sizeof(*build->row_samples));
	build->releases = calloc(max_rows, sizeof(*build->releases));
	build->texts = calloc(SAMPLED_ROWS, sizeof(*build->texts));
	if (build->rows == NULL || build->row_samples == NULL ||
	    build->releases == NULL || build->texts == NULL) {
		path_build_free(build);
		return -ENOMEM;
	}
	*ret = build;
	return 0;
}

static void
path_build_free(struct path_build *build)
{
	if (build == NULL)
		return;
	flow_counts_release(&build->keys);
	free(build->rows);
	free(build->row_samples);
	free(build->releases);
	free(build->texts);
	free(build);
}

/* Returns NULL if there are too many rows, or memory has run out. */
static struct wire_path_row *
row_of(struct path_build *build, const struct flow_count *flow,
    const struct roster *roster, const struct path_table *paths)
{
	const size_t before = build->keys.count;
	const struct flow_count *key =
	    flow_counts_get(&build->keys, 0, flow->path, flow->dst_tor, flow->dscp);
	size_t at;

	if (key == NULL)
		return NULL;
	at = (size_t)(key - build->keys.flows);
	if (at < before)
		return &build->rows[at];
	build->row_samples[at] = (struct row_samples){ 0 };
	build->releases[at] = (struct window_release){ 0 };
	build->rows[at] = (struct wire_path_row){
		.dst_tor = roster_tor_name(roster, flow->dst_tor),
		.path = path_table_text(paths, flow->path),
		.dscp = flow->dscp,
		.samples = "",
	};
	return &build->rows[at];
}

static void
sample(struct path_build *build, struct wire_path_row *row,
    const struct flow_count *flow, const struct roster *roster)
{
	const struct roster_rnic *src = roster_at(roster, flow->src);
	const struct roster_rnic *dst = roster_at(roster, flow->dst);
	struct row_samples *samples = &build->row_samples[row - build->rows];
	size_t len;

	if (samples->named == SAMPLES || src == NULL || dst == NULL)
		return;
	if (samples->text == NULL) {
		if (build->text_count == SAMPLED_ROWS)
			return;
		samples->text = build->texts[build->text_count++];
		samples->text[0] = 0;
		row->samples = samples->text;
	}
	len = strlen(samples->text);
	snprintf(samples->text + len, sizeof(build->texts[0]) - len, "%s%s/%s>%s/%s:%u",
	    len > 0 ? " " : "", src->host, src->device, dst->host, dst->device,
	    flow->src_port);
	samples->named++;
}

/* The smaller of two sizes in bytes; 0: there is no size. */
static uint16_t
smaller(uint16_t a, uint16_t b)
{
	return a == 0 || (b != 0 && b < a) ? b : a;
}

static bool
arrived_with(
    const struct window_release *release, const struct window_release *release_of_other)
{
	return release->first_arrival >=
		   release_of_other->first_arrival - RELEASE_CLOSE_NS &&
	       release->last_arrival <=
		   release_of_other->last_arrival + RELEASE_CLOSE_NS;
}

/* True: the slow replies arrived together with the released replies of another path. A
 * path with few probes may have a single slow reply, which alone is not a release. */
static bool
is_of_release(const struct window_release *release, const struct window_release *found,
    size_t count)
{
	for (size_t i = 0; release->first_arrival != 0 && i < count; i++)
		if (arrived_with(release, &found[i]))
			return true;
	return false;
}

/* False: the replies arrived over a longer time, so that slow replies of other paths
 * may arrive in this time by chance. */
static bool
is_short(const struct window_release *release)
{
	return release->last_arrival - release->first_arrival <= 2 * RELEASE_CLOSE_NS;
}

static void
leave_out_slow(struct wire_path_row *row)
{
	row->timed -= row->slow;
	row->slow = row->overdue = row->slow_ns = 0;
}

/* Removes from the rows slow replies that were released from a queue when an outage
 * ended: they are no evidence for a late part. */
static void
leave_out_released(struct path_build *build)
{
	struct window_release found[MAX_RELEASES];
	size_t count = 0;

	for (size_t i = 0; i < build->keys.count && count < MAX_RELEASES; i++) {
		const struct window_release *release = &build->releases[i];

		if (window_is_release(release) && is_short(release) &&
		    !is_of_release(release, found, count))
			found[count++] = *release;
	}
	for (size_t i = 0; i < build->keys.count; i++) {
		const struct window_release *release = &build->releases[i];

		if (window_is_release(release) || is_of_release(release, found, count))
			leave_out_slow(&build->rows[i]);
	}
}

/* Names slow flows in the rows without losses. In other rows only lost flows are
 * samples, because they show which RNICs have the losses. */
static void
sample_slow(struct path_build *build, const struct flow_counts *flows,
    const struct roster *roster, const struct path_table *paths)
{
	for (size_t i = 0; i < flows->count; i++) {
		const struct flow_count *flow = &flows->flows[i];
		struct wire_path_row *row;

		if (flow->lost > 0 || flow->slow + flow->overdue == 0)
			continue;
		row = row_of(build, flow, roster, paths);
		if (row != NULL &&
		    row->lost_forward + row->lost_reverse + row->lost_unknown == 0)
			sample(build, row, flow, roster);
	}
}

/* Sums up flows by path. *rows is valid until the next call. The number of flows for
 * which there was no row is added to *refused. */
static size_t
path_build_rows(struct path_build *build, const struct flow_counts *flows,
    const struct roster *roster, const struct path_table *paths,
    const struct wire_path_row **rows, uint64_t *refused)
{
	flow_counts_clear(&build->keys);
	build->text_count = 0;
	for (size_t i = 0; i < flows->count; i++) {
		const struct flow_count *flow = &flows->flows[i];
		struct wire_path_row *row = row_of(build, flow, roster, paths);

		if (row == NULL) {
			(*refused)++;
			continue;
		}
		row->sent += flow->sent;
		row->lost_forward += flow->by_direction[LOST_FORWARD];
		row->lost_reverse += flow->by_direction[LOST_REVERSE];
		row->lost_unknown += flow->by_direction[LOST_UNKNOWN];
		row->timed += flow->timed;
		row->slow += flow->slow;
		row->overdue += flow->overdue;
		row->slow_ns += flow->slow_ns;
		window_release_join(
		    &build->releases[row - build->rows], &flow->release);
		row->large_sent += flow->large_sent;
		row->large_lost += flow->large_lost;
		row->large_bytes = smaller(row->large_bytes, flow->large_bytes);
		row->arrived += flow->arrived;
		row->rewritten += flow->rewritten;
		row->congested += flow->congested;
		row->not_ect += flow->not_ect;
		row->flows++;
		row->flows_dead += flow->sent >= DEAD_SENT && flow->lost == flow->sent;
		row->flows_partial += flow->lost > 0 && flow->lost < flow->sent;
		row->flows_silent += flow->lost > 0 && flow->lost == flow->sent;
		if (flow->lost > 0)
			sample(build, row, flow, roster);
	}
	sample_slow(build, flows, roster, paths);
	leave_out_released(build);
	*rows = build->rows;
	return build->keys.count;
}

#define MAX_SECONDS 1024 /* largest size of the ring, whatever the options are */
#define MAX_PAIRS 131072

struct path_rows {
	struct path_rows_options options;
	/* a ring: second s has the index s modulo ring; NULL: empty */
	struct flow_second **seconds;
	/* the second that was closed last, whose memory is reused */
	struct flow_second *spare;
	int64_t ring;
	int64_t next; /* number of the second that closes next */
	/* number and start of the second of the last result, to save a division */
	int64_t current, current_start_ns;
	struct flow_counts
	    span; /* sums over the closed seconds whose rows were not sent yet */
	rm_mono_t span_start;
	bool lossy; /* packets were lost, or slow, in the newest second */
	struct loss_directions *directions;
	struct path_ends *ends;
	struct lossy_ends *lossy_ends;
	struct stopped_ends *stopped_ends;
	struct inside_rows *inside;
	struct path_build *build;
	struct path_rows_counts counts;
};

static int64_t
second_of(int64_t ns)
{
	return ns >= 0 ? ns / PATH_ROWS_SECOND_NS
		       : -((PATH_ROWS_SECOND_NS - 1 - ns) / PATH_ROWS_SECOND_NS);
}

static struct flow_second **
second_at(const struct path_rows *rows, int64_t second)
{
	const int64_t at = second % rows->ring;

	return &rows->seconds[at < 0 ? at + rows->ring : at];
}

static void
second_free(struct flow_second *second)
{
	if (second == NULL)
		return;
	flow_second_release(second);
	free(second);
}

/* Returns NULL if memory has run out. */
static struct flow_second *
second_open(struct path_rows *rows, struct flow_second **place)
{
	struct flow_second *second = rows->spare;

	if (second == NULL) {
		second = calloc(1, sizeof(*second));
		if (second != NULL) {
			flow_counts_init(&second->flows, rows->options.max_flows);
			flow_counts_init(&second->inside, rows->options.max_flows);
		}
	}
	rows->spare = NULL;
	*place = second;
	return second;
}

static void
second_close(struct path_rows *rows, struct flow_second **place)
{
	struct flow_second *second = *place;

	*place = NULL;
	if (second == NULL)
		return;
	second_free(rows->spare);
	flow_second_clear(second);
	rows->spare = second;
}

static uint64_t
sent_in(const struct flow_counts *flows)
{
	uint64_t sent = 0;

	for (size_t i = 0; i < flows->count; i++)
		sent += flows->flows[i].sent;
	return sent;
}

/* Drops a second: no row includes it. */
static void
second_forget(struct path_rows *rows, struct flow_second **place)
{
	if (*place != NULL)
		rows->counts.forgotten += sent_in(&(*place)->flows);
	second_close(rows, place);
}

int
path_rows_new(
    const struct path_rows_options *options, rm_mono_t now, struct path_rows **ret)
{
	struct path_rows *rows;
	int r = 0;

	if (options->open_seconds == 0 || options->open_seconds > MAX_SECONDS ||
	    options->max_flows > UINT32_MAX / 4)
		return -EINVAL;
	rows = calloc(1, sizeof(*rows));
	if (rows == NULL)
		return -ENOMEM;
	rows->options = *options;
	rows->ring = options->open_seconds;
	rows->seconds = calloc((size_t)rows->ring, sizeof(*rows->seconds));
	if (rows->seconds == NULL)
		r = -ENOMEM;
	flow_counts_init(&rows->span, 2 * options->max_flows);
	if (r == 0)
		r = loss_directions_new(MAX_PAIRS, &rows->directions);
	if (r == 0)
		r = path_ends_new(&rows->ends);
	if (r == 0)
		r = lossy_ends_new(&rows->lossy_ends);
	if (r == 0)
		r = stopped_ends_new(&rows->stopped_ends);
	if (r == 0)
		r = inside_rows_new(&rows->inside);
	if (r == 0)
		r = path_build_new(PATH_ROWS_MAX_ROWS, &rows->build);
	if (r < 0) {
		path_rows_free(rows);
		return r;
	}
	rows->next = rows->current = second_of(now.ns);
	rows->current_start_ns = rows->next * PATH_ROWS_SECOND_NS;
	rows->span_start.ns = rows->current_start_ns;
	*ret = rows;
	return 0;
}

void
path_rows_free(struct path_rows *rows)
{
	if (rows == NULL)
		return;
	for (int64_t i = 0; i < rows->ring && rows->seconds != NULL; i++)
		second_free(rows->seconds[i]);
	second_free(rows->spare);
	free(rows->seconds);
	flow_counts_release(&rows->span);
	loss_directions_free(rows->directions);
	path_ends_free(rows->ends);
	lossy_ends_free(rows->lossy_ends);
	stopped_ends_free(rows->stopped_ends);
	inside_rows_free(rows->inside);
	path_build_free(rows->build);
	free(rows);
}

static void
time_answer(struct flow_count *flow, rm_mono_t sent, const struct wire_result *result)
{
	const uint32_t took_ns =
	    window_took_ns(result->flags, result->rtt_ns, result->round_trip_ns);

	if (!window_is_timed(result->outcome, result->stamp_source))
		return;
	flow->timed++;
	if (took_ns < WINDOW_SLOW_NS)
		return;
	flow->slow++;
	flow->slow_ns += took_ns;
	window_release_add(&flow->release, sent, took_ns);
}

static void
add_large(struct flow_count *flow, const struct wire_result *result)
{
	if (result->size_bytes <= WIRE_ROCE_SMALL_BYTES)
		return;
	flow->large_sent++;
	if (result->outcome != WIRE_NO_REPLY && result->outcome != WIRE_SENT_LATE)
		return;
	flow->large_lost++;
	flow->large_bytes = smaller(flow->large_bytes, result->size_bytes);
}

static void
add_marks(struct flow_count *flow, const struct wire_result *result)
{
	if ((result->flags & WIRE_ARRIVAL) == 0)
		return;
	flow->arrived++;
	flow->rewritten += result->arrived_dscp != result->dscp;
	flow->congested += result->arrived_ecn == WIRE_ECN_CE;
	flow->not_ect += result->arrived_ecn == WIRE_ECN_NOT_ECT;
}

static void
flow_add(struct flow_second *second, struct flow_count *flow, rm_mono_t sent,
    const struct wire_result *result)
{
	switch (result->outcome) {
	case WIRE_NO_REPLY:
	case WIRE_SENT_LATE: /* if the probe had been answered, the answer would count
				as well */
		flow->sent++;
		flow->lost++;
		add_large(flow, result);
		flow_second_lost(second, (size_t)(flow - second->flows.flows), sent.ns);
		return;
	case WIRE_OK:
	case WIRE_LATE_REPLY:
		flow->sent++;
		add_large(flow, result);
		add_marks(flow, result);
		time_answer(flow, sent, result);
		break;
	case WIRE_SEND_FAILED: /* no responder can have counted it */
		return;
	default:
		flow->others++;
		return;
	}
	flow->answered_slots |= UINT64_C(1) << flow_slot(sent.ns);
	if (result->flags & WIRE_SPLIT && result->responder_delay_ns >= FLOW_STOOD_NS)
		flow->stood_slots |= UINT64_C(1) << flow_slot(sent.ns);
	if (result->flags & WIRE_COUNTED)
		flow_count_received(flow, result->responder_count);
	if (sent.ns <= flow->answered)
		return;
	flow->answered = sent.ns;
	flow->counted = result->flags & WIRE_COUNTED;
	flow->responder_count = result->responder_count;
}

/* Finds or adds the flow in this second. NULL: there is no room; that is counted. */
static struct flow_count *
flow_in(struct path_rows *rows, struct flow_second *second,
    const struct wire_result *result, uint32_t src, uint32_t dst, uint16_t dst_tor)
{
	struct flow_count *flow = NULL;

	if (second != NULL)
		flow = flow_counts_get(
		    &second->flows, src, dst, result->src_port, result->dscp);
	if (flow == NULL)
		rows->counts.refused_flows++;
	else
		flow->dst_tor = dst_tor;
	return flow;
}

/* Returns the open second in which the probe was sent. NULL: it is not open any more,
 * or memory has run out. */
static struct flow_second *
second_of_probe(struct path_rows *rows, rm_mono_t sent)
{
	const int64_t offset = sent.ns - rows->current_start_ns;
	struct flow_second **place;

	if (offset < 0 || offset >= PATH_ROWS_SECOND_NS) {
		rows->current = second_of(sent.ns);
		rows->current_start_ns = rows->current * PATH_ROWS_SECOND_NS;
	}
	place = second_at(rows, rows->current);
	if (rows->current < rows->next || rows->current - rows->next >= rows->ring)
		return NULL;
	return *place != NULL ? *place : second_open(rows, place);
}

void
path_rows_add(struct path_rows *rows, rm_mono_t sent, const struct wire_result *result,
    uint32_t src, uint32_t dst, uint16_t dst_tor)
{
	struct flow_second *second = second_of_probe(rows, sent);
	struct flow_count *flow = flow_in(rows, second, result, src, dst, dst_tor);

	if (flow == NULL)
		return;
	flow_add(second, flow, sent, result);
}

void
path_rows_add_inside(struct path_rows *rows, rm_mono_t sent,
    const struct wire_result *result, uint32_t src, uint32_t dst)
{
	const bool lost =
	    result->outcome == WIRE_NO_REPLY || result->outcome == WIRE_SENT_LATE;
	struct flow_second *second = second_of_probe(rows, sent);
	struct flow_count *flow = NULL;

	if (!lost && result->outcome != WIRE_OK && result->outcome != WIRE_LATE_REPLY)
		return;
	if (second != NULL)
		flow = flow_counts_get(
		    &second->inside, src, dst, result->src_port, result->dscp);
	if (flow == NULL) {
		rows->counts.refused_flows++;
		return;
	}
	flow->sent++;
	flow->lost += lost;
	time_answer(flow, sent, result);
}

void
path_rows_overdue(struct path_rows *rows, rm_mono_t sent,
    const struct wire_result *result, uint32_t src, uint32_t dst, uint16_t dst_tor)
{
	struct flow_second **place = second_at(rows, rows->next), *second;
	struct flow_count *flow;

	if (result->stamp_source == WIRE_STAMP_USER ||
	    result->round_trip_ns < WINDOW_SLOW_NS)
		return;
	second = *place != NULL ? *place : second_open(rows, place);
	flow = flow_in(rows, second, result, src, dst, dst_tor);
	if (flow == NULL)
		return;
	flow->overdue++;
	flow->slow_ns += wire_result_overdue_ns(result);
	window_release_add(&flow->release, sent, wire_result_overdue_ns(result));
}

/* Finds for each flow its path, and whether the flow is evidence on a path. If the path
 * has changed since then, the flow's losses would count against a healthy part. */
static void
place(struct path_rows *rows, const struct path_rows_second *in,
    struct flow_second *second)
{
	const rm_mono_t start = rm_mono_add(in->end, -PATH_ROWS_SECOND_NS);

	for (size_t i = 0; i < second->flows.count; i++) {
		struct flow_count *flow = &second->flows.flows[i];
		const struct roster_rnic *src = roster_at(in->roster, flow->src);
		const struct roster_rnic *dst = roster_at(in->roster, flow->dst);
		struct path_found found;

		flow->left_out = src == NULL || dst == NULL ||
				 flow->src >= roster_members(in->roster) ||
				 !in->witnesses[flow->src];
		if (flow->left_out) {
			rows->counts.not_a_witness += flow->sent;
			continue;
		}
		found =
		    path_table_at(in->paths, src->id, dst->id, flow->src_port, start);
		flow->path = found.path;
		flow->left_out = found.is_doubtful;
		if (flow->left_out) {
			rows->counts.doubtful += flow->sent;
			continue;
		}
		if (second->loss_count > 0)
			flow->switches = path_table_switches(in->paths, flow->path);
		if (flow->path == PATH_UNTRACED)
			rows->counts.untraced += flow->sent;
	}
}

/* Adds a second to span. A flow that has changed its path counts for the newer path. */
static void
span_add(struct path_rows *rows, const struct path_rows_second *in,
    const struct flow_second *second)
{
	inside_rows_add(rows->inside, second, in->witnesses, in->roster);
	for (size_t i = 0; i < second->flows.count; i++) {
		const struct flow_count *from = &second->flows.flows[i];
		struct flow_count *to;

		if (from->left_out || from->sent + from->overdue == 0)
			continue;
		to = flow_counts_get(
		    &rows->span, from->src, from->dst, from->src_port, from->dscp);
		if (to == NULL) {
			rows->counts.refused_flows++;
			continue;
		}
		to->dst_tor = from->dst_tor;
		to->path = from->path;
		to->sent += from->sent;
		to->lost += from->lost;
		to->timed += from->timed;
		to->slow += from->slow;
		to->overdue += from->overdue;
		to->slow_ns += from->slow_ns;
		window_release_join(&to->release, &from->release);
		to->large_sent += from->large_sent;
		to->large_lost += from->large_lost;
		to->large_bytes = smaller(to->large_bytes, from->large_bytes);
		to->arrived += from->arrived;
		to->rewritten += from->rewritten;
		to->congested += from->congested;
		to->not_ect += from->not_ect;
		to->by_direction[from->direction] += from->lost;
	}
}

static void
flush(struct path_rows *rows, const struct path_rows_second *in, rm_mono_t end)
{
	/* The wall-clock time at which the monotonic clock was 0. */
	const int64_t wall_ns = in->wall.ns - in->now.ns;
	struct wire_summary summary = { .tor = roster_tor(in->roster) };

	summary.start_wall_ns = (uint64_t)(wall_ns + rows->span_start.ns);
	summary.paths_start_wall_ns = summary.start_wall_ns;
	summary.end_wall_ns = (uint64_t)(wall_ns + end.ns);
	summary.end_ns = (uint64_t)end.ns;
	summary.path_count = path_build_rows(rows->build, &rows->span, in->roster,
	    in->paths, &summary.paths, &rows->counts.refused_rows);
	summary.inside_count = inside_rows_take(rows->inside, &summary.inside);
	flow_counts_clear(&rows->span);
	rows->span_start = end;
	if (summary.path_count == 0)
		return;
	rows->counts.messages++;
	rows->counts.rows += summary.path_count;
	in->emit(&summary, in->arg);
}

static bool
is_conspicuous(const struct flow_second *second)
{
	for (size_t i = 0; i < second->flows.count; i++) {
		const struct flow_count *flow = &second->flows.flows[i];

		if (!flow->left_out && flow->lost + flow->slow + flow->overdue > 0)
			return true;
	}
	return false;
}

static void
fold(struct path_rows *rows, const struct path_rows_second *in,
    struct flow_second *second)
{
	const bool was_lossy = rows->lossy;

	place(rows, in, second);
	stopped_ends_judge(rows->stopped_ends, second, *second_at(rows, rows->next));
	rows->counts.remote_stopped = stopped_ends_left_out(rows->stopped_ends);
	path_ends_judge(rows->ends, second, path_table_end(in->paths));
	lossy_ends_judge(rows->lossy_ends, second);
	loss_directions_fold(rows->directions, second);
	rows->lossy = is_conspicuous(second);
	rows->counts.seconds++;
	rows->counts.lossy += rows->lossy;
	if (!rows->lossy && !was_lossy) {
		span_add(rows, in, second);
		if (rm_mono_since(in->end, rows->span_start) >=
		    rows->options.row_interval_ns)
			flush(rows, in, in->end);
		return;
	}
	flush(rows, in, rm_mono_add(in->end, -PATH_ROWS_SECOND_NS));
	span_add(rows, in, second);
	flush(rows, in, in->end);
}

void
path_rows_close(struct path_rows *rows, const struct path_rows_second *in)
{
	const int64_t number = in->end.ns / PATH_ROWS_SECOND_NS - 1;
	struct flow_second **place = second_at(rows, number), *second;

	if (number < rows->next)
		return;
	for (; rows->next < number; rows->next++)
		second_forget(rows, second_at(rows, rows->next));
	rows->next++;
	second = *place != NULL ? *place : second_open(rows, place);
	if (in->partial || second == NULL) {
		rows->counts.skipped++;
		loss_directions_forget(rows->directions);
		flush(rows, in, rm_mono_add(in->end, -PATH_ROWS_SECOND_NS));
		rows->span_start = in->end;
		second_forget(rows, place);
	} else {
		fold(rows, in, second);
		second_close(rows, place);
	}
}

bool
path_rows_empty(const struct path_rows *rows)
{
	return rows->span.count == 0;
}

void
path_rows_renumber(struct path_rows *rows)
{
	for (int64_t i = 0; i < rows->ring; i++)
		second_forget(rows, &rows->seconds[i]);
	rows->counts.forgotten += sent_in(&rows->span);
	flow_counts_clear(&rows->span);
	loss_directions_forget(rows->directions);
	path_ends_forget(rows->ends);
	lossy_ends_forget(rows->lossy_ends);
	inside_rows_forget(rows->inside);
}

const struct path_rows_counts *
path_rows_counts(const struct path_rows *rows)
{
	return &rows->counts;
}

const struct path_ends_counts *
path_rows_ends(const struct path_rows *rows)
{
	return path_ends_counts(rows->ends);
}

const struct lossy_ends_counts *
path_rows_lossy_ends(const struct path_rows *rows)
{
	return lossy_ends_counts(rows->lossy_ends);
}
