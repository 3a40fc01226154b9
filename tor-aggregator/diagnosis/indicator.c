#include "tor-aggregator/diagnosis/indicator.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "schemas/wire/text.h"
#include "tor-aggregator/diagnosis/evidence.h"

enum how {
	COUNT, /* sum of the counters that exist, over the interval */
	MOST,  /* the largest of these counters */
	RATE,  /* per second */
	/* microseconds as a share of the interval, for the priority with the largest
	   share */
	TIME,
	RATIO,
	GAUGE,
	/* bits (or bytes, by scale) as a share of what a port of the speed `per` (Mb/s)
	 * can carry */
	USE,
	/* decibels by which the darkest lane in `of` is below the brightest lane, or
	 * below `per`; without lanes whose transmitter (`where`) is off */
	LIGHT,
	/* decibels by which `of`, the darkest lane of the switch's module, is below
	 * `per` */
	SWITCH_LIGHT,
	/* `of` as a share of the smaller one of `per` */
	OF_SMALLER,
	GIVEN,
};

enum lanes { LANES_ANY, LANES_NRZ, LANES_PAM4 };

#define MAX_OF 4
#define EXCUSE 10

struct row {
	const char *name, *unit;
	uint8_t how;
	uint8_t of[MAX_OF];
	uint8_t where; /* only indexes at which this number is above 0; 0: all */
	uint8_t per[MAX_OF];
	/* for RATIO; if `per` is below at_least, the indicator is idle */
	double scale, at_least;
	/* the indicator is idle if one of these numbers is EXCUSE or more */
	uint8_t excused[MAX_OF];
	uint8_t otherwise; /* the indicator to use if this one is missing */
	/* the indicator is idle unless this number is above 0: drops in a class without
	 * pauses are not drops of the headroom */
	uint8_t pausing;
	uint8_t lanes;  /* enum lanes; the indicator is idle on other lanes */
	bool corrected; /* see indicator_is_corrected */
	bool timed;     /* " in 10 s" is appended to its text */
	/* '#' stands for the number; '$' for the switch's port; '@' for the RNIC that
	 * pauses */
	const char *text;
};

#define PCT .scale = 100
#define TEXT(sentence) .text = sentence
#define TIMED(sentence) .timed = true, .text = sentence

