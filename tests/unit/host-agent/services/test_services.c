/* QPs from events and lists, the processes that own them, and the RNICs of their
 * peers. */
#include "host-agent/services/services.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host-agent/probe/flow_label.h"
#include "host-agent/services/process_name.h"
#include "services_fixture.h"

static const struct services_options options = { .max_probed = 16,
	.interval_us = 500000,
	.turn_ns = 10 * RM_NS_PER_S,
	.random_seed = 7 };

static int
setup(void **state)
{
	struct services *services;

	if (services_new(&options, &services) < 0)
		return -1;
	services_own(services, 0, NULL, 0);
	services_own(services, 1, NULL, 0);
	*state = services;
	return 0;
}

static int
teardown(void **state)
{
	services_free(*state);
	return 0;
}

static void
receive(struct services *services, struct qp_event event, int64_t ms)
{
	assert_int_equal(services_event(services, &event, services_at(ms)), 0);
}

static void
list(struct services *services, struct qp_list_row *rows, size_t count, bool cut,
    int64_t asked_ms)
{
	struct qp_list_device device = { 1, "rxe1" };
	const struct qp_list of = { .devices = &device,
		.device_count = 1,
		.rows = rows,
		.row_count = count,
		.cut = cut };

	services_listed(
	    services, &of, services_at(asked_ms), services_at(asked_ms + 5));
}

static void
a_connected_qp_is_a_flow_until_it_is_destroyed(void **state)
{
	struct services *services = *state;
	struct wire_service_flow flow;

	assert_true(services_news(services));
	receive(services, services_qp(1, 17, 2, 0xc123, 4711), 1000);
	flow = services_flow(services, 17);
	assert_int_equal(flow.src.guid, OWN_GUID + 1);
	assert_int_equal(flow.dst.guid, 0);
	assert_int_equal(flow.peer.family, 4);
	assert_memory_equal(flow.peer.bytes, "\x0a\0\x01\x02", 4);
	assert_int_equal(flow.src_port, 0xc123);
	assert_int_equal(flow.dst_qpn, 1017);
	assert_int_equal(flow.qp_type, WIRE_QP_RC);
	assert_int_equal(flow.dscp, 26);
	assert_int_equal(flow.pid, 4711);
	assert_string_equal(flow.service, "comm:app4711");
	assert_int_equal(flow.state, WIRE_SERVICE_RESOLVING);
	assert_false(flow.older);

	receive(services, services_end(1, 17), 2000);
	assert_int_equal(services_counts(services).flows, 0);
	assert_int_equal(services_counts(services).qps, 0);
	assert_int_equal(services_counts(services).connected, 1);
	assert_int_equal(services_counts(services).destroyed, 1);
	/* The end of a QP that was never reported. */
	receive(services, services_end(1, 99), 2000);
	assert_int_equal(services_counts(services).destroyed, 1);
}

static void
label_0_gives_the_port_that_both_numbers_hash_to(void **state)
{
	struct services *services = *state;
	struct qp_event event = services_qp(1, 17, 2, 0xc000, 1);

	event.flow_label = 0;
	receive(services, event, 0);
	assert_int_equal(
	    services_flow(services, 17).src_port, flow_label_sport(0, 17, 1017));
}

static void
equal_qps_are_one_flow(void **state)
{
	struct services *services = *state;
	struct qp_event other;

	for (uint32_t qpn = 20; qpn < 24; qpn++)
		receive(services, services_qp(1, qpn, 2, 0xc001, 5), 0);
	assert_int_equal(services_counts(services).flows, 1);
	assert_int_equal(services_flow(services, 23).qps, 4);

	/* a difference in port, process, class, type, peer or RNIC gives another
	 * flow */
	receive(services, services_qp(1, 30, 2, 0xc002, 5), 0);
	receive(services, services_qp(1, 31, 2, 0xc001, 6), 0);
	other = services_qp(1, 32, 2, 0xc001, 5);
	other.traffic_class = 0;
	receive(services, other, 0);
	other = services_qp(1, 33, 2, 0xc001, 5);
	other.qp_type = QP_EVENT_XRC_INI;
	receive(services, other, 0);
	receive(services, services_qp(1, 34, 3, 0xc001, 5), 0);
	receive(services, services_qp(0, 35, 2, 0xc001, 5), 0);
	assert_int_equal(services_counts(services).flows, 7);
	assert_int_equal(services_flow(services, 33).qp_type, WIRE_QP_XRC);

	receive(services, services_end(1, 20), 0);
	assert_int_equal(services_flow(services, 23).qps, 3);
}

