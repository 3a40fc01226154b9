#include "tor-aggregator/plan/plan_store.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/error.h"
#include "rackmesh/core/file.h"
#include "rackmesh/judge/part.h"
#include "rackmesh/loop/file_save.h"
#include "rackmesh/net/frame.h"

#define MAX_INTERVAL_US 600000000u
#define MAX_PATH 4096

struct held {
	struct plan_store *store; /* used by the callback at the end of a save */
	char tor[RM_NAME_BYTES];
	uint8_t *data;
	size_t len;
	struct wire_plan_view view;
	bool known;
	bool unsaved, saving;
};

struct plan_store {
	struct rm_worker *worker;
	char region[RM_NAME_BYTES];
	char *folder;
	struct held held[WIRE_MAX_TORS];
	size_t count;
	struct plan_store_counts counts;
};

int
plan_store_new(struct rm_worker *worker, const char *region, const char *folder,
    const char *const *tors, size_t count, struct plan_store **ret)
{
	struct plan_store *store;

	if (count > WIRE_MAX_TORS)
		return -E2BIG;
	store = calloc(1, sizeof(*store));
	if (store == NULL)
		return -ENOMEM;
	store->worker = worker;
	store->count = count;
	snprintf(store->region, sizeof(store->region), "%s", region);
	for (size_t i = 0; i < count; i++) {
		store->held[i].store = store;
		snprintf(store->held[i].tor, sizeof(store->held[i].tor), "%s", tors[i]);
	}
	if (folder != NULL) {
		store->folder = strdup(folder);
		if (store->folder == NULL) {
			plan_store_free(store);
			return -ENOMEM;
		}
	}
	*ret = store;
	return 0;
}

void
plan_store_free(struct plan_store *store)
{
	if (store == NULL)
		return;
	for (size_t i = 0; i < store->count; i++)
		free(store->held[i].data);
	free(store->folder);
	free(store);
}

/* Checks the values of a plan that is well formed. */
static int
plan_check(const struct wire_plan_view *view)
{
	const struct wire_plan *plan = &view->plan;
	struct wire_plan_entry entry;

	if (!rm_name_valid(plan->tor) || plan->version == 0)
		return -EINVAL;
	if (plan->mesh.peers > 0 && plan->member_count > 1 &&
	    (plan->mesh.interval_us == 0 || plan->mesh.interval_us > MAX_INTERVAL_US ||
		plan->mesh.flow_count == 0 || plan->mesh.dscp_count == 0 ||
		plan->mesh.size_count == 0))
		return -EINVAL;
	for (size_t i = 0; i < plan->entry_count; i++) {
		wire_plan_entry(view, i, &entry);
		if (entry.interval_us == 0 || entry.interval_us > MAX_INTERVAL_US ||
		    entry.flow_count == 0 || entry.dscp_count == 0 ||
		    entry.size_count == 0)
			return -EINVAL;
	}
	return 0;
}

static int
plan_open(const struct plan_store *store, const uint8_t *data, size_t len,
    struct wire_plan_view *view, size_t *tor)
{
	int r = wire_open_plan(view, data, len);

	if (r == 0)
		r = plan_check(view);
	if (r == 0 && strcmp(view->plan.region, store->region) != 0)
		r = -EINVAL;
	if (r < 0)
		return r;
	for (size_t i = 0; i < store->count; i++) {
		if (strcmp(store->held[i].tor, view->plan.tor) == 0) {
			*tor = i;
			return 0;
		}
	}
	return -ENOENT;
}

/* Takes ownership of data (aligned to 8), also on failure. */
static int
plan_keep(struct plan_store *store, uint8_t *data, size_t len, size_t *tor)
{
	struct wire_plan_view view;
	struct held *held;
	size_t at = 0;
	int r;

	r = plan_open(store, data, len, &view, &at);
	if (r < 0) {
		store->counts.refused++;
		free(data);
		return r;
	}
	held = &store->held[at];
	if (held->known && view.plan.version <= held->view.plan.version) {
		store->counts.stale++;
		free(data);
		return 0;
	}
	free(held->data);
	held->data = data;
	held->len = len;
	held->view = view;
	held->known = true;
	held->unsaved = true;
	store->counts.taken++;
	*tor = at;
	return 1;
}

int
plan_store_take(struct plan_store *store, const uint8_t *data, size_t len, size_t *tor)
{
	uint8_t *copy = NULL;

	if (len > 0 && len <= RM_FRAME_MAX_BYTES)
		copy = malloc(len);
	if (copy == NULL) {
		store->counts.refused++;
		return len > RM_FRAME_MAX_BYTES ? -EMSGSIZE : -ENOMEM;
	}
	memcpy(copy, data, len);
	return plan_keep(store, copy, len, tor);
}

static int
cache_path(const struct plan_store *store, size_t tor, char path[MAX_PATH])
{
	int len = snprintf(
	    path, MAX_PATH, "%s/plan-%s.bin", store->folder, store->held[tor].tor);

	return len < 0 || len >= MAX_PATH ? -ENAMETOOLONG : 0;
}

int
plan_store_load_file(
    struct plan_store *store, const char *path, size_t *tor, struct rm_error *error)
{
	uint8_t *data;
	size_t len;
	int r;

	r = rm_file_read(path, RM_FRAME_MAX_BYTES, &data, &len);
	if (r < 0)
		return rm_error_set(
		    error, r, "cannot read plan %s: %s", path, strerror(-r));
	r = plan_keep(store, data, len, tor);
	if (r == -ENOENT)
		rm_error_set(
		    error, r, "%s is the plan of a ToR that is not in \"tors\"", path);
	else if (r < 0)
		rm_error_set(error, r, "%s is no valid plan of region %s (%s)", path,
		    store->region, strerror(-r));
	return r;
}

int
plan_store_load_cache(struct plan_store *store, size_t tor, struct rm_error *error)
{
	char path[MAX_PATH];
	size_t at = tor;
	int r;

	if (store->folder == NULL)
		return 0;
	r = cache_path(store, tor, path);
	if (r == 0)
		r = plan_store_load_file(store, path, &at, error);
	if (r > 0)
		store->held[at].unsaved = false;
	return r == -ENOENT ? 0 : r;
}

static void
save_done(void *arg, int r)
{
	struct held *held = arg;

	held->saving = false;
	if (r < 0) {
		held->store->counts.cache_failed++;
		held->unsaved = true; /* the next plan_store_save tries again */
	} else {
		held->store->counts.cache_written++;
	}
}

void
plan_store_save(struct plan_store *store)
{
	for (size_t i = 0; i < store->count && store->folder != NULL; i++) {
		struct held *held = &store->held[i];
		char path[MAX_PATH];

		if (!held->unsaved || held->saving)
			continue;
		if (cache_path(store, i, path) < 0 ||
		    rm_file_save(store->worker, path, held->data, held->len, save_done,
			held) < 0)
			return;
		held->saving = true;
		held->unsaved = false;
	}
}

const struct wire_plan_view *
plan_store_view(const struct plan_store *store, size_t tor)
{
	return store->held[tor].known ? &store->held[tor].view : NULL;
}

const struct plan_store_counts *
plan_store_counts(const struct plan_store *store)
{
	return &store->counts;
}
