/*
 * influx_parts - divides a batch into parts: it begins at the front of the batch, and
 * halves a part that was refused. Pure.
 *
 * Parts consist of whole lines. After INFLUX_MAX_HALVES halvings no part is halved any
 * more: otherwise a database that refuses everything would get a request for each
 * point.
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
	size_t start; /* start of the present part */
	/* ends of the present part, and of the larger parts that contain it */
	size_t ends[INFLUX_MAX_DEPTH];
	size_t depth; /* number of ends; 0: no part is left */
	unsigned halved;
};

/* text: borrowed; it consists of whole lines, at least one. The first part is the whole
 * text. */
void influx_parts_init(struct influx_parts *parts, const char *text, size_t len);

const char *influx_parts_text(const struct influx_parts *parts, size_t *len);
uint64_t influx_parts_points(const struct influx_parts *parts);

/* Moves to the next part. False: there are no more parts. */
bool influx_parts_next(struct influx_parts *parts);
/* Makes the first half of the present part the present part. False: it cannot be
 * halved. */
bool influx_parts_halve(struct influx_parts *parts);

/* Compresses text with gzip; it is called in the worker. The caller frees *out.
 * -ENOMEM, -EIO. */
int influx_gzip(const char *text, size_t len, uint8_t **out, size_t *out_len);

#endif
