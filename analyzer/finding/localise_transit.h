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

/* Once all losses are counted. An entry of a switch's tables takes all that it is for:
 * what lets some through makes nobody suspect. */
bool localise_transit_takes_all(
    const struct localise_case *c, const struct localise_local *transit);
/* As localise_transit, if it takes all. */
uint32_t localise_transit_suspect(const struct localise_case *c,
    const struct localise_element *pair, const struct localise_element *node);

/* Of the ways between its racks that carry something now, so many cross it. */
double localise_transit_share(
    const struct localise_case *c, const struct localise_local *transit);

#endif
