/*
 * look_pace - how often RNICs are examined: soon, for less than a percent of a core.
 *
 * A look at an RDMA port opens hundreds of files of sysfs, and a host may have 64. All
 * looks together cost a quarter percent at those that are up, and as much at those that
 * are waited for; what an event tells of is looked at sooner, within half a percent.
 * Pure.
 */
#ifndef HOST_AGENT_RNIC_LOOK_PACE_H
#define HOST_AGENT_RNIC_LOOK_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* cpu_ns: what one look at each RNIC that is up, or at each that is not, costs, all
 * together. */
int64_t look_pace_ns(bool up, int64_t cpu_ns);
/* Between two rounds that events have asked for. */
int64_t look_pace_event_ns(int64_t cpu_ns);

#endif
