/* What agents find out about the paths of their flows, and which flows they continue to
 * probe. */
#include <arpa/inet.h>
#include <errno.h>

#include "host-agent/trace/flow_choice.h"
#include "tests/sim/run_state.h"

#define PATHS_PER_MESSAGE 256

/* One trace. The path gets an id only if all of it was seen. */
static void
trace(struct run *run, const struct sim_target *target, struct sim_flow *flow,
    int64_t now_ns, struct wire_path *ret)
{
	const struct fate_packet packet = { target->src, target->dst, flow->port,
		target->dscps[0], 64 };
	size_t hops;

	if (flow->epoch != fate_epoch(run->fate)) {
		fate_path(run->fate, &packet, &flow->path);
		flow->epoch = fate_epoch(run->fate);
	}
	hops = flow->path.out_count == 0 ? 0 : flow->path.out_count - 1u;
	*ret = (struct wire_path){ .src_guid = RUN_GUID + target->src,
		.dst_guid = RUN_GUID + target->dst,
		.src_port = flow->port,
		.dscp = target->dscps[0],
		.family = 4,
		.flags = flow->path.sprayed ? WIRE_PATH_MULTIPATH : 0 };
	flow->traced = 1;
	for (size_t i = 0; i < hops; i++) {
		char address[16];

		if (!fate_hop_answers(run->fate, &flow->path, i, &packet, now_ns))
			break;
		clos_address(run->clos, flow->path.out[i], address);
		inet_pton(AF_INET, address, ret->hops[i]);
		flow->traced = dice_mix(flow->traced + flow->path.out[i]);
		ret->hop_count = (uint8_t)(i + 1);
	}
	if (ret->hop_count == hops &&
	    fate_hop_answers(run->fate, &flow->path, hops, &packet, now_ns))
		ret->flags |= WIRE_PATH_COMPLETE;
	if (ret->flags != WIRE_PATH_COMPLETE)
		flow->traced = 0;
	else
		flow->known = flow->traced;
}

/* One flow of every path is enough. */
static void
choose(struct run *run, struct sim_target *target)
{
	struct sim_flow *flows = &run->flows[target->first_flow];
	uint16_t ports[WIRE_MAX_FLOWS];
	uint64_t path_ids[WIRE_MAX_FLOWS], kept;
	uint8_t count = 0;

	for (uint8_t i = 0; i < target->flow_count; i++) {
		ports[i] = flows[i].port;
		path_ids[i] = flows[i].traced;
	}
	kept = flow_choice(ports, path_ids, target->flow_count);
	for (uint8_t i = 0; i < target->flow_count; i++)
		if (kept & UINT64_C(1) << i)
			flows[count++].kept = i;
	if (count > 0)
		target->kept_count = count;
}

static int
post(struct run *run, struct sim_lane *lane, const struct wire_path *paths,
    size_t count, int64_t now_ns)
{
	char name[RM_PART_NAME_BYTES];
	const struct sim_host *host = &run->host[lane->host];
	const struct wire_paths message = { name, host->incarnation,
		host_mono(host, now_ns), paths, count };
	struct wire_bytes bytes;
	int r;

	clos_name(run->clos, run->rnics + lane->host, name);
	r = wire_write_paths(run->writer, &message, &bytes);
	return r == 0 ? agents_post(run, lane, WIRE_PATHS, bytes, now_ns) : r;
}

/* A path that has moved since is not known any more: the next trace finds it. */
static bool
recall(const struct run *run, const struct sim_target *target,
    const struct sim_flow *flow, int64_t age_ns, struct wire_path *ret)
{
	const size_t hops = flow->path.out_count == 0 ? 0 : flow->path.out_count - 1u;
	uint64_t path = 1;

	if (flow->known == 0)
		return false;
	*ret = (struct wire_path){ .src_guid = RUN_GUID + target->src,
		.dst_guid = RUN_GUID + target->dst,
		.src_port = flow->port,
		.dscp = target->dscps[0],
		.family = 4,
		.flags = WIRE_PATH_COMPLETE,
		.hop_count = (uint8_t)hops,
		.age_ns = (uint64_t)age_ns };
	for (size_t i = 0; i < hops; i++) {
		char address[16];

		clos_address(run->clos, flow->path.out[i], address);
		inet_pton(AF_INET, address, ret->hops[i]);
		path = dice_mix(path + flow->path.out[i]);
	}
	return path == flow->known;
}

int
agents_retell(struct run *run, struct sim_lane *lane, int64_t now_ns)
{
	struct wire_path paths[PATHS_PER_MESSAGE];
	size_t count = 0;
	int r = 0;

	if (lane->traced_ns == 0 ||
	    lane->traced_by != run->host[lane->host].incarnation)
		return 0;
	for (size_t i = 0; i < lane->target_count && r == 0; i++) {
		struct sim_target *target = &run->targets[lane->targets[i]];

		if (target->kind == WIRE_TOR_MESH)
			continue;
		for (uint8_t f = 0; f < target->flow_count && r == 0; f++) {
			count +=
			    recall(run, target, &run->flows[target->first_flow + f],
				now_ns - lane->traced_ns, &paths[count]);
			if (count < PATHS_PER_MESSAGE)
				continue;
			r = post(run, lane, paths, count, now_ns);
			count = 0;
		}
	}
	return r == 0 && count > 0 ? post(run, lane, paths, count, now_ns) : r;
}

int
agents_trace(struct run *run, struct sim_lane *lane, int64_t now_ns)
{
	struct wire_path paths[PATHS_PER_MESSAGE];
	size_t count = 0;
	int r = 0;

	for (size_t i = 0; i < lane->target_count && r == 0; i++) {
		struct sim_target *target = &run->targets[lane->targets[i]];

		if (target->kind == WIRE_TOR_MESH)
			continue;
		for (uint8_t f = 0; f < target->flow_count && r == 0; f++) {
			trace(run, target, &run->flows[target->first_flow + f], now_ns,
			    &paths[count++]);
			if (count < PATHS_PER_MESSAGE)
				continue;
			r = post(run, lane, paths, count, now_ns);
			count = 0;
		}
		choose(run, target);
	}
	if (r == 0 && count > 0)
		r = post(run, lane, paths, count, now_ns);
	lane->traced_ns = now_ns;
	lane->traced_by = run->host[lane->host].incarnation;
	lane->next_trace_ns +=
	    (int64_t)(run->draw.probing[PROBING_TRACE_INTERVAL_S] * 1e9);
	return r;
}
