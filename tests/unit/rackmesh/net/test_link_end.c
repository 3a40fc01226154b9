#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/support/link_fixture.h"

#define MANY_LINKS 60

static void
an_orderly_close_is_distinguished_from_a_reset(void **state)
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

/* So many links are busy at once that libevent delays their deferred shares. The end
 * of each stream is then read before its last frames are handed over. */
static void
links_that_close_together_still_deliver_all_frames(void **state)
{
	struct fixture *f = *state;
	struct fixture flood[MANY_LINKS];
	unsigned gone = 0;

	for (size_t i = 0; i < MANY_LINKS; i++) {
		flood[i] = (struct fixture){ .loop = f->loop };
		fixture_open(&flood[i], 0);
		peer_writes(&flood[i], frames_of(450, 1));
		close(flood[i].peer);
		flood[i].peer = -1;
	}
	for (size_t i = 0; i < MANY_LINKS; i++) {
		LOOPBACK_WAIT(f->loop, flood[i].closes > 0);
		assert_int_equal(flood[i].frames, 450);
		assert_int_equal(flood[i].reason, 0);
		gone += flood[i].closes;
		fixture_shut(&flood[i]);
	}
	assert_int_equal(gone, MANY_LINKS);
}

static void
sending_to_a_closed_peer_still_receives_its_last_frames(void **state)
{
	struct fixture *f = *state;
	uint8_t byte = 1;

	peer_writes(f, frames_of(300, 10));
	close(f->peer);
	f->peer = -1;
	/* The first write causes a reset, the next one gets EPIPE. */
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
the_error_of_a_frame_handler_is_the_reason_of_the_close(void **state)
{
	struct fixture *f = *state;

	f->free_in_close = true;
	f->frame_returns = -EAGAIN; /* has no special meaning here */
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
frames_sent_before_a_close_still_arrive(void **state)
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

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_orderly_close_is_distinguished_from_a_reset),
		TEST(a_close_in_the_middle_of_a_frame_is_a_reset),
		TEST(everything_sent_before_a_close_arrives_first),
		TEST(links_that_close_together_still_deliver_all_frames),
		TEST(sending_to_a_closed_peer_still_receives_its_last_frames),
		TEST(close_comes_once_from_the_loop_and_may_free),
		TEST(freeing_with_a_close_pending_is_silent),
		TEST(the_error_of_a_frame_handler_is_the_reason_of_the_close),
		TEST(closing_from_a_frame_handler_ends_the_frames),
		TEST(frames_sent_before_a_close_still_arrive),
	};

	return cmocka_run_group_tests_name("link_end", tests, NULL, NULL);
}
