#include "tor-aggregator/diagnosis/rules.h"

#include <stdio.h>
#include <string.h>

#include "tor-aggregator/diagnosis/evidence.h"

#define ANY(indicator, from)                            \
	{                                               \
		RULE_ANY, indicator, false, false, from \
	}
#define ANY_BELOW(indicator, from)                     \
	{                                              \
		RULE_ANY, indicator, true, false, from \
	}
#define WITH(indicator, from)                            \
	{                                                \
		RULE_WITH, indicator, false, false, from \
	}
#define MUST(indicator, from)                            \
	{                                                \
		RULE_MUST, indicator, false, false, from \
	}
#define MUST_BELOW(indicator, from)                     \
	{                                               \
		RULE_MUST, indicator, true, false, from \
	}
#define MUST_BELOW_IF_KNOWN(indicator, from)           \
	{                                              \
		RULE_MUST, indicator, true, true, from \
	}
#define MUST_IF_KNOWN(indicator, from)                  \
	{                                               \
		RULE_MUST, indicator, false, true, from \
	}
#define NOT(indicator, from)                            \
	{                                               \
		RULE_NOT, indicator, false, false, from \
	}
#define NOT_IF_KNOWN(indicator, from)                  \
	{                                              \
		RULE_NOT, indicator, false, true, from \
	}
#define BIT(diagnosis) (UINT32_C(1) << DIAGNOSIS_##diagnosis)

#define FEW 10 /* this many events in an interval are more than chance */
#define MANY 100
#define QUIET_PFC 1 /* frames per second */
#define BUSY_PFC 10
/* With the longest pauses at 100 Gb/s, this number of frames per second is 30 % of the
 * time. */
#define MANY_PFC 900

#define GUO "Guo et al., RDMA over Commodity Ethernet at Scale (SIGCOMM 2016)"
#define DCQCN                                                                       \
	"Zhu et al., Congestion Control for Large-Scale RDMA Deployments (SIGCOMM " \
	"2015)"
#define MLX5 "the counter's description by the maker of mlx5"
#define START "; thresholds are starting points"

