/*
 * localise_lossy_over - the listed paths that cross a suspect, one after the other.
 * Pure. In a large region most listed paths are elsewhere: then the paths of the
 * suspect are looked through, and not the list.
 */
#ifndef ANALYZER_FINDING_LOCALISE_LOSSY_OVER_H
#define ANALYZER_FINDING_LOCALISE_LOSSY_OVER_H

#include "analyzer/finding/localise_losses.h"

struct localise_lossy_over { /* where a walk is */
	const struct localise_map *map;
	const struct localise_suspect *suspect;
	size_t limit;
	bool by_list;
	size_t element, at;
};

/* Begins a walk over the first `limit` listed paths. The order is that of the list, or,
 * if the list is long, another one. */
struct localise_lossy_over localise_lossy_over(const struct localise_map *map,
    const struct localise_suspect *suspect, size_t limit);
/* The next path; NULL: there are no more. */
struct localise_path *localise_lossy_next(struct localise_lossy_over *over);

#endif
