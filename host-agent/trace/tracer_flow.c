/* Which flows there are, and how long their ways are. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/probe/port.h"
#include "host-agent/probe/prober_target.h"
#include "host-agent/trace/tracer_state.h"

/* New flows are spread over this, and wait so long for a first probe to arrive. */
#define FIRST_SPREAD_NS (200 * RM_NS_PER_MS)
#define FIRST_LENGTH_NS (2 * RM_NS_PER_S)
#define OTHER_LENGTH_NS RM_NS_PER_S /* after another length was seen */

static struct tracer_key
flow_key(size_t owner, struct wire_rnic_id dst, uint16_t src_port)
{
	return (struct tracer_key){ .dst_guid = dst.guid,
		.src_port = src_port,
		.owner = (uint8_t)owner,
		.dst_port_num = dst.port };
}

struct tracer_flow *
tracer_find(const struct tracer *tracer, size_t owner, struct wire_rnic_id dst,
    uint16_t src_port)
{
	struct tracer_key key = flow_key(owner, dst, src_port);
	struct tracer_flow *flow;

	HASH_FIND(hh, tracer->flows, &key, sizeof(key), flow);
	return flow;
}

static void
flow_forget(struct tracer *tracer, struct tracer_flow *flow)
{
	tracer_abandon(tracer, flow);
	tracer->ways++;
	HASH_DEL(tracer->flows, flow);
	free(flow);
}

static bool
same_flow(const struct trace_flow *a, const struct trace_flow *b)
{
	return a->dscp == b->dscp && a->src.family == b->src.family &&
	       a->dst.port == b->dst.port &&
	       memcmp(a->src.bytes, b->src.bytes, sizeof(a->src.bytes)) == 0 &&
	       memcmp(a->dst.bytes, b->dst.bytes, sizeof(a->dst.bytes)) == 0;
}

/* Everything that was learned is of another way. */
static void
flow_begin(struct tracer *tracer, struct tracer_flow *flow, rm_mono_t now)
{
	tracer_abandon(tracer, flow);
	memset(&flow->path, 0, sizeof(flow->path));
	flow->known = false;
	flow->routers = 0;
	flow->misses = 0;
	flow->news = 0;
	flow->retell = (rm_mono_t){ 0 };
	tracer->ways++;
	flow->due =
	    rm_mono_add(now, FIRST_LENGTH_NS + tracer_random(tracer, FIRST_SPREAD_NS));
}

static int
flow_add(struct tracer *tracer, const struct tracer_key *key, struct tracer_flow **ret)
{
	struct tracer_flow *flow;

	if (HASH_COUNT(tracer->flows) >= TRACER_MAX_FLOWS) {
		tracer->counts.refused_flows++;
		return -ENOSPC;
	}
	flow = calloc(1, sizeof(*flow));
	if (flow == NULL)
		return -ENOMEM;
	flow->key = *key;
	flow->slot = -1;
	HASH_ADD(hh, tracer->flows, key, sizeof(flow->key), flow);
	if (flow->hh.tbl == NULL) {
		free(flow);
		return -ENOMEM;
	}
	*ret = flow;
	return 0;
}

static int
set_flow(struct tracer *tracer, size_t owner, const struct wire_target *target,
    uint16_t src_port, const struct wire_address *src, uint64_t to, rm_mono_t now)
{
	struct tracer_key key = flow_key(owner, target->dst, src_port);
	struct trace_flow fresh = {
		.src = *src, .dst = target->address, .dscp = target->dscps[0]
	};
	struct tracer_flow *flow;
	int r;

	fresh.src.port = src_port;
	HASH_FIND(hh, tracer->flows, &key, sizeof(key), flow);
	if (flow != NULL && flow->kept)
		return 0; /* the same again, as another kind of target */
	if (flow == NULL) {
		r = flow_add(tracer, &key, &flow);
		if (r < 0)
			return r == -ENOSPC ? 0 : r;
		flow_begin(tracer, flow, now);
	} else if (!same_flow(&flow->flow, &fresh)) {
		flow_begin(tracer, flow, now);
	}
	flow->src = target->src;
	flow->flow = fresh;
	flow->to = to;
	flow->news &= to;
	flow->kept = true;
	flow->service = target->kind == WIRE_SERVICE;
	return 0;
}

static bool
leaves_the_rack(const struct wire_target *target)
{
	return target->kind == WIRE_INTER_TOR || target->kind == WIRE_WITNESS ||
	       target->kind == WIRE_SERVICE;
}

/* Sooner than planned, but never again and again: where packets are sprayed over ways
 * of unequal length every probe may tell another one. */
