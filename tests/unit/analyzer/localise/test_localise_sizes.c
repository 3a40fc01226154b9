#include "analyzer/suspicion/localise_sizes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static bool
large_alone(double large_lost, double large_sent, double small_lost, double small_sent)
{
	const struct localise_sizes sizes = { large_sent, large_lost, small_sent,
		small_lost, 4172 };

	return localise_sizes_large_alone(&sizes, false);
}

static void
losses_of_mostly_large_probes_are_recognized(void **state)
{
	assert_true(large_alone(64, 64, 0, 28));
	assert_true(large_alone(40, 64, 1, 28)); /* the fault began between them */
	assert_false(large_alone(20, 64, 0, 28));
	assert_false(large_alone(64, 64, 28, 28)); /* dead */
	assert_false(large_alone(30, 60, 30, 60)); /* drops every second flow */
	assert_false(large_alone(64, 64, 0, 0));   /* no small probe was sent */
	assert_false(large_alone(0, 0, 0, 28));
}

static void
fewer_losses_keep_a_size_that_was_found(void **state)
{
	const struct localise_sizes few = { 3, 3, 2, 0, 4172 };
	const struct localise_sizes against = { 3, 3, 2, 1, 4172 };

	assert_false(localise_sizes_large_alone(&few, false));
	assert_true(localise_sizes_large_alone(&few, true));
	assert_false(localise_sizes_large_alone(&against, true));
}

static void
the_sentence_has_the_lost_sizes(void **state)
{
	const struct localise_sizes sizes = { 64, 60, 28, 0, 4172 };
	char observed[RM_EVIDENCE_TEXT] = "both ways";

	localise_sizes_report(&sizes, observed);
	assert_string_equal(observed,
	    "both ways; only large packets are lost, as with an MTU that is too small: "
	    "60 of 64 of 4172 bytes or more, 0 of 28 smaller ones");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(losses_of_mostly_large_probes_are_recognized),
		cmocka_unit_test(fewer_losses_keep_a_size_that_was_found),
		cmocka_unit_test(the_sentence_has_the_lost_sizes),
	};

	return cmocka_run_group_tests_name("localise_sizes", tests, NULL, NULL);
}
