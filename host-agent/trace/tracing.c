#include "host-agent/trace/tracing.h"

#include <errno.h>
#include <stdlib.h>

#include "host-agent/pinglist/pinglist.h"
#include "host-agent/rnic/rnic_facts.h"
#include "rackmesh/loop/loop.h"

#define JOBS_PER_TURN 16
#define TTL_OF_PROBES 255
#define TTL_OF_SOFT_ROCE 64 /* whatever an address handle says */
/* Never more often than this, whatever is due. */
#define TURN_NS (5 * RM_NS_PER_MS)
/* So long news of a way's length may wait: to find what is due takes a look at every
 * flow, and where ways differ in length every probe has news. */
#define NEWS_NS (50 * RM_NS_PER_MS)

struct tracing {
	struct rm_loop *loop;
	struct tracer *tracer;
	struct rm_timer *timer;
	rm_mono_t due; /* of the timer */
	struct trace_port *ports[TRACER_MAX_OWNERS];
	struct trace_port_counts counts;
	bool denied;
};

static void
arm(struct tracing *tracing)
{
	rm_mono_t now = rm_mono_now();
	rm_mono_t due = tracer_due(tracing->tracer, now);

	if (due.ns != INT64_MAX && rm_mono_since(due, now) < TURN_NS)
		due = rm_mono_add(now, TURN_NS);
	tracing->due = due;
	if (due.ns == INT64_MAX)
		rm_timer_stop(tracing->timer);
	else
		rm_timer_at(tracing->timer, due);
}

/* Costs the same however many flows there are. */
static void
arm_for_news(struct tracing *tracing, rm_mono_t now)
{
	rm_mono_t latest = rm_mono_add(now, NEWS_NS);

	if (tracing->due.ns <= latest.ns)
		return;
	tracing->due = latest;
	rm_timer_at(tracing->timer, latest);
}

static void
send_job(struct tracing *tracing, const struct tracer_job *job)
{
	struct trace_port *port = tracing->ports[job->owner];

	for (unsigned i = 0; i < job->ttl_count; i++) {
		if (port == NULL || trace_port_send(port, &job->flow, (uint8_t)(i + 1),
					job->tokens[i]) < 0)
			tracer_failed(tracing->tracer);
	}
}

static void
on_timer(void *arg)
{
	struct tracing *tracing = arg;
	struct tracer_job job;

	for (int i = 0; i < JOBS_PER_TURN; i++) {
		if (!tracer_next(tracing->tracer, rm_mono_now(), &job))
			break;
		send_job(tracing, &job);
	}
	arm(tracing);
}

static void
on_answer(const struct trace_answer *answer, void *arg)
{
	struct tracing *tracing = arg;

	tracer_answer(tracing->tracer, answer, rm_mono_now());
}

int
tracing_new(
    struct rm_loop *loop, const struct tracer_options *options, struct tracing **ret)
{
	struct tracing *tracing = calloc(1, sizeof(*tracing));
	int r;

	if (tracing == NULL)
		return -ENOMEM;
	tracing->loop = loop;
	tracing->due.ns = INT64_MAX;
	r = tracer_new(options, &tracing->tracer);
	if (r == 0)
		r = rm_timer_new(loop, on_timer, tracing, &tracing->timer);
	if (r < 0)
		tracing_free(tracing);
	else
		*ret = tracing;
	return r;
}

void
tracing_free(struct tracing *tracing)
{
	if (tracing == NULL)
		return;
	for (size_t i = 0; i < TRACER_MAX_OWNERS; i++)
		trace_port_free(tracing->ports[i]);
	rm_timer_free(tracing->timer);
	tracer_free(tracing->tracer);
	free(tracing);
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
tracing_open(struct tracing *tracing, size_t owner, const char *netns,
    const char *device, const struct rnic_facts *facts)
{
	struct trace_port_options options = { .device = device, .netns = netns };
	int r;

	if (owner >= TRACER_MAX_OWNERS)
		return -EINVAL;
	own_addresses(facts, options.addresses);
	trace_port_free(tracing->ports[owner]);
	tracing->ports[owner] = NULL;
	r = trace_port_new(tracing->loop, &options, &tracing->counts, on_answer,
	    tracing, &tracing->ports[owner]);
	tracing->denied |= r == -EPERM || r == -EACCES;
	return r;
}

int
tracing_set(struct tracing *tracing, size_t owner, const struct pinglist_sum *sum,
    const struct rnic_facts *facts, struct port *port, uint64_t to)
{
	struct wire_address own[RNIC_FAMILIES];
	size_t targets = sum->target_count;
	int r;

	if (owner >= TRACER_MAX_OWNERS)
		return -EINVAL;
	own_addresses(facts, own);
	if (tracing->ports[owner] == NULL)
		targets = 0; /* none of them can be traced */
	r = tracer_set(tracing->tracer, owner, sum->targets, targets, own, port, to,
	    rm_mono_now());
	arm(tracing);
	return r;
}

/* No way is so long that the one could be taken for the other. */
static uint8_t
routers_passed(uint8_t ttl)
{
	return (
	    uint8_t)((ttl > TTL_OF_SOFT_ROCE ? TTL_OF_PROBES : TTL_OF_SOFT_ROCE) - ttl);
}

void
tracing_result(struct tracing *tracing, size_t owner, const struct wire_result *result)
{
	struct wire_rnic_id dst = { result->dst_guid, result->dst_port_num };
	rm_mono_t now = rm_mono_now();

	if ((result->flags & WIRE_ARRIVAL) == 0)
		return;
	if (tracer_length(tracing->tracer, owner, dst, result->src_port,
		routers_passed(result->arrived_ttl), now))
		arm_for_news(tracing, now);
}

void
tracing_tune(
    struct tracing *tracing, const struct tracer_options *options, uint32_t permille)
{
	tracer_tune(tracing->tracer, options, permille);
	arm(tracing);
}

struct tracer *
tracing_tracer(const struct tracing *tracing)
{
	return tracing->tracer;
}

bool
tracing_denied(const struct tracing *tracing)
{
	return tracing->denied;
}

const struct trace_port_counts *
tracing_port_counts(const struct tracing *tracing)
{
	return &tracing->counts;
}
