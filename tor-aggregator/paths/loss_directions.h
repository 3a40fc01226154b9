/*
 * loss_directions - finds in which direction probes were lost, by the receive counts of
 * responders. Pure.
 *
 * Each answer contains the number of probes that its responder has received from this
 * prober in this class. If the responder did not count a probe that was sent between
 * two answers, the probe was lost in the forward direction. So the losses between two
 * answers are all forward if the responder counted none of them, and all reverse if it
 * counted all of them. If it counted some of them, or if there is no second answer yet,
 * the direction is unknown. It is also unknown for a flow whose losses are all later
 * than the newest answer, even if other flows of the same two RNICs have losses with a
 * known direction; and for all flows of two RNICs if one of their paths is slow,
 * because then answers overtake probes, or if the counts and the send times of the
 * answers are not in the same order.
 */
#ifndef TOR_AGGREGATOR_PATHS_LOSS_DIRECTIONS_H
#define TOR_AGGREGATOR_PATHS_LOSS_DIRECTIONS_H

#include <stddef.h>
#include <stdint.h>

struct flow_second;
struct loss_directions;

int loss_directions_new(size_t max_pairs, struct loss_directions **ret);
void loss_directions_free(struct loss_directions *directions);

/* Sets the direction of each flow. Call it for each second, in order. */
void loss_directions_fold(
    struct loss_directions *directions, struct flow_second *second);

/* Deletes all counts. Call it when RNICs were renumbered, or a second is missing. */
void loss_directions_forget(struct loss_directions *directions);

#endif
