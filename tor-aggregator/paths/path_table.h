/*
 * path_table - stores the path of each flow that leaves the rack, as agents have traced
 * it. Pure.
 *
 * A flow is (source, destination, UDP source port), by the ids of the RNICs, so it does
 * not depend on indexes in the roster. The flows of a plan are in the table from the
 * start, without a path. Over RoCE the NIC chooses the source ports, so of a plan only
 * the pairs of RNICs are known, and a flow is added when it is traced. Flows that no
 * plan names may use half of the table, and are deleted PATH_TABLE_KEEP_NS after the
 * last plan that named them. A trace that did not reach the destination never replaces
 * one that did. If no trace has reached it, the path ends with silent hops. A trace
 * shows that a path has changed, but not when: it is not known which path the probes
 * before the trace took.
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
/* time after which a flow that no plan names is deleted */
#define PATH_TABLE_KEEP_NS (60 * RM_NS_PER_S)

struct path_table_options {
	const char *tor; /* name of the rack's ToR; copied */
	size_t max_flows, max_paths;
};

struct path_table_counts {
	/* traces from which a flow's path was stored, new or the same */
	uint64_t learned;
	/* number of the learned traces whose path differs from the one before */
	uint64_t changed;
	uint64_t incomplete; /* traces that did not reach the destination */
	/* Paths whose first hop has a name that is not the rack's ToR, or whose last
	 * hop has a name that is not the destination's ToR. */
	uint64_t unexpected;
	/* flows and paths beyond the limits, or refused because memory ran out */
	uint64_t refused_flows, refused_paths;
	uint64_t aged; /* flows deleted because no plan named them any more */
	uint64_t refused_aliases; /* aliases in plans without a valid name or address */
};

struct path_flow { /* for listing */
	struct wire_rnic_id src, dst;
	uint16_t src_port;
	uint32_t path;
	bool traced, planned;
	rm_mono_t traced_at; /* when the path was found */
};

int path_table_new(const struct path_table_options *options, struct path_table **ret);
void path_table_free(struct path_table *table);

/* Applies a newer plan: its aliases, and its flows that leave the rack. -ENOMEM: some
 * are missing. */
int path_table_plan(
    struct path_table *table, const struct wire_plan_view *view, rm_mono_t now);

/* Adds a trace; the caller has checked that the source is an RNIC of the agent.
 * dst_tor: the destination's ToR. traced: when it was traced. -ENOSPC, -ENOMEM: it was
 * refused, and counted. */
int path_table_learn(struct path_table *table, const struct wire_path *path,
    const char *dst_tor, rm_mono_t traced, rm_mono_t now);

struct path_found {
	uint32_t path; /* PATH_UNTRACED: not known */
	/* The path has changed. At that time the flow may have taken this path or the
	 * next one. */
	bool is_doubtful;
};

/* The path of the flow at the time sent. */
struct path_found path_table_at(const struct path_table *table, struct wire_rnic_id src,
    struct wire_rnic_id dst, uint16_t src_port, rm_mono_t sent);
/* Its path alone. */
uint32_t path_table_find(const struct path_table *table, struct wire_rnic_id src,
    struct wire_rnic_id dst, uint16_t src_port, rm_mono_t sent);

/* Deletes flows that no plan names, and paths that no flow takes. Numbers of deleted
 * paths are used again, so the caller must not have stored numbers. */
void path_table_age(struct path_table *table, rm_mono_t now);

const char *path_table_text(const struct path_table *table, uint32_t path);
uint64_t path_table_switches(const struct path_table *table, uint32_t path);
/* As path_set_hops. */
bool path_table_hops(
    const struct path_table *table, uint32_t path, struct path_hops *ret);
/* Returns a number that is larger than the numbers of all paths. */
uint32_t path_table_end(const struct path_table *table);
size_t path_table_flows(const struct path_table *table);
size_t path_table_paths(const struct path_table *table);
/* Returns the next flow. *at: NULL initially, then left as it is. False: there are no
 * more flows. */
bool path_table_next(
    const struct path_table *table, const void **at, struct path_flow *ret);
const struct path_table_counts *path_table_counts(const struct path_table *table);

#endif
