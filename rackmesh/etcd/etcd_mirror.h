/*
 * etcd_mirror - all keys below a prefix, kept as they are in etcd: list, then watch.
 *
 * The watch resumes by revision after every break; canceled, compacted or silent, it
 * lists again and hands over the difference. It lists anyway every relist_ns, which
 * heals whatever a watch has lost, doubled, disordered or dreamt up. Within one cluster
 * a key's mod_revision never goes back; a list that comes from a member behind what is
 * known already is asked for again, of the next member. Another cluster_id, or a list
 * that lies behind for the third time in a row (a restored snapshot), starts afresh:
 * all keys are handed over again, whatever their revisions.
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
	int64_t silence_ns; /* 0: 3 s: a watch that says nothing for so long is dead */
};

struct rm_etcd_mirror_callbacks {
	/* New, or another mod_revision than was handed over last. Not from inside any
	 * function here. The mirror must not be freed in them. */
	void (*on_put)(const struct rm_etcd_value *value, void *arg);
	void (*on_delete)(const char *key, void *arg);
	/* All up to this revision has been handed over: after every list, and after
	 * every batch of events. */
	void (*on_synced)(int64_t revision, void *arg);
	void *arg;
};

struct rm_etcd_mirror_counts {
	uint64_t lists, watches, breaks; /* breaks of the watch, for any reason */
	uint64_t puts, deletes;          /* handed over */
	uint64_t healed;                 /* differences that only a list has shown */
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

/* Has all been handed over at least once, and has etcd been heard within `within_ns`?
 */
bool rm_etcd_mirror_is_fresh(
    const struct rm_etcd_mirror *mirror, rm_mono_t now, int64_t within_ns);
int64_t rm_etcd_mirror_revision(const struct rm_etcd_mirror *mirror); /* 0: none yet */
const struct rm_etcd_mirror_counts *rm_etcd_mirror_counts(
    const struct rm_etcd_mirror *mirror);

/* What a mirror has handed over, and what of a list or an event is news to it. Pure;
 * private to etcd_mirror.  A key's revision never goes back, except with a list that is
 * taken afresh. */
struct rm_etcd_keys;

struct rm_etcd_view {
	char *prefix;
	struct rm_etcd_keys *keys;
	struct rm_etcd_mirror_callbacks callbacks;
	struct rm_etcd_mirror_counts counts;
	bool synced;         /* a list has been taken */
	bool listing;        /* one is under way: remember what is deleted meanwhile */
	int64_t asked;       /* known when it was asked for */
	uint64_t cluster_id; /* of the last list */
	int64_t listed;      /* its revision */
	int64_t known;       /* everything up to here has been handed over */
};

int rm_etcd_view_init(struct rm_etcd_view *view, const char *prefix,
    const struct rm_etcd_mirror_callbacks *callbacks);
void rm_etcd_view_clear(struct rm_etcd_view *view);

enum rm_etcd_view_status {
	RM_ETCD_VIEW_NEWER,
	RM_ETCD_VIEW_BEHIND, /* older than what has been handed over: ask again */
	RM_ETCD_VIEW_OTHER,  /* of another cluster: to be taken afresh */
};

/* A list is under way from now on. */
void rm_etcd_view_ask(struct rm_etcd_view *view);
enum rm_etcd_view_status rm_etcd_view_judge(
    const struct rm_etcd_view *view, const struct rm_etcd_answer *list);
/* afresh: believe all of it, and hand over all. */
void rm_etcd_view_take_list(
    struct rm_etcd_view *view, const struct rm_etcd_answer *list, bool afresh);

/* False: there is disorder in it; a list should follow soon. */
bool rm_etcd_view_take_events(
    struct rm_etcd_view *view, const struct rm_etcd_event *events, size_t count);

#endif
