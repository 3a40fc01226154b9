/*
 * switch_list - the ports, queues and priority groups of one switch, with what they
 * have counted. Pure.
 *
 * A list is made anew at each reading: all objects are added, then it is closed, which
 * sorts them and takes over what the same objects had counted in the list before. An
 * object that is missing for some readings is remembered, so that its totals go on when
 * it is back.
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
#define SWITCH_MAX_PORTS 1024   /* of those: a port has six times as many values */
#define SWITCH_AWAY_READINGS 60 /* that an object is remembered while it is missing */

struct switch_object {
	enum switch_part part;
	uint16_t index;               /* of the queue or group; 0 of a port */
	char port[SWITCH_PORT_BYTES]; /* as the switch calls it */
	char id[SWITCH_ID_BYTES];     /* the switch's own, of this reading */
	uint8_t away;                 /* readings in a row without it */
	uint64_t used; /* see switch_exported.h; of a port a bit for each class */
	bool exported;
	uint8_t exported_priorities;  /* bits; of a port */
	struct counter_state *states; /* switch_values(part) of them */
};

struct switch_counts {         /* of all readings */
	uint64_t parse_errors; /* single values, and objects, that made no sense */
	uint64_t refused;      /* objects beyond the limits of a list */
	uint64_t resets;       /* counters that began again at 0; of whole readings */
	uint64_t values;       /* read */
	uint64_t commands_refused; /* of a Nexus, or that it left without an answer */
};

struct switch_list;
struct switch_neighbor;

struct switch_list *switch_list_new(void);       /* NULL when out of memory */
void switch_list_free(struct switch_list *list); /* NULL is fine */

/* The object's port and id are checked, foreign as they are; of the rest only part and
 * index are taken. -EBADMSG: letters that neither has; -ENOSPC: too many objects, or
 * ports; -ENOMEM. */
int switch_list_add(struct switch_list *list, const struct switch_object *object);
/* before: the last reading, or NULL. forgotten: added to; objects that are missing now,
 * and for whose totals there was no room. */
int switch_list_close(
    struct switch_list *list, const struct switch_list *before, uint64_t *forgotten);

/* Of this reading, without those that are away. list NULL: 0. */
size_t switch_list_count(const struct switch_list *list);
/* After close ordered by part (ports first), port and index, each once. */
struct switch_object *switch_list_get(const struct switch_list *list, size_t i);
/* After close: the number of a port in that order, by its name. -ENOENT. */
int switch_list_find_port(
    const struct switch_list *list, const char *port, size_t *ret);
/* Of the port of that number, after close. -ENOMEM. */
int switch_list_set_neighbor(
    struct switch_list *list, size_t port, const struct switch_neighbor *neighbor);
/* Each port has the neighbour that it had in before. */
int switch_list_keep_neighbors(
    struct switch_list *list, const struct switch_list *before);
/* NULL: none is known, or it is no port. */
const struct switch_neighbor *switch_list_neighbor(
    const struct switch_list *list, size_t i);
/* That order: below 0, 0, above it, of a against b. */
int switch_object_compare(const void *a, const void *b);

#endif
