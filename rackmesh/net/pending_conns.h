/*
 * pending_conns - links of whom nobody knows yet who they are, within a bound.
 *
 * Who connects and does not say who it is in time is closed. When too many are at the
 * door, the one that has stood there longest makes room for the newest: an honest peer
 * is known within some milliseconds, so it is let in also while thousands hold
 * connections open and say nothing, or one byte a second. Nor can one certificate fill
 * the door: of one identity only the newest few stand there.
 *
 * The owner embeds a struct rm_pending_conn in its session, zeroed.
 */
#ifndef RACKMESH_NET_PENDING_CONNS_H
#define RACKMESH_NET_PENDING_CONNS_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

#define RM_PENDING_CONNS_MAX 256
#define RM_PENDING_CONNS_SAME_MAX 4 /* of one identity */
#define RM_PENDING_CONNS_PATIENCE_NS (5 * RM_NS_PER_S)

struct rm_link;

struct rm_pending_conn {
	struct rm_link *link; /* NULL: it is none */
	rm_mono_t since;
	struct rm_pending_conn *older, *newer;
};

struct rm_pending_conns { /* zeroed: nobody */
	struct rm_pending_conn *oldest, *newest;
	size_t count;
	uint64_t pushed_out, timed_out; /* closed by us */
};

/* At the door since now. May close the oldest one's link (-EUSERS), from the loop. */
void rm_pending_conns_add(struct rm_pending_conns *pending_conns,
    struct rm_pending_conn *pending_conn, struct rm_link *link, rm_mono_t now);
/* Its link's handshake is done: who it says it is, is proved, not yet what it wants.
 * Call it in the link's on_open. May close the oldest link of that identity (-EUSERS).
 */
void rm_pending_conns_named(
    struct rm_pending_conns *pending_conns, const struct rm_pending_conn *pending_conn);
/* It is known, or gone. One that is none is fine. */
void rm_pending_conns_remove(
    struct rm_pending_conns *pending_conns, struct rm_pending_conn *pending_conn);
/* Closes (-ETIMEDOUT) who has stood there too long. Every second or so. */
void rm_pending_conns_sweep(struct rm_pending_conns *pending_conns, rm_mono_t now);

#endif
