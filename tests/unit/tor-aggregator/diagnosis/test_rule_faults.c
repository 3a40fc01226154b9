/* Whole faults with all their effects, two faults at once, and faults with missing
 * counters. No rule may hold for an effect that another one explains. */
#include "tor-aggregator/diagnosis/rules.h"

#include "host-agent/counters/counter_table.h"
#include "schemas/wire/text.h"
#include "tests/unit/tor-aggregator/diagnosis/rules_fixture.h"

#define W(name) WIRE_COUNTER_##name

enum switch_kind { SONIC, NEXUS, NO_SWITCH, SWITCH_KINDS };

enum whose { OWN, OTHERS, ALL };

struct change {
	unsigned number, index;
	uint64_t value;
	enum whose whose;
};

struct fault {
	const char *what;
	enum diagnosis diagnosis,
	    others; /* others: for the other RNICs; NONE: no diagnosis */
	struct change changes[14];
	double loss, large,
	    /* share of lost probes, of all sizes or of large probes only, in percent */
	    others_loss;
};

#define NONE DIAGNOSES
#define MISSING_VALUE UINT64_MAX /* the counter is missing, for all indexes */
#define P LOSSLESS

/* clang-format off */
static const struct fault faults[] = {
	{ "a flap, with the errors of training, dead QPs and drops while it is down", DIAGNOSIS_LINK_FLAP, NONE, { { W(LINK_DOWN), 0, 3, OWN }, { W(CARRIER_CHANGES), 0, 6, OWN }, { W(SYMBOL_ERR), 0, 500, OWN }, { W(CRC_ERR), 0, 50, OWN }, { SWITCH_RX_ERR, 0, 20, OWN }, { W(ACK_TIMEOUT), 0, 300, OWN }, { W(RETRY_EXCEEDED), 0, 12, OWN }, { SWITCH_TX_DISCARDS, 0, 400, OWN }, { W(OOS_RX), 0, 30, OWN } }, .loss = 3 },
	{ "a flap that only the carrier shows", DIAGNOSIS_LINK_FLAP, NONE, { { W(CARRIER_CHANGES), 0, 2, OWN }, { W(ACK_TIMEOUT), 0, 300, OWN }, { W(RETRY_EXCEEDED), 0, 12, OWN } }, .loss = 3 },
	{ "a flap that only the switch shows", DIAGNOSIS_LINK_FLAP, NONE, { { SWITCH_OPER_CHANGES, 0, 4, OWN }, { SWITCH_FEC_UNCORR, 0, 900, OWN }, { W(ACK_TIMEOUT), 0, 300, OWN }, { W(RETRY_EXCEEDED), 0, 12, OWN } }, .loss = 3 },
	{ "a cable that only FEC shows, as at 100 Gb/s and above", DIAGNOSIS_CABLE, NONE, { { W(FEC_UNCORR), 0, 60, OWN }, { W(FEC_CORRECTED_BITS), 0, 4000000, OWN }, { W(ACK_TIMEOUT), 0, 400, OWN }, { W(RETRY_EXCEEDED), 0, 2, OWN }, { W(NAK_SEQ_RX), 0, 20, OWN }, { W(OOS_RX), 0, 150, OWN } }, .loss = 1 },
	{ "the same, of which probes have lost nothing yet", DIAGNOSIS_CABLE, NONE, { { W(FEC_UNCORR), 0, 60, OWN }, { W(NAK_SEQ_RX), 0, 20, OWN }, { W(OOS_RX), 0, 150, OWN } } },
	{ "a cable of which FEC at the switch still corrects all", DIAGNOSIS_CABLE, NONE, { { SWITCH_FEC_WORST, 0, 60, OWN }, { SWITCH_FEC_CORRECTED_BITS, 0, 30000000, OWN } } },
	{ "the same of lanes that RS(528,514) protects", DIAGNOSIS_CABLE, NONE, { { SWITCH_FEC_WORST_SHORT, 0, 60, OWN }, { W(FEC_CORRECTED_BITS), 0, 1200000, OWN } } },
	{ "a cable with a dark lane at the switch", DIAGNOSIS_CABLE, NONE, { { SWITCH_OPTICS_RX_LOWEST_NW, 0, 0, OWN }, { SWITCH_FEC_UNCORR, 0, 90, OWN }, { W(ACK_TIMEOUT), 0, 400, OWN }, { W(RETRY_EXCEEDED), 0, 2, OWN } }, .loss = 1 },
	{ "a cable with errors of all kinds at one end", DIAGNOSIS_CABLE, NONE, { { W(SYMBOL_ERR), 0, 812, OWN }, { W(CRC_ERR), 0, 300, OWN }, { W(NAK_SEQ_RX), 0, 40, OWN }, { W(ACK_TIMEOUT), 0, 40, OWN }, { W(OOS_RX), 0, 200, OWN } }, .loss = 1 },
	{ "packets damaged inside a switch, and lost for it", DIAGNOSIS_CORRUPTION, NONE, { { W(ICRC_ERR), 0, 140, OWN }, { W(OOS_RX), 0, 140, OWN }, { W(ACK_TIMEOUT), 0, 60, OWN }, { W(RETRY_EXCEEDED), 0, 1, OWN } }, .loss = 0.5 },
	{ "a PCIe bottleneck that pauses more than half of the time", DIAGNOSIS_PCIE_BOTTLENECK, NONE, { { W(PCI_STALL_WR_PCT), 0, 62, OWN }, { W(RX_BUF_THRESH), 0, 9, OWN }, { W(PFC_TX_FRAMES), P, 40000, OWN }, { W(PFC_TX_PAUSE_US), P, 6000000, OWN }, { SWITCH_PFC_RX_FRAMES, P, 40000, OWN }, { W(PHY_RX_DISCARDS), 0, 300, OWN }, { W(OOS_RX), 0, 400, OWN } } },
	{ "errors of the PCIe signal", DIAGNOSIS_PCIE_SIGNAL, NONE, { { W(PCI_SIGNAL_RX), 0, 2, OWN }, { W(PCI_SIGNAL_TX), 0, 1, OWN } } },
	{ "a riser whose errors PCIe corrects", DIAGNOSIS_PCIE_SIGNAL, NONE, { { W(PCI_ERR_CORRECTABLE), 0, 300, OWN } } },
	{ "a riser whose PCIe link fails", DIAGNOSIS_PCIE_SIGNAL, NONE, { { W(PCI_ERR_CORRECTABLE), 0, 40, OWN }, { W(PCI_ERR_NONFATAL), 0, 3, OWN }, { W(PCI_ERR_FATAL), 0, 1, OWN } } },
	{ "a PCIe link with half of its lanes", DIAGNOSIS_PCIE_DEGRADED, NONE, { { W(PCI_LINK_LANES), 0, 4, OWN } } },
	{ "a PCIe link with the speed of the generation before", DIAGNOSIS_PCIE_DEGRADED, NONE, { { W(PCI_LINK_MTS), 0, 8000, OWN } } },
	{ "global pause on a host without PFC", DIAGNOSIS_GLOBAL_PAUSE, NONE, { { W(PFC_ENABLED), P, 0, OWN }, { W(GPAUSE_RX_FRAMES), 0, 1337000, OWN }, { W(GPAUSE_TX_FRAMES), 0, 20, OWN } } },
	{ "a storm, whose victims and own QPs time out, and which the watchdog drops for", DIAGNOSIS_PFC_STORM, DIAGNOSIS_PAUSE_VICTIM, { { W(RDMA_RX_BYTES), 0, 1000, OWN }, { W(PRIO_RX_BYTES), P, 1000, OWN }, { W(RDMA_RX_PKTS), 0, 3, OWN }, { W(PFC_TX_PAUSE_US), P, 9900000, OWN }, { SWITCH_PFCWD_STORMED, P, 1, OWN }, { SWITCH_QUEUE_DROP_PKTS, P, 900, OWN }, { W(OOS_RX), 0, 20, OWN }, { W(ACK_TIMEOUT), 0, 400, ALL }, { W(RETRY_EXCEEDED), 0, 12, ALL }, { W(PFC_RX_PAUSE_US), P, 4000000, OTHERS }, { W(PFC_RX_FRAMES), P, 20000, OTHERS } }, .loss = 20, .others_loss = 2 },
	{ "a host that takes data slowly, and discards", DIAGNOSIS_SLOW_RECEIVER, NONE, { { W(RX_BUF_THRESH), 0, 700, OWN }, { W(PFC_TX_FRAMES), P, 40000, OWN }, { W(PFC_TX_PAUSE_US), P, 300000, OWN }, { SWITCH_PFC_RX_FRAMES, P, 40000, OWN }, { W(PHY_RX_DISCARDS), 0, 200, OWN }, { W(OOS_RX), 0, 200, OWN } } },
	{ "a victim whose QPs time out", DIAGNOSIS_PAUSE_VICTIM, NONE, { { W(PFC_RX_FRAMES), P, 50000, OWN }, { SWITCH_PFC_TX_FRAMES, P, 50000, OWN }, { W(PFC_RX_PAUSE_US), P, 4000000, OWN }, { W(PFC_TX_PAUSE_US), P, 900000, OTHERS }, { W(ACK_TIMEOUT), 0, 200, OWN }, { W(RETRY_EXCEEDED), 0, 1, OWN } }, .loss = 2 },
	{ "PFC as the steady state", DIAGNOSIS_PFC_STEADY, DIAGNOSIS_PFC_STEADY, { { W(PFC_RX_FRAMES), P, 50000, ALL }, { SWITCH_PFC_TX_FRAMES, P, 50000, ALL }, { W(PFC_RX_PAUSE_US), P, 900000, ALL } } },
	{ "PFC that the switch ignores", DIAGNOSIS_PFC_DISAGREEMENT, NONE, { { W(PFC_TX_FRAMES), P, 40000, OWN }, { SWITCH_PFC_RX_FRAMES, P, 400, OWN } } },
	{ "PFC that the RNIC ignores", DIAGNOSIS_PFC_DISAGREEMENT, NONE, { { SWITCH_PFC_TX_FRAMES, P, 40000, OWN }, { W(PFC_RX_FRAMES), P, 400, OWN } } },
	{ "a headroom that is too short, and what it loses", DIAGNOSIS_HEADROOM, NONE, { { SWITCH_GROUP_DROP_PKTS, P, 77, OWN }, { SWITCH_RX_BUFFER_DROPS, 0, 77, OWN }, { SWITCH_PFC_TX_FRAMES, P, 300, OWN }, { W(PFC_RX_FRAMES), P, 300, OWN }, { W(ACK_TIMEOUT), 0, 40, OWN }, { W(RETRY_EXCEEDED), 0, 1, OWN } }, .loss = 0.5 },
	{ "the same at a switch that counts by port, as a Nexus", DIAGNOSIS_HEADROOM, NONE, { { SWITCH_RX_BUFFER_DROPS, 0, 77, OWN }, { SWITCH_PFC_TX_FRAMES, P, 300, OWN }, { W(PFC_RX_FRAMES), P, 300, OWN }, { SWITCH_GROUP_DROP_PKTS, P, MISSING_VALUE, OWN }, { W(ACK_TIMEOUT), 0, 40, OWN }, { W(RETRY_EXCEEDED), 0, 1, OWN } }, .loss = 0.5 },
	{ "too few receive buffers", DIAGNOSIS_OUT_OF_BUFFERS, NONE, { { W(RX_OUT_OF_BUFFER), 0, 5000, OWN }, { W(RNR_NAK_TX), 0, 800, OWN }, { W(OOS_RX), 0, 300, OWN } } },
	{ "a queue that drops", DIAGNOSIS_QUEUE_DROPS, NONE, { { W(OOS_RX), 0, 900, OWN }, { W(NAK_SEQ_RX), 0, 900, OWN }, { SWITCH_QUEUE_DROP_PKTS, 1, 950, OWN }, { W(ACK_TIMEOUT), 0, 50, OWN }, { W(RETRY_EXCEEDED), 0, 1, OWN } }, .loss = 1 },
	{ "a silent drop", DIAGNOSIS_SILENT_DROP, NONE, { { W(ACK_TIMEOUT), 0, 400, OWN }, { W(RETRY_EXCEEDED), 0, 12, OWN }, { W(NAK_SEQ_RX), 0, 3, OWN } }, .loss = 6.25 },
	{ "a silent drop where PFC carries some of the load", DIAGNOSIS_SILENT_DROP, NONE, { { W(ACK_TIMEOUT), 0, 400, OWN }, { W(RETRY_EXCEEDED), 0, 12, OWN }, { W(PFC_RX_PAUSE_US), P, 1000000, OWN } }, .loss = 6.25 },
	{ "reordering", DIAGNOSIS_REORDERING, NONE, { { W(OOS_RX), 0, 9000, OWN }, { W(NAK_SEQ_RX), 0, 9000, OWN } } },
	{ "CNPs that no receiver sends", DIAGNOSIS_CNP_OFF, NONE, { { W(ECN_CE_RX), 0, 150000, OWN } } },
	{ "CNPs that no sender obeys", DIAGNOSIS_CNP_IGNORED, NONE, { { W(CNP_RX_HANDLED), 0, 100, OWN }, { W(CNP_RX_IGNORED), 0, 900, OWN } } },
	{ "incast", DIAGNOSIS_INCAST, NONE, { { W(ECN_CE_RX), 0, 150000, OWN }, { W(CNP_TX), 0, 30000, OWN }, { W(CNP_RX_HANDLED), 0, 7000, OTHERS } } },
	{ "congestion that ECN manages", DIAGNOSIS_ECN_CONGESTION, DIAGNOSIS_ECN_CONGESTION, { { W(ECN_CE_RX), 0, 20000, ALL }, { W(CNP_TX), 0, 9000, ALL }, { W(CNP_RX_HANDLED), 0, 9000, ALL } } },
	{ "RDMA in the wrong class", DIAGNOSIS_WRONG_CLASS, NONE, { { W(PRIO_RX_BYTES), P, 1000000, OWN }, { W(PRIO_RX_BYTES), 0, UINT64_C(10000000000), OWN } } },
	{ "another MTU at the switch, and what that costs", DIAGNOSIS_MTU_MISMATCH, NONE, { { W(MTU_ERR), 0, 3000, OWN }, { W(ACK_TIMEOUT), 0, 400, OWN }, { W(RETRY_EXCEEDED), 0, 12, OWN } }, .loss = 50, .large = 100 },
	{ "the same, as the switch alone counts it", DIAGNOSIS_MTU_MISMATCH, NONE, { { SWITCH_GIANTS, 0, 3000, OWN }, { SWITCH_RX_ERR, 0, 3000, OWN }, { W(ACK_TIMEOUT), 0, 400, OWN }, { W(RETRY_EXCEEDED), 0, 12, OWN } }, .loss = 50, .large = 100 },
};
/* clang-format on */

