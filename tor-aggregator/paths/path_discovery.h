/*
 * path_discovery - selects the paths out of a rack to report to the controller. Pure.
 *
 * Each distinct path is reported once when it is found, and again every
 * PATH_DISCOVERY_AGAIN_NS while it is still in use, so that the controller knows when
 * it was last seen. After a change of controllers all are reported again.
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
void path_discovery_free(struct path_discovery *discovery); /* NULL is allowed */

/* Fills the paths to report now, at most max; they count as reported. RNICs and ports
 * in out are zero: only family and hops matter. A path that could not be stored for
 * lack of memory is reported again. */
size_t path_discovery_next(struct path_discovery *discovery,
    const struct path_table *table, rm_mono_t now, struct wire_path *out, size_t max);
/* The last report was not received, or the controller changed: reports all again. */
void path_discovery_again(struct path_discovery *discovery);

#endif
