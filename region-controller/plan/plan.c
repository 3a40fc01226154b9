#include "region-controller/plan/plan.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "region-controller/plan/plan_set.h"

const struct plan_options plan_defaults = {
	.mesh_peers = 10,
	.mesh_interval_ms = 100,
	.mesh_max_rate_per_s = 70,
	.mesh_rotation_s = 60,
	.coverage = 0.99,
	.link_rate_per_s = 10,
	.inter_max_rate_per_s = 60,
	.destinations = 64,
	.assumed_paths = 4,
	.pair_above_ms = 300,
	.witness_below = 4,
	.witness_targets = 3,
	.witness_interval_ms = 100,
	.dscp = 26,
	.dscp_best_effort = 0,
};

/* ---- nodes and racks ------------------------------------------------------- */

static void
node_of_rnic(const struct plan_set *set, const struct registry_rnic *rnic,
    struct plan_node *node)
{
	node->rnic = rnic;
	node->qp = rnic->qpn != 0;
	node->rack_count = rnic->tor_count;
	for (size_t i = 0; i < rnic->tor_count; i++)
		node->racks[i] = set->rack_of[rnic->switches[i]];
	for (size_t i = 0; i < rnic->address_count; i++) {
		node->v4 |= rnic->addresses[i].family == 4;
		node->v6 |= rnic->addresses[i].family == 6;
	}
}

/* Copies all RNICs that have a place, sorted by id. */
static int
copy_rnics(struct plan_set *set, const struct registry *registry, size_t *ret)
{
	const struct registry_rnic **all = NULL;
	size_t count = 0, placed = 0;
	int r;

	r = registry_sorted(registry, &all, &count);
	if (r < 0)
		return r;
	set->rnics = malloc((count + 1) * sizeof(*set->rnics));
	for (size_t i = 0; set->rnics != NULL && i < count; i++) {
		if (all[i]->refusal == REGISTRY_PLACED)
			set->rnics[placed++] = *all[i];
	}
	free(all);
	*ret = placed;
	return set->rnics == NULL ? -ENOMEM : 0;
}

