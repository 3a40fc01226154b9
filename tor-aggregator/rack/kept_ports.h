/*
 * kept_ports - how often the ports of a rack fell, kept over a restart. Pure.
 *
 * Without it a port that falls every few minutes would have to fall three times more
 * after each restart before it is called flapping again.
 */
#ifndef TOR_AGGREGATOR_RACK_KEPT_PORTS_H
#define TOR_AGGREGATOR_RACK_KEPT_PORTS_H

#include <jansson.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/core/error.h"

struct rack_judge;

/* New reference; NULL: memory. */
json_t *kept_ports_save(const struct rack_judge *judge, rm_mono_t now, rm_wall_t wall);

/* Foreign bytes: everything is checked; what is not usable is left out, and the first
 * of it is in error. So are falls that are too long ago. NULL as list: an older life's,
 * it knows of none. */
void kept_ports_restore(struct rack_judge *judge, const json_t *list, rm_mono_t now,
    rm_wall_t wall, struct rm_error *error);

#endif
