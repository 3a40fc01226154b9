/*
 * localise_transit - what crosses one switch from one rack to another, as an element of
 * the judge's. Pure.
 */
#ifndef ANALYZER_FINDING_LOCALISE_TRANSIT_H
#define ANALYZER_FINDING_LOCALISE_TRANSIT_H

#include "analyzer/finding/localise_losses.h"

#define LOCALISE_NO_LOCAL UINT32_MAX

/* Its number among the case's locals; LOCALISE_NO_LOCAL: none of it was lost. */
uint32_t localise_transit(const struct localise_case *c,
    const struct localise_element *pair, const struct localise_element *node);

/* Called when all losses are counted. A wrong entry in a switch's tables loses all its
 * packets: a part that passes some is not suspected. */
bool localise_transit_takes_all(
    const struct localise_case *c, const struct localise_local *transit);
/* As localise_transit, if it takes all. */
uint32_t localise_transit_suspect(const struct localise_case *c,
    const struct localise_element *pair, const struct localise_element *node);

/* The number of paths between its racks that carry something now and cross it. */
double localise_transit_share(
    const struct localise_case *c, const struct localise_local *transit);

#endif
