/*
 * influx_parts - a batch in parts, from its front, a refused one in halves. Pure.
 *
 * Parts are whole lines. After INFLUX_MAX_HALVES parts that were halved nothing is
 * halved any more: a database that refuses everything must not be asked once per point.
 */
#ifndef ANALYZER_HISTORY_INFLUX_PARTS_H
#define ANALYZER_HISTORY_INFLUX_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INFLUX_MAX_HALVES 512
#define INFLUX_MAX_DEPTH 64

struct influx_parts { /* private */
	const char *text;
	size_t start;                  /* of the part under way */
	size_t ends[INFLUX_MAX_DEPTH]; /* of this part, and of those around it */
	size_t depth;                  /* of ends; 0: nothing is left */
	unsigned halved;
};

/* text: borrowed; whole lines, at least one. The first part is all of it. */
void influx_parts_init(struct influx_parts *parts, const char *text, size_t len);

const char *influx_parts_text(const struct influx_parts *parts, size_t *len);
uint64_t influx_parts_points(const struct influx_parts *parts);

/* This part is disposed of. False: it was the last one. */
bool influx_parts_next(struct influx_parts *parts);
/* Its first half is the part under way now. False: it cannot be halved. */
bool influx_parts_halve(struct influx_parts *parts);

/* A batch, packed by gzip on the worker. */
/* *out: malloc'd; the caller frees it. -ENOMEM, -EIO. */
int influx_gzip(const char *text, size_t len, uint8_t **out, size_t *out_len);

#endif
