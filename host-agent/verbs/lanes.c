#include "host-agent/verbs/lanes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "rackmesh/loop/worker.h"

#define RETRIES_IN_A_ROW 4

struct lane {
	struct lanes *lanes;
	struct rm_worker *worker;
	struct lane_job *job; /* what it is at, or NULL */
};

struct lane_queue {
	struct lane_job *first, **end;
};

struct lanes {
	struct lane *lanes;
	size_t count;
	struct lane_queue queues[LANE_CLASSES];
	size_t busy[LANE_CLASSES];
	unsigned retries; /* in a row, while something idle waits */
	bool ending;
};

static void lanes_dispatch(struct lanes *lanes);

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
class_may_start(const struct lanes *lanes, enum lane_class class)
{
	size_t tried = lanes->busy[LANE_RETRY] + lanes->busy[LANE_IDLE];

	if (class == LANE_SURE)
		return true;
	if (tried + lanes->busy[LANE_NEW] >= lanes->count - 1)
		return false;
	return class == LANE_NEW || tried == 0;
}

/* Both share a lane, and some dozen dead neighbours keep it busy for ever: without a
 * turn now and then what is idle would never be done. */
static enum lane_class
retry_or_idle(struct lanes *lanes)
{
	bool idle = lanes->queues[LANE_IDLE].first != NULL;

	if (lanes->queues[LANE_RETRY].first != NULL &&
	    (!idle || lanes->retries < RETRIES_IN_A_ROW)) {
		lanes->retries = idle ? lanes->retries + 1 : 0;
		return LANE_RETRY;
	}
	lanes->retries = 0;
	return LANE_IDLE;
}

static struct lane_job *
lanes_next(struct lanes *lanes)
{
	for (size_t i = 0; i < LANE_RETRY; i++) {
		if (lanes->queues[i].first != NULL &&
		    class_may_start(lanes, (enum lane_class)i))
			return queue_pop(&lanes->queues[i]);
	}
	if (!class_may_start(lanes, LANE_RETRY))
		return NULL;
	return queue_pop(&lanes->queues[retry_or_idle(lanes)]);
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
	lane->lanes->busy[job->class]--;
	lanes_dispatch(lane->lanes); /* before: done may take its time */
	job->done(job, r);
}

static void
lanes_dispatch(struct lanes *lanes)
{
	for (size_t i = 0; i < lanes->count && !lanes->ending; i++) {
		struct lane *lane = &lanes->lanes[i];

		if (lane->job != NULL)
			continue;
		lane->job = lanes_next(lanes);
		if (lane->job == NULL)
			return;
		lanes->busy[lane->job->class]++;
		/* Its worker has room for one and is idle: this does not fail. */
		(void)rm_worker_submit(lane->worker, lane_run, lane_done, lane);
	}
}

int
lanes_new(struct rm_loop *loop, size_t count, struct lanes **ret)
{
	struct lanes *lanes;
	int r = -ENOMEM;

	if (count < LANES_MIN || count > LANES_MAX)
		return -EINVAL;
	lanes = calloc(1, sizeof(*lanes));
	if (lanes == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < LANE_CLASSES; i++)
		lanes->queues[i].end = &lanes->queues[i].first;
	lanes->lanes = calloc(count, sizeof(*lanes->lanes));
	if (lanes->lanes == NULL)
		goto out;
	for (; lanes->count < count; lanes->count++) {
		struct lane *lane = &lanes->lanes[lanes->count];

		lane->lanes = lanes;
		r = rm_worker_new(loop, 1, &lane->worker);
		if (r < 0)
			goto out;
	}
	*ret = lanes;
	return 0;
out:
	lanes_free(lanes);
	return r;
}

static void
cancel_waiting(struct lanes *lanes)
{
	struct lane_job *job;

	for (size_t i = 0; i < LANE_CLASSES; i++) {
		while ((job = queue_pop(&lanes->queues[i])) != NULL)
			job->done(job, -ECANCELED);
	}
}

void
lanes_stop(struct lanes *lanes)
{
	lanes->ending = true;
	for (size_t i = 0; i < lanes->count; i++) {
		rm_worker_free(lanes->lanes[i].worker);
		lanes->lanes[i].worker = NULL;
	}
	cancel_waiting(lanes);
}

void
lanes_free(struct lanes *lanes)
{
	if (lanes == NULL)
		return;
	lanes_stop(lanes);
	free(lanes->lanes);
	free(lanes);
}

size_t
lanes_free_until(struct lanes *lanes, rm_mono_t until)
{
	size_t left = 0;

	if (lanes == NULL)
		return 0;
	lanes->ending = true;
	for (size_t i = 0; i < lanes->count; i++)
		rm_worker_stop(lanes->lanes[i].worker);
	for (size_t i = 0; i < lanes->count; i++)
		left += rm_worker_free_until(lanes->lanes[i].worker, until) < 0;
	cancel_waiting(lanes);
	if (left == 0) {
		free(lanes->lanes);
		free(lanes);
	} /* else those that run were found through them */
	return left;
}

int
lanes_submit(struct lanes *lanes, struct lane_job *job, enum lane_class class)
{
	if (lanes->ending)
		return -ECANCELED;
	job->class = class;
	queue_push(&lanes->queues[class], job);
	lanes_dispatch(lanes);
	return 0;
}
