#include "tor-aggregator/plan/pinglist_builder.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/judge/mesh.h"

struct pinglist_builder {
	struct wire_target *targets; /* array of WIRE_MAX_TARGETS */
	struct wire_peer *peers;     /* array of WIRE_MAX_ROSTER */
	size_t target_count, peer_count;
	uint64_t refused;
};

int
pinglist_builder_new(struct pinglist_builder **ret)
{
	struct pinglist_builder *pinglist_builder =
	    calloc(1, sizeof(*pinglist_builder));

	if (pinglist_builder == NULL)
		return -ENOMEM;
	pinglist_builder->targets =
	    calloc(WIRE_MAX_TARGETS, sizeof(*pinglist_builder->targets));
	pinglist_builder->peers =
	    calloc(WIRE_MAX_ROSTER, sizeof(*pinglist_builder->peers));
	if (pinglist_builder->targets == NULL || pinglist_builder->peers == NULL) {
		pinglist_builder_free(pinglist_builder);
		return -ENOMEM;
	}
	*ret = pinglist_builder;
	return 0;
}

void
pinglist_builder_free(struct pinglist_builder *pinglist_builder)
{
	if (pinglist_builder == NULL)
		return;
	free(pinglist_builder->targets);
	free(pinglist_builder->peers);
	free(pinglist_builder);
}

uint64_t
pinglist_builder_rotation(const struct wire_plan *plan, int64_t wall_s)
{
	if (plan->mesh.rotation_s == 0 || plan->member_count < 2 ||
	    plan->mesh.peers >= plan->member_count - 1)
		return 0;
	return rm_mesh_rotation(wall_s, plan->mesh.rotation_s);
}

static bool
same_id(struct wire_rnic_id a, struct wire_rnic_id b)
{
	return a.guid == b.guid && a.port == b.port;
}

static bool
is_own(struct wire_rnic_id id, const struct wire_rnic_id *own, size_t own_count)
{
	for (size_t i = 0; i < own_count; i++)
		if (same_id(id, own[i]))
			return true;
	return false;
}

/* Returns the first address of dst in a family of which src has an address, too. NULL:
 * there is none, or the two RNICs use different transports. */
static const struct wire_address *
reachable(const struct wire_rnic *src, const struct wire_rnic *dst)
{
	if ((src->qpn != 0) != (dst->qpn != 0))
		return NULL;
	for (size_t d = 0; d < dst->address_count; d++)
		for (size_t s = 0; s < src->address_count; s++)
			if (dst->addresses[d].family == src->addresses[s].family)
				return &dst->addresses[d];
	return NULL;
}

static void
add_target(struct pinglist_builder *pinglist_builder, const struct wire_rnic *src,
    const struct wire_rnic *dst, const struct wire_target *how)
{
	const struct wire_address *address = reachable(src, dst);
	struct wire_target *target;

	if (address == NULL || (src->host[0] != 0 && strcmp(src->host, dst->host) == 0))
		return;
	if (pinglist_builder->target_count == WIRE_MAX_TARGETS) {
		pinglist_builder->refused++;
		return;
	}
	target = &pinglist_builder->targets[pinglist_builder->target_count++];
	*target = *how;
	target->src = src->id;
	target->dst = dst->id;
	target->address = *address;
	target->dst_qpn = dst->qpn;
	target->dst_large_qpn = dst->large_qpn;
	target->dst_lid = dst->lid;
}

static void
add_mesh(struct pinglist_builder *pinglist_builder, const struct wire_plan_view *view,
    uint64_t rotation, size_t member)
{
	const struct wire_plan *plan = &view->plan;
	const struct wire_target how = {
		.kind = WIRE_TOR_MESH,
		.interval_us = plan->mesh.interval_us,
		.sl = plan->mesh.sl,
		.flows = plan->mesh.flows,
		.flow_count = plan->mesh.flow_count,
		.dscps = plan->mesh.dscps,
		.dscp_count = plan->mesh.dscp_count,
		.sizes = plan->mesh.sizes,
		.size_count = plan->mesh.size_count,
	};
	size_t n = plan->member_count;
	size_t slots = plan->mesh.peers < n - 1 ? plan->mesh.peers : n - 1;
	struct wire_rnic src, dst;

	wire_plan_member(view, member, &src);
	for (size_t slot = 0; slot < slots; slot++) {
		wire_plan_member(view,
		    rm_mesh_target(n, plan->mesh.peers, rotation, member, slot), &dst);
		add_target(pinglist_builder, &src, &dst, &how);
	}
}

