/*
 * pending_conns - a bounded list of the connections without a hello.
 *
 * A connection whose hello does not come in time is closed. When there are too many,
 * the oldest is closed for the newest. An honest peer sends its hello within some
 * milliseconds, so it is accepted also while thousands of others hold connections open
 * and send nothing, or one byte a second. One certificate cannot fill the list either:
 * of one identity only the newest few connections stay.
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
	struct rm_link *link; /* NULL: not in the list */
	rm_mono_t since;
	struct rm_pending_conn *older, *newer;
};

struct rm_pending_conns { /* zeroed: empty */
	struct rm_pending_conn *oldest, *newest;
	size_t count;
	uint64_t pushed_out, timed_out; /* closed by us */
};

/* Adds a new connection. May close the oldest one's link (-EUSERS), from the loop. */
void rm_pending_conns_add(struct rm_pending_conns *pending_conns,
    struct rm_pending_conn *pending_conn, struct rm_link *link, rm_mono_t now);
/* Its TLS handshake is done, so its identity is proved; the hello is still missing.
 * Call it in the link's on_open. May close the oldest link of that identity (-EUSERS).
 */
void rm_pending_conns_named(
    struct rm_pending_conns *pending_conns, const struct rm_pending_conn *pending_conn);
/* Removes it: its hello came, or it was closed. May be called for one that is not in
 * the list. */
void rm_pending_conns_remove(
    struct rm_pending_conns *pending_conns, struct rm_pending_conn *pending_conn);
/* Closes (-ETIMEDOUT) connections without a hello for too long. Call it about every
 * second. */
void rm_pending_conns_sweep(struct rm_pending_conns *pending_conns, rm_mono_t now);

#endif
