/*
 * port - the interface of transports: sends and receives bursts of packets, with the
 * time of each.
 *
 * Prober and reflector use only this interface; port_udp and port_verbs implement it.
 * Everything runs on the loop's thread. A stamp is in ns of the port's own clock:
 * subtract it only from another stamp of the same port, never from CLOCK_MONOTONIC.
 *
 * A flow is named by its UDP source port, also on RoCEv2. How the port gets into the
 * packets depends on the transport and its driver.
 */
#ifndef HOST_AGENT_PROBE_PORT_H
#define HOST_AGENT_PROBE_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host-agent/probe/port_packet.h"

enum port_role { PORT_PROBER, PORT_REFLECTOR, PORT_ROLES };

/* How a transport makes a probe take the requested path. */
enum port_flows {
	PORT_FLOWS_SOURCE_PORT, /* the prober's socket has the source port */
	PORT_FLOWS_LABEL, /* the NIC derives the source port from the flow label */
	/* the NIC derives the source port from the QPN, so each flow has a QP */
	PORT_FLOWS_QP,
	PORT_FLOWS_UNKNOWN, /* the driver is not known, so only one flow is certain */
};

/* Called from the loop, and from inside port_send and port_drain. */
struct port_events {
	void (*on_arrivals)(struct port_arrival *arrivals, size_t count, void *arg);
	void (*on_departures)(
	    const struct port_departure *departures, size_t count, void *arg);
	void *arg;
};

struct port_counts {
	/* packets that this host's receive queues dropped, or that were damaged: the
	 * kernel counts both together */
	uint64_t overruns;
	uint64_t truncated;        /* packets larger than any probe: dropped */
	uint64_t stamps_unmatched; /* stamps that match no packet, and are not used */
	/* stamps that were corrected: the kernel's packet numbers had shifted after a
	 * failed send */
	uint64_t stamps_resynced;
	/* packets without a stamp, although a later packet has one */
	uint64_t stamps_missing;
	/* ICMP errors and the like that were read from sockets and ignored */
	uint64_t socket_errors;
	/* Flows without a socket: there were too many sockets, or the kernel refused
	 * one. */
	uint64_t refused_flows;
	/* Verbs only. */
	uint64_t errors;          /* completions with an error status */
	uint64_t no_header;       /* packets that arrived without a readable GRH */
	uint64_t receives_low;    /* times that a receive queue was nearly empty */
	uint64_t refills_refused; /* times that the device refused receive buffers */
	uint64_t rebuilt; /* QPs that were created again and got another number */
	uint64_t reset;   /* QPs that were reset and kept their number */
	uint64_t handles_waited; /* replies that waited for an address handle */
	/* Packets not sent because they had no address handle. */
	uint64_t handles_refused;
};

struct port;
struct probe_format;

struct port_ops {
	/* Returns 0, or the -errno for which this transport can never send from that
	 * flow to this address. */
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
	const struct probe_format *format; /* the format of this port's packets */
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

/* Copies events. NULL: packets that arrive from now on are dropped. */
static inline void
port_listen(struct port *port, enum port_role role, const struct port_events *events)
{
	port->ops->listen(port, role, events);
}

/* Sends at most PORT_BURST packets. Fills in posted and error of each packet. The
 * packets may leave in another order. */
static inline void
port_send(
    struct port *port, enum port_role role, struct port_packet *packets, size_t count)
{
	port->ops->send(port, role, packets, count);
}

/* Delivers the packets that have arrived. False: more packets wait, because the port
 * stopped at its limit. */
static inline bool
port_drain(struct port *port, enum port_role role)
{
	return port->ops->drain(port, role);
}

/* Returns the number of packets of this role that this host's queues have dropped.
 * refresh: reads the number from the kernel; otherwise it is the number in the packets
 * that were read so far. */
static inline uint64_t
port_overruns(struct port *port, enum port_role role, bool refresh)
{
	return port->ops->overruns(port, role, refresh);
}

/*
 * Returns the source port that a probe gets when a plan asks for `wanted`. The two
 * differ if the source port of this NIC cannot be chosen; then several wanted ports may
 * give the same source port.
 */
static inline uint16_t
port_flow(const struct port *port, uint16_t wanted)
{
	return port->ops->flow(port, wanted);
}

/* Returns the flow label that gives a source port which port_flow returned; 0: there is
 * none. */
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

/* True: packets are addressed to a QP, and the ports in addresses are not used. */
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

/* Returns the UDP port of this transport's reflector, which probes never have as source
 * port. 0: the transport has no ports, and the packet itself shows whether it is a
 * probe or a reply. */
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

/* Free the prober and the reflector first. NULL is allowed. */
static inline void
port_free(struct port *port)
{
	if (port != NULL)
		port->ops->free(port);
}

#endif