#define FAULTS (sizeof(faults) / sizeof(faults[0]))
#define CHANGES (sizeof(faults[0].changes) / sizeof(faults[0].changes[0]))

static void
give_more(struct evidence *evidence, enum evidence_given given, double value)
{
	if (value > evidence->given[given])
		evidence_give(evidence, given, value);
}

/* Adds the fault to RNIC `at`. If two faults set the same counter, the larger value
 * stays. */
static void
apply(const struct fault *fault, unsigned at)
{
	for (size_t i = 0; i < CHANGES && fault->changes[i].number != 0; i++) {
		const struct change *change = &fault->changes[i];

		for (unsigned n = 0; n < RNICS; n++)
			if (change->whose != ALL && (n == at) != (change->whose == OWN))
				continue;
			else if (change->value == MISSING_VALUE)
				rack[n].there[change->number] = 0;
			else
				evidence_set(&rack[n], change->number, change->index,
				    change->value);
	}
	for (unsigned n = 0; n < RNICS; n++)
		give_more(&rack[n], GIVEN_LOSS_PCT,
		    n == at ? fault->loss : fault->others_loss);
	give_more(&rack[at], GIVEN_LARGE_LOSS_PCT, fault->large);
	if (fault->large == 0) /* all sizes are lost */
		give_more(&rack[at], GIVEN_SMALL_LOSS_PCT, fault->loss);
}

