/*
 * path_metrics - what is counted of paths, and of orders from above.
 */
#ifndef TOR_AGGREGATOR_API_PATH_METRICS_H
#define TOR_AGGREGATOR_API_PATH_METRICS_H

struct orders;
struct rm_metrics;
struct tor_rack;

/* label: of the rack, 'tor="t1"'. */
int path_metrics_of_rack(
    const struct tor_rack *rack, const char *label, struct rm_metrics *metrics);
int path_metrics_of_orders(const struct orders *orders, struct rm_metrics *metrics);

#endif
