/*
 * path_table - the path on which each flow leaves the rack, as agents have traced it.
 * Pure.
 *
 * A flow is (source, destination, UDP source port), by the ids of its RNICs, so it does
 * not depend on the numbering of the roster. The plan's flows are known from the start,
 * without a path; over RoCE only their pairs of RNICs are known, because the NIC
 * chooses the ports, and a flow is known once it is traced. Other flows may use half of
 * the room, and are forgotten some time after the last plan that named them. A trace
 * that did not reach the destination never replaces one that did: the last good path
 * stays. If there is none, the path ends in silent hops.
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
#define PATH_TABLE_KEEP_NS (60 * RM_NS_PER_S) /* for a flow that no plan names */

struct path_table_options {
	const char *tor; /* of the rack; copied */
	size_t max_flows, max_paths;
};

struct path_table_counts {
	uint64_t learned;    /* traces that gave a flow's path, new or again */
	uint64_t changed;    /* of those: another path than before */
	uint64_t incomplete; /* traces that did not reach the destination */
	/* Paths whose first named hop is not the rack's ToR, or whose last is not
	 * the destination's. */
	uint64_t unexpected;
	uint64_t refused_flows, refused_paths; /* beyond the bounds, or out of memory */
	uint64_t aged; /* flows dropped because no plan named them any more */
	uint64_t refused_aliases; /* aliases in plans without a valid name or address */
};

struct path_flow { /* for listing */
	struct wire_rnic_id src, dst;
	uint16_t src_port;
	uint32_t path;
	bool traced, planned;
	rm_mono_t traced_at; /* when traced */
};

int path_table_new(const struct path_table_options *options, struct path_table **ret);
void path_table_free(struct path_table *table);

/* Applies a newer plan: its aliases, and its flows that leave the rack. -ENOMEM: not
 * all. */
int path_table_plan(
    struct path_table *table, const struct wire_plan_view *view, rm_mono_t now);

/* Takes one trace; the caller has checked that the agent owns the source. dst_tor:
 * of the destination. -ENOSPC, -ENOMEM: refused, and counted. */
int path_table_learn(struct path_table *table, const struct wire_path *path,
    const char *dst_tor, rm_mono_t traced, rm_mono_t now);

/* The path of the flow for a probe that was sent at that time: PATH_UNTRACED if it
 * is not known. */
uint32_t path_table_find(const struct path_table *table, struct wire_rnic_id src,
    struct wire_rnic_id dst, uint16_t src_port, rm_mono_t sent);

/* Forgets flows that no plan names, and paths that no flow takes: their numbers are
 * used again, so the caller must not remember any. */
void path_table_age(struct path_table *table, rm_mono_t now);

const char *path_table_text(const struct path_table *table, uint32_t path);
uint64_t path_table_switches(const struct path_table *table, uint32_t path);
/* As path_set_hops. */
bool path_table_hops(
    const struct path_table *table, uint32_t path, struct path_hops *ret);
uint32_t path_table_end(const struct path_table *table); /* above all numbers */
size_t path_table_flows(const struct path_table *table);
size_t path_table_paths(const struct path_table *table);
/* All flows one after another: *at is NULL before the first; false after the last. */
bool path_table_next(
    const struct path_table *table, const void **at, struct path_flow *ret);
const struct path_table_counts *path_table_counts(const struct path_table *table);

#endif
