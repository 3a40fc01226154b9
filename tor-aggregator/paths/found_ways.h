/*
 * found_ways - which ways out of a rack the controller has to be told of. Pure.
 *
 * Each distinct way once when it is found, and again every FOUND_WAYS_AGAIN_NS while it
 * is still taken, so that the controller knows when it was last seen. After another
 * controller has taken over, all of them again.
 */
#ifndef TOR_AGGREGATOR_PATHS_FOUND_WAYS_H
#define TOR_AGGREGATOR_PATHS_FOUND_WAYS_H

#include <stddef.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

#define FOUND_WAYS_AGAIN_NS (600 * RM_NS_PER_S)

struct found_ways;
struct path_table;

int found_ways_new(struct found_ways **ret);
void found_ways_free(struct found_ways *ways); /* NULL is fine */

/* Fills what is to be told now, at most max; it counts as told. RNICs and ports in out
 * are zero: only family and hops matter. What is for want of memory not remembered is
 * told again. */
size_t found_ways_next(struct found_ways *ways, const struct path_table *table,
    rm_mono_t now, struct wire_path *out, size_t max);
/* What was told did not arrive, or who heard it is gone. */
void found_ways_again(struct found_ways *ways);

#endif
