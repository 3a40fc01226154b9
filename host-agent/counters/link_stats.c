#include "host-agent/counters/link_stats.h"

#include <errno.h>
#include <linux/ethtool_netlink.h>
#include <stdio.h>
#include <string.h>

#include "host-agent/kernel/ethtool_netlink.h"
#include "host-agent/kernel/netlink_reply.h"

#define REPLY_BYTES 4096

static const struct {
	const char *name; /* name of the statistic of each lane: see link_stats_find */
	uint8_t kind, group, type;
} rows[LINK_STATS] = {
	[LINK_PAUSE_RX] = { "pause_rx", LINK_PAUSE, 0, ETHTOOL_A_PAUSE_STAT_RX_FRAMES },
	[LINK_PAUSE_TX] = { "pause_tx", LINK_PAUSE, 0, ETHTOOL_A_PAUSE_STAT_TX_FRAMES },
	[LINK_FEC_CORRECTED] = { "fec_corrected", LINK_FEC, 0,
	    ETHTOOL_A_FEC_STAT_CORRECTED },
	[LINK_FEC_UNCORRECTED] = { "fec_uncorrected", LINK_FEC, 0,
	    ETHTOOL_A_FEC_STAT_UNCORR },
	[LINK_FEC_BITS] = { "fec_corrected_bits", LINK_FEC, 0,
	    ETHTOOL_A_FEC_STAT_CORR_BITS },
	[LINK_SYMBOL_ERRORS] = { "symbol_errors", LINK_STANDARD, ETHTOOL_STATS_ETH_PHY,
	    ETHTOOL_A_STATS_ETH_PHY_5_SYM_ERR },
	[LINK_FCS_ERRORS] = { "fcs_errors", LINK_STANDARD, ETHTOOL_STATS_ETH_MAC,
	    ETHTOOL_A_STATS_ETH_MAC_6_FCS_ERR },
	[LINK_RX_BYTES] = { "rx_bytes", LINK_STANDARD, ETHTOOL_STATS_ETH_MAC,
	    ETHTOOL_A_STATS_ETH_MAC_14_RX_BYTES },
	[LINK_TX_BYTES] = { "tx_bytes", LINK_STANDARD, ETHTOOL_STATS_ETH_MAC,
	    ETHTOOL_A_STATS_ETH_MAC_8_TX_BYTES },
	[LINK_RX_PKTS] = { "rx_pkts", LINK_STANDARD, ETHTOOL_STATS_ETH_MAC,
	    ETHTOOL_A_STATS_ETH_MAC_5_RX_PKT },
	[LINK_TX_PKTS] = { "tx_pkts", LINK_STANDARD, ETHTOOL_STATS_ETH_MAC,
	    ETHTOOL_A_STATS_ETH_MAC_2_TX_PKT },
};

static bool
is_lane(unsigned i)
{
	return i >= LINK_FEC_LANE && i < LINK_FEC_LANE + LINK_LANES;
}

static unsigned
kind_of(unsigned i)
{
	return is_lane(i) ? LINK_FEC : rows[i].kind;
}

static void
set(struct link_stats *stats, unsigned i, uint64_t value)
{
	stats->there[i] = true;
	stats->value[i] = value;
}

static void
forget(struct link_stats *stats, unsigned kind)
{
	for (unsigned i = 0; i < LINK_STATS; i++)
		if (kind_of(i) == kind)
			stats->there[i] = false;
}

/* Stores one number of the group. Attributes of another length are padding. */
static void
take_number(struct link_stats *stats, unsigned kind, unsigned group,
    const struct netlink_attribute *attribute)
{
	uint64_t value;

	if (!netlink_u64(attribute, &value))
		return;
	for (unsigned i = 0; i < LINK_STATS; i++)
		if (!is_lane(i) && rows[i].kind == kind && rows[i].group == group &&
		    rows[i].type == attribute->type)
			set(stats, i, value);
}

/* The attribute contains the sum over all lanes, which is the number of the port, and
 * with some drivers after it the number of each lane. Stores them. */
static void
take_fec(struct link_stats *stats, const struct netlink_attribute *attribute)
{
	const size_t count = attribute->len / sizeof(uint64_t);
	struct netlink_attribute sum = *attribute;
	uint64_t value;

	if (count == 0)
		return;
	sum.len = sizeof(uint64_t);
	take_number(stats, LINK_FEC, 0, &sum);
	for (size_t i = 1; attribute->type == ETHTOOL_A_FEC_STAT_CORR_BITS &&
			   i < count && i <= LINK_LANES;
	     i++) {
		memcpy(&value, attribute->data + i * sizeof(value), sizeof(value));
		set(stats, LINK_FEC_LANE + (unsigned)i - 1, value);
	}
}

