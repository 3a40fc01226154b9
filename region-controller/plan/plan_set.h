/*
 * plan_set - a region's plans while they are being made; shared by plan.c,
 * plan_inter_tor.c, plan_witness.c and plan_write.c. No other file includes it.
 *
 * Nodes are RNICs by id, then the reflectors of switches; racks are the ToRs. Both are
 * known by index.
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
	const struct registry_rnic *rnic; /* NULL: a reflector, */
	const struct rm_switch *sw;       /* of this switch */
	size_t racks[WIRE_MAX_ATTACHMENTS];
	size_t rack_count;
	bool v4, v6;
	bool qp; /* is probed over verbs, and so only by RNICs with a QPN */
};

struct plan_entry {
	uint32_t src, dst; /* nodes */
	enum wire_probe_kind kind;
	uint32_t interval_us;
	bool paired;
	uint16_t flow_count;
};

struct plan_rack {
	size_t tor; /* switch */
	size_t plane;
	uint32_t *members; /* nodes */
	size_t member_count;
	uint32_t *usable; /* those with an address */
	size_t usable_count;
	size_t with_qp; /* of the usable ones */
	struct plan_entry *entries;
	size_t entry_count, entries_allocated;
	uint32_t *remotes; /* nodes; sorted and each once when the set is whole */
	size_t remote_count, remotes_allocated;
};

enum plan_stage { /* in this order */
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
	size_t at; /* the rack that is next in this stage */
	struct rm_topology_paths *paths;
	struct plan_inter *inter;    /* plan_inter_tor.c's, while it is under way */
	struct registry_rnic *rnics; /* copies: the registry goes on changing */
	struct plan_node *nodes;
	size_t node_count;
	struct plan_rack *racks;
	size_t rack_count;
	size_t *rack_of; /* of each switch, or PLAN_NO_RACK */
	bool linked[RM_TOPOLOGY_MAX_PLANES];
	struct plan_counts counts;
};

const char *plan_rack_name(const struct plan_set *set, size_t rack);
bool plan_in_rack(const struct plan_node *node, size_t rack);
/* Number of usable RNICs of this rack with the node's transport, itself included. */
size_t plan_likes(const struct plan_rack *rack, const struct plan_node *node);
/* True: it may probe that target outside of this rack. */
bool plan_may_probe(
    const struct plan_set *set, size_t rack, uint32_t src, uint32_t dst);
/* Payload of a full-size probe to b; 0: not known, or not above small. Over verbs the
 * MTU is of the payload. */
uint16_t plan_full_bytes(const struct plan_node *a, const struct plan_node *b);
uint16_t plan_small_bytes(const struct plan_node *node);
/* The i-th UDP source port of a flow set; distinct for i < PLAN_PORT_COUNT. */
uint16_t plan_port(uint64_t seed, size_t i);
/* -ENOSPC: the plan is full, counted; that is no failure. -ENOMEM. */
int plan_add_entry(struct plan_set *set, size_t rack, const struct plan_entry *entry);
/* Number of paths between two racks, assumed if the topology lists no links; after
 * rm_topology_paths_to(the one's ToR). */
uint32_t plan_paths(const struct plan_set *set, size_t from);

/* One destination's share. 1: there is more; 0: that was all. */
int plan_inter_tor(struct plan_set *set);
void plan_inter_free(struct plan_inter *inter);
/* One rack's each; the last one once all have been through the one before. */
int plan_witness(struct plan_set *set, size_t rack);
int plan_note_remotes(struct plan_set *set, size_t rack);
void plan_order_remotes(struct plan_set *set, size_t rack);

#endif
