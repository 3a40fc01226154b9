/*
 * agent - messages of an agent: the registration of its RNICs, its heartbeat, the
 * receive counts of its reflectors, the counters of its RNICs; and a message to it:
 * pairs to probe faster (focus).
 */
#ifndef SCHEMAS_WIRE_AGENT_H
#define SCHEMAS_WIRE_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/wire/identity.h"
#include "schemas/wire/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- registration ---- */

/* The settings of an RNIC; all are numbers except firmware and DSCPs. */
enum wire_setting {
	WIRE_SETTING_MTU,      /* MTU of the network device, in bytes */
	WIRE_SETTING_ROCE_MTU, /* active MTU of the RDMA port, in bytes */
	WIRE_SETTING_SPEED,    /* Mb/s */
	WIRE_SETTING_PFC,      /* a bit for each priority with PFC */
	WIRE_SETTING_FIRMWARE,
	/* traffic class that the driver sets in all RoCE packets */
	WIRE_SETTING_TRAFFIC_CLASS,
	WIRE_SETTING_TRUST, /* enum wire_trust */
	WIRE_SETTING_FEC,   /* enum wire_fec */
	WIRE_SETTING_DSCPS,
	WIRE_SETTING_GID_TYPES, /* bits of WIRE_GID_* */
	WIRE_SETTINGS,
};

#define WIRE_TRAFFIC_CLASS_NONE 256 /* each application sets its own */

/* The field of a packet that decides its priority. */
enum wire_trust { WIRE_TRUST_PCP, WIRE_TRUST_DSCP };

enum wire_gid_type { WIRE_GID_ROCE_V1 = 1, WIRE_GID_ROCE_V2 = 2 };

enum wire_fec { /* the active FEC: ETHTOOL_FEC_* of Linux */
	WIRE_FEC_OFF = 4,
	WIRE_FEC_RS = 8,
	WIRE_FEC_BASER = 16,
	WIRE_FEC_LLRS = 32,
};

#define WIRE_DSCPS 64
#define WIRE_NO_PRIORITY 255
/* The ports of a bond differ in a setting that is a number, or in the priority of a
 * DSCP. No setting has this value, so an older peer, too, sees that it is not the
 * expected one. */
#define WIRE_PORTS_DIFFER UINT32_MAX
#define WIRE_PRIORITIES_DIFFER 254

#define WIRE_BOND_PORTS_BYTES 80

struct wire_settings {
	/* a bit for each enum wire_setting that was read; a newer peer may set further
	 * bits */
	uint32_t known;
	uint32_t numbers[WIRE_SETTINGS];
	const char *firmware;
	uint8_t dscps[WIRE_DSCPS]; /* priority of each DSCP, or WIRE_NO_PRIORITY or
				      WIRE_PRIORITIES_DIFFER */
	/* The network devices of which a bond consists, separated by one blank: "eth0
	 * eth1". "": the RNIC is no bond, or the agent is older. Not a setting that is
	 * compared. */
	char bond_ports[WIRE_BOND_PORTS_BYTES];
};

struct wire_register {
	const char *host;
	uint64_t incarnation;
	const struct wire_rnic *rnics;
	size_t rnic_count;
	/* settings of each RNIC; NULL: the agent does not report settings */
	const struct wire_settings *settings;
};

struct wire_register_view {
	struct wire_register reg; /* reg.rnics and reg.settings are NULL */
	const void *opaque;
};

int wire_write_register(struct wire_writer *writer, const struct wire_register *reg,
    struct wire_bytes *out);
int wire_open_register(
    struct wire_register_view *view, const uint8_t *data, size_t len);
void wire_register_rnic(
    const struct wire_register_view *view, size_t i, struct wire_rnic *out);
/* Copies the settings of RNIC i. False: the agent is too old to report settings. */
bool wire_register_settings(
    const struct wire_register_view *view, size_t i, struct wire_settings *out);

/* ---- heartbeat, receive counts ---- */

/* a time in which the agent's loop did not run, by the agent's CLOCK_MONOTONIC */
struct wire_stall {
	uint64_t start_ns, end_ns;
};

enum wire_slow { /* why an agent slows down its own probing */
	WIRE_SLOW_NOT,
	WIRE_SLOW_CPU,    /* the agent has reached its limit on CPU time */
	WIRE_SLOW_MEMORY, /* the agent has reached its limit on memory */
	/* the agent's pinglist has expired, and no aggregator sends a new one */
	WIRE_SLOW_PLAN,
	WIRE_SLOW_REASONS,
};

