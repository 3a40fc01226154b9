/*
 * priority_pool - a few threads for calls that may block for a second, so that calls
 * that do not block never wait for those that may.
 *
 * With a single thread every new target would wait for each dead one before it. So
 * there are several threads: one runs only calls that do not block; calls that have
 * failed before use at most one, so new ones find another. Call everything from the
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

enum lane_class { /* the first goes first */
	LANE_SURE,
	LANE_NEW,   /* never tried: likely good */
	LANE_RETRY, /* has failed before */
	LANE_IDLE,  /* not urgent; may fail; runs once per some of LANE_RETRY */
	LANE_CLASSES
};

struct lane_job { /* embedded in the caller's; it must live until done */
	int (*run)(struct lane_job *job);
	void (*done)(struct lane_job *job, int r); /* may free it */
	struct lane_job *next;                     /* the lanes' */
	enum lane_class class;
};

/* count: PRIORITY_POOL_MIN to PRIORITY_POOL_MAX, else -EINVAL. One for all ports of a
 * process does. */
int priority_pool_new(struct rm_loop *loop, size_t count, struct priority_pool **ret);
/* Waits for running jobs; jobs that never ran get done(-ECANCELED). */
void priority_pool_stop(struct priority_pool *pool);
void priority_pool_free(
    struct priority_pool *pool); /* stops them first; NULL is fine */
/* As that, but waits no longer than until then. Returns how many jobs are left behind
 * in their threads: their done is never called, and they, with all that they touch,
 * must live as long as the process. */
size_t lanes_free_until(struct priority_pool *pool, rm_mono_t until);

/* Takes any number: bounding them is the caller's. -ECANCELED: the lanes have been
 * stopped, and done will not be called. */
int priority_pool_submit(
    struct priority_pool *pool, struct lane_job *job, enum lane_class class);

#endif
