#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <event2/event.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "host-agent/verbs/priority_pool.h"
#include "rackmesh/loop/loop.h"

#define JOBS 16

struct seen;

struct job {
	struct lane_job job;
	struct seen *seen;
	bool blocks; /* runs until the gate is open */
	int r;       /* result; 1: not done */
	int place;   /* its position among the finished jobs */
};

struct seen {
	struct rm_loop *loop;
	struct rm_timer *guard;
	struct priority_pool *pool;
	struct job jobs[JOBS];
	int done;
	bool late;
	pthread_mutex_t lock; /* protects the fields below */
	pthread_cond_t wake;
	bool open;
	int started, ended;
};

static void
on_guard(void *arg)
{
	((struct seen *)arg)->late = true;
}

static int
setup(void **state)
{
	struct seen *seen = calloc(1, sizeof(*seen));

	if (seen == NULL || rm_loop_new(&seen->loop) < 0 ||
	    rm_timer_new(seen->loop, on_guard, seen, &seen->guard) < 0)
		return -1;
	pthread_mutex_init(&seen->lock, NULL);
	pthread_cond_init(&seen->wake, NULL);
	rm_timer_after(seen->guard, 60 * RM_NS_PER_S);
	*state = seen;
	return priority_pool_new(seen->loop, PRIORITY_POOL_MIN, &seen->pool);
}

static void
open_gate(struct seen *seen)
{
	pthread_mutex_lock(&seen->lock);
	seen->open = true;
	pthread_cond_broadcast(&seen->wake);
	pthread_mutex_unlock(&seen->lock);
}

static int
teardown(void **state)
{
	struct seen *seen = *state;

	open_gate(seen);
	priority_pool_free(seen->pool);
	rm_timer_free(seen->guard);
	rm_loop_free(seen->loop);
	pthread_cond_destroy(&seen->wake);
	pthread_mutex_destroy(&seen->lock);
	free(seen);
	return 0;
}

static int
job_run(struct lane_job *lane_job)
{
	const struct job *job = (struct job *)lane_job;
	struct seen *seen = job->seen;

	pthread_mutex_lock(&seen->lock);
	seen->started++;
	pthread_cond_broadcast(&seen->wake);
	while (job->blocks && !seen->open)
		pthread_cond_wait(&seen->wake, &seen->lock);
	seen->ended++;
	pthread_cond_broadcast(&seen->wake);
	pthread_mutex_unlock(&seen->lock);
	return 0;
}

static void
job_done(struct lane_job *lane_job, int r)
{
	struct job *job = (struct job *)lane_job;

	job->r = r;
	job->place = job->seen->done++;
}

static void
submit(struct seen *seen, int i, enum lane_class class, bool blocks)
{
	struct job *job = &seen->jobs[i];

	*job = (struct job){ { job_run, job_done }, seen, blocks, 1 };
	assert_int_equal(priority_pool_submit(seen->pool, &job->job, class), 0);
}

static void
wait_done(struct seen *seen, int count)
{
	while (seen->done < count && !seen->late)
		event_base_loop(rm_loop_base(seen->loop), EVLOOP_ONCE);
	assert_false(seen->late);
	assert_int_equal(seen->done, count);
}

static void
wait_started(struct seen *seen, int count)
{
	pthread_mutex_lock(&seen->lock);
	while (seen->started < count)
		pthread_cond_wait(&seen->wake, &seen->lock);
	assert_int_equal(seen->started, count);
	pthread_mutex_unlock(&seen->lock);
}

static void
a_sure_call_waits_for_no_other(void **state)
{
	struct seen *seen = *state;

	for (int i = 0; i < 4; i++)
		submit(seen, i, LANE_NEW, true);
	for (int i = 4; i < 8; i++)
		submit(seen, i, LANE_RETRY, true);
	submit(seen, 8, LANE_SURE, false);
	submit(seen, 9, LANE_SURE, false);
	wait_done(seen, 2);
	assert_int_equal(seen->jobs[8].r, 0);
	assert_int_equal(seen->jobs[9].r, 0);
	open_gate(seen);
	wait_done(seen, 10);
}

