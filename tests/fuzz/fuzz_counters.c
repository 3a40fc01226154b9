/*
 * A fake driver with any counters: a file of sysfs with any content, and an ethtool
 * with any names and numbers, which may change between requests. Every value found is
 * one that the driver showed.
 *
 * Input: the content of the file; then the number of names for each of three requests,
 * and the names.
 */
#include <ctype.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/counters/counter_table.h"
#include "host-agent/counters/netdev_stats.h"
#include "host-agent/kernel/counter_kernel.h"
#include "tests/fuzz/bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define MOST 64 /* names that may appear between two requests */

static const char *const stat_names[] = { "rx_prio3_pause", "rx_prio3_pause_duration",
	"", "rx_vport_rdma_multicast_packets_" };

static int
answer(void *arg, const char *netdev, void *command)
{
	struct fuzz_bytes *bytes = arg;
	struct ethtool_sset_info *sets = command;
	struct ethtool_gstrings *names = command;
	struct ethtool_stats *values = command;
	uint32_t count = fuzz_u8(bytes) % MOST;

	if (fuzz_u8(bytes) == 255)
		return -EIO;
	switch (sets->cmd) {
	case ETHTOOL_GSSET_INFO:
		sets->sset_mask = fuzz_u8(bytes) == 254 ? 0 : sets->sset_mask;
		memcpy(sets->data, &count, sizeof(count));
		return 0;
	case ETHTOOL_GSTRINGS:
		names->len = count;
		for (uint32_t i = 0; i < count; i++)
			strncpy((char *)names->data + i * ETH_GSTRING_LEN,
			    stat_names[fuzz_u8(bytes) % 4], ETH_GSTRING_LEN);
		return 0;
	default:
		values->n_stats = count;
		for (uint32_t i = 0; i < count; i++)
			memset((uint8_t *)values->data + i * 8, (int)i, 8);
		return 0;
	}
}

static void
read_text(struct fuzz_bytes *bytes)
{
	const struct fuzz_bytes part = fuzz_part(bytes, UINT8_MAX);
	char *text = malloc(part.left + 1); /* of exact length */
	uint64_t value = 0;

	if (text == NULL)
		return;
	memcpy(text, part.at, part.left);
	if (counter_text_read(text, part.left, &value) == 0 &&
	    (part.left == 0 || !isalnum((unsigned char)text[0])))
		abort();
	text[part.left] = '\0'; /* the text as the name of a driver */
	if (counter_driver_of(text) >= COUNTER_DRIVERS)
		abort();
	free(text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_bytes bytes = { data, len };
	const struct counter_kernel kernel = { .ethtool = answer, .arg = &bytes };
	struct netdev_stats stats = { 0 };

	read_text(&bytes);
	while (bytes.left > 0) {
		int r = netdev_stats_look(&stats, &kernel, "eth1");

		if (r == 0)
			r = netdev_stats_read(&stats, &kernel, "eth1");
		if ((r == 0 && stats.count > 0) != stats.there)
			abort();
		for (size_t i = 0; i < 4; i++) {
			int at = netdev_stats_find(&stats, stat_names[i]);

			if (at >= 0 && stats.there &&
			    (netdev_stats_value(&stats, (size_t)at) & 0xff) !=
				(unsigned)at)
				abort();
		}
	}
	netdev_stats_clear(&stats);
	return 0;
}
