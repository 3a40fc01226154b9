#include "host-agent/probe/target_list.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/probe/prober_limits.h"
#include "host-agent/probe/prober_target.h"
#include "host-agent/probe/rate_limit.h"

struct prober_target;

struct per_address_limit {
	double packets_per_s, bytes_per_s; /* the rates that the pinglist asks for */
};

static int
compare(const struct wire_address *a, const struct wire_address *b)
{
	if (a->family != b->family)
		return a->family < b->family ? -1 : 1;
	return memcmp(a->bytes, b->bytes, a->family == 4 ? 4 : 16);
}

static int
by_address(const void *a, const void *b)
{
	const struct prober_target *const *x = a, *const *y = b;

	return compare(&(*x)->wire.address, &(*y)->wire.address);
}

/* Makes a limit for each address, and sets target->limit of each target to the index of
 * its limit. The caller frees *ret. -ENOMEM. */
static int
per_address_limits_make(struct prober_target *const *targets, size_t count,
    struct per_address_limit **ret, size_t *ret_count)
{
	struct prober_target **sorted =
	    calloc(count + 1, sizeof(struct prober_target *));
	struct per_address_limit *limits = calloc(count + 1, sizeof(*limits));
	size_t last = 0;

	if (sorted == NULL || limits == NULL) {
		free(sorted);
		free(limits);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++)
		sorted[i] = targets[i];
	qsort(sorted, count, sizeof(*sorted), by_address);
	for (size_t i = 0; i < count; i++) {
		if (i > 0 && compare(&sorted[i - 1]->wire.address,
				 &sorted[i]->wire.address) != 0)
			last++;
		sorted[i]->limit = last;
	}
	free(sorted);
	*ret = limits;
	*ret_count = count == 0 ? 0 : last + 1;
	return 0;
}

static void
per_address_limits_clear(struct per_address_limit *limits, size_t count)
{
	for (size_t i = 0; i < count; i++)
		limits[i] = (struct per_address_limit){ 0 };
}

/* Mean size in bytes of a target's packets, with headers. */
static double
per_address_limit_bytes(const struct prober_target *target)
{
	double sum = 0;

	for (size_t i = 0; i < target->wire.size_count; i++)
		sum += target->sizes[i];
	return sum / (double)target->wire.size_count + RATE_LIMIT_HEADER_BYTES;
}

static void
per_address_limit_add(struct per_address_limit *limits,
    const struct prober_target *target, double packets_per_s)
{
	struct per_address_limit *limit = &limits[target->limit];

	limit->packets_per_s += packets_per_s;
	limit->bytes_per_s += packets_per_s * per_address_limit_bytes(target);
}

/* Returns the factor, at least 1, by which the intervals of the targets with this
 * address are stretched. */
static double
per_address_limit_stretch(const struct per_address_limit *limit)
{
	double packets = limit->packets_per_s / RATE_LIMIT_TARGET_PACKETS_PER_S;
	double bytes = limit->bytes_per_s / RATE_LIMIT_TARGET_BYTES_PER_S;
	double most = packets > bytes ? packets : bytes;

	return most > 1 ? most : 1;
}

