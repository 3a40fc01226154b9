/*
 * known_aggregators - the aggregators that have ever connected, saved over a restart.
 * So an aggregator that ended while the analyzer was down is reported as missing, too.
 * An aggregator that was silent for forget_ns counts as removed by an operator, and is
 * deleted.
 */
#ifndef ANALYZER_RACKS_KNOWN_AGGREGATORS_H
#define ANALYZER_RACKS_KNOWN_AGGREGATORS_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/core/error.h"
#include "rackmesh/judge/part.h"
#include "schemas/wire.h"

#define KNOWN_MAX 16384

struct known;
struct rm_worker;

struct known_aggregator {
	char region[RM_NAME_BYTES], name[RM_NAME_BYTES];
	char (*tors)[RM_NAME_BYTES];
	size_t tor_count;
	rm_wall_t last_seen; /* precise to an hour */
};

/* path: path of the file, copied; "": nothing is saved. */
int known_new(struct rm_worker *worker, const char *path, struct known **ret);
void known_free(struct known *known); /* free the worker first */

/* Reads the file; call it once, at the start. Invalid entries are ignored. */
void known_load(struct known *known, rm_wall_t now, int64_t forget_ns);
/* Call it when an aggregator has connected, or is still connected. -ENOBUFS: the list
 * is full; -ENOMEM. */
int known_seen(struct known *known, const char *region, const char *name,
    char (*tors)[RM_NAME_BYTES], size_t tor_count, rm_wall_t now);
/* Deletes an aggregator, because it has gone to another analyzer. */
void known_left(struct known *known, const char *region, const char *name);
/* Saves changes, and deletes aggregators that were silent for forget_ns. */
void known_keep(struct known *known, rm_wall_t now, int64_t forget_ns);

size_t known_count(const struct known *known);
/* Returns aggregator number i; the order is not defined. */
const struct known_aggregator *known_get(const struct known *known, size_t i);

#endif