/* clang-format off */
const struct rule rules[DIAGNOSES] = {
	[DIAGNOSIS_LINK_FLAP] = {
		"link-flap", "The link goes down and comes up again.",
		"counted by the link itself", 0, 0,
		{ ANY(LINK_DOWNS, 1), ANY(CARRIER_CHANGES, 2), ANY(SWITCH_CHANGES, 2) }, .loses = true, .of_links = true },
	[DIAGNOSIS_CABLE] = {
		"cable-errors", "Bits arrive wrong, or a lane is nearly dark: the cable, the optic or the transmitter at the other end is failing.",
		"IEEE 802.3, clauses 91 and 119: FEC must leave hardly any error if before it the share of wrong bits is at most 5e-5 for RS(528,514), or 2.4e-4 for RS(544,514), which PAM4 uses; the limits here are 5 and 2.4 times lower; clause 88: lanes differ by 5.5 dB at most, and monitors may be wrong by 3 dB each" START, 0, BIT(LINK_FLAP),
		{ ANY(SYMBOL_ERRORS, FEW), ANY(CRC_ERRORS, FEW), ANY(FEC_FAILURES, FEW), ANY(BIT_ERROR_RATE, 1e-4), ANY(BIT_ERROR_RATE_NRZ, 1e-5), ANY(LANE_DARKER, 12), ANY(LANE_BELOW_ALARM, 1), ANY(SWITCH_LANE_DARKER, 12), ANY(SWITCH_LANE_BELOW_ALARM, 1), ANY(SWITCH_ERRORS, FEW), ANY(SWITCH_FEC_FAILURES, FEW), ANY(SWITCH_BIT_ERROR_RATE, 1e-4), ANY(SWITCH_BIT_ERROR_RATE_NRZ, 1e-5), ANY(SWITCH_FEC_NEARLY, FEW), ANY(SWITCH_FEC_NEARLY_NRZ, FEW) }, .loses = true, .of_links = true },
	[DIAGNOSIS_CORRUPTION] = {
		"corruption-inside", "Packets are damaged inside a switch or an RNIC, which then adds a correct checksum.",
		"IBTA volume 1, annex A17: the ICRC goes from end to end, the checksum from hop to hop" START, 0, 0,
		{ ANY(ICRC_ERRORS, FEW), NOT(CRC_ERRORS, FEW), NOT_IF_KNOWN(SYMBOL_ERRORS, FEW) }, .loses = true },
	[DIAGNOSIS_PCIE_BOTTLENECK] = {
		"pcie-bottleneck", "The host takes data over PCIe more slowly than they arrive.",
		MLX5 ": it counts seconds with more than 30 % of stalls", 0, 0,
		{ ANY(PCI_OVERFLOWS, 1), ANY(PCI_STALLED, 30), ANY(PCI_STALLED_SECONDS, 1),
		  WITH(PFC_SENT, QUIET_PFC), WITH(PAUSING, 1), WITH(DISCARDS, 1) }, .loses = true },
	[DIAGNOSIS_PCIE_SIGNAL] = {
		"pcie-signal", "The PCIe link of the RNIC has errors: slot, riser or card.",
		MLX5 "; PCI Express Base Specification, Advanced Error Reporting" START, 0, 0,
		{ ANY(PCI_SIGNAL_ERRORS, 1), ANY(PCI_FATAL, 1), ANY(PCI_NONFATAL, FEW), ANY(PCI_CORRECTED, MANY) }, .loses = true },
	[DIAGNOSIS_PCIE_DEGRADED] = {
		"pcie-degraded", "The PCIe link has fewer lanes or a lower speed than both the RNIC and its slot can use.",
		"PCI Express Base Specification, link training: the link uses the most lanes and the highest speed that both ends support", 30, 0,
		{ ANY_BELOW(PCI_LANES, 99), ANY_BELOW(PCI_SPEED, 99) } },
	[DIAGNOSIS_GLOBAL_PAUSE] = {
		"global-pause", "Global pause (802.3x) is in use without PFC: it stops all classes, CNPs and control traffic, too.",
		"IEEE 802.3, annex 31B", 0, 0,
		{ ANY(GLOBAL_PAUSES, 1), MUST_BELOW(PFC_ON, 1) } },
	[DIAGNOSIS_PFC_STORM] = {
		"pfc-storm", "The RNIC pauses its switch without end, and receives almost nothing: all hosts that send to it stop, and others behind them.",
		GUO ", 4.3, the NIC PFC frame storm" START, 10, 0,
		{ ANY(PAUSING, 50), ANY(STORM_EVENTS, 1), ANY(WATCHDOG_STORMS, 1), ANY(WATCHDOG_STORMED, 1),
		  NOT_IF_KNOWN(RECEIVE_USE, 5), NOT_IF_KNOWN(PCI_OVERFLOWS, 1), NOT_IF_KNOWN(PCI_STALLED, 30) }, .loses = true },
	[DIAGNOSIS_SLOW_RECEIVER] = {
		"slow-receiver", "The host takes data more slowly than they arrive (CPU, memory, page faults), and its RNIC pauses the switch.",
		GUO ", 4.4, the slow-receiver symptom" START, 0, BIT(PFC_STORM) | BIT(PCIE_BOTTLENECK),
		{ ANY(PFC_SENT, BUSY_PFC), ANY(PAUSING, 1),
		  WITH(BUFFER_NEARLY_FULL, 1), WITH(DISCARDS, 1), WITH(PAUSING, 50),
		  NOT_IF_KNOWN(PCI_STALLED, 30) }, .loses = true },
	[DIAGNOSIS_PAUSE_VICTIM] = {
		"pause-victim", "The switch pauses this RNIC because of another one: this RNIC is not at fault.",
		GUO ", 4.3: a pause spreads to all that share a queue" START, 0, BIT(PFC_STORM) | BIT(SLOW_RECEIVER) | BIT(PCIE_BOTTLENECK),
		{ ANY(PAUSED, 1), ANY(PFC_RECEIVED, BUSY_PFC),
		  MUST(OTHERS_PAUSING, GIVEN_PAUSED_PCT), NOT_IF_KNOWN(CE_RATIO, 0.1) } },
	[DIAGNOSIS_PFC_STEADY] = {
		"pfc-steady", "PFC limits the traffic where ECN should do so. If there are few marks, the ECN threshold is above that of PFC, or ECN is off; if there are many, senders react too slowly.",
		DCQCN ": ECN has to act before PFC" START, 30, BIT(PFC_STORM) | BIT(PAUSE_VICTIM),
		{ ANY(PAUSED, GIVEN_PAUSED_PCT), MUST(OTHERS_PAUSED, 2), NOT_IF_KNOWN(OTHERS_PAUSING, GIVEN_PAUSED_PCT) } },
	[DIAGNOSIS_PFC_DISAGREEMENT] = {
		"pfc-disagreement", "One end of the link sends PFC frames that the other one does not count: it ignores them, or they are lost.",
		"IEEE 802.1Q, clause 36: both ends have to have PFC on" START, 30, BIT(GLOBAL_PAUSE),
		{ ANY_BELOW(PFC_AGREEMENT_OUT, 50), ANY_BELOW(PFC_AGREEMENT_IN, 50) }, .loses = true },
	[DIAGNOSIS_HEADROOM] = {
		"headroom-short", "The switch drops packets of a lossless class although it pauses their sender: the headroom is too small for the cable or the speed.",
		"IEEE 802.1Q, clause 36: the headroom holds the packets that are on their way when the pause is sent", 0, 0,
		{ ANY(HEADROOM_DROPS, 1) }, .loses = true, .of_links = true },
	[DIAGNOSIS_OUT_OF_BUFFERS] = {
		"out-of-receive-buffers", "The application posts too few receive buffers.",
		"IBTA volume 1: RNR NAK" START, 0, 0,
		{ ANY(OUT_OF_BUFFERS, FEW), ANY(RNR_SENT, FEW),
		  NOT_IF_KNOWN(PFC_SENT, BUSY_PFC), NOT_IF_KNOWN(DISCARDS, 1) } },
	[DIAGNOSIS_QUEUE_DROPS] = {
		"queue-drops", "The switch drops packets to this RNIC in a queue that is not lossless, or full.",
		"counted by the switch itself" START, 0, BIT(HEADROOM) | BIT(LINK_FLAP) | BIT(PFC_STORM),
		{ ANY(OUT_OF_ORDER, FEW), ANY(SEQUENCE_NAKS, FEW),
		  MUST(SWITCH_DROPS, FEW), NOT_IF_KNOWN(CRC_ERRORS, FEW), NOT_IF_KNOWN(SYMBOL_ERRORS, FEW) }, .loses = true },
	[DIAGNOSIS_SILENT_DROP] = {
		"silent-drop", "Packets of this RNIC are lost in the network, and no device counts them: for example in one member of an ECMP group or of a LAG.",
		"Guo et al., Pingmesh (SIGCOMM 2015): black holes and silent drops" START, 10, BIT(LINK_FLAP) | BIT(CABLE) | BIT(PFC_STORM) | BIT(HEADROOM),
		{ ANY(RETRIES_EXCEEDED, 1), ANY(ACK_TIMEOUTS, FEW),
		  MUST(PROBE_LOSS, 0.1), MUST_IF_KNOWN(SMALL_PROBE_LOSS, 0.05), NOT(NAKS_PER_TIMEOUT, 10),
		  NOT(SWITCH_DROPS, 1), NOT(CRC_ERRORS, 1), NOT_IF_KNOWN(SYMBOL_ERRORS, FEW),
		  NOT_IF_KNOWN(LINK_DOWNS, 1), NOT_IF_KNOWN(DISCARDS, 1), NOT_IF_KNOWN(SWITCH_ERRORS, FEW),
		  NOT_IF_KNOWN(OVERSIZE, FEW), NOT_IF_KNOWN(SWITCH_OVERSIZE, FEW), NOT_IF_KNOWN(PAUSED, 30), NOT_IF_KNOWN(PFC_RECEIVED, MANY_PFC), NOT_IF_KNOWN(ICRC_ERRORS, FEW) }, .loses = true },
	[DIAGNOSIS_REORDERING] = {
		"reordering", "Packets arrive out of order and none is lost: adaptive routing, or a change of ECMP, with an RNIC that does not support it.",
		"Mittal et al., Revisiting Network Support for RDMA (SIGCOMM 2018)" START, 0, BIT(LINK_FLAP) | BIT(CABLE) | BIT(HEADROOM),
		{ ANY(OUT_OF_ORDER, MANY),
		  MUST_BELOW(PROBE_LOSS, 0.01), MUST_BELOW_IF_KNOWN(ACK_TIMEOUTS, FEW),
		  NOT(SWITCH_DROPS, 1), NOT(DISCARDS, 1), NOT_IF_KNOWN(CRC_ERRORS, 1),
		  NOT_IF_KNOWN(SYMBOL_ERRORS, FEW), NOT_IF_KNOWN(OUT_OF_BUFFERS, 1), NOT_IF_KNOWN(ICRC_ERRORS, FEW) } },
	[DIAGNOSIS_CNP_OFF] = {
		"cnp-off", "The RNIC receives congestion marks and sends no CNPs: their generation is off.",
		DCQCN ": marks are answered by CNPs, at most one per flow in some 50 us; between 1 in 62 marks and nearly 1 in 1 were seen" START, 10, 0,
		{ ANY_BELOW(CNP_PER_CE, 0.1), MUST_BELOW(CNP_RATE, 1) } },
	[DIAGNOSIS_CNP_IGNORED] = {
		"cnp-ignored", "The RNIC receives CNPs and does not send more slowly: its reaction to CNPs is off.",
		DCQCN START, 0, 0,
		{ ANY(CNP_IGNORED, 10) } },
	[DIAGNOSIS_INCAST] = {
		"incast", "Many hosts send to this RNIC at the same time.",
		DCQCN START, 0, BIT(CNP_OFF),
		{ ANY(CE_RATIO, 1), MUST(OTHERS_SLOWED, 3), MUST(CE_ABOVE_OTHERS, 4) } },
	[DIAGNOSIS_ECN_CONGESTION] = {
		"ecn-congestion", "There is congestion, and ECN controls it, as intended.",
		DCQCN START, 0, BIT(CNP_OFF) | BIT(INCAST),
		{ ANY(CE_RATIO, 0.1), MUST(CNPS_SENT, 1),
		  NOT_IF_KNOWN(PAUSED, 1), NOT_IF_KNOWN(PAUSING, 1), NOT_IF_KNOWN(DISCARDS, 1),
		  NOT_IF_KNOWN(OUT_OF_ORDER, FEW), NOT_IF_KNOWN(SEQUENCE_NAKS, FEW), NOT_IF_KNOWN(ACK_TIMEOUTS, FEW) } },
	[DIAGNOSIS_WRONG_CLASS] = {
		"wrong-class", "RDMA arrives in a class without PFC.",
		"the RNIC itself counts both" START, 0, 0,
		{ ANY_BELOW(LOSSLESS_SHARE, 10) } },
	[DIAGNOSIS_MTU_MISMATCH] = {
		"mtu-mismatch", "Packets arrive that are larger than this end's MTU.",
		"counted by the port itself" START, 0, 0,
		{ ANY(OVERSIZE, FEW), ANY(SWITCH_OVERSIZE, FEW),
		  MUST_IF_KNOWN(LARGE_PROBE_LOSS, 10), MUST_BELOW_IF_KNOWN(SMALL_PROBE_LOSS, 10) }, .loses = true, .of_links = true },
};
/* clang-format on */

