#include "rackmesh/judge/recurrence.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static rm_mono_t
s(int64_t t)
{
	return (rm_mono_t){ (1000 + t) * RM_NS_PER_S };
}

/* `times` link-downs, `every` seconds apart. Returns the time of the last one. */
static int64_t
fall(struct rm_recurrence *flaps, int64_t from, int64_t every, int times)
{
	for (int i = 0; i < times; i++)
		rm_recurrence_note(flaps, s(from + i * every), 1, false);
	return from + (times - 1) * every;
}

static void
two_link_downs_are_not_flapping_and_three_are(void **state)
{
	struct rm_recurrence flaps = { 0 };

	(void)state;
	fall(&flaps, 0, 900, 2);
	assert_false(flaps.flaps);
	assert_true(rm_recurrence_note(&flaps, s(1800), 1, false));
	assert_int_equal(flaps.falls, 3);
	assert_int_equal(flaps.since.ns, s(0).ns);
	flaps = (struct rm_recurrence){ 0 };
	fall(&flaps, 0, 901, 20);
	assert_false(flaps.flaps);
}

static void
flapping_ends_after_three_times_the_longest_gap(void **state)
{
	struct rm_recurrence flaps = { 0 };
	int64_t last;

	(void)state;
	last = fall(&flaps, 0, 60, 4);
	assert_true(rm_recurrence_note(&flaps, s(last + 179), 0, false));
	assert_false(rm_recurrence_note(&flaps, s(last + 180), 0, false));
	/* The gaps are forgotten then, too. */
	last = fall(&flaps, last + 181, 60, 2);
	assert_false(flaps.flaps);
	/* Fast flapping ends after 15 s at the earliest, slow flapping after an hour at
	 * the latest. */
	flaps = (struct rm_recurrence){ 0 };
	last = fall(&flaps, 0, 1, 10);
	assert_true(rm_recurrence_note(&flaps, s(last + 14), 0, false));
	assert_false(rm_recurrence_note(&flaps, s(last + 15), 0, false));
	flaps = (struct rm_recurrence){ 0 };
	last = fall(&flaps, fall(&flaps, 0, 900, 3) + 2000, 2000, 3);
	assert_int_equal(flaps.falls, 6);
	assert_true(rm_recurrence_note(&flaps, s(last + 3599), 0, false));
	assert_false(rm_recurrence_note(&flaps, s(last + 3600), 0, false));
}

static void
flapping_does_not_end_while_the_port_is_down(void **state)
{
	struct rm_recurrence flaps = { 0 };
	const int64_t last = fall(&flaps, 0, 2, 5);

	(void)state;
	assert_true(rm_recurrence_note(&flaps, s(last + 5000), 0, true));
}

/* One that was down for hours between two link-downs, too. */
static void
a_saved_state_is_usable_after_a_restart(void **state)
{
	struct rm_recurrence flaps = { 0 }, restored;
	json_t *saved;

	(void)state;
	fall(&flaps, fall(&flaps, 0, 60, 4) + 9000, 60, 2);
	saved =
	    rm_recurrence_save(&flaps, s(9300), (rm_wall_t){ 100000 * RM_NS_PER_S });
	assert_null(rm_recurrence_restore(
	    saved, s(10), (rm_wall_t){ 100001 * RM_NS_PER_S }, &restored));
	json_decref(saved);
	assert_true(restored.flaps);
	assert_int_equal(restored.falls, 6);
	assert_int_equal(
	    rm_mono_since(s(10), restored.at[0]), rm_mono_since(s(9301), flaps.at[0]));
	assert_int_equal(restored.longest_ns, RM_RECURRENCE_QUIET_MAX_NS);
	assert_int_equal(restored.up_since.ns, s(10).ns);
}

static const char *
restore(const char *since, const char *longest, struct rm_recurrence *ret)
{
	char text[256];
	const char *wrong;
	json_t *saved;

	snprintf(text, sizeof text,
	    "{\"flapping\":true,\"falls\":3,\"since_ns\":%s,\"last_ns\":9,"
	    "\"before_ns\":8,\"longest_ns\":%s}",
	    since, longest);
	saved = json_loads(text, 0, NULL);
	assert_non_null(saved);
	wrong = rm_recurrence_restore(saved, s(0), (rm_wall_t){ 10 }, ret);
	json_decref(saved);
	return wrong;
}

/* Earlier releases saved it like this. */
static void
a_saved_gap_that_is_too_long_is_shortened(void **state)
{
	struct rm_recurrence flaps;

	(void)state;
	assert_null(restore("5", "9000000000000", &flaps));
	assert_int_equal(flaps.longest_ns, RM_RECURRENCE_QUIET_MAX_NS);
	assert_null(restore("5", "7", &flaps));
	assert_int_equal(flaps.longest_ns, 7);
	assert_string_equal(restore("5", "-1", &flaps), "longest_ns");
}

static void
saved_flapping_without_a_begin_is_refused(void **state)
{
	struct rm_recurrence flaps;

	(void)state;
	assert_string_equal(restore("0", "7", &flaps), "since_ns");
}

static void
link_downs_between_two_calls_are_counted(void **state)
{
	struct rm_recurrence flaps = { 0 };

	(void)state;
	rm_recurrence_note(&flaps, s(0), 2, false);
	assert_false(flaps.flaps);
	rm_recurrence_note(&flaps, s(1), 4, false);
	assert_true(flaps.flaps);
	assert_int_equal(flaps.falls, 6);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_link_downs_are_not_flapping_and_three_are),
		cmocka_unit_test(flapping_ends_after_three_times_the_longest_gap),
		cmocka_unit_test(flapping_does_not_end_while_the_port_is_down),
		cmocka_unit_test(a_saved_state_is_usable_after_a_restart),
		cmocka_unit_test(a_saved_gap_that_is_too_long_is_shortened),
		cmocka_unit_test(saved_flapping_without_a_begin_is_refused),
		cmocka_unit_test(link_downs_between_two_calls_are_counted),
	};

	return cmocka_run_group_tests_name("recurrence", tests, NULL, NULL);
}
