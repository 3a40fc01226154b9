/*
 * netdev_stats - the named statistics of a network device's driver.
 *
 * A driver has hundreds of them. Their number changes with the configuration of the
 * device: then netdev_stats_look has to read the names again.
 */
#ifndef HOST_AGENT_COUNTERS_NETDEV_STATS_H
#define HOST_AGENT_COUNTERS_NETDEV_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NETDEV_STATS_MAX 16384

struct counter_kernel;
struct ethtool_gstrings;
struct ethtool_stats;

struct netdev_stats { /* all zeros: none */
	size_t count, room;
	struct ethtool_gstrings *names;
	struct ethtool_stats *values;
	bool there; /* the last reading was complete */
};

/* Reads the names. Allocates memory only when there are more names than in any earlier
 * call. */
int netdev_stats_look(struct netdev_stats *stats, const struct counter_kernel *kernel,
    const char *netdev);
/* Returns the index of a name, or -ENOENT. */
int netdev_stats_find(const struct netdev_stats *stats, const char *name);
/* Reads all values at once. -ESTALE: the driver has other names now: call
 * netdev_stats_look. */
int netdev_stats_read(struct netdev_stats *stats, const struct counter_kernel *kernel,
    const char *netdev);
uint64_t netdev_stats_value(const struct netdev_stats *stats, size_t i);
void netdev_stats_clear(struct netdev_stats *stats);

#endif
