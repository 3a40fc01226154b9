/*
 * switch_list - the ports, queues and priority groups of one switch, with what they
 * have counted. Pure.
 *
 * A list is made anew at each reading: all objects are added, then it is closed, which
 * sorts them and takes over what the same objects had counted in the list before.
 */
#ifndef TOR_AGGREGATOR_SWITCH_SWITCH_LIST_H
#define TOR_AGGREGATOR_SWITCH_SWITCH_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/metrics/counter_delta.h"
#include "tor-aggregator/switch/switch_table.h"

#define SWITCH_PORT_BYTES 32
#define SWITCH_ID_BYTES 40
#define SWITCH_MAX_OBJECTS 16384

struct switch_object {
	enum switch_part part;
	uint16_t index;               /* of the queue or group; 0 of a port */
	char port[SWITCH_PORT_BYTES]; /* as the switch calls it */
	char id[SWITCH_ID_BYTES];     /* the switch's own, of this reading */
	struct counter_state *states; /* switch_values(part) of them */
};

struct switch_list;

struct switch_list *switch_list_new(void);       /* NULL when out of memory */
void switch_list_free(struct switch_list *list); /* NULL is fine */

/* The object's port and id are checked, foreign as they are; its states are not looked
 * at. -EBADMSG: letters that neither has; -ENOSPC: too many objects; -ENOMEM. */
int switch_list_add(struct switch_list *list, const struct switch_object *object);
/* before: the last reading, or NULL. */
int switch_list_close(struct switch_list *list, const struct switch_list *before);

size_t switch_list_count(const struct switch_list *list); /* list NULL: 0 */
/* After close ordered by part (ports first), port and index, each once. */
struct switch_object *switch_list_get(const struct switch_list *list, size_t i);

#endif
