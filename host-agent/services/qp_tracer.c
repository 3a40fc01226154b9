#include "host-agent/services/qp_tracer.h"

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/services/kernel_support.h"
#include "rackmesh/core/log.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/worker.h"

#define EVENTS_PER_WAKEUP 64
#define MODULE_RETRY_NS (3 * RM_NS_PER_S)
/* Time until the next attempt after a failure that may pass: too little memory, or a
 * lock that another process holds. */
#define FAILURE_RETRY_NS (60 * RM_NS_PER_S)

struct start_job { /* belongs to the worker from submit to done */
	const char *root;
	enum qp_hooks_method method;
	enum kernel_support needs;
	struct qp_hooks *hooks;
	char reason[QP_HOOKS_TEXT];
};

struct qp_tracer {
	struct rm_loop *loop;
	struct rm_worker *worker;
	char *root;
	struct qp_tracer_callbacks callbacks;
	void *arg;

	struct start_job job;
	struct rm_timer *retry;
	struct qp_hooks *hooks; /* NULL: no events come */
	struct event *event;
	char missing[QP_HOOKS_TEXT];
	uint64_t events, attempts;
};

static void
take(const struct qp_event *event, void *arg)
{
	struct qp_tracer *tracer = arg;

	tracer->events++;
	tracer->callbacks.on_event(event, tracer->arg);
}

/* Takes a bounded number of events. If some are left, the fd stays readable, and the
 * rest of the loop runs first. */
static void
on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct qp_tracer *tracer = arg;

	qp_hooks_take(tracer->hooks, EVENTS_PER_WAKEUP, take, tracer);
}

static int
start_run(void *arg)
{
	struct start_job *job = arg;
	_Static_assert(KERNEL_SUPPORT_TEXT <= QP_HOOKS_TEXT, "one holds the other");

	job->needs = kernel_support_look(job->root, job->reason);
	if (job->needs != KERNEL_SUPPORT_FULL)
		return -ENOTSUP;
	return qp_hooks_open(job->method, &job->hooks, job->reason);
}

static int
listen_to(struct qp_tracer *tracer, struct qp_hooks *hooks)
{
	tracer->event = event_new(rm_loop_base(tracer->loop), qp_hooks_fd(hooks),
	    EV_READ | EV_PERSIST, on_readable, tracer);
	if (tracer->event == NULL || event_add(tracer->event, NULL) < 0)
		return -ENOMEM;
	tracer->hooks = hooks;
	return 0;
}

static void
give_up(struct qp_tracer *tracer, int r)
{
	const struct start_job *job = &tracer->job;
	bool news = strcmp(tracer->missing, job->reason) != 0;

	snprintf(tracer->missing, sizeof(tracer->missing), "%s", job->reason);
	if (news && job->needs == KERNEL_SUPPORT_NO_MODULE)
		rm_log_info("service flows: not traced yet: %s", job->reason);
	else if (news)
		rm_log_warn(job->reason[0] == 0 ? r : 0,
		    "cannot trace service flows: %s", job->reason);
	if (job->needs == KERNEL_SUPPORT_NO_MODULE)
		rm_timer_after(tracer->retry, MODULE_RETRY_NS);
	else if (job->needs == KERNEL_SUPPORT_FULL)
		rm_timer_after(tracer->retry, FAILURE_RETRY_NS);
}

static void
start_done(void *arg, int r)
{
	struct start_job *job = arg;
	struct qp_tracer *tracer =
	    (struct qp_tracer *)((char *)arg - offsetof(struct qp_tracer, job));

	if (r == -ECANCELED)
		return;
	tracer->attempts++;
	if (r == 0)
		r = listen_to(tracer, job->hooks);
	if (r < 0) {
		qp_hooks_close(job->hooks);
		give_up(tracer, r);
	} else {
		tracer->missing[0] = 0;
		rm_log_info("service flows: traced by %s", qp_tracer_method(tracer));
	}
	job->hooks = NULL;
	tracer->callbacks.on_state(tracer->arg);
}

static void
begin(void *arg)
{
	struct qp_tracer *tracer = arg;

	if (rm_worker_submit(tracer->worker, start_run, start_done, &tracer->job) < 0)
		rm_timer_after(tracer->retry, MODULE_RETRY_NS);
}

int
qp_tracer_new(struct rm_loop *loop, struct rm_worker *worker,
    const struct qp_tracer_options *options,
    const struct qp_tracer_callbacks *callbacks, void *arg, struct qp_tracer **ret)
{
	struct qp_tracer *tracer = calloc(1, sizeof(*tracer));
	int r;

	if (tracer == NULL)
		return -ENOMEM;
	tracer->loop = loop;
	tracer->worker = worker;
	tracer->callbacks = *callbacks;
	tracer->arg = arg;
	tracer->root = strdup(options->root == NULL ? "" : options->root);
	r = tracer->root == NULL ? -ENOMEM
				 : rm_timer_new(loop, begin, tracer, &tracer->retry);
	if (r < 0) {
		qp_tracer_free(tracer);
		return r;
	}
	tracer->job.root = tracer->root;
	tracer->job.method = options->method;
	begin(tracer);
	*ret = tracer;
	return 0;
}

void
qp_tracer_free(struct qp_tracer *tracer)
{
	if (tracer == NULL)
		return;
	if (tracer->event != NULL)
		event_free(tracer->event);
	qp_hooks_close(tracer->hooks);
	rm_timer_free(tracer->retry);
	free(tracer->root);
	free(tracer);
}

bool
qp_tracer_is_attached(const struct qp_tracer *tracer)
{
	return tracer->hooks != NULL;
}

const char *
qp_tracer_missing(const struct qp_tracer *tracer)
{
	return tracer->missing;
}

const char *
qp_tracer_method(const struct qp_tracer *tracer)
{
	return tracer->hooks == NULL
		   ? ""
		   : qp_hooks_method_name(qp_hooks_method(tracer->hooks));
}

struct qp_tracer_counts
qp_tracer_counts(const struct qp_tracer *tracer)
{
	struct qp_tracer_counts counts = { .events = tracer->events,
		.attempts = tracer->attempts };

	if (tracer->hooks != NULL) {
		counts.dropped = qp_hooks_dropped(tracer->hooks);
		counts.malformed = qp_hooks_malformed(tracer->hooks);
	}
	return counts;
}
