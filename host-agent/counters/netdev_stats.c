#include "host-agent/counters/netdev_stats.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/kernel/counter_kernel.h"

/* Room for more values than were counted: the kernel writes all values that exist, and
 * some may have been added after the count. */
#define SLACK 1024

static int
make_room(struct netdev_stats *stats, size_t count)
{
	const size_t room = count + SLACK;

	if (room <= stats->room)
		return 0;
	netdev_stats_clear(stats);
	stats->names = calloc(1, sizeof(*stats->names) + room * ETH_GSTRING_LEN);
	stats->values = calloc(1, sizeof(*stats->values) + room * sizeof(uint64_t));
	if (stats->names == NULL || stats->values == NULL) {
		netdev_stats_clear(stats);
		return -ENOMEM;
	}
	stats->room = room;
	return 0;
}

static int
read_count(const struct counter_kernel *kernel, const char *netdev, uint32_t *ret)
{
	const uint64_t wanted = UINT64_C(1) << ETH_SS_STATS;
	union {
		struct ethtool_sset_info sets;
		uint8_t room[sizeof(struct ethtool_sset_info) + sizeof(uint32_t)];
	} ask = { .sets = { .cmd = ETHTOOL_GSSET_INFO, .sset_mask = wanted } };
	int r = kernel->ethtool(kernel->arg, netdev, &ask);

	if (r == 0 && ask.sets.sset_mask != wanted)
		r = -EOPNOTSUPP;
	if (r == 0)
		memcpy(ret, ask.room + sizeof(struct ethtool_sset_info), sizeof(*ret));
	return r;
}

int
netdev_stats_look(
    struct netdev_stats *stats, const struct counter_kernel *kernel, const char *netdev)
{
	uint32_t count = 0;
	int r;

	stats->count = 0;
	stats->there = false;
	if (kernel->ethtool == NULL)
		return -EOPNOTSUPP;
	r = read_count(kernel, netdev, &count);
	if (r == 0 && count > NETDEV_STATS_MAX)
		r = -E2BIG;
	if (r == 0)
		r = make_room(stats, count);
	if (r < 0)
		return r;
	*stats->names = (struct ethtool_gstrings){
		.cmd = ETHTOOL_GSTRINGS, .string_set = ETH_SS_STATS, .len = count
	};
	r = kernel->ethtool(kernel->arg, netdev, stats->names);
	if (r == 0 && stats->names->len > stats->room)
		r = -E2BIG;
	if (r == 0)
		stats->count = stats->names->len;
	return r;
}

int
netdev_stats_find(const struct netdev_stats *stats, const char *name)
{
	const size_t len = strlen(name);

	for (size_t i = 0; i < stats->count && len <= ETH_GSTRING_LEN; i++) {
		const char *at = (const char *)stats->names->data + i * ETH_GSTRING_LEN;

		if (strnlen(at, ETH_GSTRING_LEN) == len && memcmp(at, name, len) == 0)
			return (int)i;
	}
	return -ENOENT;
}

int
netdev_stats_read(
    struct netdev_stats *stats, const struct counter_kernel *kernel, const char *netdev)
{
	int r;

	stats->there = false;
	if (stats->count == 0)
		return 0;
	stats->values->cmd = ETHTOOL_GSTATS;
	stats->values->n_stats = (uint32_t)stats->count;
	r = kernel->ethtool(kernel->arg, netdev, stats->values);
	if (r == 0 && stats->values->n_stats != stats->count)
		r = -ESTALE;
	stats->there = r == 0;
	return r;
}

uint64_t
netdev_stats_value(const struct netdev_stats *stats, size_t i)
{
	uint64_t value;

	memcpy(&value, (const uint8_t *)stats->values->data + i * sizeof(value),
	    sizeof(value));
	return value;
}

void
netdev_stats_clear(struct netdev_stats *stats)
{
	free(stats->names);
	free(stats->values);
	*stats = (struct netdev_stats){ 0 };
}
