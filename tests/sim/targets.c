/* The targets of every RNIC, and the receive counts of responders by prober. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/run_state.h"
#include "tor-aggregator/plan/pinglist_builder.h"

/* ---- pairs ----------------------------------------------------------------------- */

static size_t
slot_of(const struct run *run, uint32_t src, uint32_t dst)
{
	return dice_mix((uint64_t)src << 32 | dst) & (run->pair_slot_count - 1);
}

static int
grow_slots(struct run *run)
{
	const size_t count =
	    run->pair_slot_count == 0 ? 1024 : 2 * run->pair_slot_count;
	uint32_t *slots = calloc(count, sizeof *slots);

	if (slots == NULL)
		return -ENOMEM;
	free(run->pair_slots);
	run->pair_slots = slots;
	run->pair_slot_count = count;
	for (uint32_t i = 0; i < run->pair_count; i++) {
		size_t at = slot_of(run, run->pairs[i].src, run->pairs[i].dst);

		while (slots[at] != 0)
			at = (at + 1) & (count - 1);
		slots[at] = i + 1;
	}
	return 0;
}

static int
get_pair(struct run *run, uint32_t src, uint32_t dst, uint32_t *ret)
{
	size_t at;
	int r = 0;

	if (2 * (run->pair_count + 1) > run->pair_slot_count)
		r = grow_slots(run);
	if (r == 0)
		r = run_grow((void **)&run->pairs, run->pair_count, &run->pair_room,
		    sizeof *run->pairs);
	if (r < 0)
		return r;
	for (at = slot_of(run, src, dst); run->pair_slots[at] != 0;
	     at = (at + 1) & (run->pair_slot_count - 1)) {
		const struct sim_pair *pair = &run->pairs[run->pair_slots[at] - 1];

		if (pair->src == src && pair->dst == dst) {
			*ret = run->pair_slots[at] - 1;
			return 0;
		}
	}
	*ret = (uint32_t)run->pair_count;
	run->pairs[run->pair_count++] = (struct sim_pair){ .src = src, .dst = dst };
	run->pair_slots[at] = *ret + 1;
	return 0;
}

/* Members of a rack report what they have received from each other. */
static int
list_pair(struct run *run, uint32_t number)
{
	struct sim_pair *pair = &run->pairs[number];
	struct sim_lane *lane = &run->lanes[run->lane_of[pair->dst]];
	int r;

	if (pair->listed || run->lanes[run->lane_of[pair->src]].rack != lane->rack)
		return 0;
	r = run_grow((void **)&lane->pairs, lane->pair_count, &lane->pair_room,
	    sizeof *lane->pairs);
	if (r < 0)
		return r;
	lane->pairs[lane->pair_count++] = number;
	pair->listed = true;
	return 0;
}

void
probing_forget(struct run *run, struct sim_lane *lane)
{
	for (size_t i = 0; i < run->pair_count; i++) {
		struct sim_pair *pair = &run->pairs[i];

		if (run->lane_of[pair->dst] == (uint32_t)(lane - run->lanes)) {
			memset(pair->received, 0, sizeof pair->received);
			memset(pair->reported, 0, sizeof pair->reported);
		}
	}
}

/* ---- targets --------------------------------------------------------------------- */

static int
add_flows(struct run *run, struct sim_target *target, const struct wire_target *wire)
{
	target->first_flow = (uint32_t)run->flow_count;
	for (size_t i = 0; i < wire->flow_count; i++) {
		const int r = run_grow((void **)&run->flows, run->flow_count,
		    &run->flow_room, sizeof *run->flows);

		if (r < 0)
			return r;
		run->flows[run->flow_count++] =
		    (struct sim_flow){ .port = wire->flows[i], .kept = (uint8_t)i };
	}
	target->flow_count = target->kept_count = (uint8_t)wire->flow_count;
	return 0;
}

