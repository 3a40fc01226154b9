/*
 * nexus_list - combines the values of an answer of a Nexus with its last reading, in
 * time linear in the number of objects. Pure.
 */
#ifndef TOR_AGGREGATOR_SWITCH_NEXUS_LIST_H
#define TOR_AGGREGATOR_SWITCH_NEXUS_LIST_H

#include "rackmesh/core/error.h"

struct nexus_values; /* nexus.h */
struct switch_counts;
struct switch_list;

/* Makes the list of the reading. before: the list of the last reading; NULL: there is
 * none. counts: the counts of this reading are added; if it fails, without resets.
 * -EPROTO: the answer has no port, see *error; -ENOMEM. */
int nexus_list(const struct nexus_values *values, const struct switch_list *before,
    struct switch_counts *counts, struct switch_list **ret, struct rm_error *error);

#endif
