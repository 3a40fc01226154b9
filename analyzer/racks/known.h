/*
 * known - the aggregators that have ever come, kept over a restart: who was taken down
 * while we were away has to be missed, too.
 *
 * One that nobody has heard for forget_ns was taken away.
 */
#ifndef ANALYZER_RACKS_KNOWN_H
#define ANALYZER_RACKS_KNOWN_H

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

/* What the file held. An entry that makes no sense is left out. Once, at the start. */
void known_load(struct known *known, rm_wall_t now, int64_t forget_ns);
/* It has come, or is still there. -ENOBUFS, -ENOMEM. */
int known_seen(struct known *known, const char *region, const char *name,
    char (*tors)[RM_NAME_BYTES], size_t tor_count, rm_wall_t now);
/* It is another analyzer's from now on. */
void known_left(struct known *known, const char *region, const char *name);
/* Writes what has changed, and lets go of whom nobody has heard for so long. */
void known_keep(struct known *known, rm_wall_t now, int64_t forget_ns);

size_t known_count(const struct known *known);
/* The i-th, in no order. */
const struct known_aggregator *known_get(const struct known *known, size_t i);

#endif
