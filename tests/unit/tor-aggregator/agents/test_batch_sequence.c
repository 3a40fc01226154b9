#include "tor-aggregator/agents/batch_sequence.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static int
setup(void **state)
{
	*state = batch_sequence_new();
	return *state == NULL ? -1 : 0;
}

static int
teardown(void **state)
{
	batch_sequence_free(*state);
	return 0;
}

static void
a_batch_sent_twice_counts_once(void **state)
{
	struct batch_sequence *sequence = *state;
	uint64_t gap = 0;

	assert_int_equal(
	    batch_sequence_batch(sequence, 7, 1, &gap), BATCH_SEQUENCE_RESTARTED);
	assert_int_equal(
	    batch_sequence_batch(sequence, 7, 2, &gap), BATCH_SEQUENCE_COUNT);
	assert_int_equal(
	    batch_sequence_batch(sequence, 7, 2, &gap), BATCH_SEQUENCE_DUPLICATE);
	assert_int_equal(
	    batch_sequence_batch(sequence, 7, 1, &gap), BATCH_SEQUENCE_DUPLICATE);
	assert_int_equal(gap, 0);
}

static void
missing_batches_are_counted_as_own_losses(void **state)
{
	struct batch_sequence *sequence = *state;
	uint64_t gap = 0;

	batch_sequence_batch(sequence, 7, 1, &gap);
	assert_int_equal(
	    batch_sequence_batch(sequence, 7, 5, &gap), BATCH_SEQUENCE_COUNT);
	assert_int_equal(gap, 3);
	assert_int_equal(
	    batch_sequence_batch(sequence, 7, 9, &gap), BATCH_SEQUENCE_COUNT);
	assert_int_equal(gap, 6);
}

static void
batches_acknowledged_before_a_restart_are_no_gap(void **state)
{
	uint64_t gap = 0;

	assert_int_equal(
	    batch_sequence_batch(*state, 7, 1000, &gap), BATCH_SEQUENCE_RESTARTED);
	assert_int_equal(gap, 0);
	assert_int_equal(batch_sequence_counted(*state, 7), 1000);
}

static void
a_restarted_agent_begins_a_new_sequence(void **state)
{
	struct batch_sequence *sequence = *state;
	uint64_t gap = 0;

	batch_sequence_batch(sequence, 7, 40, &gap);
	assert_int_equal(batch_sequence_counted(sequence, 8), 0);
	assert_int_equal(
	    batch_sequence_batch(sequence, 8, 3, &gap), BATCH_SEQUENCE_RESTARTED);
	assert_int_equal(gap, 2); /* the first two batches are missing */
	assert_int_equal(batch_sequence_counted(sequence, 8), 3);
	assert_int_equal(batch_sequence_counted(sequence, 7), 0);
}

static void
number_zero_is_never_counted(void **state)
{
	uint64_t gap = 0;

	assert_int_equal(
	    batch_sequence_batch(*state, 7, 0, &gap), BATCH_SEQUENCE_DUPLICATE);
	assert_int_equal(gap, 0);
	assert_int_equal(
	    batch_sequence_batch(*state, 7, 1, &gap), BATCH_SEQUENCE_RESTARTED);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_batch_sent_twice_counts_once),
		TEST(missing_batches_are_counted_as_own_losses),
		TEST(batches_acknowledged_before_a_restart_are_no_gap),
		TEST(a_restarted_agent_begins_a_new_sequence),
		TEST(number_zero_is_never_counted),
	};

	return cmocka_run_group_tests_name("session", tests, NULL, NULL);
}
