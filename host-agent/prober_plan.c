#include "host-agent/prober_plan.h"

#include <errno.h>
#include <stdlib.h>

#include "host-agent/prober.h"
#include "host-agent/prober_target.h"

void
prober_plan_init(
    struct prober_plan *plan, uint64_t max_rate_per_s, uint64_t random_seed)
{
	*plan = (struct prober_plan){ .max_rate_per_s = max_rate_per_s,
		.permille = 1000,
		.random = random_seed };
}

static void
targets_free(struct prober_target **targets, size_t count)
{
	for (size_t i = 0; i < count; i++)
		prober_target_unref(targets[i]);
	free(targets);
}

void
prober_plan_clear(struct prober_plan *plan)
{
	targets_free(plan->targets, plan->count);
	pacer_clear(&plan->pacer);
}

uint64_t
prober_plan_random(struct prober_plan *plan) /* splitmix64 */
{
	uint64_t z = plan->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* Over the interval as stretched: starting must not break the ceiling either. */
static void
target_jitter(struct prober_plan *plan, struct prober_target *target, rm_mono_t now)
{
	uint64_t interval = (uint64_t)target->pace.interval_ns;

	target->pace.second = false;
	pacer_set_due(&plan->pacer, &target->pace,
	    rm_mono_add(now, (int64_t)(prober_plan_random(plan) % interval)));
}

/* The first of several alike goes on, the others begin anew. */
static void
target_find_old(struct prober_plan *plan, struct prober_target **old,
    struct prober_target *target, rm_mono_t now)
{
	struct prober_target *was;

	HASH_FIND(hh, *old, &target->key, sizeof(target->key), was);
	if (was == NULL) {
		target->turn = (uint32_t)prober_plan_random(plan) >> 8;
		target->pace.due = now; /* until its pace is known */
		return;
	}
	prober_target_inherit(target, was);
	HASH_DEL(*old, was);
}

static int
plan_build(struct port *port, const struct wire_target *wires, size_t count,
    struct prober_target **targets, size_t *built, uint64_t *refused)
{
	*built = 0;
	for (size_t i = 0; i < count; i++) {
		int r = -ERANGE;

		if (*built < PROBER_MAX_TARGETS)
			r = prober_target_new(&wires[i], port, &targets[*built]);
		if (r == -ENOMEM)
			return r;
		if (r < 0)
			(*refused)++;
		else
			(*built)++;
	}
	return 0;
}

int
prober_plan_set(struct prober_plan *plan, struct port *port,
    const struct wire_target *wires, size_t count, rm_mono_t now, uint64_t *refused)
{
	size_t room = count < PROBER_MAX_TARGETS ? count : PROBER_MAX_TARGETS;
	struct prober_target **targets =
	    calloc(room + 1, sizeof(struct prober_target *));
	struct prober_target *old = NULL;
	uint64_t more_refused = 0;
	size_t built = 0;
	int r = -ENOMEM;

	if (targets == NULL || pacer_reserve(&plan->pacer, room) < 0)
		goto fail;
	r = plan_build(port, wires, count, targets, &built, &more_refused);
	if (r < 0)
		goto fail;

	for (size_t i = 0; i < plan->count; i++) {
		struct prober_target *target = plan->targets[i], *same;

		HASH_FIND(hh, old, &target->key, sizeof(target->key), same);
		if (same == NULL)
			HASH_ADD(hh, old, key, sizeof(target->key), target);
	}
	plan->pacer.count = 0;
	for (size_t i = 0; i < built; i++) {
		target_find_old(plan, &old, targets[i], now);
		pacer_add(&plan->pacer, &targets[i]->pace);
	}
	HASH_CLEAR(hh, old);
	targets_free(plan->targets, plan->count);
	plan->targets = targets;
	plan->count = built;
	*refused += more_refused;
	return 0;
fail:
	targets_free(targets, built);
	return r;
}

void
prober_plan_focus(struct prober_plan *plan, struct wire_rnic_id dst,
    int64_t interval_ns, rm_mono_t until)
{
	for (size_t i = 0; i < plan->count; i++) {
		struct prober_target *target = plan->targets[i];

		if (target->wire.dst.guid != dst.guid ||
		    target->wire.dst.port != dst.port)
			continue;
		target->focus_ns = interval_ns;
		target->focus_until = until;
	}
}

static double
target_rate(const struct prober_target *target, rm_mono_t now)
{
	int64_t interval = prober_target_interval(target, now);
	bool paired = target->wire.paired && pacer_can_pair(interval);

	return (paired ? 2e9 : 1e9) / (double)interval;
}

rm_mono_t
prober_plan_pace(struct prober_plan *plan, rm_mono_t now)
{
	rm_mono_t focus_ends = { INT64_MAX };
	double rate = 0, stretch = 1000.0 / plan->permille;

	for (size_t i = 0; i < plan->count; i++)
		rate += target_rate(plan->targets[i], now);
	if (rate > stretch * (double)plan->max_rate_per_s)
		stretch = rate / (double)plan->max_rate_per_s;
	plan->rate_per_s = rate / stretch;

	for (size_t i = 0; i < plan->count; i++) {
		struct prober_target *target = plan->targets[i];
		double interval = (double)prober_target_interval(target, now);
		bool paired = target->wire.paired && pacer_can_pair((int64_t)interval);
		bool fresh = target->pace.interval_ns == 0;

		pacer_set_pace(&plan->pacer, &target->pace,
		    (int64_t)(interval * stretch + 0.5), paired, now);
		if (fresh)
			target_jitter(plan, target, now);
		if (target->focus_ns != 0 &&
		    rm_mono_since(target->focus_until, now) > 0 &&
		    rm_mono_since(focus_ends, target->focus_until) > 0)
			focus_ends = target->focus_until;
	}
	return focus_ends;
}

void
prober_plan_jitter(struct prober_plan *plan, rm_mono_t now)
{
	for (size_t i = 0; i < plan->count; i++)
		target_jitter(plan, plan->targets[i], now);
}