/* clang-format off */
static const struct row rows[INDICATORS] = {
	[LINK_DOWNS] = { "link_downs", "events", COUNT, { WIRE_COUNTER_LINK_DOWN }, TIMED("its link went down # times") },
	[CARRIER_CHANGES] = { "carrier_changes", "events", COUNT, { WIRE_COUNTER_CARRIER_CHANGES }, TIMED("its link went up or down # times") },
	[SWITCH_CHANGES] = { "switch_changes", "events", COUNT, { SWITCH_OPER_CHANGES }, TIMED("the switch's port $ went up or down # times") },
	[CRC_ERRORS] = { "crc_errors", "frames", COUNT, { WIRE_COUNTER_CRC_ERR }, TIMED("its port counted # frames with a wrong checksum") },
	[SYMBOL_ERRORS] = { "symbol_errors", "symbols", COUNT, { WIRE_COUNTER_SYMBOL_ERR }, TIMED("its port counted # symbol errors") },
	[FEC_FAILURES] = { "fec_failures", "blocks", COUNT, { WIRE_COUNTER_FEC_UNCORR }, TIMED("its port counted # blocks that FEC could not correct") },
	[BIT_ERROR_RATE] = { "bit_error_rate", "of all bits", RATIO, { WIRE_COUNTER_FEC_CORRECTED_BITS }, .per = { WIRE_COUNTER_PHY_RX_BITS }, .scale = 1, .at_least = 1e9, .lanes = LANES_PAM4, .corrected = true, TEXT("# of its bits arrive wrong before FEC") },
	[BIT_ERROR_RATE_NRZ] = { "bit_error_rate", "of all bits", RATIO, { WIRE_COUNTER_FEC_CORRECTED_BITS }, .per = { WIRE_COUNTER_PHY_RX_BITS }, .scale = 1, .at_least = 1e9, .lanes = LANES_NRZ, .corrected = true, TEXT("# of its bits arrive wrong before FEC") },
	[LANE_DARKER] = { "lane_darker", "dB", LIGHT, { WIRE_COUNTER_OPTICS_RX_NW }, .where = WIRE_COUNTER_OPTICS_TX_NW, TEXT("its module receives a lane # dB darker than its brightest") },
	[LANE_BELOW_ALARM] = { "lane_below_alarm", "dB", LIGHT, { WIRE_COUNTER_OPTICS_RX_NW }, .where = WIRE_COUNTER_OPTICS_TX_NW, .per = { WIRE_COUNTER_OPTICS_RX_LOW_ALARM_NW }, TEXT("its module receives a lane # dB below the module's own alarm") },
	[SWITCH_LANE_DARKER] = { "switch_lane_darker", "dB", SWITCH_LIGHT, { SWITCH_OPTICS_RX_LOWEST_NW }, .per = { SWITCH_OPTICS_RX_HIGHEST_NW }, TEXT("the module of the switch's port $ receives a lane # dB darker than its brightest") },
	[SWITCH_LANE_BELOW_ALARM] = { "switch_lane_below_alarm", "dB", SWITCH_LIGHT, { SWITCH_OPTICS_RX_LOWEST_NW }, .per = { SWITCH_OPTICS_RX_LOW_ALARM_NW }, TEXT("the module of the switch's port $ receives a lane # dB below its own alarm") },
	[SWITCH_ERRORS] = { "switch_errors", "packets", COUNT, { SWITCH_RX_ERR }, .excused = { WIRE_COUNTER_MTU_ERR, SWITCH_GIANTS }, TIMED("the switch's port $ counted # packets with an error") },
	[SWITCH_FEC_FAILURES] = { "switch_fec_failures", "codewords", COUNT, { SWITCH_FEC_UNCORR }, TIMED("the switch's port $ counted # codewords that FEC could not correct") },
	[SWITCH_BIT_ERROR_RATE] = { "switch_bit_error_rate", "of all bits", USE, { SWITCH_FEC_CORRECTED_BITS }, .per = { SWITCH_SPEED_MBPS }, .scale = 1, .lanes = LANES_PAM4, .corrected = true, TEXT("# of the bits that the switch's port $ receives arrive wrong before FEC") },
	[SWITCH_BIT_ERROR_RATE_NRZ] = { "switch_bit_error_rate", "of all bits", USE, { SWITCH_FEC_CORRECTED_BITS }, .per = { SWITCH_SPEED_MBPS }, .scale = 1, .lanes = LANES_NRZ, .corrected = true, TEXT("# of the bits that the switch's port $ receives arrive wrong before FEC") },
	[SWITCH_FEC_NEARLY] = { "switch_fec_nearly", "codewords", COUNT, { SWITCH_FEC_WORST }, .corrected = true, TIMED("the switch's port $ counted # codewords that FEC could just correct") },
	[SWITCH_FEC_NEARLY_NRZ] = { "switch_fec_nearly", "codewords", COUNT, { SWITCH_FEC_WORST_SHORT }, .lanes = LANES_NRZ, .corrected = true, TIMED("the switch's port $ counted # codewords that FEC could just correct") },
	[ICRC_ERRORS] = { "icrc_errors", "packets", COUNT, { WIRE_COUNTER_ICRC_ERR }, TIMED("it received # RoCE packets with a wrong ICRC") },
	[PCI_OVERFLOWS] = { "pci_overflows", "packets", COUNT, { WIRE_COUNTER_PCI_RX_OVERFLOW }, TIMED("it dropped # packets at a full PCIe buffer") },
	[PCI_STALLED] = { "pci_stalled", "%", GAUGE, { WIRE_COUNTER_PCI_STALL_WR_PCT }, TEXT("writes over PCIe had to wait for # of the time") },
	[PCI_STALLED_SECONDS] = { "pci_stalled_seconds", "seconds", COUNT, { WIRE_COUNTER_PCI_STALL_WR_S }, TIMED("writes over PCIe had to wait in # seconds") },
	[PCI_SIGNAL_ERRORS] = { "pci_signal_errors", "events", COUNT, { WIRE_COUNTER_PCI_SIGNAL_RX, WIRE_COUNTER_PCI_SIGNAL_TX }, TIMED("it counted # errors of the PCIe signal") },
	[PCI_FATAL] = { "pci_fatal", "errors", COUNT, { WIRE_COUNTER_PCI_ERR_FATAL }, TIMED("it counted # fatal errors of its PCIe link") },
	[PCI_NONFATAL] = { "pci_nonfatal", "errors", COUNT, { WIRE_COUNTER_PCI_ERR_NONFATAL }, TIMED("it counted # errors of PCIe that lost a transaction") },
	[PCI_CORRECTED] = { "pci_corrected", "errors", COUNT, { WIRE_COUNTER_PCI_ERR_CORRECTABLE }, .corrected = true, TIMED("it counted # errors of PCIe that were corrected") },
	[PCI_LANES] = { "pci_lanes", "%", OF_SMALLER, { WIRE_COUNTER_PCI_LINK_LANES }, .per = { WIRE_COUNTER_PCI_LINK_LANES_MAX, WIRE_COUNTER_PCI_SLOT_LANES_MAX }, TEXT("its PCIe link has # of the lanes that it and its slot can use") },
	[PCI_SPEED] = { "pci_speed", "%", OF_SMALLER, { WIRE_COUNTER_PCI_LINK_MTS }, .per = { WIRE_COUNTER_PCI_LINK_MTS_MAX, WIRE_COUNTER_PCI_SLOT_MTS_MAX }, TEXT("its PCIe link has # of the speed that it and its slot can use") },
	[DISCARDS] = { "discards", "packets", MOST, { WIRE_COUNTER_PHY_RX_DISCARDS, WIRE_COUNTER_PRIO_RX_DISCARDS }, TIMED("its port discarded # packets that it had received") },
	[BUFFER_NEARLY_FULL] = { "buffer_nearly_full", "events", COUNT, { WIRE_COUNTER_RX_BUF_THRESH }, TIMED("its receive buffer was nearly full # times") },
	[PFC_RECEIVED] = { "pfc_received", "frames per second", RATE, { WIRE_COUNTER_PFC_RX_FRAMES }, .otherwise = PFC_RECEIVED_OF_SWITCH, TEXT("it received # PFC frames per second") },
	[PFC_RECEIVED_OF_SWITCH] = { "pfc_received", "frames per second", RATE, { SWITCH_PFC_TX_FRAMES }, TEXT("the switch's port $ sent it # PFC frames per second") },
	[PFC_SENT] = { "pfc_sent", "frames per second", RATE, { WIRE_COUNTER_PFC_TX_FRAMES }, .otherwise = PFC_SENT_OF_SWITCH, TEXT("it sent # PFC frames per second") },
	[PFC_SENT_OF_SWITCH] = { "pfc_sent", "frames per second", RATE, { SWITCH_PFC_RX_FRAMES }, TEXT("the switch's port $ received # PFC frames per second from it") },
	[PAUSED] = { "paused", "%", TIME, { WIRE_COUNTER_PFC_RX_PAUSE_US }, .otherwise = PAUSED_OF_SWITCH, TEXT("the switch paused it for # of the time") },
	[PAUSED_OF_SWITCH] = { "paused", "%", TIME, { SWITCH_PFC_TX_PAUSE_US }, TEXT("the switch's port $ paused it for # of the time") },
	[PAUSING] = { "pausing", "%", TIME, { WIRE_COUNTER_PFC_TX_PAUSE_US }, .otherwise = PAUSING_OF_SWITCH, TEXT("it paused the switch for # of the time") },
	[PAUSING_OF_SWITCH] = { "pausing", "%", TIME, { SWITCH_PFC_RX_PAUSE_US }, TEXT("it paused the switch's port $ for # of the time") },
	[STORM_EVENTS] = { "storm_events", "events", COUNT, { WIRE_COUNTER_PAUSE_STORM_WARN, WIRE_COUNTER_PAUSE_STORM_ERR }, TIMED("its storm protection counted # events") },
	[WATCHDOG_STORMS] = { "watchdog_storms", "storms", COUNT, { SWITCH_PFCWD_DETECTED }, TIMED("the PFC watchdog of the switch's port $ detected # storms") },
	[WATCHDOG_STORMED] = { "watchdog_stormed", "queues", COUNT, { SWITCH_PFCWD_STORMED }, TEXT("the PFC watchdog has stopped # queues of the switch's port $") },
	[RECEIVE_USE] = { "receive_use", "%", USE, { WIRE_COUNTER_RDMA_RX_BYTES }, .per = { WIRE_COUNTER_PORT_RATE_MBPS }, .scale = 800, TEXT("it receives RDMA at # of its rate") },
	[GLOBAL_PAUSES] = { "global_pauses", "frames", COUNT, { WIRE_COUNTER_GPAUSE_RX_FRAMES, WIRE_COUNTER_GPAUSE_TX_FRAMES }, TIMED("its port counted # global pause frames (802.3x)") },
	[GLOBAL_PAUSES_RECEIVED] = { "global_pauses_received", "frames per second", RATE, { WIRE_COUNTER_GPAUSE_RX_FRAMES }, TEXT("it received # global pause frames (802.3x) per second") },
	[PFC_ON] = { "pfc_on", "priorities", COUNT, { WIRE_COUNTER_PFC_ENABLED }, TEXT("PFC is on for # of its priorities") },
	[PFC_AGREEMENT_OUT] = { "pfc_agreement_out", "%", RATIO, { SWITCH_PFC_RX_FRAMES }, .per = { WIRE_COUNTER_PFC_TX_FRAMES }, .at_least = 500, PCT, TEXT("the switch's port $ counted # of the PFC frames that it sent") },
	[PFC_AGREEMENT_IN] = { "pfc_agreement_in", "%", RATIO, { WIRE_COUNTER_PFC_RX_FRAMES }, .per = { SWITCH_PFC_TX_FRAMES }, .at_least = 500, PCT, TEXT("it counted # of the PFC frames that the switch's port $ sent") },
	[OUT_OF_BUFFERS] = { "out_of_buffers", "packets", COUNT, { WIRE_COUNTER_RX_OUT_OF_BUFFER }, TIMED("it dropped # packets at empty receive queues") },
	[RNR_SENT] = { "rnr_sent", "packets", COUNT, { WIRE_COUNTER_RNR_NAK_TX }, TIMED("it sent # RNR NAKs") },
	[OUT_OF_ORDER] = { "out_of_order", "packets", COUNT, { WIRE_COUNTER_OOS_RX }, TIMED("it received # packets out of order") },
	[SEQUENCE_NAKS] = { "sequence_naks", "packets", COUNT, { WIRE_COUNTER_NAK_SEQ_RX }, TIMED("it received # NAKs for a gap in the sequence") },
	[ACK_TIMEOUTS] = { "ack_timeouts", "events", COUNT, { WIRE_COUNTER_ACK_TIMEOUT }, TIMED("it had # acknowledgement time-outs") },
	[RETRIES_EXCEEDED] = { "retries_exceeded", "events", COUNT, { WIRE_COUNTER_RETRY_EXCEEDED }, TIMED("# of its QPs failed after too many retransmissions") },
	[NAKS_PER_TIMEOUT] = { "naks_per_timeout", "%", RATIO, { WIRE_COUNTER_NAK_SEQ_RX }, .per = { WIRE_COUNTER_ACK_TIMEOUT }, .at_least = 10, PCT, TEXT("it received # as many NAKs as it had time-outs") },
	[SWITCH_DROPS] = { "switch_drops", "packets", MOST, { SWITCH_TX_DISCARDS, SWITCH_TX_BUFFER_DROPS, SWITCH_WRED_DROPS, SWITCH_QUEUE_DROP_PKTS }, TIMED("the switch's port $ dropped # packets to it") },
	[HEADROOM_DROPS] = { "headroom_drops", "packets", COUNT, { SWITCH_GROUP_DROP_PKTS }, .where = SWITCH_PFC_TX_FRAMES, .otherwise = HEADROOM_DROPS_OF_PORT, TIMED("in priority groups that pause it, the switch's port $ dropped # packets") },
	[HEADROOM_DROPS_OF_PORT] = { "headroom_drops", "packets", COUNT, { SWITCH_RX_BUFFER_DROPS }, .pausing = SWITCH_PFC_TX_FRAMES, TIMED("the switch's port $, which pauses it, dropped # packets that came in") },
	[LOSSLESS_SHARE] = { "lossless_share", "%", RATIO, { WIRE_COUNTER_PRIO_RX_BYTES }, .where = WIRE_COUNTER_PFC_ENABLED, .per = { WIRE_COUNTER_RDMA_RX_BYTES }, .at_least = 10e6, PCT, TEXT("its priorities with PFC received # of its RDMA bytes") },
	[CE_RATIO] = { "ce_ratio", "%", RATIO, { WIRE_COUNTER_ECN_CE_RX }, .per = { WIRE_COUNTER_RDMA_RX_PKTS }, .at_least = 1000, PCT, TEXT("# of the packets that it received had a congestion mark") },
	[CNPS_SENT] = { "cnps_sent", "packets", COUNT, { WIRE_COUNTER_CNP_TX }, TIMED("it sent # CNPs") },
	[CNP_PER_CE] = { "cnp_per_ce", "%", RATIO, { WIRE_COUNTER_CNP_TX }, .per = { WIRE_COUNTER_ECN_CE_RX }, .at_least = 1000, PCT, TEXT("it sent # as many CNPs as it received congestion marks") },
	[CNP_RATE] = { "cnp_rate", "packets per second", RATE, { WIRE_COUNTER_CNP_TX }, TEXT("it sent # CNPs per second") },
	[CNP_IGNORED] = { "cnp_ignored", "%", RATIO, { WIRE_COUNTER_CNP_RX_IGNORED }, .per = { WIRE_COUNTER_CNP_RX_HANDLED, WIRE_COUNTER_CNP_RX_IGNORED }, .at_least = 100, PCT, TEXT("it ignored # of the CNPs that it received") },
	[SLOWED] = { "slowed", "CNPs per second", RATE, { WIRE_COUNTER_CNP_RX_HANDLED }, TEXT("it was slowed down by # CNPs per second") },
	[OVERSIZE] = { "oversize", "packets", COUNT, { WIRE_COUNTER_MTU_ERR }, TIMED("its port counted # packets larger than the MTU") },
	[SWITCH_OVERSIZE] = { "switch_oversize", "packets", COUNT, { SWITCH_GIANTS }, TIMED("the switch's port $ counted # packets larger than the MTU") },
	[PROBE_LOSS] = { "probe_loss", "%", GIVEN, { GIVEN_LOSS_PCT }, TEXT("# of its probes are lost") },
	[SMALL_PROBE_LOSS] = { "small_probe_loss", "%", GIVEN, { GIVEN_SMALL_LOSS_PCT }, TEXT("# of its small probes are lost") },
	[LARGE_PROBE_LOSS] = { "large_probe_loss", "%", GIVEN, { GIVEN_LARGE_LOSS_PCT }, TEXT("# of its large probes are lost") },
	[OTHERS_PAUSED] = { "others_paused", "RNICs", GIVEN, { GIVEN_OTHERS_PAUSED }, TEXT("# others of the rack are paused, too") },
	[OTHERS_PAUSING] = { "others_pausing", "%", GIVEN, { GIVEN_OTHERS_PAUSING }, TEXT("@ paused the switch for # of the time") },
	[OTHERS_SLOWED] = { "others_slowed", "RNICs", GIVEN, { GIVEN_OTHERS_CNP }, TEXT("# others of the rack were slowed down by CNPs") },
	[CE_ABOVE_OTHERS] = { "ce_above_others", "times", GIVEN, { GIVEN_CE_ABOVE_OTHERS }, TEXT("that is # times the share of any other of the rack, or more") },
};
/* clang-format on */

