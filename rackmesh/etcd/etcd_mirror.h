/*
 * etcd_mirror - a copy of all keys below a prefix in etcd: first a list, then a watch.
 *
 * After a break the watch resumes by revision. If it was canceled, compacted or silent,
 * the mirror lists all keys and reports the differences. The mirror also lists all keys
 * every relist_ns. This corrects the copy if a watch has lost, repeated, reordered or
 * invented events. Within one cluster a key's mod_revision never goes back; if the list
 * of a member is older than the mirror, the mirror asks the next member. With another
 * cluster_id, or when a list is older for the third time in a row (a restored
 * snapshot), the mirror starts anew: it reports all keys again, whatever their
 * revisions.
 */
#ifndef RACKMESH_ETCD_ETCD_MIRROR_H
#define RACKMESH_ETCD_ETCD_MIRROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/etcd/etcd.h"

#define RM_ETCD_MIRROR_MAX_KEYS 262144

struct rm_etcd_mirror;

struct rm_etcd_mirror_options {
	const char *prefix; /* copied; "/rackmesh/lab/" */
	int64_t relist_ns;  /* 0: 30 s */
	/* a watch that gets no message for this long is ended; 0: 3 s */
	int64_t silence_ns;
};

struct rm_etcd_mirror_callbacks {
	/* A key is new, or its mod_revision differs from the one last reported. The
	 * callbacks are never called from inside a function of this header, and must
	 * not free the mirror. */
	void (*on_put)(const struct rm_etcd_value *value, void *arg);
	void (*on_delete)(const char *key, void *arg);
	/* All changes up to this revision were reported. Called after every list and
	 * every batch of events. */
	void (*on_synced)(int64_t revision, void *arg);
	void *arg;
};

struct rm_etcd_mirror_counts {
	uint64_t lists, watches, breaks; /* breaks of the watch, for any reason */
	uint64_t puts, deletes;          /* reported */
	/* differences that no watch has reported, but a list has shown */
	uint64_t healed;
	/* events and lists older than the known state, which were ignored */
	uint64_t stale;
	/* times that the mirror started anew, with another or a restored cluster */
	uint64_t restarts;
	uint64_t refused_keys; /* keys beyond the limit */
};

int rm_etcd_mirror_new(struct rm_loop *loop, struct rm_etcd *etcd,
    const struct rm_etcd_mirror_options *options,
    const struct rm_etcd_mirror_callbacks *callbacks, struct rm_etcd_mirror **ret);
void rm_etcd_mirror_free(struct rm_etcd_mirror *mirror);

/* Requests a list now. */
void rm_etcd_mirror_relist(struct rm_etcd_mirror *mirror);

/* True: all keys were reported at least once, and etcd answered within the last
 * `within_ns`.
 */
bool rm_etcd_mirror_is_fresh(
    const struct rm_etcd_mirror *mirror, rm_mono_t now, int64_t within_ns);
/* 0: no list has arrived yet */
int64_t rm_etcd_mirror_revision(const struct rm_etcd_mirror *mirror);
const struct rm_etcd_mirror_counts *rm_etcd_mirror_counts(
    const struct rm_etcd_mirror *mirror);

/* The keys that a mirror has reported, from which it decides what in a list or an event
 * is new. Pure; private to etcd_mirror. The revision of a key never decreases, unless a
 * list starts the mirror anew. */
struct rm_etcd_key;

struct rm_etcd_view {
	char *prefix;
	struct rm_etcd_key *keys; /* a hash table; NULL: none */
	struct rm_etcd_mirror_callbacks callbacks;
	struct rm_etcd_mirror_counts counts;
	bool synced; /* at least one list was applied */
	/* a list was requested: keys that are deleted until it arrives are noted */
	bool listing;
	int64_t asked;       /* value of `known` when the list was requested */
	uint64_t cluster_id; /* cluster of the last list */
	int64_t listed;      /* revision of the last list */
	int64_t known;       /* all changes up to this revision were reported */
};

int rm_etcd_view_init(struct rm_etcd_view *view, const char *prefix,
    const struct rm_etcd_mirror_callbacks *callbacks);
void rm_etcd_view_clear(struct rm_etcd_view *view);

enum rm_etcd_view_status {
	RM_ETCD_VIEW_NEWER,
	/* the list is older than what was reported: request another list */
	RM_ETCD_VIEW_BEHIND,
	RM_ETCD_VIEW_OTHER, /* the list is of another cluster: begin with an empty view
			     */
};

/* Call it when a list is requested. */
void rm_etcd_view_ask(struct rm_etcd_view *view);
enum rm_etcd_view_status rm_etcd_view_judge(
    const struct rm_etcd_view *view, const struct rm_etcd_answer *list);
/* afresh: true accepts all values of the list, and reports all keys. */
void rm_etcd_view_take_list(
    struct rm_etcd_view *view, const struct rm_etcd_answer *list, bool afresh);

/* False: events came out of order, so request a list soon. */
bool rm_etcd_view_take_events(
    struct rm_etcd_view *view, const struct rm_etcd_event *events, size_t count);

#endif
