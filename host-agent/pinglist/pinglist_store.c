#include "host-agent/pinglist/pinglist_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/pinglist/pinglist.h"
#include "host-agent/pinglist/pinglist_cache.h"

/* The number of RNICs of a host, times the number of ToRs of each RNIC. */
#define PINGLIST_STORE_MAX_TORS (WIRE_MAX_HOST_RNICS * WIRE_MAX_ATTACHMENTS)
/* Least time between two writes of a pinglist that changes often, to save calls of
 * fsync. */
#define PINGLIST_STORE_SAVE_NS (5 * RM_NS_PER_S)
/* A pinglist that does not change is written again after this time, so that the time in
 * its file is recent. */
#define PINGLIST_STORE_RENEW_NS (3600 * RM_NS_PER_S)

#define LIFE_MAX_NS (PINGLIST_STORE_MAX_EXPIRE_DAYS * 24 * 3600 * RM_NS_PER_S)

struct plan {
	struct pinglist *pinglist;
	rm_mono_t confirmed; /* when an aggregator last confirmed it */
	rm_mono_t saved;
	bool ever_saved, unsaved;
};

struct pinglist_store {
	struct plan list[PINGLIST_STORE_MAX_TORS];
	size_t count;
	int64_t life_ns;
	struct pinglist_cache *cache; /* NULL: none */
	struct pinglist_store_counts counts;
};

int
pinglist_store_new(
    const char *folder, struct rm_worker *worker, struct pinglist_store **ret)
{
	struct pinglist_store *pinglists = calloc(1, sizeof(*pinglists));
	int r = 0;

	if (pinglists == NULL)
		return -ENOMEM;
	pinglists->life_ns = LIFE_MAX_NS;
	if (folder[0] != 0)
		r = pinglist_cache_new(folder, worker, &pinglists->cache);
	if (r < 0)
		pinglist_store_free(pinglists);
	else
		*ret = pinglists;
	return r;
}

void
pinglist_store_free(struct pinglist_store *pinglists)
{
	if (pinglists == NULL)
		return;
	for (size_t i = 0; i < pinglists->count; i++)
		pinglist_free(pinglists->list[i].pinglist);
	pinglist_cache_free(pinglists->cache);
	free(pinglists);
}

static struct plan *
pinglist_store_find(const struct pinglist_store *pinglists, const char *tor)
{
	for (size_t i = 0; i < pinglists->count; i++) {
		const struct plan *plan = &pinglists->list[i];

		if (strcmp(pinglist_tor(plan->pinglist), tor) == 0)
			return (struct plan *)plan;
	}
	return NULL;
}

int
pinglist_store_add_tor(struct pinglist_store *pinglists, const char *tor)
{
	int r;

	if (pinglist_store_find(pinglists, tor) != NULL)
		return 0;
	if (pinglists->count == PINGLIST_STORE_MAX_TORS)
		return -ENOSPC;
	r = pinglist_new(tor, &pinglists->list[pinglists->count].pinglist);
	if (r == 0)
		pinglists->count++;
	return r;
}

size_t
pinglist_store_tors(const struct pinglist_store *pinglists)
{
	return pinglists->count;
}

const struct pinglist *
pinglist_store_at(const struct pinglist_store *pinglists, size_t i)
{
	return pinglists->list[i].pinglist;
}

static rm_mono_t
until(const struct pinglist_store *pinglists, rm_mono_t from)
{
	return rm_mono_add(from, pinglists->life_ns);
}

void
pinglist_store_set_life(struct pinglist_store *pinglists, int64_t life_ns)
{
	pinglists->life_ns = life_ns < LIFE_MAX_NS ? life_ns : LIFE_MAX_NS;
}

void
pinglist_store_load(struct pinglist_store *pinglists, rm_wall_t wall, rm_mono_t now)
{
	for (size_t i = 0; pinglists->cache != NULL && i < pinglists->count; i++) {
		struct plan *plan = &pinglists->list[i];
		enum pinglist_status status;
		struct wire_pinglist_view view;
		uint8_t *file;
		int64_t age_ns;

		if (pinglist_cache_load(pinglists->cache, pinglist_tor(plan->pinglist),
			wall, &file, &age_ns, &view) < 0)
			continue; /* pinglist_cache has counted the error */
		plan->confirmed = rm_mono_add(now, -age_ns);
		if (pinglist_take(plan->pinglist, &view,
			until(pinglists, plan->confirmed), &status) < 0)
			pinglists->counts.no_memory++;
		free(file);
	}
}

static void
plan_save(
    struct pinglist_store *pinglists, struct plan *plan, rm_wall_t wall, rm_mono_t now)
{
	struct wire_bytes bytes = pinglist_bytes(plan->pinglist);

	/* The file gets the time of the last confirmation, not the time of the
	 * write. */
	wall.ns -= rm_mono_since(now, plan->confirmed);
	if (pinglists->cache != NULL)
		pinglist_cache_save(
		    pinglists->cache, pinglist_tor(plan->pinglist), &bytes, wall);
	plan->saved = now;
	plan->ever_saved = true;
	plan->unsaved = false;
}

static bool
plan_may_save(const struct plan *plan, rm_mono_t now)
{
	return !plan->ever_saved ||
	       rm_mono_since(now, plan->saved) >= PINGLIST_STORE_SAVE_NS;
}