static int
add_target(struct run *run, struct sim_lane *lane, const struct wire_target *wire)
{
	struct sim_target target = {
		.src = (uint32_t)(wire->src.guid - RUN_GUID),
		.dst = (uint32_t)(wire->dst.guid - RUN_GUID),
		.dscp_count = (uint8_t)wire->dscp_count,
		.size_count = (uint8_t)wire->size_count,
		.kind = (uint8_t)wire->kind,
		.interval_ns = wire->interval_us * RM_NS_PER_US,
		.paired = wire->paired &&
			  wire->interval_us * RM_NS_PER_US > 2 * RUN_PAIR_GAP_NS,
	};
	int r;

	if (target.dst >= run->rnics)
		return 0; /* a reflector of a switch, which is not simulated */
	memcpy(target.dscps, wire->dscps, wire->dscp_count);
	memcpy(target.sizes, wire->sizes, wire->size_count * sizeof *wire->sizes);
	target.due_ns =
	    run->now_ns + (int64_t)dice_below(&run->dice, (uint64_t)target.interval_ns);
	r = get_pair(run, target.src, target.dst, &target.pair);
	if (r == 0)
		r = list_pair(run, target.pair);
	if (r == 0)
		r = add_flows(run, &target, wire);
	if (r == 0)
		r = run_grow((void **)&run->targets, run->target_count,
		    &run->target_room, sizeof *run->targets);
	if (r == 0)
		r = run_grow((void **)&lane->targets, lane->target_count,
		    &lane->target_room, sizeof *lane->targets);
	if (r < 0)
		return r;
	lane->targets[lane->target_count++] = (uint32_t)run->target_count;
	run->targets[run->target_count] = target;
	return wheel_put(run->wheel, (uint32_t)run->target_count++, target.due_ns);
}

/* Removes the targets of the mesh, or all targets. */
static void
drop_targets(struct run *run, struct sim_lane *lane, bool mesh_only)
{
	size_t left = 0;

	for (size_t i = 0; i < lane->target_count; i++) {
		struct sim_target *target = &run->targets[lane->targets[i]];

		if (mesh_only && target->kind != WIRE_TOR_MESH) {
			lane->targets[left++] = lane->targets[i];
			continue;
		}
		wheel_remove(run->wheel, lane->targets[i]);
		target->first_flow = UINT32_MAX;
	}
	lane->target_count = left;
}

int
probing_expand(struct run *run, struct sim_lane *lane, uint64_t rotation)
{
	const struct sim_rack *rack = &run->rack[lane->rack];
	const bool mesh_only = lane->target_count > 0;
	struct wire_rnic_id own[WIRE_MAX_HOST_RNICS];
	struct wire_pinglist list;
	uint64_t refused = 0;
	int r = 0;

	for (size_t i = 0; i < lane->rnic_count; i++)
		own[i] = (struct wire_rnic_id){ RUN_GUID + lane->rnics[i], 0 };
	pinglist_builder_pinglist(run->pinglist_builder, &rack->view, rotation, own,
	    lane->rnic_count, &list, &refused);
	drop_targets(run, lane, mesh_only);
	for (size_t i = 0; i < list.target_count && r == 0; i++)
		if (!mesh_only || list.targets[i].kind == WIRE_TOR_MESH)
			r = add_target(run, lane, &list.targets[i]);
	lane->rotation = rotation;
	return r;
}

void
probing_focus(struct run *run, const struct wire_focus *focus, int64_t now_ns)
{
	const uint32_t src = (uint32_t)(focus->src.guid - RUN_GUID);
	const uint32_t dst = (uint32_t)(focus->dst.guid - RUN_GUID);
	const struct sim_lane *lane;

	if (src >= run->rnics)
		return;
	lane = &run->lanes[run->lane_of[src]];
	for (size_t i = 0; i < lane->target_count; i++) {
		struct sim_target *target = &run->targets[lane->targets[i]];

		if (target->src != src || target->dst != dst)
			continue;
		target->focus_ns = focus->interval_us * RM_NS_PER_US;
		target->focus_until_ns =
		    now_ns + (int64_t)focus->duration_ms * RM_NS_PER_MS;
		if (target->due_ns <= now_ns + target->focus_ns)
			continue;
		wheel_remove(run->wheel, lane->targets[i]);
		target->due_ns = now_ns + target->focus_ns;
		(void)wheel_put(run->wheel, lane->targets[i], target->due_ns);
	}
}
