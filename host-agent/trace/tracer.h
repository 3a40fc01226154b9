/*
 * tracer - decides which flow to trace when, and keeps the path of every flow.
 *
 * Follows every flow that leaves the rack. New and changed flows come first; each path
 * is traced again from time to time; every second trace is of a flow in pinglists if
 * any is due; and the packets of all traces stay within the budget of the agent. A
 * trace needs the length of the path, which the TTL of arriving probes shows: so no
 * packet of a trace reaches the destination. Only where no probe arrives the length is
 * unknown, and traces use all TTLs. Pure: the caller sends packets, and passes answers
 * and time.
 */
#ifndef HOST_AGENT_TRACE_TRACER_H
#define HOST_AGENT_TRACE_TRACER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host-agent/trace/trace_packet.h"
#include "host-agent/trace/trace_path.h"
#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

#define TRACER_MAX_RATE_PER_S 1000 /* packets; no config can raise it */
#define TRACER_MAX_FLOWS 16384     /* of one agent */
#define TRACER_MAX_OWNERS 64       /* RNICs */
/* Well below the time for which aggregators keep paths that no plan names. */
#define TRACER_RETELL_NS (20 * RM_NS_PER_S)

struct port;
struct tracer;

struct tracer_counts {
	uint64_t traces, packets;
	uint64_t packets_failed; /* the kernel refused them */
	uint64_t answers;        /* answers that showed a hop */
	uint64_t unmatched;      /* answers that belong to no running trace */
	uint64_t incomplete;     /* traces that showed fewer hops than known */
	uint64_t over_budget;    /* times that a trace had to wait for the budget */
	uint64_t moved;          /* times that a path has changed */
	uint64_t refused_flows;  /* more than the limit */
};

struct tracer_options {
	int64_t interval_ns;     /* between two traces of a flow; 0: no tracing */
	uint64_t max_rate_per_s; /* packets of all flows; at most the limit */
	uint64_t random_seed;
};

int tracer_new(const struct tracer_options *options, struct tracer **ret);
void tracer_free(struct tracer *tracer);
/* New interval or rate. permille: share of that rate; 0: no packet is sent. */
void tracer_tune(
    struct tracer *tracer, const struct tracer_options *options, uint32_t permille);

/*
 * Sets what an RNIC (owner) probes; targets within the rack are left out, and so are
 * flows that no probe takes. src: its addresses by family, family 0 for a missing one.
 * Known flows keep their paths, unless their addresses or class have changed. to: a bit
 * per aggregator that gets their paths. port: the transport of the probes, which
 * decides their real source port (nothing is traced if the transport's flows are
 * unknown); NULL: the wanted source ports. Flows of services are traced with their own
 * ports.
 */
int tracer_set(struct tracer *tracer, size_t owner, const struct wire_target *targets,
    size_t count, const struct wire_address src[2], struct port *port, uint64_t to,
    rm_mono_t now);

/* A probe of this flow has arrived after passing this number of routers. True: the
 * number is new, and a trace may be due. */
bool tracer_length(struct tracer *tracer, size_t owner, struct wire_rnic_id dst,
    uint16_t src_port, uint8_t routers, rm_mono_t now);

struct tracer_job { /* send one packet for each TTL from 1 to ttl_count */
	size_t owner;
	struct trace_flow flow;
	uint16_t tokens[WIRE_MAX_HOPS];
	unsigned ttl_count;
};

/* True: send a trace now; it is running from this call on. */
bool tracer_next(struct tracer *tracer, rm_mono_t now, struct tracer_job *ret);
/* When to call tracer_next again; INT64_MAX ns: not before something has changed. */
rm_mono_t tracer_due(const struct tracer *tracer, rm_mono_t now);

void tracer_answer(
    struct tracer *tracer, const struct trace_answer *answer, rm_mono_t now);
/* Reports a packet of a job that was not sent. */
void tracer_failed(struct tracer *tracer);

/* Moves the paths to report to the aggregator to out, at most max; 0: none. These are
 * new and changed paths, and regularly those of services. */
size_t tracer_report(struct tracer *tracer, unsigned aggregator, rm_mono_t now,
    struct wire_path *out, size_t max);
/* A new session: the aggregator has no paths. */
void tracer_report_all(struct tracer *tracer, unsigned aggregator);

/* A number for a flow's path, equal for equal paths; 0: not known for sure, that is
 * unknown, incomplete, multipath, or not seen recently.
 */
uint64_t tracer_path_id(const struct tracer *tracer, size_t owner,
    struct wire_rnic_id dst, uint16_t src_port);
/* Changes whenever any flow's path changes. */
uint64_t tracer_path_changes(const struct tracer *tracer);

struct tracer_view {           /* one flow, for the API */
	struct wire_path path; /* hop_count 0: not traced yet */
	struct wire_address dst;
};
/* Lists at most max flows, from the first-th on. Returns their number. */
size_t tracer_list(const struct tracer *tracer, size_t first, rm_mono_t now,
    struct tracer_view *out, size_t max);
size_t tracer_flows(const struct tracer *tracer);
size_t tracer_multipath(const struct tracer *tracer); /* flows */

const struct tracer_counts *tracer_counts(const struct tracer *tracer);

#endif
