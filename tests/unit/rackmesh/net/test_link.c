#include <netinet/in.h>
#include <netinet/tcp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/support/link_fixture.h"

static void
a_hundred_frames_in_one_write_all_arrive(void **state)
{
	struct fixture *f = *state;

	peer_writes(f, frames_of(100, 37));
	LOOPBACK_WAIT(f->loop, f->frames == 100);
	assert_int_equal(f->bytes, 100 * 37);
	assert_int_equal(f->misaligned, 0);
	assert_int_equal(rm_link_counts(f->link)->frames_in, 100);
	assert_int_equal(rm_link_counts(f->link)->bytes_in, 100 * (37 + 8));
}

static void
a_frame_that_comes_byte_by_byte_arrives_once(void **state)
{
	struct fixture *f = *state;
	struct evbuffer *bytes = frames_of(2, 9);
	size_t len = evbuffer_get_length(bytes);
	const uint8_t *at = evbuffer_pullup(bytes, -1);

	for (size_t i = 0; i < len; i++) {
		assert_int_equal(f->frames, i / (len / 2));
		assert_int_equal(write(f->peer, at + i, 1), 1);
		event_base_loop(rm_loop_base(f->loop), EVLOOP_ONCE);
	}
	LOOPBACK_WAIT(f->loop, f->frames == 2);
	evbuffer_free(bytes);
}

static void
a_frame_of_the_largest_size_passes_the_read_limit(void **state)
{
	struct fixture *f = *state;

	peer_writes(f, frames_of(5, MAX_FRAME));
	LOOPBACK_WAIT(f->loop, f->frames == 5);
}

static void
expect_refusal(struct fixture *f, int reason)
{
	LOOPBACK_WAIT(f->loop, f->closes > 0);
	assert_int_equal(f->reason, reason);
	assert_int_equal(rm_link_counts(f->link)->refused_frames, 1);
}

static void
an_oversized_frame_closes_and_counts(void **state)
{
	struct fixture *f = *state;

	peer_writes(f, frames_of(1, MAX_FRAME + 1));
	expect_refusal(f, -EMSGSIZE);
	assert_int_equal(f->frames, 0);
}

static void
an_empty_frame_closes_and_counts(void **state)
{
	struct fixture *f = *state;
	static const uint8_t empty[8];

	assert_int_equal(write(f->peer, empty, sizeof(empty)), sizeof(empty));
	expect_refusal(f, -EMSGSIZE);
}

static void
a_damaged_frame_closes_and_counts_after_the_good_ones(void **state)
{
	struct fixture *f = *state;
	struct evbuffer *bytes = frames_of(3, 20);

	evbuffer_pullup(bytes, -1)[evbuffer_get_length(bytes) - 1] ^= 1;
	peer_writes(f, bytes);
	expect_refusal(f, -EBADMSG);
	assert_int_equal(f->frames, 2);
}

static void
a_busy_peer_does_not_block_another_one(void **state)
{
	struct fixture *f = *state;
	struct fixture quiet = { .loop = f->loop, .peer = -1 };

	fixture_open(&quiet, 0);
	quiet.other = f;
	peer_writes(f, frames_of(2000, 1));
	peer_writes(&quiet, frames_of(1, 1));
	LOOPBACK_WAIT(f->loop, f->frames == 2000 && quiet.frames == 1);
	/* One read delivers at most 455 frames; one share must be fewer. */
	assert_in_range(quiet.other_at_first, 0, 200);
	fixture_shut(&quiet);
}

static void
a_paused_link_hands_over_nothing_until_it_is_resumed(void **state)
{
	struct fixture *f = *state;

	rm_link_pause(f->link);
	peer_writes(f, frames_of(3, 9));
	loopback_run(f->loop, 50 * RM_NS_PER_MS);
	assert_int_equal(f->frames, 0);
	rm_link_resume(f->link);
	LOOPBACK_WAIT(f->loop, f->frames == 3);
	/* Data that arrives during a pause is not handed over; the link can be
	 * closed all the same. */
	peer_writes(f, frames_of(2, 9));
	rm_link_pause(f->link);
	rm_link_close(f->link, -ETIMEDOUT);
	LOOPBACK_WAIT(f->loop, f->closes > 0);
	assert_int_equal(f->reason, -ETIMEDOUT);
	assert_int_equal(f->frames, 3);
}

