/*
 * queue - a bounded FIFO of byte messages that drops its oldest and says so.
 *
 * Bounded by count and by bytes. The drop counter travels in the data: nothing
 * is lost without a number.
 */
#ifndef RACKMESH_CORE_QUEUE_H
#define RACKMESH_CORE_QUEUE_H

#include <stddef.h>
#include <stdint.h>

struct rm_queue;

struct rm_queue_item {
	uint64_t seq;     /* the caller's number */
	uint32_t records; /* how many records it carries, for exact drop counts */
	const uint8_t *data;
	size_t len;
};

struct rm_queue_counts {
	uint64_t pushed_items, pushed_records;
	uint64_t dropped_items, dropped_records; /* pushed out by newer ones */
};

int rm_queue_new(size_t max_items, size_t max_bytes, struct rm_queue **ret);
void rm_queue_free(struct rm_queue *queue);

/* Copies data. Drops from the front until it fits. -EMSGSIZE: larger than the
 * whole queue (counted as dropped); -ENOMEM: counted as dropped. */
int rm_queue_push(struct rm_queue *queue, uint64_t seq, uint32_t records,
    const uint8_t *data, size_t len);

size_t rm_queue_items(const struct rm_queue *queue);
size_t rm_queue_bytes(const struct rm_queue *queue);
/* The i-th from the front; borrowed until the queue changes. -ENOENT past the end. */
int rm_queue_peek(const struct rm_queue *queue, size_t i, struct rm_queue_item *ret);
void rm_queue_pop(struct rm_queue *queue);

const struct rm_queue_counts *rm_queue_counts(const struct rm_queue *queue);

#endif
