#include "tests/sim/scenario.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct scenario *
parse(const char *text)
{
	struct scenario *scenario = NULL;
	struct rm_error error = { 0 };

	if (scenario_parse("s.yaml", text, strlen(text), &scenario, &error) < 0)
		fail_msg("%s", error.text);
	return scenario;
}

static void
refused(const char *text, const char *expected)
{
	struct scenario *scenario = NULL;
	struct rm_error error = { 0 };

	assert_true(
	    scenario_parse("s.yaml", text, strlen(text), &scenario, &error) < 0);
	assert_null(scenario);
	if (strstr(error.text, expected) == NULL)
		fail_msg("expected \"%s\" in \"%s\"", expected, error.text);
}

static struct clos *
fabric(const struct scenario *scenario)
{
	struct dice dice = dice_of(1, 1);
	struct scenario_draw draw;
	struct clos *clos = NULL;

	scenario_draw(scenario, &dice, &draw);
	assert_int_equal(clos_new(&draw.fabric, &clos), 0);
	return clos;
}

static void
omitted_options_have_their_defaults(void **state)
{
	struct scenario *scenario = parse("name: a\n");
	struct dice dice = dice_of(1, 1);
	struct scenario_draw draw;

	scenario_draw(scenario, &dice, &draw);
	assert_true(draw.seconds == 12);
	assert_int_equal(draw.fabric.racks, 4);
	assert_int_equal(draw.fabric.tiers, 2);
	assert_true(draw.probing[PROBING_TOR_MESH_SIZE] == 10);
	assert_true(draw.noise[NOISE_LOSS] == 0);
	assert_int_equal(scenario->fault_count, 0);
	scenario_free(scenario);
}

static void
drawn_values_reach_both_ends_of_their_range_and_no_more(void **state)
{
	struct scenario *scenario =
	    parse("name: a\nfabric: { racks: { from: 2, to: 4 }, rails: { of: [true, "
		  "false] }, rnics_per_host: 2 }\nnoise: { loss: { from: 1e-6, to: "
		  "1e-4, log: true } }\n");
	struct dice dice = dice_of(1, 1);
	unsigned racks[5] = { 0 }, rails = 0, low = 0;

	for (int i = 0; i < 1000; i++) {
		struct scenario_draw draw;

		scenario_draw(scenario, &dice, &draw);
		assert_in_range(draw.fabric.racks, 2, 4);
		racks[draw.fabric.racks]++;
		rails += draw.fabric.rails;
		assert_true(
		    draw.noise[NOISE_LOSS] >= 1e-6 && draw.noise[NOISE_LOSS] <= 1e-4);
		low += draw.noise[NOISE_LOSS] < 1e-5;
	}
	assert_true(racks[2] > 250 && racks[3] > 250 && racks[4] > 250);
	assert_in_range(rails, 400, 600);
	assert_in_range(
	    low, 400, 600); /* half of them, since the value is drawn by logarithm */
	scenario_free(scenario);
}

static void
each_error_names_its_place_and_option(void **state)
{
	refused("name: a\nfabrik: {}\n", "s.yaml:2:1: a scenario has no option fabrik");
	refused("name: a\nfabric:\n  racks: none\n",
	    "s.yaml:3:10: racks: expected a number");
	refused("name: a\nfabric: { racks: 0 }\n", "racks: expected 1 to 10000");
	refused("name: a\nfabric: { racks: 2.5 }\n", "racks: expected a whole number");
	refused("name: a\nnoise: { loss: { from: 1e-4, to: 1e-6 } }\n", "from <= to");
	refused(
	    "name: a\nnoise: { loss: { from: 0, to: 1e-6, log: true } }\n", "from > 0");
	refused("name: a\nnoise: { loss: { of: [] } }\n", "loss: of: expected a list");
	refused("name: a\nnoise: { loss: { below: 1 } }\n", "loss has no option below");
	refused("seconds: 3\n", "name: expected a name");
	refused("name: a\nfaults: { kind: x }\n", "faults: expected a list");
	refused("name: a\nfaults:\n  - { kind: rnic-broken }\n",
	    "s.yaml:3:13: kind: expected one of rnic-down");
	refused(
	    "name: a\nfaults:\n  - { part: random }\n", "kind: a fault must have one");
	refused(
	    "name: a\nfaults:\n  - { kind: link-flap }\n", "flap: a link-flap must");
	refused("name: a\nfaults:\n  - { kind: rnic-down, way: up }\n",
	    "way: expected one of both");
	refused("", "s.yaml:1:1");
}

