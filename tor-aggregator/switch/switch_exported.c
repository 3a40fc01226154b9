#include "tor-aggregator/switch/switch_exported.h"

#include <string.h>

#include "tor-aggregator/switch/switch_list.h"
#include "tor-aggregator/switch/switch_table.h"

/* Iterates over the values of all objects. */
struct value {
	const struct switch_row *row;
	unsigned priority;
	const struct counter_state *state;
};

/* Moves to the next value; initially the row of *value is NULL. False: there are no
 * more. */
static bool
next_value(const struct switch_object *object, struct value *value)
{
	if (value->row != NULL && value->priority + 1 < switch_row_values(value->row)) {
		value->priority++;
		value->state++;
		return true;
	}
	value->state = value->row == NULL ? object->states : value->state + 1;
	value->row = value->row == NULL ? switch_rows : value->row + 1;
	value->priority = 0;
	while (value->row->name != NULL && value->row->part != object->part)
		value->row++;
	return value->row->name != NULL;
}

/* The bit of the object's class; 0 if its number is 64 or more. */
static uint64_t
class_bit(const struct switch_object *object)
{
	return object->index < 64 ? UINT64_C(1) << object->index : 0;
}

static uint64_t
used_classes(const struct switch_object *object)
{
	struct value value = { 0 };
	uint64_t used = 0;

	while (next_value(object, &value))
		if (value.state->there && value.state->total > 0 &&
		    (object->part != SWITCH_PORT ||
			value.row->by == SWITCH_BY_PRIORITY))
			used |= object->part == SWITCH_PORT
				    ? UINT64_C(1) << value.priority
				    : 1;
	return used;
}

/* Finds the object's port; NULL: there is none. *at: index of the port to start with,
 * moved on. That is possible because ports are first in the list, and queues and groups
 * are sorted by their ports. */
static struct switch_object *
find_port(struct switch_list *list, const struct switch_object *object, size_t *at)
{
	for (; *at < switch_list_count(list); ++*at) {
		struct switch_object *port = switch_list_get(list, *at);
		const int order = port->part == SWITCH_PORT
				      ? strverscmp(port->port, object->port)
				      : 1;

		if (order >= 0)
			return order == 0 ? port : NULL;
	}
	return NULL;
}

typedef void (*each_fn)(struct switch_object *object, struct switch_object *port);

/* Calls call for each object with its port. The port of a port is the port itself; the
 * port of a queue or group is NULL if it is not in the list. */
static void
each_object(struct switch_list *list, each_fn call)
{
	enum switch_part part = SWITCH_PORT;
	size_t at = 0;

	for (size_t i = 0; i < switch_list_count(list); i++) {
		struct switch_object *object = switch_list_get(list, i);

		if (object->part != part)
			at = 0;
		part = object->part;
		call(object,
		    part == SWITCH_PORT ? object : find_port(list, object, &at));
	}
}

static void
note_used(struct switch_object *object, struct switch_object *port)
{
	object->used |= used_classes(object);
	if (object != port && object->used != 0 && port != NULL)
		port->used |= class_bit(object);
}

static void
take_used(struct switch_object *object, struct switch_object *port)
{
	if (object == port)
		object->exported_priorities = (uint8_t)object->used;
	else if (port != NULL && (port->used & class_bit(object)) != 0)
		object->used = 1;
	object->exported = object == port || object->used != 0;
}

bool
switch_is_exported(
    const struct switch_object *object, const struct switch_row *row, unsigned priority)
{
	return object->exported &&
	       (row->by != SWITCH_BY_PRIORITY ||
		   (object->exported_priorities >> priority & 1) != 0);
}

void
switch_exported_choose(
    struct switch_list *list, uint64_t limit, struct switch_exported *ret)
{
	struct switch_exported all = { 0 };

	each_object(list, note_used);
	each_object(list, take_used);
	for (size_t i = 0; i < switch_list_count(list); i++) {
		struct switch_object *object = switch_list_get(list, i);
		struct value value = { 0 };
		uint64_t exported = 0;

		while (next_value(object, &value)) {
			const bool is_exported =
			    switch_is_exported(object, value.row, value.priority);

			exported += value.state->there && is_exported;
			all.unused += value.state->there && !is_exported;
		}
		if (all.exported + exported > limit) {
			limit = all.exported; /* export no further values either */
			object->exported = false;
			all.refused += exported;
		} else {
			all.exported += exported;
		}
	}
	*ret = all;
}
