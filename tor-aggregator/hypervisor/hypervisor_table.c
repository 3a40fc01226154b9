#include "tor-aggregator/hypervisor/hypervisor_table.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define METRIC "rackmesh_hypervisor_"

/* clang-format off */
const struct hypervisor_row hypervisor_rows[] = {
	/* ---- state ---- */
	{ "link_up", METRIC "link_up", "0 or 1", false, true, "1: the link is up.", "l:Link Status|l:Link" },
	{ "admin_up", METRIC "admin_up", "0 or 1", false, true, "1: the vmnic is switched on.", "l:Admin Status" },
	{ "speed_mbps", METRIC "speed_bytes_per_second", "megabits per second", false, true, "Speed of the link.", "l:Speed" },
	{ "mtu_bytes", METRIC "mtu_bytes", "bytes", false, true, "MTU of the vmnic.", "l:MTU" },
	{ "gpause_rx_on", METRIC "rx_global_pause_enabled", "0 or 1", false, true, "1: received global pauses (802.3x) stop the vmnic.", "p:Pause RX" },
	{ "gpause_tx_on", METRIC "tx_global_pause_enabled", "0 or 1", false, true, "1: the vmnic sends global pause (802.3x).", "p:Pause TX" },
	{ "pfc_on", METRIC "priority_flow_control_on", "0 or 1", false, true, "1: the vmnic supports PFC and uses it.", "q:PFC Enabled" },
	{ "pfc_enabled", METRIC "priority_flow_control_enabled", "0 or 1", true, true, "1: PFC is on for this priority.", "q:PFC Configuration" },
	{ "dcb_ieee", METRIC "dcb_ieee_mode", "0 or 1", false, true, "1: DCB runs in IEEE mode; 0: in the older CEE mode.", "q:Mode" },
	/* ---- PFC ---- */
	{ "pfc_rx_frames", METRIC "rx_priority_pause_total", "frames", true, false, "PFC frames received: the switch paused this vmnic.", "d:rx_prio#_pause|d:rxPrio#Pause|d:rx_pfc_ena_frames_pri#|q:Received PFC Frames" },
	{ "pfc_tx_frames", METRIC "tx_priority_pause_total", "frames", true, false, "PFC frames sent: this vmnic paused the switch.", "d:tx_prio#_pause|d:txPrio#Pause|d:tx_pfc_ena_frames_pri#|q:Sent PFC Frames" },
	{ "pfc_rx_pause_us", METRIC "rx_priority_pause_seconds_total", "microseconds", true, false, "Time that the switch paused this vmnic.", "d:rx_prio#_pause_duration|d:rxPrio#PauseDuration|d:pfc_pri#_rx_duration_us" },
	{ "pfc_tx_pause_us", METRIC "tx_priority_pause_seconds_total", "microseconds", true, false, "Time that this vmnic paused the switch.", "d:tx_prio#_pause_duration|d:txPrio#PauseDuration|d:pfc_pri#_tx_duration_us" },
	{ "pfc_rx_transitions", METRIC "rx_priority_pause_transitions_total", "transitions", true, false, "Changes from running to paused.", "d:rx_prio#_pause_transition|d:rxPrio#PauseTransition|d:pfc_pri#_rx_transitions" },
	{ "prio_rx_discards", METRIC "rx_priority_discards_total", "packets", true, false, "Packets received and discarded, by priority.", "d:rx_prio#_discards|d:rx_discard_packets_cos#" },
	{ "prio_rx_bytes", METRIC "rx_priority_bytes_total", "bytes", true, false, "Bytes received, by priority.", "d:rx_prio#_bytes|d:rx_bytes_pri#" },
	{ "prio_tx_bytes", METRIC "tx_priority_bytes_total", "bytes", true, false, "Bytes sent, by priority.", "d:tx_prio#_bytes|d:tx_bytes_pri#" },
	/* ---- global pause, and pauses that may be of either kind ---- */
	{ "gpause_rx_frames", METRIC "rx_global_pause_total", "frames", false, false, "Global pause frames (802.3x) received.", "d:rx_global_pause|d:rx_pause_frames" },
	{ "gpause_tx_frames", METRIC "tx_global_pause_total", "frames", false, false, "Global pause frames (802.3x) sent.", "d:tx_global_pause|d:tx_pause_frames" },
	{ "gpause_rx_us", METRIC "rx_global_pause_seconds_total", "microseconds", false, false, "Time that global pause stopped this vmnic.", "d:rx_global_pause_duration" },
	{ "gpause_tx_us", METRIC "tx_global_pause_seconds_total", "microseconds", false, false, "Time that this vmnic stopped the switch by global pause.", "d:tx_global_pause_duration" },
	{ "gpause_rx_transitions", METRIC "rx_global_pause_transitions_total", "transitions", false, false, "Changes from running to paused, by global pause.", "d:rx_global_pause_transition" },
	{ "pause_ctrl_rx_frames", METRIC "rx_pause_control_total", "frames", false, false, "Pause frames received, global ones and PFC together.", "d:rxPauseCtrlPhy|d:rx_pause_ctrl_phy" },
	{ "pause_ctrl_tx_frames", METRIC "tx_pause_control_total", "frames", false, false, "Pause frames sent, global ones and PFC together.", "d:txPauseCtrlPhy|d:tx_pause_ctrl_phy" },
	{ "pause_storm_warn", METRIC "tx_pause_storm_warnings_total", "events", false, false, "Times that this vmnic has sent pauses for too long.", "d:txPauseStormWarningEvents|d:tx_pause_storm_warning_events|d:continuous_roce_pause_events" },
	{ "pause_storm_err", METRIC "tx_pause_storm_errors_total", "events", false, false, "Times that its own storm protection stopped its pauses.", "d:txPauseStormErrorEvents|d:tx_pause_storm_error_events" },
	/* ---- of the port ---- */
	{ "phy_rx_discards", METRIC "rx_discards_phy_total", "packets", false, false, "Packets that the port received and discarded.", "d:rx_discards_phy|d:rxDiscardsPhy|d:rx_stat_discard" },
	{ "phy_tx_discards", METRIC "tx_discards_phy_total", "packets", false, false, "Packets that the port discarded instead of sending.", "d:tx_discards_phy|d:txDiscardsPhy|d:tx_stat_discard" },
	{ "rx_out_of_buffer", METRIC "rx_out_of_buffer_total", "packets", false, false, "Packets for which no buffer was posted.", "d:rx_out_of_buffer|d:rxOutOfBuffer" },
	{ "crc_err", METRIC "rx_crc_errors_total", "frames", false, false, "Frames with a wrong checksum.", "d:rx_crc_errors_phy|d:rxCrcErrorsPhy|d:rx_fcs_err_frames|v:Rx CRC Errors|s:Receive CRC errors" },
	{ "symbol_err", METRIC "rx_symbol_errors_total", "symbols", false, false, "Symbols that the port could not decode.", "d:rx_symbol_err_phy|d:rxSymbolErrPhy|d:rx_align_err_frames" },
	{ "fec_corrected_bits", METRIC "rx_fec_bit_errors_total", "bits", false, false, "Bits that FEC has corrected.", "d:rx_corrected_bits_phy|d:rxCorrectedBitsPhy|d:rx_corrected_bits" },
	{ "fec_uncorr", METRIC "rx_fec_uncorrectable_total", "blocks", false, false, "Blocks that FEC could not correct.", "d:rx_pcs_symbol_err_phy|d:rxPcsSymbolErrPhy|d:rx_fec_uncorrectable_blocks" },
	{ "link_down", METRIC "link_down_total", "events", false, false, "Times that the link went down.", "d:link_down_events_phy|d:linkDownEventsPhy|d:link_down_events" },
	/* ---- of the vmnic ---- */
	{ "netdev_rx_bytes", METRIC "rx_bytes_total", "bytes", false, false, "Bytes that the vmnic received.", "v:Rx Bytes|s:Bytes received" },
	{ "netdev_tx_bytes", METRIC "tx_bytes_total", "bytes", false, false, "Bytes that the vmnic sent.", "v:Tx Bytes|s:Bytes sent" },
	{ "netdev_rx_pkts", METRIC "rx_packets_total", "packets", false, false, "Packets that the vmnic received.", "v:Rx Packets|s:Packets received" },
	{ "netdev_tx_pkts", METRIC "tx_packets_total", "packets", false, false, "Packets that the vmnic sent.", "v:Tx Packets|s:Packets sent" },
	{ "netdev_rx_errors", METRIC "rx_errors_total", "packets", false, false, "Packets that the vmnic received with an error.", "v:Rx Errors|s:Total receive errors" },
	{ "netdev_tx_errors", METRIC "tx_errors_total", "packets", false, false, "Packets that the vmnic could not send.", "v:Tx Errors|s:Total transmit errors" },
	{ "netdev_rx_dropped", METRIC "rx_dropped_total", "packets", false, false, "Packets that the vmnic received and dropped.", "v:Rx Dropped|s:Receive packets dropped" },
	{ "netdev_tx_dropped", METRIC "tx_dropped_total", "packets", false, false, "Packets that the vmnic dropped instead of sending.", "v:Tx Dropped|s:Transmit packets dropped" },
	{ "netdev_rx_missed", METRIC "rx_missed_total", "packets", false, false, "Packets that the vmnic missed.", "v:Rx Missed Errors|s:Receive missed errors" },
	{ "netdev_rx_over", METRIC "rx_over_errors_total", "packets", false, false, "Packets that found the vmnic's ring full.", "v:Rx Over Errors|s:Receive over errors" },
	{ "netdev_rx_fifo", METRIC "rx_fifo_errors_total", "packets", false, false, "Packets that found the vmnic's buffer full.", "v:Rx Fifo Errors|s:Receive FIFO errors" },
	{ "netdev_rx_length", METRIC "rx_length_errors_total", "packets", false, false, "Packets with an invalid length.", "v:Rx Length Errors|s:Receive length errors" },
	{ 0 }
};
/* clang-format on */