static void
rest(void)
{
	for (unsigned i = 0; i < RNICS; i++)
		fill_healthy(&rack[i], i);
}

/* The fault affects only its own RNIC, and pauses no other. */
static bool
is_local(const struct fault *fault)
{
	for (size_t i = 0; i < CHANGES && fault->changes[i].number != 0; i++)
		if (fault->changes[i].whose != OWN ||
		    fault->changes[i].number == W(PFC_TX_PAUSE_US))
			return false;
	return true;
}

static bool
holds(size_t i, enum diagnosis diagnosis)
{
	return results[i][diagnosis].status == RULE_HOLDS;
}

static void
a_fault_with_all_its_effects_is_reported_by_one_rule(void **state)
{
	bool reported[DIAGNOSES] = { false };

	(void)state;
	for (size_t f = 0; f < FAULTS; f++) {
		rest();
		apply(&faults[f], 0);
		judge();
		print_message("%s\n", faults[f].what);
		assert_only(0, faults[f].diagnosis);
		for (size_t i = 1; i < RNICS; i++)
			assert_only(i, faults[f].others);
		reported[faults[f].diagnosis] = true;
	}
	for (size_t d = 0; d < DIAGNOSES; d++)
		assert_true(reported[d]);
}

static void
two_faults_of_two_rnics_are_reported_separately(void **state)
{
	(void)state;
	for (size_t a = 0; a < FAULTS; a++)
		for (size_t b = 0; b < FAULTS; b++) {
			if (!is_local(&faults[a]) || !is_local(&faults[b]))
				continue;
			rest();
			apply(&faults[a], 0);
			apply(&faults[b], 1);
			judge();
			assert_only(0, faults[a].diagnosis);
			assert_only(1, faults[b].diagnosis);
			for (size_t i = 2; i < RNICS; i++)
				assert_only(i, DIAGNOSES);
		}
}

