#include "analyzer/racks/racks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "analyzer/racks/rack_quiet.h"
#include "rackmesh/identity/sight.h"
#include "rackmesh/metrics/sketch.h"

/* ---- finds which aggregator has reported an RNIC last ---- */

struct key { /* without padding */
	uint64_t guid, port;
};

struct rnic_node {
	struct rack_rnic rnic; /* first */
	struct key key;
	UT_hash_handle hh;
};

struct rack_rnics {
	struct racks_counts *counts;
	struct rnic_node *by_id;
};

static struct rnic_node *
rnic_node_get(struct rack_rnics *rnics, struct wire_rnic_id id)
{
	struct key key = { id.guid, id.port };
	struct rnic_node *node = NULL;

	HASH_FIND(hh, rnics->by_id, &key, sizeof(key), node);
	if (node != NULL)
		return node;
	if (rnics->counts->rnics < RACKS_MAX_RNICS)
		node = calloc(1, sizeof(*node));
	if (node == NULL)
		return NULL;
	node->key = key;
	node->rnic.id = (struct rm_rnic_id){ id.guid, id.port };
	HASH_ADD(hh, rnics->by_id, key, sizeof(node->key), node);
	if (node->hh.tbl == NULL) {
		free(node);
		return NULL;
	}
	rnics->counts->rnics++;
	return node;
}

/* The names of the summary were checked; those of its rows were not. */
static void
rack_rnics_take(struct rack_rnics *rnics, const struct wire_summary *summary,
    const struct wire_rnic_row *row, rm_mono_t now)
{
	struct rnic_node *node = NULL;

	if (rm_name_valid(row->host) && rm_name_valid(row->device))
		node = rnic_node_get(rnics, row->id);
	if (node == NULL) {
		rnics->counts->refused++;
		return;
	}
	strcpy(node->rnic.region, summary->head.region);
	strcpy(node->rnic.aggregator, summary->head.aggregator);
	strcpy(node->rnic.tor, summary->tor);
	strcpy(node->rnic.host, row->host);
	strcpy(node->rnic.device, row->device);
	node->rnic.last_seen = now;
}

static void
rack_rnics_expire(struct rack_rnics *rnics, rm_mono_t now, int64_t forget_ns)
{
	struct rnic_node *node, *next;

	HASH_ITER (hh, rnics->by_id, node, next) {
		if (rm_mono_since(now, node->rnic.last_seen) <= forget_ns)
			continue;
		HASH_DEL(rnics->by_id, node);
		free(node);
		rnics->counts->rnics--;
	}
}

static bool
is_called(const struct rack_rnic *rnic, const char *text)
{
	size_t host_len = strlen(rnic->host);

	return strncmp(text, rnic->host, host_len) == 0 && text[host_len] == '/' &&
	       strcmp(text + host_len + 1, rnic->device) == 0;
}

static const struct rack_rnic *
rack_rnics_find(const struct rack_rnics *rnics, const char *text,
    const struct rm_sight *sight, const struct rack_rnic **other)
{
	const struct rack_rnic *first = NULL;
	const struct rnic_node *node, *next;
	struct rm_rnic_id id = { 0 };

	*other = NULL;
	if (rm_rnic_id_parse(text, &id) == 0) {
		struct key key = { id.guid, id.port };
		struct rnic_node *found = NULL;

		HASH_FIND(hh, rnics->by_id, &key, sizeof(key), found);
		return found != NULL && rm_sight_shows(sight, found->rnic.region)
			   ? &found->rnic
			   : NULL;
	}
	HASH_ITER (hh, rnics->by_id, node, next) {
		if (!is_called(&node->rnic, text) ||
		    !rm_sight_shows(sight, node->rnic.region))
			continue;
		if (first == NULL)
			first = &node->rnic;
		else if (strcmp(first->region, node->rnic.region) != 0)
			*other = &node->rnic;
		else if (node->rnic.last_seen.ns > first->last_seen.ns)
			first = &node->rnic; /* the RNIC was replaced */
	}
	return first;
}

/* counts: the counts of the racks; borrowed. NULL: out of memory. */
static struct rack_rnics *
rack_rnics_new(struct racks_counts *counts)
{
	struct rack_rnics *rnics = calloc(1, sizeof(*rnics));

	if (rnics != NULL)
		rnics->counts = counts;
	return rnics;
}

