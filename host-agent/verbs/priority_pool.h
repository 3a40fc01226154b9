/*
 * priority_pool - a few threads for calls that may block for a second, so that calls
 * that do not block never wait for those that may.
 *
 * With a single thread, a call for a new target would wait for the calls for all dead
 * targets before it. So there are several threads. One thread runs only calls that do
 * not block. Calls that failed before use at most one thread. So at least one thread is
 * left for new calls. Call all functions from the loop. Only run() is called in a
 * thread: it must use nothing but its job.
 */
#ifndef HOST_AGENT_VERBS_PRIORITY_POOL_H
#define HOST_AGENT_VERBS_PRIORITY_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

struct rm_loop;
struct priority_pool;

/* one thread for each of LANE_SURE, LANE_NEW and LANE_RETRY */
#define PRIORITY_POOL_MIN 3
#define PRIORITY_POOL_MAX 16

enum lane_class { /* in order of priority, the highest first */
	LANE_SURE,
	LANE_NEW,   /* The call was never tried before, so it probably succeeds. */
	LANE_RETRY, /* has failed before */
	/* not urgent, and may fail; some LANE_RETRY jobs run before each of these */
	LANE_IDLE,
	LANE_CLASSES
};

/* a member of the caller's struct, which must live until done is called */
struct lane_job {
	int (*run)(struct lane_job *job);
	void (*done)(struct lane_job *job, int r); /* may free the job */
	struct lane_job *next;                     /* next job in a list of the pool */
	enum lane_class class;
};

/* count: PRIORITY_POOL_MIN to PRIORITY_POOL_MAX, else -EINVAL. One pool for all
 * ports of a process is enough. */
int priority_pool_new(struct rm_loop *loop, size_t count, struct priority_pool **ret);
/* Waits for running jobs. Jobs that have not run get done(-ECANCELED). */
void priority_pool_stop(struct priority_pool *pool);
void priority_pool_free(
    struct priority_pool *pool); /* First stops the threads; NULL is allowed. */
/* Like priority_pool_free, but waits until that time at the longest. Returns the number
 * of jobs that still run in their threads. If there are any, done is not called for any
 * further job, because done might call a function that hangs. The jobs, and all that
 * they use, must then live as long as the process. */
size_t priority_pool_free_until(struct priority_pool *pool, rm_mono_t until);

/* Accepts any number of jobs, so the caller has to limit the number. -ECANCELED: the
 * pool was stopped, and done will not be called. */
int priority_pool_submit(
    struct priority_pool *pool, struct lane_job *job, enum lane_class class);

#endif
