#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <malloc.h>

#include "tests/support/tls_fixture.h"

#define BODY "what nobody on the way may read"
#define REFUSED_PEERS 50
#define UNKNOWN_PEER_BYTES (16 << 10)

static void
both_sides_get_the_identity_of_the_other(void **state)
{
	struct ends *ends = *state;

	ends->dialing.greets = ends->accepting.greets = true;
	ends_open(ends);
	LOOPBACK_WAIT(
	    ends->loop, ends->dialing.frames == 1 && ends->accepting.frames == 1);
	assert_string_equal(ends->dialing.identity, TOR_URI);
	assert_string_equal(ends->accepting.identity, AGENT_URI);
	assert_string_equal(rm_link_identity(ends->accepting.link), AGENT_URI);
	assert_int_equal(rm_tls_counts(ends->dialing.tls)->handshakes, 1);
	assert_int_equal(rm_tls_counts(ends->accepting.tls)->handshakes, 1);
	assert_int_equal(rm_tls_counts(ends->accepting.tls)->refused, 0);
}

/* Replaces the connection of one end by a socket, and checks what that end sent. */
static size_t
wire_of(struct ends *ends, struct end *end, bool accepting, uint8_t *out, size_t size)
{
	size_t got = 0;
	int fds[2];

	loopback_pair(fds, 0);
	end_begin(ends->loop, end, fds[0], accepting);
	assert_int_equal(
	    rm_link_send(end->link, (const uint8_t *)BODY, sizeof(BODY)), 0);
	assert_true(rm_link_output_bytes(end->link) >= sizeof(BODY));
	loopback_run(ends->loop, 50 * RM_NS_PER_MS);
	rm_link_close(end->link, -EPERM);
	LOOPBACK_WAIT(ends->loop, end->closes > 0);
	for (;;) {
		ssize_t n = recv(fds[1], out + got, size - got, 0);

		if (n <= 0)
			break;
		got += (size_t)n;
	}
	close(fds[1]);
	return got;
}

static void
frames_sent_before_the_handshake_are_never_sent_in_plaintext(void **state)
{
	struct ends *ends = *state;
	uint8_t out[4096];
	size_t got;

	got = wire_of(ends, &ends->dialing, false, out, sizeof(out));
	assert_true(got > 0); /* its first message */
	assert_null(memmem(out, got, BODY, sizeof(BODY)));
	assert_int_equal(ends->dialing.opens, 0);
	got = wire_of(ends, &ends->accepting, true, out, sizeof(out));
	assert_int_equal(got, 0);
}

static void
frames_sent_before_the_handshake_are_sent_after_it(void **state)
{
	struct ends *ends = *state;

	ends_connect(ends);
	for (uint64_t i = 1; i <= 10; i++)
		assert_int_equal(
		    rm_link_send(ends->dialing.link, (const uint8_t *)&i, sizeof(i)),
		    0);
	LOOPBACK_WAIT(ends->loop, ends->accepting.frames == 10);
	assert_int_equal(ends->accepting.sum, 55);
}

static void
frames_of_every_size_pass_both_directions(void **state)
{
	struct ends *ends = *state;
	static uint8_t data[ENDS_FRAME];
	size_t bytes = 0;
	unsigned n = 0;

	ends->accepting.echoes = true;
	ends_open(ends);
	for (size_t len = 1; len <= ENDS_FRAME; len = len * 3 + 1) {
		assert_int_equal(rm_link_send(ends->dialing.link, data, len), 0);
		bytes += len;
		n++;
	}
	assert_int_equal(rm_link_send(ends->dialing.link, data, ENDS_FRAME), 0);
	LOOPBACK_WAIT(ends->loop, ends->dialing.frames == n + 1);
	assert_int_equal(ends->dialing.bytes, bytes + ENDS_FRAME);
	assert_int_equal(rm_link_counts(ends->accepting.link)->bytes_in,
	    bytes + ENDS_FRAME + 8 * (n + 1));
}

static void
an_oversized_frame_closes_and_counts(void **state)
{
	struct ends *ends = *state;
	static uint8_t data[ENDS_FRAME + 1];

	ends_open(ends);
	assert_int_equal(rm_link_send(ends->dialing.link, data, sizeof(data)), 0);
	LOOPBACK_WAIT(ends->loop, ends->accepting.closes > 0);
	assert_int_equal(ends->accepting.reason, -EMSGSIZE);
}

