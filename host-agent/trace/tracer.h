/*
 * tracer - decides which flow to trace when, and keeps the path of every flow.
 *
 * Every flow that leaves the rack is traced. New and changed flows come first, and each
 * path is traced again from time to time. Every second trace is of a flow in a
 * pinglist, if one is due. The packets of all traces stay within the agent's budget,
 * and those to one switch within the rate of that switch (switch_rates.h).
 * The TTL of a probe that arrived shows the length of the path. With that length no
 * packet of a trace reaches the destination. If no probe has arrived, the length is not
 * known, and the trace uses all TTLs up to WIRE_MAX_HOPS.
 *
 * Losses count for the path that is known. Routing may have changed it since the last
 * trace, so a flow is traced out of turn when it begins to lose probes. If a flow of an
 * RNIC has another path then, its other flows probably have, too, and all are traced
 * soon. Pure: the caller sends packets, and passes answers and time.
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

/* packets per second; the most that the config may set */
#define TRACER_MAX_RATE_PER_S 1000
#define TRACER_MAX_FLOWS 16384 /* of one agent */
#define TRACER_MAX_OWNERS 64   /* RNICs */
/* ns between two reports of a service's path: well below the time after which
 * aggregators forget paths that are in no plan */
#define TRACER_RETELL_NS (20 * RM_NS_PER_S)
/* Least time in ns between the first two traces out of turn of a flow with losses; the
 * pause doubles after each. */
#define TRACER_LOSS_NS (2 * RM_NS_PER_S)
/* After a path has changed, the other flows of the RNIC are traced within this time; */
#define TRACER_ALL_AGAIN_NS (2 * RM_NS_PER_S)
/* at most this often. */
#define TRACER_ALL_APART_NS (5 * RM_NS_PER_S)

struct port;
struct tracer;

struct tracer_counts {
	uint64_t traces, packets;
	uint64_t packets_failed; /* packets that the kernel refused */
	uint64_t answers;        /* answers that showed a hop */
	uint64_t unmatched;      /* answers that belong to no running trace */
	uint64_t incomplete;     /* traces that showed fewer hops than known */
	uint64_t over_budget;    /* times that a trace had to wait for the budget */
	uint64_t over_switch; /* times that a trace had to wait for a switch's rate */
	uint64_t slowed;      /* times that the rate of a switch was halved */
	uint64_t moved;       /* times that a path has changed */
	/* number of traces that were made out of turn, for flows with losses */
	uint64_t after_loss;
	uint64_t all_again;     /* times that all paths of an RNIC were traced soon */
	uint64_t refused_flows; /* flows beyond the limit */
};

struct tracer_options {
	int64_t interval_ns; /* ns between two traces of a flow; 0: nothing is traced */
	/* packets per second of all traces; at most TRACER_MAX_RATE_PER_S */
	uint64_t max_rate_per_s;
	uint64_t random_seed;
};

int tracer_new(const struct tracer_options *options, struct tracer **ret);
void tracer_free(struct tracer *tracer);
/* Sets interval and rate. permille: share of the rate that may be used; 0: no packet is
 * sent. */
void tracer_tune(
    struct tracer *tracer, const struct tracer_options *options, uint32_t permille);

/*
 * Sets the targets of an RNIC (owner); those within the rack, and flows that no probe
 * takes, are left out. A flow that is known already keeps its path unless its addresses
 * or class have changed. src: the RNIC's address of each family; family 0: it has none.
 * port: transport of the probes, which decides their source ports (if these are unknown
 * nothing is traced); NULL: the source ports are those of the targets. Flows of
 * services are traced with the source ports of the targets. to: a bit for each
 * aggregator that gets the paths. -ENOMEM; -EINVAL: owner is not below
 * TRACER_MAX_OWNERS.
 */
int tracer_set(struct tracer *tracer, size_t owner, const struct wire_target *targets,
    size_t count, const struct wire_address src[2], struct port *port, uint64_t to,
    rm_mono_t now);

/* A probe of this flow has arrived after it had passed this number of routers. True:
 * the number is new, so call tracer_next soon. */
bool tracer_length(struct tracer *tracer, size_t owner, struct wire_rnic_id dst,
    uint16_t src_port, uint8_t routers, rm_mono_t now);

/* A probe of this flow was lost. If the flow had no loss before, it is traced soon; if
 * that shows the same path and probes are still lost, again after TRACER_LOSS_NS, with
 * pauses that double up to the interval. True: call tracer_next soon. */
bool tracer_lost(struct tracer *tracer, size_t owner, struct wire_rnic_id dst,
    uint16_t src_port, rm_mono_t now);

struct tracer_job { /* send one packet for each TTL from 1 to ttl_count */
	size_t owner;
	struct trace_flow flow;
	uint16_t tokens[WIRE_MAX_HOPS];
	unsigned ttl_count;
};

/* True: send the packets of *ret now; the trace is running. */
bool tracer_next(struct tracer *tracer, rm_mono_t now, struct tracer_job *ret);
/* Returns the time of the next call of tracer_next; ns INT64_MAX: no call is needed
 * before something has changed. */
rm_mono_t tracer_due(const struct tracer *tracer, rm_mono_t now);

void tracer_answer(
    struct tracer *tracer, const struct trace_answer *answer, rm_mono_t now);
/* Reports a packet of a job that was not sent. */
void tracer_failed(struct tracer *tracer);

/* Writes at most max paths that this aggregator has not received yet to `out`: new and
 * changed paths, and from time to time those of services. Returns their number; 0:
 * there are no more. */
size_t tracer_report(struct tracer *tracer, unsigned aggregator, rm_mono_t now,
    struct wire_path *out, size_t max);
/* The aggregator has a new session, so it has no paths: all are reported again. */
void tracer_report_all(struct tracer *tracer, unsigned aggregator);

/* Returns a number for the path of a flow, equal for equal paths. 0: the path is not
 * known for sure: it is unknown or incomplete, was not seen recently, or there are
 * several. */
uint64_t tracer_path_id(const struct tracer *tracer, size_t owner,
    struct wire_rnic_id dst, uint16_t src_port);
/* Returns a number that changes whenever the path of any flow changes. */
uint64_t tracer_path_changes(const struct tracer *tracer);

struct tracer_view {           /* one flow, for the API */
	struct wire_path path; /* hop_count 0: not traced yet */
	struct wire_address dst;
};
/* Lists at most max flows, from index first on. Returns their number. */
size_t tracer_list(const struct tracer *tracer, size_t first, rm_mono_t now,
    struct tracer_view *out, size_t max);
size_t tracer_flows(const struct tracer *tracer);
size_t tracer_multipath(const struct tracer *tracer); /* flows */

const struct tracer_counts *tracer_counts(const struct tracer *tracer);

#endif
