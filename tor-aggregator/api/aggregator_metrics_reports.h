/*
 * aggregator_metrics_reports - metrics of the lanes to the analyzer, paths, requests of
 * controllers, and flows of services.
 */
#ifndef TOR_AGGREGATOR_API_AGGREGATOR_METRICS_REPORTS_H
#define TOR_AGGREGATOR_API_AGGREGATOR_METRICS_REPORTS_H

struct analyzer_link;
struct controller_requests;
struct rm_metrics;
struct service_table;
struct tor_rack;
struct report_spool;

/* The lanes to the analyzer, their spools and the link. */
int lane_metrics_register(struct report_spool *reports,
    const struct analyzer_link *link, struct rm_metrics *metrics);

/* label: the label of the rack, 'tor="t1"'. */
int path_metrics_of_rack(
    const struct tor_rack *rack, const char *label, struct rm_metrics *metrics);
int path_metrics_of_requests(
    const struct controller_requests *controller_requests, struct rm_metrics *metrics);

/* table: borrowed. */
int service_metrics_register(
    const struct service_table *table, struct rm_metrics *metrics);

#endif
