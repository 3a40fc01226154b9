/*
 * hypervisor_answer - the counters of the racks' ESXi hosts: /v1/hypervisors and
 * metrics.
 */
#ifndef TOR_AGGREGATOR_API_HYPERVISOR_ANSWER_H
#define TOR_AGGREGATOR_API_HYPERVISOR_ANSWER_H

#include <jansson.h>

struct hypervisor_metrics;
struct rm_http_request;
struct rm_metrics;
struct tor_aggregator;

void hypervisor_answer_get(struct rm_http_request *request, void *aggregator);

/* Returns the NICs of all hosts that are read, as sums; the caller owns the result. */
json_t *hypervisors_show(const struct tor_aggregator *aggregator);

/* Registers nothing if no hypervisor is read. */
int hypervisor_metrics_register(
    struct tor_aggregator *aggregator, struct rm_metrics *metrics);
void hypervisor_metrics_free(struct hypervisor_metrics *shown); /* NULL is allowed */

#endif