static int
pinglist_store_refuse(struct pinglist_store *pinglists, int r)
{
	if (r == -ENOENT)
		pinglists->counts.other_tor++;
	else if (r == -ENOMEM)
		pinglists->counts.no_memory++;
	else
		pinglists->counts.malformed++;
	return r;
}

int
pinglist_store_open(struct pinglist_store *pinglists, const uint8_t *data, size_t len,
    struct wire_pinglist_view *ret)
{
	int r = wire_open_pinglist(ret, data, len);

	return r < 0 ? pinglist_store_refuse(pinglists, r) : 0;
}

bool
pinglist_store_take(struct pinglist_store *pinglists,
    const struct wire_pinglist_view *view, rm_wall_t wall, rm_mono_t now,
    const char **tor, int *r)
{
	enum pinglist_status status = PINGLIST_OLD;
	struct plan *plan = pinglist_store_find(pinglists, view->pinglist.tor);
	int result = plan == NULL ? -ENOENT
				  : pinglist_take(plan->pinglist, view,
					until(pinglists, now), &status);

	if (result < 0) {
		*r = pinglist_store_refuse(pinglists, result);
		return false;
	}
	*r = 0;
	*tor = pinglist_tor(plan->pinglist);
	if (status == PINGLIST_OLD) {
		pinglists->counts.old++;
		return false;
	}
	plan->confirmed = now;
	if (status == PINGLIST_SAME) {
		pinglists->counts.same++;
		return false;
	}
	pinglists->counts.taken++;
	plan->unsaved = true;
	if (plan_may_save(plan, now))
		plan_save(pinglists, plan, wall, now);
	return true;
}

void
pinglist_store_renew(struct pinglist_store *pinglists, const char *tor, rm_mono_t now)
{
	struct plan *plan = pinglist_store_find(pinglists, tor);

	if (plan == NULL || pinglist_view(plan->pinglist) == NULL)
		return;
	plan->confirmed = now;
	pinglist_renew(plan->pinglist, until(pinglists, now));
	if (rm_mono_since(now, plan->saved) > PINGLIST_STORE_RENEW_NS)
		plan->unsaved = true;
}

/* True: the pinglist has expired, was confirmed again, or was dropped. */
static bool
plan_turn(struct pinglist_store *pinglists, struct plan *plan, rm_mono_t now)
{
	switch (pinglist_expire(plan->pinglist, now)) {
	case PINGLIST_STAYS:
		return false;
	case PINGLIST_EXPIRES:
		pinglists->counts.expired++;
		return true;
	case PINGLIST_RECOVERS:
		pinglists->counts.recovered++;
		return true;
	case PINGLIST_ENDS:
		pinglists->counts.ended++;
		plan->unsaved = false;
		return true;
	}
	return false;
}

bool
pinglist_store_tick(struct pinglist_store *pinglists, rm_wall_t wall, rm_mono_t now)
{
	bool turned = false;

	for (size_t i = 0; i < pinglists->count; i++) {
		struct plan *plan = &pinglists->list[i];

		turned |= plan_turn(pinglists, plan, now);
		if (plan->unsaved && plan_may_save(plan, now))
			plan_save(pinglists, plan, wall, now);
	}
	return turned;
}

int
pinglist_store_sum(const struct pinglist_store *pinglists, const char *const *tors,
    size_t count, struct wire_rnic_id rnic, struct pinglist_sum *ret)
{
	const struct pinglist *lists[WIRE_MAX_ATTACHMENTS];
	size_t found = 0;

	for (size_t i = 0; i < count && i < WIRE_MAX_ATTACHMENTS; i++) {
		const struct plan *plan = pinglist_store_find(pinglists, tors[i]);

		if (plan != NULL)
			lists[found++] = plan->pinglist;
	}
	return pinglist_sum(lists, found, rnic, ret);
}

bool
pinglist_store_any(const struct pinglist_store *pinglists)
{
	for (size_t i = 0; i < pinglists->count; i++) {
		if (pinglist_view(pinglists->list[i].pinglist) != NULL)
			return true;
	}
	return false;
}

uint32_t
pinglist_store_probe_timeout_ms(const struct pinglist_store *pinglists)
{
	uint32_t longest = 0;

	for (size_t i = 0; i < pinglists->count; i++) {
		const struct wire_pinglist_view *view =
		    pinglist_view(pinglists->list[i].pinglist);

		if (view != NULL && view->pinglist.probe_timeout_ms > longest)
			longest = view->pinglist.probe_timeout_ms;
	}
	return longest;
}

size_t
pinglist_store_slow(const struct pinglist_store *pinglists)
{
	size_t slow = 0;

	for (size_t i = 0; i < pinglists->count; i++)
		slow += pinglist_slow(pinglists->list[i].pinglist);
	return slow;
}

const struct pinglist_store_counts *
pinglist_store_counts(const struct pinglist_store *pinglists)
{
	return &pinglists->counts;
}

const struct pinglist_cache_counts *
pinglist_store_cache_counts(const struct pinglist_store *pinglists)
{
	return pinglists->cache == NULL ? NULL
					: pinglist_cache_counts(pinglists->cache);
}
