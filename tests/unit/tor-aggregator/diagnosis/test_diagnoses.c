#include "tor-aggregator/diagnosis/diagnoses.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "rackmesh/judge/verdict.h"

#define S RM_NS_PER_S
#define INTERVAL_NS (5 * S)

static struct diagnoses *diagnoses;
static rm_mono_t now;
static rm_wall_t wall;

static int
setup(void **state)
{
	now.ns = 1000 * S;
	wall.ns = 5000 * S;
	diagnoses = diagnoses_new(now);
	return diagnoses == NULL ? -1 : 0;
}

static int
teardown(void **state)
{
	diagnoses_free(diagnoses);
	return 0;
}

static void
report_values(uint64_t guid, const struct wire_counter_value *values, size_t count)
{
	const struct wire_rnic_counters counters = { { guid, 1 }, INTERVAL_NS, values,
		count };

	diagnoses_report(diagnoses, "h1", "mlx5_0", &counters, now);
}

static void
report(uint64_t guid, enum wire_counter counter, uint64_t value)
{
	const struct wire_counter_value values[] = { { value, (uint16_t)counter, 0,
	    { 0 } } };

	report_values(guid, values, 1);
}

static void
judge(int64_t after_ns)
{
	now.ns += after_ns;
	wall.ns += after_ns;
	diagnoses_judge(diagnoses, now, wall);
}

static const struct diagnosis_finding *
finding(uint64_t guid, enum diagnosis diagnosis)
{
	const struct diagnosed *rnic =
	    diagnoses_find(diagnoses, (struct wire_rnic_id){ guid, 1 });

	assert_non_null(rnic);
	return &rnic->findings[diagnosis];
}

static void
a_finding_stands_with_its_sentence_until_it_is_quiet(void **state)
{
	report(1, WIRE_COUNTER_SYMBOL_ERR, 812);
	judge(S);
	assert_true(finding(1, DIAGNOSIS_CABLE)->stands);
	assert_string_equal(finding(1, DIAGNOSIS_CABLE)->sentence,
	    "its port counted 812 symbol errors in 5 s");
	assert_int_equal(finding(1, DIAGNOSIS_CABLE)->since.ns, wall.ns);
	assert_false(finding(1, DIAGNOSIS_LINK_FLAP)->stands);

	report(1, WIRE_COUNTER_SYMBOL_ERR, 0);
	judge(5 * S);
	assert_true(finding(1, DIAGNOSIS_CABLE)->stands);
	report(1, WIRE_COUNTER_SYMBOL_ERR, 0);
	judge(DIAGNOSES_QUIET_NS);
	assert_false(finding(1, DIAGNOSIS_CABLE)->stands);
}

/* Agents may report more often than the aggregator judges. */
static void
reports_between_two_judgements_add_up(void **state)
{
	report(1, WIRE_COUNTER_SYMBOL_ERR, 800);
	report(1, WIRE_COUNTER_SYMBOL_ERR, 12);
	judge(S);
	assert_string_equal(finding(1, DIAGNOSIS_CABLE)->sentence,
	    "its port counted 812 symbol errors in 10 s");
	report(1, WIRE_COUNTER_SYMBOL_ERR, 13);
	judge(S);
	assert_string_equal(finding(1, DIAGNOSIS_CABLE)->sentence,
	    "its port counted 13 symbol errors in 5 s");
}

static void
the_latest_report_of_a_gauge_counts(void **state)
{
	const struct wire_counter_value values[] = {
		{ 0, WIRE_COUNTER_PFC_ENABLED, 0, { 0 } },
		{ 7, WIRE_COUNTER_GPAUSE_RX_FRAMES, 0, { 0 } },
	};

	report(1, WIRE_COUNTER_PFC_ENABLED, 1);
	report_values(1, values, 2);
	judge(S);
	assert_true(finding(1, DIAGNOSIS_GLOBAL_PAUSE)->stands);
}

static void
standing_diagnoses_are_reported_as_far_as_they_fit(void **state)
{
	const struct wire_counter_value values[] = {
		{ 3, WIRE_COUNTER_LINK_DOWN, 0, { 0 } },
		{ 6, WIRE_COUNTER_CARRIER_CHANGES, 0, { 0 } },
		{ 812, WIRE_COUNTER_SYMBOL_ERR, 0, { 0 } },
	};
	const struct wire_rnic_id id = { 1, 1 }, other = { 2, 1 };
	char text[RM_EVIDENCE_TEXT], little[60], nothing[10];

	report_values(1, values, 3);
	judge(S);
	diagnoses_sentence(diagnoses, id, text, sizeof(text));
	assert_string_equal(text, "its link went down 3 times in 5 s, its link went up "
				  "or down 6 times in 5 s");
	diagnoses_sentence(diagnoses, id, little, sizeof(little));
	assert_string_equal(little, "its link went down 3 times in 5 s");
	diagnoses_sentence(diagnoses, id, nothing, sizeof(nothing));
	assert_string_equal(nothing, "");
	diagnoses_sentence(diagnoses, other, text, sizeof(text));
	assert_string_equal(text, "");
}

