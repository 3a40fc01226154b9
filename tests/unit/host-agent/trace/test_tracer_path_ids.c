/* The id of a flow's path, and flows whose port differs from the plan's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host-agent/trace/tracer.h"
#include "tests/support/fake_port.h"
#include "tracer_fixture.h"

static uint64_t
path_id(const struct fixture *f, uint64_t dst, size_t flow)
{
	return tracer_path_id(
	    f->tracer, 0, (struct wire_rnic_id){ dst, 1 }, ports[flow]);
}

static void
flows_with_the_same_path_have_the_same_path(void **state)
{
	struct wire_target one = target(2, WIRE_INTER_TOR);
	struct fixture *f = *state;
	uint64_t first, before;

	set(f, &one, 1);
	assert_true(path_id(f, 2, 0) == 0); /* not traced yet */
	assert_true(path_id(f, 3, 0) == 0); /* the id is unknown before a trace */
	before = tracer_path_changes(f->tracer);
	lengths(f, 2, 3);
	run(f, S);
	assert_int_not_equal(tracer_path_changes(f->tracer), before);
	first = path_id(f, 2, 0);
	assert_true(first != 0);
	assert_true(path_id(f, 2, 1) == first && path_id(f, 2, 2) == first);

	before = tracer_path_changes(f->tracer);
	run(f, 60 * S); /* a further trace has the same result */
	assert_int_equal(tracer_path_changes(f->tracer), before);
	assert_true(path_id(f, 2, 0) == first);
}

static void
a_moved_path_has_another_id_and_none_while_uncertain(void **state)
{
	struct wire_target one = target(2, WIRE_INTER_TOR);
	struct fixture *f = *state;
	uint64_t first, before;

	one.flow_count = 1;
	set(f, &one, 1);
	lengths(f, 2, 3);
	run(f, S);
	first = path_id(f, 2, 0);
	before = tracer_path_changes(f->tracer);
	f->spine = 9;
	while (path_id(f, 2, 0) == first)
		run(f, S / 10);
	/* A single different trace changes nothing. */
	assert_true(path_id(f, 2, 0) == 0);
	run(f, 10 * S);
	assert_true(path_id(f, 2, 0) != 0 && path_id(f, 2, 0) != first);
	assert_true(tracer_path_changes(f->tracer) >= before + 2);
}

static void
an_unconfirmed_path_has_no_id(void **state)
{
	struct wire_target one = target(2, WIRE_INTER_TOR);
	struct fixture *f = *state;
	uint64_t first;

	one.flow_count = 1;
	set(f, &one, 1);
	lengths(f, 2, 3);
	run(f, S);
	first = path_id(f, 2, 0);
	f->silent = true;
	/* A switch that answers one packet a second may leave out some hops. */
	while (tracer_counts(f->tracer)->incomplete < 2)
		run(f, S);
	assert_true(path_id(f, 2, 0) == first);
	run(f, 10 * S);
	assert_true(path_id(f, 2, 0) == 0);
	f->silent = false;
	run(f, 60 * S);
	assert_true(path_id(f, 2, 0) == first);
}

static void
a_path_with_a_silent_hop_has_no_id(void **state)
{
	struct wire_target one = target(2, WIRE_INTER_TOR);
	struct fixture *f = *state;

	set(f, &one, 1);
	lengths(f, 2, 4); /* the fourth hop never answers */
	run(f, 5 * S);
	assert_true(path_id(f, 2, 0) == 0);
}

static void
the_traced_flows_are_those_of_the_port(void **state)
{
	struct wire_target one = target(2, WIRE_INTER_TOR);
	struct fixture *f = *state;
	struct fake_port fake;
	struct tracer_job job;

	fake_port_init_roce(&fake, PORT_FLOWS_QP);
	fake.every_flow = 0xc123;
	f->port = &fake.port;
	one.address.port = WIRE_ROCE_PORT;
	one.dst_qpn = 17;
	set(f, &one, 1);
	assert_int_equal(tracer_flows(f->tracer), 1);
	f->now = rm_mono_add(f->now, 5 * S);
	assert_true(tracer_next(f->tracer, f->now, &job));
	assert_int_equal(job.flow.src.port, 0xc123);
	assert_int_equal(job.flow.dst.port, WIRE_ROCE_PORT);

	fake.flows = PORT_FLOWS_UNKNOWN; /* the source port would be a guess */
	set(f, &one, 1);
	assert_int_equal(tracer_flows(f->tracer), 0);

	fake.flows = PORT_FLOWS_QP;
	one.dst_qpn = 0; /* no prober sends to this QP */
	set(f, &one, 1);
	assert_int_equal(tracer_flows(f->tracer), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(flows_with_the_same_path_have_the_same_path),
		TEST(a_moved_path_has_another_id_and_none_while_uncertain),
		TEST(an_unconfirmed_path_has_no_id),
		TEST(a_path_with_a_silent_hop_has_no_id),
		TEST(the_traced_flows_are_those_of_the_port),
	};

	return cmocka_run_group_tests_name("tracer_path_ids", tests, NULL, NULL);
}
