/* Flows that lose probes are traced out of turn, as perhaps their path has changed. */
#include "host-agent/trace/tracer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tracer_fixture.h"

#define MS RM_NS_PER_MS

static bool
lose(struct fixture *f, uint64_t dst, size_t flow)
{
	return tracer_lost(
	    f->tracer, 0, (struct wire_rnic_id){ dst, 1 }, ports[flow], f->now);
}

/* Two targets with three flows each, whose paths are known. */
static void
begin(struct fixture *f)
{
	const struct wire_target targets[] = { target(2, WIRE_INTER_TOR),
		target(3, WIRE_INTER_TOR) };
	struct wire_path paths[8];

	set(f, targets, 2);
	lengths(f, 2, 3);
	lengths(f, 3, 3);
	run(f, 5 * S);
	assert_int_equal(tracer_report(f->tracer, 0, f->now, paths, 8), 6);
	f->jobs = f->packets = 0;
}

static void
a_first_loss_shows_the_new_path_within_a_second_and_then_all(void **state)
{
	struct fixture *f = *state;
	struct wire_path paths[8];

	begin(f);
	f->spine = 2;
	assert_true(lose(f, 2, 1));
	run(f, 400 * MS);
	assert_int_equal(tracer_report(f->tracer, 0, f->now, paths, 8), 1);
	assert_int_equal(paths[0].dst_guid, 2);
	assert_int_equal(paths[0].src_port, ports[1]);
	assert_int_equal(paths[0].hops[1][2], 2);
	assert_int_equal(tracer_counts(f->tracer)->after_loss, 1);
	assert_int_equal(tracer_counts(f->tracer)->all_again, 1);
	run(f, TRACER_ALL_AGAIN_NS + S);
	assert_int_equal(tracer_report(f->tracer, 0, f->now, paths, 8), 5);
	assert_int_equal(tracer_counts(f->tracer)->all_again, 1);
	assert_int_equal(f->jobs, 12); /* two of each flow */
}

static void
a_lossy_path_that_stays_is_traced_with_growing_pauses(void **state)
{
	struct fixture *f = *state;

	begin(f);
	for (int i = 0; i < 6000; i++) { /* ten minutes */
		lose(f, 2, 0);
		run(f, 100 * MS);
	}
	/* At 0, 2, 6, 14 s, and afterwards as often as without losses. */
	assert_in_range(tracer_counts(f->tracer)->after_loss, 4, 24);
	assert_in_range(f->jobs, 6 * 15, 6 * 27 + 4);
	assert_int_equal(tracer_counts(f->tracer)->all_again, 0);
	/* After a time without losses, the first one counts again. */
	run(f, 100 * S);
	f->jobs = 0;
	assert_true(lose(f, 2, 0));
	run(f, 60 * MS);
	assert_in_range(f->jobs, 1, 2);
}

static void
a_trace_that_is_lost_too_is_repeated_at_once(void **state)
{
	struct fixture *f = *state;

	begin(f);
	f->silent = true;
	assert_true(lose(f, 2, 0));
	run(f, 1100 * MS); /* the trace waits for its answers for a second */
	f->silent = false;
	f->spine = 2;
	run(f, 1000 * MS);
	assert_in_range(tracer_counts(f->tracer)->moved, 1, 6);
}

static void
flows_with_losses_go_before_others_within_the_budget(void **state)
{
	const struct tracer_options options = { 30 * S, 30, 1 };
	struct wire_target targets[40];
	struct fixture *f = *state;
	unsigned others;

	for (size_t i = 0; i < 40; i++)
		targets[i] = target(i + 2, WIRE_INTER_TOR);
	set(f, targets, 40);
	for (size_t i = 0; i < 40; i++)
		lengths(f, i + 2, 3);
	run(f, 5 * S);
	tracer_tune(f->tracer, &options, 1000); /* 10 traces a second: too few */
	run(f, 60 * S);
	f->packets = 0;
	f->jobs = 0;
	for (uint64_t dst = 2; dst < 12; dst++)
		for (size_t i = 0; i < 3; i++)
			lose(f, dst, i);
	run(f, 10 * S);
	assert_in_range(f->packets, 150, 30 * 10 + 24);
	assert_in_range(tracer_counts(f->tracer)->after_loss, 25, 60);
	others = f->jobs - (unsigned)tracer_counts(f->tracer)->after_loss;
	assert_true(others >= 25);
}

static void
losses_of_flows_without_a_path_and_of_sprayed_ones_change_nothing(void **state)
{
	const struct wire_target one = target(2, WIRE_INTER_TOR);
	struct fixture *f = *state;

	set(f, &one, 1);
	assert_false(lose(f, 2, 0)); /* not traced yet */
	assert_false(lose(f, 9, 0)); /* not a target */
	lengths(f, 2, 3);
	run(f, S);
	while (tracer_multipath(f->tracer) < 3) {
		f->spine++;
		run(f, 30 * S);
	}
	run(f, 10 * S);
	assert_false(lose(f, 2, 0));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_first_loss_shows_the_new_path_within_a_second_and_then_all),
		TEST(a_lossy_path_that_stays_is_traced_with_growing_pauses),
		TEST(a_trace_that_is_lost_too_is_repeated_at_once),
		TEST(flows_with_losses_go_before_others_within_the_budget),
		TEST(losses_of_flows_without_a_path_and_of_sprayed_ones_change_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
