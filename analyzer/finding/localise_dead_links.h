/*
 * localise_dead_links - whether several links of a switch or ToR are dead, and not the
 * switch itself. Pure. A single dead switch is likelier than several dead links. But a
 * dead switch forwards nothing: packets that it has forwarded between its other links
 * since the losses began show that the links are dead.
 */
#ifndef ANALYZER_FINDING_LOCALISE_DEAD_LINKS_H
#define ANALYZER_FINDING_LOCALISE_DEAD_LINKS_H

#include "analyzer/finding/localise_case.h"

/*
 * node: a switch or ToR. True: at least two of its links lose everything, nearly all
 * losses over the node are on paths over these links, and the node forwards packets on
 * other paths. False also for a case with too many lossy paths, and for one that loses
 * single packets.
 */
bool localise_dead_links_of(const struct localise_case *c,
    const struct localise_map *map, const struct localise_element *node);

/* True: the suspect is a link that loses everything, and so does another link of a
 * switch at one of its ends; and each such switch forwards packets, so it is not dead.
 */
bool localise_dead_links_alone(const struct localise_case *c,
    const struct localise_map *map, const struct localise_suspect *link);

#endif