static const struct value_name {
	const char *name;
	uint64_t value;
} value_names[] = {
	{ "Up", 1 },
	{ "Down", 0 },
	{ "true", 1 },
	{ "false", 0 },
	{ "IEEE Mode", 1 },
	{ "CEE Mode", 0 },
};

size_t
hypervisor_row_values(const struct hypervisor_row *row)
{
	return row->by_priority ? HYPERVISOR_PRIORITIES : 1;
}

size_t
hypervisor_values(void)
{
	size_t count = 0;

	for (const struct hypervisor_row *row = hypervisor_rows; row->name != NULL;
	     row++)
		count += hypervisor_row_values(row);
	return count;
}

size_t
hypervisor_value_of(const char *name)
{
	size_t first = 0;

	for (const struct hypervisor_row *row = hypervisor_rows; row->name != NULL;
	     row++) {
		if (strcmp(row->name, name) == 0)
			return first;
		first += hypervisor_row_values(row);
	}
	assert(!"a row of this name");
	return 0;
}

/* True: the alternative that begins at source has this name. */
static bool
matches(const char *source, const char *name, unsigned *priority)
{
	unsigned found = HYPERVISOR_PRIORITIES;

	for (; *source != '\0' && *source != '|'; source++, name++) {
		if (*source == *name)
			continue;
		if (*source != '#' || *name < '0' || *name > '7')
			return false;
		found = (unsigned)(*name - '0');
	}
	if (*name != '\0')
		return false;
	if (found < HYPERVISOR_PRIORITIES)
		*priority = found;
	return true;
}

int
hypervisor_source_find(const struct hypervisor_row *row, enum hypervisor_place place,
    const char *name, unsigned *priority)
{
	const char *source = row->source;

	for (int i = 0; source != NULL; i++) {
		if (source[0] == (char)place && matches(source + 2, name, priority))
			return i;
		source = strchr(source, '|');
		if (source != NULL)
			source++;
	}
	return -ENOENT;
}

static int
read_number(const char *text, uint64_t *ret)
{
	uint64_t value = 0;

	for (; *text != '\0'; text++) {
		if (*text < '0' || *text > '9')
			return -EBADMSG;
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*text - '0'), &value))
			return -EBADMSG;
	}
	*ret = value;
	return 0;
}

int
hypervisor_value_read(const char *text, uint64_t *ret)
{
	if (text[0] == '\0' || strcmp(text, "N/A") == 0 || strcmp(text, "-") == 0)
		return -ENODATA;
	for (size_t i = 0; i < sizeof(value_names) / sizeof(value_names[0]); i++)
		if (strcmp(text, value_names[i].name) == 0) {
			*ret = value_names[i].value;
			return 0;
		}
	return read_number(text, ret);
}
