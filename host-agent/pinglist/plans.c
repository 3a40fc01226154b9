#include "host-agent/pinglist/plans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/pinglist/pinglist.h"
#include "host-agent/pinglist/pinglist_cache.h"

/* Both ToRs of every RNIC. */
#define PLANS_MAX_TORS (WIRE_MAX_HOST_RNICS * WIRE_MAX_ATTACHMENTS)
/* A pinglist that keeps changing costs one fsync in this time, not one each. */
#define PLANS_SAVE_NS (5 * RM_NS_PER_S)
/* One that stays is written again, so that its copy stays young. */
#define PLANS_RENEW_NS (3600 * RM_NS_PER_S)

#define LIFE_MAX_NS (PLANS_MAX_EXPIRE_DAYS * 24 * 3600 * RM_NS_PER_S)

struct plan {
	struct pinglist *pinglist;
	rm_mono_t confirmed; /* when an aggregator last stood behind it */
	rm_mono_t saved;
	bool ever_saved, unsaved;
};

struct plans {
	struct plan list[PLANS_MAX_TORS];
	size_t count;
	int64_t life_ns;
	struct pinglist_cache *cache; /* NULL: none */
	struct plans_counts counts;
};

int
plans_new(const char *folder, struct rm_worker *worker, struct plans **ret)
{
	struct plans *plans = calloc(1, sizeof(*plans));
	int r = 0;

	if (plans == NULL)
		return -ENOMEM;
	plans->life_ns = LIFE_MAX_NS;
	if (folder[0] != 0)
		r = pinglist_cache_new(folder, worker, &plans->cache);
	if (r < 0)
		plans_free(plans);
	else
		*ret = plans;
	return r;
}

void
plans_free(struct plans *plans)
{
	if (plans == NULL)
		return;
	for (size_t i = 0; i < plans->count; i++)
		pinglist_free(plans->list[i].pinglist);
	pinglist_cache_free(plans->cache);
	free(plans);
}

static struct plan *
plans_find(const struct plans *plans, const char *tor)
{
	for (size_t i = 0; i < plans->count; i++) {
		const struct plan *plan = &plans->list[i];

		if (strcmp(pinglist_tor(plan->pinglist), tor) == 0)
			return (struct plan *)plan;
	}
	return NULL;
}

int
plans_add_tor(struct plans *plans, const char *tor)
{
	int r;

	if (plans_find(plans, tor) != NULL)
		return 0;
	if (plans->count == PLANS_MAX_TORS)
		return -ENOSPC;
	r = pinglist_new(tor, &plans->list[plans->count].pinglist);
	if (r == 0)
		plans->count++;
	return r;
}

size_t
plans_tors(const struct plans *plans)
{
	return plans->count;
}

const struct pinglist *
plans_at(const struct plans *plans, size_t i)
{
	return plans->list[i].pinglist;
}

static rm_mono_t
until(const struct plans *plans, rm_mono_t from)
{
	return rm_mono_add(from, plans->life_ns);
}

void
plans_set_life(struct plans *plans, int64_t life_ns)
{
	plans->life_ns = life_ns < LIFE_MAX_NS ? life_ns : LIFE_MAX_NS;
}

void
plans_load(struct plans *plans, rm_wall_t wall, rm_mono_t now)
{
	for (size_t i = 0; plans->cache != NULL && i < plans->count; i++) {
		struct plan *plan = &plans->list[i];
		enum pinglist_status status;
		struct wire_pinglist_view view;
		uint8_t *file;
		int64_t age_ns;

		if (pinglist_cache_load(plans->cache, pinglist_tor(plan->pinglist),
			wall, &file, &age_ns, &view) < 0)
			continue; /* counted over there */
		plan->confirmed = rm_mono_add(now, -age_ns);
		if (pinglist_take(plan->pinglist, &view, until(plans, plan->confirmed),
			&status) < 0)
			plans->counts.no_memory++;
		free(file);
	}
}

static void
plan_save(struct plans *plans, struct plan *plan, rm_wall_t wall, rm_mono_t now)
{
	struct wire_bytes bytes = pinglist_bytes(plan->pinglist);

	/* What is written is as old as its confirmation. */
	wall.ns -= rm_mono_since(now, plan->confirmed);
	if (plans->cache != NULL)
		pinglist_cache_save(
		    plans->cache, pinglist_tor(plan->pinglist), &bytes, wall);
	plan->saved = now;
	plan->ever_saved = true;
	plan->unsaved = false;
}

static bool
plan_may_save(const struct plan *plan, rm_mono_t now)
{
	return !plan->ever_saved || rm_mono_since(now, plan->saved) >= PLANS_SAVE_NS;
}