enum truth { NO, YES, MISSING };

static enum truth
ask(const struct evidence *evidence, const struct rule_condition *condition)
{
	double value = 0;

	switch (indicator_read(evidence, condition->indicator, &value)) {
	case INDICATOR_MISSING:
		return MISSING;
	case INDICATOR_IDLE:
		return NO;
	case INDICATOR_KNOWN:
		break;
	}
	return condition->below ? value < condition->threshold
				: value >= condition->threshold;
}

struct group { /* conditions of which at least one must hold */
	bool any, known, holds;
	uint8_t needs; /* the first indicator that is missing */
};

struct evaluation {             /* state of the evaluation of one rule's conditions */
	struct group groups[2]; /* RULE_ANY, RULE_WITH */
	bool refuted;
	uint8_t needs; /* the first missing indicator outside the groups */
	struct rule_result result;
	size_t listed;
};

static void
report(struct evaluation *evaluation, uint8_t indicator)
{
	for (size_t i = 0; i < evaluation->listed; i++)
		if (evaluation->result.reports[i] == indicator)
			return;
	if (evaluation->listed < RULE_REPORTS)
		evaluation->result.reports[evaluation->listed++] = indicator;
}

static void
receive(struct evaluation *evaluation, const struct rule_condition *condition,
    enum truth truth)
{
	const bool grouped =
	    condition->role == RULE_ANY || condition->role == RULE_WITH;

