/*
 * line_protocol - InfluxDB line protocol, one point at a time. Pure.
 *
 * Source: InfluxDB line protocol reference (escaping of measurement, tag and
 * field keys and values; integers with 'i'; no NaN, no infinity; a point
 * without a field is no point). Order of calls: begin, tags, fields, end.
 */
#ifndef RACKMESH_METRICS_LINE_PROTOCOL_H
#define RACKMESH_METRICS_LINE_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

struct rm_line {
	char *out; /* owned by the caller */
	size_t capacity;
	size_t len;     /* bytes of complete points */
	size_t at;      /* end of the point that is being built */
	unsigned state; /* private */
};

void rm_line_init(struct rm_line *line, char *out, size_t capacity);
void rm_line_begin(struct rm_line *line, const char *measurement);
/* An empty value is skipped. */
void rm_line_tag(struct rm_line *line, const char *key, const char *value);
void rm_line_int(struct rm_line *line, const char *key, int64_t value);
/* NaN and infinity are skipped. */
void rm_line_double(struct rm_line *line, const char *key, double value);
void rm_line_string(struct rm_line *line, const char *key, const char *value);
/* Ends the point. -ENOSPC: no room; -EINVAL: the point is invalid. On failure the whole
 * point is removed. */
int rm_line_end(struct rm_line *line, rm_wall_t when);

#endif
