#include "host-agent/trace/tracer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tracer_fixture.h"

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
	/* Traces do not send to the destination itself. */
	assert_int_equal(f->packets, 27);
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
targets_that_no_prober_takes_are_not_traced(void **state)
{
	static const uint16_t reflectors[] = { 862 }, privileged[] = { 53 };
	static const uint8_t absurd[] = { 64 };
	struct wire_target targets[8];
	struct fixture *f = *state;
	struct tracer_job job;

	for (size_t i = 0; i < 8; i++)
		targets[i] = target(2 + i, WIRE_INTER_TOR);
	targets[0].address.bytes[0] = 224; /* a multicast group */
	memset(targets[1].address.bytes, 255, 4);
	memset(targets[2].address.bytes, 0, 4);
	/* To this port a reflector would answer a reflector. */
	targets[3].flows = reflectors;
	targets[3].flow_count = 1;
	targets[4].flows = privileged;
	targets[4].flow_count = 1;
	targets[5].dscps = absurd;
	targets[5].dscp_count = 1;
	targets[6].interval_us = 0;
	targets[7].size_count = 0;
	set(f, targets, 8);
	assert_int_equal(tracer_flows(f->tracer), 0);
	f->now = rm_mono_add(f->now, 60 * S);
	assert_false(tracer_next(f->tracer, f->now, &job));
}

static void
a_path_of_unknown_length_is_traced_blindly_after_a_while(void **state)
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
	lengths(f, 2, 3); /* now a probe arrives */
	run(f, S);
	assert_int_equal(tracer_report(f->tracer, 0, f->now, paths, 4), 1);
	assert_int_equal(paths[0].flags, WIRE_PATH_COMPLETE);
}

static void
an_answer_of_the_destination_ends_the_path(void **state)
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
neighbours_have_no_path(void **state)
{
	struct wire_target one = target(2, WIRE_INTER_TOR);
	struct fixture *f = *state;

	set(f, &one, 1);
	lengths(f, 2, 0);
	run(f, 100 * S);
	assert_int_equal(f->jobs, 0);
}

static void
a_moved_path_is_reported_once_to_every_aggregator(void **state)
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
	/* In a new session all paths are reported. */
	tracer_report_all(f->tracer, 0);
	assert_int_equal(tracer_report(f->tracer, 0, f->now, paths, 8), 3);
}

static void
answers_that_match_no_sent_packet_are_ignored(void **state)
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
	found.flow.src.port++; /* for another flow */
	tracer_answer(f->tracer, &found, f->now);
	found.flow = job.flow;
	found.token ^= 1u << 12; /* for an earlier trace */
	tracer_answer(f->tracer, &found, f->now);
	found.token = job.tokens[0];
	found.token |= 7; /* no packet with TTL 8 was sent */
	tracer_answer(f->tracer, &found, f->now);
	assert_int_equal(tracer_counts(f->tracer)->unmatched, 3);
	answer(f, &job);             /* the answer of the last hop */
	found.token = job.tokens[0]; /* a duplicate that arrives too late */
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
	targets[0].address.bytes[3]++; /* the address has changed, so the path is new */
	set(f, targets, 1);
	lengths(f, 2, 3);
	run(f, S);
	assert_int_equal(f->jobs, 9);
	/* A target that is removed while it is being traced. */
	f->now = rm_mono_add(f->now, 60 * S);
	assert_true(tracer_next(f->tracer, f->now, &job));
	set(f, targets, 0);
	answer(f, &job);
	run(f, 10 * S);
	assert_int_equal(tracer_flows(f->tracer), 0);
	assert_int_equal(tracer_report(f->tracer, 0, f->now, paths, 8), 3 - 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_flow_that_leaves_the_rack_is_traced_at_once),
		TEST(targets_that_no_prober_takes_are_not_traced),
		TEST(a_path_of_unknown_length_is_traced_blindly_after_a_while),
		TEST(an_answer_of_the_destination_ends_the_path),
		TEST(neighbours_have_no_path),
		TEST(a_moved_path_is_reported_once_to_every_aggregator),
		TEST(answers_that_match_no_sent_packet_are_ignored),
		TEST(flows_that_stay_keep_their_path_and_others_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
