/*
 * rack_support - whether enough speaks for the blame of one RNIC, whoever lies. Pure.
 *
 * What an RNIC loses is lost of its own probes and of those to it, and all its peers
 * see it. Less than a third of a rack's agents may say what is not so: where its own
 * probes are answered, or where few peers see it alone, it is not named.
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

/* False: too little speaks for it. *tally: of this member, without what those said that
 * the others refute. Without memory nothing is refuted. */
bool rack_support_holds(struct rack_support *support, const struct rack_view *view,
    size_t member, struct rack_tally *tally);

#endif