const char *
indicator_str(enum indicator indicator)
{
	return rows[indicator].name;
}

const char *
indicator_unit(enum indicator indicator)
{
	return rows[indicator].unit;
}

/* ---- computing ---- */

/* Sums up the numbers in `of` that exist, or finds the largest (most). False: none
 * exists. */
static bool
count(const struct evidence *evidence, const uint8_t of[MAX_OF], unsigned where,
    bool most, double *ret)
{
	double total = 0;
	bool any = false;

	for (size_t i = 0; i < MAX_OF && of[i] != 0; i++) {
		uint64_t value = 0;

		if (!evidence_sum(evidence, of[i], where, &value))
			continue;
		any = true;
		total = !most                   ? total + (double)value
			: (double)value > total ? (double)value
						: total;
	}
	if (any)
		*ret = total;
	return any;
}

static bool
is_excused(const struct evidence *evidence, const struct row *row)
{
	for (size_t i = 0; i < MAX_OF && row->excused[i] != 0; i++) {
		uint64_t value = 0;

		if (evidence_sum(evidence, row->excused[i], 0, &value) &&
		    value >= EXCUSE)
			return true;
	}
	return false;
}

/* True: the number is set at any index. */
static bool
is_there(const struct evidence *evidence, unsigned number)
{
	uint64_t value;

	return evidence_sum(evidence, number, 0, &value);
}

