/*
 * path_discovery - selects which paths out of a rack are reported to the controller.
 * Pure.
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

/* Writes the paths that must be reported now to out, at most max, and returns their
 * number; they count as reported. In out only family and hops are set; RNICs and ports
 * are 0. Without memory to store a path, it is reported again later. */
size_t path_discovery_next(struct path_discovery *discovery,
    const struct path_table *table, rm_mono_t now, struct wire_path *out, size_t max);
/* Makes all paths due again. Call it when the last report did not arrive, or the
 * controller has changed. */
void path_discovery_again(struct path_discovery *discovery);

#endif
