/*
 * plan_options - options of plans, and counts of their making.
 */
#ifndef REGION_CONTROLLER_PLAN_PLAN_OPTIONS_H
#define REGION_CONTROLLER_PLAN_PLAN_OPTIONS_H

#include <stdint.h>

/* UDP source ports are from a small range, so that an agent has few sockets. */
#define PLAN_PORT_BASE 49152
#define PLAN_PORT_COUNT 64 /* number of ports in that range */
#define PLAN_MAX_FLOWS 61  /* maximum number of flows of one entry */
/* bytes of a STAMP packet without TLVs, which every switch's reflector answers */
#define PLAN_PLAIN_BYTES 44
/* payload of a small probe: a STAMP packet with its TLVs */
#define PLAN_SMALL_BYTES 88
#define PLAN_ROCE_SMALL_BYTES 64 /* payload of a small probe over verbs */
#define PLAN_MAX_SIZE_BYTES 8972
/* maximum number of entries for other ToRs in one ToR's plan; it is not exact */
#define PLAN_TOR_ENTRIES 4096
#define PLAN_MIN_INTERVAL_US 10000
#define PLAN_MAX_INTERVAL_US 60000000

struct plan_options {
	/* ToR-mesh */
	uint32_t mesh_peers;
	uint32_t mesh_interval_ms;
	/* maximum number of probes per second of one RNIC in its mesh; intervals are
	 * stretched to keep this limit */
	uint32_t mesh_max_rate_per_s;
	uint32_t mesh_rotation_s;
	/* Inter-ToR */
	double coverage; /* probability that all paths are covered */
	/* probes per second in each direction of every cable */
	uint32_t link_rate_per_s;
	uint32_t inter_max_rate_per_s; /* of one RNIC */
	uint32_t destinations;         /* number of ToRs that one ToR probes */
	/* number of paths that is assumed for a topology without links */
	uint32_t assumed_paths;
	/* targets with a longer interval are probed by pairs of packets */
	uint32_t pair_above_ms;
	/* Witnesses */
	uint32_t witness_below; /* racks with fewer RNICs than this get witnesses */
	uint32_t witness_targets;
	uint32_t witness_interval_ms;
	/* Classes */
	uint8_t dscp, dscp_best_effort;
	uint8_t sl; /* service level of probes over verbs */
	/* All probes */
	uint32_t probe_timeout_ms; /* 0: each aggregator uses its own time-out */
};

extern const struct plan_options plan_defaults;

struct plan_counts { /* counts of the newest set of plans */
	uint64_t racks, members, remotes;
	uint64_t inter_tor_entries, witness_entries, reflector_entries;
	uint64_t pairs; /* pairs of ToRs that probe each other; each direction counts */
	uint64_t short_pairs; /* pairs with fewer flows than coverage needs */
	/* directions of cables that get fewer probes than required */
	uint64_t short_cables;
	/* RNICs of small racks with fewer witnesses than required */
	uint64_t rnics_short_of_witnesses;
	uint64_t dropped_entries; /* entries that did not fit into a plan */
	/* Pairs that are not probed because one RNIC has a QPN and the other has none.
	 * They are counted as pairs of members of a rack, and as pairs of ToRs by
	 * direction. */
	uint64_t incompatible_members, incompatible_tors;
};

#endif
