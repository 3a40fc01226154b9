/*
 * evidence_flows - decides whether an RNIC loses packets, or a part that it shares with
 * others loses flows. Pure.
 *
 * A lossy RNIC loses some packets of each of its flows. A ToR with a wrong table entry
 * or a broken port of its fabric loses all packets of some flows, and none of the
 * others. The sums over all flows of an RNIC look alike. Raw results show the flows.
 */
#ifndef TOR_AGGREGATOR_JUDGE_EVIDENCE_FLOWS_H
#define TOR_AGGREGATOR_JUDGE_EVIDENCE_FLOWS_H

#include <stdbool.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire/identity.h"
#include "tor-aggregator/window/rack_view.h"

struct ring;

/* True: in the probes inside the rack that were sent from `since` until `end`, the RNIC
 * lost whole flows and not single packets, and other RNICs of the rack did so between
 * themselves, too. RNICs that lose nearly everything are left out. If no other RNICs of
 * the rack probe each other, its probes to other racks decide: most flows with losses
 * lost all packets; or some did, and of the other flows the RNIC and the other one of
 * the rack lost a similar share of packets. */
bool evidence_flows_are_lost(
    const struct ring *ring, struct wire_rnic_id rnic, rm_mono_t since, rm_mono_t end);

/* Where the probes of a flow to another rack went. */
struct evidence_path {
	uint16_t tor; /* number of the destination's ToR, as in struct roster_rnic */
	/* a bit for each switch between the two ToRs, as of path_table_switches; all
	 * bits: not known */
	uint64_t switches;
};

typedef struct evidence_path evidence_path_of(const void *arg, struct wire_rnic_id src,
    struct wire_rnic_id dst, uint16_t src_port, rm_mono_t sent);

/* Compares the flows of the RNIC's probes to other racks that were sent from `since`
 * until `end`. ALIKE: they lost packets at the same rate, and enough packets that the
 * loss of a part which only some of the flows cross would be visible; and neither a
 * flow, nor the flows over one switch, differ clearly from the others. RNICs of other
 * racks that lose nearly everything are left out. TOO_FEW also in these cases: all
 * flows end at one ToR, or may all cross one switch, because that part would lose
 * packets of all flows, too; no flow was traced; the ring holds too little of that
 * time. path_of is called once for each flow, with `arg`. */
enum rack_flows evidence_flows_lose_alike(const struct ring *ring,
    struct wire_rnic_id rnic, rm_mono_t since, rm_mono_t end, evidence_path_of *path_of,
    const void *arg);

#endif
