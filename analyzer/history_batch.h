/*
 * history_batch - records of a spool, put together for one write. Pure but for memory.
 */
#ifndef ANALYZER_HISTORY_BATCH_H
#define ANALYZER_HISTORY_BATCH_H

#include <stddef.h>
#include <stdint.h>

#define HISTORY_BATCH_MAX_BYTES (4u << 20)

struct rm_spool;

struct history_batch { /* zeroed: empty */
	char *text;
	size_t len, capacity;
	uint64_t points;
	uint64_t last_seq; /* of the last record, also of the batch before */
};

/* Adds what follows last_seq. 1: it is full; 0: nothing more is there, or not yet.
 * -ENOMEM. A first record is taken however many points it has. */
int history_batch_fill(
    struct history_batch *batch, struct rm_spool *spool, uint64_t max_points);
void history_batch_empty(struct history_batch *batch); /* last_seq stays */
void history_batch_clear(struct history_batch *batch);

uint64_t history_batch_lines(const char *text, size_t len);

#endif
