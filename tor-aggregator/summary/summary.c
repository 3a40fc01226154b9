#include "tor-aggregator/summary/summary.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/metrics/sketch.h"
#include "schemas/wire.h"
#include "tor-aggregator/window/roster.h"

struct roster_rnic;
struct rm_sketch;

/* Sketches of the three delays of wire_result. */
struct summary_terms {
	struct rm_sketch *rtt, *prober_delay, *responder_delay;
};

struct summary_rnic {
	struct summary_terms terms;
	uint64_t sent;
	uint64_t outcomes[WIRE_OUTCOMES];
	bool bad;
	bool due; /* the RNIC has become bad: its row must be sent at once */
	bool has_last;
	struct wire_rnic_row last;
};

static void summary_rnic_free(struct summary_rnic *rnic);

/* false: out of memory */
static bool
summary_terms_init(struct summary_terms *terms)
{
	terms->rtt = rm_sketch_new();
	terms->prober_delay = rm_sketch_new();
	terms->responder_delay = rm_sketch_new();
	return terms->rtt != NULL && terms->prober_delay != NULL &&
	       terms->responder_delay != NULL;
}

static void
summary_terms_clear(struct summary_terms *terms)
{
	rm_sketch_free(terms->rtt);
	rm_sketch_free(terms->prober_delay);
	rm_sketch_free(terms->responder_delay);
	*terms = (struct summary_terms){ 0 };
}

static void
summary_terms_add(struct summary_terms *terms, const struct wire_result *result)
{
	if (result->outcome != WIRE_OK || !(result->flags & WIRE_SPLIT))
		return;
	rm_sketch_add(terms->rtt, result->rtt_ns);
	rm_sketch_add(terms->prober_delay, result->prober_delay_ns);
	rm_sketch_add(terms->responder_delay, result->responder_delay_ns);
}

static void
summary_terms_reset(struct summary_terms *terms)
{
	rm_sketch_reset(terms->rtt);
	rm_sketch_reset(terms->prober_delay);
	rm_sketch_reset(terms->responder_delay);
}

/* NULL: out of memory */
static struct summary_rnic *
summary_rnic_new(void)
{
	struct summary_rnic *rnic = calloc(1, sizeof(*rnic));

	if (rnic != NULL && !summary_terms_init(&rnic->terms)) {
		summary_rnic_free(rnic);
		rnic = NULL;
	}
	return rnic;
}

static void
summary_rnic_free(struct summary_rnic *rnic)
{
	if (rnic == NULL)
		return;
	summary_terms_clear(&rnic->terms);
	free(rnic);
}

static void
summary_rnic_add(struct summary_rnic *rnic, const struct wire_result *result)
{
	rnic->sent++;
	rnic->outcomes[result->outcome]++;
	summary_terms_add(&rnic->terms, result);
}

static void
quantiles(const struct rm_sketch *sketch, uint32_t out[WIRE_QUANTILES])
{
	static const double ranks[WIRE_MAX] = {
		[WIRE_P50] = 0.50,
		[WIRE_P95] = 0.95,
		[WIRE_P99] = 0.99,
	};
	uint64_t max_ns = rm_sketch_max_ns(sketch);

	for (int q = 0; q < WIRE_MAX; q++) {
		uint64_t value_ns = rm_sketch_quantile_ns(sketch, ranks[q]);

		out[q] = value_ns > UINT32_MAX ? UINT32_MAX : (uint32_t)value_ns;
	}
	out[WIRE_MAX] = max_ns > UINT32_MAX ? UINT32_MAX : (uint32_t)max_ns;
}

