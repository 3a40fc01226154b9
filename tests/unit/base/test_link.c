#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <event2/buffer.h>
#include <stdlib.h>

#include "rackmesh/base/frame.h"
#include "rackmesh/base/link.h"
#include "tests/support/loopback.h"

#define MAX_FRAME 4096
#define MAX_OUTPUT (64 << 10)

/* A link on one end of a connection, a bare socket on the other. */
struct fixture {
	struct rm_loop *loop;
	struct rm_link *link;
	int peer;

	unsigned frames;
	size_t bytes;
	unsigned misaligned;
	unsigned closes;
	int reason;
	unsigned drained;

	int frame_returns;
	bool close_in_frame;
	bool free_in_close;
	bool in_send;
	struct fixture *other; /* its frames as they stood at our 1st and last */
	unsigned other_at_last;
};

static int
on_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	struct fixture *f = arg;

	assert_int_equal(f->closes, 0);
	f->frames++;
	f->bytes += len;
	if ((uintptr_t)data & 7)
		f->misaligned++;
	if (f->other != NULL)
		f->other_at_last = f->other->frames;
	if (f->close_in_frame) {
		rm_link_close(link, -ECANCELED);
		assert_int_equal(f->closes, 0);
	}
	return f->frame_returns;
}

static void
on_close(struct rm_link *link, int reason, void *arg)
{
	struct fixture *f = arg;

	assert_false(f->in_send);
	f->closes++;
	f->reason = reason;
	if (f->free_in_close) {
		rm_link_free(link);
		f->link = NULL;
	}
}

static void
on_drained(struct rm_link *link, void *arg)
{
	struct fixture *f = arg;

	f->drained++;
}

static const struct rm_link_callbacks callbacks = { on_frame, on_close, on_drained };
static const struct rm_link_limits limits = { MAX_FRAME, MAX_OUTPUT };

static void
fixture_open(struct fixture *f, int buffer_bytes)
{
	int fds[2];

	loopback_pair(fds, buffer_bytes);
	assert_int_equal(
	    rm_link_new(f->loop, fds[0], &limits, &callbacks, f, &f->link), 0);
	f->peer = fds[1];
}

static void
fixture_shut(struct fixture *f)
{
	rm_link_free(f->link);
	f->link = NULL;
	if (f->peer >= 0)
		close(f->peer);
	f->peer = -1;
}

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (f == NULL || rm_loop_new(&f->loop) < 0)
		return -1;
	f->peer = -1;
	fixture_open(f, 0);
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	fixture_shut(f);
	rm_loop_free(f->loop);
	free(f);
	return 0;
}

/* What the peer sends: count frames of len bytes, as one piece of memory. */
static struct evbuffer *
frames_of(unsigned count, size_t len)
{
	struct evbuffer *out = evbuffer_new();
	uint8_t data[MAX_FRAME + 1] = { 7 };

	assert_non_null(out);
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(rm_frame_put(out, data, len), 0);
	return out;
}

static void
peer_writes(struct fixture *f, struct evbuffer *bytes)
{
	size_t len = evbuffer_get_length(bytes);

	assert_int_equal(write(f->peer, evbuffer_pullup(bytes, -1), len), len);
	evbuffer_free(bytes);
}

