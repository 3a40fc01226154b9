#define HASH_NONFATAL_OOM 1
#define HASH_FUNCTION(name, len, hash) (hash) = hash_of(name, len)
#include "rackmesh/etcd/etcd_mirror.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "rackmesh/core/backoff.h"
#include "rackmesh/core/fnv.h"
#include "rackmesh/core/random.h"
#include "rackmesh/etcd/etcd_call.h"
#include "rackmesh/loop/loop.h"

struct rm_etcd_key {
	UT_hash_handle hh;
	int64_t mod_revision;
	bool seen;    /* the key is in the list that is being applied */
	bool deleted; /* deleted by an event while a list was requested */
	char name[];
};

static void mirror_list(void *arg);
static void mirror_watch(void *arg);

/* The hash begins with a random number, so that nobody can choose keys that collide. */
static unsigned
hash_of(const void *name, size_t len)
{
	static uint64_t seed;
	uint64_t hash;

	while (seed == 0)
		seed = rm_random_u64();
	hash = rm_fnv1a(RM_FNV1A ^ seed, name, len);
	return (unsigned)(hash ^ hash >> 32);
}

static struct rm_etcd_key *
keys_find(const struct rm_etcd_view *view, const char *name)
{
	struct rm_etcd_key *key;

	HASH_FIND_STR(view->keys, name, key);
	return key;
}

/* NULL when out of memory. The name must not be in the table. */
static struct rm_etcd_key *
keys_add(struct rm_etcd_view *view, const char *name)
{
	size_t len = strlen(name);
	struct rm_etcd_key *key = calloc(1, sizeof(*key) + len + 1);

	if (key == NULL)
		return NULL;
	memcpy(key->name, name, len + 1);
	HASH_ADD_KEYPTR(hh, view->keys, key->name, len, key);
	if (key->hh.tbl == NULL) {
		free(key);
		return NULL;
	}
	return key;
}

static void
keys_remove(struct rm_etcd_view *view, struct rm_etcd_key *key)
{
	HASH_DEL(view->keys, key);
	free(key);
}

/* Calls visit for all keys, and removes those for which it returns false. */
static void
keys_keep(struct rm_etcd_view *view, bool (*visit)(struct rm_etcd_key *key, void *arg),
    void *arg)
{
	struct rm_etcd_key *key, *next;

	HASH_ITER (hh, view->keys, key, next) {
		if (!visit(key, arg))
			keys_remove(view, key);
	}
}

int
rm_etcd_view_init(struct rm_etcd_view *view, const char *prefix,
    const struct rm_etcd_mirror_callbacks *callbacks)
{
	*view = (struct rm_etcd_view){ .callbacks = *callbacks };
	view->prefix = strdup(prefix);
	return view->prefix != NULL ? 0 : -ENOMEM;
}

void
rm_etcd_view_clear(struct rm_etcd_view *view)
{
	struct rm_etcd_key *key, *next;

	HASH_ITER (hh, view->keys, key, next)
		keys_remove(view, key);
	free(view->prefix);
	view->prefix = NULL;
}

static void
view_put(struct rm_etcd_view *view, const struct rm_etcd_value *value)
{
	view->counts.puts++;
	view->callbacks.on_put(value, view->callbacks.arg);
}

static void
view_delete(struct rm_etcd_view *view, const char *key)
{
	view->counts.deletes++;
	view->callbacks.on_delete(key, view->callbacks.arg);
}

static bool
view_owns(const struct rm_etcd_view *view, const char *key)
{
	return strncmp(key, view->prefix, strlen(view->prefix)) == 0;
}

/* Returns the entry of a key that is to be reported, and adds it if it is missing.
 * NULL: the key is refused. */
