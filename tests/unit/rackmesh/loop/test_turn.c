#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "rackmesh/loop/turn.h"
#include "tests/support/loopback.h"

#define WAITERS 4

struct waiter {
	struct fixture *f;
	struct rm_turn turn;
	char name;
	unsigned again; /* number of further requests */
	struct waiter *leaves;
};

struct fixture {
	struct rm_loop *loop;
	struct waiter waiters[WAITERS];
	int pipe[2];
	struct event *known;
	struct rm_timer *busy;
	bool answers; /* each turn ends with a message of a known peer */
	char order[32];
};

static void
note(struct fixture *f, char what)
{
	size_t len = strlen(f->order);

	assert_true(len + 1 < sizeof(f->order));
	f->order[len] = what;
}

static void
on_turn(void *arg)
{
	struct waiter *waiter = arg;
	struct fixture *f = waiter->f;

	note(f, waiter->name);
	if (f->answers)
		assert_int_equal(write(f->pipe[1], "k", 1), 1);
	if (waiter->leaves != NULL)
		rm_turn_leave(&waiter->leaves->turn);
	if (waiter->again > 0) {
		waiter->again--;
		rm_turn_ask(&waiter->turn);
	}
}

static void
on_known(evutil_socket_t fd, short what, void *arg)
{
	struct fixture *f = arg;
	char bytes[8];
	ssize_t n = read(fd, bytes, sizeof(bytes));

	assert_true(n > 0);
	for (ssize_t i = 0; i < n; i++)
		note(f, bytes[i]);
}

static void
on_busy(void *arg)
{
	struct fixture *f = arg;

	rm_timer_after(f->busy, 0);
}

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (f == NULL || rm_loop_new(&f->loop) < 0 || pipe(f->pipe) < 0 ||
	    rm_timer_new(f->loop, on_busy, f, &f->busy) < 0)
		return -1;
	f->known = event_new(
	    rm_loop_base(f->loop), f->pipe[0], EV_READ | EV_PERSIST, on_known, f);
	if (f->known == NULL || event_add(f->known, NULL) < 0)
		return -1;
	for (size_t i = 0; i < WAITERS; i++) {
		struct waiter *waiter = &f->waiters[i];

		waiter->f = f;
		waiter->name = (char)('1' + i);
		rm_turn_init(
		    &waiter->turn, f->loop, RM_TURN_HANDSHAKE, on_turn, waiter);
	}
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < WAITERS; i++)
		rm_turn_leave(&f->waiters[i].turn);
	event_free(f->known);
	rm_timer_free(f->busy);
	close(f->pipe[0]);
	close(f->pipe[1]);
	rm_loop_free(f->loop);
	free(f);
	return 0;
}

static void
asks(struct fixture *f, size_t count)
{
	for (size_t i = 0; i < count; i++)
		rm_turn_ask(&f->waiters[i].turn);
}

static void
established_links_are_served_before_waiting_ones(void **state)
{
	struct fixture *f = *state;

	asks(f, 3);
	assert_int_equal(write(f->pipe[1], "kkk", 3), 3);
	LOOPBACK_WAIT(f->loop, strlen(f->order) == 6);
	assert_string_equal(f->order, "kkk123");
}

static void
established_links_are_served_between_any_two_turns(void **state)
{
	struct fixture *f = *state;

	f->answers = true;
	asks(f, 3);
	LOOPBACK_WAIT(f->loop, strlen(f->order) == 6);
	assert_string_equal(f->order, "1k2k3k");
}

static void
a_repeated_request_goes_to_the_end_of_the_queue(void **state)
{
	struct fixture *f = *state;

	f->waiters[0].again = 2;
	asks(f, 3);
	asks(f, 3); /* a waiter that is already queued stays queued */
	LOOPBACK_WAIT(f->loop, strlen(f->order) == 5);
	loopback_run(f->loop, 2 * RM_TURN_NS);
	assert_string_equal(f->order, "12311");
}

static void
connections_are_accepted_when_no_handshake_waits(void **state)
{
	struct fixture *f = *state;

	f->waiters[0].turn.line = RM_TURN_ACCEPT;
	f->waiters[1].again = 1;
	asks(f, 3);
	LOOPBACK_WAIT(f->loop, strlen(f->order) == 4);
	assert_string_equal(f->order, "2321");
}

static void
an_endless_handshake_does_not_prevent_accepting(void **state)
{
	struct fixture *f = *state;

	f->waiters[0].turn.line = RM_TURN_ACCEPT;
	f->waiters[1].again = RM_TURN_STEPS + 1;
	asks(f, 2);
	LOOPBACK_WAIT(f->loop, strlen(f->order) == RM_TURN_STEPS + 3);
	assert_ptr_equal(strchr(f->order, '1'), &f->order[RM_TURN_STEPS]);
}

static void
a_canceled_request_gets_no_turn(void **state)
{
	struct fixture *f = *state;
	struct rm_turn none = { 0 };

	f->waiters[0].leaves = &f->waiters[1];
	asks(f, 4);
	rm_turn_leave(&f->waiters[3].turn);
	rm_turn_leave(&none);
	LOOPBACK_WAIT(f->loop, strlen(f->order) == 2);
	loopback_run(f->loop, 2 * RM_TURN_NS);
	assert_string_equal(f->order, "13");
}

static void
a_busy_loop_still_gives_turns(void **state)
{
	struct fixture *f = *state;

	rm_timer_after(f->busy, 0);
	asks(f, WAITERS);
	LOOPBACK_WAIT(f->loop, strlen(f->order) == WAITERS);
	assert_string_equal(f->order, "1234");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(established_links_are_served_before_waiting_ones),
		TEST(established_links_are_served_between_any_two_turns),
		TEST(a_repeated_request_goes_to_the_end_of_the_queue),
		TEST(connections_are_accepted_when_no_handshake_waits),
		TEST(an_endless_handshake_does_not_prevent_accepting),
		TEST(a_canceled_request_gets_no_turn),
		TEST(a_busy_loop_still_gives_turns),
	};

	return cmocka_run_group_tests_name("turn", tests, NULL, NULL);
}
