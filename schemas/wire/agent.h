/*
 * agent - an agent's RNICs, its heartbeat, what its reflectors and its RNICs counted,
 * and what it shall look at closely.
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

enum wire_setting {       /* of an RNIC; of each a number, but firmware and DSCPs */
	WIRE_SETTING_MTU, /* bytes, of its network device */
	WIRE_SETTING_ROCE_MTU, /* bytes, the active one of its RDMA port */
	WIRE_SETTING_SPEED,    /* Mb/s */
	WIRE_SETTING_PFC,      /* a bit for each priority that PFC is on for */
	WIRE_SETTING_FIRMWARE,
	WIRE_SETTING_TRAFFIC_CLASS, /* that the driver gives all RoCE packets */
	WIRE_SETTING_TRUST,         /* enum wire_trust */
	WIRE_SETTING_FEC,           /* enum wire_fec */
	WIRE_SETTING_DSCPS,
	WIRE_SETTING_GID_TYPES, /* bits of WIRE_GID_*: those that it has */
	WIRE_SETTINGS,
};

#define WIRE_TRAFFIC_CLASS_NONE 256 /* each program sets its own */

/* What decides a packet's priority. */
enum wire_trust { WIRE_TRUST_PCP, WIRE_TRUST_DSCP };

enum wire_gid_type { WIRE_GID_ROCE_V1 = 1, WIRE_GID_ROCE_V2 = 2 };

enum wire_fec { /* that is active: ETHTOOL_FEC_* of Linux */
	WIRE_FEC_OFF = 4,
	WIRE_FEC_RS = 8,
	WIRE_FEC_BASER = 16,
	WIRE_FEC_LLRS = 32,
};

#define WIRE_DSCPS 64
#define WIRE_NO_PRIORITY 255

struct wire_settings {
	uint32_t known; /* a bit for each that could be read; a newer peer has more */
	uint32_t numbers[WIRE_SETTINGS];
	const char *firmware;
	uint8_t dscps[WIRE_DSCPS]; /* the priority of each, or WIRE_NO_PRIORITY */
};

struct wire_register {
	const char *host;
	uint64_t incarnation;
	const struct wire_rnic *rnics;
	size_t rnic_count;
	const struct wire_settings *settings; /* of each of them; NULL: not told */
};

struct wire_register_view {
	struct wire_register reg; /* .rnics and .settings are NULL */
	const void *opaque;
};

int wire_write_register(struct wire_writer *writer, const struct wire_register *reg,
    struct wire_bytes *out);
int wire_open_register(
    struct wire_register_view *view, const uint8_t *data, size_t len);
void wire_register_rnic(
    const struct wire_register_view *view, size_t i, struct wire_rnic *out);
/* False: an agent too old to tell. */
bool wire_register_settings(
    const struct wire_register_view *view, size_t i, struct wire_settings *out);

/* ---- heartbeat, receive counts ---- */

struct wire_stall { /* the agent's loop did not turn, in its CLOCK_MONOTONIC */
	uint64_t start_ns, end_ns;
};

enum wire_slow { /* why an agent holds its own probing back */
	WIRE_SLOW_NOT,
	WIRE_SLOW_CPU,    /* it uses as much of a core as it may */
	WIRE_SLOW_MEMORY, /* as much memory */
	WIRE_SLOW_PLAN,   /* its pinglist has expired: nobody renews it */
	WIRE_SLOW_REASONS,
};

struct wire_heartbeat {
	uint64_t incarnation, seq;
	uint64_t now_ns;
	uint64_t loop_lag_max_ns; /* since the previous heartbeat */
	bool paused;              /* it sends no probe, by the brake or by hand */
	const struct wire_stall *stalls; /* since the previous heartbeat */
	size_t stall_count;
	uint64_t self_loss; /* packets our own receive queues dropped so far */
	/* All results that were known by then went out before this; 0: by now_ns. */
	uint64_t results_through_ns;
	/* The ids of all aggregators that this agent has a session with and has heard
	 * from lately, whichever it is told to. wire_open_heartbeat leaves live NULL:
	 * use wire_heartbeat_live. */
	const char *const *live;
	size_t live_count;
	uint64_t live_mute; /* bit i: live i says that it cannot deliver alerts */
	const void *opaque; /* of an opened one */
	/* Of what its pinglists ask for, what it lets itself probe; 0: all of it. */
	uint16_t slowed_permille;
	uint8_t slowed_reason; /* enum wire_slow; a newer peer may know more */
	bool paused_by_hand;   /* a person paused probing on this host */
};

int wire_write_heartbeat(struct wire_writer *writer, const struct wire_heartbeat *beat,
    struct wire_bytes *out);
/* .stalls is borrowed from the bytes. */
int wire_open_heartbeat(struct wire_heartbeat *view, const uint8_t *data, size_t len);
const char *wire_heartbeat_live(const struct wire_heartbeat *view, size_t i);

struct wire_count { /* fixed size */
	uint64_t own_guid, prober_guid;
	uint64_t received; /* probes since the agent's start, this prober and class */
	uint8_t own_port_num, prober_port_num;
	uint8_t dscp;
	uint8_t reserved[5];
};

#define WIRE_COUNT_BYTES 32

struct wire_counts {
	uint64_t incarnation;
	uint64_t now_ns;
	const struct wire_count
	    *rows; /* only those that changed since the last report */
	size_t row_count;
};

int wire_write_counts(struct wire_writer *writer, const struct wire_counts *counts,
    struct wire_bytes *out);
int wire_open_counts(struct wire_counts *view, const uint8_t *data, size_t len);

/* ---- counters of an RNIC ---- */

/* Those by which an aggregator diagnoses it, by number; names as in docs/counters.md. A
 * newer peer may know more of them. Numbers only grow, and none is given twice. */
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
	WIRE_COUNTER_PRIO_RX_BYTES, /* by priority, as all that are called prio or pfc
				     */
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
	/* Gauges, of the optical module; the first two by lane. */
	WIRE_COUNTER_OPTICS_RX_NW,
	WIRE_COUNTER_OPTICS_TX_NW,
	WIRE_COUNTER_OPTICS_RX_LOW_ALARM_NW,
	WIRE_COUNTERS,
};

#define WIRE_COUNTER_INDEXES 8 /* priorities, and lanes */

struct wire_counter_value { /* fixed size */
	uint64_t value;     /* counted in the interval; of a gauge what it is */
	uint16_t counter;   /* enum wire_counter; a newer peer may know more */
	uint8_t index;      /* priority or lane; 0 where there is but one */
	uint8_t reserved[5];
};

#define WIRE_COUNTER_VALUE_BYTES 16

/* What one RNIC counted between two readings. What was not read, or began again, is not
 * among its values: missing is not zero. */
struct wire_rnic_counters {
	struct wire_rnic_id id;
	uint64_t interval_ns;
	const struct wire_counter_value *values;
	size_t value_count; /* at most WIRE_MAX_COUNTER_VALUES */
};

struct wire_counter_report {
	uint64_t incarnation;
	const struct wire_rnic_counters *rnics; /* of an opened one NULL */
	size_t rnic_count;                      /* at most WIRE_MAX_HOST_RNICS */
	const void *opaque;                     /* of an opened one */
};

int wire_write_counter_report(struct wire_writer *writer,
    const struct wire_counter_report *report, struct wire_bytes *out);
int wire_open_counter_report(
    struct wire_counter_report *view, const uint8_t *data, size_t len);
/* .values is borrowed from the bytes. */
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
