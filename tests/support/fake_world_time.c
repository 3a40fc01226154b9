/* Time, the loop, timers, the worker. */
#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rackmesh/core/random.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/worker.h"
#include "tests/support/fake_world_parts.h"

#define START_NS (100000 * RM_NS_PER_S)
#define WALL_NS (INT64_C(1700000000) * RM_NS_PER_S)
/* Limit for one passing of time; more come from a timer that is always due. */
#define MAX_FIRED 100000

struct rm_loop {
	void (*reload)(void *arg);
	void *reload_arg;
};

struct rm_timer {
	void (*fn)(void *arg);
	void *arg;
	rm_mono_t deadline;
	bool armed;
	struct rm_timer *next;
};

struct job {
	int (*run)(void *job);
	void (*done)(void *job, int r);
	void *job;
	struct job *next;
};

struct rm_worker {
	struct rm_worker *next;
	struct job *first;
	size_t capacity, count;
};

static int64_t now_ns;
static uint64_t random_state;
static struct rm_timer *timers;
static struct rm_worker *workers;
static struct event_base *base; /* reused by the next world */

/* ---- the clock ------------------------------------------------------------------ */

rm_mono_t
rm_mono_now(void)
{
	return (rm_mono_t){ now_ns };
}

rm_wall_t
rm_wall_now(void)
{
	return (rm_wall_t){ WALL_NS + now_ns - START_NS };
}

uint64_t
rm_random_u64(void)
{
	random_state += 0x9e3779b97f4a7c15;
	return (random_state ^ random_state >> 29) * 0xbf58476d1ce4e5b9;
}

/* ---- the loop ------------------------------------------------------------------- */

int
rm_loop_new(struct rm_loop **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret == NULL ? -ENOMEM : 0;
}

void
rm_loop_free(struct rm_loop *loop)
{
	free(loop);
}

int
rm_loop_run(struct rm_loop *loop)
{
	abort(); /* the script replaces the loop */
}

void
rm_loop_stop(struct rm_loop *loop)
{
}

void
rm_loop_on_reload(struct rm_loop *loop, void (*fn)(void *arg), void *arg)
{
	loop->reload = fn;
	loop->reload_arg = arg;
}

struct rm_notify *
rm_loop_notify(struct rm_loop *loop)
{
	return NULL;
}

struct event_base *
rm_loop_base(struct rm_loop *loop)
{
	if (base == NULL)
		base = event_base_new();
	return base;
}

int
rm_timer_new(
    struct rm_loop *loop, void (*fn)(void *arg), void *arg, struct rm_timer **ret)
{
	struct rm_timer *timer = calloc(1, sizeof(*timer));

	if (timer == NULL)
		return -ENOMEM;
	timer->fn = fn;
	timer->arg = arg;
	timer->next = timers;
	timers = timer;
	*ret = timer;
	return 0;
}

void
rm_timer_free(struct rm_timer *timer)
{
	struct rm_timer **at = &timers;

	if (timer == NULL)
		return;
	while (*at != timer)
		at = &(*at)->next;
	*at = timer->next;
	free(timer);
}

void
rm_timer_at(struct rm_timer *timer, rm_mono_t deadline)
{
	timer->deadline = deadline;
	timer->armed = true;
}

void
rm_timer_after(struct rm_timer *timer, int64_t ns)
{
	rm_timer_at(timer, rm_mono_add(rm_mono_now(), ns));
}

void
rm_timer_stop(struct rm_timer *timer)
{
	timer->armed = false;
}

/* ---- workers -------------------------------------------------------------------- */

int
rm_worker_new(struct rm_loop *loop, size_t capacity, struct rm_worker **ret)
{
	struct rm_worker *worker = calloc(1, sizeof(*worker));

	if (worker == NULL)
		return -ENOMEM;
	worker->capacity = capacity;
	worker->next = workers;
	workers = worker;
	*ret = worker;
	return 0;
}

static bool
take_job(struct rm_worker *worker, struct job *ret)
{
	struct job *first = worker->first;

	if (first == NULL)
		return false;
	worker->first = first->next;
	worker->count--;
	*ret = *first;
	free(first);
	return true;
}

/* A job begins only when a test lets it run. */
void
rm_worker_stop(struct rm_worker *worker)
{
	(void)worker;
}

void
rm_worker_free(struct rm_worker *gone)
{
	struct rm_worker **at = &workers;
	struct job job;

	if (gone == NULL)
		return;
	while (take_job(gone, &job))
		job.done(job.job, -ECANCELED);
	while (*at != gone)
		at = &(*at)->next;
	*at = gone->next;
	free(gone);
}

int
rm_worker_submit(struct rm_worker *to, int (*run)(void *job),
    void (*done)(void *job, int r), void *job)
{
	struct job **at = &to->first, *fresh;

	if (to->count == to->capacity)
		return -EAGAIN;
	fresh = calloc(1, sizeof(*fresh));
	if (fresh == NULL)
		return -EAGAIN;
	*fresh = (struct job){ run, done, job, NULL };
	while (*at != NULL)
		at = &(*at)->next;
	*at = fresh;
	to->count++;
	return 0;
}

int64_t
rm_worker_behind_ns(const struct rm_worker *of, rm_mono_t now)
{
	return 0;
}

/* ---- time passes ---------------------------------------------------------------- */

void
fake_world_turn(void)
{
	struct job job;

	for (struct rm_worker *worker = workers; worker != NULL; worker = worker->next)
		while (take_job(worker, &job))
			job.done(job.job, job.run(job.job));
	fake_links_turn();
}

static struct rm_timer *
next_due(int64_t until_ns)
{
	struct rm_timer *best = NULL;

	for (struct rm_timer *timer = timers; timer != NULL; timer = timer->next)
		if (timer->armed && timer->deadline.ns <= until_ns &&
		    (best == NULL || timer->deadline.ns < best->deadline.ns))
			best = timer;
	return best;
}

void
fake_world_pass(int64_t ns)
{
	const int64_t until_ns = now_ns + ns;
	struct rm_timer *timer;

	for (size_t i = 0; (timer = next_due(until_ns)) != NULL; i++) {
		if (i == MAX_FIRED)
			abort();
		if (timer->deadline.ns > now_ns)
			now_ns = timer->deadline.ns;
		timer->armed = false;
		timer->fn(timer->arg); /* a callback may free it */
		fake_world_turn();
	}
	now_ns = until_ns;
	fake_world_turn();
}

void
fake_world_freeze(int64_t ns)
{
	now_ns += ns;
	fake_world_pass(0);
}

void
fake_world_begin(void)
{
	now_ns = START_NS;
	random_state = 1;
	fake_links_begin();
}

void
fake_world_end(void)
{
	if (timers != NULL || workers != NULL)
		abort();
	fake_links_end();
	fake_http_end();
	fake_client_end();
}
