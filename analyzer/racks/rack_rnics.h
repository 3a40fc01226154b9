/*
 * rack_rnics - which aggregator told last of which RNIC; a part of racks. Pure.
 */
#ifndef ANALYZER_RACKS_RACK_RNICS_H
#define ANALYZER_RACKS_RACK_RNICS_H

#include "analyzer/racks/racks.h"

struct rack_rnics;

/* counts: of the racks; borrowed. NULL: out of memory. */
struct rack_rnics *rack_rnics_new(struct racks_counts *counts);
void rack_rnics_free(struct rack_rnics *rnics);

/* The summary's names are valid, the row's need not be. */
void rack_rnics_take(struct rack_rnics *rnics, const struct wire_summary *summary,
    const struct wire_rnic_row *row, rm_mono_t now);
void rack_rnics_expire(struct rack_rnics *rnics, rm_mono_t now, int64_t forget_ns);
const struct rack_rnic *rack_rnics_find(
    const struct rack_rnics *rnics, const char *text);

#endif
