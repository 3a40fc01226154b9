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

struct ring;

/* True: in the probes inside the rack that were sent from `since` until `end`, the RNIC
 * lost whole flows and not single packets, and other RNICs of the rack did so between
 * themselves, too. RNICs that lose nearly everything are left out. */
bool evidence_flows_are_lost(
    const struct ring *ring, struct wire_rnic_id rnic, rm_mono_t since, rm_mono_t end);

/* True: the RNIC's probes to other racks that were sent from `since` until `end` lost
 * packets, at the same rate on all flows, and the losses are so many that a part which
 * only some of the flows cross would show. RNICs of other racks that lose nearly
 * everything are left out. */
bool evidence_flows_lose_alike(
    const struct ring *ring, struct wire_rnic_id rnic, rm_mono_t since, rm_mono_t end);

#endif
