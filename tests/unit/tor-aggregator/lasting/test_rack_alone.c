#include "tor-aggregator/lasting/rack_alone.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rackmesh/core/clock.h"
#include "tor-aggregator/lasting/rack_excuse.h"
#include "tor-aggregator/suspect/rack_evidence.h"
#include "tor-aggregator/window/rack_view.h"

static enum rack_flows
alike(void *arg, size_t member, int64_t window_ns)
{
	return RACK_FLOWS_ALIKE;
}

static enum rack_flows
not_alike(void *arg, size_t member, int64_t window_ns)
{
	return RACK_FLOWS_DIFFERENT;
}

/* Many flows share the probes: it takes this long to lose enough of them. */
static enum rack_flows
alike_after_half_a_minute(void *arg, size_t member, int64_t window_ns)
{
	return window_ns >= 30 * RM_NS_PER_S ? RACK_FLOWS_ALIKE : RACK_FLOWS_TOO_FEW;
}

static enum rack_flows
different_at_first(void *arg, size_t member, int64_t window_ns)
{
	return window_ns >= 30 * RM_NS_PER_S ? RACK_FLOWS_ALIKE : RACK_FLOWS_DIFFERENT;
}

/* The first `lossy` half-seconds lost some probes out of the rack. */
static struct rack_course
course_with(unsigned lossy, uint32_t lost)
{
	struct rack_course course = { 0 };

	for (unsigned i = 0; i < RACK_COURSE_HALVES; i++)
		course.halves[i] = (struct rack_half){ .sent = 100,
			.lost = 50 + (i < lossy ? lost : 0),
			.outside_sent = 50,
			.outside_lost = i < lossy ? lost : 0 };
	return course;
}

static void
an_rnic_is_alone_if_all_others_lose_everything_or_are_not_probed(void **state)
{
	struct rack_tally tallies[3] = {
		{ .sent = 300, .lost = 120, .outside_sent = 200 },
		{ .sent = 100, .lost = 100 },
		{ .sent = 0 },
	};

	(void)state;
	assert_true(rack_alone_is(tallies, 3, 0));
	assert_false(rack_alone_is(tallies, 3, 1));
	tallies[1].lost = 99;
	assert_false(rack_alone_is(tallies, 3, 0));
	tallies[1].lost = 100;
	tallies[0].outside_sent = 0;
	assert_false(rack_alone_is(tallies, 3, 0));
}

static void
losses_all_the_time_on_all_flows_are_reported(void **state)
{
	const struct rack rack = { .flows_lose_alike = alike };
	const struct rack others = { .flows_lose_alike = not_alike }, unknown = { 0 };
	const struct rack_course course = course_with(8, 5);

	(void)state;
	assert_true(rack_alone_loses(&rack, 0, &course, false));
	assert_false(rack_alone_loses(&others, 0, &course, false));
	assert_false(rack_alone_loses(&unknown, 0, &course, false));
}

static void
losses_spread_over_many_flows_are_compared_over_a_longer_time(void **state)
{
	const struct rack rack = { .flows_lose_alike = alike_after_half_a_minute };
	const struct rack_course course = course_with(8, 5);

	(void)state;
	assert_true(rack_alone_loses(&rack, 0, &course, false));
}

static void
flows_that_differ_now_are_not_compared_over_a_longer_time(void **state)
{
	const struct rack rack = { .flows_lose_alike = different_at_first };
	const struct rack_course course = course_with(8, 5);

	(void)state;
	assert_false(rack_alone_loses(&rack, 0, &course, false));
}

static void
few_losses_are_enough_only_if_the_rnic_is_named(void **state)
{
	const struct rack rack = { .flows_lose_alike = alike };
	const struct rack_course few = course_with(3, 5), none = course_with(0, 0);

	(void)state;
	assert_false(rack_alone_loses(&rack, 0, &few, false));
	assert_true(rack_alone_loses(&rack, 0, &few, true));
	assert_false(rack_alone_loses(&rack, 0, &none, true));
}

static void
an_outage_is_no_steady_loss(void **state)
{
	const struct rack rack = { .flows_lose_alike = alike };
	const struct rack_course outage = course_with(8, 50);

	(void)state;
	assert_false(rack_alone_loses(&rack, 0, &outage, false));
	assert_false(rack_alone_loses(&rack, 0, &outage, true));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    an_rnic_is_alone_if_all_others_lose_everything_or_are_not_probed),
		cmocka_unit_test(losses_all_the_time_on_all_flows_are_reported),
		cmocka_unit_test(
		    losses_spread_over_many_flows_are_compared_over_a_longer_time),
		cmocka_unit_test(
		    flows_that_differ_now_are_not_compared_over_a_longer_time),
		cmocka_unit_test(few_losses_are_enough_only_if_the_rnic_is_named),
		cmocka_unit_test(an_outage_is_no_steady_loss),
	};

	return cmocka_run_group_tests_name("rack_alone", tests, NULL, NULL);
}