/* PFC is off, but explains no lost probe; the cable does. */
static void
diagnoses_that_cannot_explain_a_loss_are_not_reported_for_it(void **state)
{
	const struct wire_counter_value values[] = {
		{ 7, WIRE_COUNTER_GPAUSE_RX_FRAMES, 0, { 0 } },
		{ 0, WIRE_COUNTER_PFC_ENABLED, 3, { 0 } },
	};
	const struct wire_counter_value cable = { 812, WIRE_COUNTER_SYMBOL_ERR, 0,
		{ 0 } };
	const struct wire_rnic_id id = { 1, 1 };
	char text[RM_EVIDENCE_TEXT], at[RM_WALL_TEXT], expected[RM_EVIDENCE_TEXT];

	report_values(1, values, 2);
	judge(S);
	assert_true(finding(1, DIAGNOSIS_GLOBAL_PAUSE)->stands);
	diagnoses_sentence(diagnoses, id, text, sizeof(text));
	assert_string_equal(text, "");
	report_values(1, &cable, 1);
	judge(5 * S);
	assert_true(finding(1, DIAGNOSIS_GLOBAL_PAUSE)->stands);
	diagnoses_sentence(diagnoses, id, text, sizeof(text));
	assert_string_equal(text, "its port counted 812 symbol errors in 5 s");
	report(1, WIRE_COUNTER_SYMBOL_ERR, 0);
	/* The rule does not hold any more, so the time of the last judgement is shown.
	 */
	judge(20 * S);
	diagnoses_sentence(diagnoses, id, text, sizeof(text));
	rm_wall_format((rm_wall_t){ wall.ns - 20 * S }, at);
	snprintf(expected, sizeof(expected),
	    "at %.*sZ its port counted 812 symbol errors in 5 s", 19, at);
	assert_string_equal(text, expected);
}

/* All racks at once would keep the loop from other events for long. */
static void
racks_are_judged_one_at_a_time_and_each_once_in_a_round(void **state)
{
	struct diagnoses_turns turns = { 0 };
	unsigned judged[3] = { 0 };

	for (unsigned round = 0; round < 2; round++) {
		for (unsigned ticks = 0; ticks < 100; ticks++) {
			size_t rack;

			if (diagnoses_turn(&turns, 3, now, &rack))
				judged[rack]++;
			now.ns += DIAGNOSES_EVERY_NS / 100;
		}
		for (size_t i = 0; i < 3; i++)
			assert_int_equal(judged[i], round + 1);
	}
	assert_false(diagnoses_turn(&turns, 0, now, &(size_t){ 0 }));
}

static void
managed_congestion_explains_no_fault(void **state)
{
	const struct wire_counter_value values[] = {
		{ 100000, WIRE_COUNTER_RDMA_RX_PKTS, 0, { 0 } },
		{ 5000, WIRE_COUNTER_ECN_CE_RX, 0, { 0 } },
		{ 4000, WIRE_COUNTER_CNP_TX, 0, { 0 } },
	};
	char text[RM_EVIDENCE_TEXT];

	report_values(1, values, 3);
	judge(S);
	assert_true(finding(1, DIAGNOSIS_ECN_CONGESTION)->stands);
	diagnoses_sentence(
	    diagnoses, (struct wire_rnic_id){ 1, 1 }, text, sizeof(text));
	assert_string_equal(text, "");
}

static void
a_diagnosis_with_a_duration_stands_only_after_it(void **state)
{
	for (uint64_t i = 0; i < 7; i++) {
		for (uint64_t guid = 1; guid <= 3; guid++) {
			const struct wire_counter_value values[] = {
				{ 500000, WIRE_COUNTER_PFC_RX_PAUSE_US, 3, { 0 } },
			};

			report_values(guid, values, 1);
		}
		judge(i == 0 ? 0 : 5 * S);
		assert_int_equal(finding(1, DIAGNOSIS_PFC_STEADY)->stands, i == 6);
	}
}

/* A switch that updates its counters once a minute may report a minute of pauses after
 * 10 s. */
static void
no_share_of_the_time_is_above_all_of_it(void **state)
{
	struct evidence port = { .port = "Ethernet8", .switch_ns = 10 * S };

	evidence_set(&port, SWITCH_PFC_RX_PAUSE_US, 3, 60000000);
	report(1, WIRE_COUNTER_CRC_ERR, 0);
	diagnoses_port(diagnoses, (struct wire_rnic_id){ 1, 1 }, &port, now);
	for (int i = 0; i < 3; i++) {
		judge(5 * S);
		report(1, WIRE_COUNTER_CRC_ERR, 0);
	}
	assert_non_null(strstr(finding(1, DIAGNOSIS_PFC_STORM)->sentence,
	    "it paused the switch's port Ethernet8 for 100 % of the time"));
}

static void
counters_of_the_switchs_port_are_judged_until_outdated(void **state)
{
	struct evidence port = { .port = "Ethernet8", .switch_ns = 10 * S };
	const struct wire_rnic_id id = { 1, 1 };

	evidence_set(&port, SWITCH_PFC_RX_PAUSE_US, 3, 8000000);
	report(1, WIRE_COUNTER_CRC_ERR, 0);
	report(2, WIRE_COUNTER_PFC_RX_FRAMES, 100);
	diagnoses_port(diagnoses, id, &port, now);
	for (int i = 0; i < 3; i++) {
		judge(5 * S);
		report(1, WIRE_COUNTER_CRC_ERR, 0);
		report(2, WIRE_COUNTER_PFC_RX_FRAMES, 100);
	}
	assert_true(finding(1, DIAGNOSIS_PFC_STORM)->stands);
	assert_non_null(strstr(finding(1, DIAGNOSIS_PFC_STORM)->sentence,
	    "it paused the switch's port Ethernet8 for 80 % of the time"));
	assert_true(finding(2, DIAGNOSIS_PAUSE_VICTIM)->stands);
	assert_int_equal(finding(2, DIAGNOSIS_PFC_STORM)->first.ns, 0);

	judge(5 * S); /* the last reading is 20 s old, and covered 10 s */
	assert_int_equal(
	    diagnoses_find(diagnoses, id)->results[DIAGNOSIS_PFC_STORM].status,
	    RULE_NOT_KNOWN);
}

