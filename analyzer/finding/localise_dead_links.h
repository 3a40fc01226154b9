/*
 * localise_dead_links - decides whether several links of a switch or ToR are dead while
 * the switch itself works. Pure. A single dead switch is likelier than several dead
 * links. But a dead switch forwards nothing: packets that it has forwarded between its
 * other links since the losses began show that the links are dead.
 */
#ifndef ANALYZER_FINDING_LOCALISE_DEAD_LINKS_H
#define ANALYZER_FINDING_LOCALISE_DEAD_LINKS_H

#include "analyzer/finding/localise_losses.h"

/* Finds the dead links on the case's lossy paths, i.e. those that lose nearly all
 * probes, and the switches and ToRs with several of them. Call it when the lossy paths
 * are counted. Finds none if the case is not by_flow, or if it is slow or late. */
void localise_dead_links_find(struct localise_case *c);

/* node: a switch or ToR. True: at least two of its links are dead; nearly all losses
 * over the node are on paths over these links; and the node forwards packets on other
 * paths. Both directions of a cable count as one link. */
bool localise_dead_links_of(const struct localise_case *c,
    const struct localise_map *map, const struct localise_element *node);

/*
 * node: a switch or ToR. ret: room for so many links. Returns how many of its links,
 * each direction counts, are proven to be dead by the newest rows: they lose nearly all
 * probes that also cross another link of the node which passes packets, or that end at
 * the node. So the node forwards packets, and a link is not called dead because of
 * another dead link on its paths. If the map has more than 1000 lossy paths, the lossy
 * ones among a sample of 4096 of the node's paths count. Takes a new map->stamp: no
 * localise_case of the map can be used afterwards.
 */
size_t localise_dead_links_proven(struct localise_map *map,
    const struct localise_element *node, rm_mono_t now, struct localise_element **ret,
    size_t room);

/* True: nearly all recent losses over the node are on paths over these links of it. Of
 * many lossy paths a sample counts, and map->stamp is a new one, as above. */
bool localise_dead_links_explain(struct localise_map *map,
    const struct localise_element *node, rm_mono_t now,
    struct localise_element *const *links, size_t count);

/* True: the suspect is a dead link; another link is dead, too, at the switch or ToR at
 * one of its ends, or at both; and for each such switch or ToR localise_dead_links_of()
 * is true, so that it is not dead itself. */
bool localise_dead_links_alone(const struct localise_case *c,
    const struct localise_map *map, const struct localise_suspect *link);

#endif