static void
a_peer_that_does_not_read_fills_the_queue_and_gets_all_later(void **state)
{
	struct ends *ends = *state;
	static uint8_t data[8000];
	unsigned sent = 0;
	int r;

	ends_open(ends);
	rm_link_pause(ends->accepting.link);
	while ((r = rm_link_send(ends->dialing.link, data, sizeof(data))) == 0) {
		event_base_loop(rm_loop_base(ends->loop), EVLOOP_NONBLOCK);
		assert_in_range(++sent, 1, 10000);
	}
	assert_int_equal(r, -ENOBUFS);
	assert_int_equal(rm_link_counts(ends->dialing.link)->refused_sends, 1);
	assert_in_range(rm_link_output_bytes(ends->dialing.link), ENDS_OUTPUT - 10000,
	    ENDS_OUTPUT + 1000);
	loopback_run(ends->loop, 30 * RM_NS_PER_MS);
	assert_int_equal(ends->accepting.frames, 0);
	ends->dialing.drained = 0;
	rm_link_resume(ends->accepting.link);
	LOOPBACK_WAIT(ends->loop, ends->accepting.frames == sent);
	LOOPBACK_WAIT(ends->loop, ends->dialing.drained > 0);
	assert_int_equal(rm_link_output_bytes(ends->dialing.link), 0);
}

static void
a_link_may_be_paused_before_it_is_open(void **state)
{
	struct ends *ends = *state;

	ends->dialing.greets = true;
	ends_connect(ends);
	rm_link_pause(ends->accepting.link);
	LOOPBACK_WAIT(ends->loop, ends->accepting.opens == 1);
	loopback_run(ends->loop, 30 * RM_NS_PER_MS);
	assert_int_equal(ends->accepting.frames, 0);
	rm_link_resume(ends->accepting.link);
	LOOPBACK_WAIT(ends->loop, ends->accepting.frames == 1);
}

static void
the_last_frames_arrive_and_the_end_is_orderly(void **state)
{
	struct ends *ends = *state;

	ends_open(ends);
	assert_int_equal(
	    rm_link_send(ends->accepting.link, (const uint8_t *)"sorry", 5), 0);
	rm_link_close(ends->accepting.link, -EPERM);
	LOOPBACK_WAIT(ends->loop, ends->dialing.closes > 0);
	assert_int_equal(ends->dialing.frames, 1);
	assert_int_equal(ends->dialing.reason, 0);
	assert_int_equal(ends->accepting.reason, -EPERM);
}

static void
all_that_was_sent_before_an_orderly_end_comes_first(void **state)
{
	struct ends *ends = *state;

	ends_open(ends);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(
		    rm_link_send(ends->dialing.link, (const uint8_t *)"x", 1), 0);
	end_hang_up(&ends->dialing);
	LOOPBACK_WAIT(ends->loop, ends->accepting.closes > 0);
	assert_int_equal(ends->accepting.frames, 1000);
	assert_int_equal(ends->accepting.reason, 0);
}

/*
 * A forwarder between the two ends can cut the stream anywhere. Anybody on the path can
 * end a TCP stream, so that is never an orderly end of TLS.
 */
static void
a_stream_that_is_cut_is_a_reset(void **state)
{
	struct ends *ends = *state;
	uint8_t bytes[65536];
	size_t cut = 0;
	int left[2], right[2];

	loopback_pair(left, 0);
	loopback_pair(right, 0);
	end_begin(ends->loop, &ends->dialing, left[0], false);
	end_begin(ends->loop, &ends->accepting, right[0], true);
	ends->dialing.greets = true;
	while (ends->accepting.frames == 0) {
		ssize_t n = recv(left[1], bytes, sizeof(bytes), MSG_DONTWAIT);

		if (n > 0)
			assert_int_equal(write(right[1], bytes, (size_t)n), n);
		n = recv(right[1], bytes, sizeof(bytes), MSG_DONTWAIT);
		if (n > 0)
			assert_int_equal(write(left[1], bytes, (size_t)n), n);
		event_base_loop(rm_loop_base(ends->loop), EVLOOP_NONBLOCK);
		assert_in_range(++cut, 1, 10000000);
	}
	/* Two frames in two records; only half of the second record gets through. */
	assert_int_equal(
	    rm_link_send(ends->dialing.link, (const uint8_t *)BODY, sizeof(BODY)), 0);
	assert_int_equal(
	    rm_link_send(ends->dialing.link, (const uint8_t *)BODY, sizeof(BODY)), 0);
	LOOPBACK_WAIT(ends->loop, rm_link_output_bytes(ends->dialing.link) == 0);
	cut = (size_t)recv(left[1], bytes, sizeof(bytes), 0);
	assert_int_equal(write(right[1], bytes, cut - 20), cut - 20);
	close(right[1]);
	LOOPBACK_WAIT(ends->loop, ends->accepting.closes > 0);
	assert_int_equal(ends->accepting.frames, 2);
	assert_int_equal(ends->accepting.reason, -ECONNRESET);
	close(left[1]);
}

