/*
 * planned_pairs - the pairs of RNICs with planned flows whose source ports the prober
 * chooses. Pure. On RoCE the plan's source ports are only requests: a NIC that derives
 * them from its QPNs uses others. Any flow between such a pair counts as planned.
 */
#ifndef TOR_AGGREGATOR_PATHS_PLANNED_PAIRS_H
#define TOR_AGGREGATOR_PATHS_PLANNED_PAIRS_H

#include <stdbool.h>

#include "schemas/wire.h"

struct planned_pairs;

int planned_pairs_new(struct planned_pairs **ret);
void planned_pairs_free(struct planned_pairs *pairs); /* NULL is allowed */

void planned_pairs_clear(struct planned_pairs *pairs);
/* -ENOMEM. Adding a pair again changes nothing. */
int planned_pairs_add(
    struct planned_pairs *pairs, struct wire_rnic_id src, struct wire_rnic_id dst);
bool planned_pairs_has(const struct planned_pairs *pairs, struct wire_rnic_id src,
    struct wire_rnic_id dst);

#endif
