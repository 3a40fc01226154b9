#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "host-agent/report/outbox.h"

#define LATER ((rm_mono_t){ 30 * RM_NS_PER_S })
#define RESULTS 10 /* size of each batch */
#define BYTES 100

static const struct outbox_options options = {
	.max_items = 4,
	.max_bytes = 1000,
	.max_age_ns = RM_NS_PER_S,
};

static int
setup(void **state)
{
	struct outbox *outbox;

	if (outbox_new(&options, &outbox) < 0)
		return -1;
	*state = outbox;
	return 0;
}

static int
teardown(void **state)
{
	outbox_free(*state);
	return 0;
}

/* Pushes a batch whose bytes contain its number. */
static void
push_at(struct outbox *outbox, int64_t made_ns, size_t len)
{
	uint8_t data[2000];
	struct wire_bytes bytes = { data, len };

	memset(data, (int)outbox_next_seq(outbox), sizeof(data));
	outbox_push(outbox, (rm_mono_t){ made_ns }, RESULTS, &bytes);
}

static void
push(struct outbox *outbox, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		push_at(outbox, 0, BYTES);
}

/* Sends all batches that are due. Returns their numbers as the digits of a number. */
static unsigned
send_all_at(struct outbox *outbox, rm_mono_t now)
{
	struct wire_bytes bytes;
	unsigned sent = 0;

	while (outbox_peek(outbox, now, &bytes) == 0) {
		sent = sent * 10 + bytes.data[0];
		outbox_sent(outbox, now);
	}
	return sent;
}

static unsigned
send_all(struct outbox *outbox)
{
	return send_all_at(outbox, (rm_mono_t){ 0 });
}

static void
assert_conserved(struct outbox *outbox)
{
	const struct outbox_counts *counts = outbox_counts(outbox);

	assert_int_equal(counts->made.batches,
	    counts->acked.batches + outbox_dropped(outbox).batches +
		counts->waiting.batches + counts->doubtful.batches);
	assert_int_equal(counts->made.results,
	    counts->acked.results + outbox_dropped(outbox).results +
		counts->waiting.results + counts->doubtful.results);
}

static void
nothing_is_sent_without_a_session(void **state)
{
	push(*state, 2);
	assert_int_equal(send_all(*state), 0);
	assert_int_equal(outbox_begin(*state, 0), 0);
	assert_int_equal(send_all(*state), 12);
	outbox_end(*state);
	push(*state, 1);
	assert_int_equal(send_all(*state), 0);
}

static void
an_acknowledged_batch_is_removed(void **state)
{
	outbox_begin(*state, 0);
	push(*state, 3);
	send_all(*state);
	assert_int_equal(outbox_ack(*state, 2, LATER), 0);
	assert_int_equal(outbox_counts(*state)->acked.batches, 2);
	assert_int_equal(outbox_counts(*state)->acked.results, 2 * RESULTS);
	assert_int_equal(outbox_bytes(*state), BYTES);
	/* The same acknowledgement again changes nothing. */
	assert_int_equal(outbox_ack(*state, 2, LATER), 0);
	assert_int_equal(outbox_counts(*state)->acked.batches, 2);
	assert_conserved(*state);
}

static void
acknowledgements_are_counted_by_the_time_they_took(void **state)
{
	const uint64_t *within = outbox_counts(*state)->acked_within;
	const rm_mono_t sent = { RM_NS_PER_S };

	outbox_begin(*state, 0);
	push(*state, 4);
	send_all_at(*state, sent);
	outbox_ack(*state, 1, rm_mono_add(sent, OUTBOX_ACK_FIRST_NS));
	assert_int_equal(within[0], 1);
	outbox_ack(*state, 3, rm_mono_add(sent, OUTBOX_ACK_FIRST_NS + 1));
	outbox_ack(*state, 3, rm_mono_add(sent, OUTBOX_ACK_FIRST_NS + 1));
	assert_int_equal(within[0], 1);
	assert_int_equal(within[1], 3);
	outbox_ack(*state, 4, rm_mono_add(sent, 2 * RM_NS_PER_S));
	assert_int_equal(within[OUTBOX_ACK_STEPS - 1], 3);
}