static void
rack_rnics_free(struct rack_rnics *rnics)
{
	struct rnic_node *node, *next;

	if (rnics == NULL)
		return;
	HASH_ITER (hh, rnics->by_id, node, next) {
		HASH_DEL(rnics->by_id, node);
		free(node);
	}
	free(rnics);
}

/* ---- the racks ---- */

#define KEY_BYTES (2 * RM_NAME_BYTES)
/* older values than this number of row intervals are left out */
#define FRESH_ROW_INTERVALS 3
#define MAX_WALL_NS ((uint64_t)INT64_MAX)

struct flow_key { /* the struct is compared byte by byte, so zero it first */
	char dst_tor[RM_NAME_BYTES];
	uint64_t dscp;
};

struct flow {
	struct flow_key key;
	uint64_t sent, lost;
	rm_mono_t last_seen;
	UT_hash_handle hh;
};

struct scope { /* the pairs inside the rack, or the pairs with another rack */
	uint64_t p50_ns, p99_ns;
	rm_mono_t last_seen;
};

struct node {
	struct rack rack; /* first */
	struct rack_quiet quiet;
	char key[KEY_BYTES];
	struct flow *flows;
	struct scope inside, outgoing;
	int64_t fresh_ns; /* time for which the last summary is used */
	size_t place;     /* in racks.list */
	UT_hash_handle hh;
};

struct racks {
	struct racks_options options;
	struct node *list[RACKS_MAX];
	struct node *by_key;
	struct rack_rnics *rnics;
	struct rm_sketch *merged[2], *one; /* inside, outgoing; scratch */
	struct racks_counts counts;
};

/* ---- rows --------------------------------------------------------------------- */

static void
merge(struct racks *racks, size_t scope, struct wire_bytes bytes)
{
	if (bytes.len == 0)
		return;
	if (rm_sketch_decode(racks->one, bytes.data, bytes.len) == 0)
		rm_sketch_merge(racks->merged[scope], racks->one);
	else
		racks->counts.refused++;
}

static struct flow *
flow_get(struct racks *racks, struct node *node, const struct wire_row *row)
{
	struct flow_key key = { .dscp = row->dscp };
	struct flow *flow = NULL;

	snprintf(key.dst_tor, sizeof(key.dst_tor), "%s", row->dst_tor);
	HASH_FIND(hh, node->flows, &key, sizeof(key), flow);
	if (flow != NULL)
		return flow;
	if (HASH_COUNT(node->flows) < RACKS_MAX_FLOWS)
		flow = calloc(1, sizeof(*flow));
	if (flow == NULL) {
		racks->counts.refused++;
		return NULL;
	}
	memcpy(&flow->key, &key, sizeof(key));
	HASH_ADD(hh, node->flows, key, sizeof(flow->key), flow);
	if (flow->hh.tbl != NULL)
		return flow;
	free(flow);
	racks->counts.refused++;
	return NULL;
}

static void
take_row(
    struct racks *racks, struct node *node, const struct wire_row *row, rm_mono_t now)
{
	bool inside = strcmp(row->dst_tor, node->rack.tor) == 0;
	uint64_t lost = row->outcomes[WIRE_NO_REPLY];
	struct flow *flow;

	if (lost > row->sent || row->sent > INT64_MAX ||
	    strlen(row->dst_tor) >= RM_NAME_BYTES) {
		racks->counts.refused++;
		return;
	}
	flow = flow_get(racks, node, row);
	if (flow == NULL)
		return;
	flow->sent = row->sent;
	flow->lost = lost;
	flow->last_seen = now;
	merge(racks, inside ? 0 : 1, row->rtt);
}

static void
scope_set(struct scope *scope, const struct rm_sketch *sketch, rm_mono_t now)
{
	if (rm_sketch_count(sketch) == 0)
		return;
	scope->p50_ns = rm_sketch_quantile_ns(sketch, 0.50);
	scope->p99_ns = rm_sketch_quantile_ns(sketch, 0.99);
	scope->last_seen = now;
}

