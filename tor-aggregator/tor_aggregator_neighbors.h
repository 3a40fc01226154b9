/*
 * tor_aggregator_neighbors - finds the RNIC or switch at the other end of the cable in
 * a switch's port. It compares the LLDP neighbour with the RNICs of the racks and with
 * the switches whose counters are read.
 */
#ifndef TOR_AGGREGATOR_TOR_AGGREGATOR_NEIGHBORS_H
#define TOR_AGGREGATOR_TOR_AGGREGATOR_NEIGHBORS_H

#include <stdbool.h>
#include <stddef.h>

struct roster_rnic;
struct switch_neighbor;
struct tor_aggregator;

#define NEIGHBORS_BUDGET (1 << 19)
#define NEIGHBORS_BEHIND 4096 /* RNICs of one ToR of another aggregator */

/* A cache of RNICs of other racks, for one answer or one judgement; valid until the
 * loop continues. Plans do not list them by ToR, so the RNICs of a ToR are
 * searched for once, and not again for each port of the switch. */
struct neighbors_elsewhere {
	/* number of RNICs that may still be examined; initially NEIGHBORS_BUDGET */
	size_t budget;
	bool gathered, cut; /* cut: there was no room, or no budget, for all RNICs */
	/* index in read_switches of the switch whose RNICs were gathered */
	size_t at;
	size_t count;
	const struct roster_rnic *rnics[NEIGHBORS_BEHIND];
};

enum neighbor_kind {
	NEIGHBOR_NOT_KNOWN, /* no known RNIC, host or switch */
	NEIGHBOR_RNIC,
	NEIGHBOR_HOST, /* a host of the rack; its RNIC at this port is not known */
	NEIGHBOR_SWITCH,
	/* not found, but not all RNICs of other racks were examined */
	NEIGHBOR_LEFT_OUT,
};

struct neighbor {
	enum neighbor_kind kind;
	const struct roster_rnic *rnic; /* borrowed; for an RNIC or a host */
	/* for NEIGHBOR_SWITCH: index in read_switches */
	size_t at;
	/* for NEIGHBOR_RNIC: number of ports of a bond, 1 for any other RNIC */
	unsigned cables;
};

/*
 * at: index in read_switches of the switch with the port; lldp: the port's neighbour.
 * An RNIC is searched among the members of the switch's rack; for the ToR of another
 * aggregator, among the RNICs that this aggregator's plans name at that ToR. It is
 * found by its MAC; else by the names of its host and its device; else, if the
 * neighbour's port id is neither a MAC nor an interface, as the only RNIC of its host
 * in the rack. If two ports of the switch lead to the same RNIC, the RNIC belongs to
 * the port whose neighbour names the device, otherwise to neither; but the ports of a
 * bond, whose names its agent reports, all lead to its RNIC. A host name without
 * domain that several hosts have is not known. elsewhere: cache for RNICs of other
 * racks; NULL: they are not searched.
 */
struct neighbor tor_aggregator_neighbor(const struct tor_aggregator *aggregator,
    size_t at, const struct switch_neighbor *lldp,
    struct neighbors_elsewhere *elsewhere);

const char *neighbor_kind_str(enum neighbor_kind kind); /* "rnic", ... */

#endif
