/* Frames that have begun and do not come to an end: a relay lies between a link and its
 * peer, and at a word lets one byte through at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>

#include "tests/support/tls_fixture.h"

#define FRAME_NS (500 * RM_NS_PER_MS)
#define BYTE_NS RM_NS_PER_MS
#define LARGE 8000 /* bytes: 8 s at that pace */
#define SMALL 20
#define FOR_EVER SIZE_MAX

struct relay {
	struct rm_link *dialing, *accepting;
	struct bufferevent *left, *right;
	struct rm_timer *timer;
	bool slow;
	size_t most; /* bytes that pass while it is slow */
	unsigned opens, frames, closes;
	int reason;
	uint64_t slow_frames;
};

static int
on_open(struct rm_link *link, void *arg)
{
	struct relay *relay = arg;

	relay->opens++;
	return 0;
}

static int
on_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	struct relay *relay = arg;

	relay->frames++;
	return 0;
}

static void
on_close(struct rm_link *link, int reason, void *arg)
{
	struct relay *relay = arg;

	if (link != relay->accepting)
		return;
	relay->closes++;
	relay->reason = reason;
	relay->slow_frames = rm_link_counts(link)->slow_frames;
}

static void
pass(struct bufferevent *from, struct bufferevent *to, size_t most)
{
	evbuffer_remove_buffer(
	    bufferevent_get_input(from), bufferevent_get_output(to), most);
}

static void
on_left(struct bufferevent *bev, void *arg)
{
	struct relay *relay = arg;

	if (!relay->slow)
		pass(relay->left, relay->right, FOR_EVER);
}

static void
on_right(struct bufferevent *bev, void *arg)
{
	struct relay *relay = arg;

	pass(relay->right, relay->left, FOR_EVER);
}

static void
on_timer(void *arg)
{
	struct relay *relay = arg;

	if (relay->slow && relay->most > 0 &&
	    evbuffer_get_length(bufferevent_get_input(relay->left)) > 0) {
		pass(relay->left, relay->right, 1);
		relay->most--;
	}
	rm_timer_after(relay->timer, BYTE_NS);
}

static struct bufferevent *
half(struct rm_loop *loop, int fd, bufferevent_data_cb on_readable, struct relay *relay)
{
	struct bufferevent *bev;

	evutil_make_socket_nonblocking(fd);
	bev = bufferevent_socket_new(rm_loop_base(loop), fd, BEV_OPT_CLOSE_ON_FREE);
	assert_non_null(bev);
	bufferevent_setcb(bev, on_readable, NULL, NULL, relay);
	bufferevent_enable(bev, EV_READ | EV_WRITE);
	return bev;
}

static void
relay_open(struct relay *relay, struct ends *ends)
{
	static const struct rm_link_callbacks callbacks = { on_frame, on_close, NULL,
		on_open };
	struct rm_link_limits limits = {
		.max_frame_bytes = ENDS_FRAME,
		.max_output_bytes = ENDS_OUTPUT,
		.tls = ends->dialing.tls,
		.frame_ns = FRAME_NS,
	};
	int left[2], right[2];

	*relay = (struct relay){ .most = FOR_EVER };
	loopback_pair(left, 0);
	loopback_pair(right, 0);
	relay->left = half(ends->loop, left[1], on_left, relay);
	relay->right = half(ends->loop, right[0], on_right, relay);
	assert_int_equal(rm_link_new(ends->loop, left[0], &limits, &callbacks, relay,
			     &relay->dialing),
	    0);
	limits.tls = ends->accepting.tls;
	limits.accepting = true;
	assert_int_equal(rm_link_new(ends->loop, right[1], &limits, &callbacks, relay,
			     &relay->accepting),
	    0);
	assert_int_equal(rm_timer_new(ends->loop, on_timer, relay, &relay->timer), 0);
	rm_timer_after(relay->timer, BYTE_NS);
	LOOPBACK_WAIT(ends->loop, relay->opens == 2);
}

static void
relay_close(struct relay *relay)
{
	rm_link_free(relay->dialing);
	rm_link_free(relay->accepting);
	bufferevent_free(relay->left);
	bufferevent_free(relay->right);
	rm_timer_free(relay->timer);
}

static void
sends(struct relay *relay, size_t len)
{
	static const uint8_t data[LARGE];

	assert_int_equal(rm_link_send(relay->dialing, data, len), 0);
}

static void
expect_late(struct ends *ends, struct relay *relay)
{
	LOOPBACK_WAIT(ends->loop, relay->closes > 0);
	assert_int_equal(relay->reason, -ETIMEDOUT);
	assert_int_equal(relay->slow_frames, 1);
	assert_int_equal(relay->frames, 1);
	relay_close(relay);
}

/* most bytes of a large frame pass, one by one, after a whole one. */
static void
dribbles(struct ends *ends, struct relay *relay, size_t most)
{
	relay_open(relay, ends);
	sends(relay, SMALL);
	LOOPBACK_WAIT(ends->loop, relay->frames == 1);
	relay->slow = true;
	relay->most = most;
	sends(relay, LARGE);
}

static void
a_frame_that_arrives_too_slowly_closes_the_link(void **state)
{
	static const size_t most[] = { FOR_EVER, 1, 8, 100 };
	struct relay relays[4];
	struct ends *ends = *state;

	for (size_t i = 0; i < 4; i++)
		dribbles(ends, &relays[i], most[i]);
	for (size_t i = 0; i < 4; i++)
		expect_late(ends, &relays[i]);
}

static void
small_frames_of_a_slow_peer_all_arrive(void **state)
{
	struct ends *ends = *state;
	struct relay relay;

	relay_open(&relay, ends);
	relay.slow = true;
	for (size_t i = 0; i < 50; i++) /* 28 ms each: two and a half times the time */
		sends(&relay, SMALL);
	LOOPBACK_WAIT(ends->loop, relay.frames == 50 || relay.closes > 0);
	assert_int_equal(relay.closes, 0);
	loopback_run(ends->loop, 2 * FRAME_NS); /* silence is no frame */
	assert_int_equal(relay.closes, 0);
	relay_close(&relay);
}

static void
while_we_do_not_listen_no_time_runs(void **state)
{
	struct ends *ends = *state;
	struct relay relay;

	dribbles(ends, &relay, 100);
	LOOPBACK_WAIT(ends->loop, relay.most == 0);
	rm_link_pause(relay.accepting);
	loopback_run(ends->loop, 3 * FRAME_NS);
	relay.slow = false;
	on_left(relay.left, &relay);
	rm_link_resume(relay.accepting);
	LOOPBACK_WAIT(ends->loop, relay.frames == 2 || relay.closes > 0);
	assert_int_equal(relay.closes, 0);
	relay_close(&relay);
}

#define PLAIN(fn) cmocka_unit_test_setup_teardown(fn, ends_setup_bare, ends_teardown)
#define SEALED(fn)                                                      \
	{                                                               \
		"within TLS: " #fn, fn, ends_setup, ends_teardown, NULL \
	}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		PLAIN(a_frame_that_arrives_too_slowly_closes_the_link),
		PLAIN(small_frames_of_a_slow_peer_all_arrive),
		PLAIN(while_we_do_not_listen_no_time_runs),
		SEALED(a_frame_that_arrives_too_slowly_closes_the_link),
		SEALED(small_frames_of_a_slow_peer_all_arrive),
		SEALED(while_we_do_not_listen_no_time_runs),
	};

	return cmocka_run_group_tests_name("link_pace", tests, NULL, NULL);
}
