/*
 * look_pace - how often RNICs are examined: soon after a change, but for less than a
 * percent of a core.
 *
 * Examining an RDMA port opens hundreds of sysfs files, and a host may have 64 ports.
 * All examinations of RNICs that are up cost a quarter percent of a core at most, those
 * of RNICs that are missing as much; after an event they come sooner, within half a
 * percent. Pure.
 */
#ifndef HOST_AGENT_RNIC_LOOK_PACE_H
#define HOST_AGENT_RNIC_LOOK_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* cpu_ns: the CPU time of examining once each RNIC that is up, or each that is not,
 * all together. */
int64_t look_pace_ns(bool up, int64_t cpu_ns);
/* Time between two rounds that events have asked for. */
int64_t look_pace_event_ns(int64_t cpu_ns);

#endif