static void
take_rows(struct racks *racks, struct node *node, const struct wire_summary_view *view,
    rm_mono_t now)
{
	if (view->summary.row_count == 0)
		return;
	rm_sketch_reset(racks->merged[0]);
	rm_sketch_reset(racks->merged[1]);
	for (size_t i = 0; i < view->summary.row_count; i++) {
		struct wire_row row;

		wire_summary_row(view, i, &row);
		take_row(racks, node, &row, now);
	}
	scope_set(&node->inside, racks->merged[0], now);
	scope_set(&node->outgoing, racks->merged[1], now);
}

/* ---- racks ---------------------------------------------------------------------- */

static void
key_of(char key[KEY_BYTES], const char *region, const char *tor)
{
	snprintf(key, KEY_BYTES, "%s|%s", region, tor);
}

static struct node *
node_find(const struct racks *racks, const char *region, const char *tor)
{
	char key[KEY_BYTES];
	struct node *node = NULL;

	key_of(key, region, tor);
	HASH_FIND_STR(racks->by_key, key, node);
	return node;
}

/* The names are valid. */
static struct node *
node_get(struct racks *racks, const char *region, const char *tor)
{
	struct node *node = node_find(racks, region, tor);

	if (node != NULL)
		return node;
	if (racks->counts.racks < RACKS_MAX)
		node = calloc(1, sizeof(*node));
	if (node != NULL) {
		key_of(node->key, region, tor);
		HASH_ADD_STR(racks->by_key, key, node);
	}
	if (node == NULL || node->hh.tbl == NULL) {
		free(node);
		racks->counts.refused++;
		return NULL;
	}
	strcpy(node->rack.region, region);
	strcpy(node->rack.tor, tor);
	node->place = racks->counts.racks++;
	racks->list[node->place] = node;
	return node;
}

/* Moves the aggregator to the front. If there are three, the one that has been silent
 * for longest is removed. */
static void
reported_by(struct rack *rack, const char *aggregator)
{
	if (strcmp(rack->aggregators[0], aggregator) == 0)
		return;
	memcpy(rack->aggregators[1], rack->aggregators[0], RM_NAME_BYTES);
	strcpy(rack->aggregators[0], aggregator);
}

static void
take_state(struct node *node, const struct wire_summary *summary)
{
	node->rack.has_state = true;
	node->rack.state = summary->state;
	rack_quiet_take(&node->quiet, summary->head.aggregator,
	    (rm_wall_t){ (int64_t)summary->end_wall_ns },
	    summary->state.incidents_open);
}

void
racks_served(struct racks *racks, const char *region, const char *tor,
    const char *aggregator, rm_mono_t now)
{
	struct node *node = node_get(racks, region, tor);

	if (node == NULL)
		return;
	node->rack.last_seen = now;
	if (node->rack.aggregators[0][0] == '\0')
		reported_by(&node->rack, aggregator);
}

void
racks_summary(struct racks *racks, const struct wire_summary_view *view,
    int64_t row_interval_ns, rm_mono_t now)
{
	const struct wire_summary *summary = &view->summary;
	struct node *node;
	int64_t end;

	if (!rm_name_valid(summary->head.region) || !rm_name_valid(summary->tor) ||
	    !rm_name_valid(summary->head.aggregator) ||
	    summary->end_wall_ns > MAX_WALL_NS) {
		racks->counts.refused++;
		return;
	}
	node = node_get(racks, summary->head.region, summary->tor);
	if (node == NULL)
		return;
	node->fresh_ns = FRESH_ROW_INTERVALS * row_interval_ns;
	for (size_t i = 0; i < summary->rnic_count; i++) {
		struct wire_rnic_row row;

		wire_summary_rnic(view, i, &row);
		rack_rnics_take(racks->rnics, summary, &row, now);
	}
	/* The oldest summary of a backlog arrives first. A summary that is older than
	 * the last one does not describe the current state. */
	end = (int64_t)summary->end_wall_ns;
	if (end < node->rack.last_seen_wall.ns)
		return;
	node->rack.last_seen_wall.ns = end;
	node->rack.last_seen = now;
	reported_by(&node->rack, summary->head.aggregator);
	if (summary->has_state)
		take_state(node, summary);
	take_rows(racks, node, view, now);
}

