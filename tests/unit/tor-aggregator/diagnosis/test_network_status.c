#include "tor-aggregator/diagnosis/network_status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/tor-aggregator/diagnosis/rules_fixture.h"

static char text[RULE_SENTENCE_BYTES];

static int
setup(void **state)
{
	(void)state;
	fill_healthy(&rack[0], 0);
	return 0;
}

static void
clean_probes_and_quiet_counters_clear_the_network(void **state)
{
	(void)state;
	/* A few events, as in any busy network. */
	evidence_set(&rack[0], WIRE_COUNTER_ACK_TIMEOUT, 0, 3);
	evidence_set(&rack[0], WIRE_COUNTER_OOS_RX, 0, 9);
	evidence_set(&rack[0], WIRE_COUNTER_ECN_CE_RX, 0, 50);
	assert_int_equal(network_status_of(&rack[0], text), NETWORK_INNOCENT);
	assert_string_equal(text, "");
	assert_string_equal(network_status_str(NETWORK_INNOCENT), "innocent");
}

static void
evidence_against_the_network_is_reported(void **state)
{
	static const struct {
		unsigned number;
		uint64_t value;
		const char *text;
	} against[] = {
		{ WIRE_COUNTER_ACK_TIMEOUT, 40, "it had 40 acknowledgement time-outs" },
		{ WIRE_COUNTER_NAK_SEQ_RX, 40, "40 NAKs" },
		{ WIRE_COUNTER_RETRY_EXCEEDED, 1, "1 of its QPs" },
		{ WIRE_COUNTER_PFC_RX_FRAMES, 400, "40 PFC frames per second" },
		{ WIRE_COUNTER_PFC_RX_PAUSE_US, 800000, "paused it for 8 %" },
		{ WIRE_COUNTER_CNP_RX_HANDLED, 300, "slowed down by 30 CNPs" },
		{ WIRE_COUNTER_LINK_DOWN, 1, "its link went down 1 times" },
		{ SWITCH_TX_DISCARDS, 1, "Ethernet0 dropped 1 packets" },
		{ WIRE_COUNTER_GPAUSE_RX_FRAMES, 66850,
		    "6685 global pause frames (802.3x) per second" },
		{ WIRE_COUNTER_ICRC_ERR, 40, "40 RoCE packets with a wrong ICRC" },
		{ SWITCH_FEC_UNCORR, 40, "40 codewords that FEC could not correct" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(against) / sizeof(against[0]); i++) {
		fill_healthy(&rack[0], 0);
		evidence_set(&rack[0], against[i].number, LOSSLESS * (i == 3 || i == 4),
		    against[i].value);
		assert_int_equal(network_status_of(&rack[0], text), NETWORK_SUSPECT);
		if (strstr(text, against[i].text) == NULL)
			fail_msg("%s: %s", against[i].text, text);
	}
	/* Packets of the RNIC, in a class in which the switch pauses it. */
	fill_healthy(&rack[0], 0);
	evidence_set(&rack[0], SWITCH_GROUP_DROP_PKTS, LOSSLESS, 7);
	evidence_set(&rack[0], SWITCH_PFC_TX_FRAMES, LOSSLESS, 3);
	assert_int_equal(network_status_of(&rack[0], text), NETWORK_SUSPECT);
	assert_non_null(strstr(text, "dropped 7 packets"));
	fill_healthy(&rack[0], 0);
	evidence_give(&rack[0], GIVEN_LOSS_PCT, 0.5);
	assert_int_equal(network_status_of(&rack[0], text), NETWORK_SUSPECT);
	assert_string_equal(text, "0.5 % of its probes are lost");
}

static void
without_probes_or_counters_the_network_status_is_unknown(void **state)
{
	(void)state;
	rack[0].there[WIRE_COUNTER_CNP_RX_HANDLED] = 0;
	assert_int_equal(network_status_of(&rack[0], text), NETWORK_NOT_KNOWN);
	assert_string_equal(text, "cnp_rx_handled");
	fill_healthy(&rack[0], 0);
	rack[0].given_there = 0;
	assert_int_equal(network_status_of(&rack[0], text), NETWORK_NOT_KNOWN);
	assert_string_equal(text, "probe_loss");
	/* Counters that are present and show a fault count, although others are
	 * missing. */
	evidence_set(&rack[0], WIRE_COUNTER_ACK_TIMEOUT, 0, 40);
	assert_int_equal(network_status_of(&rack[0], text), NETWORK_SUSPECT);
	rack[0] = (struct evidence){ 0 };
	assert_int_equal(network_status_of(&rack[0], text), NETWORK_NOT_KNOWN);
}

#define TEST(fn) cmocka_unit_test_setup(fn, setup)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(clean_probes_and_quiet_counters_clear_the_network),
		TEST(evidence_against_the_network_is_reported),
		TEST(without_probes_or_counters_the_network_status_is_unknown),
	};

	return cmocka_run_group_tests_name("network_status", tests, NULL, NULL);
}
