#include "analyzer/racks/tor_mesh.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "rackmesh/identity/sight.h"
#include "rackmesh/identity/sight_counts.h"
#include "rackmesh/judge/part.h"
#include "rackmesh/metrics/sketch.h"

#define KEY_BYTES (2 * RM_NAME_BYTES)
#define MAX_SLICES 7

static const struct period {
	int64_t slice_ns;
	size_t slices; /* number of slices; the last chunk need not be full */
} periods[TOR_MESH_PERIODS] = {
	[TOR_MESH_MINUTE] = { 10 * RM_NS_PER_S, 7 },
	[TOR_MESH_HOUR] = { 900 * RM_NS_PER_S, 5 },
};

struct tor {
	char key[KEY_BYTES]; /* region|tor */
	char region[RM_NAME_BYTES], tor[RM_NAME_BYTES];
	size_t pairs; /* number of pairs with this ToR at an end */
	/* used during one query; SIZE_MAX: the query does not include this ToR */
	size_t place;
	UT_hash_handle hh;
};

struct slice {
	int64_t number;
	uint32_t counts[TOR_MESH_COUNTS];
};

struct pair_key {
	struct tor *src, *dst;
};

struct pair {
	struct pair_key key;
	/* a ring: slot of a minute is its number modulo the size */
	struct slice slices[TOR_MESH_PERIODS][MAX_SLICES];
	uint64_t rtt_ns[TOR_MESH_QUANTILES];
	rm_mono_t last_seen;
	UT_hash_handle hh;
};

struct tor_mesh {
	rm_mono_t started;
	struct tor *tors;
	struct pair *pairs;
	struct rm_sketch *sketch; /* scratch */
	uint64_t refused;
	struct rm_sight_counts refused_by_region;
};

int
tor_mesh_new(rm_mono_t now, struct tor_mesh **ret)
{
	struct tor_mesh *mesh = calloc(1, sizeof(*mesh));

	if (mesh != NULL)
		mesh->sketch = rm_sketch_new();
	if (mesh == NULL || mesh->sketch == NULL) {
		free(mesh);
		return -ENOMEM;
	}
	mesh->started = now;
	*ret = mesh;
	return 0;
}

/* ---- ToRs and pairs ---- */

/* Returns NULL if the limit is reached, or if memory has run out. */
static struct tor *
get_tor(struct tor_mesh *mesh, const char *region, const char *name)
{
	struct tor *tor = NULL;
	char key[KEY_BYTES];

	snprintf(key, sizeof(key), "%s|%s", region, name);
	HASH_FIND_STR(mesh->tors, key, tor);
	if (tor != NULL)
		return tor;
	if (HASH_COUNT(mesh->tors) < TOR_MESH_MAX_TORS)
		tor = calloc(1, sizeof(*tor));
	if (tor == NULL)
		return NULL;
	strcpy(tor->key, key);
	strcpy(tor->region, region);
	strcpy(tor->tor, name);
	HASH_ADD_STR(mesh->tors, key, tor);
	if (tor->hh.tbl != NULL)
		return tor;
	free(tor);
	return NULL;
}

static void
drop_tor(struct tor_mesh *mesh, struct tor *tor)
{
	if (tor == NULL || tor->pairs > 0)
		return;
	HASH_DEL(mesh->tors, tor);
	free(tor);
}

static struct pair *
add_pair(struct tor_mesh *mesh, const struct pair_key *key)
{
	struct pair *pair = NULL;

	if (HASH_COUNT(mesh->pairs) < TOR_MESH_MAX_PAIRS)
		pair = calloc(1, sizeof(*pair));
	if (pair == NULL)
		return NULL;
	pair->key = *key;
	HASH_ADD(hh, mesh->pairs, key, sizeof(pair->key), pair);
	if (pair->hh.tbl == NULL) {
		free(pair);
		return NULL;
	}
	key->src->pairs++;
	key->dst->pairs++;
	return pair;
}

static void
drop_pair(struct tor_mesh *mesh, struct pair *pair)
{
	const struct pair_key key = pair->key;

	HASH_DEL(mesh->pairs, pair);
	free(pair);
	key.src->pairs--;
	key.dst->pairs--;
	drop_tor(mesh, key.src);
	if (key.dst != key.src)
		drop_tor(mesh, key.dst);
}

