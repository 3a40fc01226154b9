/* kept_ports - saves the link-downs of a rack's ports over a restart. Pure. Without the
 * saved link-downs, a port that goes down every few minutes would be reported as
 * flapping only after three more link-downs. */
#ifndef TOR_AGGREGATOR_RACK_KEPT_PORTS_H
#define TOR_AGGREGATOR_RACK_KEPT_PORTS_H

#include <jansson.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/core/error.h"

struct rack_judge;

/* The link-downs as JSON; the caller owns the reference. NULL: out of memory. */
json_t *kept_ports_save(const struct rack_judge *judge, rm_mono_t now, rm_wall_t wall);

/* Restores link-downs. The list is not trusted: invalid items are ignored, and *error
 * names the first of them. Old link-downs are ignored, too. list NULL: the file is from
 * an older release, and has none. */
void kept_ports_restore(struct rack_judge *judge, const json_t *list, rm_mono_t now,
    rm_wall_t wall, struct rm_error *error);

#endif
