/*
 * Plans the probes between the racks of a plane: which ToRs probe each other, at which
 * rate, and by which flows. Rates are computed from the load of cables. First the load
 * of each cable is computed for one probe per second and pair of ToRs, spread as the
 * switches spread traffic. A cable with a lower load than required needs a higher rate,
 * by a factor. Each pair gets the highest rate that a cable on its paths needs. So each
 * cable that any pair crosses gets its required rate, in any Clos. Each call does the
 * work of one destination.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "region-controller/plan/plan_inter.h"
#include "region-controller/plan/plan_set.h"
#include "region-controller/store/hash.h"

/* maximum number of pairs that are examined to find valid ones */
#define MAX_LOOKED_AT 4096

static size_t
common_divisor(size_t a, size_t b)
{
	while (b != 0) {
		size_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* from: index in the rack at which the walk begins. Both racks must have usable
 * RNICs. */
static struct plan_walk
plan_walk_of(
    const struct plan_set *set, size_t src_rack, size_t dst_rack, uint64_t from)
{
	size_t sources = set->racks[src_rack].usable_count;
	size_t targets = set->racks[dst_rack].usable_count;
	uint64_t hash =
	    hash_names(plan_rack_name(set, src_rack), plan_rack_name(set, dst_rack));

	return (struct plan_walk){
		.src_rack = src_rack,
		.dst_rack = dst_rack,
		.end = sources * targets < MAX_LOOKED_AT ? sources * targets
							 : MAX_LOOKED_AT,
		/* After this many steps both indexes have their first values again. */
		.lap = sources * targets / common_divisor(sources, targets),
		.src_from = from,
		.dst_from = from + hash % targets,
	};
}

/* True: src probes dst as a member of this rack. An RNIC with two ToRs is in two racks;
 * the numbers of both RNICs decide in which of the two it is probed, so that no pair is
 * in two plans. */
static bool
answers_for(const struct plan_set *set, size_t rack, uint32_t src, uint32_t dst)
{
	const struct plan_node *node = &set->nodes[dst];

	return node->racks[(src + dst) % node->rack_count] == rack;
}

/* Moves to the next valid pair of nodes. False: there are no more. */
static bool
plan_walk_next(
    const struct plan_set *set, struct plan_walk *walk, uint32_t *src, uint32_t *dst)
{
	const struct plan_rack *from = &set->racks[walk->src_rack];
	const struct plan_rack *to = &set->racks[walk->dst_rack];

	while (walk->at < walk->end) {
		size_t i = walk->at++;
		uint64_t a = walk->src_from + i;
		uint64_t b = walk->dst_from + i + i / walk->lap;

		*src = from->usable[a % from->usable_count];
		*dst = to->usable[b % to->usable_count];
		if (plan_may_probe(set, walk->src_rack, *src, *dst) &&
		    answers_for(set, walk->dst_rack, *src, *dst))
			return true;
	}
	return false;
}

/* ---- the pairs of RNICs and the flows by which one ToR probes another ---- */

#define MIN_TUPLES 4 /* several, so that one dead RNIC does not hide a path */
/* Several flows of each pair. Then a flow that loses all packets is not taken for a
 * dead pair: the receive counts in the answers to the other flows show in which
 * direction it loses them. */
#define MIN_FLOWS 2
/* Up to this number of pairs are used even if each pair then has fewer than MIN_FLOWS
 * of the flows that the paths need, so that many RNICs are probed by other racks. */
#define MANY_TUPLES 16

static struct plan_rack *
plan_inter_rack(const struct plan_inter *inter, size_t place)
{
	return &inter->set->racks[inter->ring.places[place].rack];
}

/* Returns the number of RNICs of rack src that have a peer with the same transport in
 * rack dst. */
static size_t
plan_inter_able(const struct plan_rack *src, const struct plan_rack *dst)
{
	size_t able = 0;

	if (dst->with_qp > 0)
		able += src->with_qp;
	if (dst->with_qp < dst->usable_count)
		able += src->usable_count - src->with_qp;
	return able;
}

/* from: index in the racks at which the walk begins. */
static struct plan_walk
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

/* Returns the number of pairs of RNICs over which the flows of two racks are spread. */
static size_t
tuples_of(const struct plan_inter *inter, const struct plan_pair *pair, uint32_t flows)
{
	size_t a = plan_inter_rack(inter, pair->src)->usable_count;
	size_t b = plan_inter_rack(inter, pair->dst)->usable_count;
	size_t most = PLAN_TOR_ENTRIES / inter->ring.out, tuples = a > b ? a : b;
	size_t least = (flows + PLAN_MAX_FLOWS - 1) / PLAN_MAX_FLOWS;

	if (tuples > flows && tuples > MIN_TUPLES)
		tuples = flows > MIN_TUPLES ? flows : MIN_TUPLES;
	if (tuples > MANY_TUPLES && MIN_FLOWS * tuples > flows)
		tuples = flows > MIN_FLOWS * MANY_TUPLES
			     ? (flows + MIN_FLOWS - 1) / MIN_FLOWS
			     : MANY_TUPLES;
	if (tuples > most && most > 0)
		tuples = most;
	return tuples > least ? tuples : least;
}

/* Returns the number of flows to use. A prober goes through flows, classes (4) and
 * sizes (3) together: if the numbers had a common divisor, some flows would never be
 * used with some classes. */
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

/* Adds the entries for a pair of ToRs. */
static int
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

	/* The number of pairs decides the flows and the rate of each. */
	while (
	    found < tuples && plan_walk_next(inter->set, &walk, &entry.src, &entry.dst))
		found++;
	if (found == 0)
		return 0;
	per_tuple = (wanted + found - 1) / found;
	if (per_tuple < MIN_FLOWS)
		per_tuple = MIN_FLOWS;
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

/* ---- the destinations ---- */

/* Returns the distance, in places of the ring, from a rack to its j-th destination. All
 * distances differ. */
static size_t
ring_distance(const struct plan_ring *ring, size_t j)
{
	return 1 + j * (ring->count - 1) / ring->out;
}

static int
places_by_name(const void *a, const void *b)
{
	return strcmp(
	    ((const struct plan_place *)a)->name, ((const struct plan_place *)b)->name);
}

static void
ring_lay(struct plan_inter *inter, size_t plane)
{
	const struct plan_set *set = inter->set;
	struct plan_ring *ring = &inter->ring;
	size_t most = set->options.destinations;

	ring->plane = plane;
	ring->count = 0;
	for (size_t i = 0; i < set->rack_count; i++) {
		if (set->racks[i].plane == plane && set->racks[i].usable_count > 0)
			ring->places[ring->count++] =
			    (struct plan_place){ plan_rack_name(set, i), i };
	}
	qsort(ring->places, ring->count, sizeof(*ring->places), places_by_name);
	ring->out = ring->count == 0 ? 0 : ring->count - 1;
	ring->out = ring->out < most ? ring->out : most;
}

static void
find_pairs_to(struct plan_inter *inter, size_t d)
{
	const struct plan_ring *ring = &inter->ring;

	rm_topology_paths_to(inter->set->paths, plan_inter_rack(inter, d)->tor);
	for (size_t j = 0; j < ring->out; j++) {
		size_t s = (d + ring->count - ring_distance(ring, j)) % ring->count;
		struct plan_pair pair = { (uint32_t)s, (uint32_t)d, 0, 1,
			plan_inter_able(
			    plan_inter_rack(inter, s), plan_inter_rack(inter, d)) };
		struct plan_walk walk = plan_inter_walk(inter, &pair, 0);
		uint32_t src, dst;

		inter->set->counts.incompatible_tors += pair.able == 0;
		pair.paths = plan_paths(inter->set, ring->places[s].rack);
		if (pair.paths > 0 && plan_walk_next(inter->set, &walk, &src, &dst))
			inter->pairs[inter->pair_count++] = pair;
	}
}

/* ---- the rates ---- */

/* Returns the pairs with the next destination. */
static struct plan_pair *
next_pairs(struct plan_inter *inter, size_t *count)
{
	struct plan_pair *pairs = &inter->pairs[inter->at];
	size_t from = inter->at;

	while (
	    inter->at < inter->pair_count && inter->pairs[inter->at].dst == pairs->dst)
		inter->at++;
	*count = inter->at - from;
	rm_topology_paths_to(
	    inter->set->paths, plan_inter_rack(inter, pairs->dst)->tor);
	return pairs;
}

static void
add_loads(struct plan_inter *inter, struct plan_pair *pairs, size_t count)
{
	size_t switches = rm_topology_switches(inter->set->topology);

	memset(inter->rates, 0, switches * sizeof(*inter->rates));
	for (size_t i = 0; i < count; i++)
		inter->rates[plan_inter_rack(inter, pairs[i].src)->tor] = pairs[i].rate;
	rm_topology_paths_load(inter->set->paths, inter->rates, inter->loads);
}

static void
ask_neediest(struct plan_inter *inter, struct plan_pair *pairs, size_t count)
{
	rm_topology_paths_worst(inter->set->paths, inter->loads, inter->worst);
	for (size_t i = 0; i < count; i++)
		pairs[i].rate = inter->worst[plan_inter_rack(inter, pairs[i].src)->tor];
}

/* Limits what an RNIC sends: reduces the rates of all pairs of a rack by the same
 * factor, which is computed for an RNIC that takes part in all of them. */
static void
cap_rates(struct plan_inter *inter)
{
	const struct plan_set *set = inter->set;
	size_t switches = rm_topology_switches(set->topology);
	double most = set->options.inter_max_rate_per_s;

	memset(inter->rates, 0, switches * sizeof(*inter->rates));
	for (size_t i = 0; i < inter->pair_count; i++)
		inter->rates[plan_inter_rack(inter, inter->pairs[i].src)->tor] +=
		    inter->pairs[i].rate / (double)inter->pairs[i].able;
	for (size_t i = 0; i < inter->pair_count; i++) {
		size_t tor = plan_inter_rack(inter, inter->pairs[i].src)->tor;

		if (inter->rates[tor] > most)
			inter->pairs[i].rate *= most / inter->rates[tor];
	}
}

static void
clear_loads(struct plan_inter *inter)
{
	size_t directions = 2 * rm_topology_links(inter->set->topology);

	memset(inter->loads, 0, directions * sizeof(*inter->loads));
}

/* For a topology without links: assumes as many uplinks as paths. */
static void
assume_rates(struct plan_inter *inter)
{
	double asked = inter->set->options.link_rate_per_s;

	for (size_t i = 0; i < inter->pair_count; i++)
		inter->pairs[i].rate =
		    asked * inter->pairs[i].paths / (double)inter->ring.out;
	cap_rates(inter);
}

/* Replaces the load of each cable by the factor by which it must rise. */
static void
turn_loads(struct plan_inter *inter)
{
	size_t directions = 2 * rm_topology_links(inter->set->topology);
	double asked = inter->set->options.link_rate_per_s;

	for (size_t i = 0; i < directions; i++)
		inter->loads[i] = inter->loads[i] > 0 ? asked / inter->loads[i] : 0;
}

static void
count_short_cables(struct plan_inter *inter)
{
	size_t directions = 2 * rm_topology_links(inter->set->topology);
	double asked = inter->set->options.link_rate_per_s;

	for (size_t i = 0; i < directions; i++)
		inter->set->counts.short_cables +=
		    inter->loads[i] > 0 && inter->loads[i] < 0.999 * asked;
}

static int
add_pairs(struct plan_inter *inter, const struct plan_pair *pairs, size_t count)
{
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++)
		r = plan_inter_add(inter, &pairs[i]);
	return r;
}

/* ---- step by step ---- */

/* Called when a stage has handled all destinations. */
static void
next_stage(struct plan_inter *inter)
{
	bool linked = inter->set->linked[inter->ring.plane];

	inter->at = 0;
	switch (inter->stage) {
	case INTER_FIND:
		if (!linked)
			assume_rates(inter);
		clear_loads(inter);
		inter->stage = linked ? INTER_MEASURE : INTER_ADD;
		break;
	case INTER_MEASURE:
		turn_loads(inter);
		inter->stage = INTER_ASK;
		break;
	case INTER_ASK:
		cap_rates(inter);
		clear_loads(inter);
		inter->stage = INTER_MEASURE_AGAIN;
		break;
	case INTER_MEASURE_AGAIN:
		count_short_cables(inter);
		inter->stage = INTER_ADD;
		break;
	default:
		inter->stage = INTER_LAY;
		break;
	}
}

static int
begin_plane(struct plan_inter *inter)
{
	ring_lay(inter, inter->planes++);
	if (inter->ring.count < 2)
		return 0;
	free(inter->pairs);
	inter->pair_count = 0;
	inter->pairs =
	    calloc(inter->ring.count * inter->ring.out + 1, sizeof(*inter->pairs));
	inter->stage = INTER_FIND;
	return inter->pairs == NULL ? -ENOMEM : 0;
}

static int
step_pairs(struct plan_inter *inter)
{
	size_t count;
	struct plan_pair *pairs = next_pairs(inter, &count);

	if (inter->stage == INTER_ADD)
		return add_pairs(inter, pairs, count);
	if (inter->stage == INTER_ASK)
		ask_neediest(inter, pairs, count);
	else
		add_loads(inter, pairs, count);
	return 0;
}

static int
step(struct plan_inter *inter)
{
	if (inter->stage == INTER_LAY)
		return begin_plane(inter);
	if (inter->stage == INTER_FIND && inter->at < inter->ring.count)
		find_pairs_to(inter, inter->at++);
	else if (inter->stage != INTER_FIND && inter->at < inter->pair_count)
		return step_pairs(inter);
	else
		next_stage(inter);
	return 0;
}

static struct plan_inter *
inter_new(struct plan_set *set)
{
	size_t switches = rm_topology_switches(set->topology);
	struct plan_inter *inter = calloc(1, sizeof(*inter));

	if (inter == NULL)
		return NULL;
	inter->set = set;
	inter->ring.places = calloc(set->rack_count + 1, sizeof(*inter->ring.places));
	inter->loads =
	    calloc(2 * rm_topology_links(set->topology) + 1, sizeof(*inter->loads));
	inter->rates = calloc(switches, sizeof(*inter->rates));
	inter->worst = calloc(switches, sizeof(*inter->worst));
	if (inter->ring.places != NULL && inter->loads != NULL &&
	    inter->rates != NULL && inter->worst != NULL)
		return inter;
	plan_inter_free(inter);
	return NULL;
}

void
plan_inter_free(struct plan_inter *inter)
{
	if (inter == NULL)
		return;
	free(inter->ring.places);
	free(inter->loads);
	free(inter->rates);
	free(inter->worst);
	free(inter->pairs);
	free(inter);
}

int
plan_inter_tor(struct plan_set *set)
{
	int r;

	if (set->inter == NULL)
		set->inter = inter_new(set);
	if (set->inter == NULL)
		return -ENOMEM;
	if (set->inter->stage == INTER_LAY &&
	    set->inter->planes == rm_topology_planes(set->topology)) {
		plan_inter_free(set->inter);
		set->inter = NULL;
		return 0;
	}
	r = step(set->inter);
	return r < 0 ? r : 1;
}
