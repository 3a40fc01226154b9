#include "tor-aggregator/agents/ingest.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "tor-aggregator/agents/agent.h"
#include "tor-aggregator/agents/batch_sequence.h"
#include "tor-aggregator/agents/receive_counts.h"
#include "tor-aggregator/window/roster.h"

#define MAX_DSCP 63
#define MAX_ECN 3
/* a value besides enum ingest_invalid and -1 (windowed or late) */
#define DUPLICATE (-2)

const char *
ingest_invalid_str(enum ingest_invalid reason)
{
	static const char *const names[INGEST_INVALIDS] = {
		[INGEST_NOT_OWNED] = "not-owned",
		[INGEST_NOT_OURS] = "not-ours",
		[INGEST_UNKNOWN_DST] = "unknown-destination",
		[INGEST_BAD_VALUE] = "bad-value",
		[INGEST_BAD_AGE] = "bad-age",
		[INGEST_TABLE_FULL] = "table-full",
		[INGEST_OVER_RATE] = "over-rate",
		[INGEST_NO_CLOCK] = "no-clock",
	};

	return names[reason];
}

static bool
in_range(const struct wire_result *result)
{
	if ((result->outcome >= WIRE_OUTCOMES && result->outcome != WIRE_OVERDUE) ||
	    result->kind >= WIRE_PROBE_KINDS || result->dscp > MAX_DSCP ||
	    result->invalid_reason >= WIRE_INVALID_REASONS ||
	    result->stamp_source > WIRE_STAMP_USER)
		return false;
	if (result->flags & WIRE_ARRIVAL &&
	    (result->arrived_dscp > MAX_DSCP || result->arrived_ecn > MAX_ECN))
		return false;
	/* Only a result with a reply may have the responder's times. */
	return !(result->flags & WIRE_SPLIT) || result->outcome == WIRE_OK ||
	       result->outcome == WIRE_LATE_REPLY || result->outcome == WIRE_INVALID;
}

static void
count_invalid(
    struct ingest *ingest, const struct agent_rnic *own, enum ingest_invalid reason)
{
	ingest->counts.raw.taken++;
	ingest->counts.raw.invalid++;
	ingest->counts.invalid[reason]++;
	if (own != NULL && own->rack != NULL) {
		struct raw_counts *raw = &tor_rack_counts(own->rack)->raw;

		raw->taken++;
		raw->invalid++;
	}
}

static void
count_duplicate(struct ingest *ingest, const struct agent_rnic *own)
{
	ingest->counts.raw.taken++;
	ingest->counts.raw.duplicate++;
	if (own != NULL && own->rack != NULL) {
		struct raw_counts *raw = &tor_rack_counts(own->rack)->raw;

		raw->taken++;
		raw->duplicate++;
	}
}

/* True: the probe was sent to an outdated QPN, so it got no reply. That is not a
 * loss. */
static bool
is_stale(const struct wire_result *result, const struct roster_rnic *dst)
{
	return result->outcome == WIRE_NO_REPLY && result->dst_qpn != 0 &&
	       dst->qpn != 0 && result->dst_qpn != dst->qpn &&
	       result->dst_qpn != dst->large_qpn;
}

/* Counts a result whose window has closed. */
static void
count_late(struct ingest *ingest, struct raw_counts *raw)
{
	raw->taken++;
	raw->late++;
	ingest->counts.raw.taken++;
	ingest->counts.raw.late++;
}