/* Moves the counts into the row last, and sets them to 0. */
static void
summary_rnic_take(struct summary_rnic *rnic, const struct roster_rnic *who)
{
	struct wire_rnic_row *row = &rnic->last;

	*row = (struct wire_rnic_row){
		.id = who->id,
		.host = who->host,
		.device = who->device,
		.bad = rnic->bad,
		.sent = rnic->sent,
	};
	memcpy(row->outcomes, rnic->outcomes, sizeof(row->outcomes));
	quantiles(rnic->terms.rtt, row->rtt_ns);
	quantiles(rnic->terms.prober_delay, row->prober_delay_ns);
	quantiles(rnic->terms.responder_delay, row->responder_delay_ns);
	rnic->has_last = true;
	rnic->due = false;
	rnic->sent = 0;
	memset(rnic->outcomes, 0, sizeof(rnic->outcomes));
	summary_terms_reset(&rnic->terms);
}

#define DSCPS 64
#define BAD_FLOWS 16
#define FLOW_SET_BYTES (BAD_FLOWS * 6 + 8) /* for each flow "65535,", and "..." */
/* memory for the encoded sketches of one message */
#define ARENA_BYTES (512u << 10)

struct row {
	uint16_t dst_tor;
	uint8_t dscp;
	bool bad, due; /* due: the row has become bad, and must be sent at once */
	/* the row was bad since it was sent last: its message has the flows with
	 * losses */
	bool named;
	rm_wall_t since;
	uint64_t sent, outcomes[WIRE_OUTCOMES];
	/* directions of losses in outcomes[WIRE_NO_REPLY] */
	uint64_t forward, reverse;
	uint64_t arrived, rewritten, congested; /* see wire_row */
	uint8_t arrived_dscp;
	uint64_t hops_known, hops; /* see wire_row */
	uint8_t hops_least, hops_most;
	uint64_t checked_sent, checked_lost; /* values at the last check */
	uint16_t flows[BAD_FLOWS]; /* flows with losses since the last check */
	size_t flow_count;
	bool more_flows;
	char flow_set[FLOW_SET_BYTES];
	struct summary_terms terms;
};

struct summary {
	struct summary_options options;
	rm_mono_t rows_due, rnics_due;
	rm_wall_t rows_since, rnics_since;
	struct row *rows[SUMMARY_MAX_ROWS];
	size_t row_count;
	uint16_t *row_at; /* [tor number * DSCPS + dscp]: index + 1 into rows */
	struct summary_rnic *rnics[WIRE_MAX_MEMBERS];
	struct wire_row *out_rows;
	struct wire_rnic_row *out_rnics;
	uint8_t *arena;
	size_t arena_used;
	/* if the last message was full: the row with which the next one begins; else
	 * 0 */
	size_t next_row;
	rm_wall_t wall;
	/* end of the time that the last message covers, in ns since the epoch */
	uint64_t ended;
	bool sent_all; /* the last message had all rows */
	uint64_t refused;
	struct summary_marks marks;
};

int
summary_new(const struct summary_options *options, rm_mono_t now, rm_wall_t wall,
    struct summary **ret)
{
	struct summary *summary = calloc(1, sizeof(*summary));

	if (summary == NULL)
		return -ENOMEM;
	summary->options = *options;
	summary->rows_due = rm_mono_add(now, options->row_interval_ns);
	summary->rnics_due = rm_mono_add(now, options->rnic_interval_ns);
	summary->rows_since = summary->rnics_since = summary->wall = wall;
	summary->row_at = calloc(ROSTER_MAX_TORS * DSCPS, sizeof(*summary->row_at));
	summary->out_rows = calloc(SUMMARY_MAX_ROWS, sizeof(*summary->out_rows));
	summary->out_rnics = calloc(WIRE_MAX_MEMBERS, sizeof(*summary->out_rnics));
	summary->arena = malloc(ARENA_BYTES);
	if (summary->row_at == NULL || summary->out_rows == NULL ||
	    summary->out_rnics == NULL || summary->arena == NULL) {
		summary_free(summary);
		return -ENOMEM;
	}
	*ret = summary;
	return 0;
}

static void
row_free(struct row *row)
{
	if (row == NULL)
		return;
	summary_terms_clear(&row->terms);
	free(row);
}

