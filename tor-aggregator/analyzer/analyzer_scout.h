/*
 * analyzer_scout - tests whether an analyzer that is earlier in the list than the one
 * in use works again.
 *
 * It dials the earlier analyzers, one after another, and sends a hello. An analyzer
 * that answers with a welcome works. A connection alone is not enough, because the
 * kernel accepts connections even for a frozen process.
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
 * -ENOENT: before is 0. */
int analyzer_scout_new(struct rm_loop *loop,
    const struct analyzer_link_options *options, size_t before,
    struct analyzer_scout **ret);
void analyzer_scout_free(struct analyzer_scout *scout);

/* Sends the hello to an analyzer; analyzer_link uses it, too. -EACCES: the certificate
 * is not that of an analyzer of this region; that is logged. */
int analyzer_scout_hello(struct rm_link *link,
    const struct analyzer_link_options *options, struct wire_writer *writer);

/* Call it often. True: one of the analyzers has sent a welcome; free the scout. */
bool analyzer_scout_tick(struct analyzer_scout *scout, rm_mono_t now);

#endif
