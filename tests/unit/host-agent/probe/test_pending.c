#include "host-agent/probe/pending.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "host-agent/packet/stamp.h"

#define US RM_NS_PER_US
#define MS RM_NS_PER_MS
#define S RM_NS_PER_S
#define TIMEOUT (500 * MS)
#define ALL                                                                     \
	(PENDING_IN_FLIGHT | PENDING_SENT | PENDING_REPLIED | PENDING_ARRIVED | \
	    PENDING_ANSWERED)

/* T1 0, T2 +2 us, T3 and T4 30 us apart, T5 +60 us, T6 +70 us */
static struct pending_probe
probe(uint8_t has)
{
	return (struct pending_probe){ .posted = { 100 * S },
		.seen = { 100 * S + 70 * US },
		.timestamp = stamp_time_write(1700000000 * S),
		.sent_ns = 1700000000 * S + 2 * US,
		.back_ns = 1700000000 * S + 60 * US,
		.arrived_ns = 5 * S,
		.answered_ns = 5 * S + 30 * US,
		.stamp_source = WIRE_STAMP_KERNEL,
		.has = has };
}

static struct wire_result
conclude(const struct pending_probe *p, bool self_loss)
{
	struct wire_result result = { 0 };

	pending_conclude(p, TIMEOUT, self_loss, &result);
	return result;
}

static void
the_three_delays_are_computed_as_designed(void **state)
{
	struct pending_probe p = probe(ALL);
	struct wire_result r = conclude(&p, false);

	assert_true(pending_complete(&p));
	assert_int_equal(r.outcome, WIRE_OK);
	assert_int_equal(r.flags, WIRE_SPLIT);
	assert_int_equal(r.round_trip_ns, 58 * US);
	assert_int_equal(r.responder_delay_ns, 30 * US);
	assert_int_equal(r.rtt_ns, 28 * US);
	assert_int_equal(r.prober_delay_ns, 12 * US);
	assert_int_equal(r.stamp_source, WIRE_STAMP_KERNEL);
}

static void
without_a_follow_up_there_is_only_the_round_trip(void **state)
{
	struct pending_probe p = probe(ALL & ~PENDING_ANSWERED);
	struct wire_result r = conclude(&p, true);

	assert_false(pending_complete(&p));
	assert_int_equal(r.outcome, WIRE_OK);
	assert_int_equal(r.flags, 0);
	assert_int_equal(r.round_trip_ns, 58 * US);
	assert_int_equal(r.rtt_ns, 0);
}

static void
without_a_send_stamp_the_hosts_clock_is_used_and_marked(void **state)
{
	struct pending_probe p = probe(ALL & ~PENDING_SENT);
	struct wire_result r = conclude(&p, false);

	assert_int_equal(r.outcome, WIRE_OK);
	assert_int_equal(r.stamp_source, WIRE_STAMP_USER);
	assert_int_equal(r.flags, 0);
	assert_int_equal(r.round_trip_ns, 60 * US);
}

/* The RNIC's stamps belong to an unrelated clock: T1 and T6 are used instead. */
static void
a_ports_clock_is_never_mixed_with_the_wall_clock(void **state)
{
	struct pending_probe p = probe(ALL & ~PENDING_SENT);
	struct wire_result r;

	p.own_clock = true;
	p.back_ns = 17;
	p.seen = rm_mono_add(p.posted, 70 * US);
	r = conclude(&p, false);
	assert_int_equal(r.outcome, WIRE_OK);
	assert_int_equal(r.stamp_source, WIRE_STAMP_USER);
	assert_int_equal(r.round_trip_ns, 70 * US);
	assert_int_equal(r.prober_delay_ns, 0);

	p.has = PENDING_IN_FLIGHT | PENDING_SENT;
	r = conclude(&p, false);
	assert_int_equal(r.outcome, WIRE_NO_REPLY);
	assert_int_equal(r.stamp_source, 0);
}

/* The software time that replaces T2 was read before T1: the prober's delay that
 * follows from it is no valid time. */
static void
without_the_send_stamp_a_fast_reply_is_not_invalid(void **state)
{
	struct pending_probe p = probe(ALL & ~PENDING_SENT);

	p.seen = rm_mono_add(p.posted, 59 * US);
	assert_int_equal(conclude(&p, false).outcome, WIRE_OK);
	assert_int_equal(conclude(&p, false).round_trip_ns, 60 * US);
}

