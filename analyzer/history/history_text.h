/*
 * history_text - the growing text that points are written into. Pure.
 *
 * Behind history_points, which is what others use.
 */
#ifndef ANALYZER_HISTORY_HISTORY_TEXT_H
#define ANALYZER_HISTORY_HISTORY_TEXT_H

#include "analyzer/history/history_points.h"
#include "rackmesh/metrics/line_protocol.h"

struct rm_sketch;

struct history_points {
	char *text;
	size_t capacity, len;
	uint64_t count, left_out;
	struct rm_sketch *sketch; /* to read quantiles out of bytes */
};

void history_text_start(struct history_points *points);
/* -EMSGSIZE, -ENOMEM: no room for one more point. */
int history_text_begin(
    struct history_points *points, struct rm_line *line, const char *measurement);
/* What cannot be a point is left out and counted. */
void history_text_end(
    struct history_points *points, struct rm_line *line, uint64_t when_ns);
int history_text_finish(struct history_points *points, int r, struct history_text *ret);

/* What several measurements share. */
void history_text_head(struct rm_line *line, const struct wire_lane_head *head);
void history_text_dscp(struct rm_line *line, uint8_t dscp);
void history_text_quantile(
    struct rm_line *line, const char *term, int quantile, uint64_t value_ns);

#endif