static void
a_part_that_the_fabric_does_not_have_is_refused(void **state)
{
	static const char *const texts[] = {
		"name: a\nfaults:\n  - { kind: link-down, part: spine9--tor1 }\n",
		"name: a\nfaults:\n  - { kind: rnic-down, part: tor1 }\n",
		"name: a\nfaults:\n  - { kind: tor-down, part: random, count: 5 }\n",
	};

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		struct scenario *scenario = parse(texts[i]);
		struct clos *clos = fabric(scenario);
		struct dice dice = dice_of(1, 2);
		struct fault *faults = NULL;
		struct rm_error error = { 0 };
		size_t count = 0;

		assert_true(scenario_faults(
				scenario, clos, &dice, &faults, &count, &error) < 0);
		assert_non_null(strstr(error.text, "s.yaml:3"));
		clos_free(clos);
		scenario_free(scenario);
	}
}

static void
each_fault_has_a_different_part_of_a_possible_type(void **state)
{
	struct scenario *scenario =
	    parse("name: a\nfaults:\n"
		  "  - { kind: link-down, part: random, count: 8, together: false }\n"
		  "  - { kind: link-lossy, part: random, count: 3, together: true }\n"
		  "  - { kind: switch-down, part: random, type: tor }\n"
		  "  - { kind: latency, part: h1/r0, latency_us: 7, from_s: 3, "
		  "lasts_s: 2 }\n");
	struct clos *clos = fabric(scenario);
	struct dice dice = dice_of(1, 2);
	struct fault *f = NULL;
	struct rm_error error;
	size_t count = 0;

	assert_int_equal(scenario_faults(scenario, clos, &dice, &f, &count, &error), 0);
	assert_int_equal(count, 13);
	for (size_t i = 0; i < 8; i++) {
		assert_int_equal(clos_part(clos, f[i].part)->type, CLOS_LINK);
		for (size_t k = 0; k < i; k++) {
			assert_int_not_equal(f[i].part, f[k].part);
			assert_int_not_equal(
			    f[i].part, clos_part(clos, f[k].part)->twin);
		}
	}
	assert_int_equal(
	    clos_part(clos, f[8].part)->from, clos_part(clos, f[9].part)->from);
	assert_int_equal(
	    clos_part(clos, f[8].part)->from, clos_part(clos, f[10].part)->from);
	assert_int_equal(clos_part(clos, f[11].part)->type, CLOS_TOR);
	assert_int_equal(f[12].part, clos_find(clos, "h1/r0"));
	assert_int_equal(f[12].latency_ns, 7000);
	assert_int_equal(f[12].from_ns, INT64_C(3000000000));
	assert_int_equal(f[12].to_ns, INT64_C(5000000000));
	assert_int_equal(f[0].to_ns, INT64_MAX);
	free(f);
	clos_free(clos);
	scenario_free(scenario);
}

/* In 100 runs with four dead links each: the sum, over the runs, of the dead links at
 * the ToR or spine that has most of them. */
static unsigned
links_of_the_worst(const char *placement)
{
	char text[256];
	struct scenario *scenario;
	struct clos *clos;
	unsigned sum = 0;

	snprintf(text, sizeof text,
	    "name: a\nfabric: { racks: 40, middle: 20 }\nfaults:\n"
	    "  - { kind: link-down, part: random, count: 4%s }\n",
	    placement);
	scenario = parse(text);
	clos = fabric(scenario);
	for (uint64_t run = 0; run < 100; run++) {
		struct dice dice = dice_of(run, 2);
		unsigned *of = calloc(clos_parts(clos), sizeof *of), most = 0;
		struct fault *f = NULL;
		struct rm_error error;
		size_t count = 0;

		assert_int_equal(
		    scenario_faults(scenario, clos, &dice, &f, &count, &error), 0);
		for (size_t i = 0; i < count; i++) {
			const struct clos_part *part = clos_part(clos, f[i].part);

			of[part->from]++;
			of[part->to]++;
		}
		for (uint32_t i = 0; i < clos_parts(clos); i++)
			most = of[i] > most ? of[i] : most;
		sum += most;
		free(of);
		free(f);
	}
	clos_free(clos);
	scenario_free(scenario);
	return sum;
}

