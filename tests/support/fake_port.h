/*
 * fake_port - a port without a network: what is sent is kept, what arrives is made up.
 */
#ifndef TESTS_SUPPORT_FAKE_PORT_H
#define TESTS_SUPPORT_FAKE_PORT_H

#include "host-agent/probe/port.h"

#define FAKE_PORT_REFLECTOR 18862
#define FAKE_PORT_KEPT 256
#define FAKE_PORT_LABEL 0x10000 /* and the source port: a flow's label */

struct fake_sent {
	struct wire_address to;
	uint8_t data[192]; /* the start of it */
	size_t len;        /* all of it */
	uint64_t token;
	uint32_t qpn, label;
	uint16_t lid, src_port;
	uint8_t sl, dscp;
};

struct fake_port {
	struct port port; /* first */
	struct port_events events[PORT_ROLES];
	struct port_counts counts;
	struct fake_sent sent[FAKE_PORT_KEPT]; /* the first ones */
	size_t sent_count;
	int error; /* of every send */
	int64_t
	    stamp_ns; /* not 0: when all that is sent at once leaves, told at once */
	enum port_flows flows;
	uint16_t every_flow; /* not 0: no other source port is to be had */
};

void fake_port_init(struct fake_port *fake); /* UDP, STAMP */
void fake_port_init_roce(struct fake_port *fake, enum port_flows flows);

/* Its data may be answered in place. */
void fake_port_deliver(
    struct fake_port *fake, enum port_role role, struct port_arrival *arrival);
/* One over UDP. */
void fake_port_arrive(struct fake_port *fake, enum port_role role,
    const struct wire_address *from, uint8_t *data, size_t len, uint8_t dscp);
/* The stamp of sent[i]. */
void fake_port_depart(
    struct fake_port *fake, enum port_role role, size_t i, int64_t stamp_ns);

#endif
