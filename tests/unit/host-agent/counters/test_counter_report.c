#include "host-agent/counters/counter_report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host-agent/counters/counter_table.h"
#include "rackmesh/metrics/counter_delta.h"
#include "schemas/wire/text.h"

static struct counter_state *states, *lower;
static struct wire_counter_value values[COUNTER_REPORT_VALUES];

static int
setup(void **state)
{
	states = calloc(counter_values(), sizeof(*states));
	lower = calloc(counter_values(), sizeof(*lower));
	return 0;
}

static int
teardown(void **state)
{
	free(states);
	free(lower);
	return 0;
}

/* A reading of one counter by mlx5, index i of it. */
static void
take(struct counter_state *of, const char *name, size_t i, bool there, uint64_t value)
{
	size_t at = 0;

	for (const struct counter_row *row = counter_rows; row->name != NULL; row++) {
		if (strcmp(row->name, name) == 0) {
			const struct counter_sample sample = { there, 1, value };

			counter_take(&of[at + i], &sample, row->width, true);
			return;
		}
		at += counter_row_values(row);
	}
	fail_msg("no counter %s", name);
}

static size_t
fill(size_t lower_count)
{
	const struct counter_state *lowers[] = { lower };

	return counter_report_fill(states, lowers, lower_count, values);
}

static void
all_counters_for_aggregators_are_in_the_table(void **state)
{
	for (unsigned i = 1; i < WIRE_COUNTERS; i++)
		take(states, wire_counter_str(i), 0, true, 1);
	for (unsigned i = 1; i < WIRE_COUNTERS; i++)
		take(states, wire_counter_str(i), 0, true, 3);
	assert_int_equal(fill(0), WIRE_COUNTERS - 1);
}