	if (grouped) {
		struct group *group = &evaluation->groups[condition->role - RULE_ANY];

		group->any = true;
		group->known |= truth != MISSING;
		group->holds |= truth == YES;
		if (truth == MISSING && group->needs == INDICATOR_NONE)
			group->needs = condition->indicator;
	} else if (truth != MISSING) {
		evaluation->refuted |= (truth == YES) == (condition->role == RULE_NOT);
	} else if (!condition->if_known && evaluation->needs == INDICATOR_NONE) {
		evaluation->needs = condition->indicator;
	}
	evaluation->result.loses |= truth == YES && condition->role == RULE_ANY &&
				    !indicator_is_corrected(condition->indicator);
	if (truth == YES && condition->role != RULE_NOT &&
	    !(condition->role == RULE_MUST && condition->below))
		report(evaluation, condition->indicator);
}

/* Decides the status of the rule. A missing condition outside the groups makes it
 * unknown; a missing condition of a group does so only if no other one of the group is
 * known. */
static void
conclude(struct evaluation *evaluation)
{
	struct rule_result *result = &evaluation->result;

	result->status = RULE_NOT_SO;
	if (evaluation->refuted)
		return;
	for (size_t i = 0; i < 2; i++) {
		const struct group *group = &evaluation->groups[i];

		if (group->any && group->known && !group->holds)
			return;
		if (group->any && !group->known && result->needs == INDICATOR_NONE)
			result->needs = group->needs;
	}
	if (result->needs == INDICATOR_NONE)
		result->needs = evaluation->needs;
	result->status = result->needs == INDICATOR_NONE ? RULE_HOLDS : RULE_NOT_KNOWN;
	result->loses &= result->status == RULE_HOLDS;
}

