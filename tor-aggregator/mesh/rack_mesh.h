/*
 * rack_mesh - the results of each ordered pair of the rack's RNICs in the last minute
 * and hour, for display; the judge does not use it. Pure.
 *
 * A minute consists of slices of 10 s, an hour of slices of 15 min; the newest slice is
 * not full yet, so a period covers up to one slice more than its name. A result counts
 * in the slice in which it was received. RTTs are kept in a histogram of four bins per
 * octave: a percentile is within MESH_RTT_ERROR between 1 us and 67 ms, and not
 * outside. A slice takes 176 bytes, and a pair without probes has none: 65,280 pairs
 * that are all probed all hour take 77 MB.
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

#define MESH_MAX_PAIRS 65536 /* per rack: more are refused and counted */
#define MESH_RTT_ERROR 0.12  /* relative */

enum mesh_period { MESH_MINUTE, MESH_HOUR, MESH_PERIODS };

enum mesh_count {
	MESH_SENT, /* in time; includes all others but MESH_NOT_SENT */
	MESH_OK,
	MESH_NO_REPLY,
	MESH_LATE_REPLY,
	MESH_NOT_SENT, /* failed, or sent late: a problem of the prober's own host */
	MESH_LOST_FORWARD,
	MESH_LOST_REVERSE, /* of MESH_NO_REPLY, if receive counts show it */
	MESH_COUNTS
};

enum mesh_quantile { MESH_P50, MESH_P95, MESH_P99, MESH_QUANTILES };

struct mesh_row {          /* one pair in one period */
	uint32_t src, dst; /* members' indexes in the roster */
	uint64_t counts[MESH_COUNTS];
	uint32_t rtt_ns[MESH_QUANTILES]; /* of the network; 0: not known */
	rm_mono_t seen;                  /* when its newest probe was sent */
};

int rack_mesh_new(rm_mono_t now, struct rack_mesh **ret);
void rack_mesh_free(struct rack_mesh *mesh);

/* Hot path. Only WIRE_TOR_MESH between members counts; src and dst are indexes. */
void rack_mesh_add(struct rack_mesh *mesh, rm_mono_t sent,
    const struct wire_result *result, uint32_t src, uint32_t dst);
/* The directions of the pair's losses that were added before. */
void rack_mesh_directions(struct rack_mesh *mesh, uint32_t src, uint32_t dst,
    uint64_t forward, uint64_t reverse);

/* Call it before anything is added after `now`; calling it often costs little. */
void rack_mesh_tick(struct rack_mesh *mesh, rm_mono_t now);

/* The roster may have changed: pairs keep their results under their new indexes, and
 * those of an RNIC that has left are forgotten. */
void rack_mesh_renumber(struct rack_mesh *mesh, const struct roster *roster);

/* Pairs with probes in that period, in any order: *at is 0 initially. False: no
 * more. */
bool rack_mesh_next(const struct rack_mesh *mesh, enum mesh_period period, size_t *at,
    struct mesh_row *ret);
/* The time that the period covers: less than its name in the first minutes. */
int64_t rack_mesh_covered_ns(
    const struct rack_mesh *mesh, enum mesh_period period, rm_mono_t now);

size_t rack_mesh_pairs(const struct rack_mesh *mesh); /* in any period */
size_t rack_mesh_bytes(const struct rack_mesh *mesh); /* of memory, approximately */
/* Results refused so far because of the limit of pairs, or of missing memory. */
const uint64_t *rack_mesh_refused(const struct rack_mesh *mesh);

#endif
