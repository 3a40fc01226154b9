/*
 * switch_evidence - what each edge port of a switch has counted between two readings of
 * it, as evidence. Pure.
 *
 * Ports between the chips of one switch are left out: they carry what the others have
 * counted. Of a port without a count of its own of marks those of its queues count.
 */
#ifndef TOR_AGGREGATOR_DIAGNOSIS_SWITCH_EVIDENCE_H
#define TOR_AGGREGATOR_DIAGNOSIS_SWITCH_EVIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct evidence;
struct switch_list;

struct switch_evidence { /* a walk, from port to port; begin with { list, ns } */
	const struct switch_list *list; /* closed; borrowed */
	int64_t ns;                     /* between the two readings */
	size_t port, queue, group;      /* where it goes on */
};

/* The next port's. False: there is none left. */
bool switch_evidence_next(struct switch_evidence *walk, struct evidence *ret);

#endif