void
summary_free(struct summary *summary)
{
	if (summary == NULL)
		return;
	for (size_t i = 0; i < summary->row_count; i++)
		row_free(summary->rows[i]);
	summary_renumber(summary);
	free(summary->row_at);
	free(summary->out_rows);
	free(summary->out_rnics);
	free(summary->arena);
	free(summary);
}

static struct row *
row_of(struct summary *summary, uint16_t dst_tor, uint8_t dscp)
{
	uint16_t *at = &summary->row_at[dst_tor * DSCPS + dscp % DSCPS];
	struct row *row;

	if (*at != 0)
		return summary->rows[*at - 1];
	if (summary->row_count == SUMMARY_MAX_ROWS)
		return NULL;
	row = calloc(1, sizeof(*row));
	if (row == NULL || !summary_terms_init(&row->terms)) {
		row_free(row);
		return NULL;
	}
	row->dst_tor = dst_tor;
	row->dscp = dscp % DSCPS;
	row->since = summary->rows_since;
	summary->rows[summary->row_count++] = row;
	*at = (uint16_t)summary->row_count;
	return row;
}

static void
note_flow(struct row *row, uint16_t flow)
{
	for (size_t i = 0; i < row->flow_count; i++)
		if (row->flows[i] == flow)
			return;
	if (row->flow_count < BAD_FLOWS)
		row->flows[row->flow_count++] = flow;
	else
		row->more_flows = true;
}

static void
note_hops(struct row *row, uint8_t arrived_ttl)
{
	const uint8_t hops = wire_hops(arrived_ttl);

	if (arrived_ttl == 0) /* the responder did not see it */
		return;
	if (row->hops_known == 0 || hops < row->hops_least)
		row->hops_least = hops;
	if (hops > row->hops_most)
		row->hops_most = hops;
	row->hops += hops;
	row->hops_known++;
}

static void
note_marks(struct summary_marks *all, struct row *row, const struct wire_result *result)
{
	if ((result->flags & WIRE_ARRIVAL) == 0)
		return;
	all->markable += result->arrived_ecn != WIRE_ECN_NOT_ECT;
	all->marked += result->arrived_ecn == WIRE_ECN_CE;
	row->arrived++;
	row->congested += result->arrived_ecn == WIRE_ECN_CE;
	note_hops(row, result->arrived_ttl);
	if (result->arrived_dscp == result->dscp)
		return;
	row->rewritten++;
	row->arrived_dscp = result->arrived_dscp;
}

void
summary_add(struct summary *summary, const struct wire_result *result, uint32_t src,
    uint16_t dst_tor)
{
	struct row *row = row_of(summary, dst_tor, result->dscp);

	if (row == NULL) {
		summary->refused++;
	} else {
		row->sent++;
		row->outcomes[result->outcome]++;
		summary_terms_add(&row->terms, result);
		note_marks(&summary->marks, row, result);
		if (result->outcome == WIRE_NO_REPLY)
			note_flow(row, result->src_port);
	}
	if (src >= WIRE_MAX_MEMBERS)
		return;
	if (summary->rnics[src] == NULL)
		summary->rnics[src] = summary_rnic_new();
	if (summary->rnics[src] == NULL)
		summary->refused++;
	else
		summary_rnic_add(summary->rnics[src], result);
}

void
summary_directions(
    struct summary *summary, uint16_t dst_tor, uint64_t forward, uint64_t reverse)
{
	for (size_t i = 0; i < summary->row_count; i++) {
		struct row *row = summary->rows[i];
		uint64_t open, part;

		if (row->dst_tor != dst_tor)
			continue;
		open = row->outcomes[WIRE_NO_REPLY] - row->forward - row->reverse;
		part = forward < open ? forward : open;
		row->forward += part;
		forward -= part;
		open -= part;
		part = reverse < open ? reverse : open;
		row->reverse += part;
		reverse -= part;
	}
}

void
summary_mark_rnic(struct summary *summary, uint32_t src, bool bad)
{
	struct summary_rnic *rnic = src < WIRE_MAX_MEMBERS ? summary->rnics[src] : NULL;

	if (rnic == NULL)
		return;
	if (bad && !rnic->bad)
		rnic->due = true;
	rnic->bad = bad;
}