static void
peer_resets(struct fixture *f)
{
	struct linger linger = { .l_onoff = 1 };

	setsockopt(f->peer, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	close(f->peer);
	f->peer = -1;
}

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
an_orderly_close_is_told_from_a_reset(void **state)
{
	struct fixture *f = *state;

	close(f->peer);
	f->peer = -1;
	LOOPBACK_WAIT(f->loop, f->closes > 0);
	assert_int_equal(f->reason, 0);

	fixture_shut(f);
	f->closes = 0;
	fixture_open(f, 0);
	peer_resets(f);
	LOOPBACK_WAIT(f->loop, f->closes > 0);
	assert_int_equal(f->reason, -ECONNRESET);
}

static void
a_close_in_the_middle_of_a_frame_is_a_reset(void **state)
{
	struct fixture *f = *state;
	struct evbuffer *bytes = frames_of(2, 100);

	assert_int_equal(write(f->peer, evbuffer_pullup(bytes, -1), 150), 150);
	evbuffer_free(bytes);
	close(f->peer);
	f->peer = -1;
	LOOPBACK_WAIT(f->loop, f->closes > 0);
	assert_int_equal(f->frames, 1);
	assert_int_equal(f->reason, -ECONNRESET);
}

static void
everything_sent_before_a_close_arrives_first(void **state)
{
	struct fixture *f = *state;

	peer_writes(f, frames_of(1000, 1));
	close(f->peer);
	f->peer = -1;
	LOOPBACK_WAIT(f->loop, f->closes > 0);
	assert_int_equal(f->frames, 1000);
	assert_int_equal(f->reason, 0);
}

static void
sending_to_one_who_has_left_still_hears_his_last_words(void **state)
{
	struct fixture *f = *state;
	uint8_t byte = 1;

	peer_writes(f, frames_of(300, 10));
	close(f->peer);
	f->peer = -1;
	/* The first provokes a reset, the next one meets EPIPE. */
	for (int i = 0; i < 3; i++) {
		assert_int_equal(rm_link_send(f->link, &byte, 1), 0);
		event_base_loop(rm_loop_base(f->loop), EVLOOP_ONCE);
		if (f->closes > 0)
			break;
	}
	LOOPBACK_WAIT(f->loop, f->closes > 0);
	assert_int_equal(f->frames, 300);
	assert_int_equal(f->reason, 0);
	assert_int_equal(f->closes, 1);
}

static void
a_busy_peer_lets_the_other_one_through(void **state)
{
	struct fixture *f = *state;
	struct fixture quiet = { .loop = f->loop, .peer = -1 };

	fixture_open(&quiet, 0);
	f->other = &quiet;
	peer_writes(f, frames_of(2000, 1));
	peer_writes(&quiet, frames_of(1, 1));
	LOOPBACK_WAIT(f->loop, f->frames == 2000);
	assert_int_equal(f->other_at_last, 1);
	fixture_shut(&quiet);
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

	/* Once he reads, everything that was taken arrives and we hear of it. */
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

static void
close_comes_once_from_the_loop_and_may_free(void **state)
{
	struct fixture *f = *state;

	f->free_in_close = true;
	f->in_send = true;
	rm_link_close(f->link, -EPROTO);
	rm_link_close(f->link, -EIO);
	assert_int_equal(f->closes, 0);
	assert_int_equal(rm_link_send(f->link, (const uint8_t *)"x", 1), -ENOTCONN);
	f->in_send = false;
	peer_resets(f);
	LOOPBACK_WAIT(f->loop, f->closes > 0);
	loopback_run(f->loop, 20 * RM_NS_PER_MS);
	assert_int_equal(f->closes, 1);
	assert_int_equal(f->reason, -EPROTO);
}

static void
freeing_with_a_close_pending_is_silent(void **state)
{
	struct fixture *f = *state;

	peer_writes(f, frames_of(500, 1));
	LOOPBACK_WAIT(f->loop, f->frames > 0);
	rm_link_close(f->link, -EPROTO);
	rm_link_free(f->link);
	f->link = NULL;
	loopback_run(f->loop, 20 * RM_NS_PER_MS);
	assert_int_equal(f->closes, 0);
}

static void
what_a_frame_handler_returns_is_the_reason(void **state)
{
	struct fixture *f = *state;

	f->free_in_close = true;
	f->frame_returns = -EAGAIN; /* means nothing special here */
	peer_writes(f, frames_of(3, 1));
	LOOPBACK_WAIT(f->loop, f->closes > 0);
	assert_int_equal(f->frames, 1);
	assert_int_equal(f->reason, -EAGAIN);
}

static void
closing_from_a_frame_handler_ends_the_frames(void **state)
{
	struct fixture *f = *state;

	f->free_in_close = true;
	f->close_in_frame = true;
	peer_writes(f, frames_of(3, 1));
	LOOPBACK_WAIT(f->loop, f->closes > 0);
	assert_int_equal(f->frames, 1);
	assert_int_equal(f->reason, -ECANCELED);
}

static void
what_was_sent_before_a_close_still_goes(void **state)
{
	struct fixture *f = *state;
	uint8_t got[64];

	assert_int_equal(rm_link_send(f->link, (const uint8_t *)"sorry", 5), 0);
	rm_link_close(f->link, -EPERM);
	LOOPBACK_WAIT(f->loop, f->closes > 0);
	assert_int_equal(recv(f->peer, got, sizeof(got), 0), 13);
	assert_memory_equal(got + 8, "sorry", 5);
	assert_int_equal(recv(f->peer, got, sizeof(got), 0), 0);
}

/* Our process freezes no other here, but a socket that nobody reads is the same
 * to its peer: the kernel acknowledges, the owner does not answer. */
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
		TEST(an_orderly_close_is_told_from_a_reset),
		TEST(a_close_in_the_middle_of_a_frame_is_a_reset),
		TEST(everything_sent_before_a_close_arrives_first),
		TEST(sending_to_one_who_has_left_still_hears_his_last_words),
		TEST(a_busy_peer_lets_the_other_one_through),
		TEST(sends_are_refused_when_the_peer_does_not_read),
		TEST(close_comes_once_from_the_loop_and_may_free),
		TEST(freeing_with_a_close_pending_is_silent),
		TEST(what_a_frame_handler_returns_is_the_reason),
		TEST(closing_from_a_frame_handler_ends_the_frames),
		TEST(what_was_sent_before_a_close_still_goes),
		TEST(a_frozen_peer_still_acknowledges),
		TEST(a_unix_socket_has_no_acknowledgements),
	};

	return cmocka_run_group_tests_name("link", tests, NULL, NULL);
}
