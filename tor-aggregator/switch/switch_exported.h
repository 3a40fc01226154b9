/*
 * switch_exported - chooses the values of a switch that /metrics shows. Pure.
 *
 * The priority, the queue and the priority group with the same number are one class of
 * a port. Most classes have no traffic, but would be most of the time series. Therefore
 * a class is left out until one of its counters is above 0; from then on all values of
 * the class are exported, including zeros. Values of a port as a whole are always
 * exported.
 *
 * The number of exported values of a switch is limited. Ports have priority, then
 * queues, then groups, in the order of the list.
 */
#ifndef TOR_AGGREGATOR_SWITCH_SWITCH_EXPORTED_H
#define TOR_AGGREGATOR_SWITCH_SWITCH_EXPORTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Values of one switch: enough for 64 ports with all their classes. */
#define SWITCH_EXPORTED_MAX 16384

struct switch_list;
struct switch_object;
struct switch_row;

struct switch_exported { /* numbers of values that were read */
	uint64_t exported;
	/* not exported: in classes whose counters were never above 0 */
	uint64_t unused;
	uint64_t refused; /* not exported: beyond the limit */
};

/* Sets the members exported, exported_priorities and used of the list's objects. Call
 * it when all values are read. limit: SWITCH_EXPORTED_MAX, or less in tests. */
void switch_exported_choose(
    struct switch_list *list, uint64_t limit, struct switch_exported *ret);

/* True: this value is exported. The object must belong to the part of the row. */
bool switch_is_exported(const struct switch_object *object,
    const struct switch_row *row, unsigned priority);

#endif
