/*
 * planned_pairs - between which RNICs a plan has flows whose source ports are the
 * prober's own matter. Pure.
 *
 * On RoCE the plan's source ports are wishes: where a NIC makes them of its QPNs, the
 * prober's flows are others. Whatever goes between such a pair is as planned.
 */
#ifndef TOR_AGGREGATOR_PATHS_PLANNED_PAIRS_H
#define TOR_AGGREGATOR_PATHS_PLANNED_PAIRS_H

#include <stdbool.h>

#include "schemas/wire.h"

struct planned_pairs;

int planned_pairs_new(struct planned_pairs **ret);
void planned_pairs_free(struct planned_pairs *pairs); /* NULL is fine */

void planned_pairs_clear(struct planned_pairs *pairs);
/* -ENOMEM. Twice is once. */
int planned_pairs_add(
    struct planned_pairs *pairs, struct wire_rnic_id src, struct wire_rnic_id dst);
bool planned_pairs_has(const struct planned_pairs *pairs, struct wire_rnic_id src,
    struct wire_rnic_id dst);

#endif
