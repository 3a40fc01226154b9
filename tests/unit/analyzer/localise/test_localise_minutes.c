#include "analyzer/suspicion/localise_minutes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/paths/localise_map.h"

static const rm_mono_t now = { 100 * RM_NS_PER_S };
static const rm_wall_t end = { 5000 * RM_NS_PER_S };

struct seen { /* tor1 probes two racks over s1; the last minutes have just been judged
	       */
	struct localise_map map;
	struct localise_minutes minutes;
	struct localise_element *spine;
};

static void
report(struct seen *seen, const char *dst, uint64_t lost)
{
	char path[RM_NAME_BYTES];
	const struct wire_path_row row = { .dst_tor = dst,
		.path = path,
		.flows = 40,
		.sent = 100,
		.lost_forward = lost };
	struct localise_rack *rack;
	struct localise_path *route;

	snprintf(path, sizeof path, "tor1@10.0.0.1 s1@10.1.0.1 %s@10.2.0.1", dst);
	assert_int_equal(localise_map_rack(&seen->map, "tor1", &rack), 0);
	if (rack->frame == 0)
		localise_map_frame(rack, end, 0, now);
	assert_int_equal(localise_map_path(&seen->map, rack, &row, &route), 0);
	assert_int_equal(
	    localise_map_row(&seen->map, route, &row, RM_NS_PER_S, RM_NS_PER_S, now),
	    0);
	seen->spine = route->elements[2];
	assert_string_equal(seen->spine->a, "s1");
}

static int
setup(void **state)
{
	static struct seen seen;

	seen = (struct seen){ .map = { .row_interval_ns = 10 * RM_NS_PER_S } };
	localise_minutes_begin(&seen.minutes, now);
	*state = &seen;
	return 0;
}

static int
teardown(void **state)
{
	struct seen *seen = *state;

	localise_map_release(&seen->map);
	return 0;
}

static void
blame(struct seen *seen, enum rm_part_type type, const char *name, double gain)
{
	struct localise_finding finding = { .gain = gain, .part = { .type = type } };

	snprintf(finding.part.name, sizeof finding.part.name, "%s", name);
	localise_minutes_add(&seen->minutes, &finding);
}

/* True: parts that the judge of minutes blames explain the losses for which the judge
 * of seconds blames s1. loses_share: it blames s1 for a share of its packets, not all.
 */
static bool
is_explained(const struct seen *seen, bool loses_share, rm_mono_t at)
{
	struct localise_suspect spine = {
		.type = RM_PART_SWITCH, .elements = { seen->spine }, .element_count = 1
	};
	const struct localise_finding finding = { .suspect = &spine,
		.part = { .type = RM_PART_SWITCH, .name = "s1" },
		.loses_share = loses_share };

	return localise_minutes_explain(&seen->minutes, &seen->map, &finding, at);
}

static void
losses_for_which_minutes_blame_another_part_are_explained(void **state)
{
	report(*state, "tor2", 6);
	report(*state, "tor3", 1);
	assert_false(is_explained(*state, true, now));
	blame(*state, RM_PART_TOR, "tor2", 40);
	assert_true(is_explained(*state, true, now));
}

static void
losses_are_explained_only_if_most_are_the_other_parts(void **state)
{
	report(*state, "tor2", 5);
	report(*state, "tor3", 4);
	blame(*state, RM_PART_TOR, "tor2", 40);
	assert_false(is_explained(*state, true, now));
	blame(*state, RM_PART_LINK, "s1--tor3", 40);
	assert_true(is_explained(*state, true, now));
}

static void
a_part_that_minutes_blame_too_may_be_named(void **state)
{
	report(*state, "tor2", 6);
	blame(*state, RM_PART_TOR, "tor2", 40);
	blame(*state, RM_PART_SWITCH, "s1", 40);
	assert_false(is_explained(*state, true, now));
}

static void
a_part_that_loses_all_needs_no_minutes(void **state)
{
	report(*state, "tor2", 6);
	blame(*state, RM_PART_TOR, "tor2", 40);
	assert_false(is_explained(*state, false, now));
}

static void
weak_or_old_blame_does_not_count(void **state)
{
	struct seen *seen = *state;

	report(seen, "tor2", 6);
	blame(seen, RM_PART_TOR, "tor2", 3);
	assert_false(is_explained(seen, true, now));
	blame(seen, RM_PART_TOR, "tor2", 40);
	seen->minutes.judged.ns = now.ns - 20 * RM_NS_PER_S;
	assert_false(is_explained(seen, true, now));
	localise_minutes_begin(&seen->minutes, now);
	assert_false(is_explained(seen, true, now));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    losses_for_which_minutes_blame_another_part_are_explained, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(
		    losses_are_explained_only_if_most_are_the_other_parts, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(
		    a_part_that_minutes_blame_too_may_be_named, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    a_part_that_loses_all_needs_no_minutes, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    weak_or_old_blame_does_not_count, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