static void
sends_are_refused_when_the_peer_does_not_read(void **state)
{
	struct fixture *f = *state;
	uint8_t data[1000] = { 0 };
	unsigned sent = 0;
	int r;

	fixture_shut(f);
	fixture_open(f, 8192);
	while ((r = rm_link_send(f->link, data, sizeof(data))) == 0) {
		event_base_loop(rm_loop_base(f->loop), EVLOOP_NONBLOCK);
		assert_in_range(++sent, 1, 10000);
	}
	assert_int_equal(r, -ENOBUFS);
	assert_in_range(rm_link_output_bytes(f->link), MAX_OUTPUT - 2000, MAX_OUTPUT);
	assert_int_equal(rm_link_counts(f->link)->refused_sends, 1);
	assert_int_equal(rm_link_counts(f->link)->frames_out, sent);
	assert_int_equal(f->closes, 0);

	/* Once the peer reads, all queued frames arrive and on_drain is called. */
	f->drained = 0;
	for (size_t got = 0; got < sent * (sizeof(data) + 8);) {
		uint8_t sink[4096];
		ssize_t n = recv(f->peer, sink, sizeof(sink), MSG_DONTWAIT);

		if (n > 0)
			got += (size_t)n;
		else
			event_base_loop(rm_loop_base(f->loop), EVLOOP_ONCE);
	}
	LOOPBACK_WAIT(f->loop, f->drained > 0);
	assert_int_equal(rm_link_output_bytes(f->link), 0);
}

/* The test cannot freeze a peer, but a socket that is never read looks the same to
 * the link: the kernel acknowledges the data, the owner does not answer. */
static void
a_frozen_peer_still_acknowledges(void **state)
{
	struct fixture *f = *state;
	uint32_t unacked = 1;
	int64_t since_ns;

	loopback_run(f->loop, 150 * RM_NS_PER_MS);
	assert_int_equal(rm_link_peer_ack(f->link, &since_ns, &unacked), 0);
	assert_in_range(since_ns, 100 * RM_NS_PER_MS, 5 * RM_NS_PER_S);
	assert_int_equal(unacked, 0);

	assert_int_equal(rm_link_send(f->link, (const uint8_t *)"alive?", 6), 0);
	LOOPBACK_WAIT(f->loop, rm_link_peer_ack(f->link, &since_ns, &unacked) == 0 &&
				   unacked == 0 && since_ns < 100 * RM_NS_PER_MS &&
				   rm_link_output_bytes(f->link) == 0);
}

/* A peer that froze before has no data of ours to acknowledge. Without this check we
 * would wait for ever. */
static void
a_vanished_host_is_noticed_also_without_own_traffic(void **state)
{
	struct fixture *f = *state;
	int fds[2], alive = 0, idle_s = 0;
	socklen_t len = sizeof(int);
	struct rm_link *link;

	loopback_pair(fds, 0);
	assert_int_equal(
	    rm_link_new(f->loop, fds[0], &limits, &callbacks, f, &link), 0);
	assert_int_equal(getsockopt(fds[0], SOL_SOCKET, SO_KEEPALIVE, &alive, &len), 0);
	assert_int_equal(
	    getsockopt(fds[0], IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, &len), 0);
	assert_int_equal(alive, 1);
	assert_in_range(idle_s, 1, 10);
	rm_link_free(link);
	close(fds[1]);
}

static void
a_unix_socket_has_no_acknowledgements(void **state)
{
	struct fixture *f = *state;
	uint32_t unacked;
	int64_t since_ns;
	int fds[2];

	fixture_shut(f);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(
	    rm_link_new(f->loop, fds[0], &limits, &callbacks, f, &f->link), 0);
	f->peer = fds[1];
	peer_writes(f, frames_of(3, 3));
	LOOPBACK_WAIT(f->loop, f->frames == 3);
	assert_int_equal(rm_link_peer_ack(f->link, &since_ns, &unacked), -EOPNOTSUPP);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_hundred_frames_in_one_write_all_arrive),
		TEST(a_frame_that_comes_byte_by_byte_arrives_once),
		TEST(a_frame_of_the_largest_size_passes_the_read_limit),
		TEST(an_oversized_frame_closes_and_counts),
		TEST(an_empty_frame_closes_and_counts),
		TEST(a_damaged_frame_closes_and_counts_after_the_good_ones),
		TEST(a_busy_peer_does_not_block_another_one),
		TEST(a_paused_link_hands_over_nothing_until_it_is_resumed),
		TEST(sends_are_refused_when_the_peer_does_not_read),
		TEST(a_frozen_peer_still_acknowledges),
		TEST(a_vanished_host_is_noticed_also_without_own_traffic),
		TEST(a_unix_socket_has_no_acknowledgements),
	};

	return cmocka_run_group_tests_name("link", tests, NULL, NULL);
}
