#include "region-controller/plan/plan_walk.h"

#include "region-controller/plan/plan_set.h"
#include "region-controller/store/hash.h"

#define MAX_LOOKED_AT 4096 /* pairs, in search of valid ones */

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

struct plan_walk
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
		/* After so many steps both are where they began. */
		.lap = sources * targets / common_divisor(sources, targets),
		.src_from = from,
		.dst_from = from + hash % targets,
	};
}

/* A bonded RNIC is in two racks; by its number and the prober's it belongs to one of
 * them, so that no plan has the same pair twice. */
static bool
answers_for(const struct plan_set *set, size_t rack, uint32_t src, uint32_t dst)
{
	const struct plan_node *node = &set->nodes[dst];

	return node->racks[(src + dst) % node->rack_count] == rack;
}

bool
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
