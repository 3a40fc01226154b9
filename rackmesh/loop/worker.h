/*
 * worker - one thread with a bounded queue, for calls that block (fsync, name look-up).
 *
 * run() is called in the thread and must use nothing but its job; done() is called on
 * the loop, in the order of submission.
 */
#ifndef RACKMESH_LOOP_WORKER_H
#define RACKMESH_LOOP_WORKER_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

struct rm_loop;
struct rm_worker;

/* capacity: the most jobs that wait, run, or are not answered yet. */
int rm_worker_new(struct rm_loop *loop, size_t capacity, struct rm_worker **ret);
/* Lets no further job begin, and does not wait. Call it for several workers before they
 * are freed, so that they end at the same time. */
void rm_worker_stop(struct rm_worker *worker);
/* Waits for the running job. Jobs that have not run get done(-ECANCELED). */
void rm_worker_free(struct rm_worker *worker);
/* The same, but waits until that time at the longest. -ETIMEDOUT: the running job is
 * left behind in its thread, which frees the worker when the job ends. Its done is
 * never called, and all that the job uses must live as long as the process. */
int rm_worker_free_until(struct rm_worker *worker, rm_mono_t until);

/* -EAGAIN: the worker is full; neither function will be called. */
int rm_worker_submit(struct rm_worker *worker, int (*run)(void *job),
    void (*done)(void *job, int r), void *job);

/* Time in ns for which the worker has had jobs without ending one; 0: it has no
 * jobs. */
int64_t rm_worker_behind_ns(const struct rm_worker *worker, rm_mono_t now);

#endif
