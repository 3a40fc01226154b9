/*
 * link_stats - the statistics of a network device's port that ethtool defines for all
 * drivers: pause frames, FEC, and those of the MAC and the PHY in IEEE 802.3.
 *
 * A driver has some of them, or none. Each kind is a request of its own, and only kinds
 * of which a name was found are read.
 */
#ifndef HOST_AGENT_COUNTERS_LINK_STATS_H
#define HOST_AGENT_COUNTERS_LINK_STATS_H

#include <stdbool.h>
#include <stdint.h>

#define LINK_LANES 8

enum link_stat {
	LINK_PAUSE_RX,
	LINK_PAUSE_TX,
	LINK_FEC_CORRECTED, /* blocks */
	LINK_FEC_UNCORRECTED,
	LINK_FEC_BITS, /* corrected bits; then the corrected bits of each lane */
	LINK_FEC_LANE,
	LINK_SYMBOL_ERRORS = LINK_FEC_LANE + LINK_LANES,
	LINK_FCS_ERRORS,
	LINK_RX_BYTES,
	LINK_TX_BYTES,
	LINK_RX_PKTS,
	LINK_TX_PKTS,
	LINK_STATS,
};

enum link_kind { LINK_PAUSE, LINK_FEC, LINK_STANDARD, LINK_KINDS };

struct counter_kernel;

struct link_stats { /* all zeros: none */
	uint16_t family;
	unsigned used; /* bits: the kinds of statistics of which a name was found */
	bool there[LINK_STATS];
	uint64_t value[LINK_STATS];
};

/* Reads the names of all kinds. No kind is used until link_stats_find has found one of
 * its names. */
void link_stats_look(
    struct link_stats *stats, const struct counter_kernel *kernel, const char *netdev);
/* Returns the index of a name ("pause_rx", "fec_lane_3") that the driver has, or
 * -ENOENT. Its kind is used from then on. */
int link_stats_find(struct link_stats *stats, const char *name);
/* Reads all kinds that are used. */
void link_stats_read(
    struct link_stats *stats, const struct counter_kernel *kernel, const char *netdev);

#endif
