/*
 * Chooses witnesses for small racks: a rack of two RNICs cannot find out by itself
 * which of them is faulty. The choice is by rendezvous hashing, so that adding or
 * removing an RNIC changes few of the witnesses.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "region-controller/plan/plan_set.h"
#include "region-controller/store/hash.h"

#define MAX_WITNESSES 16
/* number of witnesses from the best rack; each further rack gives one */
#define FIRST_RACK_SHARE 2

struct choice {
	size_t rack;
	uint64_t score;
};

struct witness {
	struct plan_set *set;
	size_t rack;          /* the small rack */
	struct choice *racks; /* other racks that can be reached, the best first */
	size_t count;
	/* the witnesses of one RNIC that were chosen so far */
	uint32_t chosen[MAX_WITNESSES];
	size_t chosen_count;
};

static int
choices_by_score(const void *a, const void *b)
{
	const struct choice *x = a, *y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return (x->rack > y->rack) - (x->rack < y->rack);
}

/* A path can be used in both directions, so only the direction to the small rack is
 * checked. */
static void
find_racks(struct witness *witness)
{
	struct plan_set *set = witness->set;

	witness->count = 0;
	rm_topology_paths_to(set->paths, set->racks[witness->rack].tor);
	for (size_t i = 0; i < set->rack_count; i++) {
		if (i == witness->rack || set->racks[i].usable_count == 0 ||
		    set->racks[i].plane != set->racks[witness->rack].plane ||
		    plan_paths(set, i) == 0)
			continue;
		witness->racks[witness->count].rack = i;
		witness->racks[witness->count++].score = hash_names(
		    plan_rack_name(set, witness->rack), plan_rack_name(set, i));
	}
	qsort(
	    witness->racks, witness->count, sizeof(*witness->racks), choices_by_score);
}

static bool
host_is_in_rack(const struct witness *witness, const char *host)
{
	const struct plan_rack *rack = &witness->set->racks[witness->rack];

	for (size_t i = 0; i < rack->member_count; i++) {
		if (strcmp(witness->set->nodes[rack->members[i]].rnic->host, host) == 0)
			return true;
	}
	return false;
}

/* Returns the rank of a possible witness; lower is better. It is 1 higher if another
 * RNIC of its host is a witness already, and 2 higher if its host has an RNIC in the
 * small rack. -1: the RNIC itself is a witness already. */
static int
witness_rank(const struct witness *witness, uint32_t dst)
{
	const struct registry_rnic *rnic = witness->set->nodes[dst].rnic;
	int rank = host_is_in_rack(witness, rnic->host) ? 2 : 0;

	for (size_t i = 0; i < witness->chosen_count; i++) {
		if (witness->chosen[i] == dst)
			return -1;
		if (strcmp(witness->set->nodes[witness->chosen[i]].rnic->host,
			rnic->host) == 0)
			rank |= 1;
	}
	return rank;
}

/* Finds the best RNIC of a rack that may be probed and is not a witness yet. False:
 * there is none. */
static bool
choose_of(const struct witness *witness, size_t from, uint32_t src, uint32_t *ret)
{
	const struct plan_rack *rack = &witness->set->racks[from];
	const struct plan_node *nodes = witness->set->nodes;
	int best = -1;
	uint64_t best_score = 0;

	for (size_t i = 0; i < rack->usable_count; i++) {
		uint32_t dst = rack->usable[i];
		uint64_t score;
		int rank;

		if (!plan_may_probe(witness->set, witness->rack, src, dst))
			continue;
		rank = witness_rank(witness, dst);
		score = hash_mix(nodes[src].rnic->key.guid + nodes[src].rnic->key.port,
		    nodes[dst].rnic->key.guid + nodes[dst].rnic->key.port);
		if (rank < 0 || (best >= 0 && rank > best) ||
		    (best == rank && score <= best_score))
			continue;
		best = rank;
		best_score = score;
		*ret = dst;
	}
	return best >= 0;
}

/* Chooses two witnesses from the best rack and one from each further one, then from all
 * that are left. */
