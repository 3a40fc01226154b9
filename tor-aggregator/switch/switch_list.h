/*
 * switch_list - the ports, queues and priority groups of one switch, with their
 * counters. Pure.
 *
 * A new list is made at each reading: all objects are added, then it is closed, which
 * sorts them and takes over the totals of the same objects in the list before. An
 * object that is missing for some readings is remembered, so that its totals continue
 * when it is back.
 */
#ifndef TOR_AGGREGATOR_SWITCH_SWITCH_LIST_H
#define TOR_AGGREGATOR_SWITCH_SWITCH_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/metrics/counter_delta.h"
#include "tor-aggregator/switch/switch_table.h"

#define SWITCH_PORT_BYTES 32
#define SWITCH_ID_BYTES 40
#define SWITCH_MAX_OBJECTS 16384
#define SWITCH_MAX_PORTS                                             \
	1024 /* number of ports: a port has six times as many values \
	      */
#define SWITCH_AWAY_READINGS                                    \
	60 /* readings for which a missing object is remembered \
	    */

struct switch_object {
	enum switch_part part;
	uint16_t index;               /* of the queue or group; 0 for a port */
	char port[SWITCH_PORT_BYTES]; /* as named by the switch */
	char id[SWITCH_ID_BYTES];     /* the switch's own id, in this reading */
	uint8_t away;                 /* readings in a row without it */
	uint64_t used; /* see switch_exported.h; for a port a bit per class */
	bool exported;
	uint8_t exported_priorities;  /* bits; for a port */
	struct counter_state *states; /* switch_values(part) of them */
};

struct switch_counts {         /* sums over all readings */
	uint64_t parse_errors; /* values and objects that could not be parsed */
	uint64_t refused;      /* objects beyond the limits of a list */
	uint64_t resets;       /* counters that restarted at 0; in complete readings */
	uint64_t values;       /* read */
	/* Of a Nexus, including those left without an answer. */
	uint64_t commands_refused;
};

struct switch_list;
struct switch_neighbor;

struct switch_list *switch_list_new(void);       /* NULL when out of memory */
void switch_list_free(struct switch_list *list); /* NULL is allowed */

/* Checks the object's port and id, which come from outside; of the rest only part
 * and index are used. -EBADMSG: invalid characters; -ENOSPC: too many objects, or
 * ports; -ENOMEM. */
int switch_list_add(struct switch_list *list, const struct switch_object *object);
/* before: the last reading, or NULL. forgotten: incremented for objects that are
 * missing now, and for whose totals there was no room. */
int switch_list_close(
    struct switch_list *list, const struct switch_list *before, uint64_t *forgotten);

/* Of this reading, without missing objects. list NULL: 0. */
size_t switch_list_count(const struct switch_list *list);
/* After close: sorted by part (ports first), port and index, without duplicates. */
struct switch_object *switch_list_get(const struct switch_list *list, size_t i);
/* After close: the index of a port in that order, by its name. -ENOENT. */
int switch_list_find_port(
    const struct switch_list *list, const char *port, size_t *ret);
/* Of the port with that index, after close. -ENOMEM. */
int switch_list_set_neighbor(
    struct switch_list *list, size_t port, const struct switch_neighbor *neighbor);
/* Gives each port the neighbour that it had in before. */
int switch_list_keep_neighbors(
    struct switch_list *list, const struct switch_list *before);
/* NULL: none is known, or the object is no port. */
const struct switch_neighbor *switch_list_neighbor(
    const struct switch_list *list, size_t i);
/* The order: below 0, 0, above 0, for a compared with b. */
int switch_object_compare(const void *a, const void *b);

#endif