static struct rule_result
judge(const struct evidence *evidence, const struct rule *rule)
{
	struct evaluation evaluation = { 0 };

	for (size_t i = 0; i < RULE_CONDITIONS && rule->conditions[i].role != RULE_END;
	     i++)
		receive(&evaluation, &rule->conditions[i],
		    ask(evidence, &rule->conditions[i]));
	conclude(&evaluation);
	return evaluation.result;
}

void
rules_judge(const struct evidence *evidence, struct rule_result ret[DIAGNOSES])
{
	uint32_t held = 0;

	for (size_t i = 0; i < DIAGNOSES; i++) {
		ret[i] = judge(evidence, &rules[i]);
		ret[i].loses &= rules[i].loses;
		if ((rules[i].unless & held) != 0)
			ret[i].status = RULE_NOT_SO;
		if (ret[i].status == RULE_HOLDS)
			held |= UINT32_C(1) << i;
	}
}

void
rule_sentence(const struct evidence *evidence, const struct rule_result *result,
    char out[RULE_SENTENCE_BYTES])
{
	char text[INDICATOR_TEXT];
	size_t len = 0;

	out[0] = '\0';
	for (size_t i = 0; i < RULE_REPORTS && result->reports[i] != 0; i++) {
		indicator_report(evidence, result->reports[i], text);
		len += (size_t)snprintf(out + len, RULE_SENTENCE_BYTES - len, "%s%s",
		    len == 0 ? "" : ", ", text);
		if (len >= RULE_SENTENCE_BYTES)
			return;
	}
}
