/* Writes the message of a rack: its nodes and entries. */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "region-controller/plan/plan.h"
#include "region-controller/plan/plan_set.h"
#include "region-controller/store/hash.h"

/* ---- aliases: names of addresses that traces may find ---- */

static struct wire_address
plan_wire_address(const struct rm_address *address)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)&address->storage;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&address->storage;
	struct wire_address ret = { 0 };

	if (address->storage.ss_family == AF_INET) {
		ret.family = 4;
		ret.port = ntohs(in->sin_port);
		memcpy(ret.bytes, &in->sin_addr, 4);
	} else {
		ret.family = 6;
		ret.port = ntohs(in6->sin6_port);
		memcpy(ret.bytes, &in6->sin6_addr, 16);
	}
	return ret;
}

/* Returns, for each switch, whether a path of this rack may cross it. The caller frees
 * the result. NULL: out of memory. */
static bool *
find_crossed(const struct plan_set *set, const struct plan_rack *rack)
{
	size_t switches = rm_topology_switches(set->topology);
	bool *crossed = calloc(switches, sizeof(*crossed));

	if (crossed == NULL)
		return NULL;
	for (size_t i = 0; i < switches; i++) {
		const struct rm_switch *sw = rm_topology_switch(set->topology, i);

		crossed[i] = sw->role != RM_SWITCH_TOR && sw->plane == rack->plane;
	}
	crossed[rack->tor] = true;
	for (size_t i = 0; i < rack->remote_count; i++) {
		const struct plan_node *node = &set->nodes[rack->remotes[i]];

		for (size_t k = 0; k < node->rack_count; k++)
			crossed[set->racks[node->racks[k]].tor] = true;
	}
	return crossed;
}

static size_t
count_aliases(const struct plan_set *set, const bool *crossed)
{
	size_t count = 0;

	for (size_t i = 0; i < rm_topology_switches(set->topology); i++) {
		if (crossed[i])
			count += rm_topology_switch(set->topology, i)->alias_count;
	}
	return count < WIRE_MAX_ALIASES ? count : WIRE_MAX_ALIASES;
}

/* Collects the aliases of this rack's ToR, of the ToRs that it probes or that probe it,
 * and of all other switches of its plane. The caller frees *ret. -ENOMEM. */
static int
plan_aliases(const struct plan_set *set, const struct plan_rack *rack,
    struct wire_alias **ret, size_t *count)
{
	bool *crossed = find_crossed(set, rack);
	struct wire_alias *aliases = NULL;
	size_t room = 0, done = 0;

	if (crossed != NULL) {
		room = count_aliases(set, crossed);
		aliases = calloc(room + 1, sizeof(*aliases));
	}
	if (aliases == NULL) {
		free(crossed);
		return -ENOMEM;
	}
	for (size_t i = 0; i < rm_topology_switches(set->topology); i++) {
		const struct rm_switch *sw = rm_topology_switch(set->topology, i);

		for (size_t k = 0; crossed[i] && k < sw->alias_count; k++) {
			if (done == room)
				break;
			aliases[done].switch_name = sw->name;
			aliases[done++].address = plan_wire_address(&sw->aliases[k]);
		}
	}
	free(crossed);
	*ret = aliases;
	*count = done;
	return 0;
}

/* three of four probes have the class of RoCE, one has that of best effort */
#define CLASSES 4
#define SIZES 3      /* two of three probes are small, one has full size */
#define MESH_FLOWS 5 /* this number has no common divisor with CLASSES or SIZES */
#define FIRST_REMOTES 64

/* ---- remote RNICs ---- */

static int
note_remote(struct plan_rack *rack, uint32_t node)
{
	if (rack->remote_count == rack->remotes_allocated) {
		size_t wanted =
		    rack->remote_count > 0 ? 2 * rack->remote_count : FIRST_REMOTES;
		uint32_t *bigger = reallocarray(rack->remotes, wanted, sizeof(*bigger));

		if (bigger == NULL)
			return -ENOMEM;
		rack->remotes = bigger;
		rack->remotes_allocated = wanted;
	}
	rack->remotes[rack->remote_count++] = node;
	return 0;
}

/* Adds the target to the remote RNICs of the prober's rack, and the prober to those of
 * the target's rack, whose reflectors must know it. */
static int
note_entry(struct plan_set *set, size_t rack, const struct plan_entry *entry)
{
	const struct plan_node *src = &set->nodes[entry->src];
	const struct plan_node *dst = &set->nodes[entry->dst];
	int r;

	r = note_remote(&set->racks[rack], entry->dst);
	for (size_t i = 0; i < dst->rack_count && r == 0; i++) {
		if (!plan_in_rack(src, dst->racks[i]))
			r = note_remote(&set->racks[dst->racks[i]], entry->src);
	}
	return r;
}

int
plan_note_remotes(struct plan_set *set, size_t rack)
{
	const struct plan_rack *from = &set->racks[rack];
	int r = 0;

	for (size_t i = 0; i < from->entry_count && r == 0; i++)
		r = note_entry(set, rack, &from->entries[i]);
	return r;
}

static int
by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

