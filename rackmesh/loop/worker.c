#include "rackmesh/loop/worker.h"

#include <errno.h>
#include <event2/event.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "rackmesh/loop/loop.h"

#define WORKER_MAX_CAPACITY 65536
#define WORKER_ANSWERS_PER_WAKEUP 64

struct worker_job {
	int (*run)(void *job);
	void (*done)(void *job, int r);
	void *job;
	int r;
};

/* Jobs are in a ring, with answered <= run <= submitted; the slot of a job is its
 * number modulo capacity. */
struct rm_worker {
	struct worker_job *jobs;
	size_t capacity;
	uint64_t answered; /* used only in the loop's thread */

	pthread_mutex_t lock; /* protects the members below */
	pthread_cond_t wake, idle;
	uint64_t run, submitted;
	/* when a job last ended, or when a job came to an idle worker */
	rm_mono_t moved;
	bool running; /* a job is running */
	bool stopping;
	bool ended; /* the thread has ended its work */
	bool left;  /* nobody waits for the thread, so it has to free the worker */

	pthread_t thread;
	bool started;
	int fd; /* eventfd: signals that jobs have ended */
	struct event *event;
};

static struct worker_job *
worker_slot(struct rm_worker *worker, uint64_t number)
{
	return &worker->jobs[number % worker->capacity];
}

static void
worker_notify(struct rm_worker *worker)
{
	const uint64_t one = 1;

	/* write fails only if the counter is full; then the loop will be woken
	 * anyway. */
	if (write(worker->fd, &one, sizeof(one)) < 0)
		return;
}

static void
worker_release(struct rm_worker *worker)
{
	if (worker->fd >= 0)
		close(worker->fd);
	pthread_cond_destroy(&worker->wake);
	pthread_cond_destroy(&worker->idle);
	pthread_mutex_destroy(&worker->lock);
	free(worker->jobs);
	free(worker);
}

static void *
worker_main(void *arg)
{
	struct rm_worker *worker = arg;
	bool left;

	pthread_mutex_lock(&worker->lock);
	for (;;) {
		struct worker_job *job;

		while (worker->run == worker->submitted && !worker->stopping)
			pthread_cond_wait(&worker->wake, &worker->lock);
		if (worker->stopping)
			break;
		/* No other thread uses this slot until run is increased. */
		job = worker_slot(worker, worker->run);
		worker->running = true;
		pthread_mutex_unlock(&worker->lock);

		job->r = job->run(job->job);

		pthread_mutex_lock(&worker->lock);
		worker->running = false;
		worker->run++;
		worker->moved = rm_mono_now();
		pthread_cond_signal(&worker->idle);
		pthread_mutex_unlock(&worker->lock);
		/* not while the lock is held, since the loop may need it */
		worker_notify(worker);
		pthread_mutex_lock(&worker->lock);
	}
	worker->ended = true;
	left = worker->left;
	pthread_mutex_unlock(&worker->lock);
	if (left)
		worker_release(worker);
	return NULL;
}

static void
worker_answer(struct rm_worker *worker)
{
	struct worker_job job = *worker_slot(worker, worker->answered);

	worker->answered++; /* before done, which may submit a job into this slot */
	job.done(job.job, job.r);
}

static void
worker_on_run(evutil_socket_t fd, short what, void *arg)
{
	struct rm_worker *worker = arg;
	uint64_t count, run;

	if (read(fd, &count, sizeof(count)) < 0)
		return; /* EAGAIN: the counter was read at an earlier wake-up */
	pthread_mutex_lock(&worker->lock);
	run = worker->run;
	pthread_mutex_unlock(&worker->lock);

	for (int i = 0; i < WORKER_ANSWERS_PER_WAKEUP && worker->answered < run; i++)
		worker_answer(worker);
	if (worker->answered < run)
		/* the other jobs are answered in a later turn of the loop */
		worker_notify(worker);
}

/* Signals are handled by the loop's thread. */
static int
worker_start(struct rm_worker *worker)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = -pthread_create(&worker->thread, NULL, worker_main, worker);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	worker->started = r == 0;
	if (worker->started)
		pthread_setname_np(worker->thread, "worker");
	return r;
}

/* Makes a condition variable that waits by the clock of rm_mono_now(). */
static void
worker_init_idle(struct rm_worker *worker)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&worker->idle, &attributes);
	pthread_condattr_destroy(&attributes);
}