/* Returns NULL if the limit is reached, or if memory has run out. */
static struct pair *
get_pair(struct tor_mesh *mesh, const char *region, const char *src, const char *dst)
{
	const struct pair_key key = { get_tor(mesh, region, src),
		get_tor(mesh, region, dst) };
	struct pair *pair = NULL;

	if (key.src != NULL && key.dst != NULL) {
		HASH_FIND(hh, mesh->pairs, &key, sizeof(key), pair);
		if (pair == NULL)
			pair = add_pair(mesh, &key);
	}
	if (pair == NULL) {
		drop_tor(mesh, key.src);
		if (key.dst != key.src)
			drop_tor(mesh, key.dst);
	}
	return pair;
}

void
tor_mesh_free(struct tor_mesh *mesh)
{
	struct pair *pair, *next;

	if (mesh == NULL)
		return;
	HASH_ITER (hh, mesh->pairs, pair, next)
		drop_pair(mesh, pair);
	rm_sketch_free(mesh->sketch);
	free(mesh);
}

/* ---- rows ---- */

static void
count_row(struct slice *slices, const struct period *period, rm_mono_t end,
    const struct wire_row *row)
{
	const int64_t number = end.ns / period->slice_ns;
	struct slice *slice = &slices[(size_t)number % period->slices];
	const uint64_t not_sent =
	    row->outcomes[WIRE_SEND_FAILED] + row->outcomes[WIRE_SENT_LATE];

	if (number < slice->number) /* too old for the ring */
		return;
	if (number > slice->number)
		*slice = (struct slice){ .number = number };
	slice->counts[TOR_MESH_SENT] += (uint32_t)(row->sent - not_sent);
	slice->counts[TOR_MESH_OK] += (uint32_t)row->outcomes[WIRE_OK];
	slice->counts[TOR_MESH_NO_REPLY] += (uint32_t)row->outcomes[WIRE_NO_REPLY];
	slice->counts[TOR_MESH_LATE_REPLY] += (uint32_t)row->outcomes[WIRE_LATE_REPLY];
	slice->counts[TOR_MESH_NOT_SENT] += (uint32_t)not_sent;
	slice->counts[TOR_MESH_LOST_FORWARD] += (uint32_t)row->lost_forward;
	slice->counts[TOR_MESH_LOST_REVERSE] += (uint32_t)row->lost_reverse;
}

/* A row with more probes than this is refused, so that the probes of an hour fit into
 * 32 bits. */
#define MAX_SENT (UINT32_MAX / 512)

static bool
has_sense(const struct wire_row *row)
{
	uint64_t all = 0;

	for (int o = 0; o < WIRE_OUTCOMES; o++) {
		if (row->outcomes[o] > MAX_SENT)
			return false;
		all += row->outcomes[o];
	}
	return all <= row->sent && row->sent <= MAX_SENT &&
	       row->lost_forward <= row->outcomes[WIRE_NO_REPLY] &&
	       row->lost_reverse <= row->outcomes[WIRE_NO_REPLY] &&
	       rm_name_valid(row->dst_tor);
}

static void
take_rtt(struct tor_mesh *mesh, struct pair *pair, struct wire_bytes rtt)
{
	if (rtt.len == 0 || rm_sketch_decode(mesh->sketch, rtt.data, rtt.len) < 0 ||
	    rm_sketch_count(mesh->sketch) == 0)
		return;
	pair->rtt_ns[TOR_MESH_P50] = rm_sketch_quantile_ns(mesh->sketch, 0.50);
	pair->rtt_ns[TOR_MESH_P95] = rm_sketch_quantile_ns(mesh->sketch, 0.95);
	pair->rtt_ns[TOR_MESH_P99] = rm_sketch_quantile_ns(mesh->sketch, 0.99);
}

void
tor_mesh_summary(
    struct tor_mesh *mesh, const struct wire_summary_view *view, rm_mono_t end)
{
	const struct wire_summary *summary = &view->summary;
	const bool named =
	    rm_name_valid(summary->head.region) && rm_name_valid(summary->tor);

