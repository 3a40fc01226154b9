#include "schemas/wire/text.h"

#include <arpa/inet.h>
#include <stdio.h>

const char *
wire_outcome_str(unsigned outcome)
{
	static const char *const names[WIRE_OUTCOMES] = {
		[WIRE_OK] = "ok",
		[WIRE_NO_REPLY] = "no_reply",
		[WIRE_LATE_REPLY] = "late_reply",
		[WIRE_SEND_FAILED] = "send_failed",
		[WIRE_SENT_LATE] = "sent_late",
		[WIRE_STALE_QPN] = "stale_qpn",
		[WIRE_SELF_LOSS] = "self_loss",
		[WIRE_INVALID] = "invalid",
	};

	return outcome < WIRE_OUTCOMES ? names[outcome] : "unknown";
}

const char *
wire_invalid_str(unsigned reason)
{
	static const char *const names[WIRE_INVALID_REASONS] = {
		[WIRE_VALID] = "none",
		[WIRE_T4_BEFORE_T3] = "t4_before_t3",
		[WIRE_T5_BEFORE_T2] = "t5_before_t2",
		[WIRE_RTT_NEGATIVE] = "rtt_negative",
		[WIRE_DELAY_NEGATIVE] = "delay_negative",
		[WIRE_ABSURD] = "absurd",
	};

	return reason < WIRE_INVALID_REASONS ? names[reason] : "unknown";
}

const char *
wire_probe_kind_str(unsigned kind)
{
	static const char *const names[WIRE_PROBE_KINDS] = {
		[WIRE_TOR_MESH] = "tor_mesh",
		[WIRE_INTER_TOR] = "inter_tor",
		[WIRE_WITNESS] = "witness",
		[WIRE_TOR_REFLECTOR] = "tor_reflector",
		[WIRE_SERVICE] = "service",
	};

	return kind < WIRE_PROBE_KINDS ? names[kind] : "unknown";
}

const char *
wire_slow_str(unsigned reason)
{
	static const char *const names[WIRE_SLOW_REASONS] = {
		[WIRE_SLOW_NOT] = "none",
		[WIRE_SLOW_CPU] = "cpu",
		[WIRE_SLOW_MEMORY] = "memory",
		[WIRE_SLOW_PLAN] = "plan",
	};

	return reason < WIRE_SLOW_REASONS ? names[reason] : "unknown";
}

bool
wire_counter_is_gauge(unsigned counter)
{
	return counter == WIRE_COUNTER_PFC_ENABLED ||
	       counter == WIRE_COUNTER_PCI_STALL_WR_PCT ||
	       counter == WIRE_COUNTER_PORT_RATE_MBPS ||
	       counter == WIRE_COUNTER_OPTICS_RX_NW ||
	       counter == WIRE_COUNTER_OPTICS_TX_NW ||
	       counter == WIRE_COUNTER_OPTICS_RX_LOW_ALARM_NW ||
	       (counter >= WIRE_COUNTER_PCI_LINK_LANES &&
		   counter <= WIRE_COUNTER_PCI_SLOT_MTS_MAX);
}

