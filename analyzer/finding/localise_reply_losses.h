/*
 * localise_reply_losses - decides whether the losses of a link may be lost replies of
 * probes that crossed it. Pure. The replies of one flow take one path, which is not
 * known; the judge takes it for a share of all packets. If all replies of a flow cross
 * a part that loses packets, the flow loses more than that share, and the judge blames
 * a link that the flow crosses on its way out.
 */
#ifndef ANALYZER_FINDING_LOCALISE_REPLY_LOSSES_H
#define ANALYZER_FINDING_LOCALISE_REPLY_LOSSES_H

#include "analyzer/finding/localise_case.h"

/*
 * link: a blamed link. True: hardly any of its losses are known to have happened on the
 * way out, and other blamed parts would cause as many losses of unknown direction if
 * all replies to the probes over the link crossed them. Paths over the other blamed
 * parts are left out. A link with many paths is judged by a sample of them. False, too,
 * if memory has run out.
 */
bool localise_may_be_replies(struct localise_case *c, const struct localise_map *map,
    localise_seen *seen, const struct rm_explanation *explanation,
    const struct localise_suspect *link);

#endif
