/* Decides which flow is traced when, and evaluates the answers. */
#include "host-agent/trace/tracer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1 /* no exit(): an entry that was not added has no hh.tbl */
#include <uthash.h>

#include "host-agent/probe/port.h"
#include "host-agent/probe/prober_target.h"
#include "host-agent/trace/switch_rates.h"
#include "rackmesh/core/fnv.h"

#define TRACER_SLOTS 256 /* running traces */

struct tracer_key {
	uint64_t dst_guid;
	uint16_t src_port;
	uint8_t owner, dst_port_num;
	uint8_t zero[4];
};

struct tracer_flow {
	struct tracer_key key;
	struct wire_rnic_id src;
	struct trace_flow flow;
	struct trace_path path;
	bool known;      /* `routers` is known, from the TTL of probes that arrived */
	uint8_t routers; /* number of routers on the path */
	/* number of regular traces in a row that showed fewer hops than are known */
	unsigned misses;
	bool is_odd; /* the last trace showed another path, for the first time */
	/* traces in a row that showed hops of another path, but not all of them */
	unsigned hints;
	/* The flow loses probes: it is or was traced out of turn. */
	bool is_lossy;
	/* number of traces out of turn in a row that showed the same path */
	unsigned lossy_traces;
	/* lost: time of the last loss; lossy_from: no trace out of turn before this
	 * time */
	rm_mono_t lost, lossy_from;
	rm_mono_t due; /* time of the next trace; not used while one is running */
	int slot;      /* -1: no trace is running */
	/* bits of aggregators. to: those that get the path; news: those that have not
	 * got its last change */
	uint64_t to, news;
	bool kept; /* used by tracer_set: the flow is in the new list */
	/* the flow is of a service; perhaps no probe takes its path */
	bool service;
	rm_mono_t retell; /* when the path of a service's flow is reported again */
	UT_hash_handle hh;
};

struct tracer_slot {              /* of a running trace */
	struct tracer_flow *flow; /* NULL: free */
	struct trace_hops found;
	unsigned ttl_count, answered;
	bool reached;
	/* Part of the tokens, so that late answers to an earlier trace match
	 * nothing. */
	unsigned generation;
	rm_mono_t ends;
};

struct tracer {
	struct tracer_options options;
	uint32_t permille;
	struct tracer_flow *flows; /* hash table */
	struct tracer_slot slots[TRACER_SLOTS];
	double budget; /* packets that may be sent now */
	rm_mono_t budget_at;
	bool waits_for_budget; /* the running wait was counted */
	struct switch_rates *switches;
	rm_mono_t rest; /* no flow is chosen before */
	uint64_t random;
	/* time at which all paths of the RNIC were last made due */
	rm_mono_t all_again[TRACER_MAX_OWNERS];
	uint64_t path_changes; /* changes of any path so far */
	struct tracer_counts counts;
};

static uint64_t tracer_flow_path_id(const struct tracer_flow *flow);

#define TRACE_NS RM_NS_PER_S /* time to wait for answers */
/* pause after another path was seen for the first time, or a third path in the next
 * trace */
#define AGAIN_SOON_NS (RM_NS_PER_S / 4)
#define AGAIN_NS RM_NS_PER_S
#define LOSSY_TRACES_MAX 16
#define HINTS_MAX 6
#define LOSSY_SPREAD_NS (50 * RM_NS_PER_MS)
/* pause after the first trace with too few hops; it doubles with each further one */
#define MISS_NS (2 * RM_NS_PER_S)
#define MISSES_MAX 16
#define BURST_S 0.1 /* seconds of the budget that may be used at once */
/* A trace that must wait for a switch waits for a random time up to this one in
 * addition, because other traces wait for the switch, too. */
#define SWITCH_SPREAD_NS RM_NS_PER_S
/* After so many traces that must wait, in one choice, the tracer pauses for REST_NS. */
#define MAX_PUT_OFF 16
#define REST_NS (10 * RM_NS_PER_MS)

/* A token has 16 bits: the generation, from 1 on, so that no token is 0; the slot; and
 * the TTL - 1. */
