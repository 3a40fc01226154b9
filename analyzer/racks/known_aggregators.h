/*
 * known_aggregators - the aggregators that ever connected, saved over a restart, so
 * that the absence of one that ended while the analyzer was down is reported too. One
 * that was silent for forget_ns was removed on purpose, and is dropped.
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
	rm_wall_t last_seen; /* to the hour */
};

/* path: of the file, copied; "": nothing is kept. */
int known_new(struct rm_worker *worker, const char *path, struct known **ret);
void known_free(struct known *known); /* after the worker */

/* Takes the file's contents, once, at the start. Invalid entries are left out. */
void known_load(struct known *known, rm_wall_t now, int64_t forget_ns);
/* It has connected, or is still connected. -ENOBUFS, -ENOMEM. */
int known_seen(struct known *known, const char *region, const char *name,
    char (*tors)[RM_NAME_BYTES], size_t tor_count, rm_wall_t now);
/* It belongs to another analyzer from now on. */
void known_left(struct known *known, const char *region, const char *name);
/* Writes changes, and drops those that were silent for forget_ns. */
void known_keep(struct known *known, rm_wall_t now, int64_t forget_ns);

size_t known_count(const struct known *known);
/* The i-th, in no order. */
const struct known_aggregator *known_get(const struct known *known, size_t i);

#endif
