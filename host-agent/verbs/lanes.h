/*
 * lanes - a few threads for calls that may block for a second, so that calls that do
 * not block never wait for those that may.
 *
 * With a single thread every new target would wait for each dead one before it. So
 * there are several threads: one runs only calls that do not block; calls that have
 * failed before use at most one, so new ones find another. Call everything from the
 * loop; only run() is called in a thread, and uses nothing but its job.
 */
#ifndef HOST_AGENT_VERBS_LANES_H
#define HOST_AGENT_VERBS_LANES_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

struct rm_loop;
struct lanes;

#define LANES_MIN 3 /* one for each of: sure, new, tried before */
#define LANES_MAX 16

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

/* count: LANES_MIN to LANES_MAX, else -EINVAL. One for all ports of a process does. */
int lanes_new(struct rm_loop *loop, size_t count, struct lanes **ret);
/* Waits for running jobs; jobs that never ran get done(-ECANCELED). */
void lanes_stop(struct lanes *lanes);
void lanes_free(struct lanes *lanes); /* stops them first; NULL is fine */
/* As that, but waits no longer than until then. Returns how many jobs are left behind
 * in their threads: their done is never called, and they, with all that they touch,
 * must live as long as the process. */
size_t lanes_free_until(struct lanes *lanes, rm_mono_t until);

/* Takes any number: bounding them is the caller's. -ECANCELED: the lanes have been
 * stopped, and done will not be called. */
int lanes_submit(struct lanes *lanes, struct lane_job *job, enum lane_class class);

#endif
