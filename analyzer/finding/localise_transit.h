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

#endif
