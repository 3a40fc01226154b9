/*
 * switch_exported - chooses the values of a switch that go to /metrics. Pure.
 *
 * Priority, queue and priority group with the same number form a class of their port.
 * Most classes of a switch have no traffic, but would be most of its series: a class in
 * which no counter was ever above 0 is left out. As soon as one of its values is above
 * 0, all are exported from then on, including zeros. Values of a whole port always are.
 *
 * The number of values of one switch is limited: ports first, then queues, then groups,
 * in the list's order.
 */
#ifndef TOR_AGGREGATOR_SWITCH_SWITCH_EXPORTED_H
#define TOR_AGGREGATOR_SWITCH_SWITCH_EXPORTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SWITCH_EXPORTED_MAX                                       \
	16384 /* values of one switch: enough for all of 64 ports \
	       */

struct switch_list;
struct switch_object;
struct switch_row;

struct switch_exported { /* number of values that were read */
	uint64_t exported;
	uint64_t unused; /* left out: of classes in which no counter was ever above 0 */
	uint64_t refused; /* left out: beyond the limit */
};

/* Sets it in the list's objects; call it when all are read. */
void switch_exported_choose(
    struct switch_list *list, uint64_t limit, struct switch_exported *ret);

/* For an object of the row's part. */
bool switch_is_exported(const struct switch_object *object,
    const struct switch_row *row, unsigned priority);

#endif
