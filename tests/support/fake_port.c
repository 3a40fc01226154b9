#include "tests/support/fake_port.h"

#include <string.h>

#include "host-agent/packet/probe_format.h"

static int
fake_check(struct port *port, const struct wire_address *to, uint16_t src_port)
{
	return 0;
}

static void
fake_listen(struct port *port, enum port_role role, const struct port_events *events)
{
	struct fake_port *fake = (struct fake_port *)port;

	memset(&fake->events[role], 0, sizeof(fake->events[role]));
	if (events != NULL)
		fake->events[role] = *events;
}

static void
fake_send(
    struct port *port, enum port_role role, struct port_packet *packets, size_t count)
{
	struct fake_port *fake = (struct fake_port *)port;

	for (size_t i = 0; i < count; i++) {
		struct fake_sent *sent;

		packets[i].posted = rm_mono_now();
		packets[i].error = fake->error;
		if (fake->error != 0)
			continue;
		sent = &fake->sent[fake->sent_count++ % FAKE_PORT_KEPT];
		sent->to = *packets[i].to;
		sent->len = (size_t)packets[i].len + packets[i].zeros;
		sent->token = packets[i].token;
		sent->qpn = packets[i].qpn;
		sent->lid = packets[i].lid;
		sent->sl = packets[i].sl;
		sent->label = packets[i].label;
		sent->src_port = packets[i].src_port;
		sent->dscp = packets[i].dscp;
		memcpy(sent->data, packets[i].data,
		    packets[i].len < sizeof(sent->data) ? packets[i].len
							: sizeof(sent->data));
	}
	for (size_t i = 0; i < count && fake->stamp_ns != 0; i++) {
		struct port_departure departure = { packets[i].token, fake->stamp_ns };

		fake->events[role].on_departures(&departure, 1, fake->events[role].arg);
	}
}

static bool
fake_drain(struct port *port, enum port_role role)
{
	return true;
}

static uint64_t
fake_overruns(struct port *port, enum port_role role, bool refresh)
{
	return ((struct fake_port *)port)->counts.overruns;
}

static uint16_t
fake_reflector_port(const struct port *port)
{
	return ((const struct fake_port *)port)->flows == PORT_FLOWS_SOURCE_PORT
		   ? FAKE_PORT_REFLECTOR
		   : 0;
}

static uint16_t
fake_flow(const struct port *port, uint16_t wanted)
{
	const struct fake_port *fake = (const struct fake_port *)port;

	return fake->every_flow != 0 ? fake->every_flow : wanted;
}

static uint32_t
fake_label(const struct port *port, uint16_t src_port)
{
	return ((const struct fake_port *)port)->flows == PORT_FLOWS_LABEL
		   ? FAKE_PORT_LABEL + src_port
		   : 0;
}

static enum port_flows
fake_flows(const struct port *port)
{
	return ((const struct fake_port *)port)->flows;
}

static const struct port_counts *
fake_counts(const struct port *port)
{
	return &((const struct fake_port *)port)->counts;
}

static void
fake_free(struct port *port)
{
}

#define FAKE_OPS(carried)                                                       \
	{                                                                       \
		.check = fake_check, .listen = fake_listen, .send = fake_send,  \
		.drain = fake_drain, .overruns = fake_overruns,                 \
		.reflector_port = fake_reflector_port, .flow = fake_flow,       \
		.label = fake_label, .flows = fake_flows, .format = &(carried), \
		.counts = fake_counts, .free = fake_free,                       \
	}

void
fake_port_init(struct fake_port *fake)
{
	static const struct port_ops ops = FAKE_OPS(stamp_format);

	memset(fake, 0, sizeof(*fake));
	fake->port.ops = &ops;
}

void
fake_port_init_roce(struct fake_port *fake, enum port_flows flows)
{
	static const struct port_ops ops = FAKE_OPS(roce_format);

	memset(fake, 0, sizeof(*fake));
	fake->port.ops = &ops;
	fake->flows = flows;
}

void
fake_port_deliver(
    struct fake_port *fake, enum port_role role, struct port_arrival *arrival)
{
	fake->events[role].on_arrivals(arrival, 1, fake->events[role].arg);
}

void
fake_port_arrive(struct fake_port *fake, enum port_role role,
    const struct wire_address *from, uint8_t *data, size_t len, uint8_t dscp)
{
	struct port_arrival arrival = { .from = *from,
		.data = data,
		.len = len,
		.stamp_ns = INT64_C(1700000000000000001),
		.dscp = dscp,
		.ecn = 2,
		.ttl = 64,
		.source = WIRE_STAMP_KERNEL };

	fake_port_deliver(fake, role, &arrival);
}

void
fake_port_depart(
    struct fake_port *fake, enum port_role role, size_t i, int64_t stamp_ns)
{
	struct port_departure departure = { .token = fake->sent[i].token,
		.stamp_ns = stamp_ns };

	fake->events[role].on_departures(&departure, 1, fake->events[role].arg);
}
