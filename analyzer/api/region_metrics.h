/*
 * region_metrics - what a region does, as series of /metrics: its service levels, and
 * what is at fault in it.
 *
 * Bounded: PARTS_AT_FAULT_MAX parts, the newest; how many more there are is said.
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
