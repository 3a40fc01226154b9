/*
 * tor_aggregator_neighbors - which RNIC or switch is behind a port of a switch: what
 * LLDP tells, joined with the RNICs that the racks know and the switches that are read.
 */
#ifndef TOR_AGGREGATOR_TOR_AGGREGATOR_NEIGHBORS_H
#define TOR_AGGREGATOR_TOR_AGGREGATOR_NEIGHBORS_H

#include <stdbool.h>
#include <stddef.h>

struct roster_rnic;
struct switch_neighbor;
struct tor_aggregator;

#define NEIGHBORS_BUDGET (1 << 19)
#define NEIGHBORS_BEHIND 4096 /* one ToR */

/* RNICs of other racks, for one answer or judgement; until the loop goes on. They have
 * no order by ToR: those behind one are gathered once, not for each of its ports. */
struct neighbors_elsewhere {
	size_t budget;      /* so many may still be looked at; NEIGHBORS_BUDGET */
	bool gathered, cut; /* cut: not all of them */
	size_t at;          /* behind that one, in read_switches */
	size_t count;
	const struct roster_rnic *rnics[NEIGHBORS_BEHIND];
};

enum neighbor_kind {
	NEIGHBOR_NOT_KNOWN, /* neither of those */
	NEIGHBOR_RNIC,
	NEIGHBOR_HOST, /* of the rack; not known which of its RNICs, or none of them */
	NEIGHBOR_SWITCH,
	NEIGHBOR_LEFT_OUT, /* not found, and not all RNICs of other racks looked at */
};

struct neighbor {
	enum neighbor_kind kind;
	const struct roster_rnic *rnic; /* borrowed; of an RNIC or a host */
	size_t at;                      /* of a switch: in read_switches */
};

/*
 * at: the switch that hears it, in read_switches. An RNIC is one of the members of its
 * rack; at the ToR of another aggregator, one that a plan of ours names there. It is
 * found by its MAC; else by its host's name and its device's, or as the only one of its
 * host in the rack where the port's id tells no MAC and no interface. told: of the last
 * reading: an RNIC that two ports so tell of is behind the one that names it, else
 * behind neither. A name without a domain that several have is not known. elsewhere: of
 * this answer; NULL: RNICs of other racks are not looked for.
 */
struct neighbor tor_aggregator_neighbor(const struct tor_aggregator *aggregator,
    size_t at, const struct switch_neighbor *lldp,
    struct neighbors_elsewhere *elsewhere);

const char *neighbor_kind_str(enum neighbor_kind kind); /* "rnic", ... */

#endif
