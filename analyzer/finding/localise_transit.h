/*
 * localise_transit - finds transits. A transit is the packets that cross one switch
 * from one rack to another, which the judge can blame like a switch or link. Pure. A
 * wrong entry in the switch's tables loses all of them, and nothing else: a transit
 * that passes some packets is no suspect.
 */
#ifndef ANALYZER_FINDING_LOCALISE_TRANSIT_H
#define ANALYZER_FINDING_LOCALISE_TRANSIT_H

#include "analyzer/finding/localise_losses.h"

#define LOCALISE_NO_LOCAL UINT32_MAX

/* Returns the transit's index among the case's locals. LOCALISE_NO_LOCAL: none of its
 * packets is lost. */
uint32_t localise_transit(const struct localise_case *c,
    const struct localise_element *pair, const struct localise_element *node);

/* True: nearly all probes of the transit are lost. Call it when all losses are counted.
 */
bool localise_transit_takes_all(
    const struct localise_case *c, const struct localise_local *transit);
/* As localise_transit, but only if localise_transit_takes_all is true. */
uint32_t localise_transit_suspect(const struct localise_case *c,
    const struct localise_element *pair, const struct localise_element *node);

/* The share of the current paths from one of its racks to the other that cross the
 * switch. */
double localise_transit_share(
    const struct localise_case *c, const struct localise_local *transit);

#endif