static int
make_nodes(struct plan_set *set, const struct registry *registry)
{
	size_t switches = rm_topology_switches(set->topology), count = 0;
	int r;

	r = copy_rnics(set, registry, &count);
	if (r < 0)
		return r;
	set->nodes = calloc(count + switches, sizeof(*set->nodes));
	if (set->nodes == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		node_of_rnic(set, &set->rnics[i], &set->nodes[set->node_count++]);
	for (size_t i = 0; i < switches; i++) {
		const struct rm_switch *sw = rm_topology_switch(set->topology, i);
		struct plan_node *node = &set->nodes[set->node_count];

		if (!sw->has_reflector)
			continue;
		node->sw = sw;
		node->v4 = sw->reflector.storage.ss_family == AF_INET;
		node->v6 = sw->reflector.storage.ss_family == AF_INET6;
		set->node_count++;
	}
	return 0;
}

static int
make_racks(struct plan_set *set)
{
	size_t switches = rm_topology_switches(set->topology);

	set->rack_of = calloc(switches, sizeof(*set->rack_of));
	set->racks = calloc(switches, sizeof(*set->racks));
	if (set->rack_of == NULL || set->racks == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < switches; i++) {
		const struct rm_switch *sw = rm_topology_switch(set->topology, i);

		set->rack_of[i] = PLAN_NO_RACK;
		if (sw->role != RM_SWITCH_TOR)
			continue;
		set->racks[set->rack_count].tor = i;
		set->racks[set->rack_count].plane = sw->plane;
		set->rack_of[i] = set->rack_count++;
	}
	return 0;
}

static int
fill_racks(struct plan_set *set)
{
	for (size_t i = 0; i < set->node_count; i++) {
		for (size_t k = 0; k < set->nodes[i].rack_count; k++)
			set->racks[set->nodes[i].racks[k]].member_count++;
	}
	for (size_t i = 0; i < set->rack_count; i++) {
		struct plan_rack *rack = &set->racks[i];

		rack->members = calloc(rack->member_count + 1, sizeof(*rack->members));
		rack->usable = calloc(rack->member_count + 1, sizeof(*rack->usable));
		if (rack->members == NULL || rack->usable == NULL)
			return -ENOMEM;
		set->counts.members += rack->member_count;
		rack->member_count = 0;
	}
	for (size_t i = 0; i < set->node_count; i++) {
		const struct plan_node *node = &set->nodes[i];

		for (size_t k = 0; k < node->rack_count; k++) {
			struct plan_rack *rack = &set->racks[node->racks[k]];

			rack->members[rack->member_count++] = (uint32_t)i;
			if (!node->v4 && !node->v6)
				continue;
			rack->usable[rack->usable_count++] = (uint32_t)i;
			rack->with_qp += node->qp;
		}
	}
	for (size_t i = 0; i < set->rack_count; i++)
		set->counts.incompatible_members +=
		    set->racks[i].with_qp *
		    (set->racks[i].usable_count - set->racks[i].with_qp);
	set->counts.racks = set->rack_count;
	return 0;
}

/* ---- functions that several parts of planning use ---- */

const char *
plan_rack_name(const struct plan_set *set, size_t rack)
{
	return rm_topology_switch(set->topology, set->racks[rack].tor)->name;
}

bool
plan_in_rack(const struct plan_node *node, size_t rack)
{
	for (size_t i = 0; i < node->rack_count; i++) {
		if (node->racks[i] == rack)
			return true;
	}
	return false;
}

size_t
plan_count_transport(const struct plan_rack *rack, const struct plan_node *node)
{
	return node->qp ? rack->with_qp : rack->usable_count - rack->with_qp;
}

bool
plan_may_probe(const struct plan_set *set, size_t rack, uint32_t src, uint32_t dst)
{
	const struct plan_node *a = &set->nodes[src], *b = &set->nodes[dst];

	if (src == dst || plan_in_rack(b, rack) || a->qp != b->qp)
		return false;
	if (!(a->v4 && b->v4) && !(a->v6 && b->v6))
		return false;
	return b->rnic == NULL || strcmp(a->rnic->host, b->rnic->host) != 0;
}

uint16_t
plan_small_bytes(const struct plan_node *node)
{
	return node->qp ? PLAN_ROCE_SMALL_BYTES : PLAN_SMALL_BYTES;
}

uint16_t
plan_full_bytes(const struct plan_node *a, const struct plan_node *b)
{
	uint32_t mtu_a = a->rnic != NULL ? a->rnic->mtu_bytes : 0;
	uint32_t mtu_b = b->rnic != NULL ? b->rnic->mtu_bytes : 0;
	uint32_t mtu = mtu_a < mtu_b ? mtu_a : mtu_b;
	/* The aggregator chooses the address family, so the size must fit both. */
	uint32_t headers = a->v6 && b->v6 ? 40 + 8 : 20 + 8;

	if (b->qp) {
		headers = 0;
		/* Without a large QP, the target has no receive buffers for larger
		 * probes. */
		if (b->rnic->large_qpn == 0 && mtu > WIRE_ROCE_SMALL_BYTES)
			mtu = WIRE_ROCE_SMALL_BYTES;
	}
	if (mtu <= headers + plan_small_bytes(b))
		return 0;
	mtu -= headers;
	return (uint16_t)(mtu < PLAN_MAX_SIZE_BYTES ? mtu : PLAN_MAX_SIZE_BYTES);
}

uint16_t
plan_port(uint64_t seed, size_t i)
{
	/* odd, so that all numbers of a power of two are visited */
	size_t stride = (seed >> 32) | 1;

	return (uint16_t)(PLAN_PORT_BASE + (seed + i * stride) % PLAN_PORT_COUNT);
}

int
plan_add_entry(struct plan_set *set, size_t rack_index, const struct plan_entry *entry)
{
	struct plan_rack *rack = &set->racks[rack_index];

	if (rack->entry_count >= WIRE_MAX_ENTRIES) {
		set->counts.dropped_entries++;
		return -ENOSPC;
	}
	if (rack->entry_count == rack->entries_allocated) {
		size_t wanted =
		    rack->entries_allocated ? 2 * rack->entries_allocated : 16;
		struct plan_entry *bigger =
		    reallocarray(rack->entries, wanted, sizeof(*bigger));

		if (bigger == NULL)
			return -ENOMEM;
		rack->entries = bigger;
		rack->entries_allocated = wanted;
	}
	rack->entries[rack->entry_count++] = *entry;
	return 0;
}

uint32_t
plan_paths(const struct plan_set *set, size_t from)
{
	const struct plan_rack *rack = &set->racks[from];

	if (!set->linked[rack->plane])
		return set->options.assumed_paths;
	return rm_topology_paths_from(set->paths, rack->tor);
}

/* ---- the set ---------------------------------------------------------------- */

int
plan_set_begin(const struct rm_topology *topology, const struct registry *registry,
    const struct plan_options *options, struct plan_set **ret)
{
	struct plan_set *set = calloc(1, sizeof(*set));
	int r;

	if (set == NULL)
		return -ENOMEM;
	set->topology = topology;
	set->options = *options;
	for (size_t i = 0; i < rm_topology_planes(topology); i++)
		set->linked[i] = rm_topology_has_links(topology, i);
	r = rm_topology_paths_new(topology, &set->paths);
	if (r == 0)
		r = make_racks(set);
	if (r == 0)
		r = make_nodes(set, registry);
	if (r == 0)
		r = fill_racks(set);
	if (r < 0) {
		plan_set_free(set);
		return r;
	}
	*ret = set;
	return 0;
}

/* Does the work of one rack, in a stage that handles rack by rack. */
static int
step_rack(struct plan_set *set, size_t rack)
{
	switch (set->stage) {
	case PLAN_WITNESS:
		return plan_witness(set, rack);
	case PLAN_REMOTES:
		return plan_note_remotes(set, rack);
	default:
		plan_order_remotes(set, rack);
		return 0;
	}
}

int
plan_set_step(struct plan_set *set)
{
	int r;

	if (set->stage == PLAN_WHOLE)
		return 0;
	if (set->stage == PLAN_INTER_TOR) {
		r = plan_inter_tor(set);
		set->stage += r == 0;
		return r < 0 ? r : 1;
	}
	if (set->at == set->rack_count) {
		set->at = 0;
		set->stage++;
		return set->stage < PLAN_WHOLE;
	}
	r = step_rack(set, set->at++);
	return r < 0 ? r : 1;
}

int
plan_set_new(const struct rm_topology *topology, const struct registry *registry,
    const struct plan_options *options, struct plan_set **ret)
{
	struct plan_set *set = NULL;
	int r;

	r = plan_set_begin(topology, registry, options, &set);
	if (r < 0)
		return r;
	do {
		r = plan_set_step(set);
	} while (r > 0);
	if (r < 0) {
		plan_set_free(set);
		return r;
	}
	*ret = set;
	return 0;
}

void
plan_set_free(struct plan_set *set)
{
	if (set == NULL)
		return;
	for (size_t i = 0; i < set->rack_count; i++) {
		free(set->racks[i].members);
		free(set->racks[i].usable);
		free(set->racks[i].entries);
		free(set->racks[i].remotes);
	}
	plan_inter_free(set->inter);
	rm_topology_paths_free(set->paths);
	free(set->rnics);
	free(set->racks);
	free(set->rack_of);
	free(set->nodes);
	free(set);
}

size_t
plan_set_count(const struct plan_set *set)
{
	return set->rack_count;
}

const char *
plan_set_tor(const struct plan_set *set, size_t i)
{
	return plan_rack_name(set, i);
}

size_t
plan_set_members(const struct plan_set *set, size_t i)
{
	return set->racks[i].member_count;
}

const struct plan_counts *
plan_set_counts(const struct plan_set *set)
{
	return &set->counts;
}
