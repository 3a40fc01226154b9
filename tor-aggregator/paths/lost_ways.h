/*
 * lost_ways - on which leg probes were lost, by what their responders counted. Pure.
 *
 * Each answer says how many probes of this prober and class its responder has received.
 * Between two answers, what was sent and not received was lost on the way out. If that
 * is none of the losses, all were lost on the way back; if it is all, none was; what
 * is mixed, or has no second answer yet, stays unknown.
 */
#ifndef TOR_AGGREGATOR_PATHS_LOST_WAYS_H
#define TOR_AGGREGATOR_PATHS_LOST_WAYS_H

#include <stddef.h>
#include <stdint.h>

struct flow_second;
struct lost_ways;

int lost_ways_new(size_t max_pairs, struct lost_ways **ret);
void lost_ways_free(struct lost_ways *ways);

/* One second after another: sets .way of every flow. */
void lost_ways_fold(struct lost_ways *ways, struct flow_second *second);

/* RNICs were renumbered, or a second is missing: counts start afresh. */
void lost_ways_forget(struct lost_ways *ways);

#endif
