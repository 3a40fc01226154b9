#include "host-agent/trace/tracer_io.h"

#include <errno.h>
#include <stdlib.h>

#include "host-agent/pinglist/pinglist.h"
#include "host-agent/rnic/rnic_facts.h"
#include "rackmesh/loop/loop.h"

#define JOBS_PER_TURN 16
/* Least time between two turns. */
#define TURN_NS (5 * RM_NS_PER_MS)
/* New lengths of paths, and losses, may wait this long, because a turn examines every
 * flow to find those that are due. If paths differ in length, every probe may show a
 * new length. */
#define NEWS_NS (50 * RM_NS_PER_MS)

struct tracer_io {
	struct rm_loop *loop;
	struct tracer *tracer;
	struct rm_timer *timer;
	rm_mono_t due; /* time at which the timer fires */
	struct trace_socket *ports[TRACER_MAX_OWNERS];
	struct trace_socket_counts counts;
	bool denied;
};

static void
arm(struct tracer_io *io)
{
	rm_mono_t now = rm_mono_now();
	rm_mono_t due = tracer_due(io->tracer, now);

	if (due.ns != INT64_MAX && rm_mono_since(due, now) < TURN_NS)
		due = rm_mono_add(now, TURN_NS);
	io->due = due;
	if (due.ns == INT64_MAX)
		rm_timer_stop(io->timer);
	else
		rm_timer_at(io->timer, due);
}

/* The time that this takes does not depend on the number of flows. */
static void
arm_for_news(struct tracer_io *io, rm_mono_t now)
{
	rm_mono_t latest = rm_mono_add(now, NEWS_NS);

	if (io->due.ns <= latest.ns)
		return;
	io->due = latest;
	rm_timer_at(io->timer, latest);
}

static void
send_job(struct tracer_io *io, const struct tracer_job *job)
{
	struct trace_socket *port = io->ports[job->owner];

	for (unsigned i = 0; i < job->ttl_count; i++) {
		if (port == NULL || trace_socket_send(port, &job->flow,
					(uint8_t)(i + 1), job->tokens[i]) < 0)
			tracer_failed(io->tracer);
	}
}

static void
on_timer(void *arg)
{
	struct tracer_io *io = arg;
	struct tracer_job job;

	for (int i = 0; i < JOBS_PER_TURN; i++) {
		if (!tracer_next(io->tracer, rm_mono_now(), &job))
			break;
		send_job(io, &job);
	}
	arm(io);
}

static void
on_answer(const struct trace_answer *answer, void *arg)
{
	struct tracer_io *io = arg;

	tracer_answer(io->tracer, answer, rm_mono_now());
}

int
tracer_io_new(
    struct rm_loop *loop, const struct tracer_options *options, struct tracer_io **ret)
{
	struct tracer_io *io = calloc(1, sizeof(*io));
	int r;

	if (io == NULL)
		return -ENOMEM;
	io->loop = loop;
	io->due.ns = INT64_MAX;
	r = tracer_new(options, &io->tracer);
	if (r == 0)
		r = rm_timer_new(loop, on_timer, io, &io->timer);
	if (r < 0)
		tracer_io_free(io);
	else
		*ret = io;
	return r;
}

void
tracer_io_free(struct tracer_io *io)
{
	if (io == NULL)
		return;
	for (size_t i = 0; i < TRACER_MAX_OWNERS; i++)
		trace_socket_free(io->ports[i]);
	rm_timer_free(io->timer);
	tracer_free(io->tracer);
	free(io);
}

static void
own_addresses(const struct rnic_facts *facts, struct wire_address ret[RNIC_FAMILIES])
{
	for (size_t i = 0; i < RNIC_FAMILIES; i++) {
		ret[i] = (struct wire_address){ 0 };
		if (i < facts->address_count)
			ret[i] = facts->addresses[i];
	}
}

int
tracer_io_open(struct tracer_io *io, size_t owner, const char *netns,
    const char *device, const struct rnic_facts *facts)
{
	struct trace_socket_options options = { .device = device, .netns = netns };
	int r;

	if (owner >= TRACER_MAX_OWNERS)
		return -EINVAL;
	own_addresses(facts, options.addresses);
	trace_socket_free(io->ports[owner]);
	io->ports[owner] = NULL;
	r = trace_socket_new(
	    io->loop, &options, &io->counts, on_answer, io, &io->ports[owner]);
	io->denied |= r == -EPERM || r == -EACCES;
	return r;
}

int
tracer_io_set(struct tracer_io *io, size_t owner, const struct pinglist_sum *sum,
    const struct rnic_facts *facts, struct port *port, uint64_t to)
{
	struct wire_address own[RNIC_FAMILIES];
	size_t targets = sum->target_count;
	int r;

	if (owner >= TRACER_MAX_OWNERS)
		return -EINVAL;
	own_addresses(facts, own);
	if (io->ports[owner] == NULL)
		targets = 0; /* none of the targets can be traced */
	r = tracer_set(
	    io->tracer, owner, sum->targets, targets, own, port, to, rm_mono_now());
	arm(io);
	return r;
}

void
tracer_io_result(struct tracer_io *io, size_t owner, const struct wire_result *result)
{
	struct wire_rnic_id dst = { result->dst_guid, result->dst_port_num };
	rm_mono_t now = rm_mono_now();

	if (result->outcome == WIRE_NO_REPLY &&
	    tracer_lost(io->tracer, owner, dst, result->src_port, now))
		arm_for_news(io, now);
	if ((result->flags & WIRE_ARRIVAL) == 0)
		return;
	if (tracer_length(io->tracer, owner, dst, result->src_port,
		wire_hops(result->arrived_ttl), now))
		arm_for_news(io, now);
}

void
tracer_io_tune(
    struct tracer_io *io, const struct tracer_options *options, uint32_t permille)
{
	tracer_tune(io->tracer, options, permille);
	arm(io);
}

struct tracer *
tracer_io_tracer(const struct tracer_io *io)
{
	return io->tracer;
}

bool
tracer_io_denied(const struct tracer_io *io)
{
	return io->denied;
}

const struct trace_socket_counts *
tracer_io_port_counts(const struct tracer_io *io)
{
	return &io->counts;
}