void
plan_order_remotes(struct plan_set *set, size_t rack)
{
	struct plan_rack *of = &set->racks[rack];
	size_t count = 0;

	if (of->remote_count == 0)
		return;
	qsort(of->remotes, of->remote_count, sizeof(*of->remotes), by_number);
	for (size_t i = 0; i < of->remote_count; i++) {
		if (count == 0 || of->remotes[i] != of->remotes[count - 1])
			of->remotes[count++] = of->remotes[i];
	}
	of->remote_count = count;
	set->counts.remotes += count;
}

/* ---- the message ---- */

struct draft {
	struct wire_plan plan;
	struct wire_rnic *members, *remotes;
	struct wire_plan_entry *entries;
	struct wire_alias *aliases;
	uint16_t *flows; /* flows of all entries, one after the other */
	uint16_t (*sizes)[SIZES];
	uint16_t mesh_flows[MESH_FLOWS], mesh_sizes[SIZES];
	uint8_t classes[CLASSES];
};

static struct wire_rnic
wire_of_reflector(const struct plan_set *set, const struct rm_switch *sw)
{
	struct rm_rnic_id id = rm_rnic_id_of_switch(sw->name);

	return (struct wire_rnic){
		.id = { id.guid, id.port },
		.host = sw->name,
		.device = "reflector",
		.tors = { sw->name },
		.tor_count = 1,
		.plane = rm_topology_plane(set->topology, sw->plane),
		.addresses = { plan_wire_address(&sw->reflector) },
		.address_count = 1,
	};
}

static struct wire_rnic
wire_of_node(const struct plan_set *set, uint32_t index)
{
	const struct plan_node *node = &set->nodes[index];
	const struct registry_rnic *rnic = node->rnic;
	struct wire_rnic ret;

	if (rnic == NULL)
		return wire_of_reflector(set, node->sw);
	ret = (struct wire_rnic){
		.id = { rnic->id.guid, rnic->id.port },
		.host = rnic->host,
		.device = rnic->device,
		.driver = rnic->driver,
		.tor_count = rnic->tor_count,
		.plane = rm_topology_plane(set->topology, rnic->plane),
		.address_count = rnic->address_count,
		.qpn = rnic->qpn,
		.mtu_bytes = rnic->mtu_bytes,
		/* Other hosts need the incarnation only if there are QPNs, which are
		 * new after a restart. */
		.incarnation = rnic->qpn == 0 ? 0 : rnic->incarnation,
		.large_qpn = rnic->large_qpn,
		.lid = rnic->lid,
		.authenticates = rnic->authenticates,
		/* The state of the link is left out: else each link-down would change
		 * plans. */
	};
	for (size_t i = 0; i < rnic->tor_count; i++)
		ret.tors[i] = rnic->tors[i];
	memcpy(ret.addresses, rnic->addresses, sizeof(ret.addresses));
	return ret;
}

static size_t
fill_sizes(uint16_t sizes[SIZES], uint16_t small, uint16_t full)
{
	sizes[0] = sizes[1] = small;
	sizes[2] = full;
	return full == 0 ? 1 : SIZES;
}

static size_t
fill_entry_sizes(
    const struct plan_set *set, const struct plan_entry *entry, uint16_t sizes[SIZES])
{
	const struct plan_node *src = &set->nodes[entry->src];
	const struct plan_node *dst = &set->nodes[entry->dst];

	if (entry->kind == WIRE_TOR_REFLECTOR) {
		sizes[0] = PLAN_PLAIN_BYTES;
		return 1;
	}
	return fill_sizes(sizes, plan_small_bytes(dst), plan_full_bytes(src, dst));
}

static uint32_t
place_of(const uint32_t *nodes, size_t count, uint32_t node)
{
	size_t low = 0, high = count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (nodes[middle] <= node)
			low = middle;
		else
			high = middle;
	}
	return (uint32_t)low;
}

static uint64_t
flow_seed(const struct plan_set *set, const struct plan_entry *entry)
{
	const struct wire_rnic src = wire_of_node(set, entry->src);
	const struct wire_rnic dst = wire_of_node(set, entry->dst);

	return hash_mix(hash_mix(src.id.guid, src.id.port), dst.id.guid + dst.id.port);
}

static void
fill_entry(const struct plan_set *set, const struct plan_rack *rack,
    const struct plan_entry *entry, struct draft *draft, size_t i, uint16_t *flows)
{
	uint64_t seed = flow_seed(set, entry);

	for (size_t k = 0; k < entry->flow_count; k++)
		flows[k] = plan_port(seed, k);
	draft->entries[i] = (struct wire_plan_entry){
		.src = place_of(rack->members, rack->member_count, entry->src),
		.dst = place_of(rack->remotes, rack->remote_count, entry->dst),
		.kind = entry->kind,
		.interval_us = entry->interval_us,
		.paired = entry->paired,
		.sl = set->nodes[entry->src].qp ? set->options.sl : 0,
		.flows = flows,
		.flow_count = entry->flow_count,
		.dscps = draft->classes,
		.dscp_count = CLASSES,
		.sizes = draft->sizes[i],
		.size_count = fill_entry_sizes(set, entry, draft->sizes[i]),
	};
}

