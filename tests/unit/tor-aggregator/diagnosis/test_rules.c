#include "tor-aggregator/diagnosis/rules.h"

#include "tests/unit/tor-aggregator/diagnosis/rules_fixture.h"

static int
setup(void **state)
{
	(void)state;
	for (unsigned i = 0; i < RNICS; i++)
		fill_healthy(&rack[i], i);
	return 0;
}

static void
assert_nothing(void)
{
	judge();
	for (size_t i = 0; i < RNICS; i++)
		assert_only(i, DIAGNOSES);
}

/* Asserts that the diagnosis holds for RNIC 0, and none for the other RNICs. */
static void
assert_found(enum diagnosis diagnosis, const char *sentence)
{
	char text[RULE_SENTENCE_BYTES];

	judge();
	assert_only(0, diagnosis);
	for (size_t i = 1; i < RNICS; i++)
		assert_only(i, DIAGNOSES);
	rule_sentence(&rack[0], &results[0][diagnosis], text);
	assert_string_equal(text, sentence);
}

static void
set(unsigned number, uint64_t value)
{
	evidence_set(&rack[0], number, 0, value);
}

static void
set_lossless(unsigned number, uint64_t value)
{
	evidence_set(&rack[0], number, LOSSLESS, value);
}

static const char *
needs(enum diagnosis diagnosis)
{
	return indicator_needs(&rack[0], results[0][diagnosis].needs);
}

static void
an_idle_rack_has_no_diagnosis(void **state)
{
	(void)state;
	judge();
	for (size_t i = 0; i < RNICS; i++)
		assert_only(i, DIAGNOSES);
	for (size_t d = 0; d < DIAGNOSES; d++)
		assert_int_equal(results[0][d].status, RULE_NOT_SO);
}

/* ---- one case for each row ---- */

static void
a_link_that_comes_and_goes_flaps(void **state)
{
	(void)state;
	set(WIRE_COUNTER_LINK_DOWN, 3);
	set(WIRE_COUNTER_CARRIER_CHANGES, 6);
	assert_found(DIAGNOSIS_LINK_FLAP, "its link went down 3 times in 10 s, its "
					  "link went up or down 6 times in 10 s");
}

static void
symbol_errors_are_a_cable(void **state)
{
	(void)state;
	set(WIRE_COUNTER_SYMBOL_ERR, 812);
	assert_found(DIAGNOSIS_CABLE, "its port counted 812 symbol errors in 10 s");
}

static void
set_light(unsigned number, unsigned lane, uint64_t nanowatts)
{
	evidence_set(&rack[0], number, lane, nanowatts);
}

static void
a_lane_that_is_nearly_dark_is_a_cable(void **state)
{
	(void)state;
	set_light(WIRE_COUNTER_OPTICS_RX_NW, 2, 300);
	assert_found(DIAGNOSIS_CABLE,
	    "its module receives a lane 34 dB darker than its brightest, its module "
	    "receives a lane 21 dB below the module's own alarm");
}

static void
lanes_may_differ_by_what_standards_allow(void **state)
{
	(void)state;
	set_light(WIRE_COUNTER_OPTICS_RX_NW, 2, 55000); /* 11.6 dB between two lanes */
	judge();
	assert_only(0, DIAGNOSES);
}

static void
one_lane_alone_is_judged_by_its_own_alarm(void **state)
{
	(void)state;
	for (unsigned lane = 1; lane < LANES; lane++)
		rack[0].there[WIRE_COUNTER_OPTICS_RX_NW] &= (uint8_t) ~(1u << lane);
	judge();
	assert_only(0, DIAGNOSES);
	set_light(WIRE_COUNTER_OPTICS_RX_NW, 0, 10000);
	assert_found(DIAGNOSIS_CABLE,
	    "its module receives a lane 6 dB below the module's own alarm");
}

/* As for the host's module: light that the switch's module receives from this RNIC. */
static void
a_dark_lane_of_the_switchs_port_is_a_cable(void **state)
{
	(void)state;
	set(SWITCH_OPTICS_RX_LOWEST_NW, 300);
	assert_found(DIAGNOSIS_CABLE,
	    "the module of the switch's port Ethernet0 receives a lane 35 dB darker "
	    "than its brightest, the module of the switch's port Ethernet0 receives a "
	    "lane 21 dB below its own alarm");
	set(SWITCH_OPTICS_RX_LOWEST_NW,
	    10000); /* a single lane can only be compared with its alarm */
	set(SWITCH_OPTICS_RX_HIGHEST_NW, 10000);
	assert_found(DIAGNOSIS_CABLE,
	    "the module of the switch's port Ethernet0 receives a lane 6 dB below its "
	    "own alarm");
	rack[0].there[SWITCH_OPTICS_RX_LOW_ALARM_NW] = 0; /* no alarm threshold */
	assert_nothing();
}

/* A difference of 5.5 dB between lanes is allowed, as each monitor may be wrong by 3
 * dB. A port without any light, or one that is down, has other diagnoses. */
static void
other_light_of_the_switchs_port_is_no_cable(void **state)
{
	(void)state;
	set(SWITCH_OPTICS_RX_LOWEST_NW, 65000);
	set(SWITCH_OPTICS_RX_HIGHEST_NW, 900000);
	assert_nothing();
	set(SWITCH_OPTICS_RX_LOWEST_NW, 0);
	set(SWITCH_OPTICS_RX_HIGHEST_NW, 4000);
	assert_nothing();
	set(SWITCH_OPTICS_RX_HIGHEST_NW, 900000);
	set(SWITCH_OPER_UP, 0);
	assert_nothing();
	rack[0].there[SWITCH_OPER_UP] = 0; /* the state of the port is unknown */
	set(SWITCH_OPTICS_RX_HIGHEST_NW, 30000);
	assert_nothing();
}