struct wire_heartbeat {
	uint64_t incarnation, seq;
	uint64_t now_ns;
	/* largest lag of the loop since the previous heartbeat */
	uint64_t loop_lag_max_ns;
	/* the agent sends no probes, because of the brake or because an operator paused
	 * it */
	bool paused;
	const struct wire_stall *stalls; /* stalls since the previous heartbeat */
	size_t stall_count;
	/* packets that the agent's own receive queues have dropped so far */
	uint64_t self_loss;
	/* All results that the agent knew at this time were sent before this heartbeat;
	 * 0: all results that it knew at now_ns. */
	uint64_t results_through_ns;
	/* The ids of all aggregators with which this agent has a session and from which
	 * it has received a message lately. Each aggregator gets the whole list.
	 * wire_open_heartbeat leaves live NULL: use wire_heartbeat_live. */
	const char *const *live;
	size_t live_count;
	/* bit i: aggregator i of `live` reports that it cannot deliver alerts */
	uint64_t live_mute;
	const void *opaque; /* private; set in an opened message */
	/* The share of its pinglists' rates at which the agent probes, in 1/1000; 0:
	 * the full rates. */
	uint16_t slowed_permille;
	uint8_t slowed_reason; /* enum wire_slow; a newer peer may send other values */
	bool paused_by_hand;   /* an operator has paused probing on this host */
};

int wire_write_heartbeat(struct wire_writer *writer, const struct wire_heartbeat *beat,
    struct wire_bytes *out);
/* beat.stalls is borrowed from the bytes. */
int wire_open_heartbeat(struct wire_heartbeat *view, const uint8_t *data, size_t len);
const char *wire_heartbeat_live(const struct wire_heartbeat *view, size_t i);

struct wire_count { /* fixed size */
	uint64_t own_guid, prober_guid;
	/* probes from this prober in this class, since the agent's start */
	uint64_t received;
	uint8_t own_port_num, prober_port_num;
	uint8_t dscp;
	uint8_t reserved[5];
};

#define WIRE_COUNT_BYTES 32

struct wire_counts {
	uint64_t incarnation;
	uint64_t now_ns;
	const struct wire_count
	    *rows; /* the rows that have changed since the last report */
	size_t row_count;
};

int wire_write_counts(struct wire_writer *writer, const struct wire_counts *counts,
    struct wire_bytes *out);
int wire_open_counts(struct wire_counts *view, const uint8_t *data, size_t len);

/* ---- counters of an RNIC ---- */

/* The counters of an RNIC by which an aggregator diagnoses it; docs/counters.md has
 * their names. A newer peer may send other numbers. New counters get new numbers at the
 * end; a number is never reused. */
