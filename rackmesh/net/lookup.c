#include "rackmesh/net/lookup.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <event2/event.h>

#include "rackmesh/core/endpoint.h"
#include "rackmesh/core/error.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/metrics/metrics.h"

/* Shared by the loop and the thread: the last of the two frees it. */
struct lookup_job {
	atomic_uint holders;
	struct rm_endpoint endpoint;
	int fd; /* eventfd: set when the members below are valid */
	int r;
	struct rm_address addresses[RM_ENDPOINT_ADDRESSES];
	size_t count;
	struct rm_error error;
};

struct rm_lookup {
	struct lookup_job *job;
	struct event *event;
	void (*done)(const struct rm_lookup_answer *answer, void *arg);
	void *arg;
};

static atomic_uint lookups_running;
static struct rm_lookup_counts lookup_counts;

static void
lookup_job_drop(struct lookup_job *job)
{
	if (job == NULL || atomic_fetch_sub(&job->holders, 1) > 1)
		return;
	if (job->fd >= 0)
		close(job->fd);
	free(job);
}

static void *
lookup_main(void *arg)
{
	struct lookup_job *job = arg;
	const uint64_t one = 1;

	job->r = rm_endpoint_resolve(
	    &job->endpoint, job->addresses, &job->count, &job->error);
	/* Called before the answer is sent, because its receiver may start another
	 * look-up at once. */
	atomic_fetch_sub(&lookups_running, 1);
	while (write(job->fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	lookup_job_drop(job);
	return NULL;
}

/* Signals are handled by the loop's thread. Nobody waits for the end of the new
 * thread. */
static int
lookup_start(struct lookup_job *job)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;
	int r;

	r = -pthread_attr_init(&attributes);
	if (r < 0)
		return r;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	atomic_fetch_add(&job->holders, 1);
	r = -pthread_create(&thread, &attributes, lookup_main, job);
	if (r < 0)
		atomic_fetch_sub(&job->holders, 1);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return r;
}

static void
lookup_on_answer(evutil_socket_t fd, short what, void *arg)
{
	struct rm_lookup *lookup = arg;
	const struct lookup_job *job = lookup->job;
	const struct rm_lookup_answer answer = {
		.r = job->r,
		.addresses = job->addresses,
		.count = job->r == 0 ? job->count : 0,
		.reason = job->error.text,
	};

	lookup_counts.failed += job->r < 0;
	lookup->done(&answer, lookup->arg);
	rm_lookup_free(lookup);
}

static int
lookup_job_new(const struct rm_endpoint *endpoint, struct lookup_job **ret)
{
	struct lookup_job *job = calloc(1, sizeof(*job));
	int r;

	if (job == NULL)
		return -ENOMEM;
	atomic_init(&job->holders, 1);
	job->endpoint = *endpoint;
	job->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (job->fd < 0) {
		r = -errno;
		lookup_job_drop(job);
		return r;
	}
	*ret = job;
	return 0;
}

static int
lookup_create(struct rm_loop *loop, const struct rm_endpoint *endpoint,
    void (*done)(const struct rm_lookup_answer *answer, void *arg), void *arg,
    struct rm_lookup **ret)
{
	struct rm_lookup *lookup = calloc(1, sizeof(*lookup));
	int r;

	if (lookup == NULL)
		return -ENOMEM;
	lookup->done = done;
	lookup->arg = arg;
	r = lookup_job_new(endpoint, &lookup->job);
	if (r < 0)
		goto fail;
	lookup->event = event_new(
	    rm_loop_base(loop), lookup->job->fd, EV_READ, lookup_on_answer, lookup);
	r = -ENOMEM;
	if (lookup->event == NULL || event_add(lookup->event, NULL) < 0)
		goto fail;
	r = lookup_start(lookup->job);
	if (r < 0)
		goto fail;
	*ret = lookup;
	return 0;
fail:
	rm_lookup_free(lookup);
	return r;
}

int
rm_lookup_new(struct rm_loop *loop, const struct rm_endpoint *endpoint, unsigned most,
    void (*done)(const struct rm_lookup_answer *answer, void *arg), void *arg,
    struct rm_lookup **ret)
{
	int r = -EBUSY;

	lookup_counts.started++;
	if (atomic_fetch_add(&lookups_running, 1) < most)
		r = lookup_create(loop, endpoint, done, arg, ret);
	if (r < 0) {
		atomic_fetch_sub(&lookups_running, 1);
		lookup_counts.failed++;
	}
	return r;
}

void
rm_lookup_free(struct rm_lookup *lookup)
{
	if (lookup == NULL)
		return;
	if (lookup->event != NULL)
		event_free(lookup->event);
	lookup_job_drop(lookup->job);
	free(lookup);
}

const struct rm_lookup_counts *
rm_lookup_counts(void)
{
	return &lookup_counts;
}

int
rm_lookup_metrics(struct rm_metrics *metrics)
{
	static const struct rm_metric counters[] = {
		{ "rackmesh_name_lookups_total", "",
		    "Look-ups of host names, one each time that a peer given by name "
		    "is connected to.",
		    &lookup_counts.started },
		{ "rackmesh_name_lookups_failed_total", "",
		    "Look-ups of host names that gave no address.",
		    &lookup_counts.failed },
	};

	return rm_metrics_counters(
	    metrics, &lookup_counts, counters, sizeof(counters) / sizeof(counters[0]));
}
