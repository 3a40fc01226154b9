/*
 * lane_metrics - the lanes to the analyzer, their spools and the link, as metrics.
 */
#ifndef TOR_AGGREGATOR_API_LANE_METRICS_H
#define TOR_AGGREGATOR_API_LANE_METRICS_H

struct analyzer_link;
struct rm_metrics;
struct uplink;

int lane_metrics_register(struct uplink *uplink, const struct analyzer_link *link,
    struct rm_metrics *metrics);

#endif
