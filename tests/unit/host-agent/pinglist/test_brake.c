#include "host-agent/pinglist/brake.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void
reported(struct brake *brake, size_t aggregator, uint64_t version, uint32_t permille)
{
	struct wire_brake report = { version, permille };

	brake_take(brake, aggregator, &report);
}

static void
expect(const struct brake *brake, uint64_t version, uint32_t permille)
{
	struct wire_brake now = brake_now(brake);

	assert_int_equal(now.version, version);
	assert_int_equal(now.rate_permille, permille);
}

static void
without_a_received_brake_probing_is_not_slowed(void **state)
{
	struct brake brake = { 0 };

	expect(&brake, 0, BRAKE_NONE);
	reported(&brake, 0, 0, BRAKE_NONE);
	expect(&brake, 0, BRAKE_NONE);
}

static void
the_newest_version_counts_and_among_equals_the_lowest_rate(void **state)
{
	struct brake brake = { 0 };

	reported(&brake, 0, 5, 500);
	reported(&brake, 1, 5, 250);
	expect(&brake, 5, 250);
	reported(&brake, 0, 6, BRAKE_NONE);
	expect(&brake, 6, BRAKE_NONE); /* the other aggregator is silent or behind */
	reported(&brake, 1, 7, 0);
	expect(&brake, 7, 0);
}

static void
an_older_version_changes_nothing_within_a_session(void **state)
{
	struct brake brake = { 0 };

	brake_session(&brake, 0);
	reported(&brake, 0, 5, 0);
	reported(&brake, 0, 4, BRAKE_NONE);
	expect(&brake, 5, 0);
	/* After a reconnect the aggregator's version counts, even if its numbers
	 * restarted. */
	brake_session(&brake, 0);
	expect(&brake, 5, 0);
	reported(&brake, 0, 1, 300);
	expect(&brake, 1, 300);
}

static void
a_rate_above_the_maximum_is_the_maximum(void **state)
{
	struct brake brake = { 0 };

	reported(&brake, 0, 1, UINT32_MAX);
	expect(&brake, 1, BRAKE_NONE);
	reported(&brake, BRAKE_MAX_AGGREGATORS, 2, 0);
	brake_session(&brake, BRAKE_MAX_AGGREGATORS);
	expect(&brake, 1, BRAKE_NONE);
}

static void
the_saved_brake_is_used_until_an_aggregator_sends_one(void **state)
{
	const struct wire_brake last = { 9, 0 };
	struct brake brake = { 0 };
	uint8_t file[BRAKE_FILE_BYTES];

	brake_seal(&last, file);
	assert_int_equal(brake_open(&brake, file, sizeof(file)), 0);
	expect(&brake, 9, 0);
	/* The aggregator has no controller: no change. */
	reported(&brake, 0, 0, BRAKE_NONE);
	expect(&brake, 9, 0);
	reported(&brake, 0, 3, 700);
	expect(&brake, 3, 700);
}

static void
a_damaged_file_is_refused(void **state)
{
	static const uint8_t golden[BRAKE_FILE_BYTES] = { 'R', 'M', 'B', 'R', 0, 0, 0,
		1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 250, 0xc6, 0x9a, 0x4d, 0x7e };
	const struct wire_brake last = { 9, 250 };
	struct brake brake = { 0 };
	uint8_t file[BRAKE_FILE_BYTES];

	brake_seal(&last, file);
	assert_memory_equal(file, golden, sizeof(file));
	for (size_t bit = 0; bit < 8 * sizeof(file); bit++) {
		file[bit / 8] ^= 1u << (bit % 8);
		assert_int_equal(brake_open(&brake, file, sizeof(file)), -EBADMSG);
		file[bit / 8] ^= 1u << (bit % 8);
	}
	assert_int_equal(brake_open(&brake, file, sizeof(file) - 1), -EBADMSG);
	assert_int_equal(brake.kept.version, 0);
	brake_seal(&(struct wire_brake){ 9, BRAKE_NONE + 1 }, file);
	assert_int_equal(brake_open(&brake, file, sizeof(file)), -EBADMSG);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_received_brake_probing_is_not_slowed),
		cmocka_unit_test(
		    the_newest_version_counts_and_among_equals_the_lowest_rate),
		cmocka_unit_test(an_older_version_changes_nothing_within_a_session),
		cmocka_unit_test(a_rate_above_the_maximum_is_the_maximum),
		cmocka_unit_test(the_saved_brake_is_used_until_an_aggregator_sends_one),
		cmocka_unit_test(a_damaged_file_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