static int
plans_refuse(struct plans *plans, int r)
{
	if (r == -ENOENT)
		plans->counts.foreign++;
	else if (r == -ENOMEM)
		plans->counts.no_memory++;
	else
		plans->counts.malformed++;
	return r;
}

int
plans_open(struct plans *plans, const uint8_t *data, size_t len,
    struct wire_pinglist_view *ret)
{
	int r = wire_open_pinglist(ret, data, len);

	return r < 0 ? plans_refuse(plans, r) : 0;
}

bool
plans_take(struct plans *plans, const struct wire_pinglist_view *view, rm_wall_t wall,
    rm_mono_t now, const char **tor, int *r)
{
	enum pinglist_status status = PINGLIST_OLD;
	struct plan *plan = plans_find(plans, view->pinglist.tor);
	int result = plan == NULL ? -ENOENT
				  : pinglist_take(plan->pinglist, view,
					until(plans, now), &status);

	if (result < 0) {
		*r = plans_refuse(plans, result);
		return false;
	}
	*r = 0;
	*tor = pinglist_tor(plan->pinglist);
	if (status == PINGLIST_OLD) {
		plans->counts.old++;
		return false;
	}
	plan->confirmed = now;
	if (status == PINGLIST_SAME) {
		plans->counts.same++;
		return false;
	}
	plans->counts.taken++;
	plan->unsaved = true;
	if (plan_may_save(plan, now))
		plan_save(plans, plan, wall, now);
	return true;
}

void
plans_renew(struct plans *plans, const char *tor, rm_mono_t now)
{
	struct plan *plan = plans_find(plans, tor);

	if (plan == NULL || pinglist_view(plan->pinglist) == NULL)
		return;
	plan->confirmed = now;
	pinglist_renew(plan->pinglist, until(plans, now));
	if (rm_mono_since(now, plan->saved) > PLANS_RENEW_NS)
		plan->unsaved = true;
}

/* True: it is not what it was. */
static bool
plan_turn(struct plans *plans, struct plan *plan, rm_mono_t now)
{
	switch (pinglist_expire(plan->pinglist, now)) {
	case PINGLIST_STAYS:
		return false;
	case PINGLIST_EXPIRES:
		plans->counts.expired++;
		return true;
	case PINGLIST_RECOVERS:
		plans->counts.recovered++;
		return true;
	case PINGLIST_ENDS:
		plans->counts.ended++;
		plan->unsaved = false;
		return true;
	}
	return false;
}

bool
plans_tick(struct plans *plans, rm_wall_t wall, rm_mono_t now)
{
	bool turned = false;

	for (size_t i = 0; i < plans->count; i++) {
		struct plan *plan = &plans->list[i];

		turned |= plan_turn(plans, plan, now);
		if (plan->unsaved && plan_may_save(plan, now))
			plan_save(plans, plan, wall, now);
	}
	return turned;
}

int
plans_sum(const struct plans *plans, const char *const *tors, size_t count,
    struct wire_rnic_id rnic, struct pinglist_sum *ret)
{
	const struct pinglist *lists[WIRE_MAX_ATTACHMENTS];
	size_t found = 0;

	for (size_t i = 0; i < count && i < WIRE_MAX_ATTACHMENTS; i++) {
		const struct plan *plan = plans_find(plans, tors[i]);

		if (plan != NULL)
			lists[found++] = plan->pinglist;
	}
	return pinglist_sum(lists, found, rnic, ret);
}

bool
plans_any(const struct plans *plans)
{
	for (size_t i = 0; i < plans->count; i++) {
		if (pinglist_view(plans->list[i].pinglist) != NULL)
			return true;
	}
	return false;
}

uint32_t
plans_probe_timeout_ms(const struct plans *plans)
{
	uint32_t longest = 0;

	for (size_t i = 0; i < plans->count; i++) {
		const struct wire_pinglist_view *view =
		    pinglist_view(plans->list[i].pinglist);

		if (view != NULL && view->pinglist.probe_timeout_ms > longest)
			longest = view->pinglist.probe_timeout_ms;
	}
	return longest;
}

size_t
plans_slow(const struct plans *plans)
{
	size_t slow = 0;

	for (size_t i = 0; i < plans->count; i++)
		slow += pinglist_slow(plans->list[i].pinglist);
	return slow;
}

const struct plans_counts *
plans_counts(const struct plans *plans)
{
	return &plans->counts;
}

const struct pinglist_cache_counts *
plans_cache_counts(const struct plans *plans)
{
	return plans->cache == NULL ? NULL : pinglist_cache_counts(plans->cache);
}