static enum indicator_status
read_count(const struct evidence *evidence, const struct row *row, double *ret)
{
	double value = 0;

	if (row->where != 0 &&
	    (!is_there(evidence, row->where) || !is_there(evidence, row->of[0])))
		return INDICATOR_MISSING;
	if (!count(evidence, row->of, row->where, row->how == MOST, &value) &&
	    row->where == 0)
		return INDICATOR_MISSING;
	if (row->pausing != 0) {
		uint64_t frames;

		if (!evidence_sum(evidence, row->pausing, 0, &frames))
			return INDICATOR_MISSING;
		if (frames == 0)
			return INDICATOR_IDLE;
	}
	if (is_excused(evidence, row))
		return INDICATOR_IDLE;
	*ret =
	    row->how == RATE ? value / evidence_seconds(evidence, row->of[0]) : value;
	return INDICATOR_KNOWN;
}

/* The ratio of two rates: host and switch have different intervals. */
static enum indicator_status
read_ratio(const struct evidence *evidence, const struct row *row, double *ret)
{
	double of = 0, per = 0;

	if (!is_there(evidence, row->of[0]) ||
	    (row->where != 0 && !is_there(evidence, row->where)) ||
	    !count(evidence, row->per, 0, false, &per))
		return INDICATOR_MISSING;
	if (per < row->at_least || !count(evidence, row->of, row->where, false, &of))
		return INDICATOR_IDLE;
	*ret = row->scale * (of / evidence_seconds(evidence, row->of[0])) /
	       (per / evidence_seconds(evidence, row->per[0]));
	return INDICATOR_KNOWN;
}