static void
skewed_faults_gather_at_the_same_few_switches(void **state)
{
	const unsigned even = links_of_the_worst("");

	assert_in_range(even, 100, 160);
	assert_in_range(links_of_the_worst(", skew: 1, skew_to: 0.01"), 220, 400);
	assert_in_range(links_of_the_worst(", skew: 0.5"), even + 10, 220);
	/* With a skew to all parts, the faults are spread as without skew. */
	assert_in_range(links_of_the_worst(", skew: 1, skew_to: 1"), 100, 160);
}

static void
skewed_faults_use_other_parts_when_the_unlucky_ones_are_used_up(void **state)
{
	struct scenario *scenario = parse(
	    "name: a\nfabric: { racks: 3, middle: 1, rnics_per_rack: 2 }\nfaults:\n"
	    "  - { kind: rnic-down, part: random, count: 6, skew: 1 }\n"
	    "  - { kind: host-down, part: random, skew: 1 }\n"
	    "  - { kind: switch-down, part: random, type: tor, skew: 1 }\n");
	struct clos *clos = fabric(scenario);
	struct dice dice = dice_of(1, 2);
	struct fault *f = NULL;
	struct rm_error error;
	size_t count = 0;

	assert_int_equal(scenario_faults(scenario, clos, &dice, &f, &count, &error), 0);
	assert_int_equal(count, 8);
	/* The same rack is chosen for all faults of a run. */
	assert_int_equal(clos_part(clos, f[0].part)->to, f[7].part);
	assert_int_equal(clos_part(clos, f[1].part)->to, f[7].part);
	free(f);
	clos_free(clos);
	scenario_free(scenario);
}

#define DRAWS 40

/* A fabric that a few draws have may be too small for the faults. */
static void
draw_often(const struct scenario *scenario)
{
	for (uint64_t n = 0; n < DRAWS; n++) {
		struct dice dice = dice_of(1, n);
		struct scenario_draw draw;
		struct clos *clos = NULL;
		struct fault *faults = NULL;
		struct rm_error error = { 0 };
		size_t count = 0;

		scenario_draw(scenario, &dice, &draw);
		assert_int_equal(clos_new(&draw.fabric, &clos), 0);
		if (scenario_faults(scenario, clos, &dice, &faults, &count, &error) < 0)
			fail_msg("%s", error.text);
		free(faults);
		clos_free(clos);
	}
}

/* Draws the fabrics and the faults of every file; it runs no scenario, since some take
 * long. Returns the number of files. */
static size_t
draw_all_of(const char *pattern, char (*names)[RM_NAME_BYTES], size_t room)
{
	glob_t files;
	size_t found;

	assert_int_equal(glob(pattern, 0, NULL, &files), 0);
	assert_true(files.gl_pathc <= room);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		struct scenario *scenario = NULL;
		struct rm_error error = { 0 };

		if (scenario_load(files.gl_pathv[i], &scenario, &error) < 0)
			fail_msg("%s", error.text);
		draw_often(scenario);
		snprintf(names[i], RM_NAME_BYTES, "%s", scenario->name);
		scenario_free(scenario);
	}
	found = files.gl_pathc;
	globfree(&files);
	return found;
}

static void
every_family_can_be_drawn_and_has_a_name_of_its_own(void **state)
{
	static char names[256][RM_NAME_BYTES];
	size_t count = draw_all_of(SIM_FAMILIES "/development/*.yaml", names, 128);

	count += draw_all_of(SIM_FAMILIES "/evaluation/*.yaml", names + count, 128);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(names[i], names[k]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(omitted_options_have_their_defaults),
		cmocka_unit_test(
		    drawn_values_reach_both_ends_of_their_range_and_no_more),
		cmocka_unit_test(each_error_names_its_place_and_option),
		cmocka_unit_test(a_part_that_the_fabric_does_not_have_is_refused),
		cmocka_unit_test(each_fault_has_a_different_part_of_a_possible_type),
		cmocka_unit_test(skewed_faults_gather_at_the_same_few_switches),
		cmocka_unit_test(
		    skewed_faults_use_other_parts_when_the_unlucky_ones_are_used_up),
		cmocka_unit_test(every_family_can_be_drawn_and_has_a_name_of_its_own),
	};

	return cmocka_run_group_tests_name("scenario", tests, NULL, NULL);
}
