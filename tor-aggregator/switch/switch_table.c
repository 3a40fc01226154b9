#include "tor-aggregator/switch/switch_table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define METRIC "rackmesh_switch_"
#define PORT_STAT "SAI_PORT_STAT_"
#define QUEUE_STAT "SAI_QUEUE_STAT_"
#define GROUP_STAT "SAI_INGRESS_PRIORITY_GROUP_STAT_"
#define FEC PORT_STAT "IF_IN_FEC_"
#define STAT(what)                                        \
	"queuing/" what "/eq-uc-stat-value+queuing/" what \
	"/eq-oobfc-uc-stat-value+queuing/" what "/eq-mc-stat-value"
#define TABULAR(what)                                                              \
	"tabular/tx_uc_" what "+tabular/tx_oobfc_uc_" what "+tabular/tx_fld_" what \
	"+tabular/tx_mc_" what

/* clang-format off */
const struct switch_row switch_rows[] = {
	/* ---- ports ---- */
	{ "rx_bytes", METRIC "rx_bytes_total", "bytes", SWITCH_PORT, SWITCH_BY_NONE, false, "Bytes that the port received.", PORT_STAT "IF_IN_OCTETS", "counters/eth_inbytes" },
	{ "tx_bytes", METRIC "tx_bytes_total", "bytes", SWITCH_PORT, SWITCH_BY_NONE, false, "Bytes that the port sent.", PORT_STAT "IF_OUT_OCTETS", "counters/eth_outbytes" },
	{ "rx_ucast_pkts", METRIC "rx_unicast_packets_total", "packets", SWITCH_PORT, SWITCH_BY_NONE, false, "Unicast packets that the port received.", PORT_STAT "IF_IN_UCAST_PKTS", "counters/eth_inucast" },
	{ "tx_ucast_pkts", METRIC "tx_unicast_packets_total", "packets", SWITCH_PORT, SWITCH_BY_NONE, false, "Unicast packets that the port sent.", PORT_STAT "IF_OUT_UCAST_PKTS", "counters/eth_outucast" },
	{ "rx_other_pkts", METRIC "rx_non_unicast_packets_total", "packets", SWITCH_PORT, SWITCH_BY_NONE, false, "Multicast and broadcast packets that the port received.", PORT_STAT "IF_IN_NON_UCAST_PKTS", "counters/eth_inmcast+counters/eth_inbcast" },
	{ "tx_other_pkts", METRIC "tx_non_unicast_packets_total", "packets", SWITCH_PORT, SWITCH_BY_NONE, false, "Multicast and broadcast packets that the port sent.", PORT_STAT "IF_OUT_NON_UCAST_PKTS", "counters/eth_outmcast+counters/eth_outbcast" },
	{ "rx_err", METRIC "rx_errors_total", "packets", SWITCH_PORT, SWITCH_BY_NONE, false, "Packets received with an error.", PORT_STAT "IF_IN_ERRORS", "errors/eth_rcv_err" },
	{ "tx_err", METRIC "tx_errors_total", "packets", SWITCH_PORT, SWITCH_BY_NONE, false, "Packets that could not be sent because of an error.", PORT_STAT "IF_OUT_ERRORS", "errors/eth_xmit_err" },
	{ "rx_discards", METRIC "rx_discards_total", "packets", SWITCH_PORT, SWITCH_BY_NONE, false, "Good packets received and discarded.", PORT_STAT "IF_IN_DISCARDS", "errors/eth_indisc" },
	{ "tx_discards", METRIC "tx_discards_total", "packets", SWITCH_PORT, SWITCH_BY_NONE, false, "Good packets discarded instead of sent.", PORT_STAT "IF_OUT_DISCARDS", "errors/eth_outdisc" },
	{ "rx_buffer_drops", METRIC "rx_buffer_drops_total", "packets", SWITCH_PORT, SWITCH_BY_NONE, false, "Packets dropped because the ingress buffer was full.", PORT_STAT "IN_DROPPED_PKTS", "queuing/Ingress MMU Drop Pkts/ip-stat-value" "|tabular/ing_drop_pkt" },
	{ "tx_buffer_drops", METRIC "tx_buffer_drops_total", "packets", SWITCH_PORT, SWITCH_BY_NONE, false, "Packets dropped because the egress buffer was full.", PORT_STAT "OUT_DROPPED_PKTS", "" },
	{ "wred_drops", METRIC "wred_drops_total", "packets", SWITCH_PORT, SWITCH_BY_NONE, false, "Packets that WRED dropped.", PORT_STAT "WRED_DROPPED_PACKETS", "queuing/WRED Drop Pkts/ep-stat-value" },
	{ "wred_green_drops", METRIC "wred_green_drops_total", "packets", SWITCH_PORT, SWITCH_BY_NONE, false, "Packets marked green that WRED dropped.", PORT_STAT "GREEN_WRED_DROPPED_PACKETS", "" },
	{ "wred_yellow_drops", METRIC "wred_yellow_drops_total", "packets", SWITCH_PORT, SWITCH_BY_NONE, false, "Packets marked yellow that WRED dropped.", PORT_STAT "YELLOW_WRED_DROPPED_PACKETS", "" },
	{ "wred_red_drops", METRIC "wred_red_drops_total", "packets", SWITCH_PORT, SWITCH_BY_NONE, false, "Packets marked red that WRED dropped.", PORT_STAT "RED_WRED_DROPPED_PACKETS", "" },
	{ "ecn_marked", METRIC "ecn_marked_total", "packets", SWITCH_PORT, SWITCH_BY_NONE, false, "Packets sent with a congestion mark (ECN CE) of this switch.", PORT_STAT "ECN_MARKED_PACKETS", "" },
	{ "trimmed", METRIC "trimmed_packets_total", "packets", SWITCH_PORT, SWITCH_BY_NONE, false, "Packets trimmed instead of dropped.", PORT_STAT "TRIM_PACKETS", "" },
	{ "gpause_rx_frames", METRIC "rx_global_pause_total", "frames", SWITCH_PORT, SWITCH_BY_NONE, false, "Global pause frames (802.3x) received.", PORT_STAT "PAUSE_RX_PKTS", "flowcontrol/rx-pause" },
	{ "gpause_tx_frames", METRIC "tx_global_pause_total", "frames", SWITCH_PORT, SWITCH_BY_NONE, false, "Global pause frames (802.3x) sent.", PORT_STAT "PAUSE_TX_PKTS", "flowcontrol/tx-pause" },
	{ "fec_corrected", METRIC "rx_fec_corrected_total", "codewords", SWITCH_PORT, SWITCH_BY_NONE, false, "Codewords that FEC has corrected.", FEC "CORRECTABLE_FRAMES", "" },
	{ "fec_uncorr", METRIC "rx_fec_uncorrectable_total", "codewords", SWITCH_PORT, SWITCH_BY_NONE, false, "Codewords that FEC could not correct.", FEC "NOT_CORRECTABLE_FRAMES", "" },
	{ "fec_symbol_err", METRIC "rx_fec_symbol_errors_total", "symbols", SWITCH_PORT, SWITCH_BY_NONE, false, "Symbols with an error, before FEC.", FEC "SYMBOL_ERRORS", "" },
	{ "fec_corrected_bits", METRIC "rx_fec_bit_errors_total", "bits", SWITCH_PORT, SWITCH_BY_NONE, false, "Bits that FEC has corrected.", FEC "CORRECTED_BITS", "" },
	{ "fec_codewords", METRIC "rx_fec_codewords_total", "codewords per symbol errors", SWITCH_PORT, SWITCH_BY_ERRORS, false, "Codewords received, by how many of their symbols FEC has corrected: RS(544,514) corrects up to 15.", FEC "CODEWORD_ERRORS_S#", "" },
	{ "oper_up", METRIC "port_up", "0 or 1", SWITCH_PORT, SWITCH_BY_NONE, true, "1: the port is operational.", "PORT_TABLE/oper_status", "" },
	{ "oper_changes", METRIC "port_changes_total", "changes", SWITCH_PORT, SWITCH_BY_NONE, false, "Times that the port went up or down.", "PORT_TABLE/flap_count", "" },
	{ "speed_mbps", METRIC "port_speed_bytes_per_second", "megabits per second", SWITCH_PORT, SWITCH_BY_NONE, true, "Speed of the port.", "PORT_TABLE/speed", "" },
	{ "lanes", METRIC "port_lanes", "lanes", SWITCH_PORT, SWITCH_BY_NONE, true, "Electrical lanes of the port.", "PORT_TABLE/lanes", "" },
	{ "mtu_bytes", METRIC "port_mtu_bytes", "bytes", SWITCH_PORT, SWITCH_BY_NONE, true, "MTU of the port.", "PORT_TABLE/mtu", "" },
	{ "module", METRIC "port_module", "number", SWITCH_PORT, SWITCH_BY_NONE, true, "Number of the cage that the port's module is in: ports with the same number share one.", "PORT_TABLE/index", "" },
	{ "rx_fcs_err", METRIC "rx_fcs_errors_total", "frames", SWITCH_PORT, SWITCH_BY_NONE, false, "Frames received with a wrong checksum.", "", "errors/eth_fcs_err" },
	{ "rx_align_err", METRIC "rx_alignment_errors_total", "frames", SWITCH_PORT, SWITCH_BY_NONE, false, "Frames received that did not end at a byte, with a wrong checksum.", "", "errors/eth_align_err" },
	{ "rx_symbol_err", METRIC "rx_symbol_errors_total", "symbols", SWITCH_PORT, SWITCH_BY_NONE, false, "Invalid symbols received.", "", "errors/eth_symbol_err" },
	{ "rx_mac_err", METRIC "rx_mac_errors_total", "frames", SWITCH_PORT, SWITCH_BY_NONE, false, "Errors of the MAC while it received.", "", "errors/eth_inmacrx_err" },
	{ "tx_mac_err", METRIC "tx_mac_errors_total", "frames", SWITCH_PORT, SWITCH_BY_NONE, false, "Errors of the MAC while it sent.", "", "errors/eth_inmactx_err" },
	{ "rx_undersize", METRIC "rx_undersize_total", "frames", SWITCH_PORT, SWITCH_BY_NONE, false, "Frames received that are too short, with a right checksum.", "", "errors/eth_undersize" },
	{ "rx_runts", METRIC "rx_runts_total", "frames", SWITCH_PORT, SWITCH_BY_NONE, false, "Frames received that are too short, with a wrong checksum.", "", "errors/eth_runts" },
	{ "rx_giants", METRIC "rx_giants_total", "frames", SWITCH_PORT, SWITCH_BY_NONE, false, "Frames received that are longer than the MTU.", PORT_STAT "ETHER_RX_OVERSIZE_PKTS", "errors/eth_giants" },
	{ "carrier_err", METRIC "carrier_errors_total", "errors", SWITCH_PORT, SWITCH_BY_NONE, false, "Carrier lost while a frame was sent.", "", "errors/eth_carri_sen" },
	{ "collisions", METRIC "collisions_total", "collisions", SWITCH_PORT, SWITCH_BY_NONE, false, "Collisions of all kinds; on a full-duplex link they mean that the two ends differ in duplex.", "", "errors/eth_single_col+errors/eth_multi_col+errors/eth_late_col+errors/eth_excess_col" },
	{ "tx_deferred", METRIC "tx_deferred_total", "frames", SWITCH_PORT, SWITCH_BY_NONE, false, "Frames that were sent late because the link was busy.", "", "errors/eth_deferred_tx" },
	{ "rx_buffer_drop_bytes", METRIC "rx_buffer_drop_bytes_total", "bytes", SWITCH_PORT, SWITCH_BY_NONE, false, "Bytes dropped because the ingress buffer was full.", "", "queuing/Ingress MMU Drop Byts/ip-stat-value" "|queuing/Ingress MMU Drop Bytes/ip-stat-value" },
	{ "port_pfc_rx_frames", METRIC "rx_pfc_frames_total", "frames", SWITCH_PORT, SWITCH_BY_NONE, false, "PFC frames received, of all priorities.", "", "pfc/rx-stats" "|queuing/rx-ppp" },
	{ "port_pfc_tx_frames", METRIC "tx_pfc_frames_total", "frames", SWITCH_PORT, SWITCH_BY_NONE, false, "PFC frames sent, of all priorities.", "", "pfc/tx-stats" "|queuing/tx-ppp" },
	{ "pfc_on", METRIC "pfc_on", "0 or 1", SWITCH_PORT, SWITCH_BY_NONE, true, "1: PFC is in use on the port.", "", "pfc/oper=On" },
	/* Values of optical modules: see sonic_optics.h and nexus_optics.h. */
	{ "optics_rx_lowest_nw", METRIC "optics_rx_power_lowest_watts", "nanowatts", SWITCH_PORT, SWITCH_BY_NONE, true, "Optical power that the module receives on its darkest lane, of those that it sends on.", "DOM/rxNpower", "optics/rx_pwr" },
	{ "optics_rx_highest_nw", METRIC "optics_rx_power_highest_watts", "nanowatts", SWITCH_PORT, SWITCH_BY_NONE, true, "Optical power that the module receives on its brightest lane.", "DOM/rxNpower", "optics/rx_pwr" },
	{ "optics_tx_lowest_nw", METRIC "optics_tx_power_lowest_watts", "nanowatts", SWITCH_PORT, SWITCH_BY_NONE, true, "Optical power that the module sends on its darkest lane.", "DOM/txNpower", "optics/tx_pwr" },
	{ "optics_rx_low_alarm_nw", METRIC "optics_rx_power_low_alarm_watts", "nanowatts", SWITCH_PORT, SWITCH_BY_NONE, true, "Received power below which the module raises an alarm.", "DOM/rxpowerlowalarm", "optics/rx_pwr_alrm_lo" },
	{ "optics_celsius", METRIC "optics_temperature_celsius", "degrees Celsius", SWITCH_PORT, SWITCH_BY_NONE, true, "Temperature of the module.", "DOM/temperature", "optics/temperature" },
	{ "optics_lane_mbps", METRIC "optics_lane_speed_bytes_per_second", "megabits per second", SWITCH_PORT, SWITCH_BY_NONE, true, "Nominal speed of one lane of the module.", "", "optics/nom_bitrate" },
	/* ---- priorities of a port ---- */
	{ "pfc_rx_frames", METRIC "rx_priority_pause_total", "frames per priority", SWITCH_PORT, SWITCH_BY_PRIORITY, false, "PFC frames received: the neighbour paused this port.", PORT_STAT "PFC_#_RX_PKTS", "queuing/rx-pause-count" },
	{ "pfc_tx_frames", METRIC "tx_priority_pause_total", "frames per priority", SWITCH_PORT, SWITCH_BY_PRIORITY, false, "PFC frames sent: this port paused the neighbour.", PORT_STAT "PFC_#_TX_PKTS", "queuing/tx-pause-count" },
	/* Quanta first: sonic.c computes the microseconds from their delta. */
	{ "pfc_rx_pause_quanta", METRIC "rx_priority_pause_quanta_total", "quanta per priority", SWITCH_PORT, SWITCH_BY_PRIORITY, false, "Time that the neighbour paused this port, in quanta of 512 bits.", PORT_STAT "PFC_#_RX_PAUSE_DURATION", "" },
	{ "pfc_tx_pause_quanta", METRIC "tx_priority_pause_quanta_total", "quanta per priority", SWITCH_PORT, SWITCH_BY_PRIORITY, false, "Time that this port paused the neighbour, in quanta of 512 bits.", PORT_STAT "PFC_#_TX_PAUSE_DURATION", "" },
	{ "pfc_rx_pause_us", METRIC "rx_priority_pause_seconds_total", "microseconds per priority", SWITCH_PORT, SWITCH_BY_PRIORITY, false, "Time that the neighbour paused this port; computed from the quanta and the speed if the switch has no such counter.", PORT_STAT "PFC_#_RX_PAUSE_DURATION_US|EST_PORT_STAT_PFC_#_RX_PAUSE_DURATION_US", "" },
	{ "pfc_tx_pause_us", METRIC "tx_priority_pause_seconds_total", "microseconds per priority", SWITCH_PORT, SWITCH_BY_PRIORITY, false, "Time that this port paused the neighbour; computed from the quanta and the speed if the switch has no such counter.", PORT_STAT "PFC_#_TX_PAUSE_DURATION_US", "" },
	{ "pfc_rx_transitions", METRIC "rx_priority_pause_transitions_total", "transitions per priority", SWITCH_PORT, SWITCH_BY_PRIORITY, false, "Changes from paused to running.", PORT_STAT "PFC_#_ON2OFF_RX_PKTS|EST_PORT_STAT_PFC_#_ON2OFF_RX_PKTS", "" },
	{ "pfc_rx_paused", METRIC "rx_priority_paused", "0 or 1 per priority", SWITCH_PORT, SWITCH_BY_PRIORITY, true, "1: the neighbour pauses this port now.", "", "queuing/rx-pause-state=Active" },
	{ "pfc_tx_paused", METRIC "tx_priority_paused", "0 or 1 per priority", SWITCH_PORT, SWITCH_BY_PRIORITY, true, "1: this port pauses the neighbour now.", "", "queuing/tx-pause-state=Active" },
	{ "pfc_queue", METRIC "priority_queue", "number of a queue per priority", SWITCH_PORT, SWITCH_BY_PRIORITY, true, "Egress queue (QoS group) of the priority.", "", "queuing/pfc-qosgrp" },
	/* ---- egress queues ---- */
	{ "queue_tx_pkts", METRIC "queue_tx_packets_total", "packets", SWITCH_QUEUE, SWITCH_BY_NONE, false, "Packets that the queue sent.", QUEUE_STAT "PACKETS", STAT("Tx Pkts") "|" TABULAR("pkt") },
	{ "queue_tx_bytes", METRIC "queue_tx_bytes_total", "bytes", SWITCH_QUEUE, SWITCH_BY_NONE, false, "Bytes that the queue sent.", QUEUE_STAT "BYTES", STAT("Tx Byts") "|" TABULAR("byte") },
	{ "queue_drop_pkts", METRIC "queue_dropped_packets_total", "packets", SWITCH_QUEUE, SWITCH_BY_NONE, false, "Packets that the queue dropped.", QUEUE_STAT "DROPPED_PACKETS", STAT("Dropped Pkts") "|" STAT("WRED/AFD & Tail Drop Pkts") "|" TABULAR("drop_pkt") },
	{ "queue_drop_bytes", METRIC "queue_dropped_bytes_total", "bytes", SWITCH_QUEUE, SWITCH_BY_NONE, false, "Bytes that the queue dropped.", QUEUE_STAT "DROPPED_BYTES", STAT("Dropped Byts") "|" STAT("WRED/AFD & Tail Drop Byts") "|" TABULAR("drop_byte") },
	{ "queue_wred_drops", METRIC "queue_wred_drops_total", "packets", SWITCH_QUEUE, SWITCH_BY_NONE, false, "Packets that WRED dropped.", QUEUE_STAT "WRED_DROPPED_PACKETS", "" },
	{ "queue_wred_drop_bytes", METRIC "queue_wred_drop_bytes_total", "bytes", SWITCH_QUEUE, SWITCH_BY_NONE, false, "Bytes of the packets that WRED dropped.", QUEUE_STAT "WRED_DROPPED_BYTES", "" },
	{ "queue_ecn_marked", METRIC "queue_ecn_marked_packets_total", "packets", SWITCH_QUEUE, SWITCH_BY_NONE, false, "Packets that the queue gave a congestion mark (ECN CE).", QUEUE_STAT "WRED_ECN_MARKED_PACKETS", "tabular/tx_uc_ecn_pkt" "|" STAT("ECN Pkts") },
	{ "queue_ecn_marked_bytes", METRIC "queue_ecn_marked_bytes_total", "bytes", SWITCH_QUEUE, SWITCH_BY_NONE, false, "Bytes of the packets that the queue gave a congestion mark (ECN CE).", QUEUE_STAT "WRED_ECN_MARKED_BYTES", "tabular/tx_uc_ecn_byte" "|" STAT("ECN Byts") },
	{ "queue_occupancy_bytes", METRIC "queue_occupancy_bytes", "bytes", SWITCH_QUEUE, SWITCH_BY_NONE, true, "Bytes in the queue now.", QUEUE_STAT "CURR_OCCUPANCY_BYTES", STAT("Q Depth Byts") },
	{ "queue_watermark_bytes", METRIC "queue_watermark_bytes", "bytes", SWITCH_QUEUE, SWITCH_BY_NONE, true, "Most bytes in the queue since the switch cleared this mark.", QUEUE_STAT "SHARED_WATERMARK_BYTES", "" },
	{ "pfcwd_stormed", METRIC "pfc_watchdog_stormed", "0 or 1", SWITCH_QUEUE, SWITCH_BY_NONE, true, "1: the PFC watchdog has stopped the queue, because the neighbour pauses it without end.", "PFC_WD_STATUS", "pfc-queue/eq-qosgrp-state=Shutdown" },
	{ "pfcwd_detected", METRIC "pfc_watchdog_storms_total", "storms", SWITCH_QUEUE, SWITCH_BY_NONE, false, "Storms that the PFC watchdog has detected.", "PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED", "pfc-queue/q-shutdown" },
	{ "pfcwd_restored", METRIC "pfc_watchdog_restored_total", "storms", SWITCH_QUEUE, SWITCH_BY_NONE, false, "Storms that have ended.", "PFC_WD_QUEUE_STATS_DEADLOCK_RESTORED", "pfc-queue/q-restored" },
	{ "pfcwd_tx_drops", METRIC "pfc_watchdog_tx_dropped_packets_total", "packets", SWITCH_QUEUE, SWITCH_BY_NONE, false, "Packets to be sent that the PFC watchdog dropped.", "PFC_WD_QUEUE_STATS_TX_DROPPED_PACKETS", "pfc-queue/q-aggr-pkt-dropped" },
	{ "pfcwd_rx_drops", METRIC "pfc_watchdog_rx_dropped_packets_total", "packets", SWITCH_QUEUE, SWITCH_BY_NONE, false, "Packets received that the PFC watchdog dropped.", "PFC_WD_QUEUE_STATS_RX_DROPPED_PACKETS", "pfc-queue/q-ing-aggr-pkt-dropped|pfc-queue/q-ing-pkt-dropped" },
	{ "queue_pfc_rx_frames", METRIC "queue_rx_pause_total", "frames", SWITCH_QUEUE, SWITCH_BY_NONE, false, "PFC frames received for the queue.", "", "tabular/pfc_rx" },
	{ "queue_pfc_tx_frames", METRIC "queue_tx_pause_total", "frames", SWITCH_QUEUE, SWITCH_BY_NONE, false, "PFC frames sent for the queue.", "", "tabular/pfc_tx" },
	{ "pfcwd_drained", METRIC "pfc_watchdog_drained_packets_total", "packets", SWITCH_QUEUE, SWITCH_BY_NONE, false, "Packets that the PFC watchdog drained from the queue.", "", "pfc-queue/q-pkt-drained" },
	{ "pfcwd_drops", METRIC "pfc_watchdog_dropped_packets_total", "packets", SWITCH_QUEUE, SWITCH_BY_NONE, false, "Packets to be sent that the PFC watchdog dropped since the last storm began.", "", "pfc-queue/q-pkt-dropped" "|pfc-queue/q-pkt-drained-n-dropped" },
	{ "queue_burst_peak_bytes", METRIC "queue_burst_peak_bytes", "bytes", SWITCH_QUEUE, SWITCH_BY_NONE, true, "Most bytes in the queue during the burst that the switch names first.", "", "burst/peak" },
	{ "queue_burst_threshold_bytes", METRIC "queue_burst_threshold_bytes", "bytes", SWITCH_QUEUE, SWITCH_BY_NONE, true, "Bytes in the queue above which the switch calls it a burst.", "", "burst/threshold" },
	{ "queue_burst_us", METRIC "queue_burst_seconds", "microseconds", SWITCH_QUEUE, SWITCH_BY_NONE, true, "Duration of the burst that the switch names first.", "", "burst/duration" },
	/* ---- ingress priority groups ---- */
	{ "group_drop_pkts", METRIC "group_dropped_packets_total", "packets", SWITCH_GROUP, SWITCH_BY_NONE, false, "Packets that the priority group dropped; if it is lossless, its headroom is too small.", GROUP_STAT "DROPPED_PACKETS", "" },
	{ "group_watermark_bytes", METRIC "group_watermark_bytes", "bytes", SWITCH_GROUP, SWITCH_BY_NONE, true, "Most shared buffer that the group took since the switch cleared this mark.", GROUP_STAT "SHARED_WATERMARK_BYTES", "" },
	{ "group_headroom_watermark_bytes", METRIC "group_headroom_watermark_bytes", "bytes", SWITCH_GROUP, SWITCH_BY_NONE, true, "Most headroom that the group took since the switch cleared this mark.", GROUP_STAT "XOFF_ROOM_WATERMARK_BYTES", "" },
	{ 0 }
};
/* clang-format on */

