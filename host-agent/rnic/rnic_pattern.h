/*
 * rnic_pattern - matches a host's devices with an entry of the config. Pure.
 */
#ifndef HOST_AGENT_RNIC_RNIC_PATTERN_H
#define HOST_AGENT_RNIC_RNIC_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

struct rnic_pattern {                /* borrowed */
	const char *device;          /* "auto": any */
	const char *driver, *netdev; /* NULL: any */
	char *const *except;         /* patterns of devices and network devices */
	size_t except_count;
};

/* True: device is "auto", or has * ? or [ in it, so it is not the name of one
 * device. */
bool rnic_pattern_is(const char *device);
/* netdev: "" if the device has none. */
bool rnic_pattern_matches(const struct rnic_pattern *pattern, const char *device,
    const char *netdev, const char *driver);

#endif