/* A link that is down has its own diagnosis. Lanes that a slower transmitter leaves off
 * are dark without a fault. */
static void
missing_light_of_a_transmitter_that_is_off_is_ignored(void **state)
{
	(void)state;
	for (unsigned lane = 0; lane < LANES; lane++)
		set_light(WIRE_COUNTER_OPTICS_RX_NW, lane, 100 * lane);
	judge();
	assert_only(0, DIAGNOSES);
	for (unsigned lane = 0; lane < LANES; lane++) {
		set_light(WIRE_COUNTER_OPTICS_RX_NW, lane, lane < 2 ? 800000 : 0);
		set_light(WIRE_COUNTER_OPTICS_TX_NW, lane, lane < 2 ? 900000 : 100);
	}
	judge();
	assert_only(0, DIAGNOSES);
	set_light(WIRE_COUNTER_OPTICS_RX_NW, 1, 0);
	judge();
	assert_only(0, DIAGNOSIS_CABLE);
}

/* In the dark, photodiodes show small values, which differ between lanes. */
static void
receiver_noise_is_not_taken_for_light(void **state)
{
	(void)state;
	for (unsigned lane = 0; lane < LANES; lane++)
		set_light(WIRE_COUNTER_OPTICS_RX_NW, lane, lane == 1 ? 1100 : 2000);
	judge();
	assert_only(0, DIAGNOSES);
	/* An amplified receiver shows more noise: such a level only counts as light if
	 * data came over the link. */
	for (unsigned lane = 0; lane < LANES; lane++)
		set_light(WIRE_COUNTER_OPTICS_RX_NW, lane, 12000);
	assert_found(DIAGNOSIS_CABLE,
	    "its module receives a lane 5 dB below the module's own alarm");
	set(WIRE_COUNTER_RDMA_RX_BYTES, 0);
	judge();
	assert_only(0, DIAGNOSES);
}

static void
light_of_a_port_that_is_down_at_the_switch_is_not_judged(void **state)
{
	(void)state;
	set_light(WIRE_COUNTER_OPTICS_RX_NW, 2, 300);
	set(SWITCH_OPER_UP, 0);
	judge();
	assert_only(0, DIAGNOSES);
}

/* Link training causes these errors, so only the flapping is reported. */
static void
errors_of_a_flapping_link_are_not_reported_as_cable(void **state)
{
	(void)state;
	set(WIRE_COUNTER_LINK_DOWN, 3);
	set(WIRE_COUNTER_SYMBOL_ERR, 812);
	set(SWITCH_FEC_UNCORR, 40);
	assert_found(DIAGNOSIS_LINK_FLAP, "its link went down 3 times in 10 s");
}

/* No packet is lost yet. */
static void
a_cable_is_reported_while_fec_at_the_switch_still_corrects(void **state)
{
	(void)state;
	set(SWITCH_FEC_CORRECTED_BITS,
	    30000000); /* 3e7 of 1e12 bits, on lanes of 25 Gb/s */
	set(SWITCH_FEC_WORST, 11);
	assert_found(DIAGNOSIS_CABLE,
	    "3.0e-05 of the bits that the switch's port Ethernet0 receives arrive "
	    "wrong before FEC, the switch's port Ethernet0 counted 11 codewords that "
	    "FEC could just correct in 10 s");
	assert_false(
	    results[0][DIAGNOSIS_CABLE].loses); /* no packet is lost because of it */
	set(SWITCH_FEC_UNCORR, 40);
	judge();
	assert_true(results[0][DIAGNOSIS_CABLE].loses);
}

/* An error rate that is bad on lanes of 25 Gb/s is usual on faster ones: PAM4 has more
 * wrong bits, and its FEC corrects more. Lanes of unknown speed may be fast ones. */
static void
lanes_and_speed_give_the_usual_rate_of_wrong_bits(void **state)
{
	static const struct {
		uint64_t mbps, lanes;
		bool nrz;
	} ports[] = { { 100000, 4, true }, { 25000, 1, true }, { 25000, 0, true },
		{ 50000, 2, true }, { 50000, 1, false }, { 100000, 2, false },
		{ 100000, 1, false }, { 100000, 0, false }, { 200000, 8, true },
		{ 200000, 4, false }, { 400000, 8, false }, { 800000, 8, false } };

	(void)state;
	for (size_t i = 0; i < sizeof(ports) / sizeof(ports[0]); i++)
		for (unsigned end = 0; end < 2; end++)
			for (unsigned much = 0; much < 2; much++) {
				const uint64_t bits = much ? 30 : 3;

				fill_healthy(&rack[0], 0);
				set(SWITCH_SPEED_MBPS, ports[i].mbps);
				set(WIRE_COUNTER_PORT_RATE_MBPS, ports[i].mbps);
				set(SWITCH_LANES, ports[i].lanes);
				if (end == 0) /* error rates of 3e-5 and 3e-4 */
					set(WIRE_COUNTER_FEC_CORRECTED_BITS,
					    bits * 800000);
				else
					set(SWITCH_FEC_CORRECTED_BITS,
					    bits * ports[i].mbps * SECONDS * 10);
				judge();
				assert_only(0,
				    ports[i].nrz || much ? DIAGNOSIS_CABLE : DIAGNOSES);
			}
}

