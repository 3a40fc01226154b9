/*
 * loss_directions - finds the direction in which probes were lost, from their
 * responders' receive counts. Pure.
 *
 * Each answer contains the number of probes of this prober and class that its responder
 * has received. Probes sent between two answers that the responder did not count were
 * lost on the way out. If none of the losses is of that kind, all were lost on the way
 * back; if all are, none was; if some are, or there is no second answer yet, the
 * direction is unknown. A flow that lost after the newest answer alone has no known
 * direction either, whatever other flows of the same two RNICs lost; nor has any flow
 * of two RNICs of which one path is slow: answers then overtake probes.
 */
#ifndef TOR_AGGREGATOR_PATHS_LOSS_DIRECTIONS_H
#define TOR_AGGREGATOR_PATHS_LOSS_DIRECTIONS_H

#include <stddef.h>
#include <stdint.h>

struct flow_second;
struct loss_directions;

int loss_directions_new(size_t max_pairs, struct loss_directions **ret);
void loss_directions_free(struct loss_directions *directions);

/* Call it for each second in turn: sets the direction of every flow. */
void loss_directions_fold(
    struct loss_directions *directions, struct flow_second *second);

/* RNICs were renumbered, or a second is missing: counts start anew. */
void loss_directions_forget(struct loss_directions *directions);

#endif
