#include "tests/sim/wheel.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#define SLOTS 2048

struct node {
	int64_t due_ns;
	/* previous: a node, SLOT | number of a slot, IN_TURN, or WHEEL_NONE */
	uint32_t next, previous;
};

#define SLOT UINT32_C(0x80000000)
#define IN_TURN (WHEEL_NONE - 1)

struct turn { /* when an item of the slice that is taken now is due */
	int64_t due_ns;
	uint32_t item;
};

struct wheel {
	int64_t slice_ns;
	int64_t taken; /* number of the slice that was taken last */
	uint32_t slots[SLOTS];
	struct node *nodes; /* by item */
	size_t room;
	struct turn *turns; /* a heap: the earliest is the first */
	size_t turn_count, turn_room;
};

int
wheel_new(int64_t slice_ns, struct wheel **ret)
{
	struct wheel *wheel = calloc(1, sizeof *wheel);

	if (wheel == NULL)
		return -ENOMEM;
	wheel->slice_ns = slice_ns;
	for (size_t i = 0; i < SLOTS; i++)
		wheel->slots[i] = WHEEL_NONE;
	*ret = wheel;
	return 0;
}

void
wheel_free(struct wheel *wheel)
{
	if (wheel == NULL)
		return;
	free(wheel->nodes);
	free(wheel->turns);
	free(wheel);
}

static int
make_room(struct wheel *wheel, uint32_t item)
{
	size_t room = wheel->room == 0 ? 1024 : wheel->room;
	struct node *grown;

	while (room <= item)
		room *= 2;
	if (room == wheel->room)
		return 0;
	grown = realloc(wheel->nodes, room * sizeof *grown);
	if (grown == NULL)
		return -ENOMEM;
	for (size_t i = wheel->room; i < room; i++)
		grown[i] = (struct node){ 0, WHEEL_NONE, WHEEL_NONE };
	wheel->nodes = grown;
	wheel->room = room;
	return 0;
}

int
wheel_put(struct wheel *wheel, uint32_t item, int64_t due_ns)
{
	int64_t slice = due_ns / wheel->slice_ns;
	uint32_t *slot;

	if (make_room(wheel, item) < 0)
		return -ENOMEM;
	if (slice < wheel->taken)
		slice = wheel->taken;
	if (slice >= wheel->taken + SLOTS)
		slice = wheel->taken + SLOTS - 1;
	slot = &wheel->slots[slice % SLOTS];
	wheel->nodes[item] =
	    (struct node){ due_ns, *slot, SLOT | (uint32_t)(slice % SLOTS) };
	if (*slot != WHEEL_NONE)
		wheel->nodes[*slot].previous = item;
	*slot = item;
	return 0;
}

void
wheel_remove(struct wheel *wheel, uint32_t item)
{
	struct node *node;

	if (item >= wheel->room || wheel->nodes[item].previous == WHEEL_NONE)
		return;
	node = &wheel->nodes[item];
	if (node->previous == IN_TURN) {
		node->previous = WHEEL_NONE;
		return;
	}
	if (node->previous & SLOT)
		wheel->slots[node->previous & ~SLOT] = node->next;
	else
		wheel->nodes[node->previous].next = node->next;
	if (node->next != WHEEL_NONE)
		wheel->nodes[node->next].previous = node->previous;
	node->next = node->previous = WHEEL_NONE;
}

static bool
is_earlier(const struct turn *a, const struct turn *b)
{
	return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->item < b->item;
}

static void
swap(struct turn *a, struct turn *b)
{
	const struct turn t = *a;

	*a = *b;
	*b = t;
}

static int
turn_put(struct wheel *wheel, struct turn turn)
{
	struct turn *turns = wheel->turns;

	if (wheel->turn_count == wheel->turn_room) {
		const size_t room = wheel->turn_room == 0 ? 256 : 2 * wheel->turn_room;

		turns = realloc(turns, room * sizeof *turns);
		if (turns == NULL)
			return -ENOMEM;
		wheel->turns = turns;
		wheel->turn_room = room;
	}
	turns[wheel->turn_count] = turn;
	for (size_t at = wheel->turn_count++;
	     at > 0 && is_earlier(&turns[at], &turns[(at - 1) / 2]); at = (at - 1) / 2)
		swap(&turns[at], &turns[(at - 1) / 2]);
	return 0;
}

static struct turn
turn_take(struct wheel *wheel)
{
	struct turn *turns = wheel->turns;
	const struct turn first = turns[0];

	turns[0] = turns[--wheel->turn_count];
	for (size_t at = 0, next = 1; next < wheel->turn_count; next = 2 * at + 1) {
		if (next + 1 < wheel->turn_count &&
		    is_earlier(&turns[next + 1], &turns[next]))
			next++;
		if (!is_earlier(&turns[next], &turns[at]))
			break;
		swap(&turns[next], &turns[at]);
		at = next;
	}
	return first;
}

int
wheel_take(struct wheel *wheel, int64_t end_ns, uint32_t *item)
{
	const int64_t slice = end_ns / wheel->slice_ns - 1;

	wheel->taken = slice;
	for (uint32_t next; (next = wheel->slots[slice % SLOTS]) != WHEEL_NONE;) {
		struct node *node = &wheel->nodes[next];

		if (turn_put(wheel, (struct turn){ node->due_ns, next }) < 0)
			return -ENOMEM;
		wheel_remove(wheel, next);
		node->previous = IN_TURN;
	}
	*item = WHEEL_NONE;
	while (wheel->turn_count > 0 && *item == WHEEL_NONE) {
		const struct turn turn = turn_take(wheel);
		struct node *node = &wheel->nodes[turn.item];

		/* otherwise it was removed, or is due at another time */
		if (node->previous == IN_TURN && node->due_ns == turn.due_ns) {
			node->previous = WHEEL_NONE;
			*item = turn.item;
		}
	}
	return 0;
}
