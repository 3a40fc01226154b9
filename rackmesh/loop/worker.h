/*
 * worker - one bounded thread for what blocks (fsync, name look-up).
 *
 * run() executes in the thread and must touch nothing but its own job; done()
 * executes on the loop, in submission order.
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
/* Waits for the running job; calls done(-ECANCELED) for those that never ran. */
void rm_worker_free(struct rm_worker *worker);

/* -EAGAIN when full: nothing was taken and neither function will be called. */
int rm_worker_submit(struct rm_worker *worker, int (*run)(void *job),
    void (*done)(void *job, int r), void *job);

/* How long it has had work and ended no job; 0: it has nothing to do. */
int64_t rm_worker_behind_ns(const struct rm_worker *worker, rm_mono_t now);

#endif
