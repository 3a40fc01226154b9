/*
 * Any bytes as a summary or an incident of an aggregator: they are refused, or become
 * points of the schema, the same ones each time.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/history/history_points.h"
#include "analyzer/history/history_schema.h"
#include "tests/support/lane_messages.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void
take(
    struct history_points *points, enum wire_lane lane, const uint8_t *data, size_t len)
{
	struct history_text text, again;
	struct rm_error error;
	char *copy;

	if (lane_message_points(points, lane, data, len, &text) < 0)
		return;
	if (text.points == 0 || history_schema_check(text.text, text.len, &error) < 0)
		abort();
	copy = malloc(text.len);
	if (copy == NULL)
		return;
	memcpy(copy, text.text, text.len);
	if (lane_message_points(points, lane, data, len, &again) < 0 ||
	    again.len != text.len || memcmp(copy, again.text, text.len) != 0)
		abort();
	free(copy);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct history_points *points;
	uint8_t *aligned;

	if (points == NULL)
		points = history_points_new();
	aligned = malloc(len + 1);
	if (points == NULL || aligned == NULL)
		abort();
	memcpy(aligned, data, len);
	take(points, WIRE_LANE_SUMMARY, aligned, len);
	take(points, WIRE_LANE_INCIDENT, aligned, len);
	free(aligned);
	return 0;
}
