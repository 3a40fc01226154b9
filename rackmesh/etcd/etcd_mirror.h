/*
 * etcd_mirror - all keys below a prefix, kept as they are in etcd: list, then watch.
 *
 * After a break the watch resumes by revision. If it was canceled, compacted or silent,
 * the mirror lists all keys and reports the differences. It also lists every relist_ns,
 * which corrects events that a watch has lost, repeated, reordered or invented. Within
 * one cluster a key's mod_revision never goes back; if the list of a member is older
 * than the mirror, the mirror asks the next member. With another cluster_id, or when a
 * list is older for the third time in a row (a restored snapshot), the mirror starts
 * anew: it reports all keys again, whatever their revisions.
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
	int64_t silence_ns; /* a watch that is silent for so long is dead; 0: 3 s */
};

struct rm_etcd_mirror_callbacks {
	/* A key is new, or has another mod_revision than the last one reported. Never
	 * called from inside a function of this header. The callbacks must not free the
	 * mirror. */
	void (*on_put)(const struct rm_etcd_value *value, void *arg);
	void (*on_delete)(const char *key, void *arg);
	/* All changes up to this revision were reported. Called after every list and
	 * every batch of events. */
	void (*on_synced)(int64_t revision, void *arg);
	void *arg;
};

struct rm_etcd_mirror_counts {
	uint64_t lists, watches, breaks; /* breaks of the watch, for any reason */
	uint64_t puts, deletes;          /* handed over */
	uint64_t healed;                 /* differences found only by a list */
	uint64_t stale;        /* events and lists older than what was known: ignored */
	uint64_t restarts;     /* another cluster, or a restored one */
	uint64_t refused_keys; /* beyond the bound */
};

int rm_etcd_mirror_new(struct rm_loop *loop, struct rm_etcd *etcd,
    const struct rm_etcd_mirror_options *options,
    const struct rm_etcd_mirror_callbacks *callbacks, struct rm_etcd_mirror **ret);
void rm_etcd_mirror_free(struct rm_etcd_mirror *mirror);

/* Lists now. */
void rm_etcd_mirror_relist(struct rm_etcd_mirror *mirror);

/* True: all keys were reported at least once, and etcd answered within the last
 * `within_ns`.
 */
bool rm_etcd_mirror_is_fresh(
    const struct rm_etcd_mirror *mirror, rm_mono_t now, int64_t within_ns);
int64_t rm_etcd_mirror_revision(const struct rm_etcd_mirror *mirror); /* 0: none yet */
const struct rm_etcd_mirror_counts *rm_etcd_mirror_counts(
    const struct rm_etcd_mirror *mirror);

/* The keys that a mirror has reported; decides which of a list or an event are new.
 * Pure; private to etcd_mirror. A key's revision never goes back, except with a list
 * that starts anew. */
struct rm_etcd_key;

struct rm_etcd_view {
	char *prefix;
	struct rm_etcd_key *keys; /* a hash table; NULL: none */
	struct rm_etcd_mirror_callbacks callbacks;
	struct rm_etcd_mirror_counts counts;
	bool synced;   /* a list has been taken */
	bool listing;  /* a list was requested: keys deleted meanwhile are noted */
	int64_t asked; /* known when it was asked for */
	uint64_t cluster_id; /* of the last list */
	int64_t listed;      /* its revision */
	int64_t known;       /* everything up to this revision was reported */
};

int rm_etcd_view_init(struct rm_etcd_view *view, const char *prefix,
    const struct rm_etcd_mirror_callbacks *callbacks);
void rm_etcd_view_clear(struct rm_etcd_view *view);

enum rm_etcd_view_status {
	RM_ETCD_VIEW_NEWER,
	RM_ETCD_VIEW_BEHIND, /* older than what was reported: ask again */
	RM_ETCD_VIEW_OTHER,  /* of another cluster: start anew */
};

/* Call it when a list is requested. */
void rm_etcd_view_ask(struct rm_etcd_view *view);
enum rm_etcd_view_status rm_etcd_view_judge(
    const struct rm_etcd_view *view, const struct rm_etcd_answer *list);
/* afresh: accept all of the list, and report all keys. */
void rm_etcd_view_take_list(
    struct rm_etcd_view *view, const struct rm_etcd_answer *list, bool afresh);

/* False: the events are out of order; list soon. */
bool rm_etcd_view_take_events(
    struct rm_etcd_view *view, const struct rm_etcd_event *events, size_t count);

#endif