const char *
wire_counter_str(unsigned counter)
{
	static const char *const names[WIRE_COUNTERS] = {
		[WIRE_COUNTER_RDMA_RX_BYTES] = "rdma_rx_bytes",
		[WIRE_COUNTER_RDMA_TX_BYTES] = "rdma_tx_bytes",
		[WIRE_COUNTER_RDMA_RX_PKTS] = "rdma_rx_pkts",
		[WIRE_COUNTER_RDMA_TX_PKTS] = "rdma_tx_pkts",
		[WIRE_COUNTER_ECN_CE_RX] = "ecn_ce_rx",
		[WIRE_COUNTER_CNP_TX] = "cnp_tx",
		[WIRE_COUNTER_CNP_RX_HANDLED] = "cnp_rx_handled",
		[WIRE_COUNTER_CNP_RX_IGNORED] = "cnp_rx_ignored",
		[WIRE_COUNTER_OOS_RX] = "oos_rx",
		[WIRE_COUNTER_NAK_SEQ_RX] = "nak_seq_rx",
		[WIRE_COUNTER_ACK_TIMEOUT] = "ack_timeout",
		[WIRE_COUNTER_RETRY_EXCEEDED] = "retry_exceeded",
		[WIRE_COUNTER_RNR_NAK_RX] = "rnr_nak_rx",
		[WIRE_COUNTER_RNR_NAK_TX] = "rnr_nak_tx",
		[WIRE_COUNTER_RX_OUT_OF_BUFFER] = "rx_out_of_buffer",
		[WIRE_COUNTER_ICRC_ERR] = "icrc_err",
		[WIRE_COUNTER_PRIO_RX_BYTES] = "prio_rx_bytes",
		[WIRE_COUNTER_PRIO_RX_DISCARDS] = "prio_rx_discards",
		[WIRE_COUNTER_PFC_RX_FRAMES] = "pfc_rx_frames",
		[WIRE_COUNTER_PFC_TX_FRAMES] = "pfc_tx_frames",
		[WIRE_COUNTER_PFC_RX_PAUSE_US] = "pfc_rx_pause_us",
		[WIRE_COUNTER_PFC_TX_PAUSE_US] = "pfc_tx_pause_us",
		[WIRE_COUNTER_PFC_ENABLED] = "pfc_enabled",
		[WIRE_COUNTER_GPAUSE_RX_FRAMES] = "gpause_rx_frames",
		[WIRE_COUNTER_GPAUSE_TX_FRAMES] = "gpause_tx_frames",
		[WIRE_COUNTER_PAUSE_STORM_WARN] = "pause_storm_warn",
		[WIRE_COUNTER_PAUSE_STORM_ERR] = "pause_storm_err",
		[WIRE_COUNTER_PHY_RX_DISCARDS] = "phy_rx_discards",
		[WIRE_COUNTER_RX_BUF_THRESH] = "rx_buf_thresh",
		[WIRE_COUNTER_CRC_ERR] = "crc_err",
		[WIRE_COUNTER_SYMBOL_ERR] = "symbol_err",
		[WIRE_COUNTER_FEC_CORRECTED_BITS] = "fec_corrected_bits",
		[WIRE_COUNTER_FEC_UNCORR] = "fec_uncorr",
		[WIRE_COUNTER_PHY_RX_BITS] = "phy_rx_bits",
		[WIRE_COUNTER_LINK_DOWN] = "link_down",
		[WIRE_COUNTER_CARRIER_CHANGES] = "carrier_changes",
		[WIRE_COUNTER_MTU_ERR] = "mtu_err",
		[WIRE_COUNTER_PCI_RX_OVERFLOW] = "pci_rx_overflow",
		[WIRE_COUNTER_PCI_STALL_WR_PCT] = "pci_stall_wr_pct",
		[WIRE_COUNTER_PCI_STALL_WR_S] = "pci_stall_wr_s",
		[WIRE_COUNTER_PCI_SIGNAL_RX] = "pci_signal_rx",
		[WIRE_COUNTER_PCI_SIGNAL_TX] = "pci_signal_tx",
		[WIRE_COUNTER_PORT_RATE_MBPS] = "port_rate_mbps",
		[WIRE_COUNTER_OPTICS_RX_NW] = "optics_rx_nw",
		[WIRE_COUNTER_OPTICS_TX_NW] = "optics_tx_nw",
		[WIRE_COUNTER_OPTICS_RX_LOW_ALARM_NW] = "optics_rx_low_alarm_nw",
		[WIRE_COUNTER_PCI_LINK_LANES] = "pci_link_lanes",
		[WIRE_COUNTER_PCI_LINK_LANES_MAX] = "pci_link_lanes_max",
		[WIRE_COUNTER_PCI_SLOT_LANES_MAX] = "pci_slot_lanes_max",
		[WIRE_COUNTER_PCI_LINK_MTS] = "pci_link_mts",
		[WIRE_COUNTER_PCI_LINK_MTS_MAX] = "pci_link_mts_max",
		[WIRE_COUNTER_PCI_SLOT_MTS_MAX] = "pci_slot_mts_max",
		[WIRE_COUNTER_PCI_ERR_CORRECTABLE] = "pci_err_correctable",
		[WIRE_COUNTER_PCI_ERR_NONFATAL] = "pci_err_nonfatal",
		[WIRE_COUNTER_PCI_ERR_FATAL] = "pci_err_fatal",
	};

	return counter < WIRE_COUNTERS ? names[counter] : NULL;
}

const char *
wire_link_str(unsigned link)
{
	static const char *const names[] = {
		[WIRE_LINK_UNKNOWN] = "unknown",
		[WIRE_LINK_UP] = "up",
		[WIRE_LINK_DOWN] = "down",
	};

	return link <= WIRE_LINK_DOWN ? names[link] : "unknown";
}

const char *
wire_transport_str(uint32_t qpn, uint16_t lid)
{
	if (qpn == 0)
		return "udp";
	return lid != 0 ? "ib" : "roce";
}

const char *
wire_qp_type_str(unsigned type)
{
	static const char *const names[] = {
		[0] = "unknown",
		[WIRE_QP_RC] = "rc",
		[WIRE_QP_UC] = "uc",
		[WIRE_QP_XRC] = "xrc",
	};

	return type <= WIRE_QP_XRC ? names[type] : "unknown";
}

const char *
wire_service_state_str(unsigned state)
{
	static const char *const names[] = {
		[0] = "unknown",
		[WIRE_SERVICE_RESOLVING] = "resolving",
		[WIRE_SERVICE_PROBED] = "probed",
		[WIRE_SERVICE_WAITING] = "waiting",
		[WIRE_SERVICE_UNRESOLVED] = "unresolved",
	};

	return state <= WIRE_SERVICE_UNRESOLVED ? names[state] : "unknown";
}

void
wire_address_format(const struct wire_address *address, char text[WIRE_ADDRESS_TEXT])
{
	bool v4 = address->family == 4;
	char bare[INET6_ADDRSTRLEN] = "";

	inet_ntop(v4 ? AF_INET : AF_INET6, address->bytes, bare, sizeof(bare));
	if (address->port == 0)
		snprintf(text, WIRE_ADDRESS_TEXT, "%s", bare);
	else
		snprintf(text, WIRE_ADDRESS_TEXT, v4 ? "%s:%u" : "[%s]:%u", bare,
		    (unsigned)address->port);
}
