#include "tor-aggregator/agents/ingest.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/tor-aggregator/rack_fixture.h"

#define MS RM_NS_PER_MS

static int
setup(void **state)
{
	*state = fixture_rack(4, 2);
	return 0;
}

static int
teardown(void **state)
{
	struct rack_fixture *f = *state;

	assert_true(fixture_conserves(&f->ingest.counts.raw));
	assert_true(fixture_conserves(&tor_rack_counts(f->rack)->raw));
	fixture_rack_free(f);
	return 0;
}

/* Takes one result in a batch of its own. Returns the reason of its refusal, or -1. */
static int
take(struct rack_fixture *f, struct wire_result result)
{
	uint64_t before[INGEST_INVALIDS];

	memcpy(before, f->ingest.counts.invalid, sizeof(before));
	assert_int_equal(fixture_batch(f, 0, ++f->seq[0], &result, 1), 0);
	for (int i = 0; i < INGEST_INVALIDS; i++)
		if (f->ingest.counts.invalid[i] != before[i])
			return i;
	return -1;
}

static void
a_good_result_is_windowed(void **state)
{
	struct rack_fixture *f = *state;

	assert_int_equal(take(f, fixture_result(f, 0, 0x101, 100 * MS, WIRE_OK)), -1);
	assert_int_equal(
	    take(f, fixture_result(f, 0, FIXTURE_REMOTE, 100 * MS, WIRE_NO_REPLY)), -1);
	assert_int_equal(f->ingest.counts.raw.windowed, 2);
	assert_int_equal(tor_rack_counts(f->rack)->raw.windowed, 2);
	assert_int_equal(ring_count(tor_rack_ring(f->rack)), 2);
}

static void
an_agent_reports_only_for_its_own(void **state)
{
	struct rack_fixture *f = *state;
	struct wire_result result = fixture_result(f, 1, 0x102, 0, WIRE_NO_REPLY);

	assert_int_equal(take(f, result), INGEST_NOT_OWNED);
	assert_int_equal(f->ingest.counts.raw.windowed, 0);
}

static void
results_for_unknown_targets_are_refused(void **state)
{
	struct rack_fixture *f = *state;

	assert_int_equal(
	    take(f, fixture_result(f, 0, 0xdead, 0, WIRE_OK)), INGEST_UNKNOWN_DST);
}

static void
values_out_of_range_are_refused(void **state)
{
	struct rack_fixture *f = *state;
	struct wire_result good = fixture_result(f, 0, 0x101, 0, WIRE_OK), bad;

#define REFUSES(field, value)             \
	(bad = good, bad.field = (value), \
	    assert_int_equal(take(f, bad), INGEST_BAD_VALUE))
	REFUSES(outcome, WIRE_OUTCOMES);
	REFUSES(dscp, 64);
	REFUSES(dst_guid, 0x100);        /* its own source */
	REFUSES(outcome, WIRE_NO_REPLY); /* but it has times of a reply */
	bad = good;
	bad.flags |= WIRE_ARRIVAL;
	bad.arrived_ecn = 4;
	assert_int_equal(take(f, bad), INGEST_BAD_VALUE);
	assert_int_equal(take(f, good), -1);
	good.sent_age_ns = UINT64_MAX;
	assert_int_equal(take(f, good), INGEST_BAD_AGE);
}

static void
a_late_reply_is_not_counted_as_a_probe(void **state)
{
	struct rack_fixture *f = *state;
	struct wire_result result = fixture_result(f, 0, 0x101, 0, WIRE_NO_REPLY);

	assert_int_equal(take(f, result), -1);
	result.outcome = WIRE_OVERDUE;
	assert_int_equal(take(f, result), -1);
	assert_int_equal(f->ingest.counts.raw.windowed, 1);
	assert_int_equal(f->ingest.counts.raw.late, 1);
	assert_int_equal(f->ingest.counts.raw.taken, 2);
	assert_int_equal(f->ingest.counts.raw.invalid, 0);
}

static void
a_batch_sent_again_is_acknowledged_but_counted_once(void **state)
{
	struct rack_fixture *f = *state;
	struct wire_result results[3];

	for (int i = 0; i < 3; i++)
		results[i] = fixture_result(f, 0, 0x101, 0, WIRE_OK);
	assert_int_equal(fixture_batch(f, 0, 1, results, 3), 0);
	assert_int_equal(fixture_batch(f, 0, 1, results, 3), 0);
	assert_int_equal(f->ingest.counts.raw.taken, 6);
	assert_int_equal(f->ingest.counts.raw.windowed, 3);
	assert_int_equal(f->ingest.counts.raw.duplicate, 3);
}

static void
missing_batches_are_no_network_loss(void **state)
{
	struct rack_fixture *f = *state;
	struct wire_result result = fixture_result(f, 0, 0x101, 0, WIRE_OK);

	fixture_batch(f, 0, 1, &result, 1);
	fixture_batch(f, 0, 4, &result, 1);
	assert_int_equal(f->ingest.counts.missing_batches, 2);
	assert_int_equal(f->ingest.counts.raw.taken, 2);
}

