/*
 * port_udp_flow - one socket of a port_udp on the loop: receives, sends, matches
 * stamps. port_udp decides which flows exist.
 */
#ifndef HOST_AGENT_UDP_PORT_UDP_FLOW_H
#define HOST_AGENT_UDP_PORT_UDP_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HASH_NONFATAL_OOM 1 /* no exit(): an entry that was not added has no hh.tbl */
#include <uthash.h>

#include "host-agent/probe/port.h"
#include "host-agent/udp/port_udp_stamps.h"

struct event;
struct port_udp_binding;
struct port_udp_burst;
struct rm_loop;

struct port_udp_shared { /* state that all flows of a port share */
	struct rm_loop *loop;
	struct port_udp_burst *burst;
	struct port_events events[PORT_ROLES];
	bool listening[PORT_ROLES];
	uint64_t overruns[PORT_ROLES];
	struct port_counts counts;
};

struct port_udp_flow {
	uint32_t key; /* port_udp_flow_key */
	struct port_udp_shared *shared;
	struct event *event;
	enum port_role role;
	uint16_t local_port;
	uint8_t family;
	int fd;
	rm_mono_t used; /* time of the last send, kept by port_udp */
	uint32_t drops; /* the kernel's number of drops, as it was read last */
	struct port_udp_stamps stamps;
	UT_hash_handle hh; /* for the table of the port */
};

uint32_t port_udp_flow_key(uint8_t family, uint16_t local_port);

int port_udp_flow_new(struct port_udp_shared *shared, enum port_role role,
    const struct port_udp_binding *binding, struct port_udp_flow **ret);
void port_udp_flow_free(struct port_udp_flow *flow); /* NULL is allowed */

/* Both functions return how many packets or stamps they have read; PORT_BURST: there
 * may be more. */
size_t port_udp_flow_receive(struct port_udp_flow *flow);
size_t port_udp_flow_read_stamps(struct port_udp_flow *flow);

/* Sends count packets, all of this flow, then reads the stamps that have arrived. */
void port_udp_flow_send(
    struct port_udp_flow *flow, struct port_packet **packets, size_t count);

void port_udp_flow_refresh_drops(struct port_udp_flow *flow);

#endif
