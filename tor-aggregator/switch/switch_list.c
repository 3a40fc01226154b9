#include "tor-aggregator/switch/switch_list.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct switch_list {
	struct switch_object *objects;
	size_t count, capacity;
	struct counter_state *states; /* of all objects, once it is closed */
};

struct switch_list *
switch_list_new(void)
{
	return calloc(1, sizeof(struct switch_list));
}

void
switch_list_free(struct switch_list *list)
{
	if (list == NULL)
		return;
	free(list->states);
	free(list->objects);
	free(list);
}

/* They go into labels and requests: nothing in them needs quoting. */
static bool
is_plain(const char *text)
{
	if (text[0] == '\0')
		return false;
	for (; *text != '\0'; text++)
		if (!isalnum((unsigned char)*text) && strchr("/._-:", *text) == NULL)
			return false;
	return true;
}

static int
grow(struct switch_list *list)
{
	const size_t capacity = list->capacity == 0 ? 256 : 2 * list->capacity;
	struct switch_object *objects;

	if (list->count == SWITCH_MAX_OBJECTS)
		return -ENOSPC;
	if (list->count < list->capacity)
		return 0;
	objects = reallocarray(list->objects, capacity, sizeof(*objects));
	if (objects == NULL)
		return -ENOMEM;
	list->objects = objects;
	list->capacity = capacity;
	return 0;
}

int
switch_list_add(struct switch_list *list, const struct switch_object *object)
{
	int r;

	if (!is_plain(object->port) || !is_plain(object->id))
		return -EBADMSG;
	r = grow(list);
	if (r < 0)
		return r;
	list->objects[list->count] = *object;
	list->objects[list->count++].states = NULL;
	return 0;
}

static int
compare(const void *a, const void *b)
{
	const struct switch_object *x = a, *y = b;
	int order;

	if (x->part != y->part)
		return x->part < y->part ? -1 : 1;
	order = strverscmp(x->port, y->port); /* Ethernet8 before Ethernet12 */
	if (order != 0)
		return order;
	return (x->index > y->index) - (x->index < y->index);
}

static void
drop_doubles(struct switch_list *list)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++)
		if (kept == 0 ||
		    compare(&list->objects[kept - 1], &list->objects[i]) != 0)
			list->objects[kept++] = list->objects[i];
	list->count = kept;
}

static void
take_over(struct switch_list *list, const struct switch_list *before)
{
	size_t old = 0;

	for (size_t i = 0; i < list->count; i++) {
		struct switch_object *object = &list->objects[i];

		while (
		    old < before->count && compare(&before->objects[old], object) < 0)
			old++;
		if (old < before->count && compare(&before->objects[old], object) == 0)
			memcpy(object->states, before->objects[old].states,
			    switch_values(object->part) * sizeof(*object->states));
	}
}

int
switch_list_close(struct switch_list *list, const struct switch_list *before)
{
	size_t values[SWITCH_PARTS], total = 0;
	struct counter_state *states;

	for (int part = 0; part < SWITCH_PARTS; part++)
		values[part] = switch_values((enum switch_part)part);
	if (list->count > 0)
		qsort(list->objects, list->count, sizeof(list->objects[0]), compare);
	drop_doubles(list);
	for (size_t i = 0; i < list->count; i++)
		total += values[list->objects[i].part];
	states = calloc(total + 1, sizeof(*states));
	if (states == NULL)
		return -ENOMEM;
	list->states = states;
	for (size_t i = 0; i < list->count; i++) {
		list->objects[i].states = states;
		states += values[list->objects[i].part];
	}
	if (before != NULL)
		take_over(list, before);
	return 0;
}

size_t
switch_list_count(const struct switch_list *list)
{
	return list == NULL ? 0 : list->count;
}

struct switch_object *
switch_list_get(const struct switch_list *list, size_t i)
{
	return &list->objects[i];
}