static void
a_new_session_sends_exactly_the_uncounted_batches(void **state)
{
	outbox_begin(*state, 0);
	push(*state, 4);
	assert_int_equal(send_all(*state), 1234);
	outbox_ack(*state, 1, LATER);
	outbox_end(*state);
	/* The acknowledgement of batch 2 was lost with the session. */
	assert_int_equal(outbox_begin(*state, 2), 0);
	assert_int_equal(send_all(*state), 34);
	assert_int_equal(outbox_counts(*state)->sent.batches, 4);
	assert_int_equal(outbox_counts(*state)->resent.batches, 2);
	assert_int_equal(outbox_ack(*state, 4, LATER), 0);
	assert_int_equal(outbox_counts(*state)->acked.batches, 4);
	assert_conserved(*state);
}

static void
a_peer_that_forgot_everything_gets_everything_again(void **state)
{
	outbox_begin(*state, 0);
	push(*state, 3);
	send_all(*state);
	outbox_ack(*state, 1, LATER);
	outbox_end(*state);
	assert_int_equal(outbox_begin(*state, 0), 0);
	assert_int_equal(send_all(*state), 23);
}

static void
the_oldest_batch_is_dropped_first_and_counted(void **state)
{
	push(*state, 6);
	assert_int_equal(outbox_counts(*state)->dropped[OUTBOX_DROP_FULL].batches, 2);
	assert_int_equal(
	    outbox_counts(*state)->dropped[OUTBOX_DROP_FULL].results, 2 * RESULTS);
	outbox_begin(*state, 0);
	assert_int_equal(send_all(*state), 3456);
	assert_conserved(*state);
}

static void
the_outbox_is_bounded_in_bytes_too(void **state)
{
	push_at(*state, 0, 600);
	push_at(*state, 0, 300);
	push_at(*state, 0, 300);
	assert_int_equal(outbox_bytes(*state), 600);
	outbox_begin(*state, 0);
	assert_int_equal(send_all(*state), 23);
}

static void
a_batch_above_the_limit_is_dropped_without_others(void **state)
{
	push(*state, 1);
	push_at(*state, 0, 1001);
	push(*state, 1);
	outbox_begin(*state, 0);
	assert_int_equal(send_all(*state), 13);
	assert_int_equal(outbox_counts(*state)->dropped[OUTBOX_DROP_FULL].batches, 1);
	assert_conserved(*state);
}

static void
a_batch_that_could_not_be_written_is_a_counted_gap(void **state)
{
	outbox_push(*state, (rm_mono_t){ 0 }, RESULTS, NULL);
	push(*state, 1);
	outbox_begin(*state, 0);
	assert_int_equal(send_all(*state), 2);
	assert_int_equal(
	    outbox_counts(*state)->dropped[OUTBOX_DROP_MEMORY].results, RESULTS);
	assert_conserved(*state);
}

static void
a_batch_that_waited_too_long_is_dropped(void **state)
{
	push_at(*state, 0, BYTES);
	push_at(*state, RM_NS_PER_S / 2, BYTES);
	outbox_expire(*state, (rm_mono_t){ RM_NS_PER_S });
	assert_int_equal(outbox_counts(*state)->waiting.batches, 2);
	outbox_expire(*state, (rm_mono_t){ RM_NS_PER_S + 1 });
	assert_int_equal(outbox_counts(*state)->dropped[OUTBOX_DROP_OLD].batches, 1);
	outbox_begin(*state, 0);
	assert_int_equal(send_all(*state), 2);
	assert_conserved(*state);
}

static void
a_sent_and_dropped_batch_is_in_doubt_until_acknowledged(void **state)
{
	outbox_begin(*state, 0);
	push(*state, 4);
	send_all(*state);
	push(*state, 2); /* the peer does not answer: batches 1 and 2 are evicted */
	assert_int_equal(outbox_counts(*state)->doubtful.batches, 2);
	assert_int_equal(outbox_dropped(*state).batches, 0);
	assert_conserved(*state);
	assert_int_equal(outbox_ack(*state, 1, LATER), 0); /* the peer answers again */
	assert_int_equal(outbox_counts(*state)->acked.batches, 1);
	assert_int_equal(outbox_counts(*state)->doubtful.batches, 1);
	assert_int_equal(outbox_ack(*state, 4, LATER), 0);
	assert_int_equal(outbox_counts(*state)->doubtful.batches, 0);
	assert_int_equal(outbox_dropped(*state).batches, 0);
	assert_int_equal(outbox_counts(*state)->acked.batches, 4);
	assert_conserved(*state);
}