static void
write_flow_set(struct row *row)
{
	size_t at = 0;

	for (size_t i = 0; i < row->flow_count; i++)
		at += (size_t)snprintf(row->flow_set + at, sizeof(row->flow_set) - at,
		    "%s%u", i > 0 ? "," : "", row->flows[i]);
	if (row->more_flows)
		snprintf(row->flow_set + at, sizeof(row->flow_set) - at, ",...");
}

void
summary_check(struct summary *summary)
{
	for (size_t i = 0; i < summary->row_count; i++) {
		struct row *row = summary->rows[i];
		uint64_t sent = row->sent - row->checked_sent;
		uint64_t lost = row->outcomes[WIRE_NO_REPLY] - row->checked_lost;
		bool bad = lost >= SUMMARY_BAD_LOST &&
			   lost * 1000 >= sent * SUMMARY_BAD_PER_MILLE;

		if (bad) {
			write_flow_set(row);
			row->named = true;
			row->due = row->due || !row->bad;
		}
		row->bad = bad;
		row->checked_sent = row->sent;
		row->checked_lost = row->outcomes[WIRE_NO_REPLY];
		row->flow_count = 0;
		row->more_flows = false;
	}
}

/* Encodes a sketch. The bytes are valid until the next message. */
static struct wire_bytes
put(struct summary *summary, const struct rm_sketch *sketch)
{
	uint8_t *out = summary->arena + summary->arena_used;
	int len = rm_sketch_encode(sketch, out, ARENA_BYTES - summary->arena_used);

	if (len < 0)
		return (struct wire_bytes){ out, 0 };
	summary->arena_used += (size_t)len;
	return (struct wire_bytes){ out, (size_t)len };
}

static void
take_row(struct summary *summary, struct row *row, const struct roster *roster,
    struct wire_row *out)
{
	uint64_t lost = row->outcomes[WIRE_NO_REPLY];

	*out = (struct wire_row){
		.src_tor = roster_tor(roster),
		.dst_tor = roster_tor_name(roster, row->dst_tor),
		.dscp = row->dscp,
		.flow_set = row->named ? row->flow_set : "all",
		.bad = row->named,
		.sent = row->sent,
		.lost_forward = row->forward,
		.lost_reverse = row->reverse,
		.lost_unknown = lost - row->forward - row->reverse,
		.rtt = put(summary, row->terms.rtt),
		.prober_delay = put(summary, row->terms.prober_delay),
		.responder_delay = put(summary, row->terms.responder_delay),
		.arrived = row->arrived,
		.rewritten = row->rewritten,
		.congested = row->congested,
		.arrived_dscp = row->arrived_dscp,
		.hops_known = row->hops_known,
		.hops = row->hops,
		.hops_least = row->hops_least,
		.hops_most = row->hops_most,
	};
	memcpy(out->outcomes, row->outcomes, sizeof(out->outcomes));
	row->sent = row->forward = row->reverse = 0;
	row->arrived = row->rewritten = row->congested = 0;
	row->arrived_dscp = 0;
	row->hops_known = row->hops = 0;
	row->hops_least = row->hops_most = 0;
	row->checked_sent = row->checked_lost = 0;
	memset(row->outcomes, 0, sizeof(row->outcomes));
	summary_terms_reset(&row->terms);
	row->due = false;
	row->named = row->bad;
	row->since = summary->wall;
}

static bool
take_rows(struct summary *summary, const struct roster *roster, bool all,
    struct wire_summary *ret)
{
	rm_wall_t since = summary->wall;
	size_t count = 0, i;

