#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rackmesh/judge/verdict.h"

static struct rm_verdict
dead_rnic(void)
{
	struct rm_verdict verdict = {
		.part = { RM_PART_RNIC, "h1/r0", "tor1" },
		.rnic = { 0x020000000001, RM_PORT_MAC },
		.kind = RM_KIND_RNIC_DOWN,
		.confidence = 0.99,
		.evidence = {
			.window_ns = RM_NS_PER_S,
			.peers = 3,
			.to_part = { 60, 0 },
			.from_part = { 31, 2 },
			.outside = { 30, 0 },
			.others = { 120, 120 },
			.sample_count = 1,
			.ruled_out_count = 1,
		},
	};

	strcpy(verdict.evidence.samples[0].from, "h1/r0");
	strcpy(verdict.evidence.samples[0].to, "h2/r0");
	strcpy(verdict.evidence.samples[0].outcome, "no-reply");
	strcpy(verdict.evidence.ruled_out[0],
	    "h2/r0: 38 of 38 of its probes to other racks were answered");
	return verdict;
}

static void
an_rnic_verdict_reads_as_a_sentence_with_figures(void **state)
{
	const struct rm_verdict verdict = dead_rnic();
	char text[RM_SENTENCE_BYTES];

	(void)state;
	rm_verdict_sentence(&verdict, text, sizeof text);
	assert_string_equal(text,
	    "RNIC h1/r0 at tor1 neither sends nor receives: in 1.0 s, as 3 peers saw "
	    "it, "
	    "none of 60 packets to it and 2 of 31 from it arrived, none of 30 of its "
	    "probes out of the rack were answered, while all 120 between the others "
	    "arrived. Ruled out: h2/r0: 38 of 38 of its probes to other racks were "
	    "answered.");
}

static void
several_links_of_a_switch_are_counted_and_listed(void **state)
{
	struct rm_verdict verdict = {
		.part = { RM_PART_SWITCH, "spine3", "" },
		.kind = RM_KIND_LINKS_DOWN,
		.evidence = {
			.window_ns = 2 * RM_NS_PER_S,
			.window_start = { 1764201605 * RM_NS_PER_S },
			.links = "spine3--tor1, spine3--tor2, spine3->tor4",
			.links_down = 3,
			.links_of = 8,
			.to_part = { 120, 0 },
			.ruled_out = { "spine3: 90 of 90 probes over it on other paths "
				       "arrived" },
			.ruled_out_count = 1,
		},
	};
	char text[RM_SENTENCE_BYTES];
	json_t *json, *links;

	(void)state;
	rm_verdict_sentence(&verdict, text, sizeof text);
	assert_string_equal(text,
	    "Switch spine3: 3 of its 8 links carry nothing since 00:00:05 UTC (a line "
	    "card or a group of ports?): spine3--tor1, spine3--tor2, spine3--tor4 "
	    "(only from spine3 to tor4); in 2.0 s none of 120 packets over them "
	    "arrived. Ruled out: spine3: 90 of 90 probes over it on other paths "
	    "arrived.");
	json = rm_verdict_json(&verdict);
	links = json_object_get(json_object_get(json, "evidence"), "links");
	assert_int_equal(json_array_size(links), 3);
	assert_string_equal(
	    json_string_value(json_array_get(links, 2)), "spine3->tor4");
	json_decref(json);
	/* Some carry nothing and others lose a share; the number of all is not known;
	 * there is no room for all names. */
	verdict.evidence.links_lossy = 9;
	verdict.evidence.links_of = 0;
	rm_verdict_sentence(&verdict, text, sizeof text);
	assert_non_null(strstr(text,
	    "Switch spine3: 3 of its links carry nothing and 9 lose packets since "));
	assert_non_null(strstr(text, " and 9 more; in 2.0 s "));
	verdict.kind = RM_KIND_LINKS_LOSSY;
	verdict.evidence.links_down = 0;
	verdict.evidence.links_lossy = 1;
	strcpy(verdict.evidence.links, "spine3--tor1");
	rm_verdict_sentence(&verdict, text, sizeof text);
	assert_non_null(strstr(
	    text, "1 of its links loses packets since 00:00:05 UTC: spine3--tor1; in"));
}

