/*
 * trace_socket - the raw sockets of one RNIC: sends trace packets, receives ICMP
 * answers.
 *
 * The packets cause no errors at the sockets of probes, since the kernel reports ICMP
 * errors only to sockets that are connected or ask for them. The sending sockets
 * receive nothing; the receiving sockets get only "time exceeded" and "unreachable".
 * All of them are bound to the RNIC's device, in its network namespace.
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
	uint64_t received;  /* ICMP messages of the two kinds */
	uint64_t malformed; /* of these, malformed */
	/* number of these messages that are about packets of no trace */
	uint64_t unrelated;
	uint64_t overruns; /* messages lost because the queue was full */
};

typedef void trace_socket_on_answer(const struct trace_answer *answer, void *arg);

/* -EPERM: no CAP_NET_RAW (or no CAP_SYS_ADMIN, to enter another namespace). counts:
 * borrowed; the socket adds its messages to them. */
int trace_socket_new(struct rm_loop *loop, const struct trace_socket_options *options,
    struct trace_socket_counts *counts, trace_socket_on_answer *on_answer, void *arg,
    struct trace_socket **ret);
void trace_socket_free(struct trace_socket *port); /* NULL is allowed */

/* Returns 0 or -errno; never blocks. */
int trace_socket_send(struct trace_socket *port, const struct trace_flow *flow,
    uint8_t ttl, uint16_t token);

#endif
