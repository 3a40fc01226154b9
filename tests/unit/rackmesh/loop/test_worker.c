#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/worker.h"

#define JOBS 3000

struct job {
	struct seen *seen;
	int number;
	pthread_t thread;
};

struct seen {
	struct rm_loop *loop;
	struct rm_worker *worker;
	struct rm_timer *guard;
	struct job jobs[JOBS];
	int done, expected, cancelled, failed;
	pthread_mutex_t gate; /* the test holds this lock: jobs wait */
	atomic_int runs;
};

static void
on_guard(void *arg)
{
	struct seen *seen = arg;

	seen->failed++;
	rm_loop_stop(seen->loop);
}

static int
setup(void **state)
{
	struct seen *seen = calloc(1, sizeof(*seen));

	if (seen == NULL || rm_loop_new(&seen->loop) < 0)
		return -1;
	if (rm_timer_new(seen->loop, on_guard, seen, &seen->guard) < 0)
		return -1;
	rm_timer_after(seen->guard, 60 * RM_NS_PER_S);
	pthread_mutex_init(&seen->gate, NULL);
	for (int i = 0; i < JOBS; i++)
		seen->jobs[i] = (struct job){ .seen = seen, .number = i };
	*state = seen;
	return 0;
}

static int
teardown(void **state)
{
	struct seen *seen = *state;

	rm_worker_free(seen->worker);
	rm_timer_free(seen->guard);
	rm_loop_free(seen->loop);
	pthread_mutex_destroy(&seen->gate);
	free(seen);
	return 0;
}

static int
run(void *arg)
{
	struct job *job = arg;

	job->thread = pthread_self();
	return job->number;
}

/* Takes a millisecond, as real jobs do: all of them take 3 s. */
static int
run_behind_gate(void *arg)
{
	const struct timespec work = { .tv_nsec = RM_NS_PER_MS };
	struct job *job = arg;

	atomic_fetch_add(&job->seen->runs, 1);
	pthread_mutex_lock(&job->seen->gate);
	pthread_mutex_unlock(&job->seen->gate);
	nanosleep(&work, NULL);
	return job->number;
}

/* The results must arrive in order, with the value that run returned. */
static void
done(void *arg, int r)
{
	struct job *job = arg;
	struct seen *seen = job->seen;

	seen->failed += job->number != seen->done || r != job->number;
	if (++seen->done == seen->expected)
		rm_loop_stop(seen->loop);
}

/* Some jobs run; the rest stay queued. */
static void
done_or_cancelled(void *arg, int r)
{
	struct job *job = arg;
	struct seen *seen = job->seen;

	seen->failed += job->number != seen->done;
	if (r == -ECANCELED)
		seen->cancelled++;
	else
		seen->failed += r != job->number || seen->cancelled > 0;
	seen->done++;
	/* No new job is accepted. */
	seen->failed += rm_worker_submit(seen->worker, run, done, job) != -EAGAIN;
}

static void
jobs_run_in_a_thread_and_report_in_order_on_the_loop(void **state)
{
	struct seen *seen = *state;

	assert_int_equal(rm_worker_new(seen->loop, JOBS, &seen->worker), 0);
	seen->expected = JOBS;
	for (int i = 0; i < JOBS; i++)
		assert_int_equal(
		    rm_worker_submit(seen->worker, run, done, &seen->jobs[i]), 0);
	assert_int_equal(rm_loop_run(seen->loop), 0);
	assert_int_equal(seen->done, JOBS);
	assert_int_equal(seen->failed, 0);
	assert_false(pthread_equal(seen->jobs[0].thread, pthread_self()));
}

static void
a_full_worker_refuses_jobs_until_one_has_reported(void **state)
{
	struct seen *seen = *state;

	assert_int_equal(rm_worker_new(seen->loop, 2, &seen->worker), 0);
	seen->expected = 2;
	for (int i = 0; i < 2; i++)
		assert_int_equal(
		    rm_worker_submit(seen->worker, run, done, &seen->jobs[i]), 0);
	/* No job has called back, whether it ran or not. */
	assert_int_equal(
	    rm_worker_submit(seen->worker, run, done, &seen->jobs[2]), -EAGAIN);
	assert_int_equal(rm_loop_run(seen->loop), 0);
	assert_int_equal(seen->done, 2);

	seen->expected = 3;
	assert_int_equal(rm_worker_submit(seen->worker, run, done, &seen->jobs[2]), 0);
	assert_int_equal(rm_loop_run(seen->loop), 0);
	assert_int_equal(seen->done, 3);
	assert_int_equal(seen->failed, 0);
}

static void
done_and_submit_next(void *arg, int r)
{
	struct job *job = arg;
	struct seen *seen = job->seen;

	if (job->number + 1 < JOBS)
		seen->failed +=
		    rm_worker_submit(seen->worker, run, done_and_submit_next,
			&seen->jobs[job->number + 1]) != 0;
	done(arg, r);
}

