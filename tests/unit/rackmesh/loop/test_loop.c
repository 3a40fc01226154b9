#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <unistd.h>

#include "rackmesh/loop/loop.h"

#define FIRINGS 200

struct seen {
	struct rm_loop *loop;
	struct rm_timer *timer, *other, *guard;
	rm_mono_t deadline;
	int64_t worst_ns;
	unsigned fired, early;
	char order[8];
};

/* A test that hangs ends and fails when this timer fires. */
static void
on_guard(void *arg)
{
	struct seen *seen = arg;

	rm_loop_stop(seen->loop);
	seen->fired = 99999;
}

static int
setup(void **state)
{
	static struct seen seen;

	seen = (struct seen){ 0 };
	if (rm_loop_new(&seen.loop) < 0)
		return -1;
	if (rm_timer_new(seen.loop, on_guard, &seen, &seen.guard) < 0)
		return -1;
	rm_timer_after(seen.guard, 60 * RM_NS_PER_S);
	*state = &seen;
	return 0;
}

static int
teardown(void **state)
{
	struct seen *seen = *state;

	rm_timer_free(seen->timer);
	rm_timer_free(seen->other);
	rm_timer_free(seen->guard);
	rm_loop_free(seen->loop);
	return 0;
}

static void
on_period(void *arg)
{
	struct seen *seen = arg;
	int64_t late = rm_mono_since(rm_mono_now(), seen->deadline);

	seen->early += late < 0;
	if (late > seen->worst_ns)
		seen->worst_ns = late;
	if (++seen->fired == FIRINGS) {
		rm_loop_stop(seen->loop);
		return;
	}
	/* An odd number of ns, so that every deadline must be rounded. */
	seen->deadline = rm_mono_add(seen->deadline, 500 * RM_NS_PER_US + 333);
	rm_timer_at(seen->timer, seen->deadline);
}

static void
a_timer_never_fires_before_its_deadline(void **state)
{
	struct seen *seen = *state;
	rm_mono_t start = rm_mono_now();

	assert_int_equal(rm_timer_new(seen->loop, on_period, seen, &seen->timer), 0);
	seen->deadline = rm_mono_add(start, 333);
	rm_timer_at(seen->timer, seen->deadline);
	assert_int_equal(rm_loop_run(seen->loop), 0);
	assert_int_equal(seen->fired, FIRINGS);
	assert_int_equal(seen->early, 0);
	assert_true(rm_mono_since(rm_mono_now(), start) >= (FIRINGS - 1) * 500333);
	print_message("worst lateness %lld us\n", (long long)seen->worst_ns / 1000);
}

static void
on_past(void *arg)
{
	struct seen *seen = arg;

	if (++seen->fired == 3)
		rm_loop_stop(seen->loop);
	else
		rm_timer_at(seen->timer, (rm_mono_t){ 1 });
}

static void
a_deadline_in_the_past_fires_in_the_next_turn(void **state)
{
	struct seen *seen = *state;

	assert_int_equal(rm_timer_new(seen->loop, on_past, seen, &seen->timer), 0);
	rm_timer_at(seen->timer, (rm_mono_t){ 1 });
	assert_int_equal(seen->fired, 0);
	assert_int_equal(rm_loop_run(seen->loop), 0);
	assert_int_equal(seen->fired, 3);
}

static void
on_free_both(void *arg)
{
	struct seen *seen = arg;

	seen->fired++;
	rm_timer_free(seen->timer);
	rm_timer_free(seen->other);
	seen->timer = seen->other = NULL;
	rm_loop_stop(seen->loop);
}

static void
a_timer_may_free_itself_and_one_that_is_due(void **state)
{
	struct seen *seen = *state;

	assert_int_equal(rm_timer_new(seen->loop, on_free_both, seen, &seen->timer), 0);
	assert_int_equal(rm_timer_new(seen->loop, on_free_both, seen, &seen->other), 0);
	rm_timer_at(seen->timer, (rm_mono_t){ 1 });
	rm_timer_at(seen->other, (rm_mono_t){ 1 });
	assert_int_equal(rm_loop_run(seen->loop), 0);
	/* One more turn: a timer that is still queued would fire now. */
	event_base_loop(rm_loop_base(seen->loop), EVLOOP_NONBLOCK);
	assert_int_equal(seen->fired, 1);
}

static void
on_count(void *arg)
{
	struct seen *seen = arg;

	seen->fired++;
}

static void
on_stop(void *arg)
{
	struct seen *seen = arg;

	rm_loop_stop(seen->loop);
}

static void
a_stopped_timer_does_not_fire(void **state)
{
	struct seen *seen = *state;

	assert_int_equal(rm_timer_new(seen->loop, on_count, seen, &seen->timer), 0);
	assert_int_equal(rm_timer_new(seen->loop, on_stop, seen, &seen->other), 0);
	rm_timer_after(seen->timer, RM_NS_PER_MS);
	rm_timer_after(seen->other, 3 * RM_NS_PER_MS);
	rm_timer_stop(seen->timer);
	assert_int_equal(rm_loop_run(seen->loop), 0);
	assert_int_equal(seen->fired, 0);
}

static void
arming_again_moves_a_timer(void **state)
{
	struct seen *seen = *state;
	rm_mono_t start = rm_mono_now();

	assert_int_equal(rm_timer_new(seen->loop, on_stop, seen, &seen->timer), 0);
	rm_timer_after(seen->timer, 3600 * RM_NS_PER_S);
	rm_timer_after(seen->timer, RM_NS_PER_MS);
	rm_timer_after(seen->timer, 5 * RM_NS_PER_MS);
	assert_int_equal(rm_loop_run(seen->loop), 0);
	assert_in_range(
	    rm_mono_since(rm_mono_now(), start), 5 * RM_NS_PER_MS, 10 * RM_NS_PER_S);
	assert_int_equal(seen->fired, 0);
}

static void
a_stop_before_the_run_is_not_forgotten(void **state)
{
	struct seen *seen = *state;

	rm_loop_stop(seen->loop);
	assert_int_equal(rm_loop_run(seen->loop), 0);
	assert_int_equal(seen->fired, 0);
}

static void
on_raise_reload(void *arg)
{
	raise(SIGHUP);
}

static void
on_reload(void *arg)
{
	struct seen *seen = arg;

	seen->fired++;
	raise(SIGTERM);
}

static void
hangup_reloads_and_termination_ends_the_loop(void **state)
{
	struct seen *seen = *state;

	rm_loop_on_reload(seen->loop, on_reload, seen);
	assert_int_equal(
	    rm_timer_new(seen->loop, on_raise_reload, seen, &seen->timer), 0);
	rm_timer_after(seen->timer, 0);
	assert_int_equal(rm_loop_run(seen->loop), 0);
	assert_int_equal(seen->fired, 1);
}

static void
writing_to_a_closed_pipe_is_an_error_and_does_not_end_the_process(void **state)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	assert_int_equal(write(ends[1], "x", 1), -1);
	assert_int_equal(errno, EPIPE);
	close(ends[1]);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_timer_never_fires_before_its_deadline),
		TEST(a_deadline_in_the_past_fires_in_the_next_turn),
		TEST(a_timer_may_free_itself_and_one_that_is_due),
		TEST(a_stopped_timer_does_not_fire),
		TEST(arming_again_moves_a_timer),
		TEST(a_stop_before_the_run_is_not_forgotten),
		TEST(hangup_reloads_and_termination_ends_the_loop),
		TEST(writing_to_a_closed_pipe_is_an_error_and_does_not_end_the_process),
	};

	return cmocka_run_group_tests_name("loop", tests, NULL, NULL);
}
