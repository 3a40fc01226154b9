#include "tor-aggregator/switch/switch_list.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/wire.h"
#include "tor-aggregator/switch/switch_neighbor.h"

struct switch_list {
	/* objects of this reading, then missing objects */
	struct switch_object *objects;
	size_t count, away, capacity;
	size_t ports; /* number of ports, including missing ones */
	size_t here;  /* number of ports of this reading, which are first */
	/* one per port; NULL: no neighbour is known */
	struct switch_neighbor *neighbors;
	struct wire_settings *settings; /* NULL: no port has settings */
	/* the states of all objects; NULL until the list is closed */
	struct counter_state *states;
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
	free(list->neighbors);
	free(list->settings);
	free(list->states);
	free(list->objects);
	free(list);
}

/* True: the text has no character that would need quoting in labels and requests. */
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
append(struct switch_list *list, const struct switch_object *object)
{
	const size_t used = list->count + list->away,
		     capacity = list->capacity == 0 ? 256 : 2 * list->capacity;
	struct switch_object *objects = list->objects;

	if (used == SWITCH_MAX_OBJECTS ||
	    (object->part == SWITCH_PORT && list->ports == SWITCH_MAX_PORTS))
		return -ENOSPC;
	if (used == list->capacity) {
		objects = reallocarray(objects, capacity, sizeof(*objects));
		if (objects == NULL)
			return -ENOMEM;
		list->objects = objects;
		list->capacity = capacity;
	}
	objects[used] = *object;
	list->ports += object->part == SWITCH_PORT;
	return 0;
}

int
switch_list_add(struct switch_list *list, const struct switch_object *object)
{
	struct switch_object fresh = *object;
	int r;

	if (!is_plain(object->port) || !is_plain(object->id))
		return -EBADMSG;
	fresh.away = 0;
	fresh.used = 0;
	fresh.states = NULL;
	r = append(list, &fresh);
	if (r == 0)
		list->count++;
	return r;
}

int
switch_object_compare(const void *a, const void *b)
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

	list->ports = 0;
	for (size_t i = 0; i < list->count; i++) {
		if (kept > 0 && switch_object_compare(
				    &list->objects[kept - 1], &list->objects[i]) == 0)
			continue;
		list->ports += list->objects[i].part == SWITCH_PORT;
		list->objects[kept++] = list->objects[i];
	}
	list->count = kept;
	list->here = list->ports;
}

/* Sorts only if necessary: comparing ports' names is slow, and switches usually list
 * them in order. */
static void
sort(struct switch_object *objects, size_t count)
{
	size_t i = 1;

	while (i < count && switch_object_compare(&objects[i - 1], &objects[i]) <= 0)
		i++;
	if (i < count)
		qsort(objects, count, sizeof(*objects), switch_object_compare);
}

/* Searches an object in the sorted array from index *at on. Moves *at to where the
 * search ends, so that the next search, for a later object, starts there. */
static const struct switch_object *
seek(const struct switch_object *objects, size_t count, size_t *at,
    const struct switch_object *like)
{
	int order = -1;

	while (*at < count && (order = switch_object_compare(&objects[*at], like)) < 0)
		++*at;
	return order == 0 ? &objects[*at] : NULL;
}

/* Appends the objects of before that are missing in this reading. */
static int
remember(
    struct switch_list *list, const struct switch_list *before, uint64_t *forgotten)
{
	size_t at = 0;

	for (size_t i = 0; i < before->count + before->away; i++) {
		struct switch_object object = before->objects[i];
		int r;

		if (i == before->count)
			at = 0;
		if (++object.away > SWITCH_AWAY_READINGS ||
		    seek(list->objects, list->count, &at, &object) != NULL)
			continue;
		r = append(list, &object);
		if (r == -ENOMEM)
			return r;
		if (r == 0)
			list->away++;
		else
			++*forgotten;
	}
	if (list->away > 0)
		sort(list->objects + list->count, list->away);
	return 0;
}

/* The positions of a search in the two sorted parts of a list: present objects, and
 * missing objects. */
struct cursor {
	size_t there, away;
};

static const struct switch_object *
seek_both(const struct switch_list *list, struct cursor *cursor,
    const struct switch_object *like)
{
	const struct switch_object *there =
	    seek(list->objects, list->count, &cursor->there, like);

	return there != NULL
		   ? there
		   : seek(list->objects + list->count, list->away, &cursor->away, like);
}

/* The totals of an object that has returned continue. That it was not read meanwhile is
 * noticed when its next values are taken, see counter_delta.h. */
static void
come_back(const struct switch_object *object, size_t values)
{
	for (size_t i = 0; i < values; i++)
		object->states[i].there = false;
}