static struct rm_etcd_key *
view_entry(struct rm_etcd_view *view, struct rm_etcd_key *entry, const char *name)
{
	if (entry == NULL && HASH_COUNT(view->keys) < RM_ETCD_MIRROR_MAX_KEYS)
		entry = keys_add(view, name);
	if (entry == NULL)
		view->counts.refused_keys++;
	return entry;
}

/* ---- lists ---- */

void
rm_etcd_view_ask(struct rm_etcd_view *view)
{
	view->listing = true;
	view->asked = view->known;
}

/* Decides whether a list can be used. A linearizable read never returns a state older
 * than the one known when the read began, unless the clock or data of a member are
 * wrong, or etcd was restored. Later events may have brought newer states. */
enum rm_etcd_view_status
rm_etcd_view_judge(const struct rm_etcd_view *view, const struct rm_etcd_answer *list)
{
	if (view->synced && list->cluster_id != view->cluster_id)
		return RM_ETCD_VIEW_OTHER;
	if (list->revision < view->asked)
		return RM_ETCD_VIEW_BEHIND;
	for (size_t i = 0; i < list->count; i++) {
		const struct rm_etcd_value *value = &list->values[i];
		const struct rm_etcd_key *entry = keys_find(view, value->key);

		if (value->mod_revision > list->revision)
			/* a value is older than the value of the same key before: the
			 * list is inconsistent */
			return RM_ETCD_VIEW_BEHIND;
		if (entry != NULL && !entry->deleted &&
		    value->mod_revision < entry->mod_revision &&
		    entry->mod_revision <= list->revision)
			return RM_ETCD_VIEW_BEHIND;
	}
	return RM_ETCD_VIEW_NEWER;
}

struct sweep {
	struct rm_etcd_view *view;
	int64_t revision; /* revision of the list */
	bool afresh;
};

static bool
forget_revision(struct rm_etcd_key *entry, void *arg)
{
	entry->mod_revision = 0;
	return !entry->deleted;
}

/* A key that is missing in the list is deleted, unless a later event has put it. */
static bool
sweep_key(struct rm_etcd_key *entry, void *arg)
{
	struct sweep *sweep = arg;
	bool stays = entry->seen || entry->mod_revision > sweep->revision;

	if (entry->deleted)
		return false;
	entry->seen = false;
	if (stays)
		return true;
	if (!sweep->afresh)
		sweep->view->counts.healed++;
	view_delete(sweep->view, entry->name);
	return false;
}

static void
view_take_value(
    struct rm_etcd_view *view, const struct rm_etcd_value *value, bool afresh)
{
	struct rm_etcd_key *entry;

	if (!view_owns(view, value->key))
		return;
	entry = keys_find(view, value->key);
	if (entry != NULL && value->mod_revision <= entry->mod_revision) {
		entry->seen = true;
		return;
	}
	entry = view_entry(view, entry, value->key);
	if (entry == NULL)
		return;
	entry->mod_revision = value->mod_revision;
	entry->deleted = false;
	entry->seen = true;
	if (view->synced && !afresh)
		view->counts.healed++;
	view_put(view, value);
}

void
rm_etcd_view_take_list(
    struct rm_etcd_view *view, const struct rm_etcd_answer *list, bool afresh)
{
	struct sweep sweep = { view, list->revision, afresh };

	if (afresh) {
		/* Revisions of the new cluster start anew: equal revisions do not mean
		 * equal values. */
		keys_keep(view, forget_revision, NULL);
		view->known = 0;
		view->counts.restarts++;
	}
	view->listing = false;
	for (size_t i = 0; i < list->count; i++)
		view_take_value(view, &list->values[i], afresh);
	keys_keep(view, sweep_key, &sweep);
	view->cluster_id = list->cluster_id;
	view->listed = list->revision;
	if (list->revision > view->known)
		view->known = list->revision;
	view->synced = true;
}

/* ---- events ---- */

