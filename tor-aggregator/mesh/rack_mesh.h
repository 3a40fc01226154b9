/*
 * rack_mesh - what each ordered pair of the rack's RNICs saw in the last minute and
 * hour, for people who look at it; nothing is judged by it. Pure.
 *
 * A minute is slices of 10 s, an hour slices of 15 min; the newest is not full yet, so
 * a period covers up to one slice more than its name. Results count in the slice in
 * which they are taken. RTTs are in a histogram of four bins per octave: a percentile
 * is within MESH_RTT_ERROR between 1 us and 67 ms, and not beyond. A slice takes 176
 * bytes, and a pair that was not probed has none: 65,280 pairs that were all probed
 * all hour take 77 MB.
 */
#ifndef TOR_AGGREGATOR_MESH_RACK_MESH_H
#define TOR_AGGREGATOR_MESH_RACK_MESH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

struct rack_mesh;
struct roster;

#define MESH_MAX_PAIRS 65536 /* of a rack: what is beyond is refused and counted */
#define MESH_RTT_ERROR 0.12  /* relative */

enum mesh_period { MESH_MINUTE, MESH_HOUR, MESH_PERIODS };

enum mesh_count {
	MESH_SENT, /* in time; all but MESH_NOT_SENT are among them */
	MESH_OK,
	MESH_NO_REPLY,
	MESH_LATE_REPLY,
	MESH_NOT_SENT, /* failed, or left late: the prober's own host */
	MESH_LOST_FORWARD,
	MESH_LOST_REVERSE, /* of MESH_NO_REPLY, where receive counts tell */
	MESH_COUNTS
};

enum mesh_quantile { MESH_P50, MESH_P95, MESH_P99, MESH_QUANTILES };

struct mesh_row {          /* one pair in one period */
	uint32_t src, dst; /* members' indexes in the roster */
	uint64_t counts[MESH_COUNTS];
	uint32_t rtt_ns[MESH_QUANTILES]; /* of the network; 0: none is known */
	rm_mono_t seen;                  /* when its newest probe was sent */
};

int rack_mesh_new(rm_mono_t now, struct rack_mesh **ret);
void rack_mesh_free(struct rack_mesh *mesh);

/* Hot path. Only WIRE_TOR_MESH between members counts; src and dst are indexes. */
void rack_mesh_add(struct rack_mesh *mesh, rm_mono_t sent,
    const struct wire_result *result, uint32_t src, uint32_t dst);
/* Of the pair's losses that have been added. */
void rack_mesh_directions(struct rack_mesh *mesh, uint32_t src, uint32_t dst,
    uint64_t forward, uint64_t reverse);

/* Before anything is added after `now`; often is cheap. */
void rack_mesh_tick(struct rack_mesh *mesh, rm_mono_t now);

/* The roster may have changed: pairs keep what they have under their new indexes, and
 * those of an RNIC that has left are forgotten. */
void rack_mesh_renumber(struct rack_mesh *mesh, const struct roster *roster);

/* Pairs with probes in that period, in any order: *at is 0 at first. False: no more. */
bool rack_mesh_next(const struct rack_mesh *mesh, enum mesh_period period, size_t *at,
    struct mesh_row *ret);
/* How much time the period covers: less than its name while the mesh is young. */
int64_t rack_mesh_covered_ns(
    const struct rack_mesh *mesh, enum mesh_period period, rm_mono_t now);

size_t rack_mesh_pairs(const struct rack_mesh *mesh); /* of any period */
size_t rack_mesh_bytes(const struct rack_mesh *mesh); /* of memory, about */
/* Results of pairs beyond the bound, or that found no memory, so far. */
const uint64_t *rack_mesh_refused(const struct rack_mesh *mesh);

#endif
