#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <event2/event.h>

#include "host-agent/packet/probe_format.h"
#include "host-agent/packet/stamp.h"
#include "host-agent/probe/prober.h"
#include "rackmesh/loop/loop.h"
#include "tests/support/fake_port.h"

#define MS RM_NS_PER_MS
#define TIMEOUT_NS (50 * MS)
#define MAX_RESULTS 64

static const uint16_t flows[] = { 0xc001, 0xc002 };
static const uint8_t dscps[] = { 26 };
static const uint16_t small[] = { 64 }, large[] = { 4096 };

struct fixture {
	struct fake_port fake;
	struct rm_loop *loop;
	struct rm_timer *tick;
	struct prober *prober;
	struct wire_result results[MAX_RESULTS];
	size_t count;
};

static void
on_result(const struct wire_result *result, rm_mono_t sent, void *arg)
{
	struct fixture *f = arg;

	f->results[f->count++ % MAX_RESULTS] = *result;
}

static void
on_tick(void *arg)
{
	struct fixture *f = arg;

	rm_timer_after(f->tick, 10 * MS);
}

static int
setup(void **state)
{
	const struct prober_options options = { .timeout_ns = TIMEOUT_NS,
		.random_seed = 1 };
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	if (f == NULL || rm_loop_new(&f->loop) < 0 ||
	    rm_timer_new(f->loop, on_tick, f, &f->tick) < 0)
		return -1;
	/* So that the loop always has an event to run. */
	rm_timer_after(f->tick, 10 * MS);
	fake_port_init_roce(&f->fake, PORT_FLOWS_LABEL);
	return prober_new(f->loop, &f->fake.port, &options, on_result, f, &f->prober);
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	prober_free(f->prober);
	rm_timer_free(f->tick);
	rm_loop_free(f->loop);
	free(f);
	return 0;
}

static struct wire_target
target(const uint16_t *size)
{
	return (struct wire_target){ .src = { 1, 1 },
		.dst = { 2, 1 },
		.kind = WIRE_INTER_TOR,
		.address = { 4, { 10, 0, 0, 2 }, WIRE_ROCE_PORT },
		.dst_qpn = 0x111,
		.dst_large_qpn = 0x222,
		.dst_lid = 7,
		.sl = 3,
		.interval_us = 5000,
		.flows = flows,
		.flow_count = 2,
		.dscps = dscps,
		.dscp_count = 1,
		.sizes = size,
		.size_count = 1 };
}

#define RUN_UNTIL(f, condition)                                                \
	do {                                                                   \
		rm_mono_t end_ = rm_mono_add(rm_mono_now(), 60 * RM_NS_PER_S); \
                                                                               \
		while (!(condition)) {                                         \
			assert_true(rm_mono_since(end_, rm_mono_now()) > 0);   \
			event_base_loop(rm_loop_base((f)->loop), EVLOOP_ONCE); \
		}                                                              \
	} while (0)

struct made_up { /* how a reply differs from a complete one */
	uint16_t local_port;
	bool departs_unstamped, arrives_unstamped, received_unstamped;
};

/* The reply of a reflector to sent[i]; it arrives 1 ms after it was sent. */
static void
answer_as(struct fixture *f, size_t i, struct made_up as)
{
	const int64_t left = 3 * RM_NS_PER_S; /* the reflector's own clock */
	struct fake_sent *sent = &f->fake.sent[i];
	struct port_arrival arrival = { .from = { 4, { 10, 0, 0, 2 }, 0 },
		.data = sent->data,
		.len = sent->len,
		.stamp_ns = as.arrives_unstamped ? 0 : left + MS,
		.qpn = 0x999,
		.local_port = as.local_port,
		.dscp = 26,
		.ttl = 64,
		.source = as.arrives_unstamped ? 0 : WIRE_STAMP_NIC };
	uint64_t received = as.received_unstamped ? 0 : stamp_time_write(RM_NS_PER_S);
	struct probe_ask ask;

	assert_int_equal(roce_format.read_probe(sent->data, sent->len, &ask), 0);
	roce_format.write_reply(sent->data, sent->len, &ask,
	    &(struct probe_answer){ .receive_timestamp = received,
		.ttl = 62,
		.dscp = 26,
		.rx_count = ask.tx_count,
		.follow_up_seq = ask.seq - 1,
		.follow_up_timestamp = stamp_time_write(RM_NS_PER_S + 1000) });
	if (!as.departs_unstamped)
		fake_port_depart(&f->fake, PORT_PROBER, i, left);
	fake_port_deliver(&f->fake, PORT_PROBER, &arrival);
}

static void
answer(struct fixture *f, size_t i, uint16_t local_port, bool departs)
{
	answer_as(f, i,
	    (struct made_up){
		.local_port = local_port, .departs_unstamped = !departs });
}