static void
node_free(struct racks *racks, struct node *node)
{
	struct flow *flow, *next;

	HASH_ITER (hh, node->flows, flow, next) {
		HASH_DEL(node->flows, flow);
		free(flow);
	}
	HASH_DEL(racks->by_key, node);
	racks->counts.racks--;
	racks->list[node->place] = racks->list[racks->counts.racks];
	racks->list[node->place]->place = node->place;
	free(node);
}

void
racks_expire(struct racks *racks, rm_mono_t now)
{
	for (size_t i = racks->counts.racks; i-- > 0;)
		if (rm_mono_since(now, racks->list[i]->rack.last_seen) >
		    racks->options.forget_ns)
			node_free(racks, racks->list[i]);
	rack_rnics_expire(racks->rnics, now, racks->options.forget_ns);
}

/* ---- reading --------------------------------------------------------------------- */

const struct rack *
racks_get(const struct racks *racks, size_t i)
{
	return i < racks->counts.racks ? &racks->list[i]->rack : NULL;
}

const struct rack *
racks_find(const struct racks *racks, const char *region, const char *tor)
{
	const struct node *node = node_find(racks, region, tor);

	return node != NULL ? &node->rack : NULL;
}

rm_wall_t
racks_quiet(const struct racks *racks, const char *region, const char *aggregator,
    const char *tor, rm_wall_t changed)
{
	const struct node *node = node_find(racks, region, tor);

	return node != NULL ? rack_quiet_since(&node->quiet, aggregator, changed)
			    : (rm_wall_t){ 0 };
}

void
racks_figures(const struct rack *rack, const struct racks *racks, rm_mono_t now,
    struct rack_figures *inside, struct rack_figures *outgoing)
{
	const struct node *node = (const struct node *)rack;
	int64_t fresh_ns = node->fresh_ns;
	const struct flow *flow, *next;

	*inside = *outgoing = (struct rack_figures){ 0 };
	HASH_ITER (hh, node->flows, flow, next) {
		struct rack_figures *figures =
		    strcmp(flow->key.dst_tor, rack->tor) == 0 ? inside : outgoing;

		if (rm_mono_since(now, flow->last_seen) > fresh_ns)
			continue;
		figures->sent += flow->sent;
		figures->lost += flow->lost;
	}
	if (rm_mono_since(now, node->inside.last_seen) <= fresh_ns) {
		inside->rtt_p50_ns = node->inside.p50_ns;
		inside->rtt_p99_ns = node->inside.p99_ns;
	}
	if (rm_mono_since(now, node->outgoing.last_seen) <= fresh_ns) {
		outgoing->rtt_p50_ns = node->outgoing.p50_ns;
		outgoing->rtt_p99_ns = node->outgoing.p99_ns;
	}
}

const struct rack_rnic *
racks_rnic(const struct racks *racks, const char *text, const struct rm_sight *sight,
    const struct rack_rnic **other)
{
	return rack_rnics_find(racks->rnics, text, sight, other);
}

const struct racks_counts *
racks_counts(const struct racks *racks)
{
	return &racks->counts;
}

/* ---- creation and end ---- */

int
racks_new(const struct racks_options *options, struct racks **ret)
{
	struct racks *racks = calloc(1, sizeof(*racks));

	if (racks == NULL)
		return -ENOMEM;
	racks->options = *options;
	racks->rnics = rack_rnics_new(&racks->counts);
	racks->one = rm_sketch_new();
	racks->merged[0] = rm_sketch_new();
	racks->merged[1] = rm_sketch_new();
	if (racks->rnics == NULL || racks->one == NULL || racks->merged[0] == NULL ||
	    racks->merged[1] == NULL) {
		racks_free(racks);
		return -ENOMEM;
	}
	*ret = racks;
	return 0;
}

void
racks_free(struct racks *racks)
{
	if (racks == NULL)
		return;
	while (racks->counts.racks > 0)
		node_free(racks, racks->list[racks->counts.racks - 1]);
	rack_rnics_free(racks->rnics);
	rm_sketch_free(racks->one);
	rm_sketch_free(racks->merged[0]);
	rm_sketch_free(racks->merged[1]);
	free(racks);
}
