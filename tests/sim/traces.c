/* Simulates what agents find out about the paths of their flows, and which flows they
 * continue to probe. */
#include <arpa/inet.h>
#include <errno.h>

#include "host-agent/trace/flow_choice.h"
#include "host-agent/trace/tracer.h"
#include "tests/sim/run_state.h"

#define PATHS_PER_MESSAGE 256
/* Time from a loss to the report of the new path: the agent waits a little, traces
 * twice, and sends its report. */
#define SUSPECT_NS (450 * RM_NS_PER_MS)
/* pause after a trace that has lost packets, too */
#define RETRY_NS (250 * RM_NS_PER_MS)
/* how often the pause doubles, if the trace shows another path */
#define MOVED_RETRIES 6
#define TRACE_RATE_PER_S 200.0 /* packets per second of traces; the agent's default */
#define BURST_S 0.1

static int64_t
interval_ns(const struct run *run)
{
	return (int64_t)(run->draw.probing[PROBING_TRACE_INTERVAL_S] * 1e9);
}

typedef bool hop_answers(struct fate *fate, const struct fate_path *path, size_t i,
    const struct fate_packet *packet, int64_t now_ns);

static uint64_t
path_id(const struct fate_path *path)
{
	uint64_t id = 1;

	for (size_t i = 0; i + 1 < path->out_count; i++)
		id = dice_mix(id + path->out[i]);
	return id;
}

static bool
has_moved(const struct sim_flow *flow)
{
	return flow->known != 0 && !flow->path.sprayed &&
	       path_id(&flow->path) != flow->known;
}

/* If the path of a flow has changed, an agent traces the flow twice, and uses the hops
 * of both traces. */
static bool
sees(struct run *run, const struct sim_flow *flow, size_t i, hop_answers *answers,
    const struct fate_packet *packet, int64_t now_ns)
{
	return answers(run->fate, &flow->path, i, packet, now_ns) ||
	       (has_moved(flow) && answers(run->fate, &flow->path, i, packet, now_ns));
}

/* Simulates one trace. The path gets an id only if all hops have answered. */
static void
trace(struct run *run, const struct sim_target *target, struct sim_flow *flow,
    hop_answers *answers, int64_t now_ns, struct wire_path *ret)
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

		if (!sees(run, flow, i, answers, &packet, now_ns))
			break;
		clos_address(run->clos, flow->path.out[i], address);
		inet_pton(AF_INET, address, ret->hops[i]);
		flow->traced = dice_mix(flow->traced + flow->path.out[i]);
		ret->hop_count = (uint8_t)(i + 1);
	}
	if (ret->hop_count == hops && sees(run, flow, hops, answers, &packet, now_ns))
		ret->flags |= WIRE_PATH_COMPLETE;
	if (ret->flags != WIRE_PATH_COMPLETE)
		flow->traced = 0;
	else
		flow->known = flow->traced;
}

/* Over RoCE one flow of every path is enough, over UDP all stay: the default of
 * trace.one_flow_per_path. */