/* One fault may explain the effects of the other; no third diagnosis may hold. */
static void
two_faults_of_one_rnic_do_not_report_a_third(void **state)
{
	(void)state;
	for (size_t a = 0; a < FAULTS; a++)
		for (size_t b = a + 1; b < FAULTS; b++) {
			if (!is_local(&faults[a]) || !is_local(&faults[b]))
				continue;
			rest();
			apply(&faults[a], 0);
			apply(&faults[b], 0);
			judge();
			/* Many NAKs of one fault may hide the other's few. */
			if (!holds(0, faults[a].diagnosis) &&
			    !holds(0, faults[b].diagnosis) &&
			    faults[b].diagnosis != DIAGNOSIS_REORDERING)
				fail_msg(
				    "neither: %s; %s", faults[a].what, faults[b].what);
			for (size_t d = 0; d < DIAGNOSES; d++)
				if (holds(0, (enum diagnosis)d) &&
				    d != faults[a].diagnosis &&
				    d != faults[b].diagnosis)
					fail_msg("%s: %s; %s", rules[d].name,
					    faults[a].what, faults[b].what);
		}
}

static bool
belongs(const struct fault *fault, unsigned number)
{
	for (size_t i = 0; i < CHANGES; i++)
		if (fault->changes[i].number == number)
			return true;
	return false;
}

