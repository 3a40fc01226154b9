/*
 * otlp_body - measured values as one message of OTLP (an ExportMetricsServiceRequest)
 * in its JSON form. Pure.
 *
 * Begin, then each metric with its values, then end. A metric without a value is left
 * out. Labels are those of /metrics: their values need no quoting.
 */
#ifndef TOR_AGGREGATOR_OTLP_OTLP_BODY_H
#define TOR_AGGREGATOR_OTLP_OTLP_BODY_H

#include <stdbool.h>

#include "rackmesh/core/clock.h"

struct evbuffer;

struct otlp_resource { /* the sender; borrowed */
	const char *instance, *region;
};

struct otlp_metric { /* copied; its strings are borrowed until the next metric */
	const char *name, *unit, *description; /* unit: as in UCUM; "" for none */
	bool is_sum; /* a counter; its values are whole. Else a gauge */
};

struct otlp_body { /* private */
	struct evbuffer *out;
	rm_wall_t now, since;
	struct otlp_metric metric;
	bool any_metric, any_value, failed;
};

/* now: time of all values. since: when the sums began at 0. */
void otlp_body_begin(struct otlp_body *body, struct evbuffer *out,
    const struct otlp_resource *resource, rm_wall_t now, rm_wall_t since);
void otlp_body_metric(struct otlp_body *body, const struct otlp_metric *metric);
/* labels, more: as in rm_metrics_series. A value that is not a number is left out. */
void otlp_body_value(
    struct otlp_body *body, const char *labels, const char *more, double value);
int otlp_body_end(struct otlp_body *body); /* -ENOMEM: out holds no message */

#endif