static void
choose(struct run *run, struct sim_target *target)
{
	struct sim_flow *flows = &run->flows[target->first_flow];
	uint16_t ports[WIRE_MAX_FLOWS];
	uint64_t path_ids[WIRE_MAX_FLOWS], kept;
	uint8_t count = 0;

	if (run->draw.probing[PROBING_VERBS] == 0)
		return;
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

/* True: the path is known. A path that has changed since its trace is not known: the
 * next trace finds it. */
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

static int
add_suspect(struct run *run, struct sim_lane *lane, const struct sim_target *target,
    uint32_t number, int64_t due_ns)
{
	struct sim_flow *flow = &run->flows[number];
	int r;

	if (flow->is_suspect)
		return 0;
	r = run_grow((void **)&lane->suspects, lane->suspect_count, &lane->suspect_room,
	    sizeof *lane->suspects);
	if (r < 0)
		return r;
	flow->is_suspect = true;
	lane->suspects[lane->suspect_count++] = (struct sim_suspect){
		.target = (uint32_t)(target - run->targets),
		.flow = number,
		.due_ns = due_ns,
	};
	return 0;
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
			trace(run, target, &run->flows[target->first_flow + f],
			    fate_hop_answers, now_ns, &paths[count++]);
			if (paths[count - 1].flags != WIRE_PATH_COMPLETE &&
			    has_moved(&run->flows[target->first_flow + f]))
				r = add_suspect(run, lane, target,
				    target->first_flow + f, now_ns + RETRY_NS);
			if (r < 0 || count < PATHS_PER_MESSAGE)
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
	if (lane->all_again_ns > 0 && now_ns < lane->next_trace_ns)
		lane->next_trace_ns = now_ns;
	lane->all_again_ns = 0;
	lane->next_trace_ns += interval_ns(run);
	return r;
}

/* ---- out of turn ----------------------------------------------------------------- */

int
agents_lost(
    struct run *run, const struct sim_target *target, uint32_t number, int64_t known_ns)
{
	struct sim_lane *lane = &run->lanes[run->lane_of[target->src]];
	struct sim_flow *flow = &run->flows[number];

	if (target->kind == WIRE_TOR_MESH || flow->known == 0 || flow->is_suspect)
		return 0;
	if (known_ns - flow->lost_ns > interval_ns(run))
		flow->lossy_traces = 0, flow->lossy_from_ns = 0;
	flow->lost_ns = known_ns;
	if (known_ns < flow->lossy_from_ns)
		return 0;
	return add_suspect(run, lane, target, number, known_ns + SUSPECT_NS);
}

void
agents_forget_suspects(struct run *run, struct sim_lane *lane)
{
	for (size_t i = 0; i < lane->suspect_count; i++)
		run->flows[lane->suspects[i].flow].is_suspect = false;
	lane->suspect_count = 0;
	lane->all_again_ns = lane->all_apart_ns = 0;
}

/* Whether the budget is enough for a trace of so many packets. */
static bool
may_trace(struct sim_lane *lane, size_t packets, int64_t now_ns)
{
	const double burst = TRACE_RATE_PER_S * BURST_S;

	lane->trace_budget +=
	    TRACE_RATE_PER_S * (double)(now_ns - lane->trace_budget_ns) / 1e9;
	lane->trace_budget_ns = now_ns;
	if (lane->trace_budget > burst)
		lane->trace_budget = burst;
	if (lane->trace_budget < (double)packets)
		return false;
	lane->trace_budget -= (double)packets;
	return true;
}

/* Computes when the last of the lane's flows is traced again, after a path has changed.
 */
static void
plan_all_again(struct run *run, struct sim_lane *lane, size_t hops, int64_t now_ns)
{
	size_t flows = 0;
	int64_t takes_ns;

	if (lane->all_apart_ns > 0 && now_ns - lane->all_apart_ns < TRACER_ALL_APART_NS)
		return;
	for (size_t i = 0; i < lane->target_count; i++)
		if (run->targets[lane->targets[i]].kind != WIRE_TOR_MESH)
			flows += run->targets[lane->targets[i]].flow_count;
	takes_ns = (int64_t)((double)(flows * hops) / TRACE_RATE_PER_S * 1e9);
	if (takes_ns < TRACER_ALL_AGAIN_NS)
		takes_ns = TRACER_ALL_AGAIN_NS;
	lane->all_apart_ns = now_ns;
	if (now_ns + takes_ns < lane->next_trace_ns)
		lane->all_again_ns = now_ns + takes_ns;
}

/* False: the flow stays in the list. */
static bool
trace_suspect(struct run *run, struct sim_lane *lane, struct sim_suspect *suspect,
    int64_t now_ns, struct wire_path *ret, bool *moved)
{
	struct sim_target *target = &run->targets[suspect->target];
	struct sim_flow *flow = &run->flows[suspect->flow];
	const uint64_t known = flow->known, traced = flow->traced;
	const size_t hops = flow->path.out_count == 0 ? 0 : flow->path.out_count - 1u;
	int64_t pause_ns = TRACER_LOSS_NS;

	*moved = false;
	if (target->first_flow == UINT32_MAX || flow->path.sprayed)
		return true;
	if (suspect->due_ns > now_ns || !may_trace(lane, hops, now_ns))
		return false;
	trace(run, target, flow, fate_hop_answers_apart, now_ns, ret);
	if (ret->flags != WIRE_PATH_COMPLETE) {
		flow->traced = traced;
		suspect->due_ns = now_ns + (RETRY_NS << suspect->retries);
		if (suspect->retries++ < (has_moved(flow) ? MOVED_RETRIES : 1))
			return false;
	}
	*moved = ret->flags == WIRE_PATH_COMPLETE && flow->known != known;
	if (*moved) {
		flow->lossy_traces = 0;
		choose(run, target);
		plan_all_again(run, lane, hops, now_ns);
	} else if (flow->lossy_traces < 16) {
		pause_ns <<= flow->lossy_traces++;
	} else {
		pause_ns = interval_ns(run);
	}
	if (pause_ns > interval_ns(run))
		pause_ns = interval_ns(run);
	flow->lossy_from_ns = now_ns + pause_ns;
	return true;
}

int
agents_trace_suspects(struct run *run, struct sim_lane *lane, int64_t now_ns)
{
	struct wire_path paths[PATHS_PER_MESSAGE];
	size_t left = 0, count = 0;
	int r = 0;

	for (size_t i = 0; i < lane->suspect_count; i++) {
		struct sim_suspect suspect = lane->suspects[i];
		bool moved = false;

		if (count == PATHS_PER_MESSAGE ||
		    !trace_suspect(run, lane, &suspect, now_ns, &paths[count], &moved))
			lane->suspects[left++] = suspect;
		else
			run->flows[suspect.flow].is_suspect = false;
		count += moved;
	}
	lane->suspect_count = left;
	if (count > 0)
		r = post(run, lane, paths, count, now_ns);
	return r;
}
