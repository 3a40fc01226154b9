/*
 * localise_tor_or_link - decides whether a ToR or one of its links loses a share of the
 * probes, by the losses of each flow. Pure.
 *
 * A ToR loses the same share of every flow. A link loses packets of the flows that
 * cross it, and the replies of some other flows, whose way back is not known: each flow
 * with a path of its own either loses on its way back or does not. The judge takes the
 * way back as a share of all packets, so that it takes the losses of a link for those
 * of the ToR if switches hash both directions of a flow differently.
 */
#ifndef ANALYZER_FINDING_LOCALISE_TOR_OR_LINK_H
#define ANALYZER_FINDING_LOCALISE_TOR_OR_LINK_H

#include "analyzer/finding/localise_case.h"

/*
 * tor: a blamed ToR. Paths over the other blamed parts of the explanation are left out.
 * Returns ln of how much likelier the losses are if the ToR is at fault than if its
 * likeliest link is, 0 if there are no losses. *link: that link; NULL: none of the
 * ToR's links is a suspect, and the result is INFINITY. A ToR with many paths is judged
 * by a sample of them.
 */
double localise_tor_or_link(const struct localise_case *c,
    const struct localise_map *map, localise_seen *seen,
    const struct rm_explanation *explanation, const struct localise_suspect *tor,
    const struct localise_suspect **link);

#endif
