/*
 * planned_pairs - the pairs of RNICs with planned flows over RoCE. Pure. There the
 * source ports in the plan are only requests: a NIC that derives the ports from its
 * QPNs uses others. Therefore each flow between such a pair counts as planned.
 */
#ifndef TOR_AGGREGATOR_PATHS_PLANNED_PAIRS_H
#define TOR_AGGREGATOR_PATHS_PLANNED_PAIRS_H

#include <stdbool.h>

#include "schemas/wire.h"

struct planned_pairs;

int planned_pairs_new(struct planned_pairs **ret);
void planned_pairs_free(struct planned_pairs *pairs); /* NULL is allowed */

void planned_pairs_clear(struct planned_pairs *pairs);
/* Adds a pair, if it is not there already. -ENOMEM. */
int planned_pairs_add(
    struct planned_pairs *pairs, struct wire_rnic_id src, struct wire_rnic_id dst);
bool planned_pairs_has(const struct planned_pairs *pairs, struct wire_rnic_id src,
    struct wire_rnic_id dst);

#endif
