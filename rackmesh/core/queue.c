#include "rackmesh/core/queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define QUEUE_MAX_ITEMS ((size_t)1 << 24)

struct queue_slot {
	uint64_t seq;
	uint32_t records;
	uint8_t *data;
	size_t len;
};

/* A ring that grows up to max_items. */
struct rm_queue {
	struct queue_slot *slots;
	size_t capacity, front, items, bytes;
	size_t max_items, max_bytes;
	struct rm_queue_counts counts;
};

int
rm_queue_new(size_t max_items, size_t max_bytes, struct rm_queue **ret)
{
	struct rm_queue *queue;

	if (max_items == 0 || max_items > QUEUE_MAX_ITEMS)
		return -EINVAL;
	queue = calloc(1, sizeof(*queue));
	if (queue == NULL)
		return -ENOMEM;
	queue->max_items = max_items;
	queue->max_bytes = max_bytes;
	*ret = queue;
	return 0;
}

void
rm_queue_free(struct rm_queue *queue)
{
	if (queue == NULL)
		return;
	while (queue->items > 0)
		rm_queue_pop(queue);
	free(queue->slots);
	free(queue);
}

static struct queue_slot *
queue_slot(const struct rm_queue *queue, size_t i)
{
	return &queue->slots[(queue->front + i) % queue->capacity];
}

static int
queue_grow(struct rm_queue *queue)
{
	size_t capacity = queue->capacity == 0 ? 16 : queue->capacity * 2;
	struct queue_slot *slots;

	if (capacity > queue->max_items)
		capacity = queue->max_items;
	slots = calloc(capacity, sizeof(*slots));
	if (slots == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < queue->items; i++)
		slots[i] = *queue_slot(queue, i);
	free(queue->slots);
	queue->slots = slots;
	queue->capacity = capacity;
	queue->front = 0;
	return 0;
}

static void
queue_drop_oldest(struct rm_queue *queue)
{
	queue->counts.dropped_items++;
	queue->counts.dropped_records += queue_slot(queue, 0)->records;
	rm_queue_pop(queue);
}

int
rm_queue_push(struct rm_queue *queue, uint64_t seq, uint32_t records,
    const uint8_t *data, size_t len)
{
	uint8_t *copy = NULL;
	int r = 0;

	/* So that pushed = taken + waiting + dropped holds at any moment. */
	queue->counts.pushed_items++;
	queue->counts.pushed_records += records;

	if (len > queue->max_bytes)
		r = -EMSGSIZE;
	if (r == 0) {
		copy = malloc(len == 0 ? 1 : len);
		if (copy == NULL)
			r = -ENOMEM;
	}
	/* A full ring at its largest makes room below, by dropping. */
	if (r == 0 && queue->items == queue->capacity &&
	    queue->capacity < queue->max_items)
		r = queue_grow(queue);
	if (r < 0) {
		free(copy);
		queue->counts.dropped_items++;
		queue->counts.dropped_records += records;
		return r;
	}

	while (
	    queue->items == queue->max_items || queue->bytes > queue->max_bytes - len)
		queue_drop_oldest(queue);
	if (len > 0)
		memcpy(copy, data, len);
	*queue_slot(queue, queue->items) = (struct queue_slot){
		.seq = seq,
		.records = records,
		.data = copy,
		.len = len,
	};
	queue->items++;
	queue->bytes += len;
	return 0;
}

size_t
rm_queue_items(const struct rm_queue *queue)
{
	return queue->items;
}

size_t
rm_queue_bytes(const struct rm_queue *queue)
{
	return queue->bytes;
}

int
rm_queue_peek(const struct rm_queue *queue, size_t i, struct rm_queue_item *ret)
{
	const struct queue_slot *slot;

	if (i >= queue->items)
		return -ENOENT;
	slot = queue_slot(queue, i);
	*ret = (struct rm_queue_item){
		.seq = slot->seq,
		.records = slot->records,
		.data = slot->data,
		.len = slot->len,
	};
	return 0;
}

void
rm_queue_pop(struct rm_queue *queue)
{
	struct queue_slot *slot;

	if (queue->items == 0)
		return;
	slot = queue_slot(queue, 0);
	queue->bytes -= slot->len;
	free(slot->data);
	queue->front = (queue->front + 1) % queue->capacity;
	queue->items--;
}

const struct rm_queue_counts *
rm_queue_counts(const struct rm_queue *queue)
{
	return &queue->counts;
}
