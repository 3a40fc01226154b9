/*
 * rack_loss - decides the kind of loss that one RNIC is blamed for. Pure.
 *
 * The kinds are: dead, unable to send, too small an MTU, lossy. The receive counts show
 * the direction of the loss.
 */
#ifndef TOR_AGGREGATOR_SUSPECT_RACK_LOSS_H
#define TOR_AGGREGATOR_SUSPECT_RACK_LOSS_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/judge/verdict.h"

struct rack_tally;

/* The ln of a likelihood ratio: 1000 to 1 counts as sure. */
#define RACK_LOSS_SURE 6.9
/* the value that is used if no alternative was listed */
#define RACK_LOSS_CERTAIN 14.0

/* True: at least 95 % of the probes in the newest two bins (the newest half of the
 * window) are lost, and there are at least 4 of these; in the whole window, at least 4
 * probes are lost, and 25 % of the small ones; and at least 45 % of all probes in the
 * window are lost or could not be sent. */
bool rack_loss_is_dead(const struct rack_tally *tally);

/* True: so many probes in the newest two bins are lost that the RNIC was dead for about
 * half a second: see rack_gaps. */
bool rack_loss_is_gap(const struct rack_tally *tally);

/* Decides which directions of a dead RNIC are dead. *behind: ln of how much less likely
 * the next best kind is; 0: there is no evidence. */
enum rm_kind rack_loss_dead_kind(const struct rack_tally *tally, double *behind);

/* True: the member's host can send none of its probes, while the RNIC answers the
 * probes of others. */
bool rack_loss_is_unable(const struct rack_tally *tally);

/* True: at least 90 % of the large probes are lost, at most 10 % of the small ones, and
 * there are enough of both. */
bool rack_loss_is_mtu(const struct rack_tally *tally);

/* True: at least 45 % of the large probes are lost, and at most 10 % of the small ones:
 * this may be the first window with a too small MTU. */
bool rack_loss_is_of_large(const struct rack_tally *tally);

/* True: a steady share is lost in both halves of the window, large enough to be judged
 * from a second. */
bool rack_loss_is_lossy(const struct rack_tally *tally);
/* True: the packets are lost outside of the rack, even if the RNIC is blamed: with a
 * fault of the RNIC, probes inside the rack would be lost at the same rate, and they
 * are not. A switch that drops flows may drop most flows of one RNIC, and none of
 * another RNIC in its rack. If most probes inside were sent by stalled hosts, some of
 * them must be lost: such hosts send too few for the lack of losses to be certain.
 * False if no probe was sent inside: see rack_loss_has_no_witness. */
bool rack_loss_is_elsewhere(const struct rack_tally *tally);
/* True: its peers are stalled, and none of the probes that they sent to it shows that
 * the losses are those of this RNIC. This delays a new verdict, and ends none: as long
 * as peers are stalled, nothing shows that a named RNIC works again. */
bool rack_loss_has_no_witness(const struct rack_tally *tally);

/* Returns the direction in which packets are lost. kind: with RM_KIND_RNIC_MTU, only
 * the large packets count. */
enum rm_direction rack_loss_direction(
    const struct rack_tally *tally, enum rm_kind kind);

#endif
