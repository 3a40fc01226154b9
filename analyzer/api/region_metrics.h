/*
 * region_metrics - a region's series on /metrics: its service levels, and its parts at
 * fault. At most PARTS_AT_FAULT_MAX parts, the newest; the number of further ones is
 * shown.
 */
#ifndef ANALYZER_API_REGION_METRICS_H
#define ANALYZER_API_REGION_METRICS_H

#define PARTS_AT_FAULT_MAX 512

struct analyzer;
struct rm_metrics;

/* The analyzer is borrowed for as long as the metrics. */
int region_metrics_register(
    const struct analyzer *analyzer, struct rm_metrics *metrics);

#endif