enum wire_counter {
	WIRE_COUNTER_RDMA_RX_BYTES = 1,
	WIRE_COUNTER_RDMA_TX_BYTES,
	WIRE_COUNTER_RDMA_RX_PKTS,
	WIRE_COUNTER_RDMA_TX_PKTS,
	WIRE_COUNTER_ECN_CE_RX,
	WIRE_COUNTER_CNP_TX,
	WIRE_COUNTER_CNP_RX_HANDLED,
	WIRE_COUNTER_CNP_RX_IGNORED,
	WIRE_COUNTER_OOS_RX,
	WIRE_COUNTER_NAK_SEQ_RX,
	WIRE_COUNTER_ACK_TIMEOUT,
	WIRE_COUNTER_RETRY_EXCEEDED,
	WIRE_COUNTER_RNR_NAK_RX,
	WIRE_COUNTER_RNR_NAK_TX,
	WIRE_COUNTER_RX_OUT_OF_BUFFER,
	WIRE_COUNTER_ICRC_ERR,
	/* a value for each priority, as for all counters with PRIO or PFC in their
	   names */
	WIRE_COUNTER_PRIO_RX_BYTES,
	WIRE_COUNTER_PRIO_RX_DISCARDS,
	WIRE_COUNTER_PFC_RX_FRAMES,
	WIRE_COUNTER_PFC_TX_FRAMES,
	WIRE_COUNTER_PFC_RX_PAUSE_US,
	WIRE_COUNTER_PFC_TX_PAUSE_US,
	WIRE_COUNTER_PFC_ENABLED, /* a gauge */
	WIRE_COUNTER_GPAUSE_RX_FRAMES,
	WIRE_COUNTER_GPAUSE_TX_FRAMES,
	WIRE_COUNTER_PAUSE_STORM_WARN,
	WIRE_COUNTER_PAUSE_STORM_ERR,
	WIRE_COUNTER_PHY_RX_DISCARDS,
	WIRE_COUNTER_RX_BUF_THRESH,
	WIRE_COUNTER_CRC_ERR,
	WIRE_COUNTER_SYMBOL_ERR,
	WIRE_COUNTER_FEC_CORRECTED_BITS,
	WIRE_COUNTER_FEC_UNCORR,
	WIRE_COUNTER_PHY_RX_BITS,
	WIRE_COUNTER_LINK_DOWN,
	WIRE_COUNTER_CARRIER_CHANGES,
	WIRE_COUNTER_MTU_ERR,
	WIRE_COUNTER_PCI_RX_OVERFLOW,
	WIRE_COUNTER_PCI_STALL_WR_PCT, /* a gauge */
	WIRE_COUNTER_PCI_STALL_WR_S,
	WIRE_COUNTER_PCI_SIGNAL_RX,
	WIRE_COUNTER_PCI_SIGNAL_TX,
	WIRE_COUNTER_PORT_RATE_MBPS, /* a gauge */
	/* Gauges of the optical module; the first two have a value for each lane. */
	WIRE_COUNTER_OPTICS_RX_NW,
	WIRE_COUNTER_OPTICS_TX_NW,
	WIRE_COUNTER_OPTICS_RX_LOW_ALARM_NW,
	/* Gauges of the PCIe link, and of the slot's end of this link. */
	WIRE_COUNTER_PCI_LINK_LANES,
	WIRE_COUNTER_PCI_LINK_LANES_MAX,
	WIRE_COUNTER_PCI_SLOT_LANES_MAX,
	WIRE_COUNTER_PCI_LINK_MTS,
	WIRE_COUNTER_PCI_LINK_MTS_MAX,
	WIRE_COUNTER_PCI_SLOT_MTS_MAX,
	WIRE_COUNTER_PCI_ERR_CORRECTABLE,
	WIRE_COUNTER_PCI_ERR_NONFATAL,
	WIRE_COUNTER_PCI_ERR_FATAL,
	WIRE_COUNTERS,
};

#define WIRE_COUNTER_INDEXES 8 /* priorities, and lanes */

struct wire_counter_value { /* fixed size */
	uint64_t value;     /* increase in the interval; for a gauge, its value */
	uint16_t counter;   /* enum wire_counter; a newer peer may send other values */
	uint8_t index;      /* priority or lane; 0 if the counter has one value */
	uint8_t reserved[5];
};

#define WIRE_COUNTER_VALUE_BYTES 16

/* The increases of the counters of one RNIC between two readings, and the values of its
 * gauges at the second reading. A counter that was not read, or that restarted, is left
 * out: do not treat it as 0. */
struct wire_rnic_counters {
	struct wire_rnic_id id;
	uint64_t interval_ns;
	const struct wire_counter_value *values;
	size_t value_count; /* at most WIRE_MAX_COUNTER_VALUES */
};

struct wire_counter_report {
	uint64_t incarnation;
	const struct wire_rnic_counters *rnics; /* NULL in an opened message */
	size_t rnic_count;                      /* at most WIRE_MAX_HOST_RNICS */
	const void *opaque;                     /* private; set in an opened message */
};

int wire_write_counter_report(struct wire_writer *writer,
    const struct wire_counter_report *report, struct wire_bytes *out);
int wire_open_counter_report(
    struct wire_counter_report *view, const uint8_t *data, size_t len);
/* values is borrowed from the bytes. */
void wire_counter_report_rnic(
    const struct wire_counter_report *view, size_t i, struct wire_rnic_counters *out);

/* ---- focus (aggregator -> agent) ---- */

struct wire_focus {
	struct wire_rnic_id src, dst;
	uint32_t interval_us;
	uint32_t duration_ms;
};

int wire_write_focus(
    struct wire_writer *writer, const struct wire_focus *focus, struct wire_bytes *out);
int wire_open_focus(struct wire_focus *view, const uint8_t *data, size_t len);

#ifdef __cplusplus
}
#endif

#endif
