/*
 * Between the racks of a plane: which ToRs probe each other, how fast, by which flows.
 *
 * Rates come from what links carry. First every pair of ToRs is given one probe a
 * second, spread as the switches spread it; a cable that then carries less than it
 * should asks for that many times more, and a pair gives what the neediest cable on
 * its way asks for. So every cable that any pair crosses has its rate, in any Clos.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "region-controller/coverage.h"
#include "region-controller/plan_set.h"
#include "region-controller/plan_walk.h"

#define MIN_TUPLES 4 /* so that one dead RNIC does not hide a path */

/* A plane's racks that can be probed, by name: neighbours in the ring of a pair do not
 * depend on the file's order. */
struct place {
	const char *name;
	size_t rack;
};

struct ring {
	size_t plane;
	struct place *places;
	size_t count;
	size_t out; /* destinations of each */
};

struct pair {              /* one ToR probes another */
	uint32_t src, dst; /* places in the ring */
	uint32_t paths;
	double rate; /* probes a second */
};

struct inter {
	struct plan_set *set;
	struct ring ring;
	struct pair *pairs; /* by destination, then source */
	size_t pair_count;
	double *loads; /* per direction of a link; then what is asked for */
	double *rates; /* per switch */
	double *worst; /* per switch */
	uint32_t
	    flows[COVERAGE_MAX_PATHS + 1]; /* coverage's answers; 0: not asked yet */
};

/* ---- who ------------------------------------------------------------------- */

/* The j-th of the distances at which a rack's destinations lie; all different. */
static size_t
ring_distance(const struct ring *ring, size_t j)
{
	return 1 + j * (ring->count - 1) / ring->out;
}

static struct plan_rack *
ring_rack(const struct inter *inter, size_t place)
{
	return &inter->set->racks[inter->ring.places[place].rack];
}

static int
places_by_name(const void *a, const void *b)
{
	return strcmp(((const struct place *)a)->name, ((const struct place *)b)->name);
}

static void
ring_lay(struct inter *inter, size_t plane)
{
	const struct plan_set *set = inter->set;
	struct ring *ring = &inter->ring;
	size_t most = set->options.destinations;

	ring->plane = plane;
	ring->count = 0;
	for (size_t i = 0; i < set->rack_count; i++) {
		if (set->racks[i].plane == plane && set->racks[i].usable_count > 0)
			ring->places[ring->count++] =
			    (struct place){ plan_rack_name(set, i), i };
	}
	qsort(ring->places, ring->count, sizeof(*ring->places), places_by_name);
	ring->out = ring->count == 0 ? 0 : ring->count - 1;
	ring->out = ring->out < most ? ring->out : most;
}

static struct plan_walk
walk_of(const struct inter *inter, const struct pair *pair, uint64_t from)
{
	return plan_walk_of(inter->set, inter->ring.places[pair->src].rack,
	    inter->ring.places[pair->dst].rack, from);
}

static int
find_pairs(struct inter *inter)
{
	const struct ring *ring = &inter->ring;

	inter->pair_count = 0;
	free(inter->pairs);
	inter->pairs = calloc(ring->count * ring->out + 1, sizeof(*inter->pairs));
	if (inter->pairs == NULL)
		return -ENOMEM;
	for (size_t d = 0; d < ring->count; d++) {
		rm_topology_paths_to(inter->set->paths, ring_rack(inter, d)->tor);
		for (size_t j = 0; j < ring->out; j++) {
			size_t s =
			    (d + ring->count - ring_distance(ring, j)) % ring->count;
			struct pair pair = { (uint32_t)s, (uint32_t)d, 0, 0 };
			struct plan_walk walk = walk_of(inter, &pair, 0);
			uint32_t src, dst;

			pair.paths = plan_paths(inter->set, ring->places[s].rack);
			if (pair.paths > 0 &&
			    plan_walk_next(inter->set, &walk, &src, &dst))
				inter->pairs[inter->pair_count++] = pair;
		}
	}
	return 0;
}

/* ---- how fast --------------------------------------------------------------- */

/* Calls for every destination with the pairs that lead there. */
static void
each_destination(struct inter *inter,
    void (*fn)(struct inter *inter, struct pair *pairs, size_t count))
{
	for (size_t i = 0, end; i < inter->pair_count; i = end) {
		uint32_t dst = inter->pairs[i].dst;

		for (end = i; end < inter->pair_count && inter->pairs[end].dst == dst;)
			end++;
		rm_topology_paths_to(inter->set->paths, ring_rack(inter, dst)->tor);
		fn(inter, &inter->pairs[i], end - i);
	}
}

static void
add_loads(struct inter *inter, struct pair *pairs, size_t count)
{
	size_t switches = rm_topology_switches(inter->set->topology);

	memset(inter->rates, 0, switches * sizeof(*inter->rates));
	for (size_t i = 0; i < count; i++)
		inter->rates[ring_rack(inter, pairs[i].src)->tor] = pairs[i].rate;
	rm_topology_paths_load(inter->set->paths, inter->rates, inter->loads);
}