#define TTL_BITS 3
#define SLOT_BITS 8
#define GENERATIONS 31
_Static_assert(WIRE_MAX_HOPS == 1 << TTL_BITS, "a token has room for a TTL");
_Static_assert(TRACER_SLOTS == 1 << SLOT_BITS, "a token has room for a slot");

/* 0 .. span - 1 */
static int64_t
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
	tracer->switches = switch_rates_new();
	if (tracer->switches == NULL) {
		free(tracer);
		return -ENOMEM;
	}
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

struct preference { /* of one choice */
	bool pinglist_store, lossy;
};

/* True: a is traced before b. These flows come first, in this order: flows of
 * pinglists, if `first` prefers them; flows without a known hop; lossy flows, if
 * `first` prefers them; flows that have been due for longer. */
static bool
goes_before(const struct tracer_flow *a, const struct tracer_flow *b,
    const struct preference *first)
{
	bool fresh = a->path.good.count == 0, other_fresh = b->path.good.count == 0;

	if (first->pinglist_store && a->service != b->service)
		return b->service;
	if (fresh != other_fresh)
		return fresh;
	if (first->lossy && a->is_lossy != b->is_lossy)
		return a->is_lossy;
	return rm_mono_since(b->due, a->due) > 0;
}

/* Chooses one of the flows that are due. Every second choice prefers flows of
 * pinglists, because programs may create flows faster than they can be traced. Two
 * choices of four prefer flows with losses; the others do not, so that these do not
 * keep all others waiting. */
