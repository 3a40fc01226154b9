/*
 * netdev_stats - the named statistics of a network device's driver.
 *
 * Drivers have hundreds, and add some when the device is configured differently: then
 * the names have to be read again.
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
	bool there; /* the last reading had them all */
};

/* Reads the names. Allocates memory only if there are more than ever before. */
int netdev_stats_look(struct netdev_stats *stats, const struct counter_kernel *kernel,
    const char *netdev);
/* The index of a name, or -ENOENT. */
int netdev_stats_find(const struct netdev_stats *stats, const char *name);
/* Reads all values at once. -ESTALE: the names have changed. */
int netdev_stats_read(struct netdev_stats *stats, const struct counter_kernel *kernel,
    const char *netdev);
uint64_t netdev_stats_value(const struct netdev_stats *stats, size_t i);
void netdev_stats_clear(struct netdev_stats *stats);

#endif
