/*
 * otlp_body - measured values as one message of OTLP (an ExportMetricsServiceRequest)
 * in its JSON form. Pure.
 *
 * Order of the calls: otlp_body_begin, then for each metric otlp_body_metric and an
 * otlp_body_value for each value, then otlp_body_end. A metric without values is not
 * written. Labels are those of /metrics, where values need no quoting.
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
	/* true: a counter, whose values are whole numbers; false: a gauge */
	bool is_sum;
};

struct otlp_body { /* private */
	struct evbuffer *out;
	rm_wall_t now, since;
	struct otlp_metric metric;
	bool any_metric, any_value, failed;
};

/* now: the time of all values. since: the time at which all sums were 0. */
void otlp_body_begin(struct otlp_body *body, struct evbuffer *out,
    const struct otlp_resource *resource, rm_wall_t now, rm_wall_t since);
void otlp_body_metric(struct otlp_body *body, const struct otlp_metric *metric);
/* labels, more: as in rm_metrics_series. NaN and infinite values are not written. */
void otlp_body_value(
    struct otlp_body *body, const char *labels, const char *more, double value);
int otlp_body_end(struct otlp_body *body); /* -ENOMEM: then `out` contains no message */

#endif