static bool
event_is_old(
    const struct rm_etcd_view *view, const struct rm_etcd_key *entry, int64_t revision)
{
	if (entry != NULL)
		return revision <= entry->mod_revision;
	/* True: the event is about a key that may have been deleted after it. */
	return revision < view->known || revision <= view->listed;
}

static void
view_take_put(struct rm_etcd_view *view, struct rm_etcd_key *entry,
    const struct rm_etcd_value *value)
{
	entry = view_entry(view, entry, value->key);
	if (entry == NULL)
		return;
	entry->mod_revision = value->mod_revision;
	entry->deleted = false;
	view_put(view, value);
}

static void
view_take_delete(struct rm_etcd_view *view, struct rm_etcd_key *entry, int64_t revision)
{
	if (entry == NULL || entry->deleted)
		return;
	view_delete(view, entry->name);
	/* Keeps the deletion: a list that was requested earlier must not bring the key
	 * back. */
	entry->mod_revision = revision;
	entry->deleted = true;
	if (!view->listing)
		keys_remove(view, entry);
}

static bool
view_take_event(struct rm_etcd_view *view, const struct rm_etcd_event *event)
{
	int64_t revision = event->value.mod_revision;
	struct rm_etcd_key *entry;
	bool ordered;

	if (!view_owns(view, event->value.key))
		return true;
	entry = keys_find(view, event->value.key);
	if (event_is_old(view, entry, revision)) {
		view->counts.stale++;
		/* An event that is repeated is harmless. An event that comes late shows
		 * that other events may be missing. */
		return entry != NULL && revision == entry->mod_revision;
	}
	ordered = revision >= view->known;
	if (event->is_delete)
		view_take_delete(view, entry, revision);
	else
		view_take_put(view, entry, &event->value);
	if (revision > view->known)
		view->known = revision;
	return ordered;
}

bool
rm_etcd_view_take_events(
    struct rm_etcd_view *view, const struct rm_etcd_event *events, size_t count)
{
	bool ordered = true;

	for (size_t i = 0; i < count; i++)
		ordered &= view_take_event(view, &events[i]);
	return ordered;
}

#define MIRROR_RELIST_NS (30 * RM_NS_PER_S)
#define MIRROR_SILENCE_NS (3 * RM_NS_PER_S)
#define MIRROR_RETRY_NS (100 * RM_NS_PER_MS)
#define MIRROR_MAX_RETRY_NS (2 * RM_NS_PER_S)
#define MIRROR_ASK_AGAIN_NS (100 * RM_NS_PER_MS)
/* A list that is older than the known state is accepted at the third attempt: by then
 * all three members of a cluster were asked, so the cause is not one member that was
 * stopped. */
#define MIRROR_BEHIND_TRIES 3
/* Delay of the list after events out of order, so that many such events do not cause
 * many lists. */
#define MIRROR_SOON_NS (500 * RM_NS_PER_MS)

struct rm_etcd_mirror {
	struct rm_etcd *etcd;
	int64_t relist_ns, silence_ns;
	struct rm_etcd_view view;
	struct rm_etcd_watch *watch;
	struct rm_timer *list_timer, *watch_timer;
	rm_mono_t list_due;
	struct rm_backoff list_backoff, watch_backoff;
	bool listing;    /* the requested list has not arrived yet */
	unsigned behind; /* lists in a row that were older than the known state */
	rm_mono_t last_seen;
};

static void mirror_list(void *arg);
static void mirror_watch(void *arg);

static void
mirror_list_at(struct rm_etcd_mirror *mirror, rm_mono_t due)
{
	mirror->list_due = due;
	rm_timer_at(mirror->list_timer, due);
}

/* Makes the next list due within this time, unless it is due earlier. */
static void
mirror_list_within(struct rm_etcd_mirror *mirror, int64_t ns)
{
	rm_mono_t due = rm_mono_add(rm_mono_now(), ns);

	if (!mirror->listing && rm_mono_since(mirror->list_due, due) > 0)
		mirror_list_at(mirror, due);
}

