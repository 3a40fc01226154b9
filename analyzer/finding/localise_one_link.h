/*
 * localise_one_link - whether the losses of a blamed switch or ToR are those of one of
 * its links. Pure. Paths of replies are only known by shares, and over minutes a switch
 * therefore explains the losses of one of its links as well as the link, or better. But
 * no packet is lost on those of the switch's paths that avoid the link.
 */
#ifndef ANALYZER_FINDING_LOCALISE_ONE_LINK_H
#define ANALYZER_FINDING_LOCALISE_ONE_LINK_H

#include "analyzer/finding/localise_case.h"

/*
 * node: a blamed switch or ToR. Returns the suspect that is the one link over which it
 * lost all, or nearly all, of the probes on their way out; NULL: there is no such link.
 * *sure: its other paths would have lost some at the link's rate; otherwise too little
 * was sent over them to decide. For a node with many paths some represent all.
 */
const struct localise_suspect *localise_one_link(const struct localise_case *c,
    const struct localise_map *map, localise_seen *seen,
    const struct localise_suspect *node, bool *sure);

#endif