static void
a_small_probe_goes_to_the_small_qp_and_reports_its_label(void **state)
{
	struct fixture *f = *state;
	struct wire_target one = target(small);
	const struct fake_sent *sent = &f->fake.sent[0];
	struct probe_ask ask;

	assert_int_equal(prober_set_targets(f->prober, &one, 1), 0);
	RUN_UNTIL(f, f->fake.sent_count > 0);
	assert_int_equal(sent->len, 64);
	assert_int_equal(sent->qpn, 0x111);
	assert_int_equal(sent->lid, 7);
	assert_int_equal(sent->sl, 3);
	assert_int_equal(roce_format.read_probe(sent->data, sent->len, &ask), 0);
	assert_int_equal(ask.label, FAKE_PORT_LABEL + sent->src_port);
	assert_int_equal(ask.tx_count, 1);

	/* Without a reply the probe is lost; the result identifies the probe. */
	RUN_UNTIL(f, f->count > 0);
	assert_true(f->results[0].outcome == WIRE_NO_REPLY ||
		    f->results[0].outcome == WIRE_SENT_LATE); /* on a busy machine */
	assert_int_equal(f->results[0].dst_qpn, 0x111);
	assert_int_equal(f->results[0].flow_label, ask.label);
	assert_int_equal(f->results[0].src_port, sent->src_port);
	assert_int_equal(f->results[0].size_bytes, 64);
	assert_int_equal(f->results[0].stamp_source, 0);
}

static void
a_large_probe_goes_to_the_large_qp(void **state)
{
	struct fixture *f = *state;
	struct wire_target one = target(large);

	assert_int_equal(prober_set_targets(f->prober, &one, 1), 0);
	RUN_UNTIL(f, f->count > 0);
	assert_int_equal(f->fake.sent[0].len, 4096);
	assert_int_equal(f->fake.sent[0].qpn, 0x222);
	assert_int_equal(f->results[0].dst_qpn, 0x222);
	assert_int_equal(f->results[0].size_bytes, 4096);
}

/* One QP may receive the replies of all flows, and a reply carries no source port. */
static void
a_reply_is_taken_without_knowing_its_flow(void **state)
{
	struct fixture *f = *state;
	struct wire_target one = target(small);
	const struct wire_result *r = &f->results[0];

	assert_int_equal(prober_set_targets(f->prober, &one, 1), 0);
	RUN_UNTIL(f, f->fake.sent_count > 1);
	answer(f, 0, 0, true);
	/* Carries T4 of the first reply. */
	answer(f, 1, f->fake.sent[1].src_port, true);
	assert_int_equal(f->count, 1);
	assert_int_equal(r->outcome, WIRE_OK);
	assert_int_equal(r->stamp_source, WIRE_STAMP_NIC);
	assert_int_equal(
	    r->flags & ~WIRE_LATE_SEND, WIRE_SPLIT | WIRE_COUNTED | WIRE_ARRIVAL);
	assert_int_equal(r->round_trip_ns, MS);
	assert_int_equal(r->responder_delay_ns, 1000);
	assert_int_equal(r->rtt_ns, MS - 1000);
	assert_int_equal(r->arrived_ttl, 62);
}

static void
a_reply_of_another_flow_is_not_taken(void **state)
{
	struct fixture *f = *state;
	struct wire_target one = target(small);

	assert_int_equal(prober_set_targets(f->prober, &one, 1), 0);
	RUN_UNTIL(f, f->fake.sent_count > 0);
	answer(f, 0, (uint16_t)(f->fake.sent[0].src_port ^ 3), true);
	assert_int_equal(prober_counts(f->prober)->unknown_replies, 1);
}

/* The port's clock has another time base: its stamp of the reply alone gives no
 * time. */
static void
without_a_send_stamp_the_hosts_clock_is_used(void **state)
{
	struct fixture *f = *state;
	struct wire_target one = target(small);
	const struct wire_result *r = &f->results[0];

	assert_int_equal(prober_set_targets(f->prober, &one, 1), 0);
	RUN_UNTIL(f, f->fake.sent_count > 0);
	answer(f, 0, 0, false);
	RUN_UNTIL(f, f->count > 0);
	assert_int_equal(r->outcome, WIRE_OK);
	assert_int_equal(r->stamp_source, WIRE_STAMP_USER);
	assert_int_equal(r->flags & WIRE_SPLIT, 0);
	assert_in_range(r->round_trip_ns, 1, TIMEOUT_NS);
}