static void
add_entry(struct pinglist_builder *pinglist_builder, const struct wire_plan_view *view,
    const struct wire_plan_entry *entry, const struct wire_rnic *src)
{
	const struct wire_target how = {
		.kind = entry->kind,
		.interval_us = entry->interval_us,
		.paired = entry->paired,
		.sl = entry->sl,
		.flows = entry->flows,
		.flow_count = entry->flow_count,
		.dscps = entry->dscps,
		.dscp_count = entry->dscp_count,
		.sizes = entry->sizes,
		.size_count = entry->size_count,
	};
	struct wire_rnic dst;

	wire_plan_remote(view, entry->dst, &dst);
	add_target(pinglist_builder, src, &dst, &how);
}

static void
add_peers(struct pinglist_builder *pinglist_builder, const struct wire_rnic *rnic)
{
	for (size_t i = 0; i < rnic->address_count; i++) {
		struct wire_peer *peer;

		if (pinglist_builder->peer_count == WIRE_MAX_ROSTER) {
			pinglist_builder->refused++;
			return;
		}
		peer = &pinglist_builder->peers[pinglist_builder->peer_count++];
		peer->id = rnic->id;
		peer->address = rnic->addresses[i];
		peer->address.port = 0;
	}
}

static void
expand_entries(struct pinglist_builder *pinglist_builder,
    const struct wire_plan_view *view, const bool *own_member)
{
	const struct wire_plan *plan = &view->plan;
	struct wire_plan_entry entry;
	struct wire_rnic src;

	for (size_t i = 0; i < plan->entry_count; i++) {
		wire_plan_entry(view, i, &entry);
		if (!own_member[entry.src])
			continue;
		wire_plan_member(view, entry.src, &src);
		add_entry(pinglist_builder, view, &entry, &src);
	}
}

void
pinglist_builder_pinglist(struct pinglist_builder *pinglist_builder,
    const struct wire_plan_view *view, uint64_t rotation,
    const struct wire_rnic_id *own, size_t own_count, struct wire_pinglist *ret,
    uint64_t *refused)
{
	const struct wire_plan *plan = &view->plan;
	bool own_member[WIRE_MAX_MEMBERS] = { false };
	struct wire_rnic rnic;

	pinglist_builder->target_count = pinglist_builder->peer_count = 0;
	pinglist_builder->refused = 0;
	for (size_t i = 0; i < plan->member_count; i++) {
		wire_plan_member(view, i, &rnic);
		add_peers(pinglist_builder, &rnic);
		own_member[i] = is_own(rnic.id, own, own_count);
		if (own_member[i])
			add_mesh(pinglist_builder, view, rotation, i);
	}
	expand_entries(pinglist_builder, view, own_member);
	for (size_t i = 0; i < plan->remote_count; i++) {
		wire_plan_remote(view, i, &rnic);
		add_peers(pinglist_builder, &rnic);
	}
	*refused += pinglist_builder->refused;
	*ret = (struct wire_pinglist){
		.tor = plan->tor,
		.version = plan->version,
		.rotation = (uint32_t)rotation,
		.targets = pinglist_builder->targets,
		.target_count = pinglist_builder->target_count,
		.roster = pinglist_builder->peers,
		.roster_count = pinglist_builder->peer_count,
	};
}

uint32_t
pinglist_builder_interval_us(
    const struct wire_plan_view *view, struct wire_rnic_id src, struct wire_rnic_id dst)
{
	const struct wire_plan *plan = &view->plan;
	size_t src_at = plan->member_count;
	struct wire_rnic rnic;

	for (size_t i = 0; i < plan->member_count; i++) {
		wire_plan_member(view, i, &rnic);
		if (same_id(rnic.id, dst))
			return plan->mesh.interval_us;
		if (same_id(rnic.id, src))
			src_at = i;
	}
	for (size_t i = 0; i < plan->entry_count; i++) {
		struct wire_plan_entry entry;

		wire_plan_entry(view, i, &entry);
		if (entry.src != src_at)
			continue;
		wire_plan_remote(view, entry.dst, &rnic);
		if (same_id(rnic.id, dst))
			return entry.interval_us;
	}
	return 0;
}
