/*
 * tracer_io - runs the tracer: its sockets, one set per RNIC, and its timer.
 *
 * It never delays probing; without the right to open raw sockets no path is traced.
 */
#ifndef HOST_AGENT_TRACE_TRACER_IO_H
#define HOST_AGENT_TRACE_TRACER_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host-agent/trace/trace_socket.h"
#include "host-agent/trace/tracer.h"

struct pinglist_sum;
struct port;
struct rm_loop;
struct rnic_facts;
struct tracer_io;

int tracer_io_new(
    struct rm_loop *loop, const struct tracer_options *options, struct tracer_io **ret);
void tracer_io_free(struct tracer_io *io);

/* Opens the sockets of an RNIC again. owner: below TRACER_MAX_OWNERS. Returns the error
 * of opening; -EPERM is logged once. */
int tracer_io_open(struct tracer_io *io, size_t owner, const char *netns,
    const char *device, const struct rnic_facts *facts);
/* Sets the targets of an RNIC; port and to: as for tracer_set. */
int tracer_io_set(struct tracer_io *io, size_t owner, const struct pinglist_sum *sum,
    const struct rnic_facts *facts, struct port *port, uint64_t to);
/* Handles a result of the RNIC's prober: it has the length of the path, or shows that
 * the path may have changed. */
void tracer_io_result(
    struct tracer_io *io, size_t owner, const struct wire_result *result);

/* Like tracer_tune; permille 0: no packet is sent. */
void tracer_io_tune(
    struct tracer_io *io, const struct tracer_options *options, uint32_t permille);

struct tracer *tracer_io_tracer(const struct tracer_io *io);
bool tracer_io_denied(
    const struct tracer_io *io); /* True: the right to open raw sockets is missing. */
const struct trace_socket_counts *tracer_io_port_counts(const struct tracer_io *io);

#endif
