/*
 * flow_counts - counts the outcomes of probes by flow. Pure.
 *
 * A flow is (source, destination, UDP source port, class). The source is the roster
 * index of a member; the destination is that of a remote RNIC, from WINDOW_REMOTE_BASE
 * on, or of another member. Each loss of one second is also stored with its send time.
 */
#ifndef TOR_AGGREGATOR_PATHS_FLOW_COUNTS_H
#define TOR_AGGREGATOR_PATHS_FLOW_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "tor-aggregator/window/window_release.h"

enum loss_direction { LOST_UNKNOWN, LOST_FORWARD, LOST_REVERSE, LOSS_DIRECTIONS };

struct flow_count {
	uint32_t src, dst;
	uint16_t src_port, dst_tor; /* dst_tor: the roster's number of the ToR */
	uint8_t dscp;
	bool counted;      /* responder_count is valid */
	bool has_counts;   /* some answer of this second had a receive count */
	bool left_out;     /* the flow is not evidence about a path */
	uint8_t direction; /* enum loss_direction of this second's losses */
	/* probes that were answered, also late, or were lost */
	uint32_t sent;
	uint32_t lost;                 /* part of sent */
	uint32_t others;               /* probes whose outcome is no evidence */
	uint32_t timed, slow, overdue; /* see wire_path_row */
	uint32_t large_sent, large_lost;
	uint16_t large_bytes;
	uint32_t arrived, rewritten, congested, not_ect; /* see wire_path_row */
	/* part of lost: sent later than the pair's newest answered probe */
	uint32_t after;
	uint64_t slow_ns;
	struct window_release release; /* release of the slow and overdue replies */
	uint32_t path;                 /* number in path_table */
	/* Switches of the path, in a second with losses: see path_set_switches. */
	uint64_t switches;
	/* send time in ns of the newest answered probe; 0: none */
	int64_t answered;
	/* bits by flow_slot: when answered probes were sent; and those of them that the
	 * responder's host left waiting for FLOW_STOOD_NS or longer */
	uint64_t answered_slots, stood_slots;
	uint32_t responder_count; /* receive count in the newest answer */
	/* least and most receive count in the answers of this second, modulo 2^32;
	 * valid if has_counts */
	uint32_t least_count, most_count;
	/* for sums over more than a second: the parts of lost by direction */
	uint32_t by_direction[LOSS_DIRECTIONS];
};

#define FLOW_STOOD_NS (100 * RM_NS_PER_MS)

/* Returns the number, from 0 to 63, of the 64th part of a second in which sent_ns is.
 */
static inline unsigned
flow_slot(int64_t sent_ns)
{
	const int64_t in_second = sent_ns % INT64_C(1000000000);

	return (unsigned)((in_second + (in_second < 0 ? INT64_C(1000000000) : 0)) /
			  INT64_C(15625000));
}

struct flow_counts {
	struct flow_count *flows;
	size_t count, max;
	uint32_t *slots; /* index + 1 into flows; 0: free */
	unsigned slot_bits;
};

void flow_counts_init(struct flow_counts *counts, size_t max);
void flow_counts_release(struct flow_counts *counts);
void flow_counts_clear(struct flow_counts *counts); /* The memory is kept for reuse. */

/* Finds the flow, or adds one with all counts 0; valid until the next call. Hot path.
 * NULL: there are max flows, or out of memory. */
struct flow_count *flow_counts_get(struct flow_counts *counts, uint32_t src,
    uint32_t dst, uint16_t src_port, uint8_t dscp);

/* Notes the receive count of an answer. */
void flow_count_received(struct flow_count *flow, uint32_t count);

struct flow_second {              /* all zeros at first, except flows and inside */
	struct flow_counts flows; /* of probes that left the rack */
	struct flow_counts
	    inside; /* of probes inside the rack: only sent, lost, timed, slow */
	struct flow_loss {
		size_t flow;  /* index into flows.flows */
		int64_t sent; /* time of sending, in ns of this aggregator's clock */
	} * losses;
	size_t loss_count, loss_room;
	bool cut; /* there was no room for a loss in losses, or for a flow in flows */
};

#define FLOW_SECOND_MAX_LOSSES 262144

/* Adds a loss. -ENOMEM: it was not added, and cut is set. */
int flow_second_lost(struct flow_second *second, size_t flow, int64_t sent);
void flow_second_clear(struct flow_second *second);
void flow_second_release(struct flow_second *second);

#endif
