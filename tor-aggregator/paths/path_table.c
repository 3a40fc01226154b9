#include "tor-aggregator/paths/path_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "rackmesh/judge/part.h"
#include "tor-aggregator/paths/hop_names.h"
#include "tor-aggregator/paths/planned_pairs.h"

#define SILENT_HOPS 2

struct flow_key { /* There is no padding, because the struct is hashed as bytes. */
	uint64_t src_guid, dst_guid;
	uint16_t src_port;
	uint8_t src_port_num, dst_port_num;
	uint32_t zero;
};

struct flow {
	struct flow_key key;
	bool traced, planned;
	bool whole;     /* a trace has reached the destination */
	bool has_moved; /* path and former contradict each other */
	/* former: the path before; the flow has a reference to both */
	uint32_t path, former;
	rm_mono_t traced_at; /* when `path` was first seen */
	rm_mono_t unplanned_since;
	UT_hash_handle hh;
};

struct path_table {
	char tor[RM_NAME_BYTES];
	size_t max_flows;
	struct hop_names names;
	struct path_set *paths;
	struct planned_pairs *pairs;
	struct flow *flows;
	struct path_table_counts counts;
};

int
path_table_new(const struct path_table_options *options, struct path_table **ret)
{
	struct path_table *table = calloc(1, sizeof(*table));
	int r;

	if (table == NULL)
		return -ENOMEM;
	snprintf(table->tor, sizeof(table->tor), "%s", options->tor);
	table->max_flows = options->max_flows;
	r = path_set_new(options->max_paths, &table->paths);
	if (r == 0)
		r = planned_pairs_new(&table->pairs);
	if (r < 0) {
		path_table_free(table);
		return r;
	}
	*ret = table;
	return 0;
}

void
path_table_free(struct path_table *table)
{
	struct flow *flow, *next;

	if (table == NULL)
		return;
	HASH_ITER (hh, table->flows, flow, next) {
		HASH_DELETE(hh, table->flows, flow);
		free(flow);
	}
	path_set_free(table->paths);
	planned_pairs_free(table->pairs);
	hop_names_release(&table->names);
	free(table);
}

static struct flow_key
key_of(struct wire_rnic_id src, struct wire_rnic_id dst, uint16_t src_port)
{
	return (struct flow_key){ .src_guid = src.guid,
		.dst_guid = dst.guid,
		.src_port = src_port,
		.src_port_num = src.port,
		.dst_port_num = dst.port };
}

/* True: the plan has flows between these RNICs whose source ports the NIC chooses. */
static bool
pair_is_planned(const struct path_table *table, const struct flow_key *key)
{
	return planned_pairs_has(table->pairs,
	    (struct wire_rnic_id){ key->src_guid, key->src_port_num },
	    (struct wire_rnic_id){ key->dst_guid, key->dst_port_num });
}

static struct flow *
find(const struct path_table *table, const struct flow_key *key)
{
	struct flow *flow;

	HASH_FIND(hh, table->flows, key, sizeof(*key), flow);
	return flow;
}

/* Finds the flow, or adds it if there are fewer than max flows. */
static int
flow_get(struct path_table *table, const struct flow_key *key, size_t max,
    rm_mono_t now, struct flow **ret)
{
	struct flow *flow = find(table, key);

	if (flow != NULL) {
		*ret = flow;
		return 0;
	}
	if (HASH_COUNT(table->flows) >= max) {
		table->counts.refused_flows++;
		return -ENOSPC;
	}
	flow = calloc(1, sizeof(*flow));
	if (flow != NULL) {
		flow->key = *key;
		flow->planned = pair_is_planned(table, key);
		flow->unplanned_since = now;
		HASH_ADD(hh, table->flows, key, sizeof(flow->key), flow);
	}
	if (flow == NULL || flow->hh.tbl == NULL) {
		free(flow);
		table->counts.refused_flows++;
		return -ENOMEM;
	}
	*ret = flow;
	return 0;
}

static int
plan_entry(struct path_table *table, const struct wire_plan_view *view, size_t i,
    rm_mono_t now)
{
	struct wire_plan_entry entry;
	struct wire_rnic src, dst;
	int r = 0;

	wire_plan_entry(view, i, &entry);
	wire_plan_remote(view, entry.dst, &dst);
	if (dst.tor_count > 0 && strcmp(dst.tors[0], table->tor) == 0)
		return 0; /* a flow to the reflector of the rack's own ToR stays
			   * inside the rack */
	wire_plan_member(view, entry.src, &src);
	if (src.qpn != 0)
		return planned_pairs_add(table->pairs, src.id, dst.id);
	for (size_t f = 0; f < entry.flow_count; f++) {
		const struct flow_key key = key_of(src.id, dst.id, entry.flows[f]);
		struct flow *flow;
		int e = flow_get(table, &key, table->max_flows, now, &flow);

		if (e == 0)
			flow->planned = true;
		else if (e == -ENOMEM)
			r = e;
	}
	return r;
}