static void
take_result(struct ingest *ingest, const struct agent_rnic *own, rm_mono_t made,
    const struct wire_result *result)
{
	struct raw_counts *raw;
	const struct roster_rnic *dst;
	struct wire_result changed;
	rm_mono_t sent;

	if (own->rack == NULL) {
		count_invalid(ingest, own, INGEST_NOT_OURS);
		return;
	}
	if (!in_range(result) || (result->src_guid == result->dst_guid &&
				     result->src_port_num == result->dst_port_num)) {
		count_invalid(ingest, own, INGEST_BAD_VALUE);
		return;
	}
	if (result->sent_age_ns > INGEST_MAX_AGE_NS) {
		count_invalid(ingest, own, INGEST_BAD_AGE);
		return;
	}
	dst = roster_find(tor_rack_roster(own->rack),
	    (struct wire_rnic_id){ result->dst_guid, result->dst_port_num });
	if (dst == NULL) {
		count_invalid(ingest, own, INGEST_UNKNOWN_DST);
		return;
	}
	sent = rm_mono_add(made, -(int64_t)result->sent_age_ns);
	if (result->outcome == WIRE_OVERDUE) {
		tor_rack_overdue(own->rack, sent, result, own->index, dst);
		count_late(ingest, &tor_rack_counts(own->rack)->raw);
		return;
	}
	if (is_stale(result, dst)) {
		changed = *result;
		changed.outcome = WIRE_STALE_QPN;
		result = &changed;
		ingest->counts.stale_qpn++;
	}
	raw = &tor_rack_counts(own->rack)->raw;
	switch (tor_rack_result(own->rack, sent, result, own->index, dst)) {
	case WINDOW_COUNTED:
		raw->taken++;
		raw->windowed++;
		ingest->counts.raw.taken++;
		ingest->counts.raw.windowed++;
		ingest->counts.service += result->kind == WIRE_SERVICE;
		break;
	case WINDOW_LATE:
		count_late(ingest, raw);
		break;
	case WINDOW_REFUSED:
		count_invalid(ingest, own, INGEST_TABLE_FULL);
		break;
	}
}

/* Counts the results that the agent itself has dropped since its last report. */
static void
note_drops(
    struct ingest *ingest, struct agent *agent, const struct wire_batch_head *head)
{
	uint64_t more = 0;

	if (head->dropped_results > agent->dropped_results)
		more = head->dropped_results - agent->dropped_results;
	agent->dropped_results = head->dropped_results;
	agent->dropped_batches = head->dropped_batches;
	ingest->counts.agent_dropped += more;
	if (agent->rnic_count > 0 && agent->rnics[0].rack != NULL)
		tor_rack_counts(agent->rnics[0].rack)->agent_dropped += more;
}

/* Returns the outcome for all results of a batch: DUPLICATE or an enum ingest_invalid;
 * -1: each result is checked by itself. */
static int
judge_batch(struct ingest *ingest, struct agent *agent, rm_mono_t now,
    const struct wire_batch_view *view, rm_mono_t *made)
{
	const struct wire_batch_head *head = &view->head;

	switch (batch_sequence_batch(agent->sequence, head->incarnation, head->seq,
	    &ingest->counts.missing_batches)) {
	case BATCH_SEQUENCE_DUPLICATE:
		ingest->counts.duplicate_batches++;
		return DUPLICATE;
	case BATCH_SEQUENCE_RESTARTED:
		ingest->counts.restarted++;
		break;
	case BATCH_SEQUENCE_COUNT:
		break;
	}
	note_drops(ingest, agent, head);
	if (ingest->max_results_per_s > 0 &&
	    !agent_spend(agent, now, view->count, ingest->max_results_per_s))
		return INGEST_OVER_RATE;
	if (clock_map_sample(&agent->clock, head->now_ns, now) < 0 ||
	    !clock_map_ours(&agent->clock, head->now_ns, made))
		return INGEST_NO_CLOCK;
	return -1;
}

int
ingest_batch(struct ingest *ingest, struct agent *agent, rm_mono_t now,
    const uint8_t *data, size_t len, struct wire_ack *ack)
{
	struct wire_batch_view view;
	rm_mono_t made = now;
	size_t hint = 0;
	int verdict, r;

	r = wire_open_batch(&view, data, len);
	if (r < 0)
		return r;
	if (view.head.incarnation != agent->incarnation ||
	    strcmp(view.head.host, agent->host) != 0)
		return -EPERM;
	if (view.head.seq == 0)
		return -EBADMSG;
	ingest->counts.batches++;
	verdict = judge_batch(ingest, agent, now, &view, &made);
	for (size_t i = 0; i < view.count; i++) {
		const struct wire_result *result = &view.results[i];
		const struct agent_rnic *own = agent_owns(agent,
		    (struct wire_rnic_id){ result->src_guid, result->src_port_num },
		    &hint);

		if (verdict == DUPLICATE)
			count_duplicate(ingest, own);
		else if (verdict >= 0)
			count_invalid(ingest, own, (enum ingest_invalid)verdict);
		else if (own == NULL)
			count_invalid(ingest, own, INGEST_NOT_OWNED);
		else
			take_result(ingest, own, made, result);
	}
	*ack = (struct wire_ack){ WIRE_LANE_BATCH, agent->incarnation,
		batch_sequence_counted(agent->sequence, agent->incarnation) };
	return 0;
}