/* Stores the statistics of one group: first comes the id of the group, then each
 * statistic in a nested attribute. */
static void
take_group(struct link_stats *stats, struct netlink_reader reader)
{
	struct netlink_attribute attribute, number;
	uint32_t group = UINT32_MAX;

	while (netlink_next(&reader, &attribute)) {
		struct netlink_reader inside = netlink_inside(&attribute);

		if (attribute.type == ETHTOOL_A_STATS_GRP_ID)
			(void)netlink_u32(&attribute, &group);
		while (attribute.type == ETHTOOL_A_STATS_GRP_STAT &&
		       netlink_next(&inside, &number))
			take_number(stats, LINK_STANDARD, group, &number);
	}
}

static void
take(struct link_stats *stats, enum link_kind kind, struct netlink_reader body)
{
	static const unsigned tables[] = { [LINK_PAUSE] = ETHTOOL_A_PAUSE_STATS,
		[LINK_FEC] = ETHTOOL_A_FEC_STATS,
		[LINK_STANDARD] = ETHTOOL_A_STATS_GRP };
	struct netlink_attribute table, attribute;

	while (netlink_next(&body, &table)) {
		struct netlink_reader inside = netlink_inside(&table);

		if (table.type != tables[kind])
			continue;
		if (kind == LINK_STANDARD)
			take_group(stats, inside);
		else
			while (netlink_next(&inside, &attribute))
				if (kind == LINK_FEC)
					take_fec(stats, &attribute);
				else
					take_number(stats, kind, 0, &attribute);
	}
}

/* Adds the set of groups that the kernel shall return, as a compact bitset. */
static void
add_groups(struct ethtool_question *question)
{
	const uint32_t groups =
	    1u << ETHTOOL_STATS_ETH_PHY | 1u << ETHTOOL_STATS_ETH_MAC;
	struct ethtool_question set = { .len = 0 };

	ethtool_add(&set, ETHTOOL_A_BITSET_NOMASK, "", 0);
	ethtool_add_u32(&set, ETHTOOL_A_BITSET_SIZE, ETHTOOL_STATS_RMON + 1);
	ethtool_add_u32(&set, ETHTOOL_A_BITSET_VALUE, groups);
	ethtool_add(question, ETHTOOL_A_STATS_GROUPS | NLA_F_NESTED, set.rest, set.len);
}

static void
read_kind(struct link_stats *stats, const struct counter_kernel *kernel,
    const char *netdev, enum link_kind kind)
{
	static const struct {
		uint8_t command, header;
		uint32_t flags;
	} requests[] = {
		[LINK_PAUSE] = { ETHTOOL_MSG_PAUSE_GET, ETHTOOL_A_PAUSE_HEADER,
		    ETHTOOL_FLAG_STATS },
		[LINK_FEC] = { ETHTOOL_MSG_FEC_GET, ETHTOOL_A_FEC_HEADER,
		    ETHTOOL_FLAG_STATS },
		[LINK_STANDARD] = { ETHTOOL_MSG_STATS_GET, ETHTOOL_A_STATS_HEADER, 0 },
	};
	struct ethtool_question question;
	uint8_t reply[REPLY_BYTES];
	struct netlink_reader body;

	forget(stats, kind);
	ethtool_begin(&question, requests[kind].command, requests[kind].header, netdev,
	    requests[kind].flags);
	if (kind == LINK_STANDARD)
		add_groups(&question);
	if (ethtool_ask(
		kernel, &question, stats->family, reply, sizeof(reply), &body) == 0)
		take(stats, kind, body);
}

void
link_stats_look(
    struct link_stats *stats, const struct counter_kernel *kernel, const char *netdev)
{
	*stats = (struct link_stats){ 0 };
	if (ethtool_family(kernel, &stats->family) < 0)
		return;
	for (unsigned kind = 0; kind < LINK_KINDS; kind++)
		read_kind(stats, kernel, netdev, (enum link_kind)kind);
}

int
link_stats_find(struct link_stats *stats, const char *name)
{
	char own[32];

	for (unsigned i = 0; i < LINK_STATS; i++) {
		if (is_lane(i))
			snprintf(own, sizeof(own), "fec_lane_%u", i - LINK_FEC_LANE);
		else
			snprintf(own, sizeof(own), "%s", rows[i].name);
		if (!stats->there[i] || strcmp(own, name) != 0)
			continue;
		stats->used |= 1u << kind_of(i);
		return (int)i;
	}
	return -ENOENT;
}

void
link_stats_read(
    struct link_stats *stats, const struct counter_kernel *kernel, const char *netdev)
{
	for (unsigned kind = 0; kind < LINK_KINDS; kind++)
		if ((stats->used >> kind & 1) != 0)
			read_kind(stats, kernel, netdev, (enum link_kind)kind);
}
