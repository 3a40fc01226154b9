/*
 * etcd_view - what a mirror has handed over, and what of a list or an event is news to
 * it. Pure; private to etcd_mirror.
 *
 * A key's revision never goes back, except with a list that is taken afresh.
 */
#ifndef RACKMESH_ETCD_ETCD_VIEW_H
#define RACKMESH_ETCD_ETCD_VIEW_H

#include "rackmesh/etcd/etcd_mirror.h"

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

enum rm_etcd_view_says {
	RM_ETCD_VIEW_NEWER,
	RM_ETCD_VIEW_BEHIND, /* older than what has been handed over: ask again */
	RM_ETCD_VIEW_OTHER,  /* of another cluster: to be taken afresh */
};

/* A list is under way from now on. */
void rm_etcd_view_ask(struct rm_etcd_view *view);
enum rm_etcd_view_says rm_etcd_view_judge(
    const struct rm_etcd_view *view, const struct rm_etcd_answer *list);
/* afresh: believe all of it, and hand over all. */
void rm_etcd_view_take_list(
    struct rm_etcd_view *view, const struct rm_etcd_answer *list, bool afresh);

/* False: there is disorder in it; a list should follow soon. */
bool rm_etcd_view_take_events(
    struct rm_etcd_view *view, const struct rm_etcd_event *events, size_t count);

#endif