/* With switch.interval_s: 30. */
static void
a_port_that_is_read_seldom_counts_until_its_next_reading(void **state)
{
	const struct wire_rnic_id id = { 1, 1 };
	struct evidence port = { .port = "Ethernet8", .switch_ns = 30 * S };
	const struct diagnosed *rnic;

	evidence_set(&port, SWITCH_FEC_UNCORR, 0, 30);
	for (int i = 0; i < 18; i++) {
		report(1, WIRE_COUNTER_CRC_ERR, 0);
		if (i % 6 == 0)
			diagnoses_port(diagnoses, id, &port, now);
		judge(5 * S);
		rnic = diagnoses_find(diagnoses, id);
		assert_int_equal(rnic->results[DIAGNOSIS_CABLE].status, RULE_HOLDS);
	}
	judge(15 * S);
	assert_int_equal(rnic->evidence.switch_ns, 30 * S);
	judge(S);
	assert_int_equal(rnic->evidence.switch_ns, 0);

	port.switch_ns = 600 * S; /* the switch did not answer for so long */
	diagnoses_port(diagnoses, id, &port, now);
	judge(S);
	assert_int_equal(rnic->evidence.switch_ns, 0);
}

/* The aggregator judges late: all readings since the last judgement count. */
static void
many_readings_of_a_port_are_not_outdated(void **state)
{
	const struct wire_rnic_id id = { 1, 1 };
	struct evidence port = { .port = "Ethernet8", .switch_ns = 10 * S };

	report(1, WIRE_COUNTER_CRC_ERR, 0);
	evidence_set(&port, SWITCH_FEC_UNCORR, 0, 6);
	for (int i = 0; i < 4; i++)
		diagnoses_port(diagnoses, id, &port, now);
	judge(S);
	assert_non_null(strstr(finding(1, DIAGNOSIS_CABLE)->sentence,
	    "24 codewords that FEC could not correct in 40 s"));
}

static void
readings_of_a_port_between_two_judgements_add_up(void **state)
{
	struct evidence port = { .port = "Ethernet8", .switch_ns = 4 * S };
	const struct wire_rnic_id id = { 1, 1 };
	const struct diagnosed *rnic;

	report(1, WIRE_COUNTER_CRC_ERR, 0);
	evidence_set(&port, SWITCH_FEC_UNCORR, 0, 30);
	evidence_set(&port, SWITCH_OPER_UP, 0, 0);
	diagnoses_port(diagnoses, id, &port, now);
	evidence_set(&port, SWITCH_FEC_UNCORR, 0, 3);
	evidence_set(&port, SWITCH_OPER_UP, 0, 1);
	diagnoses_port(diagnoses, id, &port, now);
	judge(S);
	rnic = diagnoses_find(diagnoses, id);
	assert_int_equal(rnic->evidence.value[SWITCH_FEC_UNCORR][0], 33);
	assert_int_equal(rnic->evidence.value[SWITCH_OPER_UP][0], 1);
	assert_int_equal(rnic->evidence.switch_ns, 8 * S);
	assert_non_null(strstr(finding(1, DIAGNOSIS_CABLE)->sentence,
	    "33 codewords that FEC could not correct in 8 s"));

	judge(5 * S); /* no new reading: the old values stay */
	assert_int_equal(rnic->evidence.value[SWITCH_FEC_UNCORR][0], 33);
	diagnoses_port(diagnoses, id, &port, now);
	judge(5 * S);
	assert_int_equal(rnic->evidence.value[SWITCH_FEC_UNCORR][0], 3);
	assert_int_equal(rnic->evidence.switch_ns, 4 * S);

	strcpy(port.port, "Ethernet12"); /* the cable now ends at another port */
	diagnoses_port(diagnoses, id, &port, now);
	strcpy(port.port, "Ethernet8");
	now = rm_mono_add(now, S);
	diagnoses_port(diagnoses, id, &port, now);
	judge(S);
	assert_int_equal(rnic->evidence.value[SWITCH_FEC_UNCORR][0], 3);
	assert_string_equal(rnic->evidence.port, "Ethernet8");
}

/* A bond with two cables: its RNIC sends 2,000 PFC frames per second, half over each.
 */