static void
increases_are_reported_including_zero(void **state)
{
	take(states, "symbol_err", 0, true, 1000);
	take(states, "crc_err", 0, true, 7);
	take(states, "symbol_err", 0, true, 1812);
	take(states, "crc_err", 0, true, 7);
	assert_int_equal(fill(0), 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(values[i].value,
		    values[i].counter == WIRE_COUNTER_SYMBOL_ERR ? 812 : 0);
}

static void
a_wrapped_counter_is_not_reported_as_a_burst(void **state)
{
	take(states, "oos_rx", 0, true, UINT32_MAX - 5);
	take(states, "oos_rx", 0, true, 4);
	assert_int_equal(fill(0), 1);
	assert_int_equal(values[0].counter, WIRE_COUNTER_OOS_RX);
	assert_int_equal(values[0].value, 10);
}

static void
restarted_new_and_missing_counters_are_not_reported(void **state)
{
	take(states, "oos_rx", 0, true, 1000);
	assert_int_equal(fill(0), 0); /* a new counter */
	take(states, "oos_rx", 0, true, 900);
	assert_int_equal(fill(0), 0); /* restarted from 0: the increase is unknown */
	take(states, "oos_rx", 0, true, 950);
	assert_int_equal(fill(0), 1);
	take(states, "oos_rx", 0, false, 0);
	assert_int_equal(fill(0), 0);
}

static void
a_returned_counter_is_reported_from_the_second_reading_on(void **state)
{
	take(states, "oos_rx", 0, true, 1000);
	take(states, "oos_rx", 0, false, 0);
	take(states, "oos_rx", 0, true, 1900);
	/* The increase of 900 took longer than this interval. */
	assert_int_equal(fill(0), 0);
	take(states, "oos_rx", 0, true, 1907);
	assert_int_equal(fill(0), 1);
	assert_int_equal(values[0].value, 7);
}

static void
a_priority_is_reported_by_its_number(void **state)
{
	take(states, "pfc_rx_frames", 3, true, 5);
	take(states, "pfc_rx_frames", 3, true, 8);
	take(states, "pfc_enabled", 3, true, 1);
	assert_int_equal(fill(0), 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(values[i].index, 3);
		assert_int_equal(values[i].value,
		    values[i].counter == WIRE_COUNTER_PFC_RX_FRAMES ? 3 : 1);
	}
}

static void
counters_unknown_to_aggregators_are_not_reported(void **state)
{
	take(states, "dup_req", 0, true, 1);
	take(states, "dup_req", 0, true, 2);
	assert_int_equal(fill(0), 0);
}

static void
a_bond_that_does_not_count_has_the_sum_of_its_ports(void **state)
{
	take(lower, "fec_uncorr", 0, true, 1);
	take(lower, "fec_uncorr", 0, true, 6);
	take(states, "crc_err", 0, true, 1);
	take(states, "crc_err", 0, true, 3);
	take(lower, "crc_err", 0, true, 1);
	take(lower, "crc_err", 0, true, 9);
	assert_int_equal(fill(1), 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(values[i].value,
		    values[i].counter == WIRE_COUNTER_FEC_UNCORR ? 5 : 2);
}

static uint64_t reported(size_t count, unsigned counter, unsigned index);

/* The bond keeps its carrier while one of its ports works, and its RDMA device shows
 * symbol errors as 0. */
static void
a_bond_has_the_flaps_and_symbol_errors_of_its_ports(void **state)
{
	static const char *const names[] = { "link_down", "carrier_changes",
		"symbol_err" };
	size_t count;

	for (size_t i = 0; i < 3; i++) {
		take(states, names[i], 0, true, 0);
		take(states, names[i], 0, true, 0);
		take(lower, names[i], 0, true, 10);
		take(lower, names[i], 0, true, 12 + i);
	}
	count = fill(1);
	assert_int_equal(count, 3);
	assert_int_equal(reported(count, WIRE_COUNTER_LINK_DOWN, 0), 2);
	assert_int_equal(reported(count, WIRE_COUNTER_CARRIER_CHANGES, 0), 3);
	assert_int_equal(reported(count, WIRE_COUNTER_SYMBOL_ERR, 0), 4);
	/* A port was not read: it is not known whether a cable flapped. */
	assert_int_equal(counter_report_fill(states, NULL, 1, values), 0);
	assert_int_equal(counter_report_fill(states, NULL, 0, values), 3);
}

/* Two ports that are paused for 30 % of the time are not paused for 60 % of it. */
static void
times_of_a_bond_are_those_of_its_longest_port(void **state)
{
	const struct counter_state *lowers[] = { states, lower };
	struct counter_state *bond = calloc(counter_values(), sizeof(*bond));
	size_t count;

	assert_non_null(bond);
	take(states, "pfc_rx_pause_us", 3, true, 100);
	take(states, "pfc_rx_pause_us", 3, true, 1600100);
	take(lower, "pfc_rx_pause_us", 3, true, 0);
	take(lower, "pfc_rx_pause_us", 3, true, 1500000);
	take(states, "pfc_rx_frames", 3, true, 1);
	take(states, "pfc_rx_frames", 3, true, 8);
	take(lower, "pfc_rx_frames", 3, true, 1);
	take(lower, "pfc_rx_frames", 3, true, 6);
	take(lower, "pci_stall_wr_s", 0, true, 1);
	take(lower, "pci_stall_wr_s", 0, true, 3);
	count = counter_report_fill(bond, lowers, 2, values);
	assert_int_equal(count, 3);
	assert_int_equal(reported(count, WIRE_COUNTER_PFC_RX_PAUSE_US, 3), 1600000);
	assert_int_equal(reported(count, WIRE_COUNTER_PFC_RX_FRAMES, 3), 7 + 5);
	assert_int_equal(reported(count, WIRE_COUNTER_PCI_STALL_WR_S, 0), 2);
	free(bond);
}

/* Sets the PCIe link of a network device: lanes and speed, of the link, the card and
 * the slot. */
static void
take_pcie(struct counter_state *of, const uint64_t lanes[3], const uint64_t mts[3])
{
	static const char *const names[] = { "pci_link_lanes", "pci_link_lanes_max",
		"pci_slot_lanes_max", "pci_link_mts", "pci_link_mts_max",
		"pci_slot_mts_max" };

	for (size_t i = 0; i < 3; i++) {
		take(of, names[i], 0, true, lanes[i]);
		take(of, names[3 + i], 0, true, mts[i]);
	}
}

static void
check_pcie(const uint64_t lanes[3], const uint64_t mts[3])
{
	const struct counter_state *orders[2][2] = { { states, lower },
		{ lower, states } };
	struct counter_state *bond = calloc(counter_values(), sizeof(*bond));

	assert_non_null(bond);
	for (size_t k = 0; k < 2; k++) {
		const size_t count = counter_report_fill(bond, orders[k], 2, values);

		assert_int_equal(count, 6);
		for (unsigned i = 0; i < 3; i++) {
			assert_int_equal(
			    reported(count, WIRE_COUNTER_PCI_LINK_LANES + i, 0),
			    lanes[i]);
			assert_int_equal(
			    reported(count, WIRE_COUNTER_PCI_LINK_MTS + i, 0), mts[i]);
		}
	}
	free(bond);
}

/* Each link is compared with what its own card and slot can use. */
static void
the_pcie_link_of_a_bond_is_the_worst_of_its_ports(void **state)
{
	static const uint64_t whole[] = { 16, 16, 16 }, half[] = { 8, 16, 16 },
			      narrow[] = { 8, 16, 8 },
			      quick[] = { 16000, 16000, 16000 },
			      slow[] = { 8000, 16000, 16000 };

	take_pcie(states, whole, quick);
	take_pcie(lower, half, quick);
	check_pcie(half, quick);
	take_pcie(lower, whole, slow);
	check_pcie(whole, slow);
	/* A slot with 8 lanes gives the card all that it has. */
	take_pcie(lower, narrow, quick);
	take_pcie(states, half, quick);
	check_pcie(half, quick);
}

static void
take_no_pfc(struct counter_state *of)
{
	for (size_t i = 0; i < 8; i++)
		take(of, "pfc_enabled", i, true, 0);
}

/* mlx5 without global pause: only the sum of all pauses is counted. */
static void
all_pauses_are_global_ones_only_if_pfc_is_off(void **state)
{
	take(states, "pause_ctrl_rx_frames", 0, true, 100);
	take(states, "pause_ctrl_rx_frames", 0, true, 140);
	assert_int_equal(fill(0), 0); /* PFC is not known */
	for (size_t i = 0; i < 8; i++)
		take(states, "pfc_enabled", i, true, i == 3);
	take_no_pfc(states);
	/* PFC was on when the interval began. */
	assert_int_equal(
	    reported(fill(0), WIRE_COUNTER_GPAUSE_RX_FRAMES, 0), UINT64_MAX);
	take_no_pfc(states);
	assert_int_equal(reported(fill(0), WIRE_COUNTER_GPAUSE_RX_FRAMES, 0), 40);
	assert_int_equal(
	    reported(fill(0), WIRE_COUNTER_GPAUSE_TX_FRAMES, 0), UINT64_MAX);
	take(states, "gpause_rx_frames", 0, true, 100);
	take(states, "gpause_rx_frames", 0, true, 139);
	assert_int_equal(reported(fill(0), WIRE_COUNTER_GPAUSE_RX_FRAMES, 0), 39);
	take(states, "gpause_rx_frames", 0, false, 0);
	take(states, "pfc_enabled", 3, true, 1);
	assert_int_equal(
	    reported(fill(0), WIRE_COUNTER_GPAUSE_RX_FRAMES, 0), UINT64_MAX);
}

/* Port 1 counts global pauses, port 2 has just started to count them. */
static void
global_pauses_of_a_bonds_port_count_once(void **state)
{
	const struct counter_state *lowers[] = { states, lower };
	struct counter_state *bond = calloc(counter_values(), sizeof(*bond));
	size_t count;

	assert_non_null(bond);
	for (size_t n = 0; n < 2; n++) {
		take_no_pfc(states);
		take_no_pfc(lower);
		take(states, "gpause_rx_frames", 0, true, 100 + 40 * n);
		take(states, "pause_ctrl_rx_frames", 0, true, 100 + 40 * n);
		take(lower, "pause_ctrl_rx_frames", 0, true, 10 + 2 * n);
	}
	take(lower, "gpause_rx_frames", 0, true, 2);
	count = counter_report_fill(bond, lowers, 2, values);
	assert_int_equal(reported(count, WIRE_COUNTER_GPAUSE_RX_FRAMES, 0), 40 + 2);
	free(bond);
}

/* Takes two equal readings of the received light of a module's lanes. */
static void
take_light(struct counter_state *of, const uint64_t nanowatts[4], unsigned lanes)
{
	for (size_t i = 0; i < lanes; i++)
		for (unsigned n = 0; n < 2; n++)
			take(of, "optics_rx_nw", i, true, nanowatts[i]);
}

static uint64_t
reported(size_t count, unsigned counter, unsigned index)
{
	for (size_t i = 0; i < count; i++)
		if (values[i].counter == counter && values[i].index == index)
			return values[i].value;
	return UINT64_MAX;
}

/* The bond reports all lanes of one port, because a lane is compared with the other
 * lanes of its module. */
static void
the_light_of_a_bond_is_that_of_its_darkest_port(void **state)
{
	const struct counter_state *lowers[] = { states, lower };
	struct counter_state *bond = calloc(counter_values(), sizeof(*bond));
	size_t count;

	assert_non_null(bond);
	take_light(lower, (uint64_t[]){ 90000, 60000, 50000, 80000 }, 4);
	take_light(states, (uint64_t[]){ 40000, 900000, 900000, 900000 }, 4);
	take(lower, "port_rate_mbps", 0, true, 100000);
	take(states, "port_rate_mbps", 0, true, 200000);
	count = counter_report_fill(bond, lowers, 2, values);
	assert_int_equal(count, 4 + 1);
	assert_int_equal(reported(count, WIRE_COUNTER_OPTICS_RX_NW, 0), 40000);
	for (unsigned i = 1; i < 4; i++)
		assert_int_equal(reported(count, WIRE_COUNTER_OPTICS_RX_NW, i), 900000);
	assert_int_equal(reported(count, WIRE_COUNTER_PORT_RATE_MBPS, 0), 200000);
	/* The light of a port that is down is not used. */
	take_light(lower, (uint64_t[]){ 100, 200, 100, 2000 }, 4);
	count = counter_report_fill(bond, lowers, 2, values);
	assert_int_equal(reported(count, WIRE_COUNTER_OPTICS_RX_NW, 0), 40000);
	assert_int_equal(reported(count, WIRE_COUNTER_OPTICS_RX_NW, 3), 900000);
	free(bond);
}

static void
a_bond_whose_modules_differ_in_lanes_reports_no_light(void **state)
{
	const struct counter_state *lowers[] = { lower, states };
	struct counter_state *bond = calloc(counter_values(), sizeof(*bond));

	assert_non_null(bond);
	take_light(lower, (uint64_t[4]){ 90000, 60000 }, 2);
	take_light(states, (uint64_t[]){ 40000, 900000, 900000, 900000 }, 4);
	assert_int_equal(counter_report_fill(bond, lowers, 2, values), 0);
	free(bond);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(all_counters_for_aggregators_are_in_the_table),
		TEST(increases_are_reported_including_zero),
		TEST(a_wrapped_counter_is_not_reported_as_a_burst),
		TEST(restarted_new_and_missing_counters_are_not_reported),
		TEST(a_returned_counter_is_reported_from_the_second_reading_on),
		TEST(a_priority_is_reported_by_its_number),
		TEST(counters_unknown_to_aggregators_are_not_reported),
		TEST(a_bond_that_does_not_count_has_the_sum_of_its_ports),
		TEST(a_bond_has_the_flaps_and_symbol_errors_of_its_ports),
		TEST(times_of_a_bond_are_those_of_its_longest_port),
		TEST(the_pcie_link_of_a_bond_is_the_worst_of_its_ports),
		TEST(all_pauses_are_global_ones_only_if_pfc_is_off),
		TEST(global_pauses_of_a_bonds_port_count_once),
		TEST(the_light_of_a_bond_is_that_of_its_darkest_port),
		TEST(a_bond_whose_modules_differ_in_lanes_reports_no_light),
	};

	return cmocka_run_group_tests_name("counter_report", tests, NULL, NULL);
}