int
path_table_plan(
    struct path_table *table, const struct wire_plan_view *view, rm_mono_t now)
{
	struct flow *flow, *next;
	int r, e;

	r = hop_names_plan(&table->names, view);
	table->counts.refused_aliases = table->names.refused;
	if (r == 0)
		path_set_rename(table->paths, &table->names);
	HASH_ITER (hh, table->flows, flow, next) {
		if (flow->planned)
			flow->unplanned_since = now;
		flow->planned = false;
	}
	planned_pairs_clear(table->pairs);
	for (size_t i = 0; i < view->plan.entry_count; i++) {
		e = plan_entry(table, view, i, now);
		if (e < 0)
			r = e;
	}
	HASH_ITER (hh, table->flows, flow, next)
		flow->planned = flow->planned || pair_is_planned(table, &flow->key);
	return r;
}

/* True: the first and the last hop are the ToRs of source and destination. A silent
 * hop, or a hop without a name, may be any switch. */
static bool
is_expected(
    const struct path_table *table, const struct path_hops *route, const char *dst_tor)
{
	const char *first, *last;

	if (route->hop_count == 0)
		return false;
	first = hop_names_find(&table->names, route->family, route->hops[0]);
	last = hop_names_find(
	    &table->names, route->family, route->hops[route->hop_count - 1]);
	return (first == NULL || strcmp(first, table->tor) == 0) &&
	       (last == NULL || strcmp(last, dst_tor) == 0);
}

static bool
is_whole(const struct wire_path *path)
{
	return path->flags & WIRE_PATH_MULTIPATH ||
	       (path->flags & WIRE_PATH_COMPLETE && path->hop_count > 0);
}

/* Returns the hops of a trace. If the trace did not reach the destination, more than
 * one silent hop is added at the end: with one, the last hop that answered would look
 * like a neighbour of the destination's ToR. */
static struct path_hops
hops_of(const struct wire_path *path)
{
	const size_t bytes = path->family == 4 ? 4 : 16;
	struct path_hops route = { .family = path->family,
		.hop_count = path->hop_count };

	for (size_t i = 0; i < route.hop_count; i++)
		memcpy(route.hops[i], path->hops[i], bytes);
	if (!is_whole(path))
		route.hop_count = route.hop_count + SILENT_HOPS > WIRE_MAX_HOPS
				      ? WIRE_MAX_HOPS
				      : (uint8_t)(route.hop_count + SILENT_HOPS);
	return route;
}

static int
path_of(struct path_table *table, const struct wire_path *path, const char *dst_tor,
    uint32_t *ret)
{
	const struct path_hops route = hops_of(path);
	int r;

	if (path->flags & WIRE_PATH_MULTIPATH) {
		*ret = PATH_MULTIPATH;
		return 0;
	}
	r = path_set_hold(table->paths, &route, &table->names, ret);
	if (r < 0)
		table->counts.refused_paths++;
	else if (!is_expected(table, &route, dst_tor))
		table->counts.unexpected++;
	return r;
}

/* True: different switches answered at some hop, or a path is longer than the other. If
 * only hops that were silent are known now, it may be the same path. */
static bool
contradict(const struct path_table *table, uint32_t path, uint32_t other)
{
	static const uint8_t silent[16];
	struct path_hops a, b;

	if (!path_set_hops(table->paths, path, &a) ||
	    !path_set_hops(table->paths, other, &b))
		return false;
	if (a.family != b.family || a.hop_count != b.hop_count)
		return true;
	for (size_t i = 0; i < a.hop_count; i++)
		if (memcmp(a.hops[i], silent, sizeof(silent)) != 0 &&
		    memcmp(b.hops[i], silent, sizeof(silent)) != 0 &&
		    memcmp(a.hops[i], b.hops[i], sizeof(silent)) != 0)
			return true;
	return false;
}

