#include "host-agent/report/counter_backlog.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/failing_malloc.h"

#define S ((uint64_t)RM_NS_PER_S)

static rm_mono_t now;

static int
setup(void **state)
{
	*state = counter_backlog_new();
	return *state == NULL ? -1 : 0;
}

static int
teardown(void **state)
{
	counter_backlog_free(*state);
	return 0;
}

/* Adds a report on one RNIC. */
static void
miss(struct counter_backlog *backlog, uint64_t guid, uint64_t interval_ns,
    const struct wire_counter_value *values, size_t count)
{
	const struct wire_rnic_counters rnic = { .id = { guid, 1 },
		.interval_ns = interval_ns,
		.values = values,
		.value_count = count };
	const struct wire_counter_report report = { .rnics = &rnic, .rnic_count = 1 };

	counter_backlog_add(backlog, &report, now);
}

/* Sends a report on one RNIC. */
static void
send_report(struct counter_backlog *backlog, uint64_t guid, uint64_t interval_ns,
    const struct wire_counter_value *values, size_t count, uint64_t next_seq)
{
	const struct wire_rnic_counters rnic = { .id = { guid, 1 },
		.interval_ns = interval_ns,
		.values = values,
		.value_count = count };
	const struct wire_counter_report report = { .rnics = &rnic, .rnic_count = 1 };

	counter_backlog_sent(backlog, &report, next_seq, now);
}

static uint64_t
value_of(const struct wire_rnic_counters *rnic, unsigned counter, unsigned index)
{
	for (size_t i = 0; i < rnic->value_count; i++)
		if (rnic->values[i].counter == counter &&
		    rnic->values[i].index == index)
			return rnic->values[i].value;
	fail_msg("no counter %u of %u", counter, index);
	return 0;
}

static void
increases_are_added_and_gauges_are_the_newest(void **state)
{
	const struct wire_counter_value first[] = {
		{ .counter = WIRE_COUNTER_LINK_DOWN, .value = 1 },
		{ .counter = WIRE_COUNTER_PFC_RX_FRAMES, .index = 3, .value = 10 },
		{ .counter = WIRE_COUNTER_PORT_RATE_MBPS, .value = 400000 },
	};
	const struct wire_counter_value second[] = {
		{ .counter = WIRE_COUNTER_PFC_RX_FRAMES, .index = 3, .value = 5 },
		{ .counter = WIRE_COUNTER_PFC_RX_FRAMES, .index = 4, .value = 2 },
		{ .counter = WIRE_COUNTER_PORT_RATE_MBPS, .value = 200000 },
		{ .counter = WIRE_COUNTER_CNP_TX, .value = UINT64_MAX },
	};
	struct counter_backlog *backlog = *state;
	struct wire_rnic_counters rnics[WIRE_MAX_HOST_RNICS];
	struct wire_counter_report report;

	assert_true(counter_backlog_is_empty(backlog));
	miss(backlog, 7, 5 * S, first, 3);
	miss(backlog, 8, 5 * S, first, 1);
	miss(backlog, 7, 6 * S, second, 4);
	miss(backlog, 7, 5 * S, second + 3, 1);
	assert_false(counter_backlog_is_empty(backlog));
	report = counter_backlog_report(backlog, rnics);
	assert_int_equal(report.rnic_count, 2);
	assert_int_equal(rnics[0].id.guid, 7);
	assert_int_equal(rnics[0].interval_ns, 16 * S);
	assert_int_equal(rnics[0].value_count, 5);
	assert_int_equal(value_of(&rnics[0], WIRE_COUNTER_LINK_DOWN, 0), 1);
	assert_int_equal(value_of(&rnics[0], WIRE_COUNTER_PFC_RX_FRAMES, 3), 15);
	assert_int_equal(value_of(&rnics[0], WIRE_COUNTER_PFC_RX_FRAMES, 4), 2);
	assert_int_equal(value_of(&rnics[0], WIRE_COUNTER_PORT_RATE_MBPS, 0), 200000);
	assert_int_equal(value_of(&rnics[0], WIRE_COUNTER_CNP_TX, 0), UINT64_MAX);
	assert_int_equal(rnics[1].id.guid, 8);
	assert_int_equal(rnics[1].interval_ns, 5 * S);
	counter_backlog_sent(backlog, &report, 1, now);
	assert_true(counter_backlog_is_empty(backlog));
}

static void
an_rnic_without_reports_for_a_long_time_is_left_out(void **state)
{
	const struct wire_counter_value flap = { .counter = WIRE_COUNTER_LINK_DOWN,
		.value = 1 };
	struct counter_backlog *backlog = *state;
	struct wire_rnic_counters rnics[WIRE_MAX_HOST_RNICS];
	struct wire_counter_report report;

	miss(backlog, 7, 5 * S, &flap, 1);
	now = rm_mono_add(now, COUNTER_BACKLOG_NS);
	miss(backlog, 8, 5 * S, &flap, 1);
	assert_int_equal(counter_backlog_report(backlog, rnics).rnic_count, 2);
	now = rm_mono_add(now, 1);
	miss(backlog, 8, 5 * S, &flap, 1);
	report = counter_backlog_report(backlog, rnics);
	assert_int_equal(report.rnic_count, 1);
	assert_int_equal(rnics[0].id.guid, 8);
	assert_int_equal(value_of(&rnics[0], WIRE_COUNTER_LINK_DOWN, 0), 2);
}