static const struct value_name {
	const char *value_name;
	uint64_t value;
} value_names[] = {
	{ "up", 1 },
	{ "down", 0 },
	{ "operational", 0 },
	{ "stormed", 1 },
};

const char *
switch_part_str(enum switch_part part)
{
	static const char *const names[] = { "port", "queue", "group" };

	return names[part];
}

bool
switch_port_is_internal(const char *port)
{
	static const char sonic[] = "Ethernet-";
	const bool nexus =
	    strncmp(port, "ii", 2) == 0 && port[2] >= '0' && port[2] <= '9';

	return nexus || strncmp(port, sonic, sizeof(sonic) - 1) == 0;
}

size_t
switch_row_values(const struct switch_row *row)
{
	static const size_t values[] = { [SWITCH_BY_NONE] = 1,
		[SWITCH_BY_PRIORITY] = SWITCH_PRIORITIES,
		[SWITCH_BY_ERRORS] = SWITCH_ERROR_BINS };

	return values[row->by];
}

const char *
switch_by_str(enum switch_by by)
{
	static const char *const names[] = { "", "priority", "symbol_errors" };

	return names[by];
}

size_t
switch_values(enum switch_part part)
{
	size_t count = 0;

	for (const struct switch_row *row = switch_rows; row->name != NULL; row++)
		if (row->part == part)
			count += switch_row_values(row);
	return count;
}

