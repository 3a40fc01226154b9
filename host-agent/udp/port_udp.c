#include "host-agent/udp/port_udp.h"

#include <errno.h>
#include <event2/event.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host-agent/packet/probe_format.h"
#include "host-agent/probe/port.h"
#include "host-agent/udp/port_udp_burst.h"
#include "host-agent/udp/port_udp_flow.h"
#include "host-agent/udp/port_udp_socket.h"
#include "rackmesh/core/netns.h"

#define DEFAULT_MAX_FLOWS 1024
/* This is longer than the longest wait for a reply. */
#define DEFAULT_FLOW_IDLE_NS (30 * RM_NS_PER_S)
#define DEFAULT_RECEIVE_BYTES (4 << 20)
#define FIRST_FREE_PORT 1024
#define BURSTS_PER_DRAIN 256

struct port_udp {
	struct port base;
	struct port_udp_shared shared;
	struct port_udp_options options;
	char device[IF_NAMESIZE];
	int netns_fd;
	struct port_udp_flow *flows[PORT_ROLES]; /* uthash */
};

static struct port_udp *
port_udp(struct port *port)
{
	return (struct port_udp *)port;
}

static int
flow_open(struct port_udp *port, enum port_role role, uint8_t family,
    uint16_t local_port, struct port_udp_flow **ret)
{
	const struct wire_address *own = port->options.addresses;
	struct port_udp_binding binding = { .netns_fd = port->netns_fd,
		.device = port->device,
		.address = own[0].family == family ? own[0] : own[1],
		.port = local_port,
		.receive_buffer_bytes = port->options.receive_buffer_bytes };
	struct port_udp_flow *flow;
	int r;

	if (binding.address.family != family || family == 0)
		return -EAFNOSUPPORT;
	r = port_udp_flow_new(&port->shared, role, &binding, &flow);
	if (r < 0)
		return r;
	HASH_ADD(hh, port->flows[role], key, sizeof(flow->key), flow);
	if (flow->hh.tbl == NULL) {
		port_udp_flow_free(flow);
		return -ENOMEM;
	}
	*ret = flow;
	return 0;
}

static int
udp_check(struct port *base, const struct wire_address *to, uint16_t src_port)
{
	struct port_udp *port = port_udp(base);
	const struct wire_address *own = port->options.addresses;

	if (to->port == 0)
		return -EINVAL;
	if (to->family == 0 ||
	    (to->family != own[0].family && to->family != own[1].family))
		return -EAFNOSUPPORT;
	if (src_port < port->options.sport_min || src_port > port->options.sport_max ||
	    src_port == port->options.reflector_port)
		return -ERANGE;
	return 0;
}

/* If the port has max_flows flows, closes the prober socket that was unused for
 * longest, because flows change with the plans. -EMFILE: it was used less than
 * flow_idle_ns ago. */
static int
flows_make_room(struct port_udp *port, rm_mono_t now)
{
	struct port_udp_flow *oldest = port->flows[PORT_PROBER];

	if (HASH_COUNT(oldest) < port->options.max_flows)
		return 0;
	for (struct port_udp_flow *f = oldest; f != NULL; f = f->hh.next)
		if (rm_mono_since(oldest->used, f->used) > 0)
			oldest = f;
	if (rm_mono_since(now, oldest->used) < port->options.flow_idle_ns)
		return -EMFILE;
	port_udp_flow_refresh_drops(oldest);
	HASH_DEL(port->flows[PORT_PROBER], oldest);
	port_udp_flow_free(oldest);
	return 0;
}

/* Finds or opens the socket, and marks it as used now, so that no other packet of the
 * burst closes it. */
static int
flow_for(struct port_udp *port, enum port_role role, const struct port_packet *packet,
    rm_mono_t now, struct port_udp_flow **ret)
{
	uint16_t local_port =
	    role == PORT_REFLECTOR ? port->options.reflector_port : packet->src_port;
	uint32_t key = port_udp_flow_key(packet->to->family, local_port);
	struct port_udp_flow *flow;
	int r;

	HASH_FIND(hh, port->flows[role], &key, sizeof(key), flow);
	if (flow != NULL) {
		flow->used = now;
		*ret = flow;
		return 0;
	}
	if (role == PORT_REFLECTOR)
		return -EAFNOSUPPORT;
	r = udp_check(&port->base, packet->to, packet->src_port);
	if (r == 0)
		r = flows_make_room(port, now);
	if (r == 0)
		r = flow_open(port, role, packet->to->family, local_port, ret);
	if (r < 0)
		port->shared.counts.refused_flows++;
	else
		(*ret)->used = now;
	return r;
}

static void
udp_send(
    struct port *base, enum port_role role, struct port_packet *packets, size_t count)
{
	struct port_udp *port = port_udp(base);
	struct port_udp_flow *flows[PORT_BURST] = { 0 };
	rm_mono_t now = rm_mono_now();

