#include "tests/sim/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/sim/scenario.h"
#include "tests/sim/tuned.h"
#include "tests/support/trials.h"

#define TROUBLES                                                                       \
	"noise: { loss: 1e-4, bursts_per_hour: 3600, stalls_per_hour: 60, "            \
	"stall_s: { from: 0.1, to: 2 }, agent_restarts_per_hour: 60, "                 \
	"late_batches: 0.05, missing_batches: 0.01, duplicated_batches: 0.05, "        \
	"clock_drift_ppm: 100, wall_offset_ms: 50, aggregator_restarts_per_hour: 60, " \
	"path_moves_per_hour: 600, spray: 0.1 }\n"

struct text { /* all output of a run */
	char *reported, *truth;
	struct score_row rows[SCORE_CLASSES];
	uint64_t probes, lost;
};

static struct text
run(const char *scenario_text, uint64_t seed, uint32_t number)
{
	struct run_options options = { .seed = seed, .number = number };
	struct scenario *scenario = NULL;
	struct run_result result;
	struct rm_error error = { 0 };
	struct text text = { 0 };
	size_t len;

	options.verdicts = open_memstream(&text.reported, &len);
	assert_non_null(options.verdicts);
	if (scenario_parse("s.yaml", scenario_text, strlen(scenario_text), &scenario,
		&error) < 0 ||
	    run_whole(scenario, &options, &result, &error) < 0)
		fail_msg("%s", error.text);
	fclose(options.verdicts);
	for (size_t i = 0; i < SCORE_CLASSES; i++)
		text.rows[i] = score_row(result.own, i);
	text.truth = strdup(result.truth);
	text.probes = result.probes;
	text.lost = result.lost;
	run_result_clear(&result);
	scenario_free(scenario);
	return text;
}

static void
text_clear(struct text *text)
{
	free(text->reported);
	free(text->truth);
}

static const char troubled[] =
    "name: a\nseconds: 15\nfabric: { racks: 3, rnics_per_rack: { from: 2, to: 5 } "
    "}\n" TROUBLES "faults:\n  - { kind: rnic-down, part: random, from_s: 5 }\n"
    "  - { kind: link-lossy, part: random, loss: 0.3, from_s: 6 }\n";

static void
a_run_repeats_byte_for_byte(void **state)
{
	struct text a = run(troubled, 3, 5), b = run(troubled, 3, 5);

	assert_string_equal(a.reported, b.reported);
	assert_string_equal(a.truth, b.truth);
	assert_memory_equal(a.rows, b.rows, sizeof a.rows);
	assert_int_equal(a.probes, b.probes);
	assert_int_equal(a.lost, b.lost);
	assert_true(strlen(a.reported) > 0);
	text_clear(&a);
	text_clear(&b);
}

static void
another_seed_or_number_is_another_run(void **state)
{
	struct text a = run(troubled, 3, 5), b = run(troubled, 4, 5),
		    c = run(troubled, 3, 6);

	assert_string_not_equal(a.truth, b.truth);
	assert_string_not_equal(a.truth, c.truth);
	text_clear(&a);
	text_clear(&b);
	text_clear(&c);
}

static void
only_the_dead_rnic_is_named(void **state)
{
	struct text a = run("name: a\nseconds: 10\nfabric: { racks: 3 }\nfaults:\n"
			    "  - { kind: rnic-down, part: h2/r0, from_s: 5 }\n",
	    1, 0);

	assert_int_equal(a.rows[SCORE_RNICS].truths, 1);
	assert_int_equal(a.rows[SCORE_RNICS].found, 1);
	for (size_t i = 0; i < SCORE_CLASSES; i++)
		assert_int_equal(a.rows[i].wrong, 0);
	assert_non_null(strstr(a.reported, "h2/r0"));
	text_clear(&a);
}

/* An agent that was stalled when a probe was due sends it when it continues, also if it
 * is stalled at every turn of a target. */
static void
agents_that_stutter_skip_no_probe_of_a_slow_target(void **state)
{
#define SLOW_TARGETS                                                      \
	"name: a\nseconds: 12\nfabric: { racks: 1, rnics_per_rack: 6 }\n" \
	"probing: { mesh_interval_ms: 900 }\n"
	struct text steady = run(SLOW_TARGETS, 1, 0),
		    stutters = run(SLOW_TARGETS
			"faults:\n  - { kind: host-stall, part: random, count: 6, "
			"from_s: 1, flap: { on_ms: 300, off_ms: 133 } }\n",
			1, 0);

	assert_in_range(stutters.probes, steady.probes * 95 / 100, steady.probes);
	text_clear(&steady);
	text_clear(&stutters);
}

