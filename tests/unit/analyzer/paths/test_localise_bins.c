/* The bins of minutes of a path after the fault of one of its parts, or of a part of
 * its pair, has ended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyzer/paths/localise_bins.h"

static struct localise_map map;
static struct localise_element ends[2];

static int
make_path(void **state)
{
	struct localise_path *path =
	    calloc(1, sizeof *path + 2 * sizeof *path->elements);

	map = (struct localise_map){ 0 };
	if (path == NULL)
		return -1;
	path->element_count = 2;
	path->elements[0] = &ends[0];
	path->elements[1] = &ends[1];
	*state = path;
	return 0;
}

static int
free_path(void **state)
{
	free(*state);
	return 0;
}

static rm_mono_t
at_slot(int slot)
{
	return (rm_mono_t){ (1000 + slot) * LOCALISE_SLOT_NS + LOCALISE_SLOT_NS / 2 };
}

static void
add(struct localise_path *path, int slot, unsigned forward, unsigned reverse)
{
	const struct wire_path_row row = {
		.sent = 10, .lost_forward = forward, .lost_reverse = reverse
	};
	const rm_mono_t now = at_slot(slot);

	localise_bins_note(
	    path, forward + reverse > 0, RM_NS_PER_S, path->lossy_at, now);
	localise_bins_add(&map, path, &row, now);
	if (forward + reverse > 0)
		path->lossy_at = now;
}

static void
losses_of_probes_outlast_forgotten_losses_of_replies(void **state)
{
	struct localise_path *path = *state;
	struct localise_sum sum = { 0 };

	add(path, 0, 1, 1);
	add(path, 1, 0, 1);
	localise_bins_forget_replies_until(path, at_slot(1));
	localise_path_slow(&map, path, at_slot(2), &sum);
	assert_int_equal(sum.forward, 1);
	assert_int_equal(sum.reverse, 0);
	assert_int_equal(sum.lossy_slots, 1 << 2);
}

static void
replies_that_were_lost_later_are_kept(void **state)
{
	struct localise_path *path = *state;
	struct localise_sum sum = { 0 };

	add(path, 0, 0, 1);
	add(path, 20, 0, 1);
	localise_bins_forget_replies_until(path, at_slot(0));
	localise_path_slow(&map, path, at_slot(20), &sum);
	assert_int_equal(sum.reverse, 1);
}

static void
slots_without_rows_or_with_losses_are_not_clean(void **state)
{
	struct localise_path *path = *state;

	add(path, 0, 0, 0);
	add(path, 2, 0, 0);
	/* Sudden losses are noted, but not added. */
	localise_bins_note(path, true, RM_NS_PER_S, path->lossy_at, at_slot(3));
	path->lossy_at = at_slot(3);
	localise_bins_note(path, false, RM_NS_PER_S, path->lossy_at, at_slot(3));
	add(path, 4, 0, 0);
	assert_int_equal(
	    localise_bins_clean_slots(path, at_slot(5)), 1 << 5 | 1 << 3 | 1 << 1);
}

static void
a_row_of_a_rack_without_losses_covers_the_slots_before_it(void **state)
{
	struct localise_path *path = *state;

	add(path, 0, 1, 0);
	localise_bins_note(
	    path, false, 5 * LOCALISE_SLOT_NS, path->lossy_at, at_slot(3));
	assert_int_equal(localise_bins_clean_slots(path, at_slot(3)), 7);
}

#define PATH_TEST(name) cmocka_unit_test_setup_teardown(name, make_path, free_path)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		PATH_TEST(losses_of_probes_outlast_forgotten_losses_of_replies),
		PATH_TEST(replies_that_were_lost_later_are_kept),
		PATH_TEST(slots_without_rows_or_with_losses_are_not_clean),
		PATH_TEST(a_row_of_a_rack_without_losses_covers_the_slots_before_it),
	};

	return cmocka_run_group_tests_name("localise_bins", tests, NULL, NULL);
}
