#include "analyzer/history/history_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/metrics/sketch.h"

struct history_points *
history_points_new(void)
{
	struct history_points *points = calloc(1, sizeof(*points));

	if (points == NULL)
		return NULL;
	points->sketch = rm_sketch_new();
	if (points->sketch == NULL) {
		free(points);
		return NULL;
	}
	return points;
}

void
history_points_free(struct history_points *points)
{
	if (points == NULL)
		return;
	rm_sketch_free(points->sketch);
	free(points->text);
	free(points);
}

/* Room for one more point: growing doubles, so that it is rare. */
int
history_text_begin(
    struct history_points *points, struct rm_line *line, const char *measurement)
{
	if (points->capacity - points->len < HISTORY_POINT_BYTES) {
		size_t capacity = points->capacity == 0 ? 2 * HISTORY_POINT_BYTES
							: 2 * points->capacity;
		char *text;

		if (capacity > HISTORY_TEXT_MAX_BYTES)
			return -EMSGSIZE;
		text = realloc(points->text, capacity);
		if (text == NULL)
			return -ENOMEM;
		points->text = text;
		points->capacity = capacity;
	}
	rm_line_init(line, points->text + points->len, points->capacity - points->len);
	rm_line_begin(line, measurement);
	return 0;
}

void
history_text_end(struct history_points *points, struct rm_line *line, uint64_t when_ns)
{
	if (rm_line_end(line, (rm_wall_t){ (int64_t)when_ns }) < 0) {
		points->left_out++;
		return;
	}
	points->len += line->len;
	points->count++;
}

void
history_text_start(struct history_points *points)
{
	points->len = 0;
	points->count = 0;
	points->left_out = 0;
}

int
history_text_finish(struct history_points *points, int r, struct history_text *ret)
{
	if (r == -EMSGSIZE || r == -EINVAL)
		r = -EBADMSG;
	if (r == 0 && points->count == 0)
		r = -EBADMSG;
	if (r < 0)
		return r;
	*ret = (struct history_text){ points->text, points->len, points->count,
		points->left_out };
	return 0;
}

void
history_text_head(struct rm_line *line, const struct wire_lane_head *head)
{
	rm_line_tag(line, "region", head->region);
	rm_line_tag(line, "aggregator", head->aggregator);
}

void
history_text_dscp(struct rm_line *line, uint8_t dscp)
{
	char text[8];

	snprintf(text, sizeof(text), "%u", dscp);
	rm_line_tag(line, "dscp", text);
}

void
history_text_quantile(
    struct rm_line *line, const char *term, int quantile, uint64_t value_ns)
{
	static const char *const suffixes[WIRE_QUANTILES] = {
		[WIRE_P50] = "_p50_ns",
		[WIRE_P95] = "_p95_ns",
		[WIRE_P99] = "_p99_ns",
		[WIRE_MAX] = "_max_ns",
	};
	char field[64];

	stpcpy(stpcpy(field, term), suffixes[quantile]);
	rm_line_int(line, field, (int64_t)value_ns);
}
