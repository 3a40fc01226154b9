/* When which flow is traced, and what the answers say. */
#include "host-agent/trace/tracer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/trace/tracer_state.h"

#define TRACE_NS RM_NS_PER_S /* so long answers are waited for */
#define AGAIN_NS RM_NS_PER_S /* after another way was seen */
#define MISS_NS                                                               \
	(2 * RM_NS_PER_S) /* after the first silent hop; then twice that, ... \
			   */
#define MISSES_MAX 16
#define BURST_S 0.1 /* of the budget, that may go at once */

/* 16 bits: generation from 1 (so none is 0), slot, TTL - 1. */
#define TTL_BITS 3
#define SLOT_BITS 8
#define GENERATIONS 31
_Static_assert(WIRE_MAX_HOPS == 1 << TTL_BITS, "a token names a TTL");
_Static_assert(TRACER_SLOTS == 1 << SLOT_BITS, "a token names a slot");

int64_t
tracer_random(struct tracer *tracer, int64_t span) /* splitmix64 */
{
	uint64_t z = tracer->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return span <= 1 ? 0 : (int64_t)((z ^ z >> 31) % (uint64_t)span);
}

void
tracer_tune(
    struct tracer *tracer, const struct tracer_options *options, uint32_t permille)
{
	uint64_t seed = tracer->options.random_seed;

	tracer->options = *options;
	tracer->options.random_seed = seed;
	if (tracer->options.max_rate_per_s > TRACER_MAX_RATE_PER_S)
		tracer->options.max_rate_per_s = TRACER_MAX_RATE_PER_S;
	tracer->permille = permille;
}

int
tracer_new(const struct tracer_options *options, struct tracer **ret)
{
	struct tracer *tracer = calloc(1, sizeof(*tracer));

	if (tracer == NULL)
		return -ENOMEM;
	tracer->random = options->random_seed;
	tracer_tune(tracer, options, 1000);
	*ret = tracer;
	return 0;
}

/* ---- time and budget --------------------------------------------------------- */

static double
rate_per_s(const struct tracer *tracer)
{
	if (tracer->options.interval_ns <= 0)
		return 0;
	return (double)tracer->options.max_rate_per_s * tracer->permille / 1000;
}

static double
budget_max(const struct tracer *tracer)
{
	double burst = rate_per_s(tracer) * BURST_S;

	return burst < WIRE_MAX_HOPS ? WIRE_MAX_HOPS : burst;
}

static void
budget_fill(struct tracer *tracer, rm_mono_t now)
{
	int64_t since = rm_mono_since(now, tracer->budget_at);

	if (tracer->budget_at.ns == 0)
		tracer->budget = budget_max(tracer);
	else if (since > 0)
		tracer->budget += rate_per_s(tracer) * (double)since / 1e9;
	if (tracer->budget > budget_max(tracer))
		tracer->budget = budget_max(tracer);
	tracer->budget_at = now;
}

static unsigned
ttl_count(const struct tracer_flow *flow)
{
	return flow->known ? flow->routers : WIRE_MAX_HOPS;
}

/* Knows less; else it has been due for longer. */
static bool
goes_before(const struct tracer_flow *a, const struct tracer_flow *b, bool plans_first)
{
	bool fresh = a->path.good.count == 0, other_fresh = b->path.good.count == 0;

	if (plans_first && a->service != b->service)
		return b->service;
	if (fresh != other_fresh)
		return fresh;
	return rm_mono_since(b->due, a->due) > 0;
}

/* Of those that are due. Every other time what plans name goes first: programs may
 * make new flows faster than these can be traced. */
static struct tracer_flow *
pick(const struct tracer *tracer, rm_mono_t now)
{
	const bool plans_first = tracer->counts.traces % 2 != 0;
	struct tracer_flow *best = NULL;

	for (struct tracer_flow *f = tracer->flows; f != NULL; f = f->hh.next) {
		if (f->slot >= 0 || now.ns < f->due.ns)
			continue;
		if (best == NULL || goes_before(f, best, plans_first))
			best = f;
	}
	return best;
}