static void
mirror_synced(struct rm_etcd_mirror *mirror)
{
	struct rm_etcd_view *view = &mirror->view;

	mirror->last_seen = rm_mono_now();
	view->callbacks.on_synced(view->known, view->callbacks.arg);
}

static void
mirror_list_again(struct rm_etcd_mirror *mirror)
{
	mirror_list_at(
	    mirror, rm_mono_add(rm_mono_now(),
			rm_backoff_next_ns(&mirror->list_backoff, rm_random_u64())));
}

static void
mirror_on_list(const struct rm_etcd_answer *list, void *arg)
{
	struct rm_etcd_mirror *mirror = arg;
	struct rm_etcd_view *view = &mirror->view;
	enum rm_etcd_view_status status;

	mirror->listing = view->listing = false;
	if (list->r < 0) {
		mirror_list_again(mirror);
		return;
	}
	rm_backoff_reset(&mirror->list_backoff);
	view->counts.lists++;
	status = rm_etcd_view_judge(view, list);
	if (status == RM_ETCD_VIEW_BEHIND && ++mirror->behind < MIRROR_BEHIND_TRIES) {
		view->counts.stale++;
		/* Another member may have a newer state. */
		rm_etcd_rotate(mirror->etcd, mirror->etcd->endpoint);
		mirror_list_at(mirror, rm_mono_add(rm_mono_now(), MIRROR_ASK_AGAIN_NS));
		return;
	}
	mirror->behind = 0;
	if (status != RM_ETCD_VIEW_NEWER) {
		rm_etcd_watch_free(mirror->watch);
		mirror->watch = NULL;
	}
	rm_etcd_view_take_list(view, list, status != RM_ETCD_VIEW_NEWER);
	mirror_synced(mirror);
	if (mirror->watch == NULL)
		rm_timer_after(mirror->watch_timer, 0);
	mirror_list_at(mirror, rm_mono_add(rm_mono_now(), mirror->relist_ns));
}

static void
mirror_list(void *arg)
{
	struct rm_etcd_mirror *mirror = arg;

	if (mirror->listing)
		return;
	if (rm_etcd_range(mirror->etcd, mirror->view.prefix, true, 0, false,
		mirror_on_list, mirror) < 0) {
		mirror_list_again(mirror);
		return;
	}
	mirror->listing = true;
	rm_etcd_view_ask(&mirror->view);
}

/* False: the watch is of another cluster than the list was. */
static bool
mirror_is_current(struct rm_etcd_mirror *mirror, uint64_t cluster_id)
{
	if (cluster_id != mirror->view.cluster_id) {
		mirror_list_within(mirror, MIRROR_SOON_NS);
		return false;
	}
	rm_backoff_reset(&mirror->watch_backoff);
	mirror->last_seen = rm_mono_now();
	return true;
}

static void
mirror_on_events(const struct rm_etcd_event *events, size_t count, uint64_t cluster_id,
    int64_t revision, void *arg)
{
	struct rm_etcd_mirror *mirror = arg;

	if (!mirror_is_current(mirror, cluster_id))
		return;
	if (!rm_etcd_view_take_events(&mirror->view, events, count))
		mirror_list_within(mirror, MIRROR_SOON_NS);
	mirror_synced(mirror);
}

static void
mirror_on_progress(uint64_t cluster_id, int64_t revision, void *arg)
{
	struct rm_etcd_mirror *mirror = arg;

	if (mirror_is_current(mirror, cluster_id) && revision > mirror->view.known)
		mirror->view.known = revision;
}

static void
mirror_watch_later(struct rm_etcd_mirror *mirror)
{
	rm_timer_after(mirror->watch_timer,
	    rm_backoff_next_ns(&mirror->watch_backoff, rm_random_u64()));
}

