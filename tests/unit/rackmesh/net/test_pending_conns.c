#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "rackmesh/loop/loop.h"
#include "rackmesh/net/link.h"
#include "rackmesh/net/pending_conns.h"
#include "tests/support/loopback.h"

#define MANY (RM_PENDING_CONNS_MAX + 10)

struct caller { /* takes the place of a daemon's session */
	struct fixture *f;
	struct rm_link *link;
	struct rm_pending_conn pending_conn;
	int peer;
	int reason; /* 1: its link is open */
};

struct fixture {
	struct rm_loop *loop;
	struct rm_pending_conns pending_conns;
	struct caller callers[MANY];
	size_t closed;
};

static const rm_mono_t start = { 1000 * RM_NS_PER_S };

static int
on_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	return 0;
}

static void
on_close(struct rm_link *link, int reason, void *arg)
{
	struct caller *caller = arg;

	rm_pending_conns_remove(&caller->f->pending_conns, &caller->pending_conn);
	caller->reason = reason;
	caller->link = NULL;
	caller->f->closed++;
	rm_link_free(link);
}

static void
caller_connects(struct fixture *f, size_t i, rm_mono_t now)
{
	static const struct rm_link_callbacks callbacks = { on_frame, on_close };
	static const struct rm_link_limits limits = { 4096, 4096 };
	struct caller *caller = &f->callers[i];
	int fds[2];

	loopback_pair(fds, 0);
	caller->f = f;
	caller->peer = fds[1];
	caller->reason = 1;
	assert_int_equal(
	    rm_link_new(f->loop, fds[0], &limits, &callbacks, caller, &caller->link),
	    0);
	rm_pending_conns_add(
	    &f->pending_conns, &caller->pending_conn, caller->link, now);
}

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (f == NULL || rm_loop_new(&f->loop) < 0)
		return -1;
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < MANY; i++) {
		rm_link_free(f->callers[i].link);
		if (f->callers[i].f != NULL)
			close(f->callers[i].peer);
	}
	rm_loop_free(f->loop);
	free(f);
	return 0;
}

static void
the_oldest_pending_connection_makes_room_for_the_newest(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < MANY; i++)
		caller_connects(f, i, rm_mono_add(start, (int64_t)i));
	LOOPBACK_WAIT(f->loop, f->closed == MANY - RM_PENDING_CONNS_MAX);
	for (size_t i = 0; i < MANY; i++)
		assert_int_equal(f->callers[i].reason,
		    i < MANY - RM_PENDING_CONNS_MAX ? -EUSERS : 1);
	assert_int_equal(f->pending_conns.count, RM_PENDING_CONNS_MAX);
	assert_int_equal(f->pending_conns.pushed_out, MANY - RM_PENDING_CONNS_MAX);
}

static void
an_accepted_connection_is_never_removed(void **state)
{
	struct fixture *f = *state;

	caller_connects(f, 0, start);
	rm_pending_conns_remove(&f->pending_conns, &f->callers[0].pending_conn);
	for (size_t i = 1; i < MANY; i++)
		caller_connects(f, i, start);
	LOOPBACK_WAIT(f->loop, f->closed == MANY - 1 - RM_PENDING_CONNS_MAX);
	assert_int_equal(f->callers[0].reason, 1);
	rm_pending_conns_sweep(
	    &f->pending_conns, rm_mono_add(start, RM_PENDING_CONNS_PATIENCE_NS + 1));
	LOOPBACK_WAIT(f->loop, f->closed == MANY - 1);
	assert_int_equal(f->callers[0].reason, 1);
	assert_int_equal(f->pending_conns.count, 0);
}

static void
a_connection_that_is_silent_too_long_is_closed_and_others_wait(void **state)
{
	struct fixture *f = *state;
	rm_mono_t later = rm_mono_add(start, RM_PENDING_CONNS_PATIENCE_NS);

	caller_connects(f, 0, start);
	caller_connects(f, 1, start);
	caller_connects(f, 2, later);
	rm_pending_conns_sweep(&f->pending_conns, later);
	assert_int_equal(f->pending_conns.timed_out, 0);
	rm_pending_conns_sweep(&f->pending_conns, rm_mono_add(later, 1));
	LOOPBACK_WAIT(f->loop, f->closed == 2);
	assert_int_equal(f->callers[0].reason, -ETIMEDOUT);
	assert_int_equal(f->callers[1].reason, -ETIMEDOUT);
	assert_int_equal(f->callers[2].reason, 1);
	assert_int_equal(f->pending_conns.timed_out, 2);
	assert_int_equal(f->pending_conns.count, 1);
}

static void
pending_connections_may_end_in_any_order(void **state)
{
	static const size_t order[] = { 2, 0, 4, 1, 3 };
	struct fixture *f = *state;

	for (size_t i = 0; i < 5; i++)
		caller_connects(f, i, start);
	for (size_t i = 0; i < 5; i++) {
		rm_pending_conns_remove(
		    &f->pending_conns, &f->callers[order[i]].pending_conn);
		rm_pending_conns_remove(
		    &f->pending_conns, &f->callers[order[i]].pending_conn);
		assert_int_equal(f->pending_conns.count, 4 - i);
	}
	assert_null(f->pending_conns.oldest);
	assert_null(f->pending_conns.newest);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    the_oldest_pending_connection_makes_room_for_the_newest, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(
		    an_accepted_connection_is_never_removed, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    a_connection_that_is_silent_too_long_is_closed_and_others_wait,
		    setup, teardown),
		cmocka_unit_test_setup_teardown(
		    pending_connections_may_end_in_any_order, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
