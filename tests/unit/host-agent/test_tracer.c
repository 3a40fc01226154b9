#include "host-agent/tracer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS RM_NS_PER_MS
#define S RM_NS_PER_S

struct fixture {
	struct tracer *tracer;
	rm_mono_t now;
	unsigned jobs, packets;
	uint8_t spine; /* what the network's second hop is now */
	bool deaf;     /* nobody answers */
	uint64_t to;
};

static const struct wire_address own[2] = { { 4, { 10, 1, 0, 1 }, 0 }, { 0 } };
static const uint16_t ports[] = { 50001, 50002, 50003 };
static const uint8_t dscps[] = { 26, 0 };

static int
setup(void **state)
{
	static struct fixture fixture;
	struct tracer_options options = { 30 * S, 200, 1 };
	struct fixture *f = &fixture;

	*f = (struct fixture){ .now = { 1000 * S }, .spine = 1, .to = 1 };
	*state = f;
	return tracer_new(&options, &f->tracer);
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	tracer_free(f->tracer);
	return 0;
}

static struct wire_target
target(uint64_t dst, enum wire_probe_kind kind)
{
	return (struct wire_target){ .src = { 1, 1 },
		.dst = { dst, 1 },
		.kind = kind,
		.address = { 4, { 10, 2, (uint8_t)(dst >> 8), (uint8_t)dst }, 862 },
		.flows = ports,
		.flow_count = 3,
		.dscps = dscps,
		.dscp_count = 2 };
}

static void
set(struct fixture *f, const struct wire_target *targets, size_t count)
{
	assert_int_equal(
	    tracer_set(f->tracer, 0, targets, count, own, f->to, f->now), 0);
}

/* The fabric: ToR 7.0.0.1, a spine, ToR 7.0.0.3. */
static void
answer(struct fixture *f, const struct tracer_job *job)
{
	for (unsigned ttl = 1; ttl <= job->ttl_count && ttl <= 3 && !f->deaf; ttl++) {
		struct trace_answer found = { .flow = job->flow,
			.token = job->tokens[ttl - 1],
			.from = { 4, { 7, 0, ttl == 2 ? f->spine : 0, (uint8_t)ttl },
			    0 },
			.expired = true };

		tracer_answer(f->tracer, &found, f->now);
	}
}

/* By the timer, as the agent does it. */
static void
run(struct fixture *f, int64_t ns)
{
	rm_mono_t end = rm_mono_add(f->now, ns);

	for (;;) {
		struct tracer_job job;
		rm_mono_t due;

		while (tracer_next(f->tracer, f->now, &job)) {
			f->jobs++;
			f->packets += job.ttl_count;
			answer(f, &job);
		}
		due = tracer_due(f->tracer, f->now);
		assert_true(due.ns > f->now.ns); /* else the loop would spin */
		if (due.ns >= end.ns)
			break;
		f->now = due;
	}
	f->now = end;
}

static void
lengths(struct fixture *f, uint64_t dst, uint8_t routers)
{
	for (size_t i = 0; i < 3; i++)
		tracer_length(f->tracer, 0, (struct wire_rnic_id){ dst, 1 }, ports[i],
		    routers, f->now);
}

static void
every_flow_that_leaves_the_rack_is_traced_at_once(void **state)
{
	struct wire_target targets[] = { target(2, WIRE_INTER_TOR),
		target(3, WIRE_TOR_MESH), target(4, WIRE_TOR_REFLECTOR),
		target(5, WIRE_WITNESS), target(6, WIRE_SERVICE) };
	struct wire_path paths[16];
	struct fixture *f = *state;

	set(f, targets, 5);
	assert_int_equal(tracer_flows(f->tracer), 9);
	lengths(f, 2, 3);
	lengths(f, 5, 3);
	lengths(f, 6, 3);
	run(f, S);
	assert_int_equal(f->jobs, 9);
	assert_int_equal(f->packets, 27); /* none goes on to the destination */
	assert_int_equal(tracer_report(f->tracer, 0, f->now, paths, 16), 9);
	for (size_t i = 0; i < 9; i++) {
		assert_int_equal(paths[i].src_guid, 1);
		assert_int_equal(paths[i].hop_count, 3);
		assert_int_equal(paths[i].flags, WIRE_PATH_COMPLETE);
		assert_int_equal(paths[i].dscp, 26);
		assert_int_equal(paths[i].family, 4);
		assert_int_equal(paths[i].hops[1][2], 1);
		assert_true(paths[i].age_ns <= (uint64_t)S);
	}
	assert_int_equal(tracer_report(f->tracer, 0, f->now, paths, 16), 0);
}