/* A Nexus reports the speed of a port's lanes, but not their number. */
static void
the_nominal_speed_of_a_lane_gives_the_usual_rate_of_wrong_bits(void **state)
{
	static const struct {
		uint64_t lane_mbps;
		bool nrz;
	} modules[] = { { 25500, true }, { 25781, true }, { 10300, true },
		/* symbols of PAM4 */
		{ 26500, false }, { 26562, false }, { 53125, false }, { 425000, false },
		{ 0, false } };

	(void)state;
	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++) {
		fill_healthy(&rack[0], 0);
		set(WIRE_COUNTER_PORT_RATE_MBPS, 100000);
		rack[0].there[SWITCH_SPEED_MBPS] = rack[0].there[SWITCH_LANES] = 0;
		set(SWITCH_LANE_MBPS, modules[i].lane_mbps);
		set(WIRE_COUNTER_FEC_CORRECTED_BITS, 3 * 800000);
		judge();
		assert_only(0, modules[i].nrz ? DIAGNOSIS_CABLE : DIAGNOSES);
	}
}

static void
codewords_nearly_lost_are_those_of_the_fec_in_use(void **state)
{
	(void)state;
	set(SWITCH_FEC_WORST_SHORT, 11);
	assert_found(DIAGNOSIS_CABLE,
	    "the switch's port Ethernet0 counted 11 codewords that FEC could just "
	    "correct in 10 s");
	set(SWITCH_LANES, 2); /* PAM4: RS(544,514) corrects twice as many symbols */
	judge();
	assert_only(0, DIAGNOSES);
	rack[0].there[SWITCH_LANES] = 0;
	judge();
	assert_only(0, DIAGNOSES);
}

static void
errors_at_the_switch_are_a_cable(void **state)
{
	(void)state;
	set(SWITCH_RX_ERR, 812);
	assert_found(DIAGNOSIS_CABLE,
	    "the switch's port Ethernet0 counted 812 packets with an error in 10 s");
}

static void
many_corrected_bits_are_a_cable(void **state)
{
	(void)state;
	set(WIRE_COUNTER_FEC_CORRECTED_BITS, 4000000);
	assert_found(DIAGNOSIS_CABLE, "5.0e-05 of its bits arrive wrong before FEC");
}

static void
a_wrong_icrc_alone_is_damage_inside(void **state)
{
	(void)state;
	set(WIRE_COUNTER_ICRC_ERR, 40);
	assert_found(DIAGNOSIS_CORRUPTION,
	    "it received 40 RoCE packets with a wrong ICRC in 10 s");
}

static void
stalls_with_pauses_are_pcie(void **state)
{
	(void)state;
	set(WIRE_COUNTER_PCI_STALL_WR_PCT, 62);
	set(WIRE_COUNTER_RX_BUF_THRESH, 9);
	set_lossless(WIRE_COUNTER_PFC_TX_FRAMES, 40000);
	set_lossless(WIRE_COUNTER_PFC_TX_PAUSE_US, 1500000);
	set_lossless(SWITCH_PFC_RX_FRAMES, 40000);
	assert_found(DIAGNOSIS_PCIE_BOTTLENECK,
	    "writes over PCIe had to wait for 62 % of the time, it sent 4000 PFC "
	    "frames per second, it paused the switch for 15 % of the time");
}

static void
stalls_without_pauses_give_no_diagnosis(void **state)
{
	(void)state;
	set(WIRE_COUNTER_PCI_STALL_WR_PCT, 62);
	judge();
	assert_only(0, DIAGNOSES);
}

static void
errors_of_the_signal_are_pcie(void **state)
{
	(void)state;
	set(WIRE_COUNTER_PCI_SIGNAL_RX, 2);
	assert_found(
	    DIAGNOSIS_PCIE_SIGNAL, "it counted 2 errors of the PCIe signal in 10 s");
}

static void
fewer_lanes_than_both_ends_have_are_pcie(void **state)
{
	(void)state;
	set(WIRE_COUNTER_PCI_LINK_LANES, 4);
	set(WIRE_COUNTER_PCI_LINK_MTS, 8000);
	assert_found(DIAGNOSIS_PCIE_DEGRADED,
	    "its PCIe link has 50 % of the lanes that it and its slot can use, its "
	    "PCIe link has 50 % of the speed that it and its slot can use");
}

/* A virtual function has no width; in a virtual machine there is no slot. */
static void
a_pcie_link_without_all_its_values_is_not_judged(void **state)
{
	(void)state;
	set(WIRE_COUNTER_PCI_LINK_LANES, 4);
	set(WIRE_COUNTER_PCI_LINK_MTS, 8000);
	rack[0].there[WIRE_COUNTER_PCI_SLOT_LANES_MAX] = 0;
	rack[0].there[WIRE_COUNTER_PCI_SLOT_MTS_MAX] = 0;
	judge();
	assert_only(0, DIAGNOSES);
	assert_int_equal(results[0][DIAGNOSIS_PCIE_DEGRADED].status, RULE_NOT_KNOWN);
}

static void
an_rnic_that_pauses_all_the_time_is_a_storm(void **state)
{
	(void)state;
	set(WIRE_COUNTER_RDMA_RX_BYTES, 1000);
	set_lossless(WIRE_COUNTER_PRIO_RX_BYTES, 1000);
	set(WIRE_COUNTER_RDMA_RX_PKTS, 3);
	set_lossless(WIRE_COUNTER_PFC_TX_FRAMES, 200000);
	set_lossless(WIRE_COUNTER_PFC_TX_PAUSE_US, 9900000);
	set_lossless(SWITCH_PFC_RX_FRAMES, 200000);
	set(WIRE_COUNTER_PAUSE_STORM_WARN, 5);
	assert_found(DIAGNOSIS_PFC_STORM,
	    "it paused the switch for 99 % of the time, its storm protection counted 5 "
	    "events in 10 s");
}