static int
free_slot(const struct tracer *tracer)
{
	for (int i = 0; i < TRACER_SLOTS; i++) {
		if (tracer->slots[i].flow == NULL)
			return i;
	}
	return -1;
}

void
tracer_abandon(struct tracer *tracer, struct tracer_flow *flow)
{
	if (flow->slot >= 0)
		tracer->slots[flow->slot].flow = NULL;
	flow->slot = -1;
}

static void
plan_next(struct tracer *tracer, struct tracer_flow *flow, enum trace_says says,
    rm_mono_t now)
{
	int64_t interval = tracer->options.interval_ns, pause = interval;

	flow->misses = says == TRACE_LESS ? flow->misses + 1 : 0;
	if (says == TRACE_ODD)
		pause = AGAIN_NS;
	else if (says == TRACE_LESS && flow->misses < MISSES_MAX)
		pause = MISS_NS << (flow->misses - 1);
	else if (says == TRACE_NEWS && trace_path_has_gaps(&flow->path))
		pause = MISS_NS;
	if (pause > interval)
		pause = interval;
	if (ttl_count(flow) == 0) {
		flow->due = (rm_mono_t){ INT64_MAX };
		return;
	}
	/* Three quarters to five quarters, so that flows do not march in step. */
	flow->due =
	    rm_mono_add(now, pause - pause / 4 + tracer_random(tracer, pause / 2 + 1));
}

static void
conclude(struct tracer *tracer, struct tracer_slot *slot, rm_mono_t now)
{
	struct tracer_flow *flow = slot->flow;
	struct trace_hops before = flow->path.good;
	uint64_t way = tracer_flow_way(flow);
	enum trace_says says;

	/* The length as known now: a probe may have told it meanwhile. */
	if (flow->known && !slot->reached) {
		slot->found.count = flow->routers;
		slot->found.complete = true;
	}
	for (unsigned i = slot->found.count; i < WIRE_MAX_HOPS; i++)
		memset(slot->found.at[i], 0, sizeof(slot->found.at[i]));
	tracer_abandon(tracer, flow);
	says = trace_path_take(&flow->path, &slot->found, now);
	if (says == TRACE_LESS)
		tracer->counts.incomplete++;
	if (says == TRACE_NEWS) {
		flow->news = flow->to;
		tracer->counts.moved += before.count > 0;
	}
	plan_next(tracer, flow, says, now);
	tracer->ways += tracer_flow_way(flow) != way;
}

static void
end_overdue(struct tracer *tracer, rm_mono_t now)
{
	for (size_t i = 0; i < TRACER_SLOTS; i++) {
		struct tracer_slot *slot = &tracer->slots[i];

		if (slot->flow != NULL && rm_mono_since(now, slot->ends) >= 0)
			conclude(tracer, slot, now);
	}
}

static void
start(struct tracer *tracer, struct tracer_flow *flow, int at, rm_mono_t now,
    struct tracer_job *job)
{
	struct tracer_slot *slot = &tracer->slots[at];
	unsigned generation = slot->generation % GENERATIONS + 1;

	*slot = (struct tracer_slot){ .flow = flow,
		.ttl_count = ttl_count(flow),
		.generation = generation,
		.ends = rm_mono_add(now, TRACE_NS) };
	flow->slot = at;
	*job = (struct tracer_job){ .owner = flow->key.owner,
		.flow = flow->flow,
		.ttl_count = slot->ttl_count };
	for (unsigned i = 0; i < job->ttl_count; i++)
		job->tokens[i] =
		    (uint16_t)((generation << SLOT_BITS | (unsigned)at) << TTL_BITS |
			       i);
	tracer->budget -= job->ttl_count;
	tracer->counts.traces++;
	tracer->counts.packets += job->ttl_count;
}