/* The only incident must name the delay, and nothing worse before it. */
static void
a_late_part_is_reported_as_late(void **state)
{
	static const struct {
		const char *fault, *expected;
	} cases[] = {
		{ "part: tor1--spine2, way: send, latency_us: 400000",
		    "Link spine2--tor1 delays packets" },
		{ "part: tor1--spine2, way: send, latency_us: 1500000",
		    "1500 ms on average" },
		{ "part: spine1, latency_us: 400000", "Switch spine1 delays packets" },
		{ "part: spine1, latency_us: 1500000", "Switch spine1 delays packets" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[512];
		const char *opened;
		struct text a;

		snprintf(text, sizeof(text),
		    "name: a\nseconds: 15\nfabric: { racks: 4, middle: 3 }\nfaults:\n"
		    "  - { kind: latency, %s, from_s: 5 }\n",
		    cases[i].fault);
		a = run(text, 1, 0);
		opened = strstr(a.reported, "opened");
		assert_non_null(opened);
		assert_null(strstr(opened + 1, "opened"));
		assert_non_null(strstr(a.reported, "delays packets"));
		assert_non_null(strstr(a.reported, cases[i].expected));
		assert_null(strstr(a.reported, "nothing"));
		assert_null(strstr(a.reported, "loses"));
		assert_null(strstr(a.reported, "swallows"));
		text_clear(&a);
	}
}

/* The run ends four seconds after the fault, which begins at various times within a
 * second. */
static void
an_rnic_that_loses_a_fifth_is_named_before_its_window_is_full(void **state)
{
	static const char *const paths[] = { "send", "receive", "both" };

	for (uint32_t i = 0; i < 12; i++) {
		char scenario[256];
		struct text a;

		snprintf(scenario, sizeof scenario,
		    "name: a\nseconds: 12\nfabric: { racks: 3, middle: 2, "
		    "rnics_per_rack: 4 }\nnoise: { loss: 1e-5 }\nfaults:\n"
		    "  - { kind: rnic-lossy, part: h2/r0, loss: 0.2, way: %s, "
		    "from_s: %u.%02u }\n",
		    paths[i % 3], i < 6 ? 7 : 8, i < 6 ? 50 + 9 * i : 9 * (i - 6));
		a = run(scenario, 1, i);
		assert_int_equal(a.rows[SCORE_RNICS].found, 1);
		for (size_t k = 0; k < SCORE_CLASSES; k++)
			assert_int_equal(a.rows[k].wrong, 0);
		text_clear(&a);
	}
}

/* Replies to probes over the other cables may return over the dead one, so all cables
 * show losses. */
static void
of_twelve_cables_of_a_rack_only_the_dead_one_is_named(void **state)
{
	for (uint32_t i = 0; i < 12; i += trials_are_all() ? 1 : 4) {
		struct text a =
		    run("name: a\nseconds: 20\nfabric: { racks: 3, middle: 6, "
			"cables: 2, rnics_per_rack: 10 }\nfaults:\n"
			"  - { kind: link-down, part: random, way: both, from_s: 6 "
			"}\n",
			1, i);

		assert_int_equal(a.rows[SCORE_LINKS].truths, 1);
		assert_int_equal(a.rows[SCORE_LINKS].found, 1);
		for (size_t k = 0; k < SCORE_CLASSES; k++)
			assert_int_equal(a.rows[k].wrong, 0);
		text_clear(&a);
	}
}

/* A third of the flows die: by chance most of them cross one link, or two. Each flow is
 * probed in two classes, which must not make it count as two. */
static void
a_spine_that_drops_whole_flows_is_one_incident(void **state)
{
	static const uint32_t numbers[] = { 40, 423, 62, 91, 138, 146, 150, 158 };
	const size_t count = trials_are_all() ? sizeof numbers / sizeof *numbers : 3;

	for (size_t i = 0; i < count; i++) {
		struct text a = run(
		    "name: a\nseconds: 26\nfabric: { racks: 3, middle: 2, "
		    "rnics_per_rack: { from: 2, to: 3 }, symmetric: 1 }\n"
		    "noise: { loss: { from: 1e-6, to: 1e-4, log: true } }\nfaults:\n"
		    "  - { kind: flows-blackholed, part: random, type: middle, "
		    "share: 0.33, from_s: { from: 11, to: 13 } }\n",
		    9, numbers[i]);
		const char *first = strstr(a.reported, " opened: ");

		assert_non_null(first);
		assert_null(strstr(first + 1, " opened: "));
		assert_memory_equal(first, " opened: Switch ", 16);
		assert_int_equal(a.rows[SCORE_DEVICES].found, 1);
		text_clear(&a);
	}
}

/* A bad entry of the spine's routing table: other packets over the same two links
 * arrive. */
static void
a_spine_that_drops_packets_between_two_racks_is_named_with_them(void **state)
{
	for (uint32_t i = 0; i < 8; i += trials_are_all() ? 1 : 3) {
		struct text a =
		    run("name: a\nseconds: 30\nfabric: { racks: 4, middle: 2, "
			"rnics_per_rack: 4, symmetric: { of: [0, 1] } }\n"
			"noise: { loss: 1e-5 }\nfaults:\n"
			"  - { kind: switch-down, part: spine2, pair: 2, "
			"from_s: 12 }\n",
			1, i);
		const char *first = strstr(a.reported, " opened: ");

		assert_non_null(first);
		assert_null(strstr(first + 1, " opened: "));
		assert_non_null(
		    strstr(first, "Switch spine2 loses all packets of some flows and "
				  "none of others: only between tor"));
		text_clear(&a);
	}
}

/* Both aggregation switches lie on the same paths of the two racks; with one uplink
 * each the core does, too. They are named in one incident, which must also end. */
static void
switches_that_a_pair_of_racks_crosses_together_are_reported_as_one_of_them(void **state)
{
	static const struct {
		const char *cores, *part, *opened;
	} cases[] = {
		{ "4", "pod1-agg1", " opened: Switch pod1-agg1 or pod" },
		{ "2", "core1", " opened: Switch core1 or pod" },
	};

	for (size_t i = 0; i < 2; i++) {
		char text[512];
		struct text a;

		snprintf(text, sizeof text,
		    "name: a\nseconds: 50\nfabric: { tiers: 3, pods: 3, racks: 6, "
		    "middle: 2, cores: %s, rnics_per_rack: 4 }\n"
		    "noise: { loss: 1e-6 }\nfaults:\n"
		    "  - { kind: switch-down, part: %s, pair: 1, from_s: 12, "
		    "lasts_s: 18 }\n",
		    cases[i].cores, cases[i].part);
		a = run(text, 1, 0);
		assert_non_null(strstr(a.reported, cases[i].opened));
		assert_null(strstr(strstr(a.reported, " opened: ") + 1, " opened: "));
		assert_non_null(strstr(a.reported,
		    i == 0 ? "one of the two is at fault" : "one of the three"));
		assert_non_null(strstr(a.reported, ": only from tor"));
		assert_non_null(strstr(a.reported, " resolved: "));
		assert_int_equal(a.rows[SCORE_DEVICES].found, 1);
		assert_int_equal(a.rows[SCORE_DEVICES].wrong, 0);
		text_clear(&a);
	}
}

/* With three racks, one fault on each of the spine's links would explain the losses as
 * well. Replies cross the spine, too. */
static void
a_spine_that_loses_a_third_is_named_and_none_of_its_links(void **state)
{
	for (uint32_t i = 0; i < 8; i++) {
		struct text a =
		    run("name: a\nseconds: 24\nfabric: { racks: 3, middle: 2, "
			"rnics_per_rack: { from: 2, to: 4 } }\n"
			"noise: { loss: 1e-5 }\nfaults:\n"
			"  - { kind: switch-lossy, part: spine2, loss: 0.3, "
			"from_s: 8 }\n",
			3, i);

		assert_int_equal(a.rows[SCORE_DEVICES].found, 1);
		assert_null(strstr(a.reported, " opened: Link"));
		text_clear(&a);
	}
}

/* The opposite case: a cable that loses packets in both directions must not be taken
 * for its spine. */
static void
a_cable_that_loses_a_third_both_directions_is_named_and_not_its_spine(void **state)
{
	for (uint32_t i = 0; i < 8; i++) {
		struct text a =
		    run("name: a\nseconds: 24\nfabric: { racks: 3, middle: 2, "
			"rnics_per_rack: { from: 2, to: 4 } }\n"
			"noise: { loss: 1e-5 }\nfaults:\n"
			"  - { kind: link-lossy, part: tor1--spine2, way: both, "
			"loss: 0.3, from_s: 8 }\n",
			3, i);

		assert_int_equal(a.rows[SCORE_LINKS].found, 1);
		assert_int_equal(a.rows[SCORE_DEVICES].wrong, 0);
		text_clear(&a);
	}
}

static void
a_fabric_without_losses_names_no_part(void **state)
{
	struct text a = run("name: a\nseconds: 20\nnoise: { loss: 1e-5 }\n", 1, 0);

	assert_string_equal(a.reported, "");
	assert_true(a.probes > 5000);
	text_clear(&a);
}

static void
rails_of_a_host_are_in_racks_of_their_own(void **state)
{
	struct text a =
	    run("name: a\nseconds: 12\nfabric: { racks: 4, rnics_per_rack: 4, "
		"rnics_per_host: 4, rails: true }\nfaults:\n"
		"  - { kind: host-down, part: h2, from_s: 5 }\n",
		1, 0);

	assert_int_equal(a.rows[SCORE_HOSTS].found, 1);
	assert_int_equal(a.rows[SCORE_HOSTS].named, 1);
	assert_int_equal(a.rows[SCORE_RNICS].wrong, 0);
	text_clear(&a);
}

static void
a_scheme_judges_by_the_window_that_it_is_given(void **state)
{
	static const char text[] =
	    "name: a\nseconds: 20\nfabric: { racks: 4, middle: 2 }\nfaults:\n"
	    "  - { kind: link-down, part: tor1--spine1, from_s: 3 }\n";
	struct run_options options = { .seed = 1,
		.schemes = { { .type = &scheme_pll }, { .type = &scheme_pll } },
		.scheme_count = 2 };
	struct scenario *scenario = NULL;
	struct run_result result;
	struct rm_error error = { 0 };

	tuned_values(&scheme_pll, 0, options.schemes[0].values);
	tuned_values(&scheme_pll, 5, options.schemes[1].values);
	if (scenario_parse("s.yaml", text, strlen(text), &scenario, &error) < 0 ||
	    run_whole(scenario, &options, &result, &error) < 0)
		fail_msg("%s", error.text);
	/* The window of the first scheme is longer than the run. */
	assert_int_equal(score_row(result.schemes[0], SCORE_LINKS).named, 0);
	assert_int_equal(score_row(result.schemes[1], SCORE_LINKS).found, 1);
	run_result_clear(&result);
	scenario_free(scenario);
}

/* A port drops half of the flows. After a trace, agents continue to probe all flows of
 * each path over UDP, but only one flow of each path over RoCE: then the port drops too
 * few flows here.
 */
static void
over_udp_all_flows_are_probed_after_a_trace(void **state)
{
#define TWO_RNICS                                                                    \
	"name: a\nseconds: 25\nfabric: { racks: 3, middle: 2, rnics_per_rack: 2 }\n" \
	"faults:\n  - { kind: flows-blackholed, part: spine2--tor3, share: 0.5, "    \
	"way: one, from_s: 11 }\n"
	struct text udp = run(TWO_RNICS "probing: { verbs: false }\n", 1, 79),
		    roce = run(TWO_RNICS "probing: { verbs: true }\n", 1, 79),
		    usual = run(TWO_RNICS, 1, 79);

	assert_int_equal(udp.rows[SCORE_LINKS].found, 1);
	assert_int_equal(udp.rows[SCORE_LINKS].wrong, 0);
	assert_true(roce.lost < udp.lost);
	assert_int_equal(usual.lost, roce.lost);
	text_clear(&udp);
	text_clear(&roce);
	text_clear(&usual);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_repeats_byte_for_byte),
		cmocka_unit_test(another_seed_or_number_is_another_run),
		cmocka_unit_test(only_the_dead_rnic_is_named),
		cmocka_unit_test(agents_that_stutter_skip_no_probe_of_a_slow_target),
		cmocka_unit_test(a_late_part_is_reported_as_late),
		cmocka_unit_test(
		    an_rnic_that_loses_a_fifth_is_named_before_its_window_is_full),
		cmocka_unit_test(of_twelve_cables_of_a_rack_only_the_dead_one_is_named),
		cmocka_unit_test(a_spine_that_drops_whole_flows_is_one_incident),
		cmocka_unit_test(
		    a_spine_that_drops_packets_between_two_racks_is_named_with_them),
		cmocka_unit_test(
		    switches_that_a_pair_of_racks_crosses_together_are_reported_as_one_of_them),
		cmocka_unit_test(
		    a_spine_that_loses_a_third_is_named_and_none_of_its_links),
		cmocka_unit_test(
		    a_cable_that_loses_a_third_both_directions_is_named_and_not_its_spine),
		cmocka_unit_test(a_fabric_without_losses_names_no_part),
		cmocka_unit_test(rails_of_a_host_are_in_racks_of_their_own),
		cmocka_unit_test(a_scheme_judges_by_the_window_that_it_is_given),
		cmocka_unit_test(over_udp_all_flows_are_probed_after_a_trace),
	};

	return cmocka_run_group_tests_name("run", tests, NULL, NULL);
}
