/*
 * analyzer_scout - while a later analyzer of the list is used, finds out whether an
 * earlier one works again.
 *
 * It dials the earlier ones in turn and sends a hello; one that answers with a welcome
 * works. A connection alone proves nothing, as the kernel of a frozen process accepts
 * it too.
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

/* options: borrowed. before: number of analyzers in the list before the one in use.
 * -ENOENT: none. */
int analyzer_scout_new(struct rm_loop *loop,
    const struct analyzer_link_options *options, size_t before,
    struct analyzer_scout **ret);
void analyzer_scout_free(struct analyzer_scout *scout);

/* Sends the hello to an analyzer, also on the main link. -EACCES: the certificate is
 * not that of an analyzer of this region, which is logged. */
int analyzer_scout_hello(struct rm_link *link,
    const struct analyzer_link_options *options, struct wire_writer *writer);

/* Call it often. True: one of them sent a welcome, and the scout is done. */
bool analyzer_scout_tick(struct analyzer_scout *scout, rm_mono_t now);

#endif
