/*
 * path_table - along which path each flow leaves the rack, as agents have traced it.
 * Pure.
 *
 * A flow is (source, destination, UDP source port), by the ids of its RNICs, so that no
 * renumbering of the roster disturbs it. The plan's flows are known from the start,
 * untraced; over RoCE only between whom they are, since the ports are the NIC's own,
 * and a flow is known once it is traced. Others may be traced, too, in half of the
 * room, and are forgotten a while after they are in no plan. A trace that did not reach
 * the destination never takes the place of one that did: the last good path stands.
 * Where there is none, it ends in silent hops.
 */
#ifndef TOR_AGGREGATOR_PATHS_PATH_TABLE_H
#define TOR_AGGREGATOR_PATHS_PATH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"
#include "tor-aggregator/paths/path_set.h"

struct path_table;

#define PATH_TABLE_MAX_FLOWS 262144
#define PATH_TABLE_MAX_PATHS 65536
#define PATH_TABLE_KEEP_NS (60 * RM_NS_PER_S) /* a flow that no plan names */

struct path_table_options {
	const char *tor; /* the rack's; copied */
	size_t max_flows, max_paths;
};

struct path_table_counts {
	uint64_t learned;    /* traces that told a flow's path, new or again */
	uint64_t changed;    /* of those: another path than before */
	uint64_t incomplete; /* traces that did not reach the destination */
	/* Paths whose first named hop is not our ToR, or whose last is not theirs. */
	uint64_t unexpected;
	uint64_t refused_flows, refused_paths; /* beyond the bounds, or out of memory */
	uint64_t aged;                         /* flows that no plan named any more */
	uint64_t refused_aliases;              /* of plans: no name, or no address */
};

struct path_flow { /* for whoever lists them */
	struct wire_rnic_id src, dst;
	uint16_t src_port;
	uint32_t path;
	bool traced, planned;
	rm_mono_t traced_at; /* when traced */
};

int path_table_new(const struct path_table_options *options, struct path_table **ret);
void path_table_free(struct path_table *table);

/* A newer plan: its aliases, and its flows that leave the rack. -ENOMEM: not all. */
int path_table_plan(
    struct path_table *table, const struct wire_plan_view *view, rm_mono_t now);

/* One trace; the agent's right to speak for its source has been checked. dst_tor: of
 * the destination. -ENOSPC, -ENOMEM: refused, and counted. */
int path_table_learn(struct path_table *table, const struct wire_path *path,
    const char *dst_tor, rm_mono_t traced, rm_mono_t now);

/* The flow's path for a probe that was sent then: PATH_UNTRACED if nothing is known. */
uint32_t path_table_find(const struct path_table *table, struct wire_rnic_id src,
    struct wire_rnic_id dst, uint16_t src_port, rm_mono_t sent);

/* Forgets what no plan names, and paths that no flow takes: their numbers are used
 * again, so nobody may remember any. */
void path_table_age(struct path_table *table, rm_mono_t now);

const char *path_table_text(const struct path_table *table, uint32_t path);
uint64_t path_table_switches(const struct path_table *table, uint32_t path);
/* As path_set_hops. */
bool path_table_hops(
    const struct path_table *table, uint32_t path, struct path_hops *ret);
uint32_t path_table_end(const struct path_table *table); /* all numbers are below */
size_t path_table_flows(const struct path_table *table);
size_t path_table_paths(const struct path_table *table);
/* All flows one after another: *at NULL before the first; false after the last. */
bool path_table_next(
    const struct path_table *table, const void **at, struct path_flow *ret);
const struct path_table_counts *path_table_counts(const struct path_table *table);

#endif
