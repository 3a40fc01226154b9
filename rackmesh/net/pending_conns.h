/*
 * pending_conns - a bounded list of the connections without a hello.
 *
 * A connection that sends no hello in time is closed. When the list is full, a new
 * connection replaces the oldest one. An honest peer sends its hello within some
 * milliseconds, so it is accepted even while thousands of others hold connections open
 * and send nothing, or one byte a second. The owner of one certificate cannot fill the
 * list, either: of one identity only the newest few connections stay.
 *
 * The owner embeds a struct rm_pending_conn in its session, zeroed.
 */
#ifndef RACKMESH_NET_PENDING_CONNS_H
#define RACKMESH_NET_PENDING_CONNS_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

#define RM_PENDING_CONNS_MAX 256
/* maximum number of connections of one identity */
#define RM_PENDING_CONNS_SAME_MAX 4
#define RM_PENDING_CONNS_PATIENCE_NS (5 * RM_NS_PER_S)

struct rm_link;

struct rm_pending_conn {
	struct rm_link *link; /* NULL: the connection is not in the list */
	rm_mono_t since;
	struct rm_pending_conn *older, *newer;
};

struct rm_pending_conns { /* zeroed: empty */
	struct rm_pending_conn *oldest, *newest;
	size_t count;
	uint64_t pushed_out, timed_out; /* connections that this module has closed */
};

/* Adds a new connection. If the list is full, the link of the oldest one is closed
 * (-EUSERS), from the loop. */
void rm_pending_conns_add(struct rm_pending_conns *pending_conns,
    struct rm_pending_conn *pending_conn, struct rm_link *link, rm_mono_t now);
/* The TLS handshake of the connection has proved its identity, and the hello is still
 * missing: call it in the link's on_open. If the identity has too many connections, the
 * link of its oldest one is closed (-EUSERS). */
void rm_pending_conns_named(
    struct rm_pending_conns *pending_conns, const struct rm_pending_conn *pending_conn);
/* Removes a connection, after its hello or its end. It need not be in the list. */
void rm_pending_conns_remove(
    struct rm_pending_conns *pending_conns, struct rm_pending_conn *pending_conn);
/* Closes connections that have sent no hello for too long (-ETIMEDOUT). Call it about
 * once a second. */
void rm_pending_conns_sweep(struct rm_pending_conns *pending_conns, rm_mono_t now);

#endif
