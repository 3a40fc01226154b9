/* What blocks: names of processes, lists of QPs. On the worker, one of each at a time.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "host-agent/host_agent_services_state.h"
#include "rackmesh/core/log.h"
#include "rackmesh/loop/worker.h"

/* A list asks the firmware about every QP: seldom, while events tell what happens. */
#define LIST_HEARING_NS (600 * RM_NS_PER_S)
#define LIST_DEAF_NS (60 * RM_NS_PER_S)
#define LIST_APART_NS (5 * RM_NS_PER_S)
#define LIST_SHARE 10 /* one part in so many of the worker's time */

static int
names_run(void *arg)
{
	struct name_job *job = arg;

	for (size_t i = 0; i < job->count; i++)
		process_name_read("", job->items[i].pid, job->items[i].cgroup_id,
		    &job->items[i].name);
	return 0;
}

static void
names_done(void *arg, int r)
{
	struct agent_services *own =
	    (struct agent_services *)((char *)arg -
				      offsetof(struct agent_services, names));

	own->names.busy = false;
	if (r < 0)
		return;
	for (size_t i = 0; i < own->names.count; i++)
		services_named(
		    own->services, own->names.items[i].pid, &own->names.items[i].name);
	own->counts.names += own->names.count;
	own->news |= own->names.count > 0;
	if (own->names.count == NAMES_PER_JOB)
		agent_services_turn_soon(own);
}

void
agent_services_name(struct agent_services *own)
{
	struct name_job *job = &own->names;
	struct services_process process;

	if (job->busy)
		return;
	for (job->count = 0; job->count < NAMES_PER_JOB &&
			     services_next_process(own->services, &process);
	     job->count++) {
		job->items[job->count].pid = process.pid;
		job->items[job->count].cgroup_id = process.cgroup_id;
		snprintf(job->items[job->count].name.comm,
		    sizeof(job->items[0].name.comm), "%s", process.comm);
	}
	if (job->count == 0)
		return;
	/* A full worker leaves them with their commands for names. */
	job->busy =
	    rm_worker_submit(own->agent->worker, names_run, names_done, job) == 0;
}

static int
list_run(void *arg)
{
	struct list_job *job = arg;

	return qp_list_read(&job->list);
}

static void
list_done(void *arg, int r)
{
	struct agent_services *own =
	    (struct agent_services *)((char *)arg -
				      offsetof(struct agent_services, list));
	struct list_job *job = &own->list;

	rm_mono_t now = rm_mono_now();

	job->busy = false;
	job->rest = rm_mono_add(
	    now, LIST_APART_NS + rm_mono_since(now, job->asked) * LIST_SHARE);
	if (r < 0) {
		own->counts.lists_failed++;
		/* Without RDMA in the kernel there is nothing to list. */
		if (r != -ECANCELED && r != -EPROTONOSUPPORT)
			rm_log_warn(r, "cannot list the QPs of this host");
		return;
	}
	own->counts.lists++;
	job->wanted |= services_listed(own->services, &job->list, job->asked, now);
	qp_list_clear(&job->list);
	agent_services_turn_soon(own);
}

void
agent_services_list(struct agent_services *own, rm_mono_t now)
{
	bool hears = qp_tracer_hears(own->hooks);
	uint64_t dropped = qp_tracer_counts(own->hooks).dropped;
	struct list_job *job = &own->list;

	if (job->busy)
		return;
	if (!job->wanted && dropped == own->dropped &&
	    rm_mono_since(now, own->list_at) < 0)
		return;
	if (job->rest.ns != 0 && rm_mono_since(now, job->rest) < 0)
		return; /* in a later turn */
	own->dropped = dropped;
	own->list_at = rm_mono_add(now, hears ? LIST_HEARING_NS : LIST_DEAF_NS);
	job->asked = now;
	job->wanted = false;
	job->busy = rm_worker_submit(own->agent->worker, list_run, list_done, job) == 0;
}