static void
a_changed_byte_ends_the_link(void **state)
{
	struct ends *ends = *state;
	uint8_t record[64] = { 0x17, 0x03, 0x03, 0x00, 0x20 };
	int fds[2], spare;

	loopback_pair(fds, 0);
	spare = dup(fds[0]);
	end_begin(ends->loop, &ends->dialing, fds[0], false);
	end_begin(ends->loop, &ends->accepting, fds[1], true);
	LOOPBACK_WAIT(ends->loop, ends->accepting.opens > 0);
	assert_int_equal(write(spare, record, 5 + 0x20), 5 + 0x20);
	LOOPBACK_WAIT(ends->loop, ends->accepting.closes > 0);
	assert_int_equal(ends->accepting.frames, 0);
	assert_int_equal(ends->accepting.reason, -EPROTO);
	close(spare);
}

static void
a_plaintext_client_is_closed_at_once_and_counted(void **state)
{
	struct ends *ends = *state;

	rm_tls_free(ends->dialing.tls);
	ends->dialing.tls = NULL;
	ends->dialing.greets = true;
	ends_connect(ends);
	LOOPBACK_WAIT(
	    ends->loop, ends->accepting.closes > 0 && ends->dialing.closes > 0);
	assert_int_equal(ends->accepting.reason, -EPROTO);
	assert_int_equal(ends->accepting.opens, 0);
	assert_int_equal(rm_tls_counts(ends->accepting.tls)->garbled, 1);
	assert_non_null(strstr(ends->accepting.cause, "does not use TLS 1.3"));
	assert_int_equal(ends->dialing.frames, 0);
}

static void
a_plaintext_server_is_left_at_once_and_counted(void **state)
{
	struct ends *ends = *state;

	rm_tls_free(ends->accepting.tls);
	ends->accepting.tls = NULL;
	ends_connect(ends);
	LOOPBACK_WAIT(
	    ends->loop, ends->accepting.closes > 0 && ends->dialing.closes > 0);
	assert_int_equal(ends->accepting.reason, -EMSGSIZE);
	assert_non_null(strstr(ends->accepting.cause, "the peer uses TLS"));
	assert_int_equal(ends->dialing.reason, -ECONNRESET);
	assert_int_equal(ends->dialing.opens, 0);
	assert_int_equal(rm_tls_counts(ends->dialing.tls)->garbled, 1);
	assert_non_null(strstr(ends->dialing.cause, "within the TLS handshake"));
}

static void
half_a_handshake_ends_after_its_time(void **state)
{
	struct ends *ends = *state;
	rm_mono_t begun = rm_mono_now();
	int fds[2];

	loopback_pair(fds, 0);
	end_begin(ends->loop, &ends->accepting, fds[0], true);
	/* A record that never ends. */
	assert_int_equal(write(fds[1], "\x16\x03\x01\x02\x00\x01", 6), 6);
	LOOPBACK_WAIT(ends->loop, ends->accepting.closes > 0);
	assert_int_equal(ends->accepting.reason, -ETIMEDOUT);
	assert_in_range(rm_mono_since(rm_mono_now(), begun), RM_TLS_HANDSHAKE_NS,
	    RM_TLS_HANDSHAKE_NS + RM_NS_PER_S);
	assert_int_equal(rm_tls_counts(ends->accepting.tls)->timed_out, 1);
	assert_non_null(strstr(ends->accepting.cause, "too long"));
	close(fds[1]);
}

static void
an_odd_first_message_is_refused_before_room_is_made_for_it(void **state)
{
	static const uint8_t odd[][12] = {
		{ 0x16, 3, 1, 0x3f, 0xff, 1, 0x01, 0xff, 0xff }, /* a long message */
		/* A message cut into small records. */
		{ 0x16, 3, 1, 0, 1, 1, 0x16, 3, 1, 0, 4 },
	};
	struct ends *ends = *state;

	for (unsigned i = 0; i < 2; i++) {
		int fds[2];

		loopback_pair(fds, 0);
		ends->accepting.closes = 0;
		end_begin(ends->loop, &ends->accepting, fds[0], true);
		assert_int_equal(write(fds[1], odd[i], sizeof(odd[i])), sizeof(odd[i]));
		LOOPBACK_WAIT(ends->loop, ends->accepting.closes > 0);
		assert_int_equal(ends->accepting.reason, -EPROTO);
		assert_int_equal(rm_tls_counts(ends->accepting.tls)->garbled, i + 1);
		close(fds[1]);
	}
}