static struct tracer_flow *
pick(const struct tracer *tracer, rm_mono_t now)
{
	const struct preference first = { tracer->counts.traces % 2 != 0,
		tracer->counts.traces % 4 < 2 };
	struct tracer_flow *best = NULL;

	for (struct tracer_flow *f = tracer->flows; f != NULL; f = f->hh.next) {
		if (f->slot >= 0 || now.ns < f->due.ns)
			continue;
		if (best == NULL || goes_before(f, best, &first))
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

/* Ends the running trace without a result. */
static void
tracer_abandon(struct tracer *tracer, struct tracer_flow *flow)
{
	if (flow->slot >= 0)
		tracer->slots[flow->slot].flow = NULL;
	flow->slot = -1;
}

static void
plan_next(struct tracer *tracer, struct tracer_flow *flow, enum trace_status status,
    rm_mono_t now)
{
	int64_t interval = tracer->options.interval_ns, pause = interval;

	if (status != TRACE_LESS_ODD)
		flow->hints = 0;
	if (status != TRACE_LESS && status != TRACE_LESS_ODD)
		flow->misses = 0;
	else if (!flow->is_lossy)
		flow->misses++;
	if (status == TRACE_ODD)
		pause = flow->is_odd ? AGAIN_NS : AGAIN_SOON_NS;
	else if (status == TRACE_LESS_ODD && flow->hints < HINTS_MAX)
		pause = AGAIN_SOON_NS << flow->hints++;
	else if (status == TRACE_LESS && flow->is_lossy)
		/* Perhaps the path lost packets of the trace, too. */
		pause = flow->lossy_traces == 0 ? AGAIN_SOON_NS : MISS_NS;
	else if (status == TRACE_LESS && flow->misses < MISSES_MAX)
		pause = MISS_NS << (flow->misses - 1);
	else if (status == TRACE_NEWS && trace_path_has_gaps(&flow->path))
		pause = MISS_NS;
	flow->is_odd = status == TRACE_ODD;
	if (pause > interval)
		pause = interval;
	if (ttl_count(flow) == 0) {
		flow->due = (rm_mono_t){ INT64_MAX };
		return;
	}
	/* The pause is between 3/4 and 5/4 of its length, so that flows are not all
	 * traced at once. */
	flow->due =
	    rm_mono_add(now, pause - pause / 4 + tracer_random(tracer, pause / 2 + 1));
}

/* Sets the time from which the flow, which loses probes, may be traced out of turn
 * again. */
static void
plan_lossy(struct tracer *tracer, struct tracer_flow *flow, enum trace_status status,
    rm_mono_t now)
{
	int64_t pause = TRACER_LOSS_NS;

	if (status == TRACE_NEWS || status == TRACE_ODD)
		flow->lossy_traces = 0;
	else if (flow->is_lossy && flow->lossy_traces < LOSSY_TRACES_MAX)
		pause <<= flow->lossy_traces++;
	else if (flow->lossy_traces > 0)
		pause <<= flow->lossy_traces - 1;
	if (pause > tracer->options.interval_ns)
		pause = tracer->options.interval_ns;
	flow->is_lossy = false;
	flow->lossy_from = rm_mono_add(now, pause);
}

/* The flow's path has changed: makes the other flows of its RNIC due soon. */
static void
trace_all_again(struct tracer *tracer, const struct tracer_flow *flow, rm_mono_t now)
{
	const uint8_t owner = flow->key.owner;

	if (tracer->all_again[owner].ns != 0 &&
	    rm_mono_since(now, tracer->all_again[owner]) < TRACER_ALL_APART_NS)
		return;
	tracer->all_again[owner] = now;
	tracer->counts.all_again++;
	for (struct tracer_flow *f = tracer->flows; f != NULL; f = f->hh.next) {
		rm_mono_t soon;

		if (f == flow || f->key.owner != owner || f->slot >= 0 ||
		    f->due.ns == INT64_MAX || f->path.good.count == 0 ||
		    f->path.multipath)
			continue;
		soon = rm_mono_add(now, tracer_random(tracer, TRACER_ALL_AGAIN_NS));
		if (soon.ns < f->due.ns)
			f->due = soon;
	}
}

static void
conclude(struct tracer *tracer, struct tracer_slot *slot, rm_mono_t now)
{
	struct tracer_flow *flow = slot->flow;
	struct trace_hops before = flow->path.good;
	uint64_t path_id = tracer_flow_path_id(flow);
	enum trace_status status;

	/* Uses the length that is known now: a probe may have arrived during the
	 * trace. */
	if (flow->known && !slot->reached) {
		slot->found.count = flow->routers;
		slot->found.complete = true;
	}
	for (unsigned i = slot->found.count; i < WIRE_MAX_HOPS; i++)
		memset(slot->found.at[i], 0, sizeof(slot->found.at[i]));
	tracer->counts.slowed +=
	    switch_rates_note(tracer->switches, &before, slot->answered >> 1, now);
	tracer_abandon(tracer, flow);
	status = trace_path_take(&flow->path, &slot->found, now);
	if (status == TRACE_LESS || status == TRACE_LESS_ODD)
		tracer->counts.incomplete++;
	if (status == TRACE_NEWS) {
		flow->news = flow->to;
		tracer->counts.moved += before.count > 0;
	}
	plan_next(tracer, flow, status, now);
	plan_lossy(tracer, flow, status, now);
	if (status == TRACE_NEWS && before.count > 0 && !flow->path.multipath &&
	    !trace_hops_agree(&before, &flow->path.good))
		trace_all_again(tracer, flow, now);
	tracer->path_changes += tracer_flow_path_id(flow) != path_id;
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
	tracer->counts.after_loss += flow->is_lossy;
	tracer->counts.packets += job->ttl_count;
}

/* Starts the trace of a flow that is due and whose switches have room. Puts off those
 * that have none. False: there is none. */
static bool
start_next(struct tracer *tracer, int slot, rm_mono_t now, struct tracer_job *ret)
{
	for (unsigned i = 0; i < MAX_PUT_OFF; i++) {
		struct tracer_flow *flow = pick(tracer, now);
		int64_t wait_ns;

		if (flow == NULL)
			return false;
		if (tracer->budget < ttl_count(flow)) {
			tracer->counts.over_budget += !tracer->waits_for_budget;
			tracer->waits_for_budget = true;
			return false;
		}
		tracer->waits_for_budget = false;
		if (switch_rates_take(
			tracer->switches, &flow->path.good, now, &wait_ns)) {
			start(tracer, flow, slot, now, ret);
			return true;
		}
		tracer->counts.over_switch++;
		flow->due =
		    rm_mono_add(now, wait_ns + tracer_random(tracer, SWITCH_SPREAD_NS));
	}
	tracer->rest = rm_mono_add(now, REST_NS);
	return false;
}

bool
tracer_next(struct tracer *tracer, rm_mono_t now, struct tracer_job *ret)
{
	int slot;

	end_overdue(tracer, now);
	budget_fill(tracer, now);
	slot = free_slot(tracer);
	if (rate_per_s(tracer) <= 0 || slot < 0 || now.ns < tracer->rest.ns)
		return false;
	return start_next(tracer, slot, now, ret);
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
	/* Waits until the budget is enough for the longest path. */
	if (due.ns <= now.ns && tracer->budget < WIRE_MAX_HOPS)
		due = rm_mono_add(now, 1 + (int64_t)((WIRE_MAX_HOPS - tracer->budget) *
						     1e9 / rate_per_s(tracer)));
	return due.ns <= now.ns && tracer->rest.ns > now.ns ? tracer->rest : due;
}

/* ---- answers ------------------------------------------------------------------ */

static bool
same_place(const struct wire_address *a, const struct wire_address *b)
{
	return a->family == b->family && a->port == b->port &&
	       memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

/* The slot of exactly the packet that is quoted, or NULL. */
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
	/* All hops have answered, or all hops up to the destination. */
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

/* ---- The list of flows, and the length of their paths ---- */

/* Traces of new flows are spread over this time, in which a first probe may arrive
 * and show the length. */
#define FIRST_SPREAD_NS (200 * RM_NS_PER_MS)
#define FIRST_LENGTH_NS (2 * RM_NS_PER_S)
#define OTHER_LENGTH_NS RM_NS_PER_S /* pause after another length was seen */

static struct tracer_key
flow_key(size_t owner, struct wire_rnic_id dst, uint16_t src_port)
{
	return (struct tracer_key){ .dst_guid = dst.guid,
		.src_port = src_port,
		.owner = (uint8_t)owner,
		.dst_port_num = dst.port };
}

static struct tracer_flow *
tracer_find(const struct tracer *tracer, size_t owner, struct wire_rnic_id dst,
    uint16_t src_port)
{
	struct tracer_key key = flow_key(owner, dst, src_port);
	struct tracer_flow *flow;

	HASH_FIND(hh, tracer->flows, &key, sizeof(key), flow);
	return flow;
}

static void
flow_forget(struct tracer *tracer, struct tracer_flow *flow)
{
	tracer_abandon(tracer, flow);
	tracer->path_changes++;
	HASH_DEL(tracer->flows, flow);
	free(flow);
}

static bool
same_flow(const struct trace_flow *a, const struct trace_flow *b)
{
	return a->dscp == b->dscp && a->src.family == b->src.family &&
	       a->dst.port == b->dst.port &&
	       memcmp(a->src.bytes, b->src.bytes, sizeof(a->src.bytes)) == 0 &&
	       memcmp(a->dst.bytes, b->dst.bytes, sizeof(a->dst.bytes)) == 0;
}

/* Starts anew: the path, its length and its losses so far belong to another path. */
static void
flow_begin(struct tracer *tracer, struct tracer_flow *flow, rm_mono_t now)
{
	tracer_abandon(tracer, flow);
	memset(&flow->path, 0, sizeof(flow->path));
	flow->known = false;
	flow->routers = 0;
	flow->misses = 0;
	flow->is_odd = flow->is_lossy = false;
	flow->lossy_traces = flow->hints = 0;
	flow->lost = flow->lossy_from = (rm_mono_t){ 0 };
	flow->news = 0;
	flow->retell = (rm_mono_t){ 0 };
	tracer->path_changes++;
	flow->due =
	    rm_mono_add(now, FIRST_LENGTH_NS + tracer_random(tracer, FIRST_SPREAD_NS));
}

static int
flow_add(struct tracer *tracer, const struct tracer_key *key, struct tracer_flow **ret)
{
	struct tracer_flow *flow;

	if (HASH_COUNT(tracer->flows) >= TRACER_MAX_FLOWS) {
		tracer->counts.refused_flows++;
		return -ENOSPC;
	}
	flow = calloc(1, sizeof(*flow));
	if (flow == NULL)
		return -ENOMEM;
	flow->key = *key;
	flow->slot = -1;
	HASH_ADD(hh, tracer->flows, key, sizeof(flow->key), flow);
	if (flow->hh.tbl == NULL) {
		free(flow);
		return -ENOMEM;
	}
	*ret = flow;
	return 0;
}

static int
set_flow(struct tracer *tracer, size_t owner, const struct wire_target *target,
    uint16_t src_port, const struct wire_address *src, uint64_t to, rm_mono_t now)
{
	struct tracer_key key = flow_key(owner, target->dst, src_port);
	struct trace_flow fresh = {
		.src = *src, .dst = target->address, .dscp = target->dscps[0]
	};
	struct tracer_flow *flow;
	int r;

	fresh.src.port = src_port;
	HASH_FIND(hh, tracer->flows, &key, sizeof(key), flow);
	if (flow != NULL && flow->kept)
		/* the flow is in the list already, as another kind of target */
		return 0;
	if (flow == NULL) {
		r = flow_add(tracer, &key, &flow);
		if (r < 0)
			return r == -ENOSPC ? 0 : r;
		flow_begin(tracer, flow, now);
	} else if (!same_flow(&flow->flow, &fresh)) {
		flow_begin(tracer, flow, now);
	}
	flow->src = target->src;
	flow->flow = fresh;
	flow->to = to;
	flow->news &= to;
	flow->kept = true;
	flow->service = target->kind == WIRE_SERVICE;
	return 0;
}

static bool
leaves_the_rack(const struct wire_target *target)
{
	return target->kind == WIRE_INTER_TOR || target->kind == WIRE_WITNESS ||
	       target->kind == WIRE_SERVICE;
}

/* Makes the flow due earlier than planned, because the length of its path has changed.
 * If its path is known, the flow is not due at once but after OTHER_LENGTH_NS or later:
 * otherwise, if packets are sprayed over paths of unequal length, every probe could
 * cause a trace. */
static void
trace_earlier(struct tracer *tracer, struct tracer_flow *flow, rm_mono_t now)
{
	int64_t pause = tracer_random(tracer, FIRST_SPREAD_NS);
	rm_mono_t soon;

	if (flow->path.good.count > 0)
		pause += OTHER_LENGTH_NS;
	soon = rm_mono_add(now, pause);
	if (soon.ns < flow->due.ns)
		flow->due = soon;
}

/* Gives a service's flow, whose path no probe may take, the length of another path to
 * the same destination, which is usually the same. So its traces do not reach the
 * destination, either. */
static void
share_length(
    struct tracer *tracer, struct tracer_flow *flow, uint8_t routers, rm_mono_t now)
{
	if (flow->known || !flow->service || routers == 0)
		return;
	flow->known = true;
	flow->routers = routers;
	if (flow->slot < 0)
		trace_earlier(tracer, flow, now);
}

static void
share_lengths(struct tracer *tracer, size_t owner, struct wire_rnic_id dst,
    const uint16_t *ports, size_t count, rm_mono_t now)
{
	uint8_t routers = 0;

	for (size_t i = 0; i < count && routers == 0; i++) {
		struct tracer_flow *flow = tracer_find(tracer, owner, dst, ports[i]);

		if (flow != NULL && flow->known)
			routers = flow->routers;
	}
	for (size_t i = 0; i < count; i++) {
		struct tracer_flow *flow = tracer_find(tracer, owner, dst, ports[i]);

		if (flow != NULL)
			share_length(tracer, flow, routers, now);
	}
}

int
tracer_set(struct tracer *tracer, size_t owner, const struct wire_target *targets,
    size_t count, const struct wire_address src[2], struct port *port, uint64_t to,
    rm_mono_t now)
{
	struct tracer_flow *flow, *next;
	int r = 0;

	if (owner >= TRACER_MAX_OWNERS)
		return -EINVAL;
	for (flow = tracer->flows; flow != NULL; flow = flow->hh.next)
		flow->kept = false;
	/* If the source port of the probes is not known, a trace would show another
	 * path. */
	if (port != NULL && port_flows(port) == PORT_FLOWS_UNKNOWN)
		count = 0;
	for (size_t i = 0; i < count && r == 0; i++) {
		const struct wire_target *target = &targets[i];
		const struct wire_address *own = NULL;
		uint16_t ports[WIRE_MAX_FLOWS];
		size_t flows;

		for (size_t k = 0; k < 2; k++) {
			if (src[k].family != 0 &&
			    src[k].family == target->address.family)
				own = &src[k];
		}
		if (!leaves_the_rack(target) || own == NULL ||
		    prober_target_check(target, port, NULL) != TARGET_FINE)
			continue;
		/* Services have more flows than the prober uses. */
		flows = prober_target_flows(
		    target, target->kind == WIRE_SERVICE ? NULL : port, ports);
		for (size_t k = 0; k < flows && r == 0; k++)
			r = set_flow(tracer, owner, target, ports[k], own, to, now);
		if (target->kind == WIRE_SERVICE)
			share_lengths(tracer, owner, target->dst, ports, flows, now);
	}
	HASH_ITER (hh, tracer->flows, flow, next) {
		if (flow->key.owner == owner && !flow->kept)
			flow_forget(tracer, flow);
	}
	return r;
}

bool
tracer_length(struct tracer *tracer, size_t owner, struct wire_rnic_id dst,
    uint16_t src_port, uint8_t routers, rm_mono_t now)
{
	struct tracer_flow *flow = tracer_find(tracer, owner, dst, src_port);
	bool first;

	if (flow == NULL || (flow->known && routers == flow->routers) ||
	    routers > WIRE_MAX_HOPS)
		return false;
	first = !flow->known;
	flow->known = true;
	flow->routers = routers;
	for (struct tracer_flow *f = first ? tracer->flows : NULL; f != NULL;
	     f = f->hh.next)
		if (f->key.owner == flow->key.owner &&
		    f->key.dst_guid == flow->key.dst_guid &&
		    f->key.dst_port_num == flow->key.dst_port_num)
			share_length(tracer, f, routers, now);
	if (flow->slot >= 0)
		return false;
	if (routers == 0)
		/* There is no router: the destination is next to this RNIC. */
		flow->due = (rm_mono_t){ INT64_MAX };
	else
		trace_earlier(tracer, flow, now);
	return true;
}

bool
tracer_lost(struct tracer *tracer, size_t owner, struct wire_rnic_id dst,
    uint16_t src_port, rm_mono_t now)
{
	struct tracer_flow *flow = tracer_find(tracer, owner, dst, src_port);
	rm_mono_t soon;

	if (flow == NULL)
		return false;
	if (rm_mono_since(now, flow->lost) > tracer->options.interval_ns) {
		flow->lossy_traces = 0;
		flow->lossy_from = (rm_mono_t){ 0 };
	}
	flow->lost = now;
	/* Sprayed packets have no path that could have changed. */
	if (flow->slot >= 0 || flow->path.good.count == 0 || flow->path.multipath ||
	    rm_mono_since(now, flow->lossy_from) < 0)
		return false;
	soon = rm_mono_add(now, tracer_random(tracer, LOSSY_SPREAD_NS));
	if (soon.ns >= flow->due.ns)
		return false;
	flow->due = soon;
	flow->is_lossy = true;
	return true;
}

void
tracer_free(struct tracer *tracer)
{
	if (tracer == NULL)
		return;
	while (tracer->flows != NULL)
		flow_forget(tracer, tracer->flows);
	switch_rates_free(tracer->switches);
	free(tracer);
}

/* ---- The known paths, for aggregators and for the API ---- */

static void
fill(const struct tracer_flow *flow, rm_mono_t now, struct wire_path *out)
{
	const struct trace_path *path = &flow->path;

	*out = (struct wire_path){
		.src_guid = flow->src.guid,
		.dst_guid = flow->key.dst_guid,
		.src_port = flow->key.src_port,
		.src_port_num = flow->src.port,
		.dst_port_num = flow->key.dst_port_num,
		.dscp = flow->flow.dscp,
		.family = flow->flow.src.family,
		.flags = (uint8_t)((path->good.complete ? WIRE_PATH_COMPLETE : 0) |
				   (path->multipath ? WIRE_PATH_MULTIPATH : 0)),
		.hop_count = path->good.count,
	};
	if (path->good.count == 0)
		return;
	out->age_ns = (uint64_t)rm_mono_since(now, path->traced);
	memcpy(out->hops, path->good.at, sizeof(out->hops));
}

/* Reports the path of a service's flow again after some time, since aggregators forget
 * flows that are in no plan. */
static void
flow_retell(struct tracer_flow *flow, rm_mono_t now)
{
	if (!flow->service || flow->path.good.count == 0 ||
	    rm_mono_since(now, flow->retell) < 0)
		return;
	if (flow->retell.ns != 0)
		flow->news = flow->to;
	flow->retell = rm_mono_add(now, TRACER_RETELL_NS);
}

size_t
tracer_report(struct tracer *tracer, unsigned aggregator, rm_mono_t now,
    struct wire_path *out, size_t max)
{
	uint64_t bit = UINT64_C(1) << aggregator;
	size_t count = 0;

	for (struct tracer_flow *f = tracer->flows; f != NULL && count < max;
	     f = f->hh.next) {
		flow_retell(f, now);
		if ((f->news & bit) == 0)
			continue;
		f->news &= ~bit;
		fill(f, now, &out[count++]);
	}
	return count;
}

void
tracer_report_all(struct tracer *tracer, unsigned aggregator)
{
	uint64_t bit = UINT64_C(1) << aggregator;

	for (struct tracer_flow *f = tracer->flows; f != NULL; f = f->hh.next) {
		if (f->path.good.count > 0)
			f->news |= f->to & bit;
	}
}

size_t
tracer_list(const struct tracer *tracer, size_t first, rm_mono_t now,
    struct tracer_view *out, size_t max)
{
	const struct tracer_flow *flow = tracer->flows;
	size_t count = 0;

	for (; flow != NULL && first > 0; first--)
		flow = flow->hh.next;
	for (; flow != NULL && count < max; flow = flow->hh.next, count++) {
		fill(flow, now, &out[count].path);
		out[count].dst = flow->flow.dst;
	}
	return count;
}

/* After this many traces in a row with fewer hops than known, the path counts as not
 * known for sure. */
#define DOUBTFUL_MISSES 3

/* What tracer_path_id returns. */
static uint64_t
tracer_flow_path_id(const struct tracer_flow *flow)
{
	const struct trace_hops *good = &flow->path.good;
	uint64_t path_id = RM_FNV1A ^ good->count;

	if (good->count == 0 || flow->path.multipath || flow->path.other.count > 0 ||
	    flow->misses >= DOUBTFUL_MISSES || trace_path_has_gaps(&flow->path))
		return 0;
	path_id = rm_fnv1a(path_id, good->at, good->count * sizeof(good->at[0]));
	return path_id != 0 ? path_id : 1;
}

uint64_t
tracer_path_id(const struct tracer *tracer, size_t owner, struct wire_rnic_id dst,
    uint16_t src_port)
{
	const struct tracer_flow *flow = tracer_find(tracer, owner, dst, src_port);

	return flow == NULL ? 0 : tracer_flow_path_id(flow);
}

uint64_t
tracer_path_changes(const struct tracer *tracer)
{
	return tracer->path_changes;
}

size_t
tracer_flows(const struct tracer *tracer)
{
	return HASH_COUNT(tracer->flows);
}

size_t
tracer_multipath(const struct tracer *tracer)
{
	size_t count = 0;

	for (struct tracer_flow *f = tracer->flows; f != NULL; f = f->hh.next)
		count += f->path.multipath;
	return count;
}
