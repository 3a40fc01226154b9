/*
 * tracer_state - what tracer.c (time and budget), tracer_flow.c (the flows) and
 * tracer_report.c share. For those only.
 */
#ifndef HOST_AGENT_TRACE_TRACER_STATE_H
#define HOST_AGENT_TRACE_TRACER_STATE_H

#define HASH_NONFATAL_OOM 1 /* no exit(): what was not added has no hh.tbl */
#include <uthash.h>

#include "host-agent/trace/tracer.h"

#define TRACER_SLOTS 256 /* traces under way */

struct tracer_key {
	uint64_t dst_guid;
	uint16_t src_port;
	uint8_t owner, dst_port_num;
	uint8_t zero[4];
};

struct tracer_flow {
	struct tracer_key key;
	struct wire_rnic_id src;
	struct trace_flow flow;
	struct trace_path path;
	bool known;        /* by the TTL of probes that arrived: */
	uint8_t routers;   /* so many on the way */
	unsigned misses;   /* traces in a row that got less far than is known */
	rm_mono_t due;     /* while none is under way */
	int slot;          /* -1: none is under way */
	uint64_t to, news; /* a bit per aggregator: to be told; has not been told */
	bool kept;         /* by the list being set */
	bool service;      /* of one; perhaps no probe takes its way */
	rm_mono_t retell;  /* of one that is known: then it is news again */
	UT_hash_handle hh;
};

struct tracer_slot {              /* of a trace under way */
	struct tracer_flow *flow; /* NULL: free */
	struct trace_hops found;
	unsigned ttl_count, answered;
	bool reached;
	unsigned generation; /* in its tokens, so that late answers match nothing */
	rm_mono_t ends;
};

struct tracer {
	struct tracer_options options;
	uint32_t permille;
	struct tracer_flow *flows; /* a hash by key */
	struct tracer_slot slots[TRACER_SLOTS];
	double budget; /* packets that may go now */
	rm_mono_t budget_at;
	bool waits_for_budget; /* counted once each time */
	uint64_t random;
	uint64_t ways; /* how often one has changed */
	struct tracer_counts counts;
};

/* 0 .. span - 1 */
int64_t tracer_random(struct tracer *tracer, int64_t span);
uint64_t tracer_flow_way(const struct tracer_flow *flow); /* as tracer_way */
struct tracer_flow *tracer_find(const struct tracer *tracer, size_t owner,
    struct wire_rnic_id dst, uint16_t src_port);
/* Forgets the trace under way. */
void tracer_abandon(struct tracer *tracer, struct tracer_flow *flow);

#endif