bool
tracer_next(struct tracer *tracer, rm_mono_t now, struct tracer_job *ret)
{
	struct tracer_flow *flow;
	int slot;

	end_overdue(tracer, now);
	budget_fill(tracer, now);
	if (rate_per_s(tracer) <= 0)
		return false;
	flow = pick(tracer, now);
	slot = free_slot(tracer);
	if (flow == NULL || slot < 0)
		return false;
	if (tracer->budget < ttl_count(flow)) {
		tracer->counts.over_budget += !tracer->waits_for_budget;
		tracer->waits_for_budget = true;
		return false;
	}
	tracer->waits_for_budget = false;
	start(tracer, flow, slot, now, ret);
	return true;
}

rm_mono_t
tracer_due(const struct tracer *tracer, rm_mono_t now)
{
	rm_mono_t due = { INT64_MAX };

	for (size_t i = 0; i < TRACER_SLOTS; i++) {
		const struct tracer_slot *slot = &tracer->slots[i];

		if (slot->flow != NULL && slot->ends.ns < due.ns)
			due = slot->ends;
	}
	if (rate_per_s(tracer) <= 0 || free_slot(tracer) < 0)
		return due;
	for (struct tracer_flow *f = tracer->flows; f != NULL; f = f->hh.next) {
		if (f->slot < 0 && f->due.ns < due.ns)
			due = f->due;
	}
	/* Until there is budget for the longest. */
	if (due.ns <= now.ns && tracer->budget < WIRE_MAX_HOPS)
		due = rm_mono_add(now, 1 + (int64_t)((WIRE_MAX_HOPS - tracer->budget) *
						     1e9 / rate_per_s(tracer)));
	return due;
}

/* ---- answers ------------------------------------------------------------------ */

static bool
same_place(const struct wire_address *a, const struct wire_address *b)
{
	return a->family == b->family && a->port == b->port &&
	       memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

/* The slot of the very packet that is quoted, or NULL. */
static struct tracer_slot *
match(struct tracer *tracer, const struct trace_answer *answer, unsigned *ttl)
{
	unsigned at = answer->token >> TTL_BITS & (TRACER_SLOTS - 1);
	struct tracer_slot *slot = &tracer->slots[at];

	*ttl = (answer->token & (WIRE_MAX_HOPS - 1)) + 1;
	if (slot->flow == NULL || *ttl > slot->ttl_count ||
	    answer->token >> (TTL_BITS + SLOT_BITS) != slot->generation ||
	    !same_place(&answer->flow.src, &slot->flow->flow.src) ||
	    !same_place(&answer->flow.dst, &slot->flow->flow.dst))
		return NULL;
	return slot;
}

void
tracer_answer(struct tracer *tracer, const struct trace_answer *answer, rm_mono_t now)
{
	struct tracer_slot *slot;
	unsigned ttl;

	slot = match(tracer, answer, &ttl);
	if (slot == NULL || (slot->answered & 1u << ttl) != 0) {
		tracer->counts.unmatched++;
		return;
	}
	slot->answered |= 1u << ttl;
	if (answer->expired) {
		tracer->counts.answers++;
		memcpy(slot->found.at[ttl - 1], answer->from.bytes, 16);
		if (slot->found.count < ttl && !slot->reached)
			slot->found.count = (uint8_t)ttl;
	} else if (answer->reached && (!slot->reached || ttl - 1 < slot->found.count)) {
		tracer->counts.answers++;
		slot->reached = slot->found.complete = true;
		slot->found.count = (uint8_t)(ttl - 1);
	}
	/* All of them, or those up to the destination. */
	if (slot->answered == ((2u << slot->ttl_count) - 2))
		conclude(tracer, slot, now);
}

void
tracer_failed(struct tracer *tracer)
{
	tracer->counts.packets_failed++;
}

const struct tracer_counts *
tracer_counts(const struct tracer *tracer)
{
	return &tracer->counts;
}
