/*
 * analyzer_scout - while we are with a later analyzer of the list: does an earlier one
 * welcome us again?
 *
 * It dials those before ours in turn and says hello, and that is all: whoever answers
 * with a welcome is found. A connection alone proves nothing, for the kernel of a
 * frozen one accepts, too.
 */
#ifndef TOR_AGGREGATOR_ANALYZER_ANALYZER_SCOUT_H
#define TOR_AGGREGATOR_ANALYZER_ANALYZER_SCOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "rackmesh/core/clock.h"

struct analyzer_link_options;
struct analyzer_scout;
struct rm_link;
struct rm_loop;
struct wire_writer;

/* options: borrowed. before: how many of its list come before ours. -ENOENT: none. */
int analyzer_scout_new(struct rm_loop *loop,
    const struct analyzer_link_options *options, size_t before,
    struct analyzer_scout **ret);
void analyzer_scout_free(struct analyzer_scout *scout);

/* The first word to an analyzer, also of the link that stays. -EACCES: by its
 * certificate it is none of ours, which is said. */
int analyzer_scout_hello(struct rm_link *link,
    const struct analyzer_link_options *options, struct wire_writer *writer);

/* Often. True: one of them welcomed us, and the scout has done its work. */
bool analyzer_scout_tick(struct analyzer_scout *scout, rm_mono_t now);

#endif