static void
an_answer_may_submit_the_next_job(void **state)
{
	struct seen *seen = *state;

	assert_int_equal(rm_worker_new(seen->loop, 1, &seen->worker), 0);
	seen->expected = JOBS;
	assert_int_equal(
	    rm_worker_submit(seen->worker, run, done_and_submit_next, &seen->jobs[0]),
	    0);
	assert_int_equal(rm_loop_run(seen->loop), 0);
	assert_int_equal(seen->done, JOBS);
	assert_int_equal(seen->failed, 0);
}

static void
freeing_waits_for_the_running_job_and_cancels_the_rest(void **state)
{
	struct seen *seen = *state;
	int64_t give_up = rm_mono_now().ns + 60 * RM_NS_PER_S;

	assert_int_equal(rm_worker_new(seen->loop, JOBS, &seen->worker), 0);
	pthread_mutex_lock(&seen->gate);
	for (int i = 0; i < JOBS; i++)
		assert_int_equal(rm_worker_submit(seen->worker, run_behind_gate,
				     done_or_cancelled, &seen->jobs[i]),
		    0);
	while (atomic_load(&seen->runs) == 0 && rm_mono_now().ns < give_up)
		sched_yield();
	assert_int_equal(atomic_load(&seen->runs), 1);
	assert_int_equal(seen->done, 0);
	pthread_mutex_unlock(&seen->gate);
	rm_worker_free(seen->worker);
	seen->worker = NULL;
	assert_int_equal(seen->done, JOBS);
	assert_int_equal(seen->failed, 0);
	assert_true(seen->cancelled > 0);
	assert_int_equal(seen->cancelled + atomic_load(&seen->runs), JOBS);
}

static void
done_counts(void *arg, int r)
{
	struct seen *seen = ((struct job *)arg)->seen;

	seen->done++;
	seen->cancelled += r == -ECANCELED;
}

/* As if a driver hangs: the process must end all the same. */
static void
a_job_that_does_not_end_is_left_behind(void **state)
{
	/* Lives as long as the process, because the hanging job uses it. */
	static struct job *behind;
	struct seen *seen = *state;
	int64_t give_up = rm_mono_now().ns + 60 * RM_NS_PER_S;

	assert_int_equal(rm_worker_new(seen->loop, 3, &seen->worker), 0);
	behind = &seen->jobs[0];
	pthread_mutex_lock(&seen->gate);
	for (int i = 0; i < 3; i++)
		assert_int_equal(rm_worker_submit(seen->worker, run_behind_gate,
				     done_counts, &seen->jobs[i]),
		    0);
	while (atomic_load(&seen->runs) == 0 && rm_mono_now().ns < give_up)
		sched_yield();
	assert_int_equal(rm_worker_free_until(seen->worker, rm_mono_now()), -ETIMEDOUT);
	seen->worker = NULL;
	assert_int_equal(seen->done, 2); /* the waiting jobs are cancelled */
	assert_int_equal(seen->cancelled, 2);
	assert_int_equal(atomic_load(&seen->runs), 1);
	pthread_mutex_unlock(&seen->gate); /* the thread frees the worker */
	assert_non_null(behind);
	/* For teardown; the hanging job has the other one. */
	*state = calloc(1, sizeof(*seen));
	pthread_mutex_init(&((struct seen *)*state)->gate, NULL);
	rm_timer_free(seen->guard);
	rm_loop_free(seen->loop);
}

static void
freeing_an_idle_worker_ends_its_thread(void **state)
{
	struct seen *seen = *state;

	assert_int_equal(rm_worker_new(seen->loop, 1, &seen->worker), 0);
	seen->expected = 1;
	assert_int_equal(rm_worker_submit(seen->worker, run, done, &seen->jobs[0]), 0);
	assert_int_equal(rm_loop_run(seen->loop), 0);
	/* The deadline has passed already; the thread may not even have started. */
	assert_int_equal(rm_worker_free_until(seen->worker, rm_mono_now()), 0);
	assert_int_equal(rm_worker_free_until(NULL, rm_mono_now()), 0);
	seen->worker = NULL;
	assert_int_equal(seen->done, 1);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(jobs_run_in_a_thread_and_report_in_order_on_the_loop),
		TEST(a_full_worker_refuses_jobs_until_one_has_reported),
		TEST(an_answer_may_submit_the_next_job),
		TEST(freeing_waits_for_the_running_job_and_cancels_the_rest),
		TEST(a_job_that_does_not_end_is_left_behind),
		TEST(freeing_an_idle_worker_ends_its_thread),
	};

	return cmocka_run_group_tests_name("worker", tests, NULL, NULL);
}