static void
after_a_long_time_the_sum_starts_again(void **state)
{
	const struct wire_counter_value flap = { .counter = WIRE_COUNTER_LINK_DOWN,
		.value = 1 };
	struct counter_backlog *backlog = *state;
	struct wire_rnic_counters rnics[WIRE_MAX_HOST_RNICS];

	for (int i = 0; i < 12; i++)
		miss(backlog, 7, 5 * S, &flap, 1);
	counter_backlog_report(backlog, rnics);
	assert_int_equal(rnics[0].interval_ns, 60 * S);
	assert_int_equal(value_of(&rnics[0], WIRE_COUNTER_LINK_DOWN, 0), 12);
	miss(backlog, 7, 5 * S, &flap, 1);
	counter_backlog_report(backlog, rnics);
	assert_int_equal(rnics[0].interval_ns, 5 * S);
	assert_int_equal(value_of(&rnics[0], WIRE_COUNTER_LINK_DOWN, 0), 1);
	miss(backlog, 7, UINT64_MAX, &flap, 1);
	counter_backlog_report(backlog, rnics);
	assert_int_equal(value_of(&rnics[0], WIRE_COUNTER_LINK_DOWN, 0), 1);
}

static void
a_gauge_of_a_report_that_may_not_have_arrived_is_older(void **state)
{
	const struct wire_counter_value older[] = {
		{ .counter = WIRE_COUNTER_LINK_DOWN, .value = 1 },
		{ .counter = WIRE_COUNTER_PORT_RATE_MBPS, .value = 400000 },
	};
	const struct wire_counter_value newer[] = {
		{ .counter = WIRE_COUNTER_LINK_DOWN, .value = 2 },
		{ .counter = WIRE_COUNTER_PORT_RATE_MBPS, .value = 200000 },
	};
	struct counter_backlog *backlog = *state;
	struct wire_rnic_counters rnics[WIRE_MAX_HOST_RNICS];

	send_report(backlog, 7, 5 * S, older, 2, 10);
	counter_backlog_counted(backlog, 9); /* sent before the report */
	miss(backlog, 7, 6 * S, newer, 2);
	counter_backlog_begin(backlog, 9, now);
	assert_int_equal(counter_backlog_report(backlog, rnics).rnic_count, 1);
	assert_int_equal(rnics[0].interval_ns, 11 * S);
	assert_int_equal(value_of(&rnics[0], WIRE_COUNTER_LINK_DOWN, 0), 3);
	assert_int_equal(value_of(&rnics[0], WIRE_COUNTER_PORT_RATE_MBPS, 0), 200000);
}

static void
a_report_that_the_peer_has_is_not_missed(void **state)
{
	const struct wire_counter_value flap = { .counter = WIRE_COUNTER_LINK_DOWN,
		.value = 1 };
	struct counter_backlog *backlog = *state;

	send_report(backlog, 7, 5 * S, &flap, 1, 10);
	counter_backlog_counted(backlog, 10);
	counter_backlog_begin(backlog, 0, now);
	assert_true(counter_backlog_is_empty(backlog));
	send_report(backlog, 7, 5 * S, &flap, 1, 11);
	counter_backlog_delivered(backlog);
	counter_backlog_begin(backlog, 0, now);
	assert_true(counter_backlog_is_empty(backlog));
	send_report(backlog, 7, 5 * S, &flap, 1, 12);
	counter_backlog_begin(backlog, 12, now);
	assert_true(counter_backlog_is_empty(backlog));
}

static void
a_report_like_the_one_before_allocates_nothing(void **state)
{
	const struct wire_counter_value values[] = {
		{ .counter = WIRE_COUNTER_LINK_DOWN, .value = 1 },
		{ .counter = WIRE_COUNTER_PORT_RATE_MBPS, .value = 400000 },
	};
	struct counter_backlog *backlog = *state;

	for (uint64_t turn = 0; turn < 3; turn++) {
		if (turn > 0)
			failing_malloc_arm(1);
		for (uint64_t guid = 1; guid <= 8; guid++)
			send_report(backlog, guid, S, values, 2, turn);
		counter_backlog_counted(backlog, turn);
		if (turn > 0)
			assert_true(failing_malloc_disarm());
	}
}

static void
rnics_and_values_beyond_the_limits_are_left_out(void **state)
{
	struct wire_counter_value *values =
	    calloc(WIRE_MAX_COUNTER_VALUES + 1, sizeof(*values));
	struct counter_backlog *backlog = *state;
	struct wire_rnic_counters rnics[WIRE_MAX_HOST_RNICS];
	struct wire_counter_report report;

	for (unsigned i = 0; i <= WIRE_MAX_COUNTER_VALUES; i++)
		values[i] = (struct wire_counter_value){ .counter = (uint16_t)(1 + i),
			.value = 1 };
	for (uint64_t guid = 1; guid <= WIRE_MAX_HOST_RNICS + 1; guid++)
		miss(backlog, guid, S, values,
		    guid == 1 ? WIRE_MAX_COUNTER_VALUES + 1 : 1);
	report = counter_backlog_report(backlog, rnics);
	assert_int_equal(report.rnic_count, WIRE_MAX_HOST_RNICS);
	assert_int_equal(rnics[0].value_count, WIRE_MAX_COUNTER_VALUES);
	free(values);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(increases_are_added_and_gauges_are_the_newest),
		TEST(an_rnic_without_reports_for_a_long_time_is_left_out),
		TEST(after_a_long_time_the_sum_starts_again),
		TEST(a_gauge_of_a_report_that_may_not_have_arrived_is_older),
		TEST(a_report_that_the_peer_has_is_not_missed),
		TEST(a_report_like_the_one_before_allocates_nothing),
		TEST(rnics_and_values_beyond_the_limits_are_left_out),
	};

	return cmocka_run_group_tests_name("counter_backlog", tests, NULL, NULL);
}