static void
calls_that_failed_before_use_only_one_thread(void **state)
{
	struct seen *seen = *state;

	submit(seen, 0, LANE_RETRY, true);
	submit(seen, 1, LANE_IDLE, true);
	submit(seen, 2, LANE_RETRY, true);
	submit(seen, 3, LANE_NEW, false);
	submit(seen, 4, LANE_NEW, false);
	wait_done(seen, 2);
	assert_int_equal(seen->jobs[3].r, 0);
	assert_int_equal(seen->jobs[4].r, 0);
	wait_started(seen, 3); /* only one of the first three runs */
	open_gate(seen);
	wait_done(seen, 5);
}

static void
awaited_calls_go_before_idle_ones(void **state)
{
	struct seen *seen = *state;

	submit(seen, 0, LANE_RETRY, true);
	submit(seen, 1, LANE_IDLE, true);
	submit(seen, 2, LANE_RETRY, false);
	wait_started(seen, 1);
	open_gate(seen);
	wait_done(seen, 2);
	assert_int_equal(seen->jobs[2].r, 0);
	wait_done(seen, 3);
}

/* Dozens of dead neighbours are retried all the time. */
static void
idle_calls_run_even_among_endless_failures(void **state)
{
	struct seen *seen = *state;

	submit(seen, 0, LANE_RETRY, true);
	submit(seen, 1, LANE_IDLE, false);
	for (int i = 2; i < JOBS; i++)
		submit(seen, i, LANE_RETRY, false);
	wait_started(seen, 1);
	open_gate(seen);
	wait_done(seen, JOBS);
	assert_in_range(seen->jobs[1].place, 2, JOBS - 2);
}

static void
stopping_waits_for_running_calls_and_cancels_the_others(void **state)
{
	struct seen *seen = *state;

	for (int i = 0; i < 4; i++)
		submit(seen, i, LANE_NEW, true);
	wait_started(seen, 2);
	open_gate(seen);
	priority_pool_stop(seen->pool);
	assert_int_equal(seen->done, 4);
	assert_int_equal(seen->jobs[0].r, 0);
	assert_int_equal(seen->jobs[1].r, 0);
	assert_int_equal(seen->jobs[2].r, -ECANCELED);
	assert_int_equal(seen->jobs[3].r, -ECANCELED);
	assert_int_equal(
	    priority_pool_submit(seen->pool, &seen->jobs[0].job, LANE_SURE),
	    -ECANCELED);
	assert_int_equal(seen->done, 4);
}

static void
a_call_that_hangs_is_left_behind_at_the_end(void **state)
{
	/* Never freed, because hanging threads may use it. A static pointer keeps
	 * leak checkers from reporting it. */
	static struct priority_pool *pool;
	struct seen *seen = *state;

	pool = seen->pool;

	for (int i = 0; i < 4; i++)
		submit(seen, i, LANE_NEW, true);
	wait_started(seen, 2);
	seen->pool = NULL;
	assert_int_equal(
	    priority_pool_free_until(pool, rm_mono_add(rm_mono_now(), RM_NS_PER_MS)),
	    2);
	assert_int_equal(seen->done, 0); /* no callback runs, it could hang too */
	open_gate(seen);
	pthread_mutex_lock(&seen->lock); /* the threads use the lock */
	while (seen->ended < 2)
		pthread_cond_wait(&seen->wake, &seen->lock);
	pthread_mutex_unlock(&seen->lock);
	assert_int_equal(priority_pool_free_until(NULL, rm_mono_now()), 0);
}

static void
too_few_or_too_many_threads_are_refused(void **state)
{
	struct seen *seen = *state;
	struct priority_pool *pool = NULL;

	assert_int_equal(
	    priority_pool_new(seen->loop, PRIORITY_POOL_MIN - 1, &pool), -EINVAL);
	assert_int_equal(
	    priority_pool_new(seen->loop, PRIORITY_POOL_MAX + 1, &pool), -EINVAL);
	assert_null(pool);
	priority_pool_free(NULL);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_sure_call_waits_for_no_other),
		TEST(calls_that_failed_before_use_only_one_thread),
		TEST(awaited_calls_go_before_idle_ones),
		TEST(idle_calls_run_even_among_endless_failures),
		TEST(stopping_waits_for_running_calls_and_cancels_the_others),
		TEST(a_call_that_hangs_is_left_behind_at_the_end),
		TEST(too_few_or_too_many_threads_are_refused),
	};

	return cmocka_run_group_tests_name("lanes", tests, NULL, NULL);
}