/* Nor may a third diagnosis come from a counter that the driver or the switch does not
 * have. */
static void
a_counter_that_is_missing_reports_no_other_fault(void **state)
{
	(void)state;
	for (size_t f = 0; f < FAULTS; f++)
		for (unsigned number = 1; number < EVIDENCE_NUMBERS; number++) {
			if (belongs(&faults[f], number))
				continue;
			rest();
			apply(&faults[f], 0);
			for (unsigned i = 0; i < RNICS; i++)
				rack[i].there[number] = 0;
			judge();
			for (size_t d = 0; d < DIAGNOSES; d++)
				if (holds(0, (enum diagnosis)d) &&
				    d != faults[f].diagnosis)
					fail_msg("%s without number %u: %s",
					    rules[d].name, number, faults[f].what);
		}
}

/* The values that a Nexus does not have: times of pauses, groups, FEC, and marks of a
 * port. */
static bool
is_of_nexus(unsigned number)
{
	static const unsigned has[] = { SWITCH_RX_ERR, SWITCH_TX_DISCARDS,
		SWITCH_WRED_DROPS, SWITCH_ECN_MARKED, SWITCH_TX_PKTS,
		SWITCH_PFC_RX_FRAMES, SWITCH_PFC_TX_FRAMES, SWITCH_QUEUE_DROP_PKTS,
		SWITCH_PFCWD_STORMED, SWITCH_PFCWD_DETECTED, SWITCH_PFC_ON,
		SWITCH_RX_BUFFER_DROPS, SWITCH_OPTICS_RX_LOWEST_NW,
		SWITCH_OPTICS_RX_HIGHEST_NW, SWITCH_OPTICS_RX_LOW_ALARM_NW,
		SWITCH_GIANTS };

	for (size_t i = 0; i < sizeof(has) / sizeof(has[0]); i++)
		if (has[i] == number)
			return true;
	return false;
}