/* Gives each object the state that it had in the list before. */
static int
give_states(struct switch_list *list, const struct switch_list *before)
{
	const size_t count = list->count + list->away;
	size_t values[SWITCH_PARTS], total = 0;
	struct counter_state *states;
	struct cursor cursor = { 0, 0 };

	for (int part = 0; part < SWITCH_PARTS; part++)
		values[part] = switch_values((enum switch_part)part);
	for (size_t i = 0; i < count; i++)
		total += values[list->objects[i].part];
	states = calloc(total + 1, sizeof(*states));
	if (states == NULL)
		return -ENOMEM;
	list->states = states;
	for (size_t i = 0; i < count; i++) {
		struct switch_object *object = &list->objects[i];
		const struct switch_object *old;

		if (i == list->count)
			cursor = (struct cursor){ 0, 0 };
		old = before == NULL ? NULL : seek_both(before, &cursor, object);
		object->states = states;
		states += values[object->part];
		if (old == NULL)
			continue;
		object->used = old->used;
		memcpy(object->states, old->states,
		    values[object->part] * sizeof(*states));
		if (i < list->count && old->away > 0)
			come_back(object, values[object->part]);
	}
	return 0;
}

int
switch_list_close(
    struct switch_list *list, const struct switch_list *before, uint64_t *forgotten)
{
	int r = 0;

	sort(list->objects, list->count);
	drop_doubles(list);
	if (before != NULL)
		r = remember(list, before, forgotten);
	return r < 0 ? r : give_states(list, before);
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

int
switch_list_find_port(const struct switch_list *list, const char *port, size_t *ret)
{
	struct switch_object like = { .part = SWITCH_PORT };
	const struct switch_object *found;
	const size_t len = strlen(port);

	if (len >= sizeof(like.port))
		return -ENOENT;
	memcpy(like.port, port, len);
	found = list->here > 0 ? bsearch(&like, list->objects, list->here, sizeof(like),
				     switch_object_compare)
			       : NULL;
	if (found == NULL)
		return -ENOENT;
	*ret = (size_t)(found - list->objects);
	return 0;
}

int
switch_list_set_neighbor(
    struct switch_list *list, size_t port, const struct switch_neighbor *neighbor)
{
	if (list->neighbors == NULL)
		list->neighbors = calloc(list->here, sizeof(list->neighbors[0]));
	if (list->neighbors == NULL)
		return -ENOMEM;
	list->neighbors[port] = *neighbor;
	return 0;
}

int
switch_list_keep_neighbors(struct switch_list *list, const struct switch_list *before)
{
	size_t at = 0;
	int r = 0;

	for (size_t i = 0; i < list->here && r == 0 && before->neighbors != NULL; i++) {
		const struct switch_object *old =
		    seek(before->objects, before->here, &at, &list->objects[i]);
		const struct switch_neighbor *neighbor =
		    old == NULL ? NULL : switch_list_neighbor(before, at);

		if (neighbor != NULL)
			r = switch_list_set_neighbor(list, i, neighbor);
	}
	return r;
}

const struct switch_neighbor *
switch_list_neighbor(const struct switch_list *list, size_t i)
{
	return list->neighbors != NULL && i < list->here &&
		       switch_neighbor_is_there(&list->neighbors[i])
		   ? &list->neighbors[i]
		   : NULL;
}

int
switch_list_set_settings(
    struct switch_list *list, size_t port, const struct wire_settings *settings)
{
	if (list->settings == NULL)
		list->settings = calloc(list->here, sizeof(list->settings[0]));
	if (list->settings == NULL)
		return -ENOMEM;
	list->settings[port] = *settings;
	list->settings[port].firmware = "";
	return 0;
}

int
switch_list_keep_settings(struct switch_list *list, const struct switch_list *before)
{
	size_t at = 0;
	int r = 0;

	for (size_t i = 0; i < list->here && r == 0 && before->settings != NULL; i++) {
		const struct switch_object *old =
		    seek(before->objects, before->here, &at, &list->objects[i]);
		const struct wire_settings *settings =
		    old == NULL ? NULL : switch_list_settings(before, at);

		if (settings != NULL)
			r = switch_list_set_settings(list, i, settings);
	}
	return r;
}

const struct wire_settings *
switch_list_settings(const struct switch_list *list, size_t i)
{
	return list->settings != NULL && i < list->here && list->settings[i].known != 0
		   ? &list->settings[i]
		   : NULL;
}

/* ---- several ASICs ---- */

static bool
has_increased(const struct counter_state *state)
{
	return state->there && !state->back &&
	       (state->change == COUNTER_COUNTED || state->change == COUNTER_WRAPPED);
}

static void
add_delta(struct counter_state *state, const struct counter_state *was, bool replace)
{
	if (replace && state->there) {
		state->delta = 0;
		state->change = COUNTER_COUNTED;
		state->back = false;
	}
	if (!has_increased(state))
		return;
	if (has_increased(was))
		state->delta += was->delta;
	else
		state->back = true;
}

void
switch_list_add_deltas(
    struct switch_list *list, const struct switch_list *before, bool replace)
{
	struct cursor cursor = { 0, 0 };

