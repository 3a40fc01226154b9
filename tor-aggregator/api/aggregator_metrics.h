/*
 * aggregator_metrics - the daemon's counters under their public names.
 */
#ifndef TOR_AGGREGATOR_API_AGGREGATOR_METRICS_H
#define TOR_AGGREGATOR_API_AGGREGATOR_METRICS_H

struct rm_metrics;
struct tor_aggregator;

int aggregator_metrics_register(
    struct tor_aggregator *aggregator, struct rm_metrics *metrics);

#endif