static void
the_watchdog_of_the_switch_reports_a_storm(void **state)
{
	(void)state;
	set(WIRE_COUNTER_RDMA_RX_BYTES, 0);
	set_lossless(WIRE_COUNTER_PRIO_RX_BYTES, 0);
	set_lossless(SWITCH_PFCWD_STORMED, 1);
	assert_found(DIAGNOSIS_PFC_STORM, "the PFC watchdog has stopped 1 queues of "
					  "the switch's port Ethernet0");
}

static void
a_host_that_takes_data_slowly_is_a_slow_receiver(void **state)
{
	(void)state;
	set(WIRE_COUNTER_RX_BUF_THRESH, 700);
	set_lossless(WIRE_COUNTER_PFC_TX_FRAMES, 40000);
	set_lossless(WIRE_COUNTER_PFC_TX_PAUSE_US, 300000);
	set_lossless(SWITCH_PFC_RX_FRAMES, 40000);
	assert_found(DIAGNOSIS_SLOW_RECEIVER,
	    "it sent 4000 PFC frames per second, it paused the switch for 3 % of the "
	    "time, its receive buffer was nearly full 700 times in 10 s");
}

/* It pauses as long as in a storm, but keeps receiving data. */
static void
an_rnic_that_pauses_half_of_the_time_and_receives_is_slow(void **state)
{
	(void)state;
	set(WIRE_COUNTER_RDMA_RX_BYTES, UINT64_C(20000000000));
	set_lossless(WIRE_COUNTER_PRIO_RX_BYTES, UINT64_C(20000000000));
	set_lossless(WIRE_COUNTER_PFC_TX_FRAMES, 40000);
	set_lossless(WIRE_COUNTER_PFC_TX_PAUSE_US, 6000000);
	set_lossless(SWITCH_PFC_RX_FRAMES, 40000);
	assert_found(DIAGNOSIS_SLOW_RECEIVER,
	    "it sent 4000 PFC frames per second, it paused the switch for 60 % of the "
	    "time");
}

/* RNIC 0 causes a storm; the switch pauses the others. */
static void
rnics_paused_by_a_storm_are_victims(void **state)
{
	char text[RULE_SENTENCE_BYTES];

	(void)state;
	set(WIRE_COUNTER_RDMA_RX_BYTES, 1000);
	set_lossless(WIRE_COUNTER_PRIO_RX_BYTES, 1000);
	set_lossless(WIRE_COUNTER_PFC_TX_FRAMES, 200000);
	set_lossless(WIRE_COUNTER_PFC_TX_PAUSE_US, 9900000);
	set_lossless(SWITCH_PFC_RX_FRAMES, 200000);
	for (size_t i = 1; i < RNICS; i++) {
		evidence_set(&rack[i], WIRE_COUNTER_PFC_RX_FRAMES, LOSSLESS, 50000);
		evidence_set(&rack[i], SWITCH_PFC_TX_FRAMES, LOSSLESS, 50000);
		evidence_set(&rack[i], WIRE_COUNTER_PFC_RX_PAUSE_US, LOSSLESS, 4000000);
	}
	judge();
	assert_only(0, DIAGNOSIS_PFC_STORM);
	for (size_t i = 1; i < RNICS; i++)
		assert_only(i, DIAGNOSIS_PAUSE_VICTIM);
	rule_sentence(&rack[2], &results[2][DIAGNOSIS_PAUSE_VICTIM], text);
	assert_string_equal(text,
	    "the switch paused it for 40 % of the time, it received 5000 PFC frames "
	    "per second, h0/mlx5_0 paused the switch for 99 % of the time");
}

/* It receives very few packets, as the senders are paused, too: a share of marks would
 * be meaningless. */
static void
a_paused_rnic_without_traffic_is_a_victim_too(void **state)
{
	(void)state;
	evidence_set(&rack[1], WIRE_COUNTER_PFC_TX_PAUSE_US, LOSSLESS, 900000);
	set(WIRE_COUNTER_RDMA_RX_PKTS, 3);
	set_lossless(WIRE_COUNTER_PFC_RX_PAUSE_US, 4000000);
	judge();
	assert_only(0, DIAGNOSIS_PAUSE_VICTIM);
}

static void
an_rnic_that_pauses_because_of_its_host_is_no_victim(void **state)
{
	(void)state;
	evidence_set(&rack[1], WIRE_COUNTER_PFC_TX_PAUSE_US, LOSSLESS, 900000);
	set_lossless(WIRE_COUNTER_PFC_RX_PAUSE_US, 4000000);
	set_lossless(WIRE_COUNTER_PFC_TX_PAUSE_US, 300000);
	set(WIRE_COUNTER_RX_BUF_THRESH, 700);
	judge();
	assert_only(0, DIAGNOSIS_SLOW_RECEIVER);
}

static void
pauses_of_many_with_no_source_are_the_steady_state(void **state)
{
	(void)state;
	for (size_t i = 0; i < RNICS; i++) {
		evidence_set(&rack[i], WIRE_COUNTER_PFC_RX_FRAMES, LOSSLESS, 50000);
		evidence_set(&rack[i], SWITCH_PFC_TX_FRAMES, LOSSLESS, 50000);
		evidence_set(&rack[i], WIRE_COUNTER_PFC_RX_PAUSE_US, LOSSLESS, 900000);
	}
	judge();
	for (size_t i = 0; i < RNICS; i++)
		assert_only(i, DIAGNOSIS_PFC_STEADY);
	assert_int_equal(rules[DIAGNOSIS_PFC_STEADY].lasts_s, 30);
}

