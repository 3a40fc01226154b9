/*
 * rack_support - decides whether enough evidence supports the blame of one RNIC, even
 * if some agents report falsely. Pure.
 *
 * Losses of an RNIC show in its own probes and in those to it, and all its peers see
 * them. Fewer than a third of a rack's agents may report falsely: if its own probes are
 * answered, or if only few peers see the loss, the RNIC is not named.
 */
#ifndef TOR_AGGREGATOR_SUSPECT_RACK_SUPPORT_H
#define TOR_AGGREGATOR_SUSPECT_RACK_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>

struct rack_support;
struct rack_tally;
struct rack_view;

int rack_support_new(struct rack_support **ret);
void rack_support_free(struct rack_support *support);

/* False: there is too little evidence. *tally: of this member, without the reports
 * that others refute. Without memory no report is refuted. */
bool rack_support_holds(struct rack_support *support, const struct rack_view *view,
    size_t member, struct rack_tally *tally);

#endif