int
switch_next_name(const char **text, unsigned number, char ret[SWITCH_NAME_BYTES])
{
	size_t len = 0;

	if (**text == '\0')
		return -ENOENT;
	for (; **text != '\0' && **text != '|'; ++*text)
		if (len + 2 >= SWITCH_NAME_BYTES)
			continue;
		else if (**text == '#')
			len += (size_t)snprintf(
			    ret + len, SWITCH_NAME_BYTES - len, "%u", number % 100);
		else
			ret[len++] = **text;
	ret[len] = '\0';
	if (**text == '|')
		++*text;
	return 0;
}

int
switch_number_read(const char *text, size_t len, uint64_t *ret)
{
	uint64_t value = 0;

	if (len == 0)
		return -EBADMSG;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return -EBADMSG;
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(text[i] - '0'), &value))
			return -EBADMSG;
	}
	*ret = value;
	return 0;
}

int
switch_value_read(const char *text, size_t len, uint64_t *ret)
{
	if (len == 0 || (len == 3 && memcmp(text, "N/A", 3) == 0))
		return -ENODATA;
	for (size_t i = 0; i < sizeof(value_names) / sizeof(value_names[0]); i++)
		if (len == strlen(value_names[i].value_name) &&
		    memcmp(text, value_names[i].value_name, len) == 0) {
			*ret = value_names[i].value;
			return 0;
		}
	return switch_number_read(text, len, ret);
}