static void
take_row(struct ingest *ingest, struct agent *agent, const struct wire_count *row,
    rm_mono_t from, rm_mono_t to)
{
	const struct roster_rnic *prober;
	const struct agent_rnic *own;
	uint64_t delta, refused;
	size_t hint = 0;

	own = agent_owns(
	    agent, (struct wire_rnic_id){ row->own_guid, row->own_port_num }, &hint);
	if (own == NULL || own->rack == NULL || row->dscp > MAX_DSCP) {
		ingest->counts.count_rows_invalid++;
		return;
	}
	refused = receive_counts_refused(agent->received);
	delta = receive_counts_delta(agent->received, row);
	ingest->counts.count_rows_refused +=
	    receive_counts_refused(agent->received) - refused;
	prober = roster_find(tor_rack_roster(own->rack),
	    (struct wire_rnic_id){ row->prober_guid, row->prober_port_num });
	/* Counts of probers in other racks are used by the aggregators of those
	 * racks. */
	if (prober == NULL || prober->index >= WINDOW_REMOTE_BASE || delta == 0)
		return;
	tor_rack_arrived(own->rack, prober->index, own->index, from, to, delta);
}

int
ingest_receive_counts(struct ingest *ingest, struct agent *agent, rm_mono_t now,
    const uint8_t *data, size_t len)
{
	struct wire_counts view;
	rm_mono_t from, to;
	uint64_t since_ns;
	int r;

	r = wire_open_counts(&view, data, len);
	if (r < 0)
		return r;
	if (view.incarnation != agent->incarnation)
		return -EPERM;
	if (clock_map_sample(&agent->clock, view.now_ns, now) < 0)
		return -EBADMSG;
	r = receive_counts_report(agent->received, view.now_ns, &since_ns);
	if (r < 0)
		return -EBADMSG;
	ingest->counts.count_reports++;
	clock_map_ours(&agent->clock, since_ns, &from);
	clock_map_ours(&agent->clock, view.now_ns, &to);
	for (size_t i = 0; i < view.row_count; i++) {
		ingest->counts.count_rows++;
		take_row(ingest, agent, &view.rows[i], from, to);
	}
	/* r is 0 for the first report, which is only the base of the later ones. */
	for (size_t i = 0; i < agent->rnic_count && r > 0; i++)
		if (agent->rnics[i].rack != NULL)
			tor_rack_counts_through(
			    agent->rnics[i].rack, agent->rnics[i].index, to);
	return 0;
}

/* False: the source is not an RNIC of the agent, or this aggregator does not use the
 * path. */
static bool
take_path(struct agent *agent, const struct wire_paths *paths,
    const struct wire_path *path, rm_mono_t now, size_t *hint)
{
	const struct agent_rnic *own = agent_owns(
	    agent, (struct wire_rnic_id){ path->src_guid, path->src_port_num }, hint);
	rm_mono_t traced;
	int r;

	if (own == NULL || own->rack == NULL || path->dscp > MAX_DSCP ||
	    path->age_ns > INGEST_MAX_PATH_AGE_NS || path->age_ns > paths->now_ns ||
	    !clock_map_ours(&agent->clock, paths->now_ns - path->age_ns, &traced))
		return false;
	r = tor_rack_path(own->rack, path, traced, now);
	return r != -ENOENT; /* the table counts -ENOSPC */
}

int
ingest_paths(struct ingest *ingest, struct agent *agent, rm_mono_t now,
    const uint8_t *data, size_t len)
{
	struct wire_paths view;
	size_t hint = 0;
	int r;

	r = wire_open_paths(&view, data, len);
	if (r < 0)
		return r;
	if (view.incarnation != agent->incarnation ||
	    strcmp(view.host, agent->host) != 0)
		return -EPERM;
	if (clock_map_sample(&agent->clock, view.now_ns, now) < 0)
		return -EBADMSG;
	ingest->counts.path_reports++;
	for (size_t i = 0; i < view.path_count; i++) {
		ingest->counts.paths++;
		if (!take_path(agent, &view, &view.paths[i], now, &hint))
			ingest->counts.paths_invalid++;
	}
	return 0;
}