static enum indicator_status
read_use(const struct evidence *evidence, const struct row *row, double *ret)
{
	uint64_t counted, mbps;

	if (!evidence_sum(evidence, row->of[0], 0, &counted) ||
	    !evidence_most(evidence, row->per[0], &mbps))
		return INDICATOR_MISSING;
	if (mbps == 0)
		return INDICATOR_IDLE;
	*ret = row->scale * (double)counted /
	       ((double)mbps * 1e6 * evidence_seconds(evidence, row->of[0]));
	return INDICATOR_KNOWN;
}

static enum indicator_status
read_most(const struct evidence *evidence, const struct row *row, double *ret)
{
	uint64_t most;

	if (!evidence_most(evidence, row->of[0], &most))
		return INDICATOR_MISSING;
	/* A device that updates its counters seldom may report more than the time that
	 * has passed. */
	*ret = row->how == GAUGE ? (double)most
				 : fmin(100 * ((double)most / 1e6) /
					    evidence_seconds(evidence, row->of[0]),
				       100);
	return INDICATOR_KNOWN;
}

#define DARK_NW 1000  /* -30 dBm: a transmitter that is off sends less than this */
#define NOISE_NW 5000 /* -23 dBm: receivers show this much without any light */
#define STEP_NW 100   /* resolution of modules: the darkest value above 0 */

/* False: the lane's transmitter is off, so the lane is not in use, and may be dark. */
static bool
is_lit(const struct evidence *evidence, const struct row *row, unsigned lane)
{
	return (evidence->there[row->where] & 1u << lane) == 0 ||
	       evidence->value[row->where][lane] >= DARK_NW;
}

/* True in three cases, in which the other end is off or the link is down, so no single
 * lane is at fault: no lane receives light; the switch reports the port as down; all
 * lanes are below the module's alarm, and no received bytes are known. */
static bool
is_without_light(const struct evidence *evidence, uint64_t brightest)
{
	uint64_t value = 0;

	if (brightest < NOISE_NW)
		return true;
	if (evidence_most(evidence, SWITCH_OPER_UP, &value) && value == 0)
		return true;
	if (!evidence_most(evidence, WIRE_COUNTER_OPTICS_RX_LOW_ALARM_NW, &value) ||
	    brightest >= value)
		return false;
	return !evidence_sum(evidence, WIRE_COUNTER_RDMA_RX_BYTES, 0, &value) ||
	       value == 0;
}

static enum indicator_status
read_light(const struct evidence *evidence, const struct row *row, double *ret)
{
	const uint8_t there = evidence->there[row->of[0]];
	uint64_t darkest = UINT64_MAX, brightest = 0, alarm = 0;

	if (there == 0 || evidence_seconds(evidence, row->of[0]) <= 0 ||
	    (row->per[0] != 0 && !evidence_most(evidence, row->per[0], &alarm)))
		return INDICATOR_MISSING;
	for (unsigned i = 0; i < EVIDENCE_INDEXES; i++) {
		const uint64_t light = evidence->value[row->of[0]][i];

		if ((there & 1u << i) == 0 || !is_lit(evidence, row, i))
			continue;
		darkest = light < darkest ? light : darkest;
		brightest = light > brightest ? light : brightest;
	}
	if (is_without_light(evidence, brightest))
		return INDICATOR_IDLE;
	if (darkest < STEP_NW)
		darkest = STEP_NW;
	*ret = 10 *
	       log10((double)(row->per[0] != 0 ? alarm : brightest) / (double)darkest);
	return INDICATOR_KNOWN;
}

/* True: the host's end is off, or the link is down. If the link's state is not known:
 * no lane receives light. */
