/*
 * history_batch - joins records of a spool for one write. Pure.
 */
#ifndef ANALYZER_HISTORY_HISTORY_BATCH_H
#define ANALYZER_HISTORY_HISTORY_BATCH_H

#include <stddef.h>
#include <stdint.h>

struct rm_spool;

struct history_batch { /* initially all zero: empty */
	char *text;
	size_t len, capacity;
	uint64_t points;
	/* number of the last record in this batch, or in the batch before */
	uint64_t last_seq;
};

/* Adds the records after last_seq. Returns 1: the batch is full; 0: there are no more
 * records, or they cannot be read yet; -ENOMEM. The first record is added whatever its
 * size. */
int history_batch_fill(struct history_batch *batch, struct rm_spool *spool,
    uint64_t max_points, size_t max_bytes);
/* removes the text; keeps last_seq */
void history_batch_empty(struct history_batch *batch);
void history_batch_clear(struct history_batch *batch);

/* Returns the length in bytes of the first lines of text that fit into the limits; at
 * least one line. */
size_t history_batch_piece(
    const char *text, size_t len, uint64_t max_points, size_t max_bytes);
uint64_t history_batch_lines(const char *text, size_t len);

#endif
