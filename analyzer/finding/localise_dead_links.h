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
 * node: a switch or ToR. True: at least two of its links are dead, i.e. lose nearly all
 * probes; nearly all losses over the node are on paths over these links; and the node
 * forwards packets on other paths. Both directions of a cable count as one link. False
 * also if the case has more than 1000 lossy paths, if it is not by_flow, or if it is
 * slow or late.
 */
bool localise_dead_links_of(const struct localise_case *c,
    const struct localise_map *map, const struct localise_element *node);

/* True: the suspect is a dead link; another link is dead, too, at the switch or ToR at
 * one of its ends, or at both; and for each such switch or ToR localise_dead_links_of()
 * is true, so that it is not dead itself. */
bool localise_dead_links_alone(const struct localise_case *c,
    const struct localise_map *map, const struct localise_suspect *link);

#endif