static void
pfc_that_the_switch_does_not_count_is_a_disagreement(void **state)
{
	(void)state;
	set_lossless(WIRE_COUNTER_PFC_TX_FRAMES, 40000);
	set_lossless(SWITCH_PFC_RX_FRAMES, 400);
	assert_found(DIAGNOSIS_PFC_DISAGREEMENT,
	    "the switch's port Ethernet0 counted 1 % of the PFC frames that it sent");
}

static void
drops_of_a_group_that_pauses_are_short_headroom(void **state)
{
	(void)state;
	evidence_set(
	    &rack[0], SWITCH_GROUP_DROP_PKTS, 0, 5000); /* a lossy group may drop */
	set_lossless(SWITCH_GROUP_DROP_PKTS, 77);
	set_lossless(SWITCH_PFC_TX_FRAMES, 300);
	set_lossless(WIRE_COUNTER_PFC_RX_FRAMES, 300);
	judge();
	assert_int_equal(results[0][DIAGNOSIS_PAUSE_VICTIM].status, RULE_NOT_SO);
	assert_found(DIAGNOSIS_HEADROOM,
	    "in priority groups that pause it, the switch's port Ethernet0 dropped 77 "
	    "packets in 10 s");
}

static void
drops_without_receive_buffers_are_blamed_on_the_application(void **state)
{
	(void)state;
	set(WIRE_COUNTER_RX_OUT_OF_BUFFER, 5000);
	assert_found(DIAGNOSIS_OUT_OF_BUFFERS,
	    "it dropped 5000 packets at empty receive queues in 10 s");
}

static void
drops_of_the_switch_with_gaps_are_its_queue(void **state)
{
	(void)state;
	set(WIRE_COUNTER_OOS_RX, 900);
	evidence_set(&rack[0], SWITCH_QUEUE_DROP_PKTS, 1, 950);
	assert_found(DIAGNOSIS_QUEUE_DROPS,
	    "it received 900 packets out of order in 10 s, the switch's port Ethernet0 "
	    "dropped 950 packets to it in 10 s");
}

static void
time_outs_without_naks_or_drops_are_silent_drops(void **state)
{
	(void)state;
	set(WIRE_COUNTER_ACK_TIMEOUT, 400);
	set(WIRE_COUNTER_RETRY_EXCEEDED, 12);
	set(WIRE_COUNTER_NAK_SEQ_RX, 3);
	evidence_give(&rack[0], GIVEN_LOSS_PCT, 6.25);
	evidence_give(&rack[0], GIVEN_SMALL_LOSS_PCT, 6.25);
	evidence_give(&rack[0], GIVEN_LARGE_LOSS_PCT, 6.25);
	assert_found(DIAGNOSIS_SILENT_DROP, "12 of its QPs failed after too many "
					    "retransmissions in 10 s, it had 400 "
					    "acknowledgement time-outs in "
					    "10 s, 6.2 % of its probes are lost");
}

static void
one_dead_qp_is_enough_without_counted_drops(void **state)
{
	(void)state;
	set(WIRE_COUNTER_ACK_TIMEOUT, 7);
	set(WIRE_COUNTER_RETRY_EXCEEDED, 1);
	evidence_give(&rack[0], GIVEN_LOSS_PCT, 6.25);
	evidence_give(&rack[0], GIVEN_SMALL_LOSS_PCT, 6.25);
	judge();
	assert_only(0, DIAGNOSIS_SILENT_DROP);
}

/* If the switch's drops are not read, the switch may have dropped. Losses of large
 * probes only are due to their size. */
static void
drops_are_silent_only_if_no_other_counter_explains_them(void **state)
{
	static const unsigned drops[] = { SWITCH_TX_DISCARDS, SWITCH_TX_BUFFER_DROPS,
		SWITCH_WRED_DROPS, SWITCH_QUEUE_DROP_PKTS };

	(void)state;
	set(WIRE_COUNTER_RETRY_EXCEEDED, 12);
	evidence_give(&rack[0], GIVEN_LOSS_PCT, 6.25);
	judge();
	assert_only(0, DIAGNOSES); /* small probes are not lost */
	evidence_give(&rack[0], GIVEN_SMALL_LOSS_PCT, 6.25);
	set_lossless(WIRE_COUNTER_PFC_RX_FRAMES, 900 * SECONDS);
	judge();
	assert_only(0, DIAGNOSES);
	set_lossless(WIRE_COUNTER_PFC_RX_FRAMES, 0);
	for (size_t i = 0; i < sizeof(drops) / sizeof(drops[0]); i++)
		rack[0].there[drops[i]] = 0;
	judge();
	assert_only(0, DIAGNOSES);
	assert_int_equal(results[0][DIAGNOSIS_SILENT_DROP].status, RULE_NOT_KNOWN);
	assert_string_equal(needs(DIAGNOSIS_SILENT_DROP), "switch tx_discards");
}

static void
packets_out_of_order_with_none_lost_are_reordered(void **state)
{
	(void)state;
	set(WIRE_COUNTER_OOS_RX, 9000);
	assert_found(
	    DIAGNOSIS_REORDERING, "it received 9000 packets out of order in 10 s");
}

