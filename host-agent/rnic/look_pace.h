/*
 * look_pace - how often RNICs are examined: soon after a change, but for less than a
 * percent of a core.
 *
 * Examining an RDMA port opens hundreds of sysfs files, and a host may have 64 ports.
 * All examinations of RNICs that are up take at most a quarter percent of a core, and
 * so do those of missing RNICs. After an event the next round comes sooner; such rounds
 * take at most half a percent. Pure.
 */
#ifndef HOST_AGENT_RNIC_LOOK_PACE_H
#define HOST_AGENT_RNIC_LOOK_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* Returns the ns between two rounds. up: rounds of the RNICs that are up; otherwise, of
 * those that are missing. cpu_ns: CPU time of examining each of these RNICs once. */
int64_t look_pace_ns(bool up, int64_t cpu_ns);
/* Returns the time between two rounds that events cause. */
int64_t look_pace_event_ns(int64_t cpu_ns);

#endif