static void
a_lost_probe_is_classified_by_the_possible_cause(void **state)
{
	struct pending_probe p = probe(PENDING_IN_FLIGHT | PENDING_SENT);

	assert_int_equal(conclude(&p, false).outcome, WIRE_NO_REPLY);
	assert_int_equal(conclude(&p, true).outcome, WIRE_SELF_LOSS);
	p.result_flags = WIRE_LATE_SEND;
	assert_int_equal(conclude(&p, false).outcome, WIRE_SENT_LATE);
	assert_int_equal(conclude(&p, false).flags, WIRE_LATE_SEND);
	assert_int_equal(conclude(&p, true).outcome, WIRE_SELF_LOSS);
}

static void
the_stamps_decide_what_came_too_late(void **state)
{
	struct pending_probe p = probe(ALL);

	p.back_ns = p.sent_ns + TIMEOUT;
	/* Read 4 s after posting; the stamp counts. */
	p.seen = rm_mono_add(p.posted, 4 * S);
	assert_int_equal(conclude(&p, false).outcome, WIRE_OK);
	p.back_ns++;
	assert_int_equal(conclude(&p, false).outcome, WIRE_LATE_REPLY);
}

static void
impossible_times_are_invalid_by_their_reason(void **state)
{
	struct pending_probe p = probe(ALL);

	p.answered_ns = p.arrived_ns - 1;
	assert_int_equal(conclude(&p, false).outcome, WIRE_INVALID);
	assert_int_equal(conclude(&p, false).invalid_reason, WIRE_T4_BEFORE_T3);

	p = probe(ALL);
	p.back_ns = p.sent_ns - 1;
	assert_int_equal(conclude(&p, false).invalid_reason, WIRE_T5_BEFORE_T2);

	p = probe(ALL);
	p.answered_ns = p.arrived_ns + 59 * US;
	assert_int_equal(conclude(&p, false).invalid_reason, WIRE_RTT_NEGATIVE);

	p = probe(ALL);
	p.seen = rm_mono_add(p.posted, 57 * US);
	assert_int_equal(conclude(&p, false).invalid_reason, WIRE_DELAY_NEGATIVE);
	assert_int_equal(conclude(&p, false).round_trip_ns, 0);

	p = probe(ALL);
	p.seen = rm_mono_add(p.posted, 11 * S);
	assert_int_equal(conclude(&p, false).invalid_reason, WIRE_ABSURD);
}

static void
a_probe_is_found_by_its_number_until_it_has_ended(void **state)
{
	/* The sequence numbers wrap. */
	struct pending *pending = pending_new(0, UINT32_MAX - 1);
	struct pending_probe *p[4];

	assert_non_null(pending);
	for (size_t i = 0; i < 4; i++)
		p[i] = pending_add(pending);
	assert_int_equal(p[2]->seq, 0);
	assert_ptr_equal(pending_find(pending, 0), p[2]);
	assert_null(pending_find(pending, 2));
	assert_null(pending_find(pending, 64));
	pending_remove(pending, p[1]);
	assert_ptr_equal(pending_oldest(pending), p[0]);
	pending_remove(pending, p[0]);
	assert_ptr_equal(pending_oldest(pending), p[2]);
	assert_null(pending_find(pending, UINT32_MAX));
	assert_int_equal(pending_count(pending), 2);
	pending_free(pending);
}

static void
pending_is_full_when_the_oldest_probe_is_too_far_behind(void **state)
{
	struct pending *pending = pending_new(64, 7);
	struct pending_probe *p;

	assert_non_null(pending);
	for (uint32_t i = 0; i < 64; i++) {
		p = pending_add(pending);
		assert_non_null(p);
		if (i % 2 == 1)
			pending_remove(pending, p);
	}
	assert_null(pending_add(pending));
	assert_int_equal(pending_reserve(pending, 65), 0);
	assert_int_equal(pending_count(pending), 32);
	assert_int_equal(pending_find(pending, 7 + 62)->seq, 7 + 62);
	assert_null(pending_find(pending, 7 + 63));
	assert_int_equal(pending_add(pending)->seq, 7 + 64);
	pending_free(pending);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_three_delays_are_computed_as_designed),
		cmocka_unit_test(without_a_follow_up_there_is_only_the_round_trip),
		cmocka_unit_test(
		    without_a_send_stamp_the_hosts_clock_is_used_and_marked),
		cmocka_unit_test(a_ports_clock_is_never_mixed_with_the_wall_clock),
		cmocka_unit_test(without_the_send_stamp_a_fast_reply_is_not_invalid),
		cmocka_unit_test(a_lost_probe_is_classified_by_the_possible_cause),
		cmocka_unit_test(the_stamps_decide_what_came_too_late),
		cmocka_unit_test(impossible_times_are_invalid_by_their_reason),
		cmocka_unit_test(a_probe_is_found_by_its_number_until_it_has_ended),
		cmocka_unit_test(
		    pending_is_full_when_the_oldest_probe_is_too_far_behind),
	};

	return cmocka_run_group_tests_name("pending", tests, NULL, NULL);
}