/* Sets the path of the flow, and takes the reference to it. */
static void
flow_takes(struct path_table *table, struct flow *flow, uint32_t path, bool was_whole,
    rm_mono_t traced)
{
	table->counts.learned++;
	if (flow->traced && path == flow->path) {
		path_set_drop(table->paths, path);
		return;
	}
	if (flow->traced)
		table->counts.changed++;
	path_set_drop(table->paths, flow->former);
	flow->has_moved = was_whole && contradict(table, flow->path, path);
	flow->former = flow->path;
	flow->path = path;
	flow->traced_at = traced;
	flow->traced = true;
}

int
path_table_learn(struct path_table *table, const struct wire_path *path,
    const char *dst_tor, rm_mono_t traced, rm_mono_t now)
{
	const struct flow_key key =
	    key_of((struct wire_rnic_id){ path->src_guid, path->src_port_num },
		(struct wire_rnic_id){ path->dst_guid, path->dst_port_num },
		path->src_port);
	uint32_t number = PATH_UNTRACED;
	struct flow *flow;
	bool was_whole;
	int r;

	table->counts.incomplete += !is_whole(path);
	if (path->hop_count == 0 && !(path->flags & WIRE_PATH_MULTIPATH))
		return 0;
	/* Half of the table is reserved for plans, because an agent could report any
	 * number of flows. */
	r = flow_get(table, &key, table->max_flows / 2, now, &flow);
	if (r == 0 && !flow->planned)
		flow->unplanned_since = now;
	if (r == 0 && flow->whole && !is_whole(path))
		return 0;
	if (r == 0)
		r = path_of(table, path, dst_tor, &number);
	if (r < 0)
		return r;
	was_whole = flow->whole;
	flow->whole = is_whole(path);
	flow_takes(table, flow, number, was_whole, traced);
	return 0;
}

struct path_found
path_table_at(const struct path_table *table, struct wire_rnic_id src,
    struct wire_rnic_id dst, uint16_t src_port, rm_mono_t sent)
{
	const struct flow_key key = key_of(src, dst, src_port);
	const struct flow *flow = find(table, &key);

	if (flow == NULL)
		return (struct path_found){ PATH_UNTRACED, false };
	/* Before its first trace a flow is assumed to have had the same path. */
	if (flow->former != PATH_UNTRACED && sent.ns < flow->traced_at.ns)
		return (struct path_found){ flow->former, flow->has_moved };
	return (struct path_found){ flow->path, false };
}

uint32_t
path_table_find(const struct path_table *table, struct wire_rnic_id src,
    struct wire_rnic_id dst, uint16_t src_port, rm_mono_t sent)
{
	return path_table_at(table, src, dst, src_port, sent).path;
}

void
path_table_age(struct path_table *table, rm_mono_t now)
{
	struct flow *flow, *next;

	HASH_ITER (hh, table->flows, flow, next) {
		if (flow->planned ||
		    rm_mono_since(now, flow->unplanned_since) < PATH_TABLE_KEEP_NS)
			continue;
		path_set_drop(table->paths, flow->path);
		path_set_drop(table->paths, flow->former);
		HASH_DELETE(hh, table->flows, flow);
		free(flow);
		table->counts.aged++;
	}
	path_set_sweep(table->paths);
}

const char *
path_table_text(const struct path_table *table, uint32_t path)
{
	return path_set_text(table->paths, path);
}

uint64_t
path_table_switches(const struct path_table *table, uint32_t path)
{
	return path_set_switches(table->paths, path);
}

bool
path_table_hops(const struct path_table *table, uint32_t path, struct path_hops *ret)
{
	return path_set_hops(table->paths, path, ret);
}

uint32_t
path_table_end(const struct path_table *table)
{
	return path_set_end(table->paths);
}

size_t
path_table_flows(const struct path_table *table)
{
	return HASH_COUNT(table->flows);
}

size_t
path_table_paths(const struct path_table *table)
{
	return path_set_count(table->paths);
}

bool
path_table_next(const struct path_table *table, const void **at, struct path_flow *ret)
{
	const struct flow *last = *at;
	const struct flow *flow = last == NULL ? table->flows : last->hh.next;

	if (flow == NULL)
		return false;
	*at = flow;
	*ret = (struct path_flow){
		.src = { flow->key.src_guid, flow->key.src_port_num },
		.dst = { flow->key.dst_guid, flow->key.dst_port_num },
		.src_port = flow->key.src_port,
		.path = flow->path,
		.traced = flow->traced,
		.planned = flow->planned,
		.traced_at = flow->traced_at,
	};
	return true;
}

const struct path_table_counts *
path_table_counts(const struct path_table *table)
{
	return &table->counts;
}
