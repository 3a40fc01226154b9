#include "region-controller/planner.h"

#include <errno.h>
#include <stdlib.h>

#include "rackmesh/core/log.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/topology/topology.h"
#include "region-controller/aggregators/aggregators.h"
#include "region-controller/controller_config.h"
#include "region-controller/plan/publish.h"
#include "region-controller/registry/registry.h"
#include "region-controller/store/store.h"

#define EXPIRE_NS (60 * RM_NS_PER_S)
/* maximum time that planning takes in one turn of the loop */
#define SLICE_NS (20 * RM_NS_PER_MS)
#define MAX_RESTARTS 3
#define NS_PER_DAY (INT64_C(86400) * RM_NS_PER_S)

struct planner {
	const struct controller_config *config;
	struct store *store;
	struct registry *registry;
	struct publish *publish;
	struct aggregators *aggregators; /* NULL until started */
	struct rm_timer *plan, *slice, *expire;
	bool leads;
	/* The timer was set because of a change. Work on the present plans pauses until
	 * the timer fires. */
	bool is_due;
	bool settled; /* plans may be published: see planner.h */
	rm_mono_t settle_by;
	struct planner_counts counts;
	struct plan_counts plan_counts;
	/* Plans that are being made. */
	struct plan_set *set; /* NULL: no plans are being made */
	bool is_whole;        /* the set is complete and is being published */
	struct publish_walk walk;
	rm_mono_t begun;
	unsigned restarts;
	bool is_changed; /* plan again after these plans were published */
};

static int64_t
ns_of_ms(uint64_t ms)
{
	return (int64_t)ms * RM_NS_PER_MS;
}

/* Before the first plans, every change restarts the wait, because more changes will
 * follow. Later changes neither delay plans nor interrupt those that are being made. */
void
planner_soon(void *arg)
{
	struct planner *planner = arg;
	rm_mono_t then =
	    rm_mono_add(rm_mono_now(), ns_of_ms(planner->config->debounce_ms));

	if (!planner->leads || (planner->settled && planner->is_due))
		return;
	if (planner->set != NULL && planner->restarts >= MAX_RESTARTS) {
		planner->is_changed = true;
		return;
	}
	if (!planner->settled && rm_mono_since(then, planner->settle_by) > 0)
		then = planner->settle_by;
	planner->is_due = true;
	rm_timer_at(planner->plan, then);
}

/* True: each ToR has a connected aggregator and at least one registered RNIC, and no
 * fewer RNICs than the topology expects. */
static bool
all_are_in(const struct planner *planner)
{
	const struct rm_topology *topology = store_topology(planner->store);

	for (size_t i = 0; i < rm_topology_switches(topology); i++) {
		const struct rm_switch *sw = rm_topology_switch(topology, i);
		size_t members;

		if (sw->role != RM_SWITCH_TOR)
			continue;
		members = registry_members(planner->registry, i);
		if (members == 0 || members < sw->expected_rnics ||
		    aggregators_serving(planner->aggregators, sw->name) == 0)
			return false;
	}
	return true;
}

static int
put_plan(const struct store_draft *draft, void *arg)
{
	return store_put_plan(arg, draft);
}

static int
drop_plan(const char *tor, void *arg)
{
	return store_drop_plan(arg, tor);
}

/* A leader without a topology waits: the settling time begins with the topology. */
static void
wait_for_topology(struct planner *planner, rm_mono_t now)
{
	planner->settle_by =
	    rm_mono_add(now, ns_of_ms(planner->config->settle_ms) + RM_NS_PER_S);
	rm_timer_at(planner->plan, planner->settle_by);
}

/* Warns if a slice takes long compared with the lease, which is not refreshed
 * meanwhile. */
static void
warn_of_lease(const struct planner *planner)
{
	uint64_t ttl_s = planner->config->etcd.lease_ttl_s;

	if (planner->config->etcd.endpoints.count > 0 &&
	    planner->counts.longest_us > ttl_s * 1000000 / 3)
		rm_log_warn(0,
		    "event loop blocked for %llu ms by planning, with a lease of %llu "
		    "s: raise etcd.lease_ttl_s above ten times that time, for all "
		    "controllers",
		    (unsigned long long)planner->counts.longest_us / 1000,
		    (unsigned long long)ttl_s);
}

/* ---- slice by slice ------------------------------------------------------------- */

static uint64_t
us_since(rm_mono_t then)
{
	return (uint64_t)(rm_mono_since(rm_mono_now(), then) / RM_NS_PER_US);
}

void
planner_drop(struct planner *planner)
{
	plan_set_free(planner->set);
	planner->set = NULL;
	rm_timer_stop(planner->slice);
}

static void
end(struct planner *planner, int r)
{
	bool is_changed = planner->is_changed;

	planner_drop(planner);
	planner->restarts = 0;
	planner->is_changed = false;
	planner->counts.plannings++;
	planner->counts.last_us = us_since(planner->begun);
	if (r < 0) {
		planner->counts.failures++;
		rm_log_error(r, "plans: not made");
	} else if (r > 0) {
		rm_log_info("plans: published for %d ToRs, made in %llu us", r,
		    (unsigned long long)planner->counts.last_us);
	}
	warn_of_lease(planner);
	aggregators_deliver(planner->aggregators);
	if (is_changed)
		planner_soon(planner);
}

