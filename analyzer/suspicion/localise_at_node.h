/*
 * localise_at_node - finds the suspected and named parts on a path. Pure. A region may
 * have hundreds of such parts, and a judgement asks for many thousands of paths: the
 * parts are found by the switches and ToRs of the path.
 */
#ifndef ANALYZER_SUSPICION_LOCALISE_AT_NODE_H
#define ANALYZER_SUSPICION_LOCALISE_AT_NODE_H

#include "analyzer/suspicion/localise_standings.h"

/* Indexes all standings by their switches and ToRs. Only one localise_standings of a
 * map may be indexed. */
void localise_at_node_index(
    struct localise_standings *standings, struct localise_map *map);
/* Adds the newest of the standings to the index, if there is an index. */
void localise_at_node_add(
    struct localise_standings *standings, const struct localise_map *map);
/* Call it if a standing is removed: until the next call of localise_at_node_index, all
 * standings are searched. */
void localise_at_node_forget(struct localise_standings *standings);

/* True: `on` is true for some standing. `on` must be false for a part that is not on
 * the path, because it is not called for all such parts. */
bool localise_at_node_any(const struct localise_standings *standings,
    const struct localise_path *path,
    bool (*on)(
	const struct localise_standing *s, const struct localise_path *path, void *arg),
    void *arg);
/* False: no standing has a part that is found at this switch or ToR. */
bool localise_at_node_some(
    const struct localise_standings *standings, const struct localise_element *node);

#endif
