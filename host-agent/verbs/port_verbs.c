#include "host-agent/verbs/port_verbs.h"

#include <errno.h>
#include <stdlib.h>

#include "host-agent/packet/probe_format.h"
#include "host-agent/probe/flow_label.h"
#include "host-agent/verbs/port_verbs_state.h"
#include "host-agent/verbs/verbs_ah.h"
#include "host-agent/verbs/verbs_calls.h"

#define DEFAULT_FLOW_QPS 8
#define DEFAULT_SMALL_RECEIVES 1024
#define DEFAULT_LARGE_RECEIVES 128
#define DEFAULT_MAX_HANDLES 4096
#define BURSTS_PER_DRAIN 256

static struct port_verbs *
port_verbs(struct port *port)
{
	return (struct port_verbs *)port;
}

static const struct port_verbs *
port_verbs_const(const struct port *port)
{
	return (const struct port_verbs *)port;
}

/* The flows of the device, whatever is asked for. */
static uint16_t
verbs_flow(const struct port *base, uint16_t wanted)
{
	const struct port_verbs *port = port_verbs_const(base);

	switch (port->flows) {
	case PORT_FLOWS_LABEL:
		return wanted | FLOW_LABEL_SPORT_MIN;
	case PORT_FLOWS_QP:
		return port->queues[QUEUE_FLOWS + wanted % port->flow_count].port;
	default:
		return 0;
	}
}

static int
verbs_check(struct port *base, const struct wire_address *to, uint16_t src_port)
{
	const struct port_verbs *port = port_verbs(base);
	bool ours = port->infiniband && to->family == 0;

	for (int i = 0; i < PORT_VERBS_GIDS && to->family != 0; i++)
		ours |= port->options.gids[i].address.family == to->family;
	if (!ours)
		return -EAFNOSUPPORT;
	if (port->flows == PORT_FLOWS_QP)
		return port_verbs_label(port, src_port) != 0 ? 0 : -ERANGE;
	return verbs_flow(base, src_port) == src_port ? 0 : -ERANGE;
}

static void
verbs_listen(struct port *base, enum port_role role, const struct port_events *events)
{
	struct port_verbs *port = port_verbs(base);

	port->listening[role] = events != NULL;
	if (events != NULL)
		port->listeners[role] = *events;
}

static bool
verbs_drain(struct port *base, enum port_role role)
{
	struct port_verbs *port = port_verbs(base);
	int bursts = BURSTS_PER_DRAIN;

	port_verbs_take_sent(port);
	do
		port_verbs_take(port, role);
	while (port_verbs_deliver(port, role) == PORT_BURST && --bursts > 0);
	port_verbs_refill(port); /* what was not worth handing over, too */
	if (bursts == 0)
		port_verbs_again(port);
	return bursts > 0;
}

static uint64_t
verbs_overruns(struct port *base, enum port_role role, bool refresh)
{
	return port_verbs(base)->overruns[role];
}

static uint16_t
verbs_reflector_port(const struct port *base)
{
	return 0;
}

static uint32_t
verbs_label(const struct port *base, uint16_t src_port)
{
	return port_verbs_label(port_verbs_const(base), src_port);
}

static enum port_flows
verbs_flows(const struct port *base)
{
	return port_verbs_const(base)->flows;
}

static const struct port_counts *
verbs_counts(const struct port *base)
{
	return &port_verbs_const(base)->counts;
}

static void
verbs_free(struct port *base)
{
	struct port_verbs *port = port_verbs(base);

	port_verbs_unwire(port);
	port_verbs_drop_waiting(port);
	port_verbs_close(port);
	free(port);
}

static const struct port_ops verbs_ops = {
	.check = verbs_check,
	.listen = verbs_listen,
	.send = port_verbs_send,
	.drain = verbs_drain,
	.overruns = verbs_overruns,
	.reflector_port = verbs_reflector_port,
	.flow = verbs_flow,
	.label = verbs_label,
	.flows = verbs_flows,
	.format = &roce_format,
	.counts = verbs_counts,
	.free = verbs_free,
};

static void
port_set_options(struct port_verbs *port, const struct port_verbs_options *options)
{
	struct port_verbs_options *own = &port->options;

	*own = *options;
	port->calls = options->calls != NULL ? options->calls : &verbs_calls_real;
	if (own->flow_qps == 0)
		own->flow_qps = DEFAULT_FLOW_QPS;
	if (own->small_receives == 0)
		own->small_receives = DEFAULT_SMALL_RECEIVES;
	if (own->large_receives == 0)
		own->large_receives = DEFAULT_LARGE_RECEIVES;
	if (own->max_handles == 0)
		own->max_handles = DEFAULT_MAX_HANDLES;
}

int
port_verbs_new(struct rm_loop *loop, const struct port_verbs_options *options,
    const struct port_verbs_events *events, struct port **ret)
{
	struct port_verbs *port = calloc(1, sizeof(*port));
	int r;

	if (port == NULL)
		return -ENOMEM;
	port->base.ops = &verbs_ops;
	port->loop = loop;
	port->events = *events;
	port_set_options(port, options);
	r = port_verbs_open(port);
	if (r == 0)
		r = port_verbs_wire(port);
	if (r < 0) {
		verbs_free(&port->base);
		return r;
	}
	port_verbs_check_lid(port);
	port->options.device = port->options.driver = NULL; /* not ours to keep */
	*ret = &port->base;
	return 0;
}

void
port_verbs_facts(const struct port *base, struct port_verbs_facts *ret)
{
	const struct port_verbs *port = port_verbs_const(base);
	struct verbs_queue_level level;

	verbs_queue_level(port->queues[QUEUE_SMALL].queue, &level);
	*ret = (struct port_verbs_facts){
		.qpn = port->queues[QUEUE_SMALL].qpn,
		.large_qpn = port->queues[QUEUE_LARGE].qpn,
		.mtu_bytes = port->mtu_bytes,
		.stamps = port->stamps,
		.flows = port->flows,
		.flow_count = port->flow_count,
		.link_up = port->link_up,
		.receives_lowest = level.lowest,
		.handles = verbs_ah_counts(port->domain->handles)->handles,
	};
}
