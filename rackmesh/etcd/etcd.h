/*
 * etcd - an etcd v3 cluster through its gRPC gateway: JSON over HTTP, on the event
 * loop.
 *
 * A failed call is not repeated: the caller decides that. Later calls go to the next
 * endpoint. The one exception is authentication: if a token is refused, the client gets
 * a new one, once, and repeats the call. Keys and values may hold any byte; keys are
 * 0-terminated.
 *
 * Sources: etcd 3.4 API reference and gRPC gateway; that it omits zeros, and reports
 * errors by codes in the body, was observed with 3.4.23.
 */
#ifndef RACKMESH_ETCD_ETCD_H
#define RACKMESH_ETCD_ETCD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/etcd/etcd_answer.h"

struct rm_etcd;
struct rm_http_client;
struct rm_loop;

struct rm_etcd_options {              /* copied */
	const char *const *endpoints; /* base URLs, "http://127.0.0.1:2379" */
	size_t endpoint_count;
	const char *user, *password; /* NULL: no authentication */
	int64_t timeout_ns;          /* of one call; 0: 2.5 s */
	uint64_t random_seed;        /* decides which endpoint is used first */
};

int rm_etcd_new(struct rm_loop *loop, struct rm_http_client *http,
    const struct rm_etcd_options *options, struct rm_etcd **ret);
/* Cancels all calls without calling done; free the watches first. */
void rm_etcd_free(struct rm_etcd *etcd);

/* Cancels all calls that were made with this arg, without calling done. Call it before
 * arg is freed. */
void rm_etcd_forget(struct rm_etcd *etcd, const void *arg);
/* Sets the time-out of later calls; 0: the time-out in the options. Use it for the few
 * calls whose answer is needed soon. */
void rm_etcd_hurry(struct rm_etcd *etcd, int64_t timeout_ns);

/* Each of these functions returns 0, and the loop calls done once later; or it returns
 * < 0 and done is never called. -EAGAIN: RM_ETCD_MAX_CALLS calls wait already; -ENOMEM;
 * -EMSGSIZE. */

/* Reads a key. prefix: reads all keys that begin with key, in order, all at one
 * revision. They are requested page by page, up to 512 MiB of text (else -EMSGSIZE).
 * Keys that contain a zero byte are left out. revision 0: the newest. stale_ok: any
 * member may answer with its own data, even if it has no quorum. */
int rm_etcd_range(struct rm_etcd *etcd, const char *key, bool prefix, int64_t revision,
    bool stale_ok, rm_etcd_done *done, void *arg);

int rm_etcd_txn(struct rm_etcd *etcd, const struct rm_etcd_compare *compares,
    size_t compare_count, const struct rm_etcd_op *ops, size_t op_count,
    rm_etcd_done *done, void *arg);

/* Drops the history of the whole cluster before that revision. Keys stay; a watch or
 * read from an older revision fails with -ESTALE afterwards. */
int rm_etcd_compact(
    struct rm_etcd *etcd, int64_t revision, rm_etcd_done *done, void *arg);

int rm_etcd_lease_grant(
    struct rm_etcd *etcd, int64_t ttl_s, rm_etcd_done *done, void *arg);
int rm_etcd_lease_keepalive(
    struct rm_etcd *etcd, int64_t lease, rm_etcd_done *done, void *arg);
int rm_etcd_lease_revoke(
    struct rm_etcd *etcd, int64_t lease, rm_etcd_done *done, void *arg);
/* Revokes a lease and waits at most 300 ms for the answer. Call it at the end of a
 * program, when its loop does not run any more. */
void rm_etcd_lease_revoke_now(struct rm_etcd *etcd, int64_t lease);

/* ---- watching ------------------------------------------------------------- */

struct rm_etcd_watch;

/* Each of these functions may free the watch. */
struct rm_etcd_watch_callbacks {
	/* Gets all events of one line of the stream; a transaction is never split over
	 * two lines. revision: from the header of the line. */
	void (*on_events)(const struct rm_etcd_event *events, size_t count,
	    uint64_t cluster_id, int64_t revision, void *arg);
	/* The stream works, and has no new events. on_events has got all events up to
	 * revision. */
	void (*on_progress)(uint64_t cluster_id, int64_t revision, void *arg);
	/* The stream has ended: free the watch. r: as in rm_etcd_answer, or -ESTALE:
	 * the revision was compacted, or the store was restored to a revision before
	 * `from`, or it is another store; -ECANCELED: the server canceled the watch for
	 * another reason; -ETIMEDOUT: nothing has arrived for too long; -EPROTO: a
	 * malformed line, or events of a revision that does not exist; -ENOBUFS: a line
	 * of more than 64 MiB. */
	void (*on_end)(int r, const char *error, void *arg);
};

/*
 * Watches all keys below prefix, from revision `from` on.
 *
 * The gateway takes no second request on a stream, so the client cannot request
 * progress on it. Instead, every silence_ns / 3, a linearizable read of one key goes to
 * the member that serves the stream; that member answers only if it has a quorum.
 * Without an answer for silence_ns the watch ends. Such a read also confirms events:
 * each event is held until a read has shown that its revision exists (the read is sent
 * at once, so this costs one round trip). No read can show whether the stream holds
 * back events: list again from time to time.
 */
int rm_etcd_watch_new(struct rm_etcd *etcd, const char *prefix, int64_t from,
    int64_t silence_ns, const struct rm_etcd_watch_callbacks *callbacks, void *arg,
    struct rm_etcd_watch **ret);
void rm_etcd_watch_free(struct rm_etcd_watch *watch);

const struct rm_etcd_counts *rm_etcd_counts(const struct rm_etcd *etcd);
const char *rm_etcd_endpoint(
    const struct rm_etcd *etcd); /* Returns the endpoint in use. */

#endif
