/*
 * plan_options - options of plans, and counts of their making.
 */
#ifndef REGION_CONTROLLER_PLAN_PLAN_OPTIONS_H
#define REGION_CONTROLLER_PLAN_PLAN_OPTIONS_H

#include <stdint.h>

#define PLAN_PORT_BASE 49152 /* UDP source ports come from a small pool, */
#define PLAN_PORT_COUNT 64   /* so that an agent's sockets stay few */
#define PLAN_MAX_FLOWS 61    /* of one entry */
#define PLAN_PLAIN_BYTES 44  /* STAMP alone: what every switch's reflector answers */
#define PLAN_SMALL_BYTES 88  /* payload of a small probe: STAMP with its TLVs */
#define PLAN_ROCE_SMALL_BYTES 64 /* the same over verbs */
#define PLAN_MAX_SIZE_BYTES 8972
#define PLAN_TOR_ENTRIES 4096 /* inter-ToR entries of one ToR, about */
#define PLAN_MIN_INTERVAL_US 10000
#define PLAN_MAX_INTERVAL_US 60000000

struct plan_options {
	/* ToR-mesh */
	uint32_t mesh_peers;
	uint32_t mesh_interval_ms;
	uint32_t mesh_max_rate_per_s; /* of one RNIC; the interval stretches */
	uint32_t mesh_rotation_s;
	/* Inter-ToR */
	double coverage;               /* probability that every path is seen */
	uint32_t link_rate_per_s;      /* of every cable and direction */
	uint32_t inter_max_rate_per_s; /* of one RNIC */
	uint32_t destinations;         /* ToRs that one ToR probes */
	uint32_t assumed_paths;        /* where the topology has no links */
	uint32_t pair_above_ms;        /* slower targets are probed in pairs */
	/* Witnesses */
	uint32_t witness_below; /* racks with fewer RNICs */
	uint32_t witness_targets;
	uint32_t witness_interval_ms;
	/* Classes */
	uint8_t dscp, dscp_best_effort;
	uint8_t sl; /* of probes over verbs */
	/* All probes */
	uint32_t probe_timeout_ms; /* 0: each aggregator's own */
};

extern const struct plan_options plan_defaults;

struct plan_counts { /* of the newest set */
	uint64_t racks, members, remotes;
	uint64_t inter_tor_entries, witness_entries, reflector_entries;
	uint64_t pairs;        /* of ToRs that probe each other, both directions */
	uint64_t short_pairs;  /* with fewer flows than coverage asks for */
	uint64_t short_cables; /* directions of cables below their rate */
	uint64_t lonely_rnics; /* of small racks, with fewer witnesses than asked for */
	uint64_t dropped_entries; /* beyond what a plan may hold */
	/* Pairs that are not probed because one RNIC has a QPN and the other has none:
	 * pairs of a rack's members, and pairs of ToRs by direction. */
	uint64_t unlike_members, unlike_tors;
};

#endif
