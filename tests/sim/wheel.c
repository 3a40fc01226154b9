#include "tests/sim/wheel.h"

#include <errno.h>
#include <stdlib.h>

#define SLOTS 2048

struct node {
	uint32_t next, previous; /* previous: a node, or SLOT | number of a slot */
};

#define SLOT UINT32_C(0x80000000)

struct wheel {
	int64_t slice_ns;
	int64_t taken; /* number of the slice that was taken last */
	uint32_t slots[SLOTS];
	struct node *nodes; /* by item */
	size_t room;
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
		grown[i] = (struct node){ WHEEL_NONE, WHEEL_NONE };
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
	wheel->nodes[item] = (struct node){ *slot, SLOT | (uint32_t)(slice % SLOTS) };
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
	if (node->previous & SLOT)
		wheel->slots[node->previous & ~SLOT] = node->next;
	else
		wheel->nodes[node->previous].next = node->next;
	if (node->next != WHEEL_NONE)
		wheel->nodes[node->next].previous = node->previous;
	*node = (struct node){ WHEEL_NONE, WHEEL_NONE };
}

uint32_t
wheel_take(struct wheel *wheel, int64_t end_ns)
{
	const int64_t slice = end_ns / wheel->slice_ns - 1;
	const uint32_t item = wheel->slots[slice % SLOTS];

	wheel->taken = slice;
	if (item != WHEEL_NONE)
		wheel_remove(wheel, item);
	return item;
}