int
rm_worker_new(struct rm_loop *loop, size_t capacity, struct rm_worker **ret)
{
	struct rm_worker *worker;
	int r = -ENOMEM;

	if (capacity == 0 || capacity > WORKER_MAX_CAPACITY)
		return -EINVAL;
	worker = calloc(1, sizeof(*worker));
	if (worker == NULL)
		return -ENOMEM;
	pthread_mutex_init(&worker->lock, NULL);
	pthread_cond_init(&worker->wake, NULL);
	worker_init_idle(worker);
	worker->capacity = capacity;
	worker->fd = -1;
	worker->jobs = calloc(capacity, sizeof(*worker->jobs));
	if (worker->jobs == NULL)
		goto out;
	worker->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (worker->fd < 0) {
		r = -errno;
		goto out;
	}
	worker->event = event_new(rm_loop_base(loop), worker->fd, EV_READ | EV_PERSIST,
	    worker_on_run, worker);
	if (worker->event == NULL || event_add(worker->event, NULL) < 0)
		goto out;
	r = worker_start(worker);
	if (r < 0)
		goto out;
	*ret = worker;
	return 0;
out:
	rm_worker_free(worker);
	return r;
}

void
rm_worker_stop(struct rm_worker *worker)
{
	pthread_mutex_lock(&worker->lock);
	worker->stopping = true;
	pthread_cond_signal(&worker->wake);
	pthread_mutex_unlock(&worker->lock);
}

/* Cancels the waiting jobs, and answers all. `running`: the number of a job that still
 * runs and is not answered; UINT64_MAX: none. */
static void
worker_end(struct rm_worker *worker, uint64_t run, uint64_t running)
{
	for (uint64_t i = run; i < worker->submitted; i++)
		if (i != running)
			worker_slot(worker, i)->r = -ECANCELED;
	while (worker->answered < worker->submitted)
		if (worker->answered == running)
			worker->answered++;
		else
			worker_answer(worker);
	if (worker->event != NULL)
		event_free(worker->event);
}

void
rm_worker_free(struct rm_worker *worker)
{
	if (worker == NULL)
		return;
	rm_worker_stop(worker);
	if (worker->started)
		pthread_join(worker->thread, NULL);
	worker_end(worker, worker->run, UINT64_MAX);
	worker_release(worker);
}

/* False: a job is still running. */
static bool
worker_wait(struct rm_worker *worker, rm_mono_t until)
{
	const struct timespec time = { .tv_sec = (time_t)(until.ns / RM_NS_PER_S),
		.tv_nsec = (long)(until.ns % RM_NS_PER_S) };
	int r = 0;

	while (worker->running && r == 0)
		r = pthread_cond_timedwait(&worker->idle, &worker->lock, &time);
	return !worker->running;
}

int
rm_worker_free_until(struct rm_worker *worker, rm_mono_t until)
{
	bool ended;
	uint64_t run;

	if (worker == NULL)
		return 0;
	rm_worker_stop(worker);
	pthread_mutex_lock(&worker->lock);
	if (worker_wait(worker, until)) {
		pthread_mutex_unlock(&worker->lock);
		rm_worker_free(worker);
		return 0;
	}
	run = worker->run;
	pthread_mutex_unlock(&worker->lock);
	/* First, since the thread may free the worker as soon as it is left behind. */
	worker_end(worker, run, run);
	pthread_mutex_lock(&worker->lock);
	ended = worker->ended; /* the job may have ended in the meantime */
	worker->left = !ended;
	if (!ended)
		pthread_detach(worker->thread);
	pthread_mutex_unlock(&worker->lock);
	if (ended) {
		pthread_join(worker->thread, NULL);
		worker_release(worker);
	}
	return -ETIMEDOUT;
}

int
rm_worker_submit(struct rm_worker *worker, int (*run)(void *job),
    void (*done)(void *job, int r), void *job)
{
	int r = -EAGAIN;

	pthread_mutex_lock(&worker->lock);
	if (!worker->stopping &&
	    worker->submitted - worker->answered < worker->capacity) {
		*worker_slot(worker, worker->submitted) = (struct worker_job){
			.run = run,
			.done = done,
			.job = job,
		};
		if (worker->run == worker->submitted)
			worker->moved = rm_mono_now();
		worker->submitted++;
		pthread_cond_signal(&worker->wake);
		r = 0;
	}
	pthread_mutex_unlock(&worker->lock);
	return r;
}

int64_t
rm_worker_behind_ns(const struct rm_worker *worker, rm_mono_t now)
{
	/* The lock is not part of the state that a caller sees, so const is cast away.
	 */
	pthread_mutex_t *lock = (pthread_mutex_t *)&worker->lock;
	int64_t behind = 0;

	pthread_mutex_lock(lock);
	if (worker->run < worker->submitted)
		behind = rm_mono_since(now, worker->moved);
	pthread_mutex_unlock(lock);
	return behind > 0 ? behind : 0;
}