	for (size_t i = 0; i < summary->row_count; i++) {
		struct pair *pair = NULL;
		struct wire_row row;

		wire_summary_row(view, i, &row);
		if (named && has_sense(&row))
			pair = get_pair(
			    mesh, summary->head.region, summary->tor, row.dst_tor);
		if (pair == NULL) {
			mesh->refused++;
			rm_sight_count(&mesh->refused_by_region, summary->head.region);
			continue;
		}
		for (int p = 0; p < TOR_MESH_PERIODS; p++)
			count_row(pair->slices[p], &periods[p], end, &row);
		if (end.ns < pair->last_seen.ns)
			continue;
		if (end.ns > pair->last_seen.ns) /* lost probes have no RTT */
			memset(pair->rtt_ns, 0, sizeof(pair->rtt_ns));
		take_rtt(mesh, pair, row.rtt);
		pair->last_seen = end;
	}
}

void
tor_mesh_expire(struct tor_mesh *mesh, rm_mono_t now)
{
	const struct period *hour = &periods[TOR_MESH_HOUR];
	struct pair *pair, *next;

	HASH_ITER (hh, mesh->pairs, pair, next)
		if (rm_mono_since(now, pair->last_seen) >
		    hour->slice_ns * (int64_t)hour->slices)
			drop_pair(mesh, pair);
}

/* ---- reading ---- */

static int
compare_tors(const struct tor *a, const struct tor *b)
{
	int order = strcmp(a->region, b->region);

	return order != 0 ? order : strcmp(a->tor, b->tor);
}

static void
sum_slices(const struct pair *pair, enum tor_mesh_period period, rm_mono_t now,
    uint64_t *counts)
{
	const int64_t newest = now.ns / periods[period].slice_ns;
	const int64_t oldest = newest - (int64_t)periods[period].slices + 1;

	for (size_t s = 0; s < periods[period].slices; s++) {
		const struct slice *slice = &pair->slices[period][s];

		for (size_t i = 0; slice->number >= oldest && i < TOR_MESH_COUNTS; i++)
			counts[i] += slice->counts[i];
	}
}

void
tor_mesh_read(struct tor_mesh *mesh, enum tor_mesh_period period,
    const struct rm_sight *sight, rm_mono_t now, const struct tor_mesh_reader *reader)
{
	const struct pair *pair, *more;
	struct tor *tor, *next;
	size_t place = 0;

	HASH_SORT(mesh->tors, compare_tors);
	HASH_ITER (hh, mesh->tors, tor, next) {
		const bool wanted = rm_sight_shows(sight, tor->region);

		tor->place = wanted ? place++ : SIZE_MAX;
		if (wanted)
			reader->tor(tor->region, tor->tor, reader->arg);
	}
	HASH_ITER (hh, mesh->pairs, pair, more) {
		struct tor_mesh_row row = { pair->key.src->place, pair->key.dst->place,
			.last_seen = pair->last_seen };

		if (row.src == SIZE_MAX)
			continue;
		sum_slices(pair, period, now, row.counts);
		memcpy(row.rtt_ns, pair->rtt_ns, sizeof(row.rtt_ns));
		if (row.counts[TOR_MESH_SENT] + row.counts[TOR_MESH_NOT_SENT] > 0)
			reader->pair(&row, reader->arg);
	}
}

int64_t
tor_mesh_covered_ns(
    const struct tor_mesh *mesh, enum tor_mesh_period period, rm_mono_t now)
{
	const struct period *p = &periods[period];
	const rm_mono_t oldest = { (now.ns / p->slice_ns - (int64_t)p->slices + 1) *
				   p->slice_ns };

	return rm_mono_since(
	    now, oldest.ns > mesh->started.ns ? oldest : mesh->started);
}

const uint64_t *
tor_mesh_refused(const struct tor_mesh *mesh)
{
	return &mesh->refused;
}

uint64_t
tor_mesh_refused_in(const struct tor_mesh *mesh, const struct rm_sight *sight)
{
	return rm_sight_sum(
	    &mesh->refused_by_region, mesh->refused_by_region.counts, sight);
}