static void
a_way_of_unknown_length_is_traced_blindly_after_a_while(void **state)
{
	struct wire_target one = target(2, WIRE_INTER_TOR);
	struct wire_path paths[4];
	struct fixture *f = *state;

	one.flow_count = 1;
	set(f, &one, 1);
	run(f, S);
	assert_int_equal(f->jobs, 0);
	run(f, 4 * S);
	assert_true(f->jobs >= 1);
	assert_int_equal(f->packets, 8 * f->jobs);
	assert_int_equal(tracer_report(f->tracer, 0, f->now, paths, 4), 1);
	assert_int_equal(paths[0].hop_count, 3);
	assert_int_equal(paths[0].flags, 0);
	lengths(f, 2, 3); /* at last a probe arrives */
	run(f, S);
	assert_int_equal(tracer_report(f->tracer, 0, f->now, paths, 4), 1);
	assert_int_equal(paths[0].flags, WIRE_PATH_COMPLETE);
}

static void
a_destination_that_says_so_ends_the_path(void **state)
{
	struct wire_target one = target(2, WIRE_INTER_TOR);
	struct fixture *f = *state;
	struct wire_path path;
	struct tracer_job job;

	one.flow_count = 1;
	set(f, &one, 1);
	f->now = rm_mono_add(f->now, 3 * S);
	assert_true(tracer_next(f->tracer, f->now, &job));
	answer(f, &job);
	for (unsigned ttl = 4; ttl <= 8; ttl++) {
		struct trace_answer end = { .flow = job.flow,
			.token = job.tokens[ttl - 1],
			.from = job.flow.dst,
			.reached = true };

		tracer_answer(f->tracer, &end, f->now);
	}
	assert_int_equal(tracer_report(f->tracer, 0, f->now, &path, 1), 1);
	assert_int_equal(path.hop_count, 3);
	assert_int_equal(path.flags, WIRE_PATH_COMPLETE);
}

static void
neighbours_have_no_way(void **state)
{
	struct wire_target one = target(2, WIRE_INTER_TOR);
	struct fixture *f = *state;

	set(f, &one, 1);
	lengths(f, 2, 0);
	run(f, 100 * S);
	assert_int_equal(f->jobs, 0);
}

static void
the_budget_holds_and_new_flows_come_first(void **state)
{
	struct tracer_options options = { 30 * S, 60, 1 };
	struct wire_target targets[40];
	struct fixture *f = *state;

	tracer_tune(f->tracer, &options, 1000);
	for (size_t i = 0; i < 40; i++)
		targets[i] = target(i + 2, WIRE_INTER_TOR);
	set(f, targets, 40); /* 120 flows of 3 packets: 6 s of the budget */
	for (size_t i = 0; i < 40; i++)
		lengths(f, i + 2, 3);
	run(f, 3 * S);
	assert_in_range(f->packets, 150, 3 * 60 + 8);
	assert_true(tracer_counts(f->tracer)->over_budget > 0);
	run(f, 4 * S);
	assert_int_equal(f->jobs, 120); /* all of them once, before any twice */
	run(f, 60 * S);
	assert_in_range(f->jobs, 240, 460);
}

