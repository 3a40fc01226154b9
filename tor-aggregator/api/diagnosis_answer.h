/*
 * diagnosis_answer - what the counters of the racks' RNICs mean: /v1/diagnosis and
 * metrics.
 */
#ifndef TOR_AGGREGATOR_API_DIAGNOSIS_ANSWER_H
#define TOR_AGGREGATOR_API_DIAGNOSIS_ANSWER_H

#include <stddef.h>

#include <jansson.h>

struct rm_http_request;
struct rm_metrics;
struct tor_aggregator;

void diagnosis_answer_get(struct rm_http_request *request, void *aggregator);

/* Returns the first findings of one rack, in the form of /v1/diagnosis; the caller owns
 * the result. */
json_t *diagnosis_show(const struct tor_aggregator *aggregator, size_t rack);

/* Adds "pauses" and "switches_read", in the form of /v1/diagnosis. */
void pauses_show(const struct tor_aggregator *aggregator, json_t *all);

int diagnosis_metrics_register(
    struct tor_aggregator *aggregator, struct rm_metrics *metrics);

#endif
