/*
 * history_batch - records of a spool, put together for one write. Pure but for memory.
 */
#ifndef ANALYZER_HISTORY_HISTORY_BATCH_H
#define ANALYZER_HISTORY_HISTORY_BATCH_H

#include <stddef.h>
#include <stdint.h>

struct rm_spool;

struct history_batch { /* zeroed: empty */
	char *text;
	size_t len, capacity;
	uint64_t points;
	uint64_t last_seq; /* of the last record, also of the batch before */
};

/* Adds what follows last_seq. 1: it is full; 0: nothing more is there, or not yet.
 * -ENOMEM. A first record is taken however large it is. */
int history_batch_fill(struct history_batch *batch, struct rm_spool *spool,
    uint64_t max_points, size_t max_bytes);
void history_batch_empty(struct history_batch *batch); /* last_seq stays */
void history_batch_clear(struct history_batch *batch);

/* Of whole lines: as many as fit, and at least one. Returns their length. */
size_t history_batch_piece(
    const char *text, size_t len, uint64_t max_points, size_t max_bytes);
uint64_t history_batch_lines(const char *text, size_t len);

#endif
