/*
 * tor_aggregator_neighbors - finds the RNIC or switch at the other end of a switch's
 * port: by LLDP, compared with the RNICs of the racks and the switches that are read.
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

/* RNICs of other racks, for one answer or judgement; valid until the loop continues.
 * They are not sorted by ToR: those of one ToR are collected once, not for each of
 * its ports. */
struct neighbors_elsewhere {
	size_t budget;      /* number that may still be examined; NEIGHBORS_BUDGET */
	bool gathered, cut; /* cut: not all of them were collected */
	size_t at;          /* for the switch with this index in read_switches */
	size_t count;
	const struct roster_rnic *rnics[NEIGHBORS_BEHIND];
};

enum neighbor_kind {
	NEIGHBOR_NOT_KNOWN, /* neither of those */
	NEIGHBOR_RNIC,
	NEIGHBOR_HOST, /* of the rack; not known which of its RNICs, or none of them */
	NEIGHBOR_SWITCH,
	NEIGHBOR_LEFT_OUT, /* not found, and not all RNICs of other racks were examined
			    */
};

struct neighbor {
	enum neighbor_kind kind;
	const struct roster_rnic *rnic; /* borrowed; for an RNIC or a host */
	size_t at;                      /* for a switch: index in read_switches */
};

/*
 * at: index in read_switches of the switch with the port. An RNIC is one of the members
 * of its rack; at the ToR of another aggregator, one that a plan of this aggregator
 * names there. It is found by its MAC; else by the names of its host and device, or as
 * the only RNIC of its host in the rack if the port's id is neither a MAC nor an
 * interface. told: the neighbours in the last reading: if two ports claim an RNIC, it
 * is behind the one that names it, else behind neither. A name without a domain that
 * several have is not known. elsewhere: for this answer; NULL: RNICs of other racks are
 * not searched.
 */
struct neighbor tor_aggregator_neighbor(const struct tor_aggregator *aggregator,
    size_t at, const struct switch_neighbor *lldp,
    struct neighbors_elsewhere *elsewhere);

const char *neighbor_kind_str(enum neighbor_kind kind); /* "rnic", ... */

#endif