static void
both_cables_of_a_bond_are_compared_with_its_rnic(void **state)
{
	struct evidence port = { .port = "Ethernet8", .switch_ns = INTERVAL_NS };
	struct evidence other = { .port = "Ethernet12", .switch_ns = INTERVAL_NS };
	const struct wire_counter_value sent = {
		.counter = WIRE_COUNTER_PFC_TX_FRAMES, .index = 3, .value = 20000
	};
	const struct wire_rnic_id id = { 1, 1 };
	const struct diagnosed *rnic;

	evidence_set(&port, SWITCH_PFC_RX_FRAMES, 3, 9000);
	evidence_set(&other, SWITCH_PFC_RX_FRAMES, 3, 11000);
	evidence_set(&port, SWITCH_PFC_RX_PAUSE_US, 3, 100000);
	evidence_set(&other, SWITCH_PFC_RX_PAUSE_US, 3, 300000);
	evidence_set(&port, SWITCH_TX_PKTS, 0, 70); /* the other has no such count */
	evidence_set(&port, SWITCH_PFC_TX_FRAMES, 3, 0);
	evidence_set(&other, SWITCH_PFC_TX_FRAMES, 3, 0);
	for (int i = 0; i < 8; i++) {
		report_values(1, &sent, 1);
		assert_true(diagnoses_port(diagnoses, id, &port, now));
		assert_false(diagnoses_port(diagnoses, id, &other, now));
		judge(INTERVAL_NS);
	}
	rnic = diagnoses_find(diagnoses, id);
	assert_int_equal(rnic->evidence.value[SWITCH_PFC_RX_FRAMES][3], 20000);
	assert_int_equal(rnic->evidence.value[SWITCH_PFC_RX_PAUSE_US][3], 300000);
	assert_int_equal(rnic->evidence.there[SWITCH_TX_PKTS], 0);
	assert_string_equal(rnic->evidence.port, "Ethernet8");
	assert_false(finding(1, DIAGNOSIS_PFC_DISAGREEMENT)->stands);
}

static void
a_diagnosis_of_a_bond_names_the_ports_that_show_it(void **state)
{
	static const struct {
		uint64_t first_us, second_us;
		const char *text;
	} cases[] = {
		{ 20000, 8000000,
		    "it paused the switch's port Ethernet12 (bond of Ethernet8 "
		    "Ethernet12) for 80 % of the time" },
		{ 8000000, 7000000,
		    "it paused the switch's port Ethernet8 and Ethernet12 for 80 % of "
		    "the time" },
		{ 8000000, 0,
		    "it paused the switch's port Ethernet8 (bond of Ethernet8 "
		    "Ethernet12) for 80 % of the time" },
	};
	const struct wire_rnic_id id = { 1, 1 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct evidence port = { .port = "Ethernet8", .switch_ns = 10 * S };
		struct evidence other = { .port = "Ethernet12", .switch_ns = 10 * S };

		evidence_set(&port, SWITCH_PFC_RX_PAUSE_US, 3, cases[i].first_us);
		evidence_set(&other, SWITCH_PFC_RX_PAUSE_US, 3, cases[i].second_us);
		for (int k = 0; k < 3; k++) {
			report(1, WIRE_COUNTER_CRC_ERR, 0);
			report(2, WIRE_COUNTER_PFC_RX_FRAMES, 100);
			diagnoses_port(diagnoses, id, &port, now);
			diagnoses_port(diagnoses, id, &other, now);
			judge(10 * S);
		}
		assert_true(finding(1, DIAGNOSIS_PFC_STORM)->stands);
		assert_non_null(
		    strstr(finding(1, DIAGNOSIS_PFC_STORM)->sentence, cases[i].text));
	}
}

/* The indicator is the largest of several counters of the switch. */
static void
drops_of_a_bond_name_the_port_of_the_counter_that_is_shown(void **state)
{
	struct evidence port = { .port = "Ethernet8", .switch_ns = 10 * S };
	struct evidence other = { .port = "Ethernet12", .switch_ns = 10 * S };
	char text[INDICATOR_TEXT];

	(void)state;
	evidence_set(&port, SWITCH_TX_DISCARDS, 0, 5);
	evidence_set(&other, SWITCH_TX_DISCARDS, 0, 0);
	evidence_set(&port, SWITCH_WRED_DROPS, 3, 0);
	evidence_set(&other, SWITCH_WRED_DROPS, 3, 10000);
	evidence_add_cable(&port, &other);
	indicator_report(&port, SWITCH_DROPS, text);
	assert_non_null(strstr(text, "port Ethernet12 (bond of Ethernet8 Ethernet12)"));
	assert_non_null(strstr(text, "dropped 10000 packets"));
}

/* A name is never cut: if there is no room for all, the number of the others is given.
 */
