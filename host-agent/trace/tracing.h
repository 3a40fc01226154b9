/*
 * tracing - runs the tracer: its sockets, one set per RNIC, and its timer.
 *
 * It never delays probing; without the right to open raw sockets no path is traced.
 */
#ifndef HOST_AGENT_TRACE_TRACING_H
#define HOST_AGENT_TRACE_TRACING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host-agent/trace/trace_port.h"
#include "host-agent/trace/tracer.h"

struct pinglist_sum;
struct port;
struct rm_loop;
struct rnic_facts;
struct tracing;

int tracing_new(
    struct rm_loop *loop, const struct tracer_options *options, struct tracing **ret);
void tracing_free(struct tracing *tracing);

/* Opens an RNIC's sockets again. owner: below TRACER_MAX_OWNERS. On failure the error;
 * -EPERM is logged only once. */
int tracing_open(struct tracing *tracing, size_t owner, const char *netns,
    const char *device, const struct rnic_facts *facts);
/* Its targets; port and to as for tracer_set. */
int tracing_set(struct tracing *tracing, size_t owner, const struct pinglist_sum *sum,
    const struct rnic_facts *facts, struct port *port, uint64_t to);
/* A result of one of its probes, which has the length of the path. */
void tracing_result(
    struct tracing *tracing, size_t owner, const struct wire_result *result);

/* permille 0: no packet leaves. */
void tracing_tune(
    struct tracing *tracing, const struct tracer_options *options, uint32_t permille);

struct tracer *tracing_tracer(const struct tracing *tracing);
bool tracing_denied(const struct tracing *tracing); /* no right to raw sockets */
const struct trace_port_counts *tracing_port_counts(const struct tracing *tracing);

#endif
