#include "tor-aggregator/switch/switch_table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define METRIC "rackmesh_switch_"
#define PORT_STAT "SAI_PORT_STAT_"
#define QUEUE_STAT "SAI_QUEUE_STAT_"
#define GROUP_STAT "SAI_INGRESS_PRIORITY_GROUP_STAT_"
#define FEC PORT_STAT "IF_IN_FEC_"

/* clang-format off */
const struct switch_row switch_rows[] = {
	/* ---- ports ---- */
	{ "rx_bytes", METRIC "rx_bytes_total", "bytes", SWITCH_PORT, false, false, "Bytes that the port received.", PORT_STAT "IF_IN_OCTETS" },
	{ "tx_bytes", METRIC "tx_bytes_total", "bytes", SWITCH_PORT, false, false, "Bytes that the port sent.", PORT_STAT "IF_OUT_OCTETS" },
	{ "rx_ucast_pkts", METRIC "rx_unicast_packets_total", "packets", SWITCH_PORT, false, false, "Unicast packets that the port received.", PORT_STAT "IF_IN_UCAST_PKTS" },
	{ "tx_ucast_pkts", METRIC "tx_unicast_packets_total", "packets", SWITCH_PORT, false, false, "Unicast packets that the port sent.", PORT_STAT "IF_OUT_UCAST_PKTS" },
	{ "rx_other_pkts", METRIC "rx_non_unicast_packets_total", "packets", SWITCH_PORT, false, false, "Multicast and broadcast packets that the port received.", PORT_STAT "IF_IN_NON_UCAST_PKTS" },
	{ "tx_other_pkts", METRIC "tx_non_unicast_packets_total", "packets", SWITCH_PORT, false, false, "Multicast and broadcast packets that the port sent.", PORT_STAT "IF_OUT_NON_UCAST_PKTS" },
	{ "rx_err", METRIC "rx_errors_total", "packets", SWITCH_PORT, false, false, "Packets received with an error.", PORT_STAT "IF_IN_ERRORS" },
	{ "tx_err", METRIC "tx_errors_total", "packets", SWITCH_PORT, false, false, "Packets that could not be sent for an error.", PORT_STAT "IF_OUT_ERRORS" },
	{ "rx_discards", METRIC "rx_discards_total", "packets", SWITCH_PORT, false, false, "Good packets received and discarded.", PORT_STAT "IF_IN_DISCARDS" },
	{ "tx_discards", METRIC "tx_discards_total", "packets", SWITCH_PORT, false, false, "Good packets discarded instead of sent.", PORT_STAT "IF_OUT_DISCARDS" },
	{ "rx_buffer_drops", METRIC "rx_buffer_drops_total", "packets", SWITCH_PORT, false, false, "Packets dropped for want of ingress buffer.", PORT_STAT "IN_DROPPED_PKTS" },
	{ "tx_buffer_drops", METRIC "tx_buffer_drops_total", "packets", SWITCH_PORT, false, false, "Packets dropped for want of egress buffer.", PORT_STAT "OUT_DROPPED_PKTS" },
	{ "wred_drops", METRIC "wred_drops_total", "packets", SWITCH_PORT, false, false, "Packets that WRED dropped.", PORT_STAT "WRED_DROPPED_PACKETS" },
	{ "ecn_marked", METRIC "ecn_marked_total", "packets", SWITCH_PORT, false, false, "Packets sent with a congestion mark (ECN CE) of this switch.", PORT_STAT "ECN_MARKED_PACKETS" },
	{ "trimmed", METRIC "trimmed_packets_total", "packets", SWITCH_PORT, false, false, "Packets trimmed instead of dropped.", PORT_STAT "TRIM_PACKETS" },
	{ "gpause_rx_frames", METRIC "rx_global_pause_total", "frames", SWITCH_PORT, false, false, "Global pause frames (802.3x) received.", PORT_STAT "PAUSE_RX_PKTS" },
	{ "gpause_tx_frames", METRIC "tx_global_pause_total", "frames", SWITCH_PORT, false, false, "Global pause frames (802.3x) sent.", PORT_STAT "PAUSE_TX_PKTS" },
	{ "fec_corrected", METRIC "rx_fec_corrected_total", "codewords", SWITCH_PORT, false, false, "Codewords that FEC has corrected.", FEC "CORRECTABLE_FRAMES" },
	{ "fec_uncorr", METRIC "rx_fec_uncorrectable_total", "codewords", SWITCH_PORT, false, false, "Codewords that FEC could not correct.", FEC "NOT_CORRECTABLE_FRAMES" },
	{ "fec_symbol_err", METRIC "rx_fec_symbol_errors_total", "symbols", SWITCH_PORT, false, false, "Symbols with an error, before FEC.", FEC "SYMBOL_ERRORS" },
	{ "fec_corrected_bits", METRIC "rx_fec_corrected_bits_total", "bits", SWITCH_PORT, false, false, "Bits that FEC has corrected.", FEC "CORRECTED_BITS" },
	{ "oper_up", METRIC "port_up", "0 or 1", SWITCH_PORT, false, true, "1: the port is operational.", "PORT_TABLE/oper_status" },
	{ "speed_mbps", METRIC "port_speed_megabits_per_second", "megabits per second", SWITCH_PORT, false, true, "Speed of the port.", "PORT_TABLE/speed" },
	{ "mtu_bytes", METRIC "port_mtu_bytes", "bytes", SWITCH_PORT, false, true, "MTU of the port.", "PORT_TABLE/mtu" },
	/* ---- priorities of a port ---- */
	{ "pfc_rx_frames", METRIC "rx_priority_pause_total", "frames per priority", SWITCH_PORT, true, false, "PFC frames received: the neighbour paused this port.", PORT_STAT "PFC_#_RX_PKTS" },
	{ "pfc_tx_frames", METRIC "tx_priority_pause_total", "frames per priority", SWITCH_PORT, true, false, "PFC frames sent: this port paused the neighbour.", PORT_STAT "PFC_#_TX_PKTS" },
	{ "pfc_rx_pause_us", METRIC "rx_priority_pause_microseconds_total", "microseconds per priority", SWITCH_PORT, true, false, "Time that the neighbour paused this port.", PORT_STAT "PFC_#_RX_PAUSE_DURATION_US|EST_PORT_STAT_PFC_#_RX_PAUSE_DURATION_US" },
	{ "pfc_tx_pause_us", METRIC "tx_priority_pause_microseconds_total", "microseconds per priority", SWITCH_PORT, true, false, "Time that this port paused the neighbour.", PORT_STAT "PFC_#_TX_PAUSE_DURATION_US" },
	{ "pfc_rx_pause_quanta", METRIC "rx_priority_pause_quanta_total", "quanta per priority", SWITCH_PORT, true, false, "Time that the neighbour paused this port, where the switch counts it in quanta of 512 bits.", PORT_STAT "PFC_#_RX_PAUSE_DURATION" },
	{ "pfc_tx_pause_quanta", METRIC "tx_priority_pause_quanta_total", "quanta per priority", SWITCH_PORT, true, false, "Time that this port paused the neighbour, in quanta of 512 bits.", PORT_STAT "PFC_#_TX_PAUSE_DURATION" },
	{ "pfc_rx_transitions", METRIC "rx_priority_pause_transitions_total", "transitions per priority", SWITCH_PORT, true, false, "Changes from paused to running.", PORT_STAT "PFC_#_ON2OFF_RX_PKTS|EST_PORT_STAT_PFC_#_ON2OFF_RX_PKTS" },
	/* ---- egress queues ---- */
	{ "queue_tx_pkts", METRIC "queue_tx_packets_total", "packets", SWITCH_QUEUE, false, false, "Packets that the queue sent.", QUEUE_STAT "PACKETS" },
	{ "queue_tx_bytes", METRIC "queue_tx_bytes_total", "bytes", SWITCH_QUEUE, false, false, "Bytes that the queue sent.", QUEUE_STAT "BYTES" },
	{ "queue_drop_pkts", METRIC "queue_dropped_packets_total", "packets", SWITCH_QUEUE, false, false, "Packets that the queue dropped.", QUEUE_STAT "DROPPED_PACKETS" },
	{ "queue_drop_bytes", METRIC "queue_dropped_bytes_total", "bytes", SWITCH_QUEUE, false, false, "Bytes that the queue dropped.", QUEUE_STAT "DROPPED_BYTES" },
	{ "queue_wred_drops", METRIC "queue_wred_drops_total", "packets", SWITCH_QUEUE, false, false, "Packets that WRED dropped.", QUEUE_STAT "WRED_DROPPED_PACKETS" },
	{ "queue_ecn_marked", METRIC "queue_ecn_marked_packets_total", "packets", SWITCH_QUEUE, false, false, "Packets that the queue gave a congestion mark (ECN CE).", QUEUE_STAT "WRED_ECN_MARKED_PACKETS" },
	{ "queue_ecn_marked_bytes", METRIC "queue_ecn_marked_bytes_total", "bytes", SWITCH_QUEUE, false, false, "Bytes of those packets.", QUEUE_STAT "WRED_ECN_MARKED_BYTES" },
	{ "queue_occupancy_bytes", METRIC "queue_occupancy_bytes", "bytes", SWITCH_QUEUE, false, true, "Bytes in the queue now.", QUEUE_STAT "CURR_OCCUPANCY_BYTES" },
	{ "queue_watermark_bytes", METRIC "queue_watermark_bytes", "bytes", SWITCH_QUEUE, false, true, "Most bytes in the queue since the switch cleared this mark.", QUEUE_STAT "SHARED_WATERMARK_BYTES" },
	{ "pfcwd_stormed", METRIC "pfc_watchdog_stormed", "0 or 1", SWITCH_QUEUE, false, true, "1: the PFC watchdog has stopped the queue, since the neighbour pauses it without end.", "PFC_WD_STATUS" },
	{ "pfcwd_detected", METRIC "pfc_watchdog_storms_total", "storms", SWITCH_QUEUE, false, false, "Storms that the PFC watchdog has detected.", "PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED" },
	{ "pfcwd_restored", METRIC "pfc_watchdog_restored_total", "storms", SWITCH_QUEUE, false, false, "Storms that have ended.", "PFC_WD_QUEUE_STATS_DEADLOCK_RESTORED" },
	{ "pfcwd_tx_drops", METRIC "pfc_watchdog_tx_dropped_packets_total", "packets", SWITCH_QUEUE, false, false, "Packets to be sent that the PFC watchdog dropped.", "PFC_WD_QUEUE_STATS_TX_DROPPED_PACKETS" },
	{ "pfcwd_rx_drops", METRIC "pfc_watchdog_rx_dropped_packets_total", "packets", SWITCH_QUEUE, false, false, "Packets received that the PFC watchdog dropped.", "PFC_WD_QUEUE_STATS_RX_DROPPED_PACKETS" },
	/* ---- ingress priority groups ---- */
	{ "group_drop_pkts", METRIC "group_dropped_packets_total", "packets", SWITCH_GROUP, false, false, "Packets that the priority group dropped: of a lossless one its headroom is too small.", GROUP_STAT "DROPPED_PACKETS" },
	{ "group_watermark_bytes", METRIC "group_watermark_bytes", "bytes", SWITCH_GROUP, false, true, "Most shared buffer that the group took since the switch cleared this mark.", GROUP_STAT "SHARED_WATERMARK_BYTES" },
	{ "group_headroom_watermark_bytes", METRIC "group_headroom_watermark_bytes", "bytes", SWITCH_GROUP, false, true, "Most headroom that the group took since the switch cleared this mark.", GROUP_STAT "XOFF_ROOM_WATERMARK_BYTES" },
	{ 0 }
};
/* clang-format on */

static const struct word {
	const char *word;
	uint64_t value;
} words[] = {
	{ "up", 1 },
	{ "down", 0 },
	{ "operational", 0 },
	{ "stormed", 1 },
};

const char *
switch_part_word(enum switch_part part)
{
	static const char *const names[] = { "port", "queue", "group" };

	return names[part];
}

size_t
switch_row_values(const struct switch_row *row)
{
	return row->by_priority ? SWITCH_PRIORITIES : 1;
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
switch_next_name(const char **text, unsigned priority, char ret[SWITCH_NAME_BYTES])
{
	size_t len = 0;

	if (**text == '\0')
		return -ENOENT;
	for (; **text != '\0' && **text != '|'; ++*text)
		if (len < SWITCH_NAME_BYTES - 1)
			ret[len++] =
			    **text == '#' ? (char)('0' + priority % 10) : **text;
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
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (len == strlen(words[i].word) &&
		    memcmp(text, words[i].word, len) == 0) {
			*ret = words[i].value;
			return 0;
		}
	return switch_number_read(text, len, ret);
}
