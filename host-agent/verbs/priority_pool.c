#include "host-agent/verbs/priority_pool.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "rackmesh/loop/worker.h"

#define RETRIES_IN_A_ROW 4

struct lane {
	struct priority_pool *pool;
	struct rm_worker *worker;
	struct lane_job *job; /* the job that the thread runs, or NULL */
};

struct lane_queue {
	struct lane_job *first, **end;
};

struct priority_pool {
	struct lane *lanes;
	size_t count;
	struct lane_queue queues[LANE_CLASSES];
	size_t busy[LANE_CLASSES];
	/* number of retries that were started in a row while an idle job waited */
	unsigned retries;
	bool ending;
};

static void priority_pool_start_jobs(struct priority_pool *pool);

static struct lane_job *
queue_pop(struct lane_queue *queue)
{
	struct lane_job *job = queue->first;

	if (job == NULL)
		return NULL;
	queue->first = job->next;
	if (queue->first == NULL)
		queue->end = &queue->first;
	return job;
}

static void
queue_push(struct lane_queue *queue, struct lane_job *job)
{
	job->next = NULL;
	*queue->end = job;
	queue->end = &job->next;
}

static bool
class_may_start(const struct priority_pool *pool, enum lane_class class)
{
	size_t tried = pool->busy[LANE_RETRY] + pool->busy[LANE_IDLE];

	if (class == LANE_SURE)
		return true;
	if (tried + pool->busy[LANE_NEW] >= pool->count - 1)
		return false;
	return class == LANE_NEW || tried == 0;
}

/* Retries and idle jobs share one thread. The retries for some dozen dead neighbours
 * can keep that thread busy for ever: so after RETRIES_IN_A_ROW retries an idle job
 * is started. */
static enum lane_class
retry_or_idle(struct priority_pool *pool)
{
	bool idle = pool->queues[LANE_IDLE].first != NULL;

	if (pool->queues[LANE_RETRY].first != NULL &&
	    (!idle || pool->retries < RETRIES_IN_A_ROW)) {
		pool->retries = idle ? pool->retries + 1 : 0;
		return LANE_RETRY;
	}
	pool->retries = 0;
	return LANE_IDLE;
}

static struct lane_job *
priority_pool_next(struct priority_pool *pool)
{
	for (size_t i = 0; i < LANE_RETRY; i++) {
		if (pool->queues[i].first != NULL &&
		    class_may_start(pool, (enum lane_class)i))
			return queue_pop(&pool->queues[i]);
	}
	if (!class_may_start(pool, LANE_RETRY))
		return NULL;
	return queue_pop(&pool->queues[retry_or_idle(pool)]);
}

static int
lane_run(void *arg)
{
	struct lane *lane = arg;

	return lane->job->run(lane->job);
}

static void
lane_done(void *arg, int r)
{
	struct lane *lane = arg;
	struct lane_job *job = lane->job;

	lane->job = NULL;
	lane->pool->busy[job->class]--;
	priority_pool_start_jobs(
	    lane->pool); /* first starts other jobs, because done may take long */
	job->done(job, r);
}

static void
priority_pool_start_jobs(struct priority_pool *pool)
{
	for (size_t i = 0; i < pool->count && !pool->ending; i++) {
		struct lane *lane = &pool->lanes[i];

		if (lane->job != NULL)
			continue;
		lane->job = priority_pool_next(pool);
		if (lane->job == NULL)
			return;
		pool->busy[lane->job->class]++;
		/* The worker is idle and has room for one job, so this cannot fail. */
		(void)rm_worker_submit(lane->worker, lane_run, lane_done, lane);
	}
}

int
priority_pool_new(struct rm_loop *loop, size_t count, struct priority_pool **ret)
{
	struct priority_pool *pool;
	int r = -ENOMEM;

	if (count < PRIORITY_POOL_MIN || count > PRIORITY_POOL_MAX)
		return -EINVAL;
	pool = calloc(1, sizeof(*pool));
	if (pool == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < LANE_CLASSES; i++)
		pool->queues[i].end = &pool->queues[i].first;
	pool->lanes = calloc(count, sizeof(*pool->lanes));
	if (pool->lanes == NULL)
		goto out;
	for (; pool->count < count; pool->count++) {
		struct lane *lane = &pool->lanes[pool->count];

		lane->pool = pool;
		r = rm_worker_new(loop, 1, &lane->worker);
		if (r < 0)
			goto out;
	}
	*ret = pool;
	return 0;
out:
	priority_pool_free(pool);
	return r;
}

static void
cancel_waiting(struct priority_pool *pool)
{
	struct lane_job *job;

	for (size_t i = 0; i < LANE_CLASSES; i++) {
		while ((job = queue_pop(&pool->queues[i])) != NULL)
			job->done(job, -ECANCELED);
	}
}

void
priority_pool_stop(struct priority_pool *pool)
{
	pool->ending = true;
	for (size_t i = 0; i < pool->count; i++) {
		rm_worker_free(pool->lanes[i].worker);
		pool->lanes[i].worker = NULL;
	}
	cancel_waiting(pool);
}

void
priority_pool_free(struct priority_pool *pool)
{
	if (pool == NULL)
		return;
	priority_pool_stop(pool);
	free(pool->lanes);
	free(pool);
}

size_t
priority_pool_free_until(struct priority_pool *pool, rm_mono_t until)
{
	size_t left = 0;

	if (pool == NULL)
		return 0;
	pool->ending = true;
	for (size_t i = 0; i < pool->count; i++)
		rm_worker_stop(pool->lanes[i].worker);
	for (size_t i = 0; i < pool->count; i++)
		left += rm_worker_free_until(pool->lanes[i].worker, until) < 0;
	if (left == 0) {
		cancel_waiting(pool);
		free(pool->lanes);
		free(pool);
	} /* else the running jobs have been found through their threads */
	return left;
}

int
priority_pool_submit(
    struct priority_pool *pool, struct lane_job *job, enum lane_class class)
{
	if (pool->ending)
		return -ECANCELED;
	job->class = class;
	queue_push(&pool->queues[class], job);
	priority_pool_start_jobs(pool);
	return 0;
}