static void
a_peer_that_acknowledges_nothing_gets_no_more(void **state)
{
	rm_mono_t patient = { OUTBOX_PATIENCE_NS };
	rm_mono_t tired = { OUTBOX_PATIENCE_NS + 1 };
	struct wire_bytes bytes;

	outbox_begin(*state, 0);
	push(*state, 1);
	send_all(*state);
	push(*state, 1);
	assert_int_equal(send_all_at(*state, patient), 2);
	push(*state, 1);
	assert_int_equal(outbox_peek(*state, tired, &bytes), -EAGAIN);
	/* Batch 1 is evicted. It may have arrived, so it counts as unacknowledged. */
	push(*state, 2);
	assert_int_equal(outbox_peek(*state, tired, &bytes), -EAGAIN);
	/* A batch that was never sent cannot have arrived, so it counts as dropped. */
	push(*state, 2);
	assert_int_equal(outbox_counts(*state)->doubtful.batches, 2);
	assert_int_equal(outbox_counts(*state)->dropped[OUTBOX_DROP_FULL].batches, 1);
	outbox_ack(*state, 1, LATER); /* 2 was sent later than 1 */
	assert_int_equal(send_all_at(*state, tired), 4567);
	assert_conserved(*state);
}

static void
the_next_welcome_decides_batches_in_doubt(void **state)
{
	outbox_begin(*state, 0);
	push(*state, 4);
	send_all(*state);
	outbox_end(*state);
	push(*state, 3); /* 1, 2 and 3 are evicted: sent, but not acknowledged */
	assert_int_equal(outbox_counts(*state)->doubtful.batches, 3);
	assert_int_equal(outbox_begin(*state, 2), 0);
	assert_int_equal(outbox_counts(*state)->acked.batches, 2);
	assert_int_equal(outbox_counts(*state)->dropped[OUTBOX_DROP_FULL].batches, 1);
	assert_int_equal(send_all(*state), 4567);
	assert_conserved(*state);
}

static void
batches_unsent_in_a_session_are_dropped_without_doubt(void **state)
{
	outbox_begin(*state, 0);
	push(*state, 4);
	send_all(*state);
	outbox_end(*state);
	outbox_begin(*state, 0); /* batches 1 to 4 are due again */
	push(*state, 1);
	assert_int_equal(outbox_counts(*state)->doubtful.batches, 0);
	assert_int_equal(outbox_counts(*state)->dropped[OUTBOX_DROP_FULL].batches, 1);
	assert_conserved(*state);
}

static void
the_number_of_batches_in_doubt_is_bounded(void **state)
{
	outbox_begin(*state, 0);
	for (unsigned i = 0; i < 20; i++) {
		push(*state, 1);
		send_all(*state);
		assert_conserved(*state);
	}
	assert_int_equal(outbox_counts(*state)->doubtful.batches, options.max_items);
	assert_int_equal(outbox_counts(*state)->dropped[OUTBOX_DROP_FULL].batches, 12);
}

static void
a_peer_that_acknowledges_unsent_batches_is_refused(void **state)
{
	push(*state, 2);
	assert_int_equal(outbox_begin(*state, 1), -EBADMSG); /* never sent */
	assert_int_equal(outbox_begin(*state, 0), 0);
	assert_int_equal(outbox_ack(*state, 1, LATER), -EBADMSG);
	send_all(*state);
	assert_int_equal(outbox_ack(*state, 3, LATER), -EBADMSG);
	assert_int_equal(outbox_counts(*state)->waiting.batches, 2);
	outbox_end(*state);
	/* There is no session. */
	assert_int_equal(outbox_ack(*state, 1, LATER), -EBADMSG);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nothing_is_sent_without_a_session),
		TEST(an_acknowledged_batch_is_removed),
		TEST(acknowledgements_are_counted_by_the_time_they_took),
		TEST(a_new_session_sends_exactly_the_uncounted_batches),
		TEST(a_peer_that_forgot_everything_gets_everything_again),
		TEST(the_oldest_batch_is_dropped_first_and_counted),
		TEST(the_outbox_is_bounded_in_bytes_too),
		TEST(a_batch_above_the_limit_is_dropped_without_others),
		TEST(a_batch_that_could_not_be_written_is_a_counted_gap),
		TEST(a_batch_that_waited_too_long_is_dropped),
		TEST(a_sent_and_dropped_batch_is_in_doubt_until_acknowledged),
		TEST(a_peer_that_acknowledges_nothing_gets_no_more),
		TEST(the_next_welcome_decides_batches_in_doubt),
		TEST(batches_unsent_in_a_session_are_dropped_without_doubt),
		TEST(the_number_of_batches_in_doubt_is_bounded),
		TEST(a_peer_that_acknowledges_unsent_batches_is_refused),
	};

	return cmocka_run_group_tests_name("outbox", tests, NULL, NULL);
}
