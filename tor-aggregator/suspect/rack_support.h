/*
 * rack_support - decides whether there is enough evidence to name an RNIC, even if some
 * agents report falsely. Pure.
 *
 * If an RNIC loses packets, probes that it sends and probes to it are lost, with all
 * its peers. Fewer than a third of a rack's agents may report falsely: if the RNIC's
 * own probes are answered, or if only few peers report losses, the RNIC is not named.
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

/* True: there is enough evidence against the member. *tally: the tally of this member;
 * reports that are refuted by others are subtracted from it. If there is no memory,
 * none is refuted. */
bool rack_support_holds(struct rack_support *support, const struct rack_view *view,
    size_t member, struct rack_tally *tally);

#endif
