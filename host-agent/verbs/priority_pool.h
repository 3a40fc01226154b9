/*
 * priority_pool - a few threads for calls that may block for a second, so that calls
 * that do not block never wait for those that may.
 *
 * With a single thread every new target would wait for each dead one before it. So
 * there are several threads: one runs only calls that do not block; calls that have
 * failed before use at most one, so new ones find another. Call all functions from the
 * loop; only run() is called in a thread, and uses nothing but its job.
 */
#ifndef HOST_AGENT_VERBS_PRIORITY_POOL_H
#define HOST_AGENT_VERBS_PRIORITY_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

struct rm_loop;
struct priority_pool;

#define PRIORITY_POOL_MIN 3 /* one for each of: sure, new, tried before */
#define PRIORITY_POOL_MAX 16

enum lane_class { /* in order of priority */
	LANE_SURE,
	LANE_NEW,   /* never tried before: probably succeeds */
	LANE_RETRY, /* has failed before */
	LANE_IDLE,  /* not urgent; may fail; one runs per several of LANE_RETRY */
	LANE_CLASSES
};

struct lane_job { /* embedded in the caller's struct; it must live until done */
	int (*run)(struct lane_job *job);
	void (*done)(struct lane_job *job, int r); /* may free the job */
	struct lane_job *next;                     /* the lanes' */
	enum lane_class class;
};

/* count: PRIORITY_POOL_MIN to PRIORITY_POOL_MAX, else -EINVAL. One pool for all
 * ports of a process is enough. */
int priority_pool_new(struct rm_loop *loop, size_t count, struct priority_pool **ret);
/* Waits for running jobs; jobs that never ran get done(-ECANCELED). */
void priority_pool_stop(struct priority_pool *pool);
void priority_pool_free(
    struct priority_pool *pool); /* stops them first; NULL is allowed */
/* The same, but does not wait longer than until then. Returns the number of jobs
 * still running in their threads. If there are any, no further done is called, for it
 * may call what hangs; all jobs, with all that they use, must live as long as the
 * process. */
size_t priority_pool_free_until(struct priority_pool *pool, rm_mono_t until);

/* Takes any number of jobs: the caller has to bound them. -ECANCELED: the pool has
 * been stopped, and done will not be called. */
int priority_pool_submit(
    struct priority_pool *pool, struct lane_job *job, enum lane_class class);

#endif
