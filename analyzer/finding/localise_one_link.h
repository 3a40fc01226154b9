/*
 * localise_one_link - decides whether one link of a blamed switch or ToR causes its
 * losses. Pure. Paths of replies are known only by shares. Therefore, over minutes, a
 * switch explains the losses of one of its links as well as the link, or better. But if
 * the link is at fault, no packet is lost on the switch's paths that avoid the link.
 */
#ifndef ANALYZER_FINDING_LOCALISE_ONE_LINK_H
#define ANALYZER_FINDING_LOCALISE_ONE_LINK_H

#include "analyzer/finding/localise_case.h"

/*
 * node: a blamed switch or ToR. Returns the suspect of the one link over which all, or
 * nearly all, of its lost probes went; NULL: there is no such link. *sure: if the node
 * were at fault, its other paths would have lost probes, too; otherwise too few probes
 * were sent over them to decide. A node with many paths is judged by a sample of them.
 */
const struct localise_suspect *localise_one_link(const struct localise_case *c,
    const struct localise_map *map, localise_seen *seen,
    const struct localise_suspect *node, bool *sure);

#endif
