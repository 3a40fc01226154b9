/* What is known of the ways, for aggregators and for people. */
#include <string.h>

#include "host-agent/trace/tracer_state.h"

#include "rackmesh/core/fnv.h"

static void
fill(const struct tracer_flow *flow, rm_mono_t now, struct wire_path *out)
{
	const struct trace_path *path = &flow->path;

	*out = (struct wire_path){
		.src_guid = flow->src.guid,
		.dst_guid = flow->key.dst_guid,
		.src_port = flow->key.src_port,
		.src_port_num = flow->src.port,
		.dst_port_num = flow->key.dst_port_num,
		.dscp = flow->flow.dscp,
		.family = flow->flow.src.family,
		.flags = (uint8_t)((path->good.complete ? WIRE_PATH_COMPLETE : 0) |
				   (path->multipath ? WIRE_PATH_MULTIPATH : 0)),
		.hop_count = path->good.count,
	};
	if (path->good.count == 0)
		return;
	out->age_ns = (uint64_t)rm_mono_since(now, path->traced);
	memcpy(out->hops, path->good.at, sizeof(out->hops));
}

/* No plan names them, and what no plan names is forgotten by aggregators. */
static void
flow_retell(struct tracer_flow *flow, rm_mono_t now)
{
	if (!flow->service || flow->path.good.count == 0 ||
	    rm_mono_since(now, flow->retell) < 0)
		return;
	if (flow->retell.ns != 0)
		flow->news = flow->to;
	flow->retell = rm_mono_add(now, TRACER_RETELL_NS);
}

size_t
tracer_report(struct tracer *tracer, unsigned aggregator, rm_mono_t now,
    struct wire_path *out, size_t max)
{
	uint64_t bit = UINT64_C(1) << aggregator;
	size_t count = 0;

	for (struct tracer_flow *f = tracer->flows; f != NULL && count < max;
	     f = f->hh.next) {
		flow_retell(f, now);
		if ((f->news & bit) == 0)
			continue;
		f->news &= ~bit;
		fill(f, now, &out[count++]);
	}
	return count;
}

void
tracer_report_all(struct tracer *tracer, unsigned aggregator)
{
	uint64_t bit = UINT64_C(1) << aggregator;

	for (struct tracer_flow *f = tracer->flows; f != NULL; f = f->hh.next) {
		if (f->path.good.count > 0)
			f->news |= f->to & bit;
	}
}

size_t
tracer_list(const struct tracer *tracer, size_t first, rm_mono_t now,
    struct tracer_view *out, size_t max)
{
	const struct tracer_flow *flow = tracer->flows;
	size_t count = 0;

	for (; flow != NULL && first > 0; first--)
		flow = flow->hh.next;
	for (; flow != NULL && count < max; flow = flow->hh.next, count++) {
		fill(flow, now, &out[count].path);
		out[count].dst = flow->flow.dst;
	}
	return count;
}

/* So many traces in a row that got less far than is known: it may be another way. */
#define DOUBTFUL_MISSES 3

uint64_t
tracer_flow_way(const struct tracer_flow *flow)
{
	const struct trace_hops *good = &flow->path.good;
	uint64_t way = RM_FNV1A ^ good->count;

	if (good->count == 0 || flow->path.multipath || flow->path.other.count > 0 ||
	    flow->misses >= DOUBTFUL_MISSES || trace_path_has_gaps(&flow->path))
		return 0;
	way = rm_fnv1a(way, good->at, good->count * sizeof(good->at[0]));
	return way != 0 ? way : 1;
}

uint64_t
tracer_way(const struct tracer *tracer, size_t owner, struct wire_rnic_id dst,
    uint16_t src_port)
{
	const struct tracer_flow *flow = tracer_find(tracer, owner, dst, src_port);

	return flow == NULL ? 0 : tracer_flow_way(flow);
}

uint64_t
tracer_ways(const struct tracer *tracer)
{
	return tracer->ways;
}

size_t
tracer_flows(const struct tracer *tracer)
{
	return HASH_COUNT(tracer->flows);
}

size_t
tracer_multipath(const struct tracer *tracer)
{
	size_t count = 0;

	for (struct tracer_flow *f = tracer->flows; f != NULL; f = f->hh.next)
		count += f->path.multipath;
	return count;
}
