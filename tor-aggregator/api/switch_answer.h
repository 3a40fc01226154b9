/*
 * switch_answer - the counters of the racks' switches: /v1/switches and metrics.
 */
#ifndef TOR_AGGREGATOR_API_SWITCH_ANSWER_H
#define TOR_AGGREGATOR_API_SWITCH_ANSWER_H

#include <stddef.h>

#include <jansson.h>

#define SWITCH_WORST_PORTS 12

struct rm_http_request;
struct rm_metrics;
struct tor_aggregator;

void switch_answer_get(struct rm_http_request *request, void *aggregator);

/* Returns the ports of one rack's switch, as sums; null: the switch is not read. The
 * caller owns the result. */
json_t *switch_ports_show(const struct tor_aggregator *aggregator, size_t rack);

/* Returns the switches that are not ToRs of this aggregator: name, role, port_count,
 * and the SWITCH_WORST_PORTS ports with the worst problems. The caller owns the result.
 */
json_t *other_switches_show(const struct tor_aggregator *aggregator);

struct switch_metrics;

/* Registers nothing if no switch is read. */
int switch_metrics_register(
    struct tor_aggregator *aggregator, struct rm_metrics *metrics);
void switch_metrics_free(struct switch_metrics *shown); /* NULL is allowed */

#endif
