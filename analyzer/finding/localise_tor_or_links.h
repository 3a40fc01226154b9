/*
 * localise_switch_or_links - decides whether a switch or ToR, or one or two of its
 * links, lose a share of the probes, by the losses of each flow. Pure.
 *
 * A switch loses the same share of every flow. A link loses packets of the flows that
 * cross it, and the replies of some other flows, whose way back is not known: each flow
 * with a path of its own either loses on its way back or does not. The judge takes the
 * way back as a share of all packets, so that it takes the losses of links for those
 * of the switch if switches hash both directions of a flow differently.
 */
#ifndef ANALYZER_FINDING_LOCALISE_SWITCH_OR_LINKS_H
#define ANALYZER_FINDING_LOCALISE_SWITCH_OR_LINKS_H

#include "analyzer/finding/localise_case.h"

/*
 * node: a blamed switch or ToR. Paths over the other blamed parts of the explanation
 * are left out. Returns ln of how much likelier the losses are if the node is at fault
 * than if its likeliest link is, or its two likeliest links are; a second link costs
 * its prior. *link: the likeliest link; NULL: none of the node's links is a suspect,
 * and the result is INFINITY. Only the few links with the most losses are tried, and a
 * node with many paths is judged by a sample of them.
 */
double localise_switch_or_links(const struct localise_case *c,
    const struct localise_map *map, localise_seen *seen,
    const struct rm_explanation *explanation, const struct localise_suspect *node,
    const struct localise_suspect **link);

#endif
