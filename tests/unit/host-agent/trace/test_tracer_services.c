/* Flows of services: traced with their own ports, whether or not a probe can take
 * their path. */
#include "host-agent/trace/tracer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host-agent/probe/port.h"
#include "tests/support/fake_port.h"
#include "tracer_fixture.h"

static bool
length(struct fixture *f, uint64_t dst, uint16_t port, uint8_t routers)
{
	return tracer_length(
	    f->tracer, 0, (struct wire_rnic_id){ dst, 1 }, port, routers, f->now);
}

static uint64_t
path_id(const struct fixture *f, uint64_t dst, uint16_t port)
{
	return tracer_path_id(f->tracer, 0, (struct wire_rnic_id){ dst, 1 }, port);
}

static void
service_flows_use_the_path_length_of_probes(void **state)
{
	struct wire_target one = target(2, WIRE_SERVICE);
	struct fixture *f = *state;

	set(f, &one, 1);
	assert_true(length(f, 2, 50002, 3));
	run(f, S);
	assert_int_equal(f->jobs, 3);
	/* Traces do not send to the destination itself. */
	assert_int_equal(f->packets, 9);
	assert_int_not_equal(path_id(f, 2, 50001), 0);
	assert_int_equal(path_id(f, 2, 50001), path_id(f, 2, 50002));
}

static void
a_later_service_flow_has_the_length_at_once(void **state)
{
	static const uint16_t more[] = { 50001, 50002, 50003, 50099 };
	struct wire_target one = target(2, WIRE_SERVICE);
	struct fixture *f = *state;

	set(f, &one, 1);
	length(f, 2, 50002, 3);
	run(f, S);
	one.flows = more;
	one.flow_count = 4;
	set(f, &one, 1);
	run(f, S);
	assert_int_equal(f->packets, 12);
	assert_int_equal(path_id(f, 2, 50099), path_id(f, 2, 50002));
}

static void
an_own_length_has_priority(void **state)
{
	struct wire_target one = target(2, WIRE_SERVICE);
	struct fixture *f = *state;

	set(f, &one, 1);
	length(f, 2, 50002, 3);
	assert_true(length(f, 2, 50001, 2));
	assert_false(length(f, 2, 50001, 2));
	run(f, S);
	assert_int_equal(f->packets, 3 + 3 + 2);
	assert_int_not_equal(path_id(f, 2, 50001), path_id(f, 2, 50002));
}

static void
the_length_is_not_used_for_other_destinations(void **state)
{
	struct wire_target targets[] = { target(2, WIRE_INTER_TOR),
		target(3, WIRE_SERVICE) };
	struct fixture *f = *state;

	set(f, targets, 2);
	length(f, 2, 50001, 3);
	run(f, S);
	assert_int_equal(
	    f->jobs, 1); /* the two similar flows wait for probes of their own */
	assert_int_equal(path_id(f, 3, 50001), 0);
}

static void
service_flows_are_traced_with_their_own_ports(void **state)
{
	struct wire_target one = target(2, WIRE_SERVICE);
	struct fixture *f = *state;
	struct fake_port fake;
	struct tracer_job job;
	uint32_t seen = 0;

	fake_port_init_roce(&fake, PORT_FLOWS_QP);
	fake.every_flow = 0xc123;
	f->port = &fake.port;
	one.address.port = WIRE_ROCE_PORT;
	one.dst_qpn = 7;
	set(f, &one, 1);
	assert_int_equal(tracer_flows(f->tracer), 3);
	f->now = rm_mono_add(f->now, 3 * S);
	while (tracer_next(f->tracer, f->now, &job))
		seen |= 1u << (job.flow.src.port - 50000);
	assert_int_equal(seen & ~0xeu, 0);
	assert_int_not_equal(seen, 0);
}

static size_t
reported(struct fixture *f, unsigned aggregator)
{
	struct wire_path paths[8];

	return tracer_report(f->tracer, aggregator, f->now, paths, 8);
}

static void
service_paths_are_reported_again_before_they_are_forgotten(void **state)
{
	struct wire_target targets[] = { target(2, WIRE_SERVICE),
		target(3, WIRE_INTER_TOR) };
	struct fixture *f = *state;

	f->to = 1u << 0 | 1u << 5;
	set(f, targets, 2);
	lengths(f, 2, 3);
	lengths(f, 3, 3);
	run(f, S);
	assert_int_equal(reported(f, 0), 6);
	assert_int_equal(reported(f, 5), 6);
	run(f, TRACER_RETELL_NS / 2);
	assert_int_equal(reported(f, 0), 0);
	run(f, TRACER_RETELL_NS / 2);
	/* The flows of pinglists are reported elsewhere. */
	assert_int_equal(reported(f, 0), 3);
	assert_int_equal(reported(f, 0), 0);
	assert_int_equal(reported(f, 5), 3);
	f->silent = true; /* known paths stay when later traces get no answer */
	run(f, 3 * TRACER_RETELL_NS);
	assert_int_equal(reported(f, 5), 3);
	assert_int_equal(reported(f, 0), 3);
}

/* A program may create any number of QPs. */
static void
however_many_new_ones_there_are_planned_flows_are_traced_again(void **state)
{
	static struct wire_target targets[201];
	struct fixture *f = *state;
	uint64_t before;

	targets[0] = target(2, WIRE_INTER_TOR);
	set(f, targets, 1);
	lengths(f, 2, 3);
	run(f, S);
	before = path_id(f, 2, 50001);
	f->spine = 2;
	for (uint64_t second = 0; second < 60; second++) {
		for (uint64_t i = 1 + second % 2; i <= 200; i += 1 + (second > 0)) {
			targets[i] = target(1000 * (second + 1) + i, WIRE_SERVICE);
			targets[i].address.bytes[1] = 3;
		}
		set(f, targets, 201);
		for (size_t i = 1; i <= 200; i++)
			length(f, targets[i].dst.guid, 50001, 3);
		run(f, S);
	}
	assert_true(tracer_counts(f->tracer)->traces > 1000);
	assert_int_not_equal(path_id(f, 2, 50001), 0);
	assert_int_not_equal(path_id(f, 2, 50001), before);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(service_flows_use_the_path_length_of_probes),
		TEST(a_later_service_flow_has_the_length_at_once),
		TEST(an_own_length_has_priority),
		TEST(the_length_is_not_used_for_other_destinations),
		TEST(service_flows_are_traced_with_their_own_ports),
		TEST(service_paths_are_reported_again_before_they_are_forgotten),
		TEST(however_many_new_ones_there_are_planned_flows_are_traced_again),
	};

	return cmocka_run_group_tests_name("tracer_services", tests, NULL, NULL);
}
