/*
 * plan_set - a region's plans while they are being made; shared by plan.c,
 * plan_inter_tor.c, plan_witness.c and plan_write.c. No other file includes it.
 *
 * Nodes are first the RNICs, sorted by id, then the reflectors of switches. Racks are
 * the ToRs. Nodes and racks are identified by index.
 */
#ifndef REGION_CONTROLLER_PLAN_PLAN_SET_H
#define REGION_CONTROLLER_PLAN_PLAN_SET_H

#include <stdbool.h>

#include "rackmesh/topology/topology.h"
#include "rackmesh/topology/topology_paths.h"
#include "region-controller/plan/plan_options.h"
#include "region-controller/registry/registry.h"

#define PLAN_NO_RACK SIZE_MAX

struct plan_node {
	const struct registry_rnic *rnic; /* NULL: the node is a reflector */
	const struct rm_switch *sw;       /* the switch of the reflector */
	size_t racks[WIRE_MAX_ATTACHMENTS];
	size_t rack_count;
	bool v4, v6;
	/* the node is probed over verbs, so only RNICs with a QPN can probe it */
	bool qp;
};

struct plan_entry {
	uint32_t src, dst; /* indexes of nodes */
	enum wire_probe_kind kind;
	uint32_t interval_us;
	bool paired;
	uint16_t flow_count;
};

struct plan_rack {
	size_t tor; /* index of the switch */
	size_t plane;
	uint32_t *members; /* indexes of nodes */
	size_t member_count;
	uint32_t *usable; /* members that have an address */
	size_t usable_count;
	size_t with_qp; /* number of usable members with a QPN */
	struct plan_entry *entries;
	size_t entry_count, entries_allocated;
	/* indexes of nodes; in a complete set sorted and without duplicates */
	uint32_t *remotes;
	size_t remote_count, remotes_allocated;
};

enum plan_stage { /* the stages, in the order of the work */
	PLAN_INTER_TOR,
	PLAN_WITNESS,
	PLAN_REMOTES,
	PLAN_ORDER,
	PLAN_WHOLE,
};

struct plan_set {
	const struct rm_topology *topology;
	struct plan_options options;
	enum plan_stage stage;
	size_t at; /* the next rack of this stage */
	struct rm_topology_paths *paths;
	struct plan_inter *inter; /* state of plan_inter_tor.c while its stage runs */
	/* copies of the RNICs, because the registry may change meanwhile */
	struct registry_rnic *rnics;
	struct plan_node *nodes;
	size_t node_count;
	struct plan_rack *racks;
	size_t rack_count;
	size_t *rack_of; /* for each switch: index of its rack, or PLAN_NO_RACK */
	bool linked[RM_TOPOLOGY_MAX_PLANES];
	struct plan_counts counts;
};

const char *plan_rack_name(const struct plan_set *set, size_t rack);
bool plan_in_rack(const struct plan_node *node, size_t rack);
/* Returns the number of usable members of this rack that have the transport of the
 * node, the node itself included. */
size_t plan_count_transport(const struct plan_rack *rack, const struct plan_node *node);
/* True: src may probe dst, which is outside of this rack. */
bool plan_may_probe(
    const struct plan_set *set, size_t rack, uint32_t src, uint32_t dst);
/* Returns the payload in bytes of a full-size probe from a to b; 0: not known, or not
 * larger than a small probe. Over verbs, the MTU is a limit on the payload. */
uint16_t plan_full_bytes(const struct plan_node *a, const struct plan_node *b);
uint16_t plan_small_bytes(const struct plan_node *node);
/* Returns the i-th UDP source port of a set of flows; all ports differ for i <
 * PLAN_PORT_COUNT. */
uint16_t plan_port(uint64_t seed, size_t i);
/* Adds an entry. -ENOSPC: the plan is full; this is counted, and planning goes on.
 * -ENOMEM. */
int plan_add_entry(struct plan_set *set, size_t rack, const struct plan_entry *entry);
/* Returns the number of paths from a rack to the destination of the last
 * rm_topology_paths_to; an assumed number if the topology has no links. */
uint32_t plan_paths(const struct plan_set *set, size_t from);

/* Does the work of one destination. Returns 1: there is more to do; 0: done. */
int plan_inter_tor(struct plan_set *set);
void plan_inter_free(struct plan_inter *inter);
/* Each of these functions does the work of one rack. plan_note_remotes needs the
 * witnesses of all racks. */
int plan_witness(struct plan_set *set, size_t rack);
int plan_note_remotes(struct plan_set *set, size_t rack);
void plan_order_remotes(struct plan_set *set, size_t rack);

#endif