static void
results_of_closed_bins_are_late(void **state)
{
	struct rack_fixture *f = *state;

	f->now.ns += 5 * RM_NS_PER_S;
	fixture_tick(f);
	assert_int_equal(
	    take(f, fixture_result(f, 0, 0x101, 4 * RM_NS_PER_S, WIRE_OK)), -1);
	assert_int_equal(f->ingest.counts.raw.late, 1);
	assert_true(ring_get(tor_rack_ring(f->rack), 0)->late);
}

static void
another_incarnation_or_host_counts_nowhere(void **state)
{
	struct rack_fixture *f = *state;
	struct wire_batch_head head = { .host = "h0", .incarnation = 99, .seq = 1 };
	struct wire_result result = fixture_result(f, 0, 0x101, 0, WIRE_OK);
	struct wire_bytes bytes;
	struct wire_ack ack;

	wire_write_batch(f->writer, &head, &result, 1, &bytes);
	assert_int_equal(
	    ingest_batch(&f->ingest, f->agent[0], f->now, bytes.data, bytes.len, &ack),
	    -EPERM);
	head.host = "h1";
	head.incarnation = 7;
	wire_write_batch(f->writer, &head, &result, 1, &bytes);
	assert_int_equal(
	    ingest_batch(&f->ingest, f->agent[0], f->now, bytes.data, bytes.len, &ack),
	    -EPERM);
	assert_int_equal(f->ingest.counts.raw.taken, 0);
	assert_true(ingest_batch(&f->ingest, f->agent[0], f->now,
			(const uint8_t *)"12345678", 8, &ack) < 0);
}

static void
results_above_the_rate_are_counted_and_not_judged(void **state)
{
	struct rack_fixture *f = *state;
	struct wire_result results[100];

	for (int i = 0; i < 100; i++)
		results[i] = fixture_result(f, 0, 0x101, 0, WIRE_OK);
	f->ingest.max_results_per_s = 100;
	for (uint64_t seq = 1; seq <= 5; seq++)
		fixture_batch(f, 0, seq, results, 100);
	assert_int_equal(
	    f->ingest.counts.raw.windowed, 200); /* the rate allows a burst of 2 s */
	assert_int_equal(f->ingest.counts.invalid[INGEST_OVER_RATE], 300);
	f->now.ns += RM_NS_PER_S;
	fixture_batch(f, 0, 6, results, 100);
	assert_int_equal(f->ingest.counts.raw.windowed, 300);
}

static void
a_loss_to_a_changed_qpn_is_stale(void **state)
{
	struct rack_fixture *f = *state;
	struct wire_result result = fixture_result(f, 0, 0x101, 0, WIRE_NO_REPLY);

	f->plan->members[1].qpn = 500;
	f->plan->members[1].large_qpn = 501;
	tor_rack_register(f->rack, &f->plan->members[1], f->now);
	result.dst_qpn = 499;
	take(f, result);
	assert_int_equal(f->ingest.counts.stale_qpn, 1);
	assert_int_equal(ring_get(tor_rack_ring(f->rack), 0)->outcome, WIRE_STALE_QPN);
	result.dst_qpn = 500;
	take(f, result);
	assert_int_equal(f->ingest.counts.stale_qpn, 1);
	result.dst_qpn = 501; /* the QPN of a large probe */
	take(f, result);
	assert_int_equal(f->ingest.counts.stale_qpn, 1);
}

static void
receive_counts_of_others_rnics_are_refused(void **state)
{
	struct rack_fixture *f = *state;
	const struct wire_count rows[] = {
		{ .own_guid = 0x100,
		    .own_port_num = 1,
		    .prober_guid = 0x101,
		    .prober_port_num = 1,
		    .dscp = 26,
		    .received = 10 },
		{ .own_guid = 0x102,
		    .own_port_num = 1,
		    .prober_guid = 0x101,
		    .prober_port_num = 1,
		    .dscp = 26,
		    .received = 10 },
	};
	struct wire_counts counts = { .incarnation = 7,
		.now_ns = (uint64_t)f->now.ns,
		.rows = rows,
		.row_count = 2 };
	struct wire_bytes bytes;

	wire_write_counts(f->writer, &counts, &bytes);
	assert_int_equal(ingest_receive_counts(
			     &f->ingest, f->agent[0], f->now, bytes.data, bytes.len),
	    0);
	assert_int_equal(f->ingest.counts.count_rows, 2);
	assert_int_equal(f->ingest.counts.count_rows_invalid, 1);
	counts.now_ns -= 1;
	wire_write_counts(f->writer, &counts, &bytes);
	assert_int_equal(ingest_receive_counts(
			     &f->ingest, f->agent[0], f->now, bytes.data, bytes.len),
	    -EBADMSG);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_good_result_is_windowed),
		TEST(an_agent_reports_only_for_its_own),
		TEST(results_for_unknown_targets_are_refused),
		TEST(values_out_of_range_are_refused),
		TEST(a_late_reply_is_not_counted_as_a_probe),
		TEST(a_batch_sent_again_is_acknowledged_but_counted_once),
		TEST(missing_batches_are_no_network_loss),
		TEST(results_of_closed_bins_are_late),
		TEST(another_incarnation_or_host_counts_nowhere),
		TEST(results_above_the_rate_are_counted_and_not_judged),
		TEST(a_loss_to_a_changed_qpn_is_stale),
		TEST(receive_counts_of_others_rnics_are_refused),
	};

	return cmocka_run_group_tests_name("ingest", tests, NULL, NULL);
}