static void
marks_without_cnps_are_cnps_off(void **state)
{
	(void)state;
	set(WIRE_COUNTER_ECN_CE_RX, 150000);
	assert_found(DIAGNOSIS_CNP_OFF,
	    "it sent 0 % as many CNPs as it received congestion marks");
}

static void
one_cnp_in_62_marks_is_not_off(void **state)
{
	(void)state;
	set(WIRE_COUNTER_ECN_CE_RX, 121323);
	set(WIRE_COUNTER_CNP_TX, 1955);
	judge();
	assert_only(0, DIAGNOSIS_ECN_CONGESTION);
}

/* A receiver sends at most one CNP in 50 us for each flow: marks grow with the rate,
 * CNPs do not. */
static void
the_cnps_of_one_fast_flow_are_not_off(void **state)
{
	(void)state;
	set(WIRE_COUNTER_RDMA_RX_PKTS, UINT64_C(480000000));
	set(WIRE_COUNTER_ECN_CE_RX, UINT64_C(470000000));
	set(WIRE_COUNTER_CNP_TX, 200000);
	judge();
	assert_only(0, DIAGNOSIS_ECN_CONGESTION);
	set(WIRE_COUNTER_CNP_TX, 3);
	judge();
	assert_only(0, DIAGNOSIS_CNP_OFF);
	assert_int_equal(rules[DIAGNOSIS_CNP_OFF].lasts_s, 10);
}

static void
cnps_that_slow_nothing_down_are_ignored(void **state)
{
	(void)state;
	set(WIRE_COUNTER_CNP_RX_HANDLED, 100);
	set(WIRE_COUNTER_CNP_RX_IGNORED, 900);
	assert_found(
	    DIAGNOSIS_CNP_IGNORED, "it ignored 90 % of the CNPs that it received");
}

static void
many_senders_slowed_for_the_marks_of_one_receiver_are_incast(void **state)
{
	char text[RULE_SENTENCE_BYTES];

	(void)state;
	set(WIRE_COUNTER_ECN_CE_RX, 150000);
	set(WIRE_COUNTER_CNP_TX, 30000);
	for (size_t i = 1; i < RNICS; i++)
		evidence_set(&rack[i], WIRE_COUNTER_CNP_RX_HANDLED, 0, 7000);
	judge();
	assert_only(0, DIAGNOSIS_INCAST);
	for (size_t i = 1; i < RNICS; i++)
		assert_only(i, DIAGNOSES);
	rule_sentence(&rack[0], &results[0][DIAGNOSIS_INCAST], text);
	assert_string_equal(text, "15 % of the packets that it received had a "
				  "congestion mark, 4 others of the "
				  "rack were slowed down by CNPs, that is 1000 times "
				  "the share of any other of "
				  "the rack, or more");
}

static void
marks_of_all_are_congestion_that_ecn_manages(void **state)
{
	(void)state;
	for (size_t i = 0; i < RNICS; i++) {
		evidence_set(&rack[i], WIRE_COUNTER_ECN_CE_RX, 0, 20000 + 1000 * i);
		evidence_set(&rack[i], WIRE_COUNTER_CNP_TX, 0, 9000);
		evidence_set(&rack[i], WIRE_COUNTER_CNP_RX_HANDLED, 0, 9000);
	}
	judge();
	for (size_t i = 0; i < RNICS; i++)
		assert_only(i, DIAGNOSIS_ECN_CONGESTION);
}

static void
rdma_outside_the_pfc_class_is_reported(void **state)
{
	(void)state;
	set_lossless(WIRE_COUNTER_PRIO_RX_BYTES, 1000000);
	evidence_set(&rack[0], WIRE_COUNTER_PRIO_RX_BYTES, 0, UINT64_C(10000000000));
	assert_found(DIAGNOSIS_WRONG_CLASS,
	    "its priorities with PFC received 0.01 % of its RDMA bytes");
}

static void
packets_that_are_too_large_are_another_mtu(void **state)
{
	(void)state;
	set(WIRE_COUNTER_MTU_ERR, 3000);
	set(SWITCH_RX_ERR, 3000);
	evidence_give(&rack[0], GIVEN_LARGE_LOSS_PCT, 100);
	evidence_give(&rack[0], GIVEN_LOSS_PCT, 50);
	assert_found(DIAGNOSIS_MTU_MISMATCH, "its port counted 3000 packets larger "
					     "than the MTU in 10 s, 100 % of its large "
					     "probes are lost");
}

/* ---- effects that must not be misread ---- */

/* A host with PFC off, which has counted 66 million global pauses: two frames for each.
 */
static void
global_pause_is_not_taken_for_pfc(void **state)
{
	(void)state;
	set_lossless(WIRE_COUNTER_PFC_ENABLED, 0);
	set(WIRE_COUNTER_GPAUSE_RX_FRAMES, 133700000);
	assert_found(DIAGNOSIS_GLOBAL_PAUSE, "its port counted 133700000 global pause "
					     "frames (802.3x) in 10 s");
}

/* If a driver only counts all pauses together, the count includes PFC. */
static void
pfc_is_not_taken_for_global_pause(void **state)
{
	(void)state;
	set(WIRE_COUNTER_GPAUSE_RX_FRAMES, 60000);
	set_lossless(WIRE_COUNTER_PFC_RX_FRAMES, 60000);
	set_lossless(SWITCH_PFC_TX_FRAMES, 60000);
	judge();
	assert_int_equal(results[0][DIAGNOSIS_GLOBAL_PAUSE].status, RULE_NOT_SO);
}

