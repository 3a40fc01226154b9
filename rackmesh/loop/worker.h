/*
 * worker - one thread with a bounded queue, for calls that block (fsync, name look-up).
 *
 * run() executes in the thread and must touch nothing but its own job; done() executes
 * on the loop, in submission order.
 */
#ifndef RACKMESH_LOOP_WORKER_H
#define RACKMESH_LOOP_WORKER_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

struct rm_loop;
struct rm_worker;

/* capacity: jobs waiting or unanswered, at most. */
int rm_worker_new(struct rm_loop *loop, size_t capacity, struct rm_worker **ret);
/* Begins no further job; does not wait. Several that are to be freed end together so.
 */
void rm_worker_stop(struct rm_worker *worker);
/* Waits for the running job; calls done(-ECANCELED) for those that never ran. */
void rm_worker_free(struct rm_worker *worker);
/* As that, but waits no longer than until then. -ETIMEDOUT: the running job is left
 * behind in its thread, which frees the worker when the job ends. Its done is never
 * called, and what the job touches must live as long as the process. */
int rm_worker_free_until(struct rm_worker *worker, rm_mono_t until);

/* -EAGAIN when full: nothing was taken and neither function will be called. */
int rm_worker_submit(struct rm_worker *worker, int (*run)(void *job),
    void (*done)(void *job, int r), void *job);

/* How long it has had work without ending a job; 0: it has nothing to do. */
int64_t rm_worker_behind_ns(const struct rm_worker *worker, rm_mono_t now);

#endif
