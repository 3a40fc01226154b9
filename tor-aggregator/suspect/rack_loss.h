/*
 * rack_loss - decides the kind of loss that one RNIC is blamed for. Pure.
 *
 * Dead, unable to send, too small an MTU, or lossy; and the direction with the loss, by
 * the receivers' counts.
 */
#ifndef TOR_AGGREGATOR_SUSPECT_RACK_LOSS_H
#define TOR_AGGREGATOR_SUSPECT_RACK_LOSS_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/judge/verdict.h"

struct rack_tally;

/* The ln of a likelihood ratio: 1000 to 1 counts as sure. */
#define RACK_LOSS_SURE 6.9
#define RACK_LOSS_CERTAIN 14.0 /* no alternative was listed */

/* True: all of the newest two bins is lost, except one straggler, and a large share
 * of the window, and of its small probes. */
bool rack_loss_is_dead(const struct rack_tally *tally);

/* True: so much of them is lost that it was dead for a moment: see rack_gaps. */
bool rack_loss_is_gap(const struct rack_tally *tally);

/* Which sides of a dead RNIC are dead; *behind: ln of how much less likely the next
 * best is, 0 if there is no evidence. */
enum rm_kind rack_loss_dead_kind(const struct rack_tally *tally, double *behind);

/* True: none of its own probes leaves its host, while probes of others to it are
 * answered. */
bool rack_loss_is_unable(const struct rack_tally *tally);

/* True: nearly all large probes are lost, hardly any small one, and there are enough
 * of both. */
bool rack_loss_is_mtu(const struct rack_tally *tally);

/* True: at least half of the large probes are lost, hardly any small one: perhaps
 * the start of an MTU fault. */
bool rack_loss_is_of_large(const struct rack_tally *tally);

/* True: a steady share is lost, large enough for a window of a second. */
bool rack_loss_is_lossy(const struct rack_tally *tally);
/* True: the packets are lost outside of the rack, whatever else is blamed: at the
 * same rate the RNIC would lose as many inside, and does not. A switch that drops
 * flows may drop most flows of one RNIC and none of its neighbour's. */
bool rack_loss_is_elsewhere(const struct rack_tally *tally);

/* kind: for an MTU only the large packets count, else all. */
enum rm_direction rack_loss_direction(
    const struct rack_tally *tally, enum rm_kind kind);

#endif
