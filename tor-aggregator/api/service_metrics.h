/*
 * service_metrics - service flows and their probes as metrics.
 */
#ifndef TOR_AGGREGATOR_API_SERVICE_METRICS_H
#define TOR_AGGREGATOR_API_SERVICE_METRICS_H

struct rm_metrics;
struct service_table;

/* table: borrowed. */
int service_metrics_register(
    const struct service_table *table, struct rm_metrics *metrics);

#endif
