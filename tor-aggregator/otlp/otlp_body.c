#include "tor-aggregator/otlp/otlp_body.h"

#include <errno.h>
#include <event2/buffer.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "rackmesh/metrics/decimal.h"

/* AGGREGATION_TEMPORALITY_CUMULATIVE; in OTLP's JSON enums are numbers. */
#define CUMULATIVE 2
#define POINT_BYTES 2048 /* enough for all labels with the longest values */

static void put(struct otlp_body *body, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void
put(struct otlp_body *body, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	if (evbuffer_add_vprintf(body->out, format, values) < 0)
		body->failed = true;
	va_end(values);
}

/* The text of one value is built in this buffer. There are tens of thousands of values,
 * and evbuffer_add_printf for each part would block the loop. */
struct point {
	char text[POINT_BYTES];
	size_t len;
	bool full;
};

static void
add(struct point *point, const char *text, size_t len)
{
	if (len > sizeof(point->text) - point->len) {
		point->full = true;
		return;
	}
	memcpy(point->text + point->len, text, len);
	point->len += len;
}

#define ADD(point, literal) add(point, literal, sizeof(literal) - 1)

static void
add_number(struct point *point, uint64_t number)
{
	char text[24];

	add(point, text, (size_t)snprintf(text, sizeof(text), "%" PRIu64, number));
}

/* Appends labels, which have the form 'tor="t1",host="h1"' or "". first: no label was
 * written yet. Returns first for the next call. */
static bool
add_labels(struct point *point, const char *labels, bool first)
{
	while (labels[0] != '\0') {
		const size_t key_len = strcspn(labels, "=");
		const char *value = labels + key_len + strlen("=\"");
		const size_t value_len = strcspn(value, "\"");

		if (!first)
			ADD(point, ",");
		ADD(point, "{\"key\":\"");
		add(point, labels, key_len);
		ADD(point, "\",\"value\":{\"stringValue\":\"");
		add(point, value, value_len);
		ADD(point, "\"}}");
		first = false;
		labels = value + value_len + 1;
		labels += labels[0] == ',';
	}
	return first;
}

static void
put_attribute(struct otlp_body *body, const char *key, const char *value, bool first)
{
	put(body, "%s{\"key\":\"%s\",\"value\":{\"stringValue\":\"%s\"}}",
	    first ? "" : ",", key, value);
}

void
otlp_body_begin(struct otlp_body *body, struct evbuffer *out,
    const struct otlp_resource *resource, rm_wall_t now, rm_wall_t since)
{
	*body = (struct otlp_body){ .out = out, .now = now, .since = since };
	put(body, "{\"resourceMetrics\":[{\"resource\":{\"attributes\":[");
	put_attribute(body, "service.name", "rackmesh-tor-aggregator", true);
	put_attribute(body, "service.instance.id", resource->instance, false);
	put_attribute(body, "service.version", RACKMESH_VERSION, false);
	put_attribute(body, "rackmesh.region", resource->region, false);
	put(body,
	    "]},\"scopeMetrics\":[{\"scope\":{\"name\":\"rackmesh\",\"version\":"
	    "\"%s\"},\"metrics\":[",
	    RACKMESH_VERSION);
}

static void
close_metric(struct otlp_body *body)
{
	if (!body->any_value)
		return;
	put(body, "]");
	if (body->metric.is_sum)
		put(body, ",\"aggregationTemporality\":%d,\"isMonotonic\":true",
		    CUMULATIVE);
	put(body, "}}");
}

void
otlp_body_metric(struct otlp_body *body, const struct otlp_metric *metric)
{
	close_metric(body);
	body->metric = *metric;
	body->any_value = false;
}

static void
open_metric(struct otlp_body *body)
{
	const struct otlp_metric *metric = &body->metric;

	put(body,
	    "%s{\"name\":\"%s\",\"unit\":\"%s\",\"description\":\"%s\",\"%s\":{"
	    "\"dataPoints\":[",
	    body->any_metric ? "," : "", metric->name, metric->unit,
	    metric->description, metric->is_sum ? "sum" : "gauge");
	body->any_metric = true;
	body->any_value = true;
}

void
otlp_body_value(
    struct otlp_body *body, const char *labels, const char *more, double value)
{
	char text[RM_DECIMAL_TEXT];
	struct point point;

	if (!isfinite(value))
		return;
	point.len = 0;
	point.full = false;
	if (!body->any_value)
		open_metric(body);
	else
		ADD(&point, ",");
	ADD(&point, "{\"attributes\":[");
	add_labels(&point, more, add_labels(&point, labels, true));
	/* 64-bit integers are strings in the JSON form. */
	if (body->metric.is_sum) {
		ADD(&point, "],\"startTimeUnixNano\":\"");
		add_number(&point, (uint64_t)body->since.ns);
		ADD(&point, "\",\"asInt\":\"");
		add_number(&point, (uint64_t)value);
		ADD(&point, "\",\"timeUnixNano\":\"");
	} else {
		ADD(&point, "],\"asDouble\":");
		rm_decimal_format(value, text);
		add(&point, text, strlen(text));
		ADD(&point, ",\"timeUnixNano\":\"");
	}
	add_number(&point, (uint64_t)body->now.ns);
	ADD(&point, "\"}");
	if (point.full || evbuffer_add(body->out, point.text, point.len) < 0)
		body->failed = true;
}

int
otlp_body_end(struct otlp_body *body)
{
	close_metric(body);
	put(body, "]}]}]}");
	return body->failed ? -ENOMEM : 0;
}
