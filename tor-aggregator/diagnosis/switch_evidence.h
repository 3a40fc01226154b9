/*
 * switch_evidence - the counters of each edge port of a switch between two readings, as
 * evidence. Pure.
 *
 * Ports between the chips of a switch are left out, because their packets are counted
 * by external ports, too. If a port does not count ECN marks, the sum over its queues
 * is used.
 */
#ifndef TOR_AGGREGATOR_DIAGNOSIS_SWITCH_EVIDENCE_H
#define TOR_AGGREGATOR_DIAGNOSIS_SWITCH_EVIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct evidence;
struct switch_list;

struct switch_evidence { /* an iterator over the ports; begin with { list, ns } */
	const struct switch_list *list; /* closed; borrowed */
	int64_t ns;                     /* time between the two readings */
	size_t port, queue, group;      /* positions in the list */
};

/* Returns the evidence of the next port. False: there are no more ports. */
bool switch_evidence_next(struct switch_evidence *walk, struct evidence *ret);

#endif
