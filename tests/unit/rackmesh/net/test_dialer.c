#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>

#include "rackmesh/net/dialer.h"
#include "rackmesh/net/listener.h"
#include "tests/support/loopback.h"

/* A peer that listens, and accepts or drops each connection. */
struct peer {
	struct rm_loop *loop;
	struct rm_listener *listener;
	int port;
	unsigned accepted;
	bool drops;
	int fd;
};

struct fixture {
	struct rm_loop *loop;
	struct rm_dialer *dialer;
	struct peer peers[2];

	unsigned ups, downs, frames;
	int reason;
	bool settles;
	bool free_in_down;
	int up_returns;
};

static int
on_accept(int fd, const struct rm_address *address, void *arg)
{
	struct peer *peer = arg;

	peer->accepted++;
	if (peer->drops) {
		close(fd);
		return -EPERM;
	}
	assert_int_equal(peer->fd, -1);
	peer->fd = fd;
	return 0;
}

static void
peer_hang_up(struct peer *peer)
{
	if (peer->fd >= 0)
		close(peer->fd);
	peer->fd = -1;
}

static void
peer_listen(struct peer *peer)
{
	struct rm_address address = loopback_address(peer->port);

	assert_int_equal(
	    rm_listener_new(peer->loop, &address, on_accept, peer, &peer->listener), 0);
	peer->port = rm_listener_port(peer->listener);
}

static void
peer_leave(struct peer *peer)
{
	peer_hang_up(peer);
	rm_listener_free(peer->listener);
	peer->listener = NULL;
}

static int
on_up(struct rm_link *link, void *arg)
{
	struct fixture *f = arg;

	f->ups++;
	assert_ptr_equal(link, rm_dialer_link(f->dialer));
	if (f->settles)
		rm_dialer_settled(f->dialer);
	return f->up_returns;
}

static int
on_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	struct fixture *f = arg;

	f->frames++;
	return 0;
}

static void
on_down(int reason, void *arg)
{
	struct fixture *f = arg;

	f->downs++;
	f->reason = reason;
	assert_null(rm_dialer_link(f->dialer));
	if (f->free_in_down) {
		rm_dialer_free(f->dialer);
		f->dialer = NULL;
	}
}

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (f == NULL || rm_loop_new(&f->loop) < 0)
		return -1;
	f->settles = true;
	for (size_t i = 0; i < 2; i++) {
		f->peers[i] = (struct peer){ .loop = f->loop, .fd = -1 };
		peer_listen(&f->peers[i]);
	}
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	rm_dialer_free(f->dialer);
	for (size_t i = 0; i < 2; i++)
		peer_leave(&f->peers[i]);
	rm_loop_free(f->loop);
	free(f);
	return 0;
}

static void
dial(struct fixture *f, size_t peer_count, int64_t backoff_ns)
{
	static const struct rm_dialer_callbacks callbacks = { on_up, on_frame, on_down,
		NULL };
	struct rm_endpoint peers[2] = { loopback_endpoint(f->peers[0].port),
		loopback_endpoint(f->peers[1].port) };
	struct rm_dialer_options options = {
		.peers = peers,
		.peer_count = peer_count,
		.connect_timeout_ns = 200 * RM_NS_PER_MS,
		.backoff_base_ns = backoff_ns,
		.backoff_cap_ns = 8 * backoff_ns,
		.limits = { 4096, 4096 },
	};

	assert_int_equal(
	    rm_dialer_new(f->loop, &options, &callbacks, f, &f->dialer), 0);
}

static void
the_first_address_is_dialled_first_and_frames_flow(void **state)
{
	static const uint8_t frame[] = { 0, 0, 0, 9, 0xcb, 0xf4, 0x39, 0x26, '1', '2',
		'3', '4', '5', '6', '7', '8', '9' };
	struct fixture *f = *state;

	dial(f, 2, 10 * RM_NS_PER_MS);
	assert_int_equal(f->ups, 0); /* no callback from inside rm_dialer_new */
	LOOPBACK_WAIT(f->loop, f->ups == 1 && f->peers[0].fd >= 0);
	assert_int_equal(write(f->peers[0].fd, frame, sizeof(frame)), sizeof(frame));
	LOOPBACK_WAIT(f->loop, f->frames == 1);
	assert_int_equal(f->peers[1].accepted, 0);
	assert_int_equal(f->downs, 0);
}

