#include "tests/sim/fate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rackmesh/core/clock.h"

#define PACKETS 100000

struct fixture {
	struct clos *clos;
	struct fate *fate;
	struct scenario_draw draw;
	struct fault faults[4];
};

static int
setup(void **state)
{
	static struct fixture f;

	f = (struct fixture){ .draw.fabric = { .tiers = 2,
				  .pods = 1,
				  .racks = 4,
				  .middle = 4,
				  .cables = 1,
				  .rnics_per_rack = 4,
				  .rnics_per_host = 1 },
		.draw.seconds = 100,
		.draw.noise[NOISE_RTT_US] = 10 };
	*state = &f;
	return clos_new(&f.draw.fabric, &f.clos);
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	fate_free(f->fate);
	clos_free(f->clos);
	return 0;
}

static struct fault
fault(enum fault_kind kind, uint32_t part)
{
	return (struct fault){ .kind = kind,
		.part = part,
		.dscp = -1,
		.to_ns = INT64_MAX,
		.rerouted_ns = INT64_MAX };
}

static void
begin(struct fixture *f, size_t faults)
{
	assert_int_equal(
	    fate_new(f->clos, f->faults, faults, &f->draw, 7, &f->fate), 0);
}

struct sum {
	unsigned answered, forward, reverse;
	int64_t rtt_ns, late_ns; /* times of the last probe */
};

static struct sum
send(struct fixture *f, struct fate_packet packet, int64_t now_ns, unsigned count)
{
	struct sum sum = { 0 };
	struct fate_path path;

	fate_path(f->fate, &packet, &path);
	for (unsigned i = 0; i < count; i++) {
		const enum fate_end end = fate_round_trip(
		    f->fate, &path, &packet, now_ns, &sum.rtt_ns, &sum.late_ns);

		sum.answered += end == FATE_ANSWERED;
		sum.forward += end == FATE_LOST_FORWARD;
		sum.reverse += end == FATE_LOST_REVERSE;
	}
	return sum;
}

static const struct fate_packet mesh = { 0, 1, 50000, 26, 88 };
static const struct fate_packet across = { 0, 8, 50000, 26, 88 };

static void
background_loss_is_as_large_as_asked_for_each_path(void **state)
{
	struct fixture *f = *state;
	struct sum sum;

	f->draw.noise[NOISE_LOSS] = 0.01;
	begin(f, 0);
	sum = send(f, mesh, 0, PACKETS);
	assert_in_range(sum.forward, 850, 1150);
	assert_in_range(sum.reverse, 850, 1150);
	assert_int_equal(sum.answered + sum.forward + sum.reverse, PACKETS);
}

static void
packets_that_wait_at_a_dead_link_pass_when_it_recovers(void **state)
{
	struct fixture *f = *state;
	struct fate_path path;
	struct sum sum;

	begin(f, 0);
	fate_path(f->fate, &across, &path);
	fate_free(f->fate);
	f->faults[0] = fault(FAULT_LINK_DOWN, path.out[1]);
	f->faults[0].to_ns = 10 * RM_NS_PER_S;
	f->faults[0].held_ns = 2 * RM_NS_PER_S;
	begin(f, 1);
	sum = send(f, across, 8 * RM_NS_PER_S - 1, 10);
	assert_int_equal(sum.answered, 0);
	for (int64_t wait = 2 * RM_NS_PER_S; wait > 0; wait -= RM_NS_PER_S / 2) {
		sum = send(f, across, 10 * RM_NS_PER_S - wait, 1);
		assert_int_equal(sum.answered, 1);
		assert_in_range(sum.rtt_ns, wait, wait + RM_NS_PER_MS);
		assert_in_range(sum.late_ns, 1, wait);
	}
	sum = send(f, across, 10 * RM_NS_PER_S, 1);
	assert_in_range(sum.rtt_ns, 1, RM_NS_PER_MS);
}

static void
a_lossy_link_loses_its_share_one_direction_only(void **state)
{
	struct fixture *f = *state;
	struct fate_path path;
	struct sum sum;

	begin(f, 0);
	fate_path(f->fate, &across, &path);
	fate_free(f->fate);
	f->faults[0] = fault(FAULT_LINK_LOSSY, path.out[1]);
	f->faults[0].direction = FAULT_ONE;
	f->faults[0].loss = 0.05;
	begin(f, 1);
	sum = send(f, across, 0, PACKETS);
	assert_in_range(sum.forward, 4600, 5400);
	assert_int_equal(sum.reverse, 0);
	sum = send(f, mesh, 0, PACKETS);
	assert_int_equal(sum.answered, PACKETS);
}