/* Returns 1: there is more to do; 0: all plans are published. */
static int
step(struct planner *planner)
{
	const struct publish_sink sink = { put_plan, drop_plan, planner->store };
	int r;

	if (planner->is_whole)
		return publish_step(
		    planner->publish, planner->set, &sink, &planner->walk);
	r = plan_set_step(planner->set);
	if (r != 0)
		return r;
	planner->is_whole = true;
	planner->plan_counts = *plan_set_counts(planner->set);
	publish_begin(planner->publish, &planner->walk);
	return 1;
}

static void
note_slice(struct planner *planner, rm_mono_t begun)
{
	uint64_t us = us_since(begun);

	planner->counts.slices++;
	if (us > planner->counts.longest_us)
		planner->counts.longest_us = us;
}

static void
go_on(void *arg)
{
	struct planner *planner = arg;
	rm_mono_t begun = rm_mono_now();
	int r = 1;

	if (planner->set == NULL || planner->is_due)
		return;
	if (!store_leads(planner->store, begun)) {
		planner_drop(planner);
		return;
	}
	/* The step may have called planner_soon. */
	while (
	    r > 0 && !planner->is_due && rm_mono_since(rm_mono_now(), begun) < SLICE_NS)
		r = step(planner);
	note_slice(planner, begun);
	if (r > 0 && !planner->is_due)
		rm_timer_after(planner->slice, 0);
	else if (r > 0)
		return; /* planning starts again when the timer fires */
	else if (r < 0)
		end(planner, r);
	else
		end(planner, planner->walk.failure < 0 ? planner->walk.failure
						       : planner->walk.changed);
}

/* Drops the plans that are being made, as they are of an older state, and begins new
 * ones. */
static void
begin(struct planner *planner, rm_mono_t now)
{
	struct plan_options options = controller_plan_options(planner->config);
	int r;

	if (planner->set != NULL) {
		planner->restarts++;
		planner->counts.restarts++;
	}
	planner_drop(planner);
	planner->begun = now;
	planner->is_whole = false;
	planner->counts.longest_us = 0;
	r = plan_set_begin(
	    store_topology(planner->store), planner->registry, &options, &planner->set);
	note_slice(planner, now);
	if (r < 0)
		end(planner, r);
	else
		rm_timer_after(planner->slice, 0);
}

static void
plan_now(void *arg)
{
	struct planner *planner = arg;
	rm_mono_t now = rm_mono_now();

	planner->is_due = false;
	if (!store_leads(planner->store, now))
		return;
	if (store_topology(planner->store) == NULL) {
		wait_for_topology(planner, now);
		return;
	}
	if (!planner->settled && rm_mono_since(now, planner->settle_by) < 0 &&
	    !all_are_in(planner)) {
		rm_timer_at(planner->plan, planner->settle_by);
		return;
	}
	planner->settled = true;
	begin(planner, now);
}

static void
expire_old(void *arg)
{
	struct planner *planner = arg;
	uint64_t days = planner->config->forget_after_days;
	size_t forgotten;

	if (!planner->leads)
		return;
	forgotten = registry_expire(planner->registry, rm_mono_now(),
	    (int64_t)days * NS_PER_DAY, aggregators_is_alive, planner->aggregators);
	if (forgotten > 0) {
		rm_log_info("registrations: removed %zu RNICs: no aggregator reported "
			    "them for %llu days",
		    forgotten, (unsigned long long)days);
		planner_soon(planner);
	}
	rm_timer_after(planner->expire, EXPIRE_NS);
}

int
planner_new(struct rm_loop *loop, const struct controller_config *config,
    struct store *store, struct registry *registry, struct publish *publish,
    struct planner **ret)
{
	struct planner *planner = calloc(1, sizeof(*planner));
	int r;

	if (planner == NULL)
		return -ENOMEM;
	planner->config = config;
	planner->store = store;
	planner->registry = registry;
	planner->publish = publish;
	r = rm_timer_new(loop, plan_now, planner, &planner->plan);
	if (r == 0)
		r = rm_timer_new(loop, go_on, planner, &planner->slice);
	if (r == 0)
		r = rm_timer_new(loop, expire_old, planner, &planner->expire);
	if (r < 0) {
		planner_free(planner);
		return r;
	}
	*ret = planner;
	return 0;
}

void
planner_free(struct planner *planner)
{
	if (planner == NULL)
		return;
	plan_set_free(planner->set);
	rm_timer_free(planner->plan);
	rm_timer_free(planner->slice);
	rm_timer_free(planner->expire);
	free(planner);
}

void
planner_start(struct planner *planner, struct aggregators *aggregators)
{
	planner->aggregators = aggregators;
}

static void
give_up(struct planner *planner)
{
	planner_drop(planner);
	planner->restarts = 0;
	planner->is_changed = planner->is_due = false;
}

void
planner_lead(struct planner *planner, bool is_full)
{
	give_up(planner);
	planner->leads = true;
	planner->settled = is_full;
	planner->settle_by =
	    rm_mono_add(rm_mono_now(), ns_of_ms(planner->config->settle_ms));
	rm_timer_at(planner->plan, planner->settle_by);
	rm_timer_after(planner->expire, EXPIRE_NS);
	if (is_full)
		planner_soon(planner);
}

void
planner_follow(struct planner *planner)
{
	give_up(planner);
	planner->leads = planner->settled = false;
	rm_timer_stop(planner->plan);
	rm_timer_stop(planner->expire);
}

const bool *
planner_settled(const struct planner *planner)
{
	return &planner->settled;
}

const struct planner_counts *
planner_counts(const struct planner *planner)
{
	return &planner->counts;
}

const struct plan_counts *
planner_plan_counts(const struct planner *planner)
{
	return &planner->plan_counts;
}