static bool
is_switch_without_light(const struct evidence *evidence)
{
	uint64_t value = 0, brightest = 0;

	if (!evidence_most(evidence, SWITCH_OPTICS_RX_HIGHEST_NW, &brightest) ||
	    brightest < NOISE_NW)
		return true;
	if (evidence_most(evidence, SWITCH_OPER_UP, &value))
		return value == 0;
	return evidence_most(evidence, SWITCH_OPTICS_RX_LOW_ALARM_NW, &value) &&
	       brightest < value;
}

static enum indicator_status
read_switch_light(const struct evidence *evidence, const struct row *row, double *ret)
{
	uint64_t darkest = 0, other = 0;

	if (!evidence_most(evidence, row->of[0], &darkest) ||
	    !evidence_most(evidence, row->per[0], &other))
		return INDICATOR_MISSING;
	if (other == 0 || is_switch_without_light(evidence))
		return INDICATOR_IDLE;
	*ret =
	    10 * log10((double)other / (double)(darkest < STEP_NW ? STEP_NW : darkest));
	return INDICATOR_KNOWN;
}

#define NRZ_LANE_MBPS 28000 /* faster lanes are PAM4 */
#define NRZ_PORT_MBPS 40000 /* no port with at most this speed has such lanes */
/* The nominal speed of a module's lane may be its symbols per second: those of NRZ at
 * 25 Gb/s are 25.78 G, those of PAM4 at 50 Gb/s are 26.56 G. */
#define NRZ_NOMINAL_MBPS 26000

/* True: the link certainly uses NRZ, one bit per symbol, and so RS(528,514) if it uses
 * FEC. Both ends of a link have the same lanes, so either end shows that. If false, the
 * wider limits for PAM4 and RS(544,514) are used. */
static bool
is_nrz(const struct evidence *evidence)
{
	uint64_t mbps = 0, lanes = 0, lane_mbps = 0;

	evidence_most(evidence, SWITCH_LANE_MBPS, &lane_mbps);
	if (lane_mbps > 0 && lane_mbps <= NRZ_NOMINAL_MBPS)
		return true;
	if (!evidence_most(evidence, SWITCH_SPEED_MBPS, &mbps) || mbps == 0)
		evidence_most(evidence, WIRE_COUNTER_PORT_RATE_MBPS, &mbps);
	evidence_most(evidence, SWITCH_LANES, &lanes);
	return mbps > 0 && mbps <= (lanes > 0 ? lanes * NRZ_LANE_MBPS : NRZ_PORT_MBPS);
}

bool
indicator_is_corrected(enum indicator indicator)
{
	return rows[indicator].corrected;
}

static enum indicator_status
read_share_of_smaller(
    const struct evidence *evidence, const struct row *row, double *ret)
{
	uint64_t of, one, other;

	if (!evidence_most(evidence, row->of[0], &of) ||
	    !evidence_most(evidence, row->per[0], &one) ||
	    !evidence_most(evidence, row->per[1], &other))
		return INDICATOR_MISSING;
	if (one == 0 || other == 0)
		return INDICATOR_IDLE;
	*ret = 100 * (double)of / (double)(one < other ? one : other);
	return INDICATOR_KNOWN;
}

static enum indicator_status
read_by_method(const struct evidence *evidence, const struct row *row, double *ret)
{
	switch (row->how) {
	case TIME:
	case GAUGE:
		return read_most(evidence, row, ret);
	case RATIO:
		return read_ratio(evidence, row, ret);
	case USE:
		return read_use(evidence, row, ret);
	case LIGHT:
		return read_light(evidence, row, ret);
	case SWITCH_LIGHT:
		return read_switch_light(evidence, row, ret);
	case OF_SMALLER:
		return read_share_of_smaller(evidence, row, ret);
	case GIVEN:
		if ((evidence->given_there & 1u << row->of[0]) == 0)
			return INDICATOR_MISSING;
		*ret = evidence->given[row->of[0]];
		return INDICATOR_KNOWN;
	default:
		return read_count(evidence, row, ret);
	}
}

static enum indicator_status
read_row(const struct evidence *evidence, const struct row *row, double *ret)
{
	const enum indicator_status status = read_by_method(evidence, row, ret);

	return status == INDICATOR_KNOWN && row->lanes != LANES_ANY &&
		       is_nrz(evidence) != (row->lanes == LANES_NRZ)
		   ? INDICATOR_IDLE
		   : status;
}

/* The row of the indicator, or of its replacement if the indicator is missing. */
static const struct row *
row_read(const struct evidence *evidence, enum indicator indicator,
    enum indicator_status *status, double *ret)
{
	const struct row *row = &rows[indicator];

	*status = read_row(evidence, row, ret);
	if (*status == INDICATOR_MISSING && row->otherwise != 0) {
		row = &rows[row->otherwise];
		*status = read_row(evidence, row, ret);
	}
	return row;
}

enum indicator_status
indicator_read(const struct evidence *evidence, enum indicator indicator, double *ret)
{
	enum indicator_status status;

	(void)row_read(evidence, indicator, &status, ret);
	return status;
}

/* ---- text of an indicator ---- */

static void
append(char out[INDICATOR_TEXT], const char *text)
{
	const size_t len = strlen(out);

	snprintf(out + len, INDICATOR_TEXT - len, "%s", text);
}

static void
append_number(char out[INDICATOR_TEXT], const struct row *row, double value)
{
	char text[32];

	if (strcmp(row->unit, "%") == 0)
		snprintf(text, sizeof(text), value < 10 ? "%.2g %%" : "%.0f %%", value);
	else if (row->how == RATIO || row->how == USE)
		snprintf(text, sizeof(text), "%.1e", value);
	else
		snprintf(text, sizeof(text), "%.0f", value);
	append(out, text);
}

