/*
 * loss_directions - finds the direction in which probes were lost, from their
 * responders' receive counts. Pure.
 *
 * Each answer says how many probes of this prober and class its responder has received.
 * Between two answers, what was sent and not received was lost on the way out. If that
 * is none of the losses, all were lost on the way back; if it is all of them, none was;
 * if it is some, or there is no second answer yet, the direction is unknown.
 */
#ifndef TOR_AGGREGATOR_PATHS_LOSS_DIRECTIONS_H
#define TOR_AGGREGATOR_PATHS_LOSS_DIRECTIONS_H

#include <stddef.h>
#include <stdint.h>

struct flow_second;
struct loss_directions;

int loss_directions_new(size_t max_pairs, struct loss_directions **ret);
void loss_directions_free(struct loss_directions *directions);

/* One second after another: sets .way of every flow. */
void loss_directions_fold(
    struct loss_directions *directions, struct flow_second *second);

/* RNICs were renumbered, or a second is missing: counts start anew. */
void loss_directions_forget(struct loss_directions *directions);

#endif