static void
long_names_of_a_bonds_ports_are_counted_if_they_do_not_fit(void **state)
{
	const struct {
		const char *names[4];
		uint64_t dropped[4];
		const char *text;
	} cases[] = {
		{ { "Ethernet100", "Ethernet104", "Ethernet108" }, { 10, 9, 0 },
		    "port Ethernet100 and Ethernet104 (bond of Ethernet100 Ethernet104 "
		    "Ethernet108) dropped" },
		{ { "Ethernet1/32/1", "Ethernet1/32/2", "Ethernet1/32/3" },
		    { 10, 9, 0 },
		    "port Ethernet1/32/1 and Ethernet1/32/2 (bond of Ethernet1/32/1 "
		    "and "
		    "2 more) dropped" },
		{ { "HundredGigabitEthernet10/1/12a1",
		      "HundredGigabitEthernet10/1/12a2",
		      "HundredGigabitEthernet10/1/12a3",
		      "HundredGigabitEthernet10/1/12a4" },
		    { 10, 9, 8, 0 },
		    "port HundredGigabitEthernet10/1/12a1 and 2 more (bond of 4 ports) "
		    "dropped" },
		{ { "HundredGigabitEthernet10/1/12a1",
		      "HundredGigabitEthernet10/1/12a2",
		      "HundredGigabitEthernet10/1/12a3",
		      "HundredGigabitEthernet10/1/12a4" },
		    { 10, 9, 8, 7 },
		    "port HundredGigabitEthernet10/1/12a1 and "
		    "HundredGigabitEthernet10/1/12a2 and 2 more dropped" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct evidence port = { .switch_ns = 1000000 * S };
		char text[INDICATOR_TEXT];

		for (size_t k = 0; k < 4 && cases[i].names[k] != NULL; k++) {
			struct evidence other = { .switch_ns = 1000000 * S };
			struct evidence *one = k == 0 ? &port : &other;

			snprintf(one->port, sizeof(one->port), "%s", cases[i].names[k]);
			evidence_set(one, SWITCH_TX_DISCARDS, 0,
			    cases[i].dropped[k] * 1000000000000000);
			if (k > 0)
				evidence_add_cable(&port, &other);
		}
		indicator_report(&port, SWITCH_DROPS, text);
		if (strstr(text, cases[i].text) == NULL)
			fail_msg("%s", text);
		assert_non_null(strstr(text, " packets to it in 1000000 s"));
	}
}

/* The RNIC counts the PFC frames that it sends over both cables, and each switch those
 * of one. */
static void
a_bond_with_cables_to_two_switches_does_not_disagree(void **state)
{
	struct evidence port = { .port = "Ethernet8", .switch_ns = INTERVAL_NS };
	const struct wire_counter_value sent = {
		.counter = WIRE_COUNTER_PFC_TX_FRAMES, .index = 3, .value = 20000
	};
	const struct wire_rnic_id id = { 1, 1 };

	evidence_set(&port, SWITCH_PFC_RX_FRAMES, 3, 9000);
	evidence_set(&port, SWITCH_PFC_TX_FRAMES, 3, 0);
	for (unsigned cables = 2; cables > 0; cables--) {
		port.cables = cables;
		for (int i = 0; i < 8; i++) {
			report_values(1, &sent, 1);
			assert_true(diagnoses_port(diagnoses, id, &port, now));
			judge(INTERVAL_NS);
		}
		assert_int_equal(
		    finding(1, DIAGNOSIS_PFC_DISAGREEMENT)->stands, cables == 1);
	}
}

/* The first port is that of the RNIC, in each reading. */
static void
another_port_of_the_same_reading_is_not_taken(void **state)
{
	struct evidence port = { .port = "Ethernet8", .switch_ns = 10 * S };
	struct evidence other = { .port = "Ethernet12", .switch_ns = 10 * S };
	const struct wire_rnic_id id = { 1, 1 };

	evidence_set(&port, SWITCH_FEC_UNCORR, 0, 30);
	evidence_set(&other, SWITCH_FEC_UNCORR, 0, 2);
	for (int i = 0; i < 2; i++) {
		report(1, WIRE_COUNTER_CRC_ERR, 0);
		assert_true(diagnoses_port(diagnoses, id, &port, now));
		assert_false(diagnoses_port(diagnoses, id, &other, now));
		judge(10 * S);
		assert_non_null(strstr(finding(1, DIAGNOSIS_CABLE)->sentence,
		    "Ethernet8 counted 30 codewords that FEC could not correct"));
	}
}

/* After a start, the agents still have to report. */
static void
the_port_of_an_rnic_that_was_never_reported_waits_a_minute(void **state)
{
	const struct evidence port = { .port = "Ethernet8", .switch_ns = 10 * S };
	const struct wire_rnic_id id = { 1, 1 };

	assert_true(diagnoses_port(diagnoses, id, &port, now));
	now = rm_mono_add(now, DIAGNOSES_SILENT_NS);
	assert_true(diagnoses_port(diagnoses, id, &port, now));
	now = rm_mono_add(now, S);
	assert_false(diagnoses_port(diagnoses, id, &port, now));
	assert_int_equal(diagnoses_rnics(diagnoses), 0);
}

static void
the_port_of_an_rnic_without_recent_reports_is_not_taken(void **state)
{
	struct evidence port = { .port = "Ethernet8", .switch_ns = 10 * S };
	const struct wire_rnic_id id = { 1, 1 };

	report(1, WIRE_COUNTER_CRC_ERR, 0);
	assert_true(diagnoses_port(diagnoses, id, &port, now));
	now = rm_mono_add(now, DIAGNOSES_SILENT_NS);
	assert_true(diagnoses_port(diagnoses, id, &port, now));
	now = rm_mono_add(now, S);
	assert_false(diagnoses_port(diagnoses, id, &port, now));
	report(1, WIRE_COUNTER_CRC_ERR, 0);
	assert_true(diagnoses_port(diagnoses, id, &port, now));
}

static void
one_warning_is_no_storm(void **state)
{
	for (uint64_t i = 0; i < 6; i++) {
		report(1, WIRE_COUNTER_PAUSE_STORM_WARN, i == 0 || i > 2);
		judge(5 * S);
		assert_int_equal(finding(1, DIAGNOSIS_PFC_STORM)->stands, i == 5);
	}
}

static void
a_break_restarts_the_duration_of_a_diagnosis(void **state)
{
	for (uint64_t i = 0; i < 12; i++) {
		for (uint64_t guid = 1; guid <= 3; guid++) {
			const struct wire_counter_value values[] = {
				{ i == 5 ? 0 : 500000, WIRE_COUNTER_PFC_RX_PAUSE_US, 3,
				    { 0 } },
			};

			report_values(guid, values, 1);
		}
		judge(5 * S);
		assert_false(finding(1, DIAGNOSIS_PFC_STEADY)->stands);
	}
}

static void
diagnoses_without_reports_end_and_are_forgotten(void **state)
{
	report(1, WIRE_COUNTER_SYMBOL_ERR, 812);
	judge(S);
	judge(DIAGNOSES_FRESH_NS);
	assert_false(diagnoses_rnic(diagnoses, 0)->fresh);
	judge(DIAGNOSES_QUIET_NS);
	assert_false(finding(1, DIAGNOSIS_CABLE)->stands);
	judge(DIAGNOSES_FORGET_NS);
	assert_int_equal(diagnoses_rnics(diagnoses), 0);
}

static void
probe(const struct diagnosed *rnic, uint64_t sent, uint64_t lost)
{
	const struct probe_counts probes = { .sent = sent, .lost = lost };

	diagnoses_probes(diagnoses, rnic->id, &probes, now);
}

/* Timeouts of an RNIC whose packets are lost, while neither its port nor the switch
 * counts a drop. */
static void
report_timeouts(void)
{
	const struct wire_counter_value values[] = {
		{ 40, WIRE_COUNTER_ACK_TIMEOUT, 0, { 0 } },
		{ 0, WIRE_COUNTER_NAK_SEQ_RX, 0, { 0 } },
		{ 0, WIRE_COUNTER_CRC_ERR, 0, { 0 } },
	};
	struct evidence port = { .port = "Ethernet8", .switch_ns = 10 * S };

	report_values(1, values, 3);
	evidence_set(&port, SWITCH_TX_DISCARDS, 0, 0);
	diagnoses_port(diagnoses, (struct wire_rnic_id){ 1, 1 }, &port, now);
}

static void
a_share_of_losses_needs_some_probes(void **state)
{
	const struct diagnosed *rnic;

	report_timeouts();
	rnic = diagnoses_rnic(diagnoses, 0);
	/* Counts from before the first time belong to no interval. */
	probe(rnic, 5000, 1000);
	judge(S);
	assert_int_equal(rnic->results[DIAGNOSIS_SILENT_DROP].status, RULE_NOT_KNOWN);
	probe(rnic, 5050, 1010);
	judge(S);
	assert_int_equal(rnic->results[DIAGNOSIS_SILENT_DROP].status, RULE_NOT_KNOWN);
	probe(rnic, 5400, 1040);
	judge(S);
	assert_int_equal(rnic->results[DIAGNOSIS_SILENT_DROP].status, RULE_HOLDS);
	/* The counts begin again at 0: the interval is unknown. */
	report_timeouts();
	probe(rnic, 200, 0);
	judge(S);
	assert_int_equal(rnic->results[DIAGNOSIS_SILENT_DROP].status, RULE_NOT_KNOWN);
}

/* 40 probes in 5 s: enough for a share of losses in one of three judgements. */
static void
a_share_of_few_probes_counts_until_the_next_one(void **state)
{
	const struct diagnosed *rnic;
	uint64_t sent = 0;

	report_timeouts();
	rnic = diagnoses_rnic(diagnoses, 0);
	for (int i = 0; i < 9; i++) {
		report_timeouts();
		sent += 40;
		probe(rnic, sent, sent / 4);
		judge(5 * S);
	}
	assert_true(rnic->findings[DIAGNOSIS_SILENT_DROP].stands);
	assert_non_null(strstr(
	    rnic->findings[DIAGNOSIS_SILENT_DROP].sentence, "25 % of its probes"));
	for (int i = 0; i < 13; i++) { /* no more probes */
		report_timeouts();
		judge(5 * S);
	}
	assert_int_equal(rnic->results[DIAGNOSIS_SILENT_DROP].status, RULE_NOT_KNOWN);
}

static void
the_network_status_is_kept_until_the_next_judgement(void **state)
{
	const struct diagnosed *rnic;

	report(1, WIRE_COUNTER_ACK_TIMEOUT, 40);
	judge(S);
	rnic = diagnoses_rnic(diagnoses, 0);
	assert_int_equal(rnic->network, NETWORK_SUSPECT);
	report(1, WIRE_COUNTER_ACK_TIMEOUT, 0);
	assert_int_equal(rnic->network, NETWORK_SUSPECT);
	assert_non_null(
	    strstr(rnic->network_text, "it had 40 acknowledgement time-outs"));
	judge(S);
	assert_int_equal(rnic->network, NETWORK_NOT_KNOWN);
	assert_string_equal(rnic->network_text, "probe_loss");
	judge(DIAGNOSES_FRESH_NS + S);
	assert_string_equal(rnic->network_text, "a recent report");
}

static void
losses_are_separated_by_size(void **state)
{
	const struct wire_counter_value values[] = {
		{ 3000, WIRE_COUNTER_MTU_ERR, 0, { 0 } },
	};
	struct probe_counts probes = { 0 };
	const struct diagnosed *rnic;

	report_values(1, values, 1);
	rnic = diagnoses_rnic(diagnoses, 0);
	diagnoses_probes(diagnoses, rnic->id, &probes, now);
	probes = (struct probe_counts){ 400, 60, 80, 60 };
	diagnoses_probes(diagnoses, rnic->id, &probes, now);
	judge(S);
	assert_true(finding(1, DIAGNOSIS_MTU_MISMATCH)->stands);
	assert_string_equal(finding(1, DIAGNOSIS_MTU_MISMATCH)->sentence,
	    "its port counted 3000 packets larger than the MTU in 5 s, 75 % of its "
	    "large probes are lost");

	probes = (struct probe_counts){ 800, 460, 160,
		140 }; /* small probes are lost, too */
	diagnoses_probes(diagnoses, rnic->id, &probes, now);
	judge(S);
	assert_int_equal(rnic->results[DIAGNOSIS_MTU_MISMATCH].status, RULE_NOT_SO);
}

static void
unknown_values_are_counted_and_ignored(void **state)
{
	const struct wire_counter_value values[] = {
		{ 1, 0, 0, { 0 } },
		{ 1, WIRE_COUNTERS, 0, { 0 } },
		{ 1, UINT16_MAX, 255, { 0 } },
		{ 812, WIRE_COUNTER_SYMBOL_ERR, 200, { 0 } },
	};
	const struct wire_rnic_counters endless = { { 2, 1 }, UINT64_MAX, values, 4 };

	report_values(1, values, 4);
	diagnoses_report(diagnoses, "h1", "mlx5_1", &endless, now);
	judge(S);
	assert_int_equal(diagnoses_counts(diagnoses)->unknown_values, 3);
	assert_int_equal(diagnoses_counts(diagnoses)->refused, 1);
	assert_false(finding(1, DIAGNOSIS_CABLE)->stands);
}

static void
rnics_beyond_the_bound_are_refused(void **state)
{
	for (uint64_t guid = 1; guid <= DIAGNOSES_MAX_RNICS + 1; guid++)
		report(guid, WIRE_COUNTER_SYMBOL_ERR, 0);
	assert_int_equal(diagnoses_rnics(diagnoses), DIAGNOSES_MAX_RNICS);
	assert_int_equal(diagnoses_counts(diagnoses)->refused, 1);
}

/* The port of a switch, of which only this value is known. */
static void
report_link(unsigned number, uint64_t value)
{
	struct evidence evidence = { .switch_ns = 10 * S };

	strcpy(evidence.port, "Ethernet48");
	evidence_set(
	    &evidence, number, number == SWITCH_GROUP_DROP_PKTS ? 3 : 0, value);
	evidence_set(&evidence, SWITCH_PFC_TX_FRAMES, 3, 900);
	evidence_set(&evidence, SWITCH_PFC_RX_PAUSE_US, 3, 9900000);
	diagnoses_link(diagnoses, "spine1", "tor7", &evidence, now);
}

static const struct diagnosed *
link_reported(void)
{
	return diagnoses_rnics(diagnoses) == 0 ? NULL : diagnoses_rnic(diagnoses, 0);
}

static void
a_link_between_switches_is_judged_by_rules_of_links(void **state)
{
	const struct diagnosed *link;

	report_link(SWITCH_FEC_UNCORR, 9); /* too few */
	assert_null(link_reported());
	report_link(SWITCH_FEC_UNCORR, 40);
	judge(S);
	link = link_reported();
	assert_non_null(link);
	assert_int_equal(link->kind, DIAGNOSED_PORT);
	assert_string_equal(link->host, "spine1");
	assert_string_equal(link->device, "Ethernet48");
	for (size_t d = 0; d < DIAGNOSES; d++)
		assert_int_equal(link->findings[d].stands, d == DIAGNOSIS_CABLE);
	assert_string_equal(link->findings[DIAGNOSIS_CABLE].sentence,
	    "the switch's port Ethernet48 counted 40 codewords that FEC could not "
	    "correct in 10 s");
	assert_int_equal(diagnoses_reported(diagnoses), 0);

	report_link(SWITCH_FEC_UNCORR, 0);
	judge(10 * S);
	assert_true(link->findings[DIAGNOSIS_CABLE].stands);
	judge(DIAGNOSES_QUIET_NS);
	assert_false(link->findings[DIAGNOSIS_CABLE].stands);

	report_link(SWITCH_GROUP_DROP_PKTS, 77); /* the port sent pauses in that time */
	judge(S);
	assert_true(link->findings[DIAGNOSIS_HEADROOM].stands);
	report_link(SWITCH_OPER_CHANGES, 2);
	judge(S);
	assert_true(link->findings[DIAGNOSIS_LINK_FLAP].stands);
	assert_false(link->findings[DIAGNOSIS_PFC_STORM].stands);
}

/* The port of an RNIC is shown, but takes no room of ports between switches. */
static void
ports_without_a_switch_as_neighbour_are_not_listed(void **state)
{
	struct evidence evidence = { .port = "Ethernet8", .switch_ns = 10 * S };
	struct wire_port_row rows[1];

	evidence_set(&evidence, SWITCH_FEC_UNCORR, 0, 40);
	diagnoses_link(diagnoses, "tor7", "", &evidence, now);
	report_link(SWITCH_FEC_UNCORR, 40);
	judge(S);
	assert_int_equal(diagnoses_rnics(diagnoses), 2);
	assert_true(diagnoses_rnic(diagnoses, 0)->findings[DIAGNOSIS_CABLE].stands);
	assert_int_equal(diagnoses_ports(diagnoses, rows, 1), 1);
	assert_string_equal(rows[0].port, "Ethernet48");
}

/* In the rules that compare RNICs of the rack, a link is neither one that pauses nor
 * one that is paused. */
static void
a_link_between_switches_does_not_count_as_another_rnic(void **state)
{
	report_link(SWITCH_FEC_UNCORR, 40);
	report(1, WIRE_COUNTER_PFC_RX_PAUSE_US, 900000);
	judge(S);
	assert_int_equal(diagnoses_rnics(diagnoses), 2);
	assert_int_equal(diagnoses_reported(diagnoses), 1);
	assert_false(finding(1, DIAGNOSIS_PAUSE_VICTIM)->stands);
	assert_int_equal(diagnoses_find(diagnoses, (struct wire_rnic_id){ 1, 1 })
			     ->evidence.given_there,
	    0);
}

static void
ports_that_explain_losses_are_listed_with_their_neighbours(void **state)
{
	struct wire_port_row rows[2];

	report_link(SWITCH_FEC_UNCORR, 40);
	assert_int_equal(diagnoses_ports(diagnoses, rows, 2), 0); /* not judged yet */
	judge(S);
	assert_int_equal(diagnoses_ports(diagnoses, rows, 2), 1);
	assert_string_equal(rows[0].switch_name, "spine1");
	assert_string_equal(rows[0].port, "Ethernet48");
	assert_string_equal(rows[0].neighbor, "tor7");
	assert_non_null(strstr(rows[0].sentence, "counted 40 codewords"));
	assert_int_equal(diagnoses_ports(diagnoses, rows, 0), 0);
	report(1, WIRE_COUNTER_SYMBOL_ERR,
	    812); /* findings of an RNIC are not listed among ports */
	judge(S);
	assert_int_equal(diagnoses_ports(diagnoses, rows, 2), 1);
	report_link(SWITCH_FEC_UNCORR, 0);
	judge(DIAGNOSES_QUIET_NS);
	assert_int_equal(diagnoses_ports(diagnoses, rows, 2), 0);
}

static void
readings_of_a_link_between_two_judgements_add_up(void **state)
{
	report_link(SWITCH_FEC_UNCORR, 40);
	report_link(SWITCH_FEC_UNCORR, 0);
	judge(S);
	assert_non_null(link_reported());
	assert_string_equal(link_reported()->findings[DIAGNOSIS_CABLE].sentence,
	    "the switch's port Ethernet48 counted 40 codewords that FEC could not "
	    "correct in 20 s");
	report_link(SWITCH_FEC_UNCORR, 0);
	judge(5 * S);
	assert_int_equal(link_reported()->evidence.value[SWITCH_FEC_UNCORR][0], 0);
	assert_int_equal(link_reported()->evidence.switch_ns, 10 * S);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_finding_stands_with_its_sentence_until_it_is_quiet),
		TEST(a_link_between_switches_is_judged_by_rules_of_links),
		TEST(a_link_between_switches_does_not_count_as_another_rnic),
		TEST(reports_between_two_judgements_add_up),
		TEST(the_latest_report_of_a_gauge_counts),
		TEST(standing_diagnoses_are_reported_as_far_as_they_fit),
		TEST(diagnoses_that_cannot_explain_a_loss_are_not_reported_for_it),
		TEST(racks_are_judged_one_at_a_time_and_each_once_in_a_round),
		TEST(managed_congestion_explains_no_fault),
		TEST(a_diagnosis_with_a_duration_stands_only_after_it),
		TEST(no_share_of_the_time_is_above_all_of_it),
		TEST(counters_of_the_switchs_port_are_judged_until_outdated),
		TEST(a_port_that_is_read_seldom_counts_until_its_next_reading),
		TEST(many_readings_of_a_port_are_not_outdated),
		TEST(readings_of_a_port_between_two_judgements_add_up),
		TEST(ports_that_explain_losses_are_listed_with_their_neighbours),
		TEST(ports_without_a_switch_as_neighbour_are_not_listed),
		TEST(readings_of_a_link_between_two_judgements_add_up),
		TEST(both_cables_of_a_bond_are_compared_with_its_rnic),
		TEST(a_diagnosis_of_a_bond_names_the_ports_that_show_it),
		TEST(drops_of_a_bond_name_the_port_of_the_counter_that_is_shown),
		TEST(long_names_of_a_bonds_ports_are_counted_if_they_do_not_fit),
		TEST(a_bond_with_cables_to_two_switches_does_not_disagree),
		TEST(another_port_of_the_same_reading_is_not_taken),
		TEST(the_port_of_an_rnic_that_was_never_reported_waits_a_minute),
		TEST(the_port_of_an_rnic_without_recent_reports_is_not_taken),
		TEST(one_warning_is_no_storm),
		TEST(a_break_restarts_the_duration_of_a_diagnosis),
		TEST(diagnoses_without_reports_end_and_are_forgotten),
		TEST(a_share_of_losses_needs_some_probes),
		TEST(a_share_of_few_probes_counts_until_the_next_one),
		TEST(the_network_status_is_kept_until_the_next_judgement),
		TEST(losses_are_separated_by_size),
		TEST(unknown_values_are_counted_and_ignored),
		TEST(rnics_beyond_the_bound_are_refused),
	};

	return cmocka_run_group_tests_name("diagnoses", tests, NULL, NULL);
}
