/*
 * localise_lossy_over - returns the listed paths that cross a suspect, one after the
 * other. Pure. In a large region most listed paths do not cross the suspect: then the
 * paths of the suspect are read, instead of the list.
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

/* Begins a walk over the first `limit` listed paths. They are in the order of the list,
 * except if the list is long. */
struct localise_lossy_over localise_lossy_over(const struct localise_map *map,
    const struct localise_suspect *suspect, size_t limit);
/* The next path; NULL: there are no more. */
struct localise_path *localise_lossy_next(struct localise_lossy_over *over);

#endif