/* The configured interval, or a longer one for a large rack, in which an RNIC has many
 * peers. */
static uint32_t
mesh_interval_us(const struct plan_options *options, size_t members)
{
	uint64_t peers = members > 0 ? members - 1 : 0;
	uint64_t interval = (uint64_t)options->mesh_interval_ms * 1000, least;

	if (peers > options->mesh_peers)
		peers = options->mesh_peers;
	least = (peers * 1000000 + options->mesh_max_rate_per_s - 1) /
		options->mesh_max_rate_per_s;
	return (uint32_t)(interval > least ? interval : least);
}

/* Fills in the sizes that fit between any two members, with any transport. */
static size_t
fill_mesh_sizes(
    const struct plan_set *set, const struct plan_rack *rack, uint16_t sizes[SIZES])
{
	uint16_t small = PLAN_SMALL_BYTES, full = UINT16_MAX;

	if (rack->with_qp > 0 && rack->with_qp == rack->usable_count)
		small = PLAN_ROCE_SMALL_BYTES;
	for (size_t i = 0; i < rack->usable_count; i++) {
		const struct plan_node *node = &set->nodes[rack->usable[i]];
		uint16_t fits = plan_full_bytes(node, node);

		full = fits < full ? fits : full;
	}
	return fill_sizes(sizes, small, full == UINT16_MAX || full <= small ? 0 : full);
}

static void
fill_mesh(const struct plan_set *set, const struct plan_rack *rack, struct draft *draft)
{
	const char *tor = draft->plan.tor;
	uint64_t seed = hash_names(tor, tor);

	for (size_t i = 0; i < MESH_FLOWS; i++)
		draft->mesh_flows[i] = plan_port(seed, i);
	draft->plan.mesh = (struct wire_mesh){
		.peers = set->options.mesh_peers,
		.interval_us = mesh_interval_us(&set->options, rack->member_count),
		.rotation_s = set->options.mesh_rotation_s,
		.sl = rack->with_qp > 0 ? set->options.sl : 0,
		.flows = draft->mesh_flows,
		.flow_count = MESH_FLOWS,
		.dscps = draft->classes,
		.dscp_count = CLASSES,
		.sizes = draft->mesh_sizes,
		.size_count = fill_mesh_sizes(set, rack, draft->mesh_sizes),
	};
}

static int
draft_fill(
    const struct plan_set *set, const struct plan_rack *rack, struct draft *draft)
{
	size_t flows = 0, done = 0;

	for (size_t i = 0; i < rack->entry_count; i++)
		flows += rack->entries[i].flow_count;
	draft->members = calloc(rack->member_count + 1, sizeof(*draft->members));
	draft->remotes = calloc(rack->remote_count + 1, sizeof(*draft->remotes));
	draft->entries = calloc(rack->entry_count + 1, sizeof(*draft->entries));
	draft->sizes = calloc(rack->entry_count + 1, sizeof(*draft->sizes));
	draft->flows = calloc(flows + 1, sizeof(*draft->flows));
	if (draft->members == NULL || draft->remotes == NULL ||
	    draft->entries == NULL || draft->sizes == NULL || draft->flows == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < CLASSES; i++)
		draft->classes[i] =
		    i + 1 < CLASSES ? set->options.dscp : set->options.dscp_best_effort;
	for (size_t i = 0; i < rack->member_count; i++)
		draft->members[i] = wire_of_node(set, rack->members[i]);
	for (size_t i = 0; i < rack->remote_count; i++)
		draft->remotes[i] = wire_of_node(set, rack->remotes[i]);
	for (size_t i = 0; i < rack->entry_count; i++) {
		fill_entry(set, rack, &rack->entries[i], draft, i, draft->flows + done);
		done += rack->entries[i].flow_count;
	}
	fill_mesh(set, rack, draft);
	return 0;
}

int
plan_set_write(const struct plan_set *set, size_t i, uint64_t version, uint64_t digest,
    struct wire_writer *writer, struct wire_bytes *out)
{
	const struct plan_rack *rack = &set->racks[i];
	struct draft draft = {
		.plan = {
			.region = rm_topology_region(set->topology),
			.tor = plan_rack_name(set, i),
			.plane = rm_topology_plane(set->topology, rack->plane),
			.version = version,
			.digest = digest,
			.member_count = rack->member_count,
			.remote_count = rack->remote_count,
			.entry_count = rack->entry_count,
			.probe_timeout_ms = set->options.probe_timeout_ms,
		},
	};
	int r;

	r = draft_fill(set, rack, &draft);
	if (r == 0)
		r = plan_aliases(set, rack, &draft.aliases, &draft.plan.alias_count);
	if (r == 0) {
		draft.plan.members = draft.members;
		draft.plan.remotes = draft.remotes;
		draft.plan.entries = draft.entries;
		draft.plan.aliases = draft.aliases;
		r = wire_write_plan(writer, &draft.plan, out);
	}
	free(draft.members);
	free(draft.remotes);
	free(draft.entries);
	free(draft.aliases);
	free(draft.sizes);
	free(draft.flows);
	return r;
}
