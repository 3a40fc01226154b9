/*
 * localise_one_link - whether what a switch or ToR is blamed for has happened on one of
 * its links. Pure.
 *
 * The ways that replies took are known by their shares alone, and over minutes a switch
 * so explains what one of its links loses as well as the link does, or better. But no
 * packet is lost on those of its ways that avoid the link.
 */
#ifndef ANALYZER_FINDING_LOCALISE_ONE_LINK_H
#define ANALYZER_FINDING_LOCALISE_ONE_LINK_H

#include "analyzer/finding/localise_case.h"

/*
 * node: a switch or ToR that is blamed. The suspect of the case that is the one link of
 * it over which it lost all, or nearly all, of the probes on their way out; NULL: there
 * is no such link. *sure: its other ways would have lost some at the link's rate; else
 * too little was sent over them to tell the two apart. Of a node with many ways some
 * stand for all.
 */
const struct localise_suspect *localise_one_link(const struct localise_case *c,
    const struct localise_map *map, localise_seen *seen,
    const struct localise_suspect *node, bool *sure);

#endif
