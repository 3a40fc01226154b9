/*
 * drift_answer - where the settings of our racks' RNICs are not those that are
 * expected: /v1/drift and metrics.
 */
#ifndef TOR_AGGREGATOR_API_DRIFT_ANSWER_H
#define TOR_AGGREGATOR_API_DRIFT_ANSWER_H

struct rm_http_request;
struct rm_metrics;
struct tor_aggregator;

void drift_answer_get(struct rm_http_request *request, void *aggregator);

int drift_metrics_register(
    struct tor_aggregator *aggregator, struct rm_metrics *metrics);

#endif