static void
a_qp_that_gets_another_peer_leaves_its_flow(void **state)
{
	struct services *services = *state;

	receive(services, services_qp(1, 17, 2, 0xc001, 5), 0);
	receive(services, services_qp(1, 17, 3, 0xc001, 5), 0);
	assert_int_equal(services_counts(services).flows, 1);
	assert_int_equal(services_counts(services).qps, 1);
	assert_int_equal(services_flow(services, 17).peer.bytes[3], 3);
}

static void
the_same_number_on_another_device_is_another_qp(void **state)
{
	struct services *services = *state;

	receive(services, services_qp(0, 17, 2, 0xc001, 5), 0);
	receive(services, services_qp(1, 17, 2, 0xc001, 5), 0);
	assert_int_equal(services_counts(services).qps, 2);
	receive(services, services_end(0, 17), 0);
	assert_int_equal(services_counts(services).qps, 1);
	assert_int_equal(services_flow(services, 17).src.guid, OWN_GUID + 1);
}

static void
events_of_other_devices_are_counted(void **state)
{
	struct services *services = *state;
	struct qp_event event = services_qp(7, 17, 2, 0xc001, 5);
	const uint8_t self[16] = { [10] = 0xff, 0xff, 10, 0, 0, 1 };

	assert_int_equal(services_event(services, &event, services_at(0)), -ENODEV);
	event = services_qp(1, 17, 2, 0xc001, 5);
	event.port = 2;
	assert_int_equal(services_event(services, &event, services_at(0)), -ENODEV);
	event = services_qp(1, 17, 2, 0xc001, 5);
	event.qp_type = 4; /* UD */
	assert_int_equal(services_event(services, &event, services_at(0)), -ENODEV);
	assert_int_equal(services_counts(services).unlisted, 3);

	event = services_qp(1, 17, 2, 0xc001, 5);
	memcpy(event.dgid, self, sizeof(self));
	receive(services, event, 0);
	assert_int_equal(services_counts(services).local, 1);
	assert_int_equal(services_counts(services).flows, 0);
}

static void
flows_end_with_their_rnic(void **state)
{
	struct services *services = *state;

	receive(services, services_qp(0, 17, 2, 0xc001, 5), 0);
	receive(services, services_qp(1, 17, 2, 0xc001, 5), 0);
	services_answer_all(services, services_at(1));
	services_turn(services, services_no_path, NULL, services_at(2));
	assert_false(services_own(services, 1, NULL, 0)); /* no change */
	services_set_rnic(services, 1, NULL);
	assert_int_equal(services_counts(services).flows, 1);
	assert_int_equal(
	    services_turn(services, services_no_path, NULL, services_at(3)), 2);
	assert_true(services_own(services, 1, NULL, 0)); /* the QP has to be listed */
}

static void
flows_above_the_limit_are_counted(void **state)
{
	struct services *services = *state;

	for (uint32_t i = 0; i < SERVICES_MAX_FLOWS + 10; i++) {
		struct qp_event event =
		    services_qp(1, 100 + i, 2, (uint16_t)(0xc000 + i), 5);
		int r = services_event(services, &event, services_at(0));

		assert_int_equal(r, i < SERVICES_MAX_FLOWS ? 0 : -ENOSPC);
	}
	assert_int_equal(services_counts(services).refused, 10);
	assert_int_equal(services_counts(services).flows, SERVICES_MAX_FLOWS);
	receive(services, services_end(1, 100), 0);
	receive(services, services_qp(1, 9999, 3, 0xc000, 6), 0);
}

