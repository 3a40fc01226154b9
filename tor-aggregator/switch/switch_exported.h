/*
 * switch_exported - which of a switch's values go to /metrics. Pure.
 *
 * Priority, queue and priority group of one number are a class of their port. Most
 * classes of a switch carry nothing, and would be most of its series: of a class in
 * which nothing was ever above 0 no value is told. As soon as one of its values is, all
 * are told, zeros as well, from then on. Values of a port as a whole always are.
 *
 * Of one switch no more than a limit is told: ports first, then queues, then groups,
 * in the list's order.
 */
#ifndef TOR_AGGREGATOR_SWITCH_SWITCH_EXPORTED_H
#define TOR_AGGREGATOR_SWITCH_SWITCH_EXPORTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SWITCH_EXPORTED_MAX 16384 /* values of one switch: of 64 ports all */

struct switch_list;
struct switch_object;
struct switch_row;

struct switch_exported { /* values that were read */
	uint64_t exported;
	uint64_t unused;  /* of classes in which nothing was ever above 0 */
	uint64_t refused; /* beyond the limit */
};

/* Sets it in the list's objects, once all are read. */
void switch_exported_choose(
    struct switch_list *list, uint64_t limit, struct switch_exported *ret);

/* Of an object with a row's part. */
bool switch_is_exported(const struct switch_object *object,
    const struct switch_row *row, unsigned priority);

#endif