	for (i = summary->next_row; i < summary->row_count; i++) {
		struct row *row = summary->rows[i];

		if (row->sent == 0 || !(all || row->due))
			continue;
		if (ARENA_BYTES - summary->arena_used < 3 * RM_SKETCH_MAX_BYTES)
			break;
		if (row->since.ns < since.ns)
			since = row->since;
		take_row(summary, row, roster, &summary->out_rows[count++]);
	}
	/* The next message has the rows that did not fit; it is due at once. */
	summary->next_row = i < summary->row_count ? i : 0;
	if (all && since.ns > summary->rows_since.ns)
		since = summary->rows_since;
	ret->rows = summary->out_rows;
	ret->row_count = count;
	ret->start_wall_ns = (uint64_t)since.ns;
	return count > 0;
}

static bool
take_rnics(struct summary *summary, const struct roster *roster, bool all,
    struct wire_summary *ret)
{
	size_t count = 0;

	for (size_t i = 0; i < roster_members(roster); i++) {
		struct summary_rnic *rnic = summary->rnics[i];

		if (rnic == NULL || !(all || rnic->due))
			continue;
		summary_rnic_take(rnic, roster_member(roster, i));
		summary->out_rnics[count++] = rnic->last;
		/* the caller sets them, because the roster owns the names */
		rnic->last.host = rnic->last.device = "";
	}
	ret->rnics = summary->out_rnics;
	ret->rnic_count = count;
	return count > 0;
}

/* If several messages have the same time, each gets a time one ns later: otherwise its
 * points would overwrite those of the message before in the database. */
static uint64_t
end_of(struct summary *summary, rm_wall_t wall)
{
	uint64_t end = (uint64_t)wall.ns;

	if (end <= summary->ended && summary->ended - end < WIRE_MAX_MEMBERS)
		end = summary->ended + 1;
	summary->ended = end;
	return end;
}

bool
summary_take(struct summary *summary, const struct roster *roster, rm_mono_t now,
    rm_wall_t wall, struct wire_summary *ret)
{
	bool all_rows =
	    summary->next_row > 0 || rm_mono_since(now, summary->rows_due) >= 0;
	bool all_rnics = rm_mono_since(now, summary->rnics_due) >= 0;
	struct wire_summary out = { .tor = roster_tor(roster) };
	bool something;

	summary->sent_all = false;
	summary->arena_used = 0;
	summary->wall = wall;
	out.start_wall_ns = (uint64_t)summary->rnics_since.ns;
	if (take_rnics(summary, roster, all_rnics, &out)) {
		if (all_rnics)
			summary->rnics_since = wall;
		something = true;
	} else {
		something = take_rows(summary, roster, all_rows, &out);
		/* A summary with no rows is sent, too, because of the rack's raw
		 * counters. */
		if (all_rows && summary->next_row == 0) {
			something = summary->sent_all = true;
			summary->rows_since = wall;
			while (rm_mono_since(now, summary->rows_due) >= 0)
				summary->rows_due = rm_mono_add(summary->rows_due,
				    summary->options.row_interval_ns);
		}
	}
	while (rm_mono_since(now, summary->rnics_due) >= 0)
		summary->rnics_due =
		    rm_mono_add(summary->rnics_due, summary->options.rnic_interval_ns);
	if (something) {
		out.end_wall_ns = end_of(summary, wall);
		out.end_ns = (uint64_t)now.ns;
		*ret = out;
	}
	return something;
}

bool
summary_sent_all(const struct summary *summary)
{
	return summary->sent_all;
}

void
summary_renumber(struct summary *summary)
{
	for (size_t i = 0; i < WIRE_MAX_MEMBERS; i++) {
		summary_rnic_free(summary->rnics[i]);
		summary->rnics[i] = NULL;
	}
}

const struct wire_rnic_row *
summary_rnic_last(const struct summary *summary, uint32_t src)
{
	const struct summary_rnic *rnic =
	    src < WIRE_MAX_MEMBERS ? summary->rnics[src] : NULL;

	return rnic != NULL && rnic->has_last ? &rnic->last : NULL;
}

struct summary_marks
summary_marks(const struct summary *summary)
{
	return summary->marks;
}

const uint64_t *
summary_refused(const struct summary *summary)
{
	return &summary->refused;
}