static void
each_process_is_named_once_and_every_flow_of_it_has_the_name(void **state)
{
	struct services *services = *state;
	struct process_name name = { "python3", "pod:abc" };
	struct services_process process;

	receive(services, services_qp(1, 17, 2, 0xc001, 5), 0);
	receive(services, services_qp(0, 18, 3, 0xc002, 5), 0);
	assert_true(services_next_process(services, &process));
	assert_int_equal(process.pid, 5);
	assert_string_equal(process.comm, "app5");
	assert_false(services_next_process(services, &process));
	services_named(services, 5, false, &name);
	assert_string_equal(services_flow(services, 17).service, "pod:abc");
	assert_string_equal(services_flow(services, 18).service, "pod:abc");
	assert_string_equal(services_flow(services, 18).comm, "python3");

	/* The QP number may be reused by another QP. */
	receive(services, services_end(1, 17), 0);
	receive(services, services_end(0, 18), 0);
	services_named(services, 5, false, &name);
	receive(services, services_qp(1, 17, 2, 0xc001, 5), 0);
	assert_string_equal(services_flow(services, 17).service, "comm:app5");
	assert_true(services_next_process(services, &process));
}

/* Events contain pids of the host, lists contain pids of the agent's namespace: the
 * two 5 are different processes. */
static void
in_an_own_pid_namespace_no_flow_gets_a_wrong_name(void **state)
{
	struct services *services = *state;
	const struct process_name ours = { "python3", "unit:ours.service" };
	const struct process_name other = { "app5", "job:4711" };
	struct qp_list_row rows[2] = { services_row(17, 30, 2),
		services_row(18, 31, 3) };
	struct services_process process;
	size_t seen = 0;

	services_tune(services, &(struct services_options){ .max_probed = 4,
				    .interval_us = 100000,
				    .turn_ns = RM_NS_PER_S,
				    .pids_elsewhere = true });
	rows[0].pid = 5;
	rows[1].pid = 0; /* a process that is not visible in our pid namespace */
	list(services, rows, 2, false, 0);
	receive(services, services_qp(0, 19, 3, 0xc002, 5), 0);
	while (services_next_process(services, &process)) {
		assert_int_equal(process.pid, 5);
		services_named(
		    services, 5, process.elsewhere, process.elsewhere ? &other : &ours);
		seen++;
	}
	assert_int_equal(seen, 2);
	assert_string_equal(services_flow(services, 17).service, "unit:ours.service");
	assert_string_equal(services_flow(services, 18).service, "comm:?");
	assert_string_equal(services_flow(services, 19).service, "job:4711");
}

static void
older_flows_are_found_by_listing(void **state)
{
	struct services *services = *state;
	struct qp_list_row rows[4] = { services_row(17, 30, 0), services_row(18, 31, 2),
		services_row(19, 0, 0), services_row(20, 0, 0) };
	struct wire_service_flow flow;
	struct services_ask asks[4];

	/* The kernel does not report the number of the peer QP. */
	rows[2].type = QP_EVENT_XRC_TGT;
	rows[3].state = 1; /* not connected yet */
	list(services, rows, 4, false, 100);
	assert_int_equal(services_counts(services).older, 2);
	assert_int_equal(services_counts(services).unresolved, 1);
	flow = services_flow(services, 17);
	assert_true(flow.older);
	assert_int_equal(flow.peer.family, 0);
	assert_int_equal(flow.src_port, flow_label_sport(0, 17, 30));
	/* The label is derived from the ports of the rdma_cm connection. */
	flow = services_flow(services, 18);
	assert_int_equal(flow.src_port,
	    flow_label_sport((40000 * 31 + 7174) & FLOW_LABEL_MAX, 18, 31));
	assert_int_equal(flow.peer.bytes[3], 2);

	assert_int_equal(services_asks(services, services_at(200), asks, 4), 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(asks[i].join, asks[i].qpn == 17);
		if (asks[i].join) {
			struct wire_rnic rnic = services_peer_rnic(9, "tor2");

			assert_int_equal(asks[i].dst_qpn, 30);
			assert_int_equal(asks[i].owner, 1);
			services_answer(
			    services, asks[i].token, &rnic, services_at(300));
		}
	}
	services_turn(services, services_no_path, NULL, services_at(300));
	flow = services_flow(services, 17);
	assert_int_equal(flow.dst.guid, PEER_GUID + 9);
	assert_int_equal(flow.state, WIRE_SERVICE_PROBED);
	assert_memory_equal(flow.peer.bytes, "\x0a\0\x01\x09", 4);
}