/* The largest input of an unauthenticated peer: all but the last byte of the longest
 * first message, while the peer reads nothing of our answer. */
static void
an_unknown_peer_takes_little_memory(void **state)
{
	struct ends *ends = *state;
	struct end pending_conns[REFUSED_PEERS] = { 0 };
	static uint8_t junk[8000] = { 0x16, 3, 1, 0x20, 0, 1, 0, 0x1f, 0xfc };
	size_t before = 0, each;
	int fds[2], peers[REFUSED_PEERS];

	for (int i = 0; i < REFUSED_PEERS; i++) {
		pending_conns[i].tls = ends->accepting.tls;
		loopback_pair(fds, 0);
		peers[i] = fds[1];
		end_begin(ends->loop, &pending_conns[i], fds[0], true);
		assert_int_equal(write(fds[1], junk, sizeof(junk)), sizeof(junk));
		if (i == 0) /* allocations that happen once */
			loopback_run(ends->loop, 20 * RM_NS_PER_MS);
		if (i == 0)
			before = mallinfo2().uordblks;
	}
	loopback_run(ends->loop, 100 * RM_NS_PER_MS);
	each = (mallinfo2().uordblks - before) / (REFUSED_PEERS - 1);
	print_message("%zu bytes each\n", each); /* 0 with sanitizers */
	assert_in_range(each, 0, UNKNOWN_PEER_BYTES);
	for (int i = 0; i < REFUSED_PEERS; i++) {
		pending_conns[i].tls = NULL;
		end_clear(&pending_conns[i]);
		close(peers[i]);
	}
}

static void
the_error_of_on_open_is_the_reason_of_the_close(void **state)
{
	struct ends *ends = *state;

	ends->accepting.open_returns = -EPERM;
	ends->accepting.greets = true; /* the alert that refuses it */
	ends_connect(ends);
	LOOPBACK_WAIT(
	    ends->loop, ends->accepting.closes > 0 && ends->dialing.closes > 0);
	assert_int_equal(ends->accepting.reason, -EPERM);
	assert_int_equal(ends->dialing.frames, 1);
	assert_int_equal(ends->dialing.reason, 0);
}

static void
a_link_without_tls_opens_from_the_loop(void **state)
{
	struct ends *ends = *state;

	end_clear(&ends->dialing);
	end_clear(&ends->accepting);
	ends->dialing.greets = true;
	ends_connect(ends);
	assert_int_equal(ends->dialing.opens, 0);
	LOOPBACK_WAIT(ends->loop, ends->accepting.frames == 1);
	assert_int_equal(ends->dialing.opens, 1);
	assert_int_equal(ends->accepting.opens, 1);
	assert_string_equal(ends->accepting.identity, "");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, ends_setup, ends_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(both_sides_get_the_identity_of_the_other),
		TEST(frames_sent_before_the_handshake_are_never_sent_in_plaintext),
		TEST(frames_sent_before_the_handshake_are_sent_after_it),
		TEST(frames_of_every_size_pass_both_directions),
		TEST(an_oversized_frame_closes_and_counts),
		TEST(a_peer_that_does_not_read_fills_the_queue_and_gets_all_later),
		TEST(a_link_may_be_paused_before_it_is_open),
		TEST(the_last_frames_arrive_and_the_end_is_orderly),
		TEST(all_that_was_sent_before_an_orderly_end_comes_first),
		TEST(a_stream_that_is_cut_is_a_reset),
		TEST(a_changed_byte_ends_the_link),
		TEST(a_plaintext_client_is_closed_at_once_and_counted),
		TEST(a_plaintext_server_is_left_at_once_and_counted),
		TEST(half_a_handshake_ends_after_its_time),
		TEST(an_odd_first_message_is_refused_before_room_is_made_for_it),
		TEST(an_unknown_peer_takes_little_memory),
		TEST(the_error_of_on_open_is_the_reason_of_the_close),
		TEST(a_link_without_tls_opens_from_the_loop),
	};

	return cmocka_run_group_tests_name("link_tls", tests, NULL, NULL);
}