/* A NIC sometimes returns the stamp 0, or its clock is not trusted for a while. */
static void
a_reply_without_a_stamp_is_timed_by_the_hosts_clock(void **state)
{
	struct fixture *f = *state;
	struct wire_target one = target(small);
	const struct wire_result *r = &f->results[0];

	assert_int_equal(prober_set_targets(f->prober, &one, 1), 0);
	RUN_UNTIL(f, f->fake.sent_count > 1);
	answer_as(f, 0, (struct made_up){ .arrives_unstamped = true });
	answer(f, 1, 0, true); /* carries T4 of the first reply */
	RUN_UNTIL(f, f->count > 0);
	assert_int_equal(r->outcome, WIRE_OK);
	assert_int_equal(r->stamp_source, WIRE_STAMP_USER);
	assert_int_equal(r->flags & WIRE_SPLIT, 0);
	assert_in_range(r->round_trip_ns, 1, TIMEOUT_NS);
}

static void
without_an_arrival_stamp_of_the_reflector_there_is_no_split(void **state)
{
	struct fixture *f = *state;
	struct wire_target one = target(small);
	const struct wire_result *r = &f->results[0];

	assert_int_equal(prober_set_targets(f->prober, &one, 1), 0);
	RUN_UNTIL(f, f->fake.sent_count > 1);
	answer_as(f, 0, (struct made_up){ .received_unstamped = true });
	answer(f, 1, 0, true); /* carries T4 of the first reply */
	RUN_UNTIL(f, f->count > 0);
	assert_int_equal(r->outcome, WIRE_OK);
	assert_int_equal(r->invalid_reason, WIRE_VALID);
	assert_int_equal(r->flags & WIRE_SPLIT, 0);
	assert_int_equal(r->round_trip_ns, MS);
}

static void
a_probe_without_an_address_handle_is_not_sent(void **state)
{
	struct fixture *f = *state;
	struct wire_target one = target(small);
	const struct prober_counts *counts = prober_counts(f->prober);

	f->fake.error = -EAGAIN;
	assert_int_equal(prober_set_targets(f->prober, &one, 1), 0);
	RUN_UNTIL(f, counts->skipped >= 3);
	assert_int_equal(counts->send_failed, 0);
	assert_int_equal(f->count, 0);
	f->fake.error = 0;
	RUN_UNTIL(f, f->fake.sent_count > 0); /* when the target is next due */

	/* An address that cannot be resolved counts as a failed probe. */
	f->fake.error = -EHOSTUNREACH;
	RUN_UNTIL(f, counts->send_failed > 0);
	RUN_UNTIL(f, f->results[f->count - 1].outcome == WIRE_SEND_FAILED);
}

static void
a_port_with_one_flow_probes_all_from_it(void **state)
{
	struct fixture *f = *state;
	struct wire_target one = target(small);

	f->fake.every_flow = 0xc777;
	assert_int_equal(prober_set_targets(f->prober, &one, 1), 0);
	RUN_UNTIL(f, f->fake.sent_count > 3);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(f->fake.sent[i].src_port, 0xc777);
}

static uint64_t
choose_second(const struct wire_target *wire, void *arg)
{
	assert_int_equal(wire->flow_count, 2);
	assert_int_equal(wire->flows[1], 0xc002);
	*(int *)arg += 1;
	return 2;
}

static void
flows_can_be_chosen_while_probing_goes_on(void **state)
{
	struct fixture *f = *state;
	struct wire_target one = target(small);
	size_t before;
	int asked = 0;

	assert_int_equal(prober_set_targets(f->prober, &one, 1), 0);
	RUN_UNTIL(f, f->fake.sent_count > 1);
	assert_int_not_equal(f->fake.sent[0].src_port, f->fake.sent[1].src_port);
	prober_choose_flows(f->prober, choose_second, &asked);
	assert_int_equal(asked, 1);
	before = f->fake.sent_count;
	RUN_UNTIL(f, f->fake.sent_count > before + 4);
	for (size_t i = before; i < before + 4; i++)
		assert_int_equal(f->fake.sent[i].src_port, 0xc002);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_small_probe_goes_to_the_small_qp_and_reports_its_label),
		TEST(a_large_probe_goes_to_the_large_qp),
		TEST(a_reply_is_taken_without_knowing_its_flow),
		TEST(a_reply_of_another_flow_is_not_taken),
		TEST(without_a_send_stamp_the_hosts_clock_is_used),
		TEST(a_reply_without_a_stamp_is_timed_by_the_hosts_clock),
		TEST(without_an_arrival_stamp_of_the_reflector_there_is_no_split),
		TEST(a_probe_without_an_address_handle_is_not_sent),
		TEST(a_port_with_one_flow_probes_all_from_it),
		TEST(flows_can_be_chosen_while_probing_goes_on),
	};

	return cmocka_run_group_tests_name("prober_roce", tests, NULL, NULL);
}