static void
the_second_address_serves_when_the_first_is_gone(void **state)
{
	struct fixture *f = *state;

	peer_leave(&f->peers[0]);
	dial(f, 2, 10 * RM_NS_PER_MS);
	LOOPBACK_WAIT(f->loop, f->ups == 1 && f->peers[1].fd >= 0);
	assert_int_equal(f->downs, 1);
	assert_int_equal(f->reason, -ECONNREFUSED);
}

static void
after_a_disconnect_the_list_starts_again(void **state)
{
	struct fixture *f = *state;

	peer_leave(&f->peers[0]);
	dial(f, 2, 10 * RM_NS_PER_MS);
	LOOPBACK_WAIT(f->loop, f->peers[1].fd >= 0 && f->ups == 1);
	peer_listen(&f->peers[0]);
	peer_hang_up(&f->peers[1]);
	LOOPBACK_WAIT(f->loop, f->ups == 2 && f->peers[0].fd >= 0);
	assert_int_equal(f->reason, 0);

	peer_hang_up(&f->peers[0]);
	LOOPBACK_WAIT(f->loop, f->ups == 3 && f->peers[0].fd >= 0);
	assert_int_equal(f->peers[1].accepted, 1);
}

static void
a_peer_that_restarts_is_found_again(void **state)
{
	struct fixture *f = *state;

	dial(f, 1, 10 * RM_NS_PER_MS);
	LOOPBACK_WAIT(f->loop, f->ups == 1 && f->peers[0].fd >= 0);
	peer_leave(&f->peers[0]);
	LOOPBACK_WAIT(f->loop, f->downs >= 3); /* the loss and two attempts */
	assert_int_equal(f->reason, -ECONNREFUSED);
	peer_listen(&f->peers[0]);
	LOOPBACK_WAIT(f->loop, f->ups == 2 && f->peers[0].fd >= 0);
}

static void
a_peer_that_disconnects_at_once_is_dialled_with_a_backoff(void **state)
{
	struct fixture *f = *state;
	unsigned before, unsettled;

	f->settles = false;
	f->peers[0].drops = true;
	dial(f, 1, 10 * RM_NS_PER_MS);
	loopback_run(f->loop, 500 * RM_NS_PER_MS);
	unsettled = f->peers[0].accepted;
	/* The pauses are at most 10, 20, 40, 80, 80, ... ms. Without growth (5 ms on
	 * average) there would be 100 attempts. */
	assert_in_range(unsettled, 2, 50);

	before = f->peers[0].accepted;
	f->settles = true;
	loopback_run(f->loop, 500 * RM_NS_PER_MS);
	assert_in_range(f->peers[0].accepted - before, unsettled + 1, 1000);
}

static void
a_peer_that_never_welcomes_does_not_hide_the_next(void **state)
{
	struct fixture *f = *state;

	f->settles = false;
	f->peers[0].drops = true;
	dial(f, 2, 10 * RM_NS_PER_MS);
	LOOPBACK_WAIT(f->loop, f->peers[1].fd >= 0 && f->ups >= 2);
	assert_non_null(rm_dialer_link(f->dialer));
}

static void
a_host_that_drops_connects_times_out(void **state)
{
	struct fixture *f = *state;
	rm_mono_t begun;
	int fds[3];

	/* A backlog of 0 holds one connection; further ones get no answer. */
	peer_leave(&f->peers[0]);
	fds[0] = loopback_listen(&f->peers[0].port);
	assert_int_equal(listen(fds[0], 0), 0);
	fds[1] = loopback_connect(f->peers[0].port);
	begun = rm_mono_now();
	dial(f, 2, 10 * RM_NS_PER_MS);
	LOOPBACK_WAIT(f->loop, f->ups == 1);
	assert_int_equal(f->reason, -ETIMEDOUT);
	assert_true(rm_mono_since(rm_mono_now(), begun) >= 200 * RM_NS_PER_MS);
	close(fds[0]);
	close(fds[1]);
}

