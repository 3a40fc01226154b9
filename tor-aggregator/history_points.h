/*
 * history_points - a summary or an incident as points of line protocol. Pure.
 *
 * Tags are of low cardinality: ToRs, classes, RNICs of the rack; never a pair of
 * RNICs, never a flow.
 */
#ifndef TOR_AGGREGATOR_HISTORY_POINTS_H
#define TOR_AGGREGATOR_HISTORY_POINTS_H

#include <stddef.h>
#include <stdint.h>

#include "schemas/wire.h"

/* Room for any one point. */
#define HISTORY_POINT_BYTES 16384

/*
 * *out: malloc'd text of *points points; the caller frees it. -EBADMSG and the like
 * from the wire view; -EINVAL: neither summary nor incident; -ENOMEM.
 */
int history_points(
    const uint8_t *data, size_t len, char **out, size_t *out_len, uint64_t *points);

#endif
