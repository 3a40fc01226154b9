#include "rackmesh/judge/recurrence.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
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
		cmocka_unit_test(link_downs_between_two_calls_are_counted),
	};

	return cmocka_run_group_tests_name("recurrence", tests, NULL, NULL);
}
