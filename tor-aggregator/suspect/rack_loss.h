/*
 * rack_loss - what kind of loss it is that one RNIC is blamed for. Pure.
 *
 * Dead, unable to send, too small an MTU, or lossy; and which of its two ways loses,
 * from what the receivers counted.
 */
#ifndef TOR_AGGREGATOR_SUSPECT_RACK_LOSS_H
#define TOR_AGGREGATOR_SUSPECT_RACK_LOSS_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/judge/verdict.h"

struct rack_tally;

/* ln of a likelihood ratio: 1000 to 1 is sure. */
#define RACK_LOSS_SURE 6.9
#define RACK_LOSS_CERTAIN 14.0 /* no alternative was listed */

/* Of the newest two bins all is lost, but for a straggler, and much of the window, and
 * of its small ones. */
bool rack_loss_is_dead(const struct rack_tally *tally);

/* Or so much of them that it is dead for a moment: see rack_gaps. */
bool rack_loss_is_gap(const struct rack_tally *tally);

/* Which sides of a dead RNIC are dead; *behind: ln of how much less likely the next
 * best is, 0 if there is nothing to go by. */
enum rm_kind rack_loss_dead_kind(const struct rack_tally *tally, double *behind);

/* Nothing of its own leaves its host, and what others send it is answered. */
bool rack_loss_is_unable(const struct rack_tally *tally);

/* Nearly all large probes are lost, hardly any small one, and enough of both. */
bool rack_loss_is_mtu(const struct rack_tally *tally);

/* At least half of the large ones, hardly any small one: perhaps the first of an MTU.
 */
bool rack_loss_is_of_large(const struct rack_tally *tally);

/* A steady share, large enough for a window of a second. */
bool rack_loss_is_lossy(const struct rack_tally *tally);
/* What is lost beyond the rack is lost there, whoever else is blamed for it: at the
 * same rate it would lose as much inside, and does not. A switch that swallows flows
 * takes most of one RNIC's and none of its neighbour's at times. */
bool rack_loss_is_elsewhere(const struct rack_tally *tally);

/* Of what kind: of all its packets, for an MTU of the large ones. */
enum rm_direction rack_loss_direction(
    const struct rack_tally *tally, enum rm_kind kind);

#endif