/* Returns the number of the switch that the indicator shows; of several of which the
 * largest counts, this one. */
static unsigned
shown_of_switch(const struct row *row, const struct evidence *evidence)
{
	unsigned shown = row->of[0];
	uint64_t most = 0;

	if (!evidence_is_switch(shown))
		return row->per[0];
	for (size_t i = 0; row->how == MOST && i < MAX_OF && row->of[i] != 0; i++) {
		uint64_t value = 0;

		if (!evidence_sum(evidence, row->of[i], row->where, &value) ||
		    value <= most)
			continue;
		most = value;
		shown = row->of[i];
	}
	return shown;
}

static void
append_ports(
    char out[INDICATOR_TEXT], const struct row *row, const struct evidence *evidence)
{
	char ports[EVIDENCE_PORTS_BYTES];

	evidence_ports(evidence, shown_of_switch(row, evidence), ports);
	append(out, ports);
}

static void
append_char(char out[INDICATOR_TEXT], char c)
{
	const char text[2] = { c, '\0' };

	append(out, text);
}

void
indicator_report(
    const struct evidence *evidence, enum indicator indicator, char out[INDICATOR_TEXT])
{
	enum indicator_status status;
	double value = 0;
	const struct row *row = row_read(evidence, indicator, &status, &value);

	out[0] = '\0';
	for (const char *at = row->text; *at != '\0'; at++)
		if (*at == '#')
			append_number(out, row, value);
		else if (*at == '$')
			append_ports(out, row, evidence);
		else if (*at == '@')
			append(out, evidence->pausing);
		else
			append_char(out, *at);
	if (row->timed) {
		char text[32];

		snprintf(text, sizeof(text), " in %.0f s",
		    evidence_seconds(evidence, row->of[0]));
		append(out, text);
	}
}

static const char *
number_str(unsigned number)
{
	static const char *const of_switch[] = {
		[SWITCH_RX_ERR - EVIDENCE_SWITCH_FIRST] = "switch rx_err",
		[SWITCH_FEC_UNCORR - EVIDENCE_SWITCH_FIRST] = "switch fec_uncorr",
		[SWITCH_TX_DISCARDS - EVIDENCE_SWITCH_FIRST] = "switch tx_discards",
		[SWITCH_TX_BUFFER_DROPS - EVIDENCE_SWITCH_FIRST] =
		    "switch tx_buffer_drops",
		[SWITCH_WRED_DROPS - EVIDENCE_SWITCH_FIRST] = "switch wred_drops",
		[SWITCH_ECN_MARKED - EVIDENCE_SWITCH_FIRST] = "switch ecn_marked",
		[SWITCH_TX_PKTS - EVIDENCE_SWITCH_FIRST] = "switch tx_ucast_pkts",
		[SWITCH_PFC_RX_FRAMES - EVIDENCE_SWITCH_FIRST] = "switch pfc_rx_frames",
		[SWITCH_PFC_TX_FRAMES - EVIDENCE_SWITCH_FIRST] = "switch pfc_tx_frames",
		[SWITCH_PFC_RX_PAUSE_US - EVIDENCE_SWITCH_FIRST] =
		    "switch pfc_rx_pause_us",
		[SWITCH_PFC_TX_PAUSE_US - EVIDENCE_SWITCH_FIRST] =
		    "switch pfc_tx_pause_us",
		[SWITCH_QUEUE_DROP_PKTS - EVIDENCE_SWITCH_FIRST] =
		    "switch queue_drop_pkts",
		[SWITCH_PFCWD_STORMED - EVIDENCE_SWITCH_FIRST] = "switch pfcwd_stormed",
		[SWITCH_PFCWD_DETECTED - EVIDENCE_SWITCH_FIRST] =
		    "switch pfcwd_detected",
		[SWITCH_GROUP_DROP_PKTS - EVIDENCE_SWITCH_FIRST] =
		    "switch group_drop_pkts",
		[SWITCH_OPER_UP - EVIDENCE_SWITCH_FIRST] = "switch oper_up",
		[SWITCH_PFC_ON - EVIDENCE_SWITCH_FIRST] = "switch pfc_on",
		[SWITCH_OPTICS_RX_LOWEST_NW - EVIDENCE_SWITCH_FIRST] =
		    "switch optics_rx_lowest_nw",
		[SWITCH_OPTICS_RX_HIGHEST_NW - EVIDENCE_SWITCH_FIRST] =
		    "switch optics_rx_highest_nw",
		[SWITCH_OPTICS_RX_LOW_ALARM_NW - EVIDENCE_SWITCH_FIRST] =
		    "switch optics_rx_low_alarm_nw",
		[SWITCH_GIANTS - EVIDENCE_SWITCH_FIRST] = "switch rx_giants",
		[SWITCH_OPER_CHANGES - EVIDENCE_SWITCH_FIRST] = "switch oper_changes",
		[SWITCH_FEC_CORRECTED_BITS - EVIDENCE_SWITCH_FIRST] =
		    "switch fec_corrected_bits",
		[SWITCH_FEC_WORST - EVIDENCE_SWITCH_FIRST] = "switch fec_codewords",
		[SWITCH_LANES - EVIDENCE_SWITCH_FIRST] = "switch lanes",
		[SWITCH_LANE_MBPS - EVIDENCE_SWITCH_FIRST] = "switch optics_lane_mbps",
		[SWITCH_FEC_WORST_SHORT - EVIDENCE_SWITCH_FIRST] =
		    "switch fec_codewords",
		[SWITCH_SPEED_MBPS - EVIDENCE_SWITCH_FIRST] = "switch speed_mbps",
	};

	return evidence_is_switch(number) ? of_switch[number - EVIDENCE_SWITCH_FIRST]
					  : wire_counter_str(number);
}