static void
choose(struct witness *witness, uint32_t src)
{
	size_t wanted = witness->set->options.witness_targets;
	size_t share = FIRST_RACK_SHARE;

	if (wanted > MAX_WITNESSES)
		wanted = MAX_WITNESSES;
	witness->chosen_count = 0;
	for (unsigned round = 0; round < 2; round++) {
		for (size_t i = 0; i < witness->count; i++) {
			size_t left = round > 0 ? wanted : share;
			uint32_t dst = 0;

			while (left > 0 && witness->chosen_count < wanted &&
			       choose_of(witness, witness->racks[i].rack, src, &dst)) {
				witness->chosen[witness->chosen_count++] = dst;
				left--;
				share = 1;
			}
			if (witness->chosen_count == wanted)
				return;
		}
	}
}

static int
add_witnesses(struct witness *witness, uint32_t src)
{
	struct plan_set *set = witness->set;
	struct plan_entry entry = {
		.src = src,
		.kind = WIRE_WITNESS,
		.interval_us = set->options.witness_interval_ms * 1000,
		.flow_count = 5,
	};
	int r = 0;

	choose(witness, src);
	set->counts.rnics_short_of_witnesses +=
	    witness->chosen_count < set->options.witness_targets;
	for (size_t i = 0; i < witness->chosen_count && r == 0; i++) {
		entry.dst = witness->chosen[i];
		r = plan_add_entry(set, witness->rack, &entry);
		set->counts.witness_entries += r == 0;
	}
	return r == -ENOSPC ? 0 : r;
}

static int
add_reflector(struct witness *witness, uint32_t src, uint32_t reflector)
{
	struct plan_set *set = witness->set;
	struct plan_entry entry = {
		.src = src,
		.dst = reflector,
		.kind = WIRE_TOR_REFLECTOR,
		.interval_us = set->options.witness_interval_ms * 1000,
		.flow_count = 1,
	};
	int r;

	if (!plan_may_probe(set, witness->rack, src, reflector))
		return 0;
	r = plan_add_entry(set, witness->rack, &entry);
	set->counts.reflector_entries += r == 0;
	return r == -ENOSPC ? 0 : r;
}

static bool
find_reflector(const struct plan_set *set, size_t rack, uint32_t *ret)
{
	const struct rm_switch *tor =
	    rm_topology_switch(set->topology, set->racks[rack].tor);

	for (size_t i = set->node_count; i-- > 0 && set->nodes[i].sw != NULL;) {
		if (set->nodes[i].sw == tor) {
			*ret = (uint32_t)i;
			return true;
		}
	}
	return false;
}

/* True: the RNIC needs witnesses, because few RNICs of its rack have its transport. An
 * RNIC without an address counts like all others. */
static bool
is_short_of_peers(const struct witness *witness, uint32_t src)
{
	const struct plan_rack *rack = &witness->set->racks[witness->rack];
	const struct plan_node *node = &witness->set->nodes[src];
	size_t unlike = rack->usable_count - plan_count_transport(rack, node);

	return rack->member_count - unlike < witness->set->options.witness_below;
}

static int
add_rack(struct witness *witness)
{
	const struct plan_rack *rack = &witness->set->racks[witness->rack];
	uint32_t reflector = 0;
	bool reflects;
	int r = 0;

	find_racks(witness);
	reflects = find_reflector(witness->set, witness->rack, &reflector);
	for (size_t i = 0; i < rack->usable_count && r == 0; i++) {
		if (!is_short_of_peers(witness, rack->usable[i]))
			continue;
		r = add_witnesses(witness, rack->usable[i]);
		if (r == 0 && reflects)
			r = add_reflector(witness, rack->usable[i], reflector);
	}
	return r;
}

/* True: some RNIC of the rack may need witnesses, so each one has to be checked. */
static bool
may_be_short_of_peers(const struct plan_set *set, const struct plan_rack *rack)
{
	return rack->usable_count > 0 &&
	       (rack->member_count < set->options.witness_below ||
		   (rack->with_qp > 0 && rack->with_qp < rack->usable_count));
}

int
plan_witness(struct plan_set *set, size_t rack)
{
	struct witness witness = { .set = set, .rack = rack };
	int r;

	if (!may_be_short_of_peers(set, &set->racks[rack]))
		return 0;
	witness.racks = calloc(set->rack_count + 1, sizeof(*witness.racks));
	if (witness.racks == NULL)
		return -ENOMEM;
	r = add_rack(&witness);
	free(witness.racks);
	return r;
}
