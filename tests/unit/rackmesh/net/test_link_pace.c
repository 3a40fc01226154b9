/* Frames that begin and do not end: a forwarder between a link and its peer can let
 * one byte through at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>

#include "tests/support/tls_fixture.h"

#define FRAME_NS (500 * RM_NS_PER_MS)
#define BYTE_NS RM_NS_PER_MS
#define LARGE 8000 /* bytes: 8 s at this pace */
#define SMALL 20
#define FOR_EVER SIZE_MAX

struct forwarder {
	struct rm_link *dialing, *accepting;
	struct bufferevent *left, *right;
	struct rm_timer *timer;
	bool slow;
	size_t most; /* bytes forwarded while it is slow */
	unsigned opens, frames, closes;
	int reason;
	uint64_t slow_frames;
};

static int
on_open(struct rm_link *link, void *arg)
{
	struct forwarder *forwarder = arg;

	forwarder->opens++;
	return 0;
}

static int
on_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	struct forwarder *forwarder = arg;

	forwarder->frames++;
	return 0;
}

static void
on_close(struct rm_link *link, int reason, void *arg)
{
	struct forwarder *forwarder = arg;

	if (link != forwarder->accepting)
		return;
	forwarder->closes++;
	forwarder->reason = reason;
	forwarder->slow_frames = rm_link_counts(link)->slow_frames;
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
	struct forwarder *forwarder = arg;

	if (!forwarder->slow)
		pass(forwarder->left, forwarder->right, FOR_EVER);
}

static void
on_right(struct bufferevent *bev, void *arg)
{
	struct forwarder *forwarder = arg;

	pass(forwarder->right, forwarder->left, FOR_EVER);
}

static void
on_timer(void *arg)
{
	struct forwarder *forwarder = arg;

	if (forwarder->slow && forwarder->most > 0 &&
	    evbuffer_get_length(bufferevent_get_input(forwarder->left)) > 0) {
		pass(forwarder->left, forwarder->right, 1);
		forwarder->most--;
	}
	rm_timer_after(forwarder->timer, BYTE_NS);
}

static struct bufferevent *
half(struct rm_loop *loop, int fd, bufferevent_data_cb on_readable,
    struct forwarder *forwarder)
{
	struct bufferevent *bev;

	evutil_make_socket_nonblocking(fd);
	bev = bufferevent_socket_new(rm_loop_base(loop), fd, BEV_OPT_CLOSE_ON_FREE);
	assert_non_null(bev);
	bufferevent_setcb(bev, on_readable, NULL, NULL, forwarder);
	bufferevent_enable(bev, EV_READ | EV_WRITE);
	return bev;
}

static void
forwarder_open(struct forwarder *forwarder, struct ends *ends)
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

	*forwarder = (struct forwarder){ .most = FOR_EVER };
	loopback_pair(left, 0);
	loopback_pair(right, 0);
	forwarder->left = half(ends->loop, left[1], on_left, forwarder);
	forwarder->right = half(ends->loop, right[0], on_right, forwarder);
	assert_int_equal(rm_link_new(ends->loop, left[0], &limits, &callbacks,
			     forwarder, &forwarder->dialing),
	    0);
	limits.tls = ends->accepting.tls;
	limits.accepting = true;
	assert_int_equal(rm_link_new(ends->loop, right[1], &limits, &callbacks,
			     forwarder, &forwarder->accepting),
	    0);
	assert_int_equal(
	    rm_timer_new(ends->loop, on_timer, forwarder, &forwarder->timer), 0);
	rm_timer_after(forwarder->timer, BYTE_NS);
	LOOPBACK_WAIT(ends->loop, forwarder->opens == 2);
}

static void
forwarder_close(struct forwarder *forwarder)
{
	rm_link_free(forwarder->dialing);
	rm_link_free(forwarder->accepting);
	bufferevent_free(forwarder->left);
	bufferevent_free(forwarder->right);
	rm_timer_free(forwarder->timer);
}

static void
sends(struct forwarder *forwarder, size_t len)
{
	static const uint8_t data[LARGE];

	assert_int_equal(rm_link_send(forwarder->dialing, data, len), 0);
}

static void
expect_late(struct ends *ends, struct forwarder *forwarder)
{
	LOOPBACK_WAIT(ends->loop, forwarder->closes > 0);
	assert_int_equal(forwarder->reason, -ETIMEDOUT);
	assert_int_equal(forwarder->slow_frames, 1);
	assert_int_equal(forwarder->frames, 1);
	forwarder_close(forwarder);
}

/* After one whole frame, most bytes of a large frame pass one by one. */
static void
dribbles(struct ends *ends, struct forwarder *forwarder, size_t most)
{
	forwarder_open(forwarder, ends);
	sends(forwarder, SMALL);
	LOOPBACK_WAIT(ends->loop, forwarder->frames == 1);
	forwarder->slow = true;
	forwarder->most = most;
	sends(forwarder, LARGE);
}

static void
a_frame_that_arrives_too_slowly_closes_the_link(void **state)
{
	static const size_t most[] = { FOR_EVER, 1, 8, 100 };
	struct forwarder forwards[4];
	struct ends *ends = *state;

	for (size_t i = 0; i < 4; i++)
		dribbles(ends, &forwards[i], most[i]);
	for (size_t i = 0; i < 4; i++)
		expect_late(ends, &forwards[i]);
}

static void
small_frames_of_a_slow_peer_all_arrive(void **state)
{
	struct ends *ends = *state;
	struct forwarder forwarder;

	forwarder_open(&forwarder, ends);
	forwarder.slow = true;
	for (size_t i = 0; i < 50; i++) /* 28 ms each: two and a half times the limit */
		sends(&forwarder, SMALL);
	LOOPBACK_WAIT(ends->loop, forwarder.frames == 50 || forwarder.closes > 0);
	assert_int_equal(forwarder.closes, 0);
	/* Silence without a frame in progress is no error. */
	loopback_run(ends->loop, 2 * FRAME_NS);
	assert_int_equal(forwarder.closes, 0);
	forwarder_close(&forwarder);
}

static void
no_time_limit_runs_while_the_link_is_paused(void **state)
{
	struct ends *ends = *state;
	struct forwarder forwarder;

	dribbles(ends, &forwarder, 100);
	LOOPBACK_WAIT(ends->loop, forwarder.most == 0);
	rm_link_pause(forwarder.accepting);
	loopback_run(ends->loop, 3 * FRAME_NS);
	forwarder.slow = false;
	on_left(forwarder.left, &forwarder);
	rm_link_resume(forwarder.accepting);
	LOOPBACK_WAIT(ends->loop, forwarder.frames == 2 || forwarder.closes > 0);
	assert_int_equal(forwarder.closes, 0);
	forwarder_close(&forwarder);
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
		PLAIN(no_time_limit_runs_while_the_link_is_paused),
		SEALED(a_frame_that_arrives_too_slowly_closes_the_link),
		SEALED(small_frames_of_a_slow_peer_all_arrive),
		SEALED(no_time_limit_runs_while_the_link_is_paused),
	};

	return cmocka_run_group_tests_name("link_pace", tests, NULL, NULL);
}