	if (count > PORT_BURST)
		count = PORT_BURST;
	for (size_t i = 0; i < count; i++) {
		packets[i].error = flow_for(port, role, &packets[i], now, &flows[i]);
		if (packets[i].error != 0)
			packets[i].posted = rm_mono_now();
	}
	for (size_t i = 0; i < count; i++) {
		struct port_udp_flow *flow = flows[i];
		struct port_packet *same[PORT_BURST];
		size_t n = 0;

		if (flow == NULL)
			continue;
		for (size_t j = i; j < count; j++) {
			if (flows[j] != flow)
				continue;
			same[n++] = &packets[j];
			flows[j] = NULL;
		}
		port_udp_flow_send(flow, same, n);
	}
}

static bool
udp_drain(struct port *base, enum port_role role)
{
	int bursts = BURSTS_PER_DRAIN;

	for (struct port_udp_flow *f = port_udp(base)->flows[role]; f; f = f->hh.next) {
		while (port_udp_flow_receive(f) == PORT_BURST)
			if (--bursts <= 0)
				return false;
		while (port_udp_stamps_waiting(&f->stamps) &&
		       port_udp_flow_read_stamps(f) == PORT_BURST)
			if (--bursts <= 0)
				return false;
	}
	return true;
}

static uint64_t
udp_overruns(struct port *base, enum port_role role, bool refresh)
{
	struct port_udp *port = port_udp(base);

	if (refresh)
		for (struct port_udp_flow *f = port->flows[role]; f; f = f->hh.next)
			port_udp_flow_refresh_drops(f);
	return port->shared.overruns[role];
}

static void
udp_listen(struct port *base, enum port_role role, const struct port_events *events)
{
	struct port_udp *port = port_udp(base);

	port->shared.listening[role] = events != NULL;
	if (events != NULL)
		port->shared.events[role] = *events;
}

static uint16_t
udp_reflector_port(const struct port *base)
{
	return ((const struct port_udp *)base)->options.reflector_port;
}

static uint16_t
udp_flow(const struct port *base, uint16_t wanted)
{
	return wanted;
}

static uint32_t
udp_label(const struct port *base, uint16_t src_port)
{
	return 0;
}

static enum port_flows
udp_flows(const struct port *base)
{
	return PORT_FLOWS_SOURCE_PORT;
}

static const struct port_counts *
udp_counts(const struct port *base)
{
	return &((const struct port_udp *)base)->shared.counts;
}

static void
udp_free(struct port *base)
{
	struct port_udp *port = port_udp(base);

	for (int role = 0; role < PORT_ROLES; role++) {
		while (port->flows[role] != NULL) {
			struct port_udp_flow *flow = port->flows[role];

			HASH_DEL(port->flows[role], flow);
			port_udp_flow_free(flow);
		}
	}
	if (port->netns_fd >= 0)
		close(port->netns_fd);
	port_udp_burst_free(port->shared.burst);
	free(port);
}

static const struct port_ops udp_ops = {
	.check = udp_check,
	.listen = udp_listen,
	.send = udp_send,
	.drain = udp_drain,
	.overruns = udp_overruns,
	.reflector_port = udp_reflector_port,
	.flow = udp_flow,
	.label = udp_label,
	.flows = udp_flows,
	.format = &stamp_format,
	.counts = udp_counts,
	.free = udp_free,
};

static void
port_udp_set_options(struct port_udp *port, const struct port_udp_options *options)
{
	port->options = *options;
	/* The caller's strings are valid only during this call. */
	port->options.device = port->options.netns = NULL;
	if (options->sport_min == 0 && options->sport_max == 0) {
		port->options.sport_min = FIRST_FREE_PORT;
		port->options.sport_max = UINT16_MAX;
	}
	if (options->max_flows == 0)
		port->options.max_flows = DEFAULT_MAX_FLOWS;
	if (options->flow_idle_ns <= 0)
		port->options.flow_idle_ns = DEFAULT_FLOW_IDLE_NS;
	if (options->receive_buffer_bytes <= 0)
		port->options.receive_buffer_bytes = DEFAULT_RECEIVE_BYTES;
}

int
port_udp_new(
    struct rm_loop *loop, const struct port_udp_options *options, struct port **ret)
{
	struct port_udp *port = calloc(1, sizeof(*port));
	struct port_udp_flow *reflector;
	int r = -ENOMEM;

	if (port == NULL)
		return -ENOMEM;
	port->base.ops = &udp_ops;
	port->shared.loop = loop;
	port->netns_fd = -1;
	port_udp_set_options(port, options);
	port->shared.burst = port_udp_burst_new();
	if (port->shared.burst == NULL)
		goto fail;
	r = -ENAMETOOLONG;
	if (options->device != NULL && strlen(options->device) >= sizeof(port->device))
		goto fail;
	if (options->device != NULL)
		strcpy(port->device, options->device);
	r = rm_netns_open(options->netns, &port->netns_fd);
	if (r < 0)
		goto fail;

	r = -EINVAL;
	if (options->addresses[0].family == 0 && options->addresses[1].family == 0)
		goto fail;
	for (int i = 0; i < 2 && options->reflector_port != 0; i++) {
		if (options->addresses[i].family == 0)
			continue;
		r = flow_open(port, PORT_REFLECTOR, options->addresses[i].family,
		    options->reflector_port, &reflector);
		if (r < 0)
			goto fail;
	}
	*ret = &port->base;
	return 0;
fail:
	udp_free(&port->base);
	return r;
}