static void
without_the_mask_of_pfc_global_pause_is_not_known(void **state)
{
	(void)state;
	set(WIRE_COUNTER_GPAUSE_RX_FRAMES, 60000);
	rack[0].there[WIRE_COUNTER_PFC_ENABLED] = 0;
	judge();
	assert_int_equal(results[0][DIAGNOSIS_GLOBAL_PAUSE].status, RULE_NOT_KNOWN);
	assert_string_equal(needs(DIAGNOSIS_GLOBAL_PAUSE), "pfc_enabled");
}

static void
a_rule_names_the_missing_counter_that_it_needs(void **state)
{
	(void)state;
	/* Another counter of the same group is present, so this one is not missed. */
	set(WIRE_COUNTER_GPAUSE_TX_FRAMES, 60000);
	rack[0].there[WIRE_COUNTER_ACK_TIMEOUT] = 0;
	set(WIRE_COUNTER_RETRY_EXCEEDED, 12);
	/* A share needs this one. */
	set(WIRE_COUNTER_CNP_TX, 100);
	rack[0].there[WIRE_COUNTER_RDMA_RX_PKTS] = 0;
	rack[0].given_there &= ~(1u << GIVEN_LOSS_PCT | 1u << GIVEN_SMALL_LOSS_PCT);
	judge();
	assert_int_equal(results[0][DIAGNOSIS_SILENT_DROP].status, RULE_NOT_KNOWN);
	assert_string_equal(needs(DIAGNOSIS_SILENT_DROP), "probe_loss");
	assert_int_equal(results[0][DIAGNOSIS_ECN_CONGESTION].status, RULE_NOT_KNOWN);
	assert_string_equal(needs(DIAGNOSIS_ECN_CONGESTION), "rdma_rx_pkts");
}

/* A host sends CNPs as a receiver and handles them as a sender: the two counts are not
 * related. */
static void
cnps_sent_and_handled_on_one_host_are_not_compared(void **state)
{
	(void)state;
	set(WIRE_COUNTER_ECN_CE_RX, 40390);
	set(WIRE_COUNTER_CNP_TX, 34570);
	set(WIRE_COUNTER_CNP_RX_HANDLED, 97);
	set(WIRE_COUNTER_CNP_RX_IGNORED, 0);
	judge();
	assert_only(0, DIAGNOSIS_ECN_CONGESTION);
}

/* A counter that wrapped or began again at 0 has no change, and is not sent. A missing
 * counter is no burst. */
static void
a_missing_counter_is_neither_zero_nor_a_burst(void **state)
{
	(void)state;
	for (unsigned n = 1; n < EVIDENCE_NUMBERS; n++)
		rack[0].there[n] = 0;
	rack[0].given_there = 0;
	evidence_join(all, 1);
	rules_judge(&rack[0], results[0]);
	for (size_t d = 0; d < DIAGNOSES; d++) {
		assert_int_equal(results[0][d].status, RULE_NOT_KNOWN);
		assert_non_null(needs(d));
	}
}

static void
an_interval_without_length_reports_nothing(void **state)
{
	(void)state;
	set(WIRE_COUNTER_SYMBOL_ERR, 812);
	rack[0].host_ns = 0;
	rack[0].switch_ns = 0;
	judge();
	assert_int_equal(results[0][DIAGNOSIS_CABLE].status, RULE_NOT_KNOWN);
}

/* irdma does not count the time of pauses, and bnxt_re has no mask of PFC: the switch
 * counts the time. */
static void
the_switch_counts_for_a_driver_that_does_not(void **state)
{
	(void)state;
	set(WIRE_COUNTER_RDMA_RX_BYTES, 1000);
	set_lossless(WIRE_COUNTER_PRIO_RX_BYTES, 1000);
	rack[0].there[WIRE_COUNTER_PFC_TX_PAUSE_US] = 0;
	set_lossless(SWITCH_PFC_RX_PAUSE_US, 9900000);
	assert_found(DIAGNOSIS_PFC_STORM,
	    "it paused the switch's port Ethernet0 for 99 % of the time");
}

/* The switch is read at other intervals, so rates are compared, not counts. */
static void
host_and_switch_may_be_read_at_different_paces(void **state)
{
	(void)state;
	rack[0].switch_ns *= 6;
	set_lossless(WIRE_COUNTER_PFC_TX_FRAMES, 40000);
	set_lossless(SWITCH_PFC_RX_FRAMES, 240000);
	judge();
	assert_only(0, DIAGNOSES);
	set_lossless(SWITCH_PFC_RX_FRAMES, 40000);
	judge();
	assert_only(0, DIAGNOSIS_PFC_DISAGREEMENT);
}

/* ---- the table ---- */

static void
each_rule_has_texts_a_source_and_earlier_exceptions(void **state)
{
	(void)state;
	for (size_t d = 0; d < DIAGNOSES; d++) {
		bool any = false;

		assert_non_null(rules[d].name);
		assert_non_null(rules[d].what);
		assert_non_null(rules[d].source);
		assert_int_equal(rules[d].unless >> d, 0);
		for (size_t i = 0; i < RULE_CONDITIONS; i++) {
			const struct rule_condition *condition =
			    &rules[d].conditions[i];

			if (condition->role == RULE_END)
				break;
			any |= condition->role == RULE_ANY;
			assert_true(i + 1 < RULE_CONDITIONS);
			assert_non_null(indicator_str(condition->indicator));
			assert_non_null(indicator_unit(condition->indicator));
			assert_non_null(
			    indicator_needs(&rack[0], condition->indicator));
		}
		assert_true(any);
	}
}