static void
hurry(struct tracer *tracer, struct tracer_flow *flow, rm_mono_t now)
{
	int64_t pause = tracer_random(tracer, FIRST_SPREAD_NS);
	rm_mono_t soon;

	if (flow->path.good.count > 0)
		pause += OTHER_LENGTH_NS;
	soon = rm_mono_add(now, pause);
	if (soon.ns < flow->due.ns)
		flow->due = soon;
}

/* No probe takes the way of every flow of a service, but to the same destination all
 * ways are, as a rule, as long: so its traces do not get there either. */
static void
lend_length(
    struct tracer *tracer, struct tracer_flow *flow, uint8_t routers, rm_mono_t now)
{
	if (flow->known || !flow->service || routers == 0)
		return;
	flow->known = true;
	flow->routers = routers;
	if (flow->slot < 0)
		hurry(tracer, flow, now);
}

static void
lend_lengths(struct tracer *tracer, size_t owner, struct wire_rnic_id dst,
    const uint16_t *ports, size_t count, rm_mono_t now)
{
	uint8_t routers = 0;

	for (size_t i = 0; i < count && routers == 0; i++) {
		struct tracer_flow *flow = tracer_find(tracer, owner, dst, ports[i]);

		if (flow != NULL && flow->known)
			routers = flow->routers;
	}
	for (size_t i = 0; i < count; i++) {
		struct tracer_flow *flow = tracer_find(tracer, owner, dst, ports[i]);

		if (flow != NULL)
			lend_length(tracer, flow, routers, now);
	}
}

int
tracer_set(struct tracer *tracer, size_t owner, const struct wire_target *targets,
    size_t count, const struct wire_address src[2], struct port *port, uint64_t to,
    rm_mono_t now)
{
	struct tracer_flow *flow, *next;
	int r = 0;

	if (owner >= TRACER_MAX_OWNERS)
		return -EINVAL;
	for (flow = tracer->flows; flow != NULL; flow = flow->hh.next)
		flow->kept = false;
	/* From where its probes leave is a guess: a trace would show another way. */
	if (port != NULL && port_flows(port) == PORT_FLOWS_UNKNOWN)
		count = 0;
	for (size_t i = 0; i < count && r == 0; i++) {
		const struct wire_target *target = &targets[i];
		const struct wire_address *own = NULL;
		uint16_t ports[WIRE_MAX_FLOWS];
		size_t flows;

		for (size_t k = 0; k < 2; k++) {
			if (src[k].family != 0 &&
			    src[k].family == target->address.family)
				own = &src[k];
		}
		if (!leaves_the_rack(target) || own == NULL ||
		    prober_target_check(target, port, NULL) != TARGET_FINE)
			continue;
		/* Those of services are not only what probes take. */
		flows = prober_target_flows(
		    target, target->kind == WIRE_SERVICE ? NULL : port, ports);
		for (size_t k = 0; k < flows && r == 0; k++)
			r = set_flow(tracer, owner, target, ports[k], own, to, now);
		if (target->kind == WIRE_SERVICE)
			lend_lengths(tracer, owner, target->dst, ports, flows, now);
	}
	HASH_ITER (hh, tracer->flows, flow, next) {
		if (flow->key.owner == owner && !flow->kept)
			flow_forget(tracer, flow);
	}
	return r;
}

bool
tracer_length(struct tracer *tracer, size_t owner, struct wire_rnic_id dst,
    uint16_t src_port, uint8_t routers, rm_mono_t now)
{
	struct tracer_flow *flow = tracer_find(tracer, owner, dst, src_port);
	bool first;

	if (flow == NULL || (flow->known && routers == flow->routers) ||
	    routers > WIRE_MAX_HOPS)
		return false;
	first = !flow->known;
	flow->known = true;
	flow->routers = routers;
	for (struct tracer_flow *f = first ? tracer->flows : NULL; f != NULL;
	     f = f->hh.next)
		if (f->key.owner == flow->key.owner &&
		    f->key.dst_guid == flow->key.dst_guid &&
		    f->key.dst_port_num == flow->key.dst_port_num)
			lend_length(tracer, f, routers, now);
	if (flow->slot >= 0)
		return false;
	if (routers == 0)
		flow->due = (rm_mono_t){ INT64_MAX }; /* a neighbour: no way at all */
	else
		hurry(tracer, flow, now);
	return true;
}

void
tracer_free(struct tracer *tracer)
{
	if (tracer == NULL)
		return;
	while (tracer->flows != NULL)
		flow_forget(tracer, tracer->flows);
	free(tracer);
}