	for (size_t i = 0; i < list->count; i++) {
		const struct switch_object *old =
		    seek_both(before, &cursor, &list->objects[i]);
		struct counter_state *state = list->objects[i].states;
		const struct counter_state *was = old == NULL ? NULL : old->states;

		for (const struct switch_row *row = switch_rows;
		     old != NULL && row->name != NULL; row++) {
			const size_t values =
			    row->part == old->part ? switch_row_values(row) : 0;

			for (size_t v = 0; v < values; v++, state++, was++)
				if (!row->gauge)
					add_delta(state, was, replace);
		}
	}
}

/* True: a share before number k has this port. */
static bool
is_of_earlier(const struct switch_share *shares, size_t k, const char *port)
{
	size_t unused;

	for (size_t i = 0; i < k; i++)
		if (shares[i].list != NULL &&
		    switch_list_find_port(shares[i].list, port, &unused) == 0)
			return true;
	return false;
}

/* Appends the objects of share k. Until take_states, an object's states are those of
 * the share, and away is 1 if they do not continue. */
static int
append_share(struct switch_list *list, const struct switch_share *shares, size_t k,
    struct switch_counts *counts)
{
	const struct switch_list *from = shares[k].list;
	const char *port = "";
	bool duplicate = false;

	for (size_t i = 0; i < from->count; i++) {
		struct switch_object object = from->objects[i];
		int r;

		if (strcmp(port, object.port) != 0) {
			port = from->objects[i].port;
			duplicate = is_of_earlier(shares, k, port);
		}
		counts->duplicates += duplicate && object.part == SWITCH_PORT;
		if (duplicate)
			continue;
		object.away = !shares[k].continues;
		r = append(list, &object);
		if (r == -ENOMEM)
			return r;
		list->count += r == 0;
		counts->refused += r == -ENOSPC;
	}
	return 0;
}

static int
take_states(struct switch_list *list)
{
	size_t total = 0;
	struct counter_state *states;

	for (size_t i = 0; i < list->count; i++)
		total += switch_values(list->objects[i].part);
	states = calloc(total + 1, sizeof(*states));
	if (states == NULL)
		return -ENOMEM;
	list->states = states;
	for (size_t i = 0; i < list->count; i++) {
		struct switch_object *object = &list->objects[i];
		const size_t values = switch_values(object->part);

		memcpy(states, object->states, values * sizeof(*states));
		for (size_t v = 0; v < values && object->away > 0; v++)
			states[v].back = states[v].there;
		object->away = 0;
		object->states = states;
		states += values;
	}
	return 0;
}

/* Gives the ports their neighbours and settings of share k. */
static int
take_ports(struct switch_list *list, const struct switch_share *shares, size_t k)
{
	const struct switch_list *from = shares[k].list;
	int r = 0;

	for (size_t i = 0; r == 0 && i < from->here; i++) {
		const struct switch_neighbor *neighbor = switch_list_neighbor(from, i);
		const struct wire_settings *settings = switch_list_settings(from, i);
		const char *port = from->objects[i].port;
		size_t at;

		if (is_of_earlier(shares, k, port) ||
		    switch_list_find_port(list, port, &at) < 0)
			continue;
		if (neighbor != NULL)
			r = switch_list_set_neighbor(list, at, neighbor);
		if (r == 0 && settings != NULL)
			r = switch_list_set_settings(list, at, settings);
	}
	return r;
}

int
switch_list_merge(const struct switch_share *shares, size_t count,
    struct switch_counts *counts, struct switch_list **ret)
{
	struct switch_list *list = switch_list_new();
	int r = list == NULL ? -ENOMEM : 0;

	for (size_t k = 0; r == 0 && k < count; k++)
		if (shares[k].taken)
			r = append_share(list, shares, k, counts);
	if (r == 0) {
		sort(list->objects, list->count);
		drop_doubles(list);
		r = take_states(list);
	}
	for (size_t k = 0; r == 0 && k < count; k++)
		if (shares[k].taken)
			r = take_ports(list, shares, k);
	if (r < 0)
		switch_list_free(list);
	else
		*ret = list;
	return r;
}