void
target_list_init(
    struct target_list *plan, uint64_t max_rate_per_s, uint64_t random_seed)
{
	*plan = (struct target_list){ .max_rate_per_s = max_rate_per_s,
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
target_list_clear(struct target_list *plan)
{
	targets_free(plan->targets, plan->count);
	free(plan->limits);
	pacer_clear(&plan->pacer);
}

uint64_t
target_list_random(struct target_list *plan) /* splitmix64 */
{
	uint64_t z = plan->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* Chooses a random point of the stretched interval, so that the limits hold while
 * probing starts, too. */
static void
target_jitter(struct target_list *plan, struct prober_target *target, rm_mono_t now)
{
	uint64_t interval = (uint64_t)target->pace.interval_ns;

	target->pace.second = false;
	pacer_set_due(&plan->pacer, &target->pace,
	    rm_mono_add(now, (int64_t)(target_list_random(plan) % interval)));
}

/* If several targets of the new list are equal, the first one takes over the state of
 * the old one, and the others start anew. */
static void
target_find_old(struct target_list *plan, struct prober_target **old,
    struct prober_target *target, rm_mono_t now)
{
	struct prober_target *was;

	HASH_FIND(hh, *old, &target->key, sizeof(target->key), was);
	if (was == NULL) {
		target->turn = (uint32_t)target_list_random(plan) >> 8;
		target->pace.due = now; /* set until its interval is known */
		return;
	}
	prober_target_inherit(target, was);
	HASH_DEL(*old, was);
}

static int
plan_build(const struct target_list_place *place, const struct wire_target *wires,
    size_t count, struct prober_target **targets, size_t *built,
    uint64_t refused[TARGET_REFUSALS])
{
	*built = 0;
	for (size_t i = 0; i < count; i++) {
		enum target_refusal refusal = TARGET_TOO_MANY;

		if (*built < PROBER_MAX_TARGETS)
			refusal = prober_target_check(
			    &wires[i], place->port, place->own_rnic);
		if (refusal != TARGET_FINE) {
			refused[refusal]++;
			continue;
		}
		if (prober_target_new(&wires[i], place->port, &targets[*built]) < 0)
			return -ENOMEM;
		(*built)++;
	}
	return 0;
}

/* Replaces the list; targets that stay continue with their state. */
static void
plan_take(struct target_list *plan, struct prober_target **targets, size_t count,
    rm_mono_t now)
{
	struct prober_target *old = NULL;

	for (size_t i = 0; i < plan->count; i++) {
		struct prober_target *target = plan->targets[i], *same;

		HASH_FIND(hh, old, &target->key, sizeof(target->key), same);
		if (same == NULL)
			HASH_ADD(hh, old, key, sizeof(target->key), target);
	}
	plan->pacer.count = 0;
	for (size_t i = 0; i < count; i++) {
		target_find_old(plan, &old, targets[i], now);
		pacer_add(&plan->pacer, &targets[i]->pace);
	}
	HASH_CLEAR(hh, old);
	targets_free(plan->targets, plan->count);
	plan->targets = targets;
	plan->count = count;
}

int
target_list_set(struct target_list *plan, const struct target_list_place *place,
    const struct wire_target *wires, size_t count, rm_mono_t now,
    uint64_t refused[TARGET_REFUSALS])
{
	size_t room = count < PROBER_MAX_TARGETS ? count : PROBER_MAX_TARGETS;
	struct prober_target **targets =
	    calloc(room + 1, sizeof(struct prober_target *));
	uint64_t more_refused[TARGET_REFUSALS] = { 0 };
	struct per_address_limit *limits = NULL;
	size_t built = 0;
	int r = -ENOMEM;

	if (targets == NULL || pacer_reserve(&plan->pacer, room) < 0)
		goto fail;
	r = plan_build(place, wires, count, targets, &built, more_refused);
	if (r < 0)
		goto fail;
	r = per_address_limits_make(targets, built, &limits, &plan->flood_count);
	if (r < 0)
		goto fail;
	free(plan->limits);
	plan->limits = limits;
	plan_take(plan, targets, built, now);
	for (int i = 0; i < TARGET_REFUSALS; i++)
		refused[i] += more_refused[i];
	return 0;
fail:
	targets_free(targets, built);
	return r;
}

void
target_list_focus(struct target_list *plan, struct wire_rnic_id dst,
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

/* Adds up the packets per second of all targets, after each address was held below its
 * limit. Returns the factor that stretches all intervals so that the sum stays below
 * the prober's limit. */
static double
plan_stretch(struct target_list *plan, rm_mono_t now)
{
	double rate = 0, bytes = 0, stretch = 1000.0 / plan->permille, over;

	per_address_limits_clear(plan->limits, plan->flood_count);
	for (size_t i = 0; i < plan->count; i++)
		per_address_limit_add(
		    plan->limits, plan->targets[i], target_rate(plan->targets[i], now));
	for (size_t i = 0; i < plan->count; i++) {
		const struct prober_target *target = plan->targets[i];
		double own = target_rate(target, now) /
			     per_address_limit_stretch(&plan->limits[target->limit]);

		rate += own;
		bytes += own * per_address_limit_bytes(target);
	}
	over = rate / (double)plan->max_rate_per_s;
	if (bytes / PROBER_MAX_BYTES_PER_S > over)
		over = bytes / PROBER_MAX_BYTES_PER_S;
	if (over > stretch)
		stretch = over;
	plan->rate_per_s = rate / stretch;
	return stretch;
}

rm_mono_t
target_list_pace(struct target_list *plan, rm_mono_t now)
{
	rm_mono_t focus_ends = { INT64_MAX };
	double all = plan_stretch(plan, now);

	for (size_t i = 0; i < plan->count; i++) {
		struct prober_target *target = plan->targets[i];
		double interval = (double)prober_target_interval(target, now);
		double stretch =
		    all * per_address_limit_stretch(&plan->limits[target->limit]);
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
target_list_jitter(struct target_list *plan, rm_mono_t now)
{
	for (size_t i = 0; i < plan->count; i++)
		target_jitter(plan, plan->targets[i], now);
}