static void
a_refusal_by_the_owner_closes_and_gives_the_reason(void **state)
{
	struct fixture *f = *state;

	f->settles = false;
	f->up_returns = -EPROTO;
	f->free_in_down = true; /* freeing the dialer in its callback is safe */
	dial(f, 1, 10 * RM_NS_PER_MS);
	LOOPBACK_WAIT(f->loop, f->downs == 1);
	assert_int_equal(f->reason, -EPROTO);
	loopback_run(f->loop, 50 * RM_NS_PER_MS);
	assert_int_equal(f->downs, 1);
}

static void
freeing_from_a_failed_attempt_is_safe(void **state)
{
	struct fixture *f = *state;

	peer_leave(&f->peers[0]);
	f->free_in_down = true;
	dial(f, 1, 10 * RM_NS_PER_MS);
	LOOPBACK_WAIT(f->loop, f->downs == 1);
	loopback_run(f->loop, 50 * RM_NS_PER_MS);
	assert_int_equal(f->downs, 1);
}

static void
an_empty_list_is_refused(void **state)
{
	struct fixture *f = *state;
	struct rm_dialer_options options = { .peer_count = 0 };
	struct rm_dialer_callbacks callbacks = { on_up, on_frame, on_down, NULL };

	assert_int_equal(
	    rm_dialer_new(f->loop, &options, &callbacks, f, &f->dialer), -EINVAL);
}

static void
a_peer_is_watched_for_its_welcome_and_then_for_its_pings(void **state)
{
	struct fixture *f = *state;
	rm_mono_t later;

	f->settles = false;
	dial(f, 1, RM_NS_PER_MS);
	LOOPBACK_WAIT(f->loop, f->ups == 1);
	later = rm_mono_add(rm_mono_now(), 3 * RM_NS_PER_S);
	assert_false(rm_dialer_watch(f->dialer, rm_mono_now(), RM_NS_PER_S, 0));
	rm_dialer_stalled(f->dialer, later);
	assert_false(rm_dialer_watch(f->dialer, later, RM_NS_PER_S, 0));
	later = rm_mono_add(later, 3 * RM_NS_PER_S);
	assert_true(rm_dialer_watch(f->dialer, later, RM_NS_PER_S, 0));
	LOOPBACK_WAIT(f->loop, f->downs == 1 && f->reason == -ETIMEDOUT);
	peer_hang_up(&f->peers[0]);

	f->settles = true;
	LOOPBACK_WAIT(f->loop, f->ups == 2);
	later = rm_mono_add(rm_mono_now(), 3 * RM_NS_PER_S);
	assert_false(rm_dialer_watch(f->dialer, later, 0, RM_NS_PER_S));
	rm_dialer_pinged(f->dialer); /* only from now on silence counts */
	assert_true(rm_dialer_watch(f->dialer, later, 0, RM_NS_PER_S));
	assert_false(rm_dialer_watch(f->dialer, later, 0, RM_NS_PER_S));
	LOOPBACK_WAIT(f->loop, f->downs >= 2);
	peer_hang_up(&f->peers[0]);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_peer_is_watched_for_its_welcome_and_then_for_its_pings),
		TEST(the_first_address_is_dialled_first_and_frames_flow),
		TEST(the_second_address_serves_when_the_first_is_gone),
		TEST(after_a_disconnect_the_list_starts_again),
		TEST(a_peer_that_restarts_is_found_again),
		TEST(a_peer_that_disconnects_at_once_is_dialled_with_a_backoff),
		TEST(a_peer_that_never_welcomes_does_not_hide_the_next),
		TEST(a_host_that_drops_connects_times_out),
		TEST(a_refusal_by_the_owner_closes_and_gives_the_reason),
		TEST(freeing_from_a_failed_attempt_is_safe),
		TEST(an_empty_list_is_refused),
	};

	return cmocka_run_group_tests_name("dialer", tests, NULL, NULL);
}
