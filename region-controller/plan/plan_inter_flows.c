/* By which pairs of RNICs and which flows one ToR probes another. */
#include <errno.h>

#include "region-controller/plan/plan_inter.h"

#define MIN_TUPLES 4 /* so that one dead RNIC does not hide a path */

struct plan_rack *
plan_inter_rack(const struct plan_inter *inter, size_t place)
{
	return &inter->set->racks[inter->ring.places[place].rack];
}

size_t
plan_inter_able(const struct plan_rack *src, const struct plan_rack *dst)
{
	size_t able = 0;

	if (dst->with_qp > 0)
		able += src->with_qp;
	if (dst->with_qp < dst->usable_count)
		able += src->usable_count - src->with_qp;
	return able;
}

struct plan_walk
plan_inter_walk(
    const struct plan_inter *inter, const struct plan_pair *pair, uint64_t from)
{
	return plan_walk_of(inter->set, inter->ring.places[pair->src].rack,
	    inter->ring.places[pair->dst].rack, from);
}

static uint32_t
flows_wanted(struct plan_inter *inter, uint32_t paths)
{
	if (inter->flows[paths] == 0)
		inter->flows[paths] =
		    coverage_flows(paths, inter->set->options.coverage);
	return inter->flows[paths];
}

/* Into how many pairs of RNICs the flows of two racks are split. */
static size_t
tuples_of(const struct plan_inter *inter, const struct plan_pair *pair, uint32_t flows)
{
	size_t a = plan_inter_rack(inter, pair->src)->usable_count;
	size_t b = plan_inter_rack(inter, pair->dst)->usable_count;
	size_t most = PLAN_TOR_ENTRIES / inter->ring.out, tuples = a > b ? a : b;
	size_t least = (flows + PLAN_MAX_FLOWS - 1) / PLAN_MAX_FLOWS;

	if (tuples > flows && tuples > MIN_TUPLES)
		tuples = flows > MIN_TUPLES ? flows : MIN_TUPLES;
	if (tuples > most && most > 0)
		tuples = most;
	return tuples > least ? tuples : least;
}

/* Flows, classes (4) and sizes (3) take turns together: with a common divisor some
 * flows would never meet some classes. */
static uint16_t
flows_in_turn(size_t flows)
{
	while (flows % 2 == 0 || flows % 3 == 0)
		flows++;
	return (uint16_t)(flows < PLAN_MAX_FLOWS ? flows : PLAN_MAX_FLOWS);
}

static void
set_pace(const struct plan_inter *inter, double rate, struct plan_entry *entry)
{
	double interval_us = 1e6 / rate;

	if (interval_us > inter->set->options.pair_above_ms * 1e3) {
		entry->paired = true;
		interval_us *= 2;
	}
	if (interval_us < PLAN_MIN_INTERVAL_US)
		interval_us = PLAN_MIN_INTERVAL_US;
	if (interval_us > PLAN_MAX_INTERVAL_US)
		interval_us = PLAN_MAX_INTERVAL_US;
	entry->interval_us = (uint32_t)interval_us;
}

int
plan_inter_add(struct plan_inter *inter, const struct plan_pair *pair)
{
	struct plan_set *set = inter->set;
	const struct plan_ring *ring = &inter->ring;
	uint32_t wanted = flows_wanted(inter, pair->paths);
	size_t tuples = tuples_of(inter, pair, wanted), found = 0, per_tuple;
	size_t distance = (pair->dst + ring->count - pair->src) % ring->count;
	struct plan_walk walk = plan_inter_walk(inter, pair, distance * tuples),
			 again = walk;
	struct plan_entry entry = { .kind = WIRE_INTER_TOR };
	int r = 0;

	/* How many there are decides the flows and the pace of each. */
	while (
	    found < tuples && plan_walk_next(inter->set, &walk, &entry.src, &entry.dst))
		found++;
	if (found == 0)
		return 0;
	per_tuple = (wanted + found - 1) / found;
	entry.flow_count = flows_in_turn(per_tuple);
	set->counts.short_pairs += entry.flow_count * found < wanted;
	set->counts.pairs++;
	set_pace(inter, pair->rate / (double)found, &entry);
	for (size_t i = 0; i < found && r == 0; i++) {
		plan_walk_next(inter->set, &again, &entry.src, &entry.dst);
		r = plan_add_entry(set, ring->places[pair->src].rack, &entry);
		set->counts.inter_tor_entries += r == 0;
	}
	return r == -ENOSPC ? 0 : r;
}
