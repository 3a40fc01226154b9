#include <stddef.h>

#include "tests/sim/clos_state.h"

static bool
is_out(const struct clos *c, uint32_t link)
{
	return c->withdrawn[link - clos_first_link(c)];
}

/* This is the last step of splitmix64: every switch has its own hash. */
static uint64_t
mix(uint64_t hash, uint64_t sw)
{
	uint64_t x = hash + (sw + 1) * 0x9e3779b97f4a7c15U;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
	return x ^ (x >> 31);
}

enum tier { AT_TOR, AT_MIDDLE, AT_TOP };

static uint64_t
hash_at(const struct clos *c, uint64_t hash, enum tier tier, uint64_t sw)
{
	return mix(hash, c->o.symmetric ? tier : sw);
}

/* Chooses a cable from a middle switch to a ToR. CLOS_NONE: all of them are withdrawn.
 */
static uint32_t
last_cable(const struct clos *c, uint32_t rack, uint32_t middle, uint64_t hash)
{
	const uint32_t first = clos_rack_link(c, rack, middle, 0) + 1;
	uint32_t alive = 0, pick;

	if (c->withdrawn_count == 0)
		return first + 2 * (uint32_t)(hash % c->o.cables);
	for (uint32_t k = 0; k < c->o.cables; k++)
		alive += !is_out(c, first + 2 * k);
	if (alive == 0)
		return CLOS_NONE;
	pick = (uint32_t)(hash % alive);
	for (uint32_t k = 0;; k++)
		if (!is_out(c, first + 2 * k) && pick-- == 0)
			return first + 2 * k;
}

static bool
core_serves(const struct clos *c, uint32_t src_pod, uint32_t dst_pod, uint32_t middle,
    uint32_t uplink)
{
	return !is_out(c, clos_core_link(c, src_pod, middle, uplink)) &&
	       !is_out(c, clos_core_link(c, dst_pod, middle, uplink) + 1);
}

/* Chooses the way of a middle switch to another pod. CLOS_NONE: no core leads there. */
static uint32_t
pick_uplink(const struct clos *c, uint32_t src_pod, uint32_t dst_pod, uint32_t middle,
    uint64_t hash)
{
	uint32_t alive = 0, pick;

	if (c->withdrawn_count == 0)
		return (uint32_t)(hash % c->uplinks);
	for (uint32_t u = 0; u < c->uplinks; u++)
		alive += core_serves(c, src_pod, dst_pod, middle, u);
	if (alive == 0)
		return CLOS_NONE;
	pick = (uint32_t)(hash % alive);
	for (uint32_t u = 0;; u++)
		if (core_serves(c, src_pod, dst_pod, middle, u) && pick-- == 0)
			return u;
}

static bool
middle_serves(const struct clos *c, uint32_t src_rack, uint32_t dst_rack, uint32_t m)
{
	const uint32_t src_pod = src_rack / c->pod_racks;
	const uint32_t dst_pod = dst_rack / c->pod_racks;

	return last_cable(c, dst_rack, m, 0) != CLOS_NONE &&
	       (src_pod == dst_pod ||
		   pick_uplink(c, src_pod, dst_pod, m, 0) != CLOS_NONE);
}

/* Chooses the step up: a middle switch and a cable to it, as one number; or CLOS_NONE.
 */
static uint32_t
pick_path_up(const struct clos *c, uint32_t src_rack, uint32_t dst_rack, uint64_t hash)
{
	const uint32_t count = c->o.middle * c->o.cables;
	const uint32_t first = clos_rack_link(c, src_rack, 0, 0);
	uint32_t alive = 0, pick;

	if (c->withdrawn_count == 0)
		return (uint32_t)(hash % count);
	for (uint32_t i = 0; i < count; i++)
		alive += !is_out(c, first + 2 * i) &&
			 middle_serves(c, src_rack, dst_rack, i / c->o.cables);
	if (alive == 0)
		return CLOS_NONE;
	pick = (uint32_t)(hash % alive);
	for (uint32_t i = 0;; i++)
		if (!is_out(c, first + 2 * i) &&
		    middle_serves(c, src_rack, dst_rack, i / c->o.cables) &&
		    pick-- == 0)
			return i;
}

/* Computes a path between two racks. Withdrawn cables are used only if there is no path
 * without them. */
static uint32_t
cross(const struct clos *c, uint32_t src_rack, uint32_t dst_rack, uint64_t hash,
    uint32_t *links)
{
	const uint32_t src_pod = src_rack / c->pod_racks;
	const uint32_t dst_pod = dst_rack / c->pod_racks;
	const uint32_t up = pick_path_up(
	    c, src_rack, dst_rack, hash_at(c, hash, AT_TOR, clos_tors(c) + src_rack));
	const uint32_t m = up / c->o.cables;
	const uint32_t src_middle = clos_middles(c) + src_pod * c->o.middle + m;
	uint32_t n = 0;

	if (up == CLOS_NONE) {
		struct clos whole = *c;

		whole.withdrawn_count = 0;
		return cross(&whole, src_rack, dst_rack, hash, links);
	}
	links[n++] = clos_rack_link(c, src_rack, 0, 0) + 2 * up;
	if (src_pod != dst_pod) {
		const uint32_t u = pick_uplink(
		    c, src_pod, dst_pod, m, hash_at(c, hash, AT_MIDDLE, src_middle));

		links[n++] = clos_core_link(c, src_pod, m, u);
		links[n++] = clos_core_link(c, dst_pod, m, u) + 1;
	}
	links[n++] = last_cable(c, dst_rack, m,
	    hash_at(c, hash, AT_TOP, clos_middles(c) + dst_pod * c->o.middle + m));
	return n;
}

uint32_t
clos_route(const struct clos *c, uint32_t src_rnic, uint32_t dst_rnic, uint64_t hash,
    uint32_t links[CLOS_MAX_HOPS])
{
	const uint32_t src_rack = c->part[src_rnic].to - clos_tors(c);
	const uint32_t dst_rack = c->part[dst_rnic].to - clos_tors(c);
	uint32_t n = 0;

	if (src_rnic == dst_rnic)
		return 0;
	links[n++] = clos_rnic_link(c, src_rnic);
	if (src_rack != dst_rack)
		n += cross(c, src_rack, dst_rack, hash, links + n);
	links[n++] = clos_rnic_link(c, dst_rnic) + 1;
	return n;
}

void
clos_withdraw(struct clos *c, uint32_t link, bool withdrawn)
{
	const uint32_t ends[] = { link, c->part[link].twin };

	for (size_t i = 0; i < 2; i++) {
		bool *out = &c->withdrawn[ends[i] - clos_first_link(c)];

		if (*out != withdrawn)
			c->withdrawn_count += withdrawn ? 1 : -1;
		*out = withdrawn;
	}
}
