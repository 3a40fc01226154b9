/*
 * kept_ports - saves how often the ports of a rack went down, over a restart. Pure.
 * Without it a port that goes down every few minutes would have to go down three times
 * after each restart before it is reported as flapping again.
 */
#ifndef TOR_AGGREGATOR_RACK_KEPT_PORTS_H
#define TOR_AGGREGATOR_RACK_KEPT_PORTS_H

#include <jansson.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/core/error.h"

struct rack_judge;

/* New reference; NULL: memory. */
json_t *kept_ports_save(const struct rack_judge *judge, rm_mono_t now, rm_wall_t wall);

/* The bytes are not trusted, everything is checked; invalid items are left out, and
 * the first of them is named in error. Link-downs too long ago are left out too.
 * NULL as list: the file is from an older release. */
void kept_ports_restore(struct rack_judge *judge, const json_t *list, rm_mono_t now,
    rm_wall_t wall, struct rm_error *error);

#endif
