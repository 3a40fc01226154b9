/*
 * path_discovery - which ways out of a rack the controller has to be told of. Pure.
 *
 * Each distinct way once when it is found, and again every PATH_DISCOVERY_AGAIN_NS
 * while it is still taken, so that the controller knows when it was last seen. After
 * another controller has taken over, all of them again.
 */
#ifndef TOR_AGGREGATOR_PATHS_PATH_DISCOVERY_H
#define TOR_AGGREGATOR_PATHS_PATH_DISCOVERY_H

#include <stddef.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

#define PATH_DISCOVERY_AGAIN_NS (600 * RM_NS_PER_S)

struct path_discovery;
struct path_table;

int path_discovery_new(struct path_discovery **ret);
void path_discovery_free(struct path_discovery *discovery); /* NULL is fine */

/* Fills what is to be told now, at most max; it counts as told. RNICs and ports in out
 * are zero: only family and hops matter. What is for want of memory not remembered is
 * told again. */
size_t path_discovery_next(struct path_discovery *discovery,
    const struct path_table *table, rm_mono_t now, struct wire_path *out, size_t max);
/* What was told did not arrive, or who heard it is gone. */
void path_discovery_again(struct path_discovery *discovery);

#endif