static void
an_rnic_that_cannot_send_loses_only_sent_packets(void **state)
{
	struct fixture *f = *state;
	struct fate_packet to = { 1, 0, 50000, 26, 88 };

	f->faults[0] = fault(FAULT_RNIC_SEND_DEAD, 0);
	f->faults[0].direction = FAULT_SEND;
	begin(f, 1);
	assert_int_equal(send(f, mesh, 0, 100).forward, 100);
	assert_int_equal(send(f, to, 0, 100).reverse, 100);
}

static void
a_fault_has_its_time_its_class_and_its_size(void **state)
{
	struct fixture *f = *state;
	struct fate_packet packet = mesh;

	f->faults[0] = fault(FAULT_RNIC_DOWN, 1);
	f->faults[0].from_ns = 10;
	f->faults[0].to_ns = 1000;
	f->faults[0].on_ns = 100;
	f->faults[0].off_ns = 200;
	f->faults[0].dscp = 26;
	f->faults[0].min_bytes = 88;
	begin(f, 1);
	assert_int_equal(send(f, packet, 9, 10).answered, 10);
	assert_int_equal(send(f, packet, 10, 10).forward, 10);
	assert_int_equal(send(f, packet, 110, 10).answered, 10);
	assert_int_equal(send(f, packet, 310, 10).forward, 10);
	assert_int_equal(send(f, packet, 1000, 10).answered, 10);
	packet.dscp = 0;
	assert_int_equal(send(f, packet, 10, 10).answered, 10);
	packet.dscp = 26;
	packet.bytes = 87;
	assert_int_equal(send(f, packet, 10, 10).answered, 10);
}

static void
a_blackholed_flow_loses_every_packet_and_others_none(void **state)
{
	struct fixture *f = *state;
	unsigned dead = 0;

	f->faults[0] = fault(FAULT_FLOWS_BLACKHOLED, clos_find(f->clos, "tor1"));
	f->faults[0].share = 0.3;
	f->faults[0].salt = 99;
	begin(f, 1);
	for (uint16_t port = 0; port < 1000; port++) {
		struct fate_packet packet = mesh;
		struct sum sum;

		packet.port = (uint16_t)(50000 + port);
		sum = send(f, packet, 0, 10);
		assert_true(sum.answered == 0 || sum.answered == 10);
		dead += sum.answered == 0;
	}
	assert_in_range(dead, 450, 570); /* probe or reply dropped: 1 - 0.7 * 0.7 */
}

static void
latency_adds_up_and_loses_nothing(void **state)
{
	struct fixture *f = *state;
	struct sum sum;

	f->faults[0] = fault(FAULT_LATENCY, 1);
	f->faults[0].latency_ns = 500000;
	begin(f, 1);
	sum = send(f, mesh, 0, 100);
	assert_int_equal(sum.answered, 100);
	assert_in_range(sum.rtt_ns, 1000000,
	    1013000); /* the delay applies to the probe and to the reply */
	assert_int_equal(sum.late_ns, 500000);
}

static void
routing_avoids_a_dead_link_once_it_has_noticed(void **state)
{
	struct fixture *f = *state;
	struct fate_path path;
	uint32_t epoch;

	begin(f, 0);
	fate_path(f->fate, &across, &path);
	fate_free(f->fate);
	f->faults[0] = fault(FAULT_LINK_DOWN, path.out[1]);
	f->faults[0].from_ns = 10;
	f->faults[0].rerouted_ns = 1000;
	begin(f, 1);
	fate_advance(f->fate, 500);
	epoch = fate_epoch(f->fate);
	assert_true(send(f, across, 500, 10).answered == 0);
	fate_advance(f->fate, 1000);
	assert_int_not_equal(fate_epoch(f->fate), epoch);
	assert_int_equal(send(f, across, 1000, 10).answered, 10);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(background_loss_is_as_large_as_asked_for_each_path),
		TEST(packets_that_wait_at_a_dead_link_pass_when_it_recovers),
		TEST(a_lossy_link_loses_its_share_one_direction_only),
		TEST(an_rnic_that_cannot_send_loses_only_sent_packets),
		TEST(a_fault_has_its_time_its_class_and_its_size),
		TEST(a_blackholed_flow_loses_every_packet_and_others_none),
		TEST(latency_adds_up_and_loses_nothing),
		TEST(routing_avoids_a_dead_link_once_it_has_noticed),
	};

	return cmocka_run_group_tests_name("fate", tests, NULL, NULL);
}
