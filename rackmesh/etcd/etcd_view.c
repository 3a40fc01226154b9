#include "rackmesh/etcd/etcd_view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/etcd/etcd_keys.h"

int
rm_etcd_view_init(struct rm_etcd_view *view, const char *prefix,
    const struct rm_etcd_mirror_callbacks *callbacks)
{
	*view = (struct rm_etcd_view){ .callbacks = *callbacks };
	view->prefix = strdup(prefix);
	view->keys = rm_etcd_keys_new();
	if (view->prefix != NULL && view->keys != NULL)
		return 0;
	rm_etcd_view_clear(view);
	return -ENOMEM;
}

void
rm_etcd_view_clear(struct rm_etcd_view *view)
{
	rm_etcd_keys_free(view->keys);
	free(view->prefix);
	view->keys = NULL;
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

/* The entry of a key that is to be handed over, new or not; NULL: refused. */
static struct rm_etcd_key *
view_entry(struct rm_etcd_view *view, struct rm_etcd_key *entry, const char *name)
{
	if (entry == NULL && rm_etcd_keys_count(view->keys) < RM_ETCD_MIRROR_MAX_KEYS)
		entry = rm_etcd_keys_add(view->keys, name);
	if (entry == NULL)
		view->counts.refused_keys++;
	return entry;
}

/* ---- lists ---------------------------------------------------------------- */

void
rm_etcd_view_ask(struct rm_etcd_view *view)
{
	view->listing = true;
	view->asked = view->known;
}

/* Linearizable reads never lie behind what was known when they were asked for, unless
 * somebody dreams or etcd was restored. Events may have overtaken them since. */
enum rm_etcd_view_says
rm_etcd_view_judge(const struct rm_etcd_view *view, const struct rm_etcd_answer *list)
{
	if (view->synced && list->cluster_id != view->cluster_id)
		return RM_ETCD_VIEW_OTHER;
	if (list->revision < view->asked)
		return RM_ETCD_VIEW_BEHIND;
	for (size_t i = 0; i < list->count; i++) {
		const struct rm_etcd_value *value = &list->values[i];
		const struct rm_etcd_key *entry =
		    rm_etcd_keys_find(view->keys, value->key);

		if (value->mod_revision > list->revision)
			return RM_ETCD_VIEW_BEHIND; /* than itself */
		if (entry != NULL && !entry->deleted &&
		    value->mod_revision < entry->mod_revision &&
		    entry->mod_revision <= list->revision)
			return RM_ETCD_VIEW_BEHIND;
	}
	return RM_ETCD_VIEW_NEWER;
}

struct sweep {
	struct rm_etcd_view *view;
	int64_t revision; /* of the list */
	bool afresh;
};

static bool
forget_revision(struct rm_etcd_key *entry, void *arg)
{
	entry->mod_revision = 0;
	return !entry->deleted;
}

/* What the list did not have is gone, unless an event has put it since. */
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
	entry = rm_etcd_keys_find(view->keys, value->key);
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
		/* Its revisions count anew: equal ones need not mean equal values. */
		rm_etcd_keys_keep(view->keys, forget_revision, NULL);
		view->known = 0;
		view->counts.restarts++;
	}
	view->listing = false;
	for (size_t i = 0; i < list->count; i++)
		view_take_value(view, &list->values[i], afresh);
	rm_etcd_keys_keep(view->keys, sweep_key, &sweep);
	view->cluster_id = list->cluster_id;
	view->listed = list->revision;
	if (list->revision > view->known)
		view->known = list->revision;
	view->synced = true;
}

/* ---- events --------------------------------------------------------------- */

static bool
event_is_old(
    const struct rm_etcd_view *view, const struct rm_etcd_key *entry, int64_t revision)
{
	if (entry != NULL)
		return revision <= entry->mod_revision;
	/* A put of what may have been deleted since. */
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
	/* A list that is under way must not bring it back. */
	entry->mod_revision = revision;
	entry->deleted = true;
	if (!view->listing)
		rm_etcd_keys_remove(view->keys, entry);
}

static bool
view_take_event(struct rm_etcd_view *view, const struct rm_etcd_event *event)
{
	int64_t revision = event->value.mod_revision;
	struct rm_etcd_key *entry;
	bool ordered;

	if (!view_owns(view, event->value.key))
		return true;
	entry = rm_etcd_keys_find(view->keys, event->value.key);
	if (event_is_old(view, entry, revision)) {
		view->counts.stale++;
		/* Said twice is harmless; said late may hide more. */
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