const char *
indicator_needs(const struct evidence *evidence, enum indicator indicator)
{
	const struct row *row = &rows[indicator];
	const uint8_t needs[] = { row->of[0], row->where, row->per[0] };

	if (row->how == GIVEN)
		return row->name;
	for (size_t i = 0; i < sizeof(needs); i++)
		if (needs[i] != 0 && !is_there(evidence, needs[i]))
			return number_str(needs[i]);
	return number_str(row->of[0]);
}

/* ---- the other RNICs ---- */

/* the RNICs with the highest and the second highest value in the rack */
struct others {
	size_t most;
	double first, second;
	unsigned known;
};

static void
others_take(struct others *others, size_t i, double value)
{
	if (others->known++ == 0 || value > others->first) {
		others->second = others->known == 1 ? 0 : others->first;
		others->first = value;
		others->most = i;
	} else if (value > others->second) {
		others->second = value;
	}
}

/* Returns the highest value of all RNICs except i. False: no other RNIC has the value.
 */
static bool
max_of_others(const struct others *others, size_t i, bool counts_itself, double *ret)
{
	if (others->known <= (counts_itself ? 1u : 0u))
		return false;
	*ret = counts_itself && others->most == i ? others->second : others->first;
	return true;
}

struct rack_numbers {
	struct others pausing, ce;
	unsigned paused, paused_known, slowed, slowed_known;
};

static bool
slows_down(const struct evidence *evidence, bool *slowed)
{
	uint64_t cnps = 0;

	if (!evidence_sum(evidence, WIRE_COUNTER_CNP_RX_HANDLED, 0, &cnps))
		return false;
	*slowed = cnps > 0;
	return true;
}

static void
take_numbers(
    struct rack_numbers *rack, const struct evidence *evidence, size_t i, bool add)
{
	const unsigned one = add ? 1 : (unsigned)-1;
	double value = 0;
	bool slowed;

	if (indicator_read(evidence, PAUSED, &value) == INDICATOR_KNOWN) {
		rack->paused_known += one;
		rack->paused += value >= GIVEN_PAUSED_PCT ? one : 0;
	}
	if (slows_down(evidence, &slowed)) {
		rack->slowed_known += one;
		rack->slowed += slowed ? one : 0;
	}
	if (!add)
		return;
	if (indicator_read(evidence, PAUSING, &value) == INDICATOR_KNOWN)
		others_take(&rack->pausing, i, value);
	if (indicator_read(evidence, CE_RATIO, &value) == INDICATOR_KNOWN)
		others_take(&rack->ce, i, value);
}

/* The RNIC that pauses most, except `but`. */
static size_t
pausing_most_but(struct evidence *const *all, size_t count, size_t but)
{
	size_t most = but;
	double best = -1, value = 0;

	for (size_t i = 0; i < count; i++)
		if (i != but &&
		    indicator_read(all[i], PAUSING, &value) == INDICATOR_KNOWN &&
		    value > best) {
			best = value;
			most = i;
		}
	return most;
}

static void
give_numbers(
    struct evidence *const *all, size_t count, size_t i, struct rack_numbers others)
{
	struct evidence *evidence = all[i];
	double own = 0, most = 0;
	bool counts;

	evidence->given_there &=
	    ~(1u << GIVEN_OTHERS_PAUSED | 1u << GIVEN_OTHERS_PAUSING |
		1u << GIVEN_OTHERS_CNP | 1u << GIVEN_CE_ABOVE_OTHERS);
	take_numbers(&others, evidence, i, false);
	if (others.paused_known > 0)
		evidence_give(evidence, GIVEN_OTHERS_PAUSED, others.paused);
	if (others.slowed_known > 0)
		evidence_give(evidence, GIVEN_OTHERS_CNP, others.slowed);
	counts = indicator_read(evidence, PAUSING, &own) == INDICATOR_KNOWN;
	if (max_of_others(&others.pausing, i, counts, &most)) {
		const size_t who = counts && others.pausing.most == i
				       ? pausing_most_but(all, count, i)
				       : others.pausing.most;

		evidence_give(evidence, GIVEN_OTHERS_PAUSING, most);
		memcpy(evidence->pausing, all[who]->name, sizeof(evidence->pausing));
	}
	counts = indicator_read(evidence, CE_RATIO, &own) == INDICATOR_KNOWN;
	if (counts && max_of_others(&others.ce, i, counts, &most))
		evidence_give(evidence, GIVEN_CE_ABOVE_OTHERS,
		    most > 0 && own / most < GIVEN_ABOVE_ALL ? own / most
							     : GIVEN_ABOVE_ALL);
}

void
evidence_join(struct evidence *const *all, size_t count)
{
	struct rack_numbers rack = { 0 };

	for (size_t i = 0; i < count; i++)
		take_numbers(&rack, all[i], i, true);
	for (size_t i = 0; i < count; i++)
		give_numbers(all, count, i, rack);
}
