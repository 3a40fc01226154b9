/* How often flows are traced, and the budget that no number of flows exceeds. */
#include "host-agent/trace/tracer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tracer_fixture.h"

static void
the_budget_holds_and_new_flows_come_first(void **state)
{
	struct tracer_options options = { 30 * S, 60, 1 };
	struct wire_target targets[40];
	struct fixture *f = *state;

	tracer_tune(f->tracer, &options, 1000);
	for (size_t i = 0; i < 40; i++)
		targets[i] = target(i + 2, WIRE_INTER_TOR);
	set(f, targets, 40); /* 120 flows of 3 packets need 6 s of the budget */
	for (size_t i = 0; i < 40; i++)
		lengths(f, i + 2, 3);
	run(f, 3 * S);
	assert_in_range(f->packets, 150, 3 * 60 + 8);
	assert_true(tracer_counts(f->tracer)->over_budget > 0);
	run(f, 4 * S);
	/* Each flow is traced once before any is traced twice. */
	assert_int_equal(f->jobs, 120);
	run(f, 60 * S);
	assert_in_range(f->jobs, 240, 460);
}

static void
no_config_raises_the_limit_and_the_brake_lowers_it(void **state)
{
	struct tracer_options options = { S, 1000000, 1 };
	struct wire_target *targets = calloc(3000, sizeof(*targets));
	struct fixture *f = *state;

	assert_non_null(targets);
	tracer_tune(f->tracer, &options, 1000);
	for (size_t i = 0; i < 3000; i++)
		targets[i] = target(i + 2, WIRE_INTER_TOR);
	set(f, targets, 3000);
	f->silent = true;
	run(f, 3 * S);
	f->packets = 0;
	run(f, 10 * S);
	assert_in_range(f->packets, 1000, 10 * TRACER_MAX_RATE_PER_S + 100);
	f->packets = 0;
	tracer_tune(f->tracer, &options, 100);
	run(f, 10 * S);
	assert_in_range(f->packets, 800, TRACER_MAX_RATE_PER_S + 100);
	f->packets = 0;
	tracer_tune(f->tracer, &options, 0);
	run(f, 10 * S);
	assert_int_equal(f->packets, 0);
	options.interval_ns = 0;
	tracer_tune(f->tracer, &options, 1000);
	run(f, 10 * S);
	assert_int_equal(f->packets, 0);
	free(targets);
}

static void
missing_answers_erase_nothing_and_slow_down_the_retries(void **state)
{
	struct wire_target one = target(2, WIRE_INTER_TOR);
	struct fixture *f = *state;
	struct tracer_view view;
	unsigned jobs;

	one.flow_count = 1;
	set(f, &one, 1);
	lengths(f, 2, 3);
	run(f, S);
	f->silent = true;
	run(f, 40 * S); /* once at its interval, then after 2, 4, ... s */
	jobs = f->jobs;
	assert_in_range(jobs, 3, 6);
	run(f, 300 * S);
	assert_in_range(f->jobs - jobs, 6, 14);
	assert_int_equal(tracer_list(f->tracer, 0, f->now, &view, 1), 1);
	assert_int_equal(view.path.hop_count, 3);
	assert_true(view.path.age_ns > (uint64_t)(300 * S));
	assert_true(tracer_counts(f->tracer)->incomplete >= 9);
}

/* Its answers are missing in traces whose later hops answer. */
static void
a_switch_that_limits_its_answers_is_traced_less(void **state)
{
	struct tracer_options options = { S, 200, 1 };
	struct wire_target targets[40];
	struct fixture *f = *state;
	uint64_t before;

	tracer_tune(f->tracer, &options, 1000);
	for (size_t i = 0; i < 40; i++)
		targets[i] = target(i + 2, WIRE_INTER_TOR);
	set(f, targets, 40);
	for (size_t i = 0; i < 40; i++)
		lengths(f, i + 2, 3);
	run(f, 10 * S);
	assert_int_equal(tracer_counts(f->tracer)->slowed, 0);
	f->spine = SPINE_SILENT;
	run(f, 60 * S);
	assert_true(tracer_counts(f->tracer)->slowed > 3);
	assert_true(tracer_counts(f->tracer)->over_switch > 0);
	before = tracer_counts(f->tracer)->traces;
	run(f, 60 * S);
	assert_in_range(tracer_counts(f->tracer)->traces - before, 20, 60 * 5);
}

static void
flows_above_the_limit_are_refused(void **state)
{
	static uint16_t many[64];
	struct wire_target *targets = calloc(300, sizeof(*targets));
	struct fixture *f = *state;

	assert_non_null(targets);
	for (size_t i = 0; i < 64; i++)
		many[i] = (uint16_t)(40000 + i);
	for (size_t i = 0; i < 300; i++) {
		targets[i] = target(i + 2, WIRE_INTER_TOR);
		targets[i].flows = many;
		targets[i].flow_count = 64;
	}
	set(f, targets, 300);
	assert_int_equal(tracer_flows(f->tracer), TRACER_MAX_FLOWS);
	assert_int_equal(
	    tracer_counts(f->tracer)->refused_flows, 300 * 64 - TRACER_MAX_FLOWS);
	free(targets);
}

static void
sprayed_packets_cause_no_storm_of_traces(void **state)
{
	struct wire_target one = target(2, WIRE_INTER_TOR);
	struct fixture *f = *state;

	one.flow_count = 1;
	set(f, &one, 1);
	for (int i = 0; i < 1000; i++) { /* each probe shows another path length */
		lengths(f, 2, i % 2 == 0 ? 3 : 4);
		run(f, 10 * RM_NS_PER_MS);
	}
	assert_in_range(f->jobs, 3, 11);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_budget_holds_and_new_flows_come_first),
		TEST(no_config_raises_the_limit_and_the_brake_lowers_it),
		TEST(missing_answers_erase_nothing_and_slow_down_the_retries),
		TEST(a_switch_that_limits_its_answers_is_traced_less),
		TEST(flows_above_the_limit_are_refused),
		TEST(sprayed_packets_cause_no_storm_of_traces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