static void
each_rule_is_documented(void **state)
{
	static char text[1 << 17];
	FILE *f = fopen(DOCUMENTATION, "r");
	char row[64];
	size_t len;

	assert_non_null(f);
	len = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	assert_in_range(len, 1, sizeof(text) - 2);
	for (size_t d = 0; d < DIAGNOSES; d++) {
		snprintf(row, sizeof(row), "\n| `%s` | ", rules[d].name);
		if (strstr(text, row) == NULL)
			fail_msg("%s is not in docs/counters.md", rules[d].name);
	}
}

static void
a_sentence_that_is_too_long_is_cut_to_fit(void **state)
{
	char text[RULE_SENTENCE_BYTES];

	(void)state;
	set(WIRE_COUNTER_LINK_DOWN, UINT64_MAX);
	set(WIRE_COUNTER_CARRIER_CHANGES, UINT64_MAX);
	memset(rack[0].name, 'x', sizeof(rack[0].name) - 1);
	judge();
	rule_sentence(&rack[0], &results[0][DIAGNOSIS_LINK_FLAP], text);
	assert_true(strlen(text) < sizeof(text));
}

#define TEST(fn) cmocka_unit_test_setup(fn, setup)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_idle_rack_has_no_diagnosis),
		TEST(a_link_that_comes_and_goes_flaps),
		TEST(symbol_errors_are_a_cable),
		TEST(a_lane_that_is_nearly_dark_is_a_cable),
		TEST(lanes_may_differ_by_what_standards_allow),
		TEST(one_lane_alone_is_judged_by_its_own_alarm),
		TEST(a_dark_lane_of_the_switchs_port_is_a_cable),
		TEST(other_light_of_the_switchs_port_is_no_cable),
		TEST(missing_light_of_a_transmitter_that_is_off_is_ignored),
		TEST(receiver_noise_is_not_taken_for_light),
		TEST(light_of_a_port_that_is_down_at_the_switch_is_not_judged),
		TEST(errors_of_a_flapping_link_are_not_reported_as_cable),
		TEST(lanes_and_speed_give_the_usual_rate_of_wrong_bits),
		TEST(the_nominal_speed_of_a_lane_gives_the_usual_rate_of_wrong_bits),
		TEST(codewords_nearly_lost_are_those_of_the_fec_in_use),
		TEST(a_cable_is_reported_while_fec_at_the_switch_still_corrects),
		TEST(errors_at_the_switch_are_a_cable),
		TEST(many_corrected_bits_are_a_cable),
		TEST(a_wrong_icrc_alone_is_damage_inside),
		TEST(stalls_with_pauses_are_pcie),
		TEST(stalls_without_pauses_give_no_diagnosis),
		TEST(errors_of_the_signal_are_pcie),
		TEST(fewer_lanes_than_both_ends_have_are_pcie),
		TEST(a_pcie_link_without_all_its_values_is_not_judged),
		TEST(an_rnic_that_pauses_all_the_time_is_a_storm),
		TEST(the_watchdog_of_the_switch_reports_a_storm),
		TEST(a_host_that_takes_data_slowly_is_a_slow_receiver),
		TEST(an_rnic_that_pauses_half_of_the_time_and_receives_is_slow),
		TEST(rnics_paused_by_a_storm_are_victims),
		TEST(a_paused_rnic_without_traffic_is_a_victim_too),
		TEST(an_rnic_that_pauses_because_of_its_host_is_no_victim),
		TEST(pauses_of_many_with_no_source_are_the_steady_state),
		TEST(pfc_that_the_switch_does_not_count_is_a_disagreement),
		TEST(drops_of_a_group_that_pauses_are_short_headroom),
		TEST(drops_without_receive_buffers_are_blamed_on_the_application),
		TEST(drops_of_the_switch_with_gaps_are_its_queue),
		TEST(time_outs_without_naks_or_drops_are_silent_drops),
		TEST(one_dead_qp_is_enough_without_counted_drops),
		TEST(drops_are_silent_only_if_no_other_counter_explains_them),
		TEST(packets_out_of_order_with_none_lost_are_reordered),
		TEST(marks_without_cnps_are_cnps_off),
		TEST(one_cnp_in_62_marks_is_not_off),
		TEST(the_cnps_of_one_fast_flow_are_not_off),
		TEST(cnps_that_slow_nothing_down_are_ignored),
		TEST(many_senders_slowed_for_the_marks_of_one_receiver_are_incast),
		TEST(marks_of_all_are_congestion_that_ecn_manages),
		TEST(rdma_outside_the_pfc_class_is_reported),
		TEST(packets_that_are_too_large_are_another_mtu),
		TEST(global_pause_is_not_taken_for_pfc),
		TEST(pfc_is_not_taken_for_global_pause),
		TEST(without_the_mask_of_pfc_global_pause_is_not_known),
		TEST(a_rule_names_the_missing_counter_that_it_needs),
		TEST(cnps_sent_and_handled_on_one_host_are_not_compared),
		TEST(a_missing_counter_is_neither_zero_nor_a_burst),
		TEST(an_interval_without_length_reports_nothing),
		TEST(the_switch_counts_for_a_driver_that_does_not),
		TEST(host_and_switch_may_be_read_at_different_paces),
		TEST(each_rule_has_texts_a_source_and_earlier_exceptions),
		TEST(each_rule_is_documented),
		TEST(a_sentence_that_is_too_long_is_cut_to_fit),
	};

	return cmocka_run_group_tests_name("rules", tests, NULL, NULL);
}
