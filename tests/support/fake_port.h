/*
 * fake_port - a port without a network: it keeps what is sent, and the test makes up
 * what arrives.
 */
#ifndef TESTS_SUPPORT_FAKE_PORT_H
#define TESTS_SUPPORT_FAKE_PORT_H

#include "host-agent/probe/port.h"

#define FAKE_PORT_REFLECTOR 18862
#define FAKE_PORT_KEPT 256
#define FAKE_PORT_LABEL 0x10000 /* plus the source port: the label of a flow */

struct fake_sent {
	struct wire_address to;
	uint8_t data[192]; /* the first bytes */
	size_t len;        /* length of the whole packet */
	uint64_t token;
	uint32_t qpn, label;
	uint16_t lid, src_port;
	uint8_t sl, dscp;
};

struct fake_port {
	struct port port; /* must be the first member */
	struct port_events events[PORT_ROLES];
	struct port_counts counts;
	struct fake_sent sent[FAKE_PORT_KEPT]; /* the first packets */
	size_t sent_count;
	int error;        /* of every send */
	int64_t stamp_ns; /* not 0: every send reports this departure time at once */
	enum port_flows flows;
	uint16_t every_flow; /* not 0: the only source port that flows can have */
};

void fake_port_init(struct fake_port *fake); /* a UDP port with STAMP */
void fake_port_init_roce(struct fake_port *fake, enum port_flows flows);

/* The receiver may answer in place, in the arrival's data. */
void fake_port_deliver(
    struct fake_port *fake, enum port_role role, struct port_arrival *arrival);
/* Delivers a packet over UDP. */
void fake_port_arrive(struct fake_port *fake, enum port_role role,
    const struct wire_address *from, uint8_t *data, size_t len, uint8_t dscp);
/* Reports the send stamp of sent[i]. */
void fake_port_depart(
    struct fake_port *fake, enum port_role role, size_t i, int64_t stamp_ns);

#endif
