/*
 * localise_tor_or_links - decides whether a ToR, or one or two of its links, lose a
 * share of the probes, by the losses of each flow. Pure.
 *
 * A ToR loses the same share of every flow. A link loses packets of the flows that
 * cross it, and the replies of some other flows, whose return path is not known: each
 * flow with a path of its own either loses packets on its return path or does not. The
 * judge takes the return path as a share of all packets, so it cannot distinguish the
 * two.
 */
#ifndef ANALYZER_FINDING_LOCALISE_TOR_OR_LINKS_H
#define ANALYZER_FINDING_LOCALISE_TOR_OR_LINKS_H

#include "analyzer/finding/localise_case.h"

/* True: the suspect is a link, in one direction or both, that ends at the node. */
bool localise_is_link_of(
    const struct localise_suspect *suspect, const struct localise_element *node);

/*
 * tor: a suspect ToR. Paths over blamed parts of the explanation are left out, except
 * those over the ToR's own links. Returns ln of how much likelier the losses are if the
 * ToR is at fault than if its likeliest link is, or its two likeliest links are; a
 * second link costs its prior. INFINITY: none of the ToR's links is a suspect. Only the
 * few links with the most losses are tried, and a ToR with many paths is judged by a
 * sample of them.
 */
double localise_tor_or_links(const struct localise_case *c,
    const struct localise_map *map, localise_seen *seen,
    const struct rm_explanation *explanation, const struct localise_suspect *tor);

#endif