static void
ask_neediest(struct inter *inter, struct pair *pairs, size_t count)
{
	rm_topology_paths_worst(inter->set->paths, inter->loads, inter->worst);
	for (size_t i = 0; i < count; i++)
		pairs[i].rate = inter->worst[ring_rack(inter, pairs[i].src)->tor];
}

static void
measure_loads(struct inter *inter)
{
	size_t directions = 2 * rm_topology_links(inter->set->topology);

	memset(inter->loads, 0, directions * sizeof(*inter->loads));
	each_destination(inter, add_loads);
}

/* No RNIC sends more than it may: a rack's pairs shrink alike. */
static void
cap_rates(struct inter *inter)
{
	const struct plan_set *set = inter->set;
	size_t switches = rm_topology_switches(set->topology);

	memset(inter->rates, 0, switches * sizeof(*inter->rates));
	for (size_t i = 0; i < inter->pair_count; i++)
		inter->rates[ring_rack(inter, inter->pairs[i].src)->tor] +=
		    inter->pairs[i].rate;
	for (size_t i = 0; i < inter->pair_count; i++) {
		const struct plan_rack *rack = ring_rack(inter, inter->pairs[i].src);
		double most = (double)set->options.inter_max_rate_per_s *
			      (double)rack->usable_count;

		if (inter->rates[rack->tor] > most)
			inter->pairs[i].rate *= most / inter->rates[rack->tor];
	}
}

static void
find_rates(struct inter *inter)
{
	struct plan_set *set = inter->set;
	size_t directions = 2 * rm_topology_links(set->topology);
	double asked = set->options.link_rate_per_s;

	if (!set->linked[inter->ring.plane]) {
		/* As many uplinks as paths are assumed. */
		for (size_t i = 0; i < inter->pair_count; i++)
			inter->pairs[i].rate =
			    asked * inter->pairs[i].paths / (double)inter->ring.out;
		cap_rates(inter);
		return;
	}
	for (size_t i = 0; i < inter->pair_count; i++)
		inter->pairs[i].rate = 1;
	measure_loads(inter);
	for (size_t i = 0; i < directions; i++)
		inter->loads[i] = inter->loads[i] > 0 ? asked / inter->loads[i] : 0;
	each_destination(inter, ask_neediest);
	cap_rates(inter);
	measure_loads(inter);
	for (size_t i = 0; i < directions; i++)
		set->counts.short_cables +=
		    inter->loads[i] > 0 && inter->loads[i] < 0.999 * asked;
}

/* ---- by which flows ---------------------------------------------------------- */

static uint32_t
flows_wanted(struct inter *inter, uint32_t paths)
{
	if (inter->flows[paths] == 0)
		inter->flows[paths] =
		    coverage_flows(paths, inter->set->options.coverage);
	return inter->flows[paths];
}

/* Into how many pairs of RNICs the flows of two racks are split. */
static size_t
tuples_of(const struct inter *inter, const struct pair *pair, uint32_t flows)
{
	size_t a = ring_rack(inter, pair->src)->usable_count;
	size_t b = ring_rack(inter, pair->dst)->usable_count;
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
set_pace(const struct inter *inter, double rate, struct plan_entry *entry)
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

static int
add_pair(struct inter *inter, const struct pair *pair)
{
	struct plan_set *set = inter->set;
	const struct ring *ring = &inter->ring;
	uint32_t wanted = flows_wanted(inter, pair->paths);
	size_t tuples = tuples_of(inter, pair, wanted), found = 0, per_tuple;
	size_t distance = (pair->dst + ring->count - pair->src) % ring->count;
	struct plan_walk walk = walk_of(inter, pair, distance * tuples), again = walk;
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

static int
plan_plane(struct inter *inter, size_t plane)
{
	int r;

	ring_lay(inter, plane);
	if (inter->ring.count < 2)
		return 0;
	r = find_pairs(inter);
	if (r < 0)
		return r;
	find_rates(inter);
	for (size_t i = 0; i < inter->pair_count && r == 0; i++)
		r = add_pair(inter, &inter->pairs[i]);
	return r;
}

int
plan_inter_tor(struct plan_set *set)
{
	size_t switches = rm_topology_switches(set->topology);
	struct inter inter = {
		.set = set,
		.ring.places = calloc(set->rack_count + 1, sizeof(*inter.ring.places)),
		.loads = calloc(
		    2 * rm_topology_links(set->topology) + 1, sizeof(*inter.loads)),
		.rates = calloc(switches, sizeof(*inter.rates)),
		.worst = calloc(switches, sizeof(*inter.worst)),
	};
	int r = 0;

	if (inter.ring.places == NULL || inter.loads == NULL || inter.rates == NULL ||
	    inter.worst == NULL)
		r = -ENOMEM;
	for (size_t i = 0; i < rm_topology_planes(set->topology) && r == 0; i++)
		r = plan_plane(&inter, i);
	free(inter.ring.places);
	free(inter.loads);
	free(inter.rates);
	free(inter.worst);
	free(inter.pairs);
	return r;
}
