/*
 * port - how probes leave and arrive: bursts of packets, with the time of each.
 *
 * Prober and reflector know only this; port_udp is one port, others can follow.
 * Everything runs on the loop's thread. A stamp is ns of the port's own clock:
 * subtract it from another of the same port, never from CLOCK_MONOTONIC.
 *
 * A flow is named by its UDP source port everywhere, on RoCEv2 too: how the port brings
 * that about is its own matter.
 */
#ifndef HOST_AGENT_PROBE_PORT_H
#define HOST_AGENT_PROBE_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host-agent/probe/port_packet.h"

enum port_role { PORT_PROBER, PORT_REFLECTOR, PORT_ROLES };

/* How a probe comes by the path that is asked for. */
enum port_flows {
	PORT_FLOWS_SOURCE_PORT, /* the socket's own UDP source port */
	PORT_FLOWS_LABEL,       /* the NIC makes the source port of the flow label */
	PORT_FLOWS_QP,          /* it makes it of the QPN: several QPs, several flows */
	PORT_FLOWS_UNKNOWN,     /* nobody has told us of this driver: one flow */
};

/* Called from the loop, and from inside port_send and port_drain. */
struct port_events {
	void (*on_arrivals)(struct port_arrival *arrivals, size_t count, void *arg);
	void (*on_departures)(
	    const struct port_departure *departures, size_t count, void *arg);
	void *arg;
};

struct port_counts {
	uint64_t overruns;         /* packets our own receive queues dropped (or that
				      came damaged: the kernel counts both as one) */
	uint64_t truncated;        /* arrived larger than any probe may be: dropped */
	uint64_t stamps_unmatched; /* of no packet we know of: never guessed */
	uint64_t stamps_resynced;  /* the numbers had shifted after a failed send */
	uint64_t stamps_missing;   /* a later packet's stamp came, this one's did not */
	uint64_t socket_errors;    /* ICMP and the like, drained and ignored */
	uint64_t refused_flows;    /* one socket more than allowed, or none to be had */
	/* Verbs only. */
	uint64_t errors;          /* completions that are not a success */
	uint64_t no_header;       /* arrived without a GRH that can be read */
	uint64_t receives_low;    /* times that a receive queue was nearly empty */
	uint64_t refills_refused; /* times that the device took no receive buffers */
	uint64_t rebuilt;         /* QPs that got another number */
	uint64_t reset;           /* QPs that came back with their number */
	uint64_t handles_waited;  /* replies that waited for an address handle */
	uint64_t handles_refused; /* packets that did not leave for want of one */
};

struct port;
struct probe_format;

struct port_ops {
	/* 0, or -errno: this port could never send from that flow to this address */
	int (*check)(
	    struct port *port, const struct wire_address *to, uint16_t src_port);
	void (*listen)(
	    struct port *port, enum port_role role, const struct port_events *events);
	void (*send)(struct port *port, enum port_role role,
	    struct port_packet *packets, size_t count);
	bool (*drain)(struct port *port, enum port_role role);
	uint64_t (*overruns)(struct port *port, enum port_role role, bool refresh);
	uint16_t (*reflector_port)(const struct port *port);
	uint16_t (*flow)(const struct port *port, uint16_t wanted);
	uint32_t (*label)(const struct port *port, uint16_t src_port);
	enum port_flows (*flows)(const struct port *port);
	const struct probe_format *format; /* of what this port carries */
	const struct port_counts *(*counts)(const struct port *port);
	void (*free)(struct port *port);
};

struct port { /* the first member of every port's own struct */
	const struct port_ops *ops;
};

static inline int
port_check(struct port *port, const struct wire_address *to, uint16_t src_port)
{
	return port->ops->check(port, to, src_port);
}

/* events is copied. NULL: nobody listens any more, arrivals are thrown away. */
static inline void
port_listen(struct port *port, enum port_role role, const struct port_events *events)
{
	port->ops->listen(port, role, events);
}

/* At most PORT_BURST. Fills posted and error of each; their order may change on
 * the wire. */
static inline void
port_send(
    struct port *port, enum port_role role, struct port_packet *packets, size_t count)
{
	port->ops->send(port, role, packets, count);
}

/* Hands over what has already arrived. False: stopped at its bound, there is more. */
static inline bool
port_drain(struct port *port, enum port_role role)
{
	return port->ops->drain(port, role);
}

/* Packets of this role that our own queues dropped so far. refresh: asks the kernel,
 * else what the packets read so far have told. */
static inline uint64_t
port_overruns(struct port *port, enum port_role role, bool refresh)
{
	return port->ops->overruns(port, role, refresh);
}

/*
 * The source port that a probe really leaves from where a plan asks for wanted: another
 * one, where the NIC does not let us choose. Several wanted ones may become one.
 */
static inline uint16_t
port_flow(const struct port *port, uint16_t wanted)
{
	return port->ops->flow(port, wanted);
}

/* The flow label that goes with a source port of port_flow; 0: there are none. */
static inline uint32_t
port_label(const struct port *port, uint16_t src_port)
{
	return port->ops->label(port, src_port);
}

static inline enum port_flows
port_flows(const struct port *port)
{
	return port->ops->flows(port);
}

/* Packets go to a QP there, and from is no more than an address. */
static inline bool
port_has_qps(const struct port *port)
{
	return port->ops->flows(port) != PORT_FLOWS_SOURCE_PORT;
}

static inline const struct probe_format *
port_format(const struct port *port)
{
	return port->ops->format;
}

/* Where this port's own reflector listens: never a probe's source. 0: there are no such
 * ports, what is a probe and what a reply says the packet. */
static inline uint16_t
port_reflector_port(const struct port *port)
{
	return port->ops->reflector_port(port);
}

static inline const struct port_counts *
port_counts(const struct port *port)
{
	return port->ops->counts(port);
}

/* NULL is fine. Free prober and reflector first. */
static inline void
port_free(struct port *port)
{
	if (port != NULL)
		port->ops->free(port);
}

#endif