/* True if RNICs of this driver have the counter, by the agent's table. */
static bool
has_counter(enum counter_driver driver, unsigned number)
{
	for (const struct counter_row *row = counter_rows; row->name != NULL; row++)
		if (strcmp(row->name, wire_counter_str(number)) == 0)
			return row->source[driver] != NULL ||
			       row->source[COUNTER_ANY] != NULL;
	return false;
}

/* Removes the values that this driver or this kind of switch does not have, from all
 * RNICs. */
static void
leave_to(enum counter_driver driver, enum switch_kind kind)
{
	for (unsigned i = 0; i < RNICS; i++)
		for (unsigned number = 1; number < EVIDENCE_NUMBERS; number++)
			if (evidence_is_switch(number)
				? kind == NO_SWITCH ||
				      (kind == NEXUS && !is_of_nexus(number))
				: !has_counter(driver, number))
				rack[i].there[number] = 0;
}

/* If no counter shows the fault itself, its remaining effects look like this diagnosis.
 */
static bool
is_all_that_is_left(enum diagnosis diagnosis, const struct fault *fault)
{
	static const struct {
		enum diagnosis looks_like, is;
	} pairs[] = {
		{ DIAGNOSIS_SILENT_DROP, DIAGNOSIS_LINK_FLAP },
		{ DIAGNOSIS_SILENT_DROP, DIAGNOSIS_CABLE },
		{ DIAGNOSIS_SILENT_DROP, DIAGNOSIS_CORRUPTION },
		{ DIAGNOSIS_REORDERING, DIAGNOSIS_CABLE },
		{ DIAGNOSIS_SLOW_RECEIVER, DIAGNOSIS_PCIE_BOTTLENECK },
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (pairs[i].looks_like == diagnosis && pairs[i].is == fault->diagnosis)
			return !holds(0, fault->diagnosis);
	return false;
}

/* With other drivers and switches there is less evidence: a fault may be missed, but
 * must not be taken for another one. */
static void
other_drivers_and_switches_report_no_other_fault(void **state)
{
	size_t found = 0, count = 0, left = 0;

	(void)state;
	for (size_t at = 0; at < FAULTS * COUNTER_DRIVERS * SWITCH_KINDS; at++) {
		const struct fault *fault = &faults[at % FAULTS];
		const enum counter_driver driver =
		    (enum counter_driver)(at / FAULTS % COUNTER_DRIVERS);
		const enum switch_kind kind =
		    (enum switch_kind)(at / FAULTS / COUNTER_DRIVERS);

		rest();
		apply(fault, 0);
		leave_to(driver, kind);
		judge();
		count++;
		found += holds(0, fault->diagnosis);
		for (size_t i = 0; i < RNICS; i++)
			for (enum diagnosis d = 0; d < DIAGNOSES; d++) {
				if (!holds(i, d) ||
				    d == (i == 0 ? fault->diagnosis : fault->others))
					continue;
				left++;
				if (i > 0 || !is_all_that_is_left(d, fault))
					fail_msg("%s with %s, switch %d: %s",
					    rules[d].name, counter_driver_str(driver),
					    kind, fault->what);
			}
	}
	print_message(
	    "%zu of %zu found, %zu taken for what is left\n", found, count, left);
	assert_true(found * 2 > count - count / 10);
}

/* The counters of a host restart at 0 with its driver, those of a switch with its
 * restart. They have no values for that interval, while the other end keeps counting.
 */
static void
an_end_that_was_reset_reports_no_other_fault(void **state)
{
	(void)state;
	for (size_t f = 0; f < FAULTS; f++)
		for (unsigned end = 0; end < 4; end++) {
			rest();
			apply(&faults[f], 0);
			for (unsigned i = 0; i < RNICS; i++)
				for (unsigned number = 1; number < EVIDENCE_NUMBERS;
				     number++)
					if (evidence_is_switch(number) == (end & 1) &&
					    (i == 0 || end >= 2)) /* or of all RNICs */
						rack[i].there[number] = 0;
			judge();
			for (size_t d = 0; d < DIAGNOSES; d++)
				if (holds(0, (enum diagnosis)d) &&
				    d != faults[f].diagnosis && rules[d].lasts_s == 0 &&
				    !(d == DIAGNOSIS_CABLE &&
					faults[f].diagnosis == DIAGNOSIS_LINK_FLAP))
					fail_msg("%s without end %u: %s", rules[d].name,
					    end, faults[f].what);
		}
}

/* The two ends of a link never count exactly the same: values of both ends differ here
 * by up to a tenth of the fault's. */
static void
slightly_different_ends_give_the_same_diagnosis(void **state)
{
	static const unsigned pairs[][2] = {
		{ W(PFC_TX_FRAMES), SWITCH_PFC_RX_FRAMES },
		{ W(PFC_RX_FRAMES), SWITCH_PFC_TX_FRAMES },
	};

	(void)state;
	for (size_t f = 0; f < FAULTS; f++)
		for (size_t p = 0; p < sizeof(pairs) / sizeof(pairs[0]); p++)
			for (unsigned permille = 600; permille <= 1600;
			     permille += 100) {
				if (faults[f].diagnosis == DIAGNOSIS_PFC_DISAGREEMENT)
					continue;
				rest();
				apply(&faults[f], 0);
				for (unsigned i = 0; i < RNICS; i++)
					rack[i].value[pairs[p][1]][P] =
					    rack[i].value[pairs[p][0]][P] * permille /
					    1000;
				judge();
				assert_only(0, faults[f].diagnosis);
			}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fault_with_all_its_effects_is_reported_by_one_rule),
		cmocka_unit_test(two_faults_of_two_rnics_are_reported_separately),
		cmocka_unit_test(two_faults_of_one_rnic_do_not_report_a_third),
		cmocka_unit_test(a_counter_that_is_missing_reports_no_other_fault),
		cmocka_unit_test(other_drivers_and_switches_report_no_other_fault),
		cmocka_unit_test(an_end_that_was_reset_reports_no_other_fault),
		cmocka_unit_test(slightly_different_ends_give_the_same_diagnosis),
	};

	return cmocka_run_group_tests_name("rule_faults", tests, NULL, NULL);
}
