/*
 * switch_list - the ports, queues and priority groups of one switch, with their
 * counters. Pure.
 *
 * Each reading makes a new list: first all objects are added, then the list is closed.
 * Closing sorts the objects, and takes over the totals that they had in the list
 * before. An object that is missing in some readings is kept in the list, so that its
 * totals continue when it returns.
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
/* Ports of one switch; a port has six times as many values as a queue. */
#define SWITCH_MAX_PORTS 1024
/* Number of readings after which a missing object is deleted. */
#define SWITCH_AWAY_READINGS 60

struct switch_object {
	enum switch_part part;
	uint16_t index;               /* number of the queue or group; 0 for a port */
	char port[SWITCH_PORT_BYTES]; /* name of the port at the switch */
	/* the id that the switch gives the object; may change between readings */
	char id[SWITCH_ID_BYTES];
	/* number of successive readings without the object */
	uint8_t away;
	uint64_t used; /* see switch_exported.h; for a port: a bit per class */
	bool exported;
	uint8_t exported_priorities;  /* for a port: a bit per priority */
	struct counter_state *states; /* array of switch_values(part) */
};

struct switch_counts {         /* totals over all readings */
	uint64_t parse_errors; /* values and objects that could not be parsed */
	uint64_t refused;      /* objects beyond the limits of a list */
	/* counters that restarted at 0, seen in complete readings */
	uint64_t resets;
	uint64_t values; /* values that were read */
	/* ports that an ASIC before it in the config has, too; at each reading */
	uint64_t duplicates;
	/* Commands that a Nexus refused, or did not answer. */
	uint64_t commands_refused;
};

struct switch_list;
struct switch_neighbor;
struct wire_settings;

struct switch_list *switch_list_new(void);       /* NULL when out of memory */
void switch_list_free(struct switch_list *list); /* NULL is allowed */

/* Adds an object, with its part, index, port and id; port and id are checked. -EBADMSG:
 * they have invalid characters; -ENOSPC: too many objects or ports; -ENOMEM. */
int switch_list_add(struct switch_list *list, const struct switch_object *object);
/* Closes the list. before: list of the last reading; NULL: none. *forgotten:
 * incremented for each missing object for whose totals there is no room. */
int switch_list_close(
    struct switch_list *list, const struct switch_list *before, uint64_t *forgotten);

/* The number of objects in this reading, without missing ones; 0 if list is NULL. */
size_t switch_list_count(const struct switch_list *list);
/* Object i, below switch_list_count, of a closed list. Objects are sorted by part
 * (ports first), port and index, without duplicates. */
struct switch_object *switch_list_get(const struct switch_list *list, size_t i);
/* Finds a port of a closed list by its name. *ret: its index for switch_list_get.
 * -ENOENT. */
int switch_list_find_port(
    const struct switch_list *list, const char *port, size_t *ret);
/* Sets the neighbour of a port of a closed list; copied. -ENOMEM. */
int switch_list_set_neighbor(
    struct switch_list *list, size_t port, const struct switch_neighbor *neighbor);
/* Gives each port the neighbour that it has in before. -ENOMEM. */
int switch_list_keep_neighbors(
    struct switch_list *list, const struct switch_list *before);
/* The neighbour of object i; NULL: none is known, or the object is no port. */
const struct switch_neighbor *switch_list_neighbor(
    const struct switch_list *list, size_t i);
/* The settings of ports, in the same way as their neighbours: copied, without the
 * firmware. */
int switch_list_set_settings(
    struct switch_list *list, size_t port, const struct wire_settings *settings);
int switch_list_keep_settings(
    struct switch_list *list, const struct switch_list *before);
const struct wire_settings *switch_list_settings(
    const struct switch_list *list, size_t i);

/* The list of one ASIC of a switch with several ASICs. */
struct switch_share {
	const struct switch_list *list; /* closed; NULL: there is none */
	/* its objects are taken; else it only keeps its ports from later shares */
	bool taken;
	/* the reading before it was complete, too; else no delta is used: it covers
	 * more than one interval */
	bool continues;
};

/* Adds the deltas of the counters in before to those in list, the list of the next
 * complete reading; both are closed. Deltas that are not the increase of a counter in
 * one interval are not added: those of resets, of first values, and of counters that
 * were missing. replace: true if the deltas in list are of that kind; then those in
 * before are used instead. A counter with only one of its two deltas is marked as back,
 * because its delta does not cover the interval of both. */
void switch_list_add_deltas(
    struct switch_list *list, const struct switch_list *before, bool replace);
/* Makes one list of the objects of all shares that are taken, with copies of their
 * totals, neighbours and settings. If two ASICs have a port of the same name, the port
 * of the first one is used; the other one is counted in duplicates, as objects beyond
 * the limits are in refused. The caller frees *ret. -ENOMEM. */
int switch_list_merge(const struct switch_share *shares, size_t count,
    struct switch_counts *counts, struct switch_list **ret);
/* Compares two struct switch_object in the order of the list, for qsort. */
int switch_object_compare(const void *a, const void *b);

#endif
