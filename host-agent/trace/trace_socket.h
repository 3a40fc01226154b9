/*
 * trace_socket - the raw sockets of one RNIC: sends trace packets, receives ICMP
 * answers.
 *
 * Packets sent here never cause errors at the probes' sockets: those are not connected
 * and do not ask for errors, so the kernel reports no ICMP to them. The sending sockets
 * receive nothing; the others only "time exceeded" and "unreachable". All of them are
 * bound to the RNIC's device, in its network namespace.
 */
#ifndef HOST_AGENT_TRACE_TRACE_SOCKET_H
#define HOST_AGENT_TRACE_TRACE_SOCKET_H

#include <stdint.h>

#include "host-agent/trace/trace_packet.h"
#include "schemas/wire.h"

struct rm_loop;
struct trace_socket;

struct trace_socket_options {
	const char *device;               /* NULL or "": not bound to a device */
	const char *netns;                /* NULL or "": the agent's own */
	struct wire_address addresses[2]; /* at most one per family; family 0: none */
};

struct trace_socket_counts {
	uint64_t received;  /* ICMP messages of those kinds */
	uint64_t malformed; /* of those */
	uint64_t unrelated; /* about packets that are not of a trace */
	uint64_t overruns;  /* messages lost because the queue was full */
};

typedef void trace_socket_on_answer(const struct trace_answer *answer, void *arg);

/* -EPERM: no CAP_NET_RAW (or no CAP_SYS_ADMIN for another namespace). counts:
 * borrowed; the messages are added to it. */
int trace_socket_new(struct rm_loop *loop, const struct trace_socket_options *options,
    struct trace_socket_counts *counts, trace_socket_on_answer *on_answer, void *arg,
    struct trace_socket **ret);
void trace_socket_free(struct trace_socket *port); /* NULL is allowed */

/* 0 or -errno; never waits. */
int trace_socket_send(struct trace_socket *port, const struct trace_flow *flow,
    uint8_t ttl, uint16_t token);

#endif