static void
a_late_verdict_has_its_delay_in_the_sentence(void **state)
{
	struct rm_verdict verdict = dead_rnic();
	char text[RM_SENTENCE_BYTES];
	json_t *json;

	(void)state;
	verdict.evidence.late_ns = 900 * RM_NS_PER_MS;
	rm_verdict_sentence(&verdict, text, sizeof text);
	assert_null(strstr(text, "late"));
	verdict.evidence.late_ns = 3200 * RM_NS_PER_MS;
	rm_verdict_sentence(&verdict, text, sizeof text);
	assert_non_null(strstr(text, " between the others arrived; this verdict came "
				     "3.2 s later than usual. Ruled"));
	json = rm_verdict_json(&verdict);
	assert_int_equal(json_integer_value(json_object_get(
			     json_object_get(json, "evidence"), "late_ms")),
	    3200);
	json_decref(json);
}

static void
a_verdict_on_loss_names_the_lost_packets(void **state)
{
	static const struct {
		enum rm_kind kind;
		enum rm_direction direction;
		const char *reports, *kind_name;
	} cases[] = {
		{ RM_KIND_RNIC_LOSSY, RM_DIRECTION_UNKNOWN, "loses packets:", "" },
		{ RM_KIND_RNIC_LOSSY, RM_DIRECTION_RECEIVE,
		    "loses packets that are sent to it:", "receive" },
		{ RM_KIND_RNIC_LOSSY, RM_DIRECTION_SEND,
		    "loses packets that it sends:", "send" },
		{ RM_KIND_RNIC_LOSSY, RM_DIRECTION_BOTH,
		    "loses packets that it sends and that are sent to it:", "both" },
		{ RM_KIND_RNIC_MTU, RM_DIRECTION_RECEIVE,
		    "loses large packets that are sent to it, probably because an MTU "
		    "is too small:",
		    "receive" },
		{ RM_KIND_RNIC_SEND_DEAD, RM_DIRECTION_SEND,
		    "receives packets, but those that it sends do not arrive:",
		    "send" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct rm_verdict verdict = dead_rnic();
		char text[RM_SENTENCE_BYTES], expected[256];
		json_t *json;

		verdict.kind = cases[i].kind;
		verdict.evidence.direction = cases[i].direction;
		rm_verdict_sentence(&verdict, text, sizeof text);
		snprintf(expected, sizeof expected, "RNIC h1/r0 at tor1 %s in 1.0 s,",
		    cases[i].reports);
		assert_memory_equal(text, expected, strlen(expected));
		json = rm_verdict_json(&verdict);
		assert_string_equal(
		    json_string_value(json_object_get(
			json_object_get(json, "evidence"), "direction")),
		    cases[i].kind_name);
		json_decref(json);
	}
}

static void
loss_of_one_class_is_named_with_it(void **state)
{
	struct rm_verdict verdict = dead_rnic();
	char text[RM_SENTENCE_BYTES];

	(void)state;
	verdict.kind = RM_KIND_RNIC_LOSSY;
	verdict.evidence.direction = RM_DIRECTION_RECEIVE;
	verdict.evidence.one_class = true;
	verdict.evidence.dscp = 26;
	rm_verdict_sentence(&verdict, text, sizeof text);
	assert_non_null(strstr(text,
	    " loses packets that are sent to it, but only packets with DSCP 26: in "));
	verdict.kind = RM_KIND_LINK_LOSSY;
	rm_verdict_sentence(&verdict, text, sizeof text);
	assert_non_null(
	    strstr(text, " loses packets, but only packets with DSCP 26: in "));
}

static void
a_verdict_on_a_host_has_the_observation(void **state)
{
	struct rm_verdict verdict = {
		.part = { RM_PART_AGENT, "h3", "" },
		.kind = RM_KIND_AGENT_FROZEN,
	};
	char text[RM_SENTENCE_BYTES];

	(void)state;
	strcpy(verdict.evidence.observed,
	    "no heartbeat for 1.5 s, its kernel acknowledges");
	rm_verdict_sentence(&verdict, text, sizeof text);
	assert_string_equal(text,
	    "The agent of host h3 is frozen: no heartbeat for 1.5 s, its kernel "
	    "acknowledges.");
}

static void
a_verdict_on_an_rnic_ends_with_its_counters(void **state)
{
	struct rm_verdict verdict = {
		.part = { RM_PART_RNIC, "h3/r0", "tor1" },
		.kind = RM_KIND_RNIC_LOSSY,
		.evidence = { .window_ns = RM_NS_PER_S,
		    .to_part = { 60, 50 },
		    .ruled_out = { "h1/r0: it is well" },
		    .ruled_out_count = 1 },
	};
	char text[RM_SENTENCE_BYTES];
	json_t *json;

	(void)state;
	strcpy(verdict.evidence.counters, "its port counted 812 symbol errors in 5 s");
	verdict.evidence.counters_at.ns = 1700000000 * RM_NS_PER_S;
	verdict.evidence.counters_old = true;
	rm_verdict_sentence(&verdict, text, sizeof text);
	assert_non_null(strstr(text,
	    "; as of 2023-11-14T22:13:20Z: its port counted 812 symbol errors in 5 s"));
	json = rm_verdict_json(&verdict);
	assert_string_equal(json_string_value(json_object_get(
				json_object_get(json, "evidence"), "counters_at")),
	    "2023-11-14T22:13:20.000Z");
	json_decref(json);
	verdict.evidence.counters_old = false;
	rm_verdict_sentence(&verdict, text, sizeof text);
	assert_string_equal(text,
	    "RNIC h3/r0 at tor1 loses packets: in 1.0 s 50 of 60 packets to it "
	    "arrived; its port counted 812 symbol errors in 5 s. Ruled out: h1/r0: it "
	    "is well.");
	json = rm_verdict_json(&verdict);
	assert_string_equal(json_string_value(json_object_get(
				json_object_get(json, "evidence"), "counters")),
	    "its port counted 812 symbol errors in 5 s");
	json_decref(json);
}

static void
a_verdict_on_a_tor_has_the_counts_of_the_rack(void **state)
{
	const struct rm_verdict verdict = {
		.part = { RM_PART_TOR, "tor1", "" },
		.kind = RM_KIND_TOR_DOWN,
		.evidence = { .window_ns = RM_NS_PER_S,
		    .outside = { 60, 0 },
		    .others = { 40, 0 } },
	};
	char text[RM_SENTENCE_BYTES];

	(void)state;
	rm_verdict_sentence(&verdict, text, sizeof text);
	assert_string_equal(text,
	    "ToR tor1 or its uplinks forward nothing: in 1.0 s none of 60 probes out "
	    "of "
	    "the rack were answered and none of 40 packets inside it arrived.");
}

static void
counts_of_other_racks_on_a_tor_are_not_called_inside(void **state)
{
	const struct rm_verdict verdict = {
		.part = { RM_PART_TOR, "tor1", "" },
		.kind = RM_KIND_TOR_DOWN,
		.evidence = { .window_ns = RM_NS_PER_S,
		    .to_part = { 60, 0 },
		    .others = { 40, 40 } },
	};
	char text[RM_SENTENCE_BYTES];

	(void)state;
	rm_verdict_sentence(&verdict, text, sizeof text);
	assert_string_equal(text,
	    "ToR tor1 or its uplinks forward nothing: in 1.0 s none of 60 packets to "
	    "it arrived, all 40 between the others arrived.");
}

static void
a_tor_fails_inside_if_half_of_the_packets_are_lost(void **state)
{
	(void)state;
	assert_true(rm_tor_fails_inside(&(struct rm_leg_counts){ 20, 0 }));
	assert_true(rm_tor_fails_inside(&(struct rm_leg_counts){ 20, 10 }));
	assert_false(rm_tor_fails_inside(&(struct rm_leg_counts){ 20, 19 }));
	assert_false(rm_tor_fails_inside(&(struct rm_leg_counts){ 0, 0 }));
}

static void
a_sentence_is_cut_to_fit_at_any_length(void **state)
{
	const struct rm_verdict verdict = dead_rnic();
	char whole[RM_SENTENCE_BYTES];

	(void)state;
	rm_verdict_sentence(&verdict, whole, sizeof whole);
	for (size_t len = 0; len < sizeof whole; len++) {
		char text[RM_SENTENCE_BYTES + 1];

		memset(text, '#', sizeof text);
		rm_verdict_sentence(&verdict, text, len);
		assert_int_equal(text[len], '#'); /* nothing was written past the end */
		if (len > 0) {
			assert_true(strlen(text) < len);
			assert_int_equal(strncmp(text, whole, strlen(text)), 0);
		}
	}
}

static void
json_carries_all_of_the_evidence(void **state)
{
	const struct rm_verdict verdict = dead_rnic();
	json_t *json = rm_verdict_json(&verdict);
	const char *part, *type, *place, *rnic, *kind, *from, *ruled_out;
	json_int_t sent, arrived, window_ms;

	(void)state;
	assert_non_null(json);
	assert_int_equal(
	    json_unpack(json,
		"{s:s, s:s, s:s, s:s, s:s, s:{s:I, s:{s:I, s:I}, s:[{s:s}], s:[s]}}",
		"part", &part, "part_type", &type, "place", &place, "rnic", &rnic,
		"kind", &kind, "evidence", "window_ms", &window_ms, "from_part", "sent",
		&sent, "arrived", &arrived, "samples", "from", &from, "ruled_out",
		&ruled_out),
	    0);
	assert_string_equal(part, "h1/r0");
	assert_string_equal(type, "rnic");
	assert_string_equal(place, "tor1");
	assert_string_equal(rnic, "02:00:00:00:00:01");
	assert_string_equal(kind, "rnic-down");
	assert_string_equal(from, "h1/r0");
	assert_string_equal(
	    ruled_out, "h2/r0: 38 of 38 of its probes to other racks were answered");
	assert_int_equal(window_ms, 1000);
	assert_int_equal(sent, 31);
	assert_int_equal(arrived, 2);
	json_decref(json);
}

static void
every_kind_has_a_name(void **state)
{
	(void)state;
	for (int a = RM_KIND_RNIC_DOWN; a < RM_KINDS; a++) {
		assert_string_not_equal(rm_kind_str((enum rm_kind)a), "unknown");
		for (int b = RM_KIND_RNIC_DOWN; b < a; b++)
			assert_string_not_equal(
			    rm_kind_str((enum rm_kind)a), rm_kind_str((enum rm_kind)b));
	}
	assert_string_equal(rm_kind_str(RM_KINDS), "unknown");
	assert_string_equal(rm_kind_str((enum rm_kind)0), "unknown");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_rnic_verdict_reads_as_a_sentence_with_figures),
		cmocka_unit_test(several_links_of_a_switch_are_counted_and_listed),
		cmocka_unit_test(a_late_verdict_has_its_delay_in_the_sentence),
		cmocka_unit_test(a_verdict_on_loss_names_the_lost_packets),
		cmocka_unit_test(loss_of_one_class_is_named_with_it),
		cmocka_unit_test(a_verdict_on_a_host_has_the_observation),
		cmocka_unit_test(a_verdict_on_an_rnic_ends_with_its_counters),
		cmocka_unit_test(a_verdict_on_a_tor_has_the_counts_of_the_rack),
		cmocka_unit_test(counts_of_other_racks_on_a_tor_are_not_called_inside),
		cmocka_unit_test(a_tor_fails_inside_if_half_of_the_packets_are_lost),
		cmocka_unit_test(a_sentence_is_cut_to_fit_at_any_length),
		cmocka_unit_test(json_carries_all_of_the_evidence),
		cmocka_unit_test(every_kind_has_a_name),
	};

	return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
