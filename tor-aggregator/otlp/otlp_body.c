#include "tor-aggregator/otlp/otlp_body.h"

#include <errno.h>
#include <event2/buffer.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "rackmesh/metrics/decimal.h"

#define CUMULATIVE \
	2 /* AGGREGATION_TEMPORALITY_CUMULATIVE; JSON has no names of enums */

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

static void
put_attribute(struct otlp_body *body, const char *key, const char *value, bool first)
{
	put(body, "%s{\"key\":\"%s\",\"value\":{\"stringValue\":\"%s\"}}",
	    first ? "" : ",", key, value);
}

/* 'tor="t1",host="h1"' and the like; "": none. Returns whether it is still the first.
 */
static bool
put_labels(struct otlp_body *body, const char *labels, bool first)
{
	while (labels[0] != '\0') {
		const size_t key_len = strcspn(labels, "=");
		const char *value = labels + key_len + strlen("=\"");
		const size_t value_len = strcspn(value, "\"");

		put(body, "%s{\"key\":\"%.*s\",\"value\":{\"stringValue\":\"%.*s\"}}",
		    first ? "" : ",", (int)key_len, labels, (int)value_len, value);
		first = false;
		labels = value + value_len + 1;
		labels += labels[0] == ',';
	}
	return first;
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

	if (!isfinite(value))
		return;
	if (body->any_value)
		put(body, ",");
	else
		open_metric(body);
	put(body, "{\"attributes\":[");
	put_labels(body, more, put_labels(body, labels, true));
	put(body, "],");
	/* 64-bit integers are strings in the JSON form. */
	if (body->metric.is_sum)
		put(body,
		    "\"startTimeUnixNano\":\"%" PRId64 "\",\"asInt\":\"%" PRIu64 "\"",
		    body->since.ns, (uint64_t)value);
	else
		put(body, "\"asDouble\":%s", rm_decimal_format(value, text));
	put(body, ",\"timeUnixNano\":\"%" PRId64 "\"}", body->now.ns);
}

int
otlp_body_end(struct otlp_body *body)
{
	close_metric(body);
	put(body, "]}]}]}");
	return body->failed ? -ENOMEM : 0;
}