static void
a_listing_ends_what_it_does_not_have(void **state)
{
	struct services *services = *state;
	struct qp_list_row rows[2] = { services_row(17, 1017, 0),
		services_row(18, 1018, 0) };

	receive(services, services_qp(1, 17, 2, 0xc001, 5), 100);
	receive(services, services_qp(1, 18, 2, 0xc001, 5), 100);
	receive(services, services_qp(1, 19, 2, 0xc001, 5), 100);
	receive(
	    services, services_qp(1, 20, 2, 0xc001, 5), 300); /* during the listing */
	rows[1].state = 6; /* the error state: the QP still exists */
	list(services, rows, 2, true, 200);
	/* An incomplete list: QPs that it does not contain may still exist. */
	assert_int_equal(services_counts(services).qps, 4);
	list(services, rows, 2, false, 200);
	assert_int_equal(services_counts(services).qps, 3);
	assert_int_equal(services_counts(services).missed, 1);
	assert_int_equal(services_counts(services).older, 0);
	assert_false(services_flow(services, 20).older);
	list(services, rows, 0, false, 400);
	assert_int_equal(services_counts(services).flows, 0);
}

static void
a_kernel_s_own_qp_has_its_name(void **state)
{
	struct services *services = *state;
	struct qp_list_row row = services_row(17, 30, 2);
	struct services_process process;

	row.pid = 0;
	strcpy(row.kernel, "nvme_rdma");
	list(services, &row, 1, false, 0);
	assert_string_equal(services_flow(services, 17).service, "kernel:nvme_rdma");
	assert_int_equal(services_flow(services, 17).pid, 0);
	assert_false(services_next_process(services, &process));
}

static void
a_peer_is_requested_once_and_again_without_an_answer(void **state)
{
	struct services *services = *state;
	struct services_ask asks[4];
	int64_t ms = 0, last = 0;
	unsigned count = 0;

	receive(services, services_qp(1, 17, 2, 0xc001, 5), 0);
	receive(services, services_qp(1, 18, 2, 0xc002, 5), 0);
	assert_int_equal(services_asks(services, services_at(0), asks, 4), 1);
	assert_false(asks[0].join);
	assert_int_equal(asks[0].address.bytes[3], 2);
	assert_int_equal(services_asks(services, services_at(2999), asks, 4), 0);
	for (ms = 100; ms < 600000; ms += 100) {
		if (services_asks(services, services_at(ms), asks, 4) == 0)
			continue;
		assert_true(ms - last >= 3000 && ms - last <= 64000);
		last = ms;
		count++;
	}
	assert_true(count >= 9 && count < 60);
	assert_int_equal(services_counts(services).asks, count + 1);
}

static void
an_answer_is_for_the_last_request_only(void **state)
{
	struct services *services = *state;
	struct wire_rnic rnic = services_peer_rnic(2, "tor2");
	struct services_ask first, second;

	receive(services, services_qp(1, 17, 2, 0xc001, 5), 0);
	assert_int_equal(services_asks(services, services_at(0), &first, 1), 1);
	assert_int_equal(services_asks(services, services_at(9000), &second, 1), 1);
	assert_int_not_equal(first.token, second.token);
	services_answer(services, first.token, &rnic, services_at(9001));
	services_answer(services, 0, &rnic, services_at(9001));
	assert_int_equal(services_counts(services).unmatched, 2);
	assert_int_equal(services_flow(services, 17).dst.guid, 0);
	services_answer(services, second.token, &rnic, services_at(9001));
	services_answer(services, second.token, &rnic, services_at(9001));
	assert_int_equal(services_counts(services).unmatched, 3);
	assert_int_equal(services_flow(services, 17).dst.guid, PEER_GUID + 2);
}