static void
no_config_raises_the_ceiling_and_the_brake_lowers_it(void **state)
{
	struct tracer_options options = { S, 1000000, 1 };
	struct wire_target *targets = calloc(3000, sizeof(*targets));
	struct fixture *f = *state;

	assert_non_null(targets);
	tracer_tune(f->tracer, &options, 1000);
	for (size_t i = 0; i < 3000; i++)
		targets[i] = target(i + 2, WIRE_INTER_TOR);
	set(f, targets, 3000);
	f->deaf = true;
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
a_path_is_seen_to_move_and_told_everybody_once(void **state)
{
	struct wire_target one = target(2, WIRE_INTER_TOR);
	struct fixture *f = *state;
	struct wire_path paths[8];

	f->to = 1u << 0 | 1u << 5;
	set(f, &one, 1);
	lengths(f, 2, 3);
	run(f, S);
	assert_int_equal(tracer_report(f->tracer, 0, f->now, paths, 8), 3);
	assert_int_equal(tracer_report(f->tracer, 5, f->now, paths, 8), 3);
	assert_int_equal(tracer_report(f->tracer, 1, f->now, paths, 8), 0);
	f->spine = 2;
	run(f, 60 * S);
	assert_int_equal(tracer_report(f->tracer, 0, f->now, paths, 2), 2);
	assert_int_equal(tracer_report(f->tracer, 0, f->now, paths, 2), 1);
	assert_int_equal(paths[0].hops[1][2], 2);
	assert_int_equal(paths[0].flags, WIRE_PATH_COMPLETE);
	assert_int_equal(tracer_counts(f->tracer)->moved, 3);
	/* A session begins anew: all of them. */
	tracer_report_all(f->tracer, 0);
	assert_int_equal(tracer_report(f->tracer, 0, f->now, paths, 8), 3);
}

static void
silence_erases_nothing_and_is_asked_again_ever_more_rarely(void **state)
{
	struct wire_target one = target(2, WIRE_INTER_TOR);
	struct fixture *f = *state;
	struct tracer_view view;
	unsigned jobs;

	one.flow_count = 1;
	set(f, &one, 1);
	lengths(f, 2, 3);
	run(f, S);
	f->deaf = true;
	run(f, 40 * S); /* once by the clock, then after 2, 4, ... s */
	jobs = f->jobs;
	assert_in_range(jobs, 3, 6);
	run(f, 300 * S);
	assert_in_range(f->jobs - jobs, 6, 14);
	assert_int_equal(tracer_list(f->tracer, 0, f->now, &view, 1), 1);
	assert_int_equal(view.path.hop_count, 3);
	assert_true(view.path.age_ns > (uint64_t)(300 * S));
	assert_true(tracer_counts(f->tracer)->incomplete >= 9);
}

static void
answers_to_nothing_that_was_sent_count_for_nothing(void **state)
{
	struct wire_target one = target(2, WIRE_INTER_TOR);
	struct fixture *f = *state;
	struct trace_answer found;
	struct wire_path path;
	struct tracer_job job;

	one.flow_count = 1;
	set(f, &one, 1);
	lengths(f, 2, 3);
	f->now = rm_mono_add(f->now, S);
	assert_true(tracer_next(f->tracer, f->now, &job));
	found = (struct trace_answer){ .flow = job.flow,
		.token = job.tokens[0],
		.from = { 4, { 6, 6, 6, 6 }, 0 },
		.expired = true };
	found.flow.src.port++; /* of another flow */
	tracer_answer(f->tracer, &found, f->now);
	found.flow = job.flow;
	found.token ^= 1u << 12; /* of an earlier trace */
	tracer_answer(f->tracer, &found, f->now);
	found.token = job.tokens[0];
	found.token |= 7; /* TTL 8 was never sent */
	tracer_answer(f->tracer, &found, f->now);
	assert_int_equal(tracer_counts(f->tracer)->unmatched, 3);
	answer(f, &job);             /* the end of it */
	found.token = job.tokens[0]; /* twice, and late */
	tracer_answer(f->tracer, &found, f->now);
	assert_int_equal(tracer_counts(f->tracer)->unmatched, 4);
	assert_int_equal(tracer_report(f->tracer, 0, f->now, &path, 1), 1);
	assert_int_equal(path.hops[0][0], 7);
}

static void
flows_that_stay_keep_their_path_and_others_go(void **state)
{
	struct wire_target targets[] = { target(2, WIRE_INTER_TOR),
		target(3, WIRE_INTER_TOR) };
	struct fixture *f = *state;
	struct wire_path paths[8];
	struct tracer_job job;

	set(f, targets, 2);
	lengths(f, 2, 3);
	lengths(f, 3, 3);
	run(f, S);
	assert_int_equal(tracer_report(f->tracer, 0, f->now, paths, 8), 6);
	set(f, targets, 1);
	assert_int_equal(tracer_flows(f->tracer), 3);
	run(f, S);
	assert_int_equal(f->jobs, 6);
	targets[0].address.bytes[3]++; /* it has moved: that is another way */
	set(f, targets, 1);
	lengths(f, 2, 3);
	run(f, S);
	assert_int_equal(f->jobs, 9);
	/* One that goes while it is being traced. */
	f->now = rm_mono_add(f->now, 60 * S);
	assert_true(tracer_next(f->tracer, f->now, &job));
	set(f, targets, 0);
	answer(f, &job);
	run(f, 10 * S);
	assert_int_equal(tracer_flows(f->tracer), 0);
	assert_int_equal(tracer_report(f->tracer, 0, f->now, paths, 8), 3 - 3);
}

static void
more_flows_than_the_ceiling_are_refused(void **state)
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

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_flow_that_leaves_the_rack_is_traced_at_once),
		TEST(a_way_of_unknown_length_is_traced_blindly_after_a_while),
		TEST(a_destination_that_says_so_ends_the_path),
		TEST(neighbours_have_no_way),
		TEST(the_budget_holds_and_new_flows_come_first),
		TEST(no_config_raises_the_ceiling_and_the_brake_lowers_it),
		TEST(a_path_is_seen_to_move_and_told_everybody_once),
		TEST(silence_erases_nothing_and_is_asked_again_ever_more_rarely),
		TEST(answers_to_nothing_that_was_sent_count_for_nothing),
		TEST(flows_that_stay_keep_their_path_and_others_go),
		TEST(more_flows_than_the_ceiling_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
