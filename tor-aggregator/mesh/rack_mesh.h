/*
 * rack_mesh - stores the results of each ordered pair of the rack's RNICs in the last
 * minute and hour, for display; the judge does not use it. Pure.
 *
 * The minute consists of slices of 10 s, the hour of slices of 15 min. The newest slice
 * is not full, so a period covers up to one slice more than its name says. A result
 * counts in the slice in which it is received. RTTs are kept in a histogram with four
 * bins per octave: percentiles between 1 us and 67 ms have a relative error of at most
 * MESH_RTT_ERROR, others have a larger one. A slice takes 176 bytes of memory; a pair
 * without probes has no slices. 65,280 pairs that are all probed for an hour take 77
 * MB.
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

/* maximum number of pairs of one rack; results of further pairs are refused and counted
 */
#define MESH_MAX_PAIRS 65536
#define MESH_RTT_ERROR 0.12 /* relative */

enum mesh_period { MESH_MINUTE, MESH_HOUR, MESH_PERIODS };

enum mesh_count {
	/* probes sent in time; includes all counts below except MESH_NOT_SENT */
	MESH_SENT,
	MESH_OK,
	MESH_NO_REPLY,
	MESH_LATE_REPLY,
	MESH_NOT_SENT, /* failed, or sent late: a problem of the prober's own host */
	MESH_LOST_FORWARD,
	/* part of MESH_NO_REPLY, as is MESH_LOST_FORWARD: receive counts show the
	   direction */
	MESH_LOST_REVERSE,
	MESH_COUNTS
};

enum mesh_quantile { MESH_P50, MESH_P95, MESH_P99, MESH_QUANTILES };

struct mesh_row {          /* the results of one pair in one period */
	uint32_t src, dst; /* members' indexes in the roster */
	uint64_t counts[MESH_COUNTS];
	/* RTT in the network, without the responder's time; 0: not known */
	uint32_t rtt_ns[MESH_QUANTILES];
	rm_mono_t seen; /* when its newest probe was sent */
};

int rack_mesh_new(rm_mono_t now, struct rack_mesh **ret);
void rack_mesh_free(struct rack_mesh *mesh);

/* Adds a result. Hot path. Only probes of kind WIRE_TOR_MESH between members count; src
 * and dst are their indexes in the roster. */
void rack_mesh_add(struct rack_mesh *mesh, rm_mono_t sent,
    const struct wire_result *result, uint32_t src, uint32_t dst);
/* Adds the directions of losses: forward and reverse are numbers of losses of the pair
 * that were added before. */
void rack_mesh_directions(struct rack_mesh *mesh, uint32_t src, uint32_t dst,
    uint64_t forward, uint64_t reverse);

/* Call it before a result that arrives at or after `now` is added. It may be called
 * often. */
void rack_mesh_tick(struct rack_mesh *mesh, rm_mono_t now);

/* Call it when the roster may have changed: pairs keep their results under the new
 * indexes of their RNICs; results of an RNIC that has left are deleted. */
void rack_mesh_renumber(struct rack_mesh *mesh, const struct roster *roster);

/* Returns the next pair with probes in the period, in no defined order. *at: 0
 * initially, then left as it is. False: no more pairs. */
bool rack_mesh_next(const struct rack_mesh *mesh, enum mesh_period period, size_t *at,
    struct mesh_row *ret);
/* Returns the time in ns that the period covers; after a start it is less than the
 * period's name says. */
int64_t rack_mesh_covered_ns(
    const struct rack_mesh *mesh, enum mesh_period period, rm_mono_t now);

/* Returns the number of pairs with probes in any period. */
size_t rack_mesh_pairs(const struct rack_mesh *mesh);
size_t rack_mesh_bytes(
    const struct rack_mesh *mesh); /* returns the approximate memory in bytes */
/* Points to the number of results that were refused so far because there were
 * MESH_MAX_PAIRS pairs, or no memory. */
const uint64_t *rack_mesh_refused(const struct rack_mesh *mesh);

#endif