static void
an_unknown_peer_is_unresolved_and_seldom_requested(void **state)
{
	struct services *services = *state;
	int64_t gap = 0, last = 0;
	unsigned count = 0;

	receive(services, services_qp(1, 17, 222, 0xc001, 5), 0);
	receive(services, services_qp(1, 18, 222, 0xc002, 5), 0);
	assert_int_equal(services_answer_all(services, services_at(0)), 1);
	services_turn(services, services_no_path, NULL, services_at(1));
	assert_int_equal(services_flow(services, 17).state, WIRE_SERVICE_UNRESOLVED);
	assert_int_equal(services_counts(services).unresolved, 2);
	for (int64_t ms = 0; ms < 3600000; ms += 1000) {
		if (services_answer_all(services, services_at(ms)) == 0)
			continue;
		gap = ms - last;
		last = ms;
		count++;
		assert_true(gap >= 5000 && gap <= 306000);
	}
	assert_true(count >= 12 && count < 100);
}

static void
a_found_peer_is_asked_for_again_and_may_have_moved(void **state)
{
	struct services *services = *state;
	struct wire_rnic rnic = services_peer_rnic(2, "tor2");
	struct services_ask ask;
	struct wire_target target;
	int64_t ms = 1000;

	receive(services, services_qp(1, 17, 2, 0xc001, 5), 0);
	services_answer_all(services, services_at(0));
	assert_int_equal(
	    services_turn(services, services_no_path, NULL, services_at(1)), 2);
	while (services_asks(services, services_at(ms), &ask, 1) == 0)
		ms += 1000;
	assert_true(ms >= 30000 && ms <= 91000);
	rnic.qpn = 123;
	services_answer(services, ask.token, &rnic, services_at(ms));
	assert_true(services_news(services));
	assert_int_equal(
	    services_turn(services, services_no_path, NULL, services_at(ms)), 2);
	assert_int_equal(services_probes(services, 1, &target, 1), 1);
	assert_int_equal(target.dst_qpn, 123);

	/* A controller that has just started may not know any RNIC yet. */
	for (int i = 0; i < 3; i++) {
		assert_int_equal(services_probes(services, 1, &target, 1), 1);
		ms += 100000;
		assert_int_equal(services_asks(services, services_at(ms), &ask, 1), 1);
		services_answer(services, ask.token, NULL, services_at(ms));
		assert_int_equal(
		    services_turn(services, services_no_path, NULL, services_at(ms)),
		    i < 2 ? 0 : 2);
	}
	assert_int_equal(services_probes(services, 1, &target, 1), 0);
	assert_int_equal(services_flow(services, 17).state, WIRE_SERVICE_UNRESOLVED);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_connected_qp_is_a_flow_until_it_is_destroyed),
		TEST(label_0_gives_the_port_that_both_numbers_hash_to),
		TEST(equal_qps_are_one_flow),
		TEST(a_qp_that_gets_another_peer_leaves_its_flow),
		TEST(the_same_number_on_another_device_is_another_qp),
		TEST(events_of_other_devices_are_counted),
		TEST(flows_end_with_their_rnic),
		TEST(flows_above_the_limit_are_counted),
		TEST(each_process_is_named_once_and_every_flow_of_it_has_the_name),
		TEST(in_an_own_pid_namespace_no_flow_gets_a_wrong_name),
		TEST(older_flows_are_found_by_listing),
		TEST(a_listing_ends_what_it_does_not_have),
		TEST(a_kernel_s_own_qp_has_its_name),
		TEST(a_peer_is_requested_once_and_again_without_an_answer),
		TEST(an_answer_is_for_the_last_request_only),
		TEST(an_unknown_peer_is_unresolved_and_seldom_requested),
		TEST(a_found_peer_is_asked_for_again_and_may_have_moved),
	};

	return cmocka_run_group_tests_name("services", tests, NULL, NULL);
}
