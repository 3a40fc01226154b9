/*
 * drift_answer - differences between the settings of the racks' RNICs and the expected
 * ones: /v1/drift and metrics.
 */
#ifndef TOR_AGGREGATOR_API_DRIFT_ANSWER_H
#define TOR_AGGREGATOR_API_DRIFT_ANSWER_H

#include <stddef.h>

#include <jansson.h>

struct rm_http_request;
struct rm_metrics;
struct tor_aggregator;

void drift_answer_get(struct rm_http_request *request, void *aggregator);

/* Returns the first differences of one rack, with its sums; the caller owns the result.
 */
json_t *drift_show(const struct tor_aggregator *aggregator, size_t rack);

int drift_metrics_register(
    struct tor_aggregator *aggregator, struct rm_metrics *metrics);

#endif