static void
mirror_on_end(int r, const char *error, void *arg)
{
	struct rm_etcd_mirror *mirror = arg;

	mirror->view.counts.breaks++;
	rm_etcd_watch_free(mirror->watch);
	mirror->watch = NULL;
	switch (r) {
	case -ESTALE:
	case -ECANCELED:
	case -ETIMEDOUT:
	case -EPROTO:
	case -ENOBUFS:
		/* Only a list can show what the watch has missed. The list then starts
		 * the next watch. */
		if (!mirror->listing)
			mirror_list_within(
			    mirror, rm_backoff_next_ns(
					&mirror->watch_backoff, rm_random_u64()));
		break;
	default:
		mirror_watch_later(mirror);
		break;
	}
}

static void
mirror_watch(void *arg)
{
	static const struct rm_etcd_watch_callbacks callbacks = {
		mirror_on_events,
		mirror_on_progress,
		mirror_on_end,
	};
	struct rm_etcd_mirror *mirror = arg;
	int r;

	if (mirror->watch != NULL)
		return;
	r = rm_etcd_watch_new(mirror->etcd, mirror->view.prefix, mirror->view.known + 1,
	    mirror->silence_ns, &callbacks, mirror, &mirror->watch);
	if (r < 0)
		mirror_watch_later(mirror);
	else
		mirror->view.counts.watches++;
}

/* ---- timers, creation and end ---- */

int
rm_etcd_mirror_new(struct rm_loop *loop, struct rm_etcd *etcd,
    const struct rm_etcd_mirror_options *options,
    const struct rm_etcd_mirror_callbacks *callbacks, struct rm_etcd_mirror **ret)
{
	struct rm_etcd_mirror *mirror = calloc(1, sizeof(*mirror));
	int r;

	if (mirror == NULL)
		return -ENOMEM;
	mirror->etcd = etcd;
	mirror->relist_ns =
	    options->relist_ns > 0 ? options->relist_ns : MIRROR_RELIST_NS;
	mirror->silence_ns =
	    options->silence_ns > 0 ? options->silence_ns : MIRROR_SILENCE_NS;
	mirror->list_backoff =
	    (struct rm_backoff){ MIRROR_RETRY_NS, MIRROR_MAX_RETRY_NS, 0 };
	mirror->watch_backoff = mirror->list_backoff;
	r = rm_etcd_view_init(&mirror->view, options->prefix, callbacks);
	if (r == 0)
		r = rm_timer_new(loop, mirror_list, mirror, &mirror->list_timer);
	if (r == 0)
		r = rm_timer_new(loop, mirror_watch, mirror, &mirror->watch_timer);
	if (r < 0)
		goto out;
	mirror_list_at(mirror, rm_mono_now());
	*ret = mirror;
	return 0;
out:
	rm_etcd_mirror_free(mirror);
	return r;
}

void
rm_etcd_mirror_free(struct rm_etcd_mirror *mirror)
{
	if (mirror == NULL)
		return;
	rm_etcd_forget(mirror->etcd, mirror);
	rm_etcd_watch_free(mirror->watch);
	rm_timer_free(mirror->list_timer);
	rm_timer_free(mirror->watch_timer);
	rm_etcd_view_clear(&mirror->view);
	free(mirror);
}

void
rm_etcd_mirror_relist(struct rm_etcd_mirror *mirror)
{
	mirror_list_within(mirror, 0);
}

bool
rm_etcd_mirror_is_fresh(
    const struct rm_etcd_mirror *mirror, rm_mono_t now, int64_t within_ns)
{
	return mirror->view.synced &&
	       rm_mono_since(now, mirror->last_seen) <= within_ns;
}

int64_t
rm_etcd_mirror_revision(const struct rm_etcd_mirror *mirror)
{
	return mirror->view.synced ? mirror->view.known : 0;
}

const struct rm_etcd_mirror_counts *
rm_etcd_mirror_counts(const struct rm_etcd_mirror *mirror)
{
	return &mirror->view.counts;
}
