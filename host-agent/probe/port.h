/*
 * port - the interface of transports: sends and receives bursts of packets, with the
 * time of each.
 *
 * Prober and reflector use only this interface; port_udp and port_verbs implement it.
 * Everything runs on the loop's thread. A stamp is ns of the port's own clock: subtract
 * it from another of the same port, never from CLOCK_MONOTONIC.
 *
 * A flow is named by its UDP source port everywhere, on RoCEv2 too; each transport sets
 * that port in its own way.
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
	PORT_FLOWS_SOURCE_PORT, /* the socket's own UDP source port */
	PORT_FLOWS_LABEL, /* the NIC derives the source port from the flow label */
	PORT_FLOWS_QP, /* the NIC derives the source port from the QPN: one flow per QP
			*/
	PORT_FLOWS_UNKNOWN, /* unknown driver: only one flow is certain */
};

/* Called from the loop, and from inside port_send and port_drain. */
struct port_events {
	void (*on_arrivals)(struct port_arrival *arrivals, size_t count, void *arg);
	void (*on_departures)(
	    const struct port_departure *departures, size_t count, void *arg);
	void *arg;
};

struct port_counts {
	uint64_t overruns; /* packets dropped by this host's receive queues (or damaged:
			      the kernel counts both together) */
	uint64_t truncated;        /* packets larger than any probe: dropped */
	uint64_t stamps_unmatched; /* stamps that match no packet; they are not used */
	uint64_t stamps_resynced; /* corrected: the kernel's numbers had shifted after a
				     failed send */
	uint64_t stamps_missing;  /* the stamp is missing, though that of a later packet
				     came */
	uint64_t socket_errors;   /* ICMP errors and the like, read and ignored */
	/* Not opened: too many sockets, or the kernel refused one. */
	uint64_t refused_flows;
	/* Verbs only. */
	uint64_t errors;          /* completions with an error status */
	uint64_t no_header;       /* arrived without a readable GRH */
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
	/* 0, or -errno: this transport can never send from that flow to this address */
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

/* events is copied. NULL: arrivals are dropped from now on. */
static inline void
port_listen(struct port *port, enum port_role role, const struct port_events *events)
{
	port->ops->listen(port, role, events);
}

/* At most PORT_BURST. Fills posted and error of each; the packets may leave in
 * another order. */
static inline void
port_send(
    struct port *port, enum port_role role, struct port_packet *packets, size_t count)
{
	port->ops->send(port, role, packets, count);
}

/* Passes on the packets that have arrived. False: it stopped at its limit, more
 * packets wait. */
static inline bool
port_drain(struct port *port, enum port_role role)
{
	return port->ops->drain(port, role);
}

/* Packets of this role dropped by this host's queues so far. refresh: asks the kernel;
 * else the number from the packets read so far. */
static inline uint64_t
port_overruns(struct port *port, enum port_role role, bool refresh)
{
	return port->ops->overruns(port, role, refresh);
}

/*
 * The source port that a probe really gets when a plan asks for `wanted`: it differs if
 * the NIC's port cannot be chosen. Several wanted ports may give the same real port.
 */
static inline uint16_t
port_flow(const struct port *port, uint16_t wanted)
{
	return port->ops->flow(port, wanted);
}

/* The flow label that gives a source port of port_flow; 0: none. */
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

/* True: packets are addressed to a QP, and the ports of addresses mean nothing. */
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

/* The port of this transport's own reflector, which probes never use as their
 * source. 0: the transport has no ports, and the packet itself has its kind (probe
 * or reply). */
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

/* NULL is allowed. Free the prober and the reflector before. */
static inline void
port_free(struct port *port)
{
	if (port != NULL)
		port->ops->free(port);
}

#endif
