/*
 * server - the connections that a daemon has accepted, from the socket to their end.
 *
 * Their number is bounded. A connection is pending (pending_conns.h) until the daemon
 * accepts its hello. Few connections may be pending at once, each for a short time. The
 * daemon's session is a struct of its own that contains a struct rm_conn: the server
 * allocates it zeroed with every connection, and frees it when the connection has
 * ended.
 */
#ifndef RACKMESH_NET_SERVER_H
#define RACKMESH_NET_SERVER_H

#include "rackmesh/net/link.h"
#include "rackmesh/net/pending_conns.h"

struct rm_address;

struct rm_conn {
	struct rm_server *server;
	struct rm_link *link;
	struct rm_conn *next, *previous;
	struct rm_pending_conn pending_conn;
};

struct rm_server_options {
	struct rm_loop *loop;
	struct rm_link_limits limits; /* limits.accepting is ignored */
	size_t max_conns;
	size_t session_bytes; /* size of the daemon's session struct */
	size_t conn_offset;   /* offset of the struct rm_conn in it */
	int user_timeout_ms;  /* TCP_USER_TIMEOUT; 0: the kernel's default */
	/* A connection was accepted: fill in its session, which is zeroed. */
	void (*on_accept)(void *session, const struct rm_address *peer, void *arg);
	/* As in rm_link_callbacks. The session is freed after on_close. */
	int (*on_frame)(
	    struct rm_link *link, const uint8_t *data, size_t len, void *session);
	void (*on_close)(struct rm_link *link, int reason, void *session);
	/* Frees what the session has allocated; the link still exists. */
	void (*on_free)(void *session);
	void *arg;
};

/* Private to server.c, except for the counts. */
struct rm_server {
	struct rm_server_options options;
	struct rm_conn *first;
	struct rm_pending_conns pending_conns;
	uint64_t count;               /* connections now */
	uint64_t accepted;            /* since the start */
	uint64_t refused;             /* connections refused: too many, or no memory */
	struct rm_link_counts closed; /* counts of the connections that have ended */
};

void rm_server_init(struct rm_server *server, const struct rm_server_options *options);
/* Ends all connections without calling on_close. */
void rm_server_clear(struct rm_server *server);

/* Pass it to rm_listener_new as on_accept, with the server as arg. */
int rm_server_accept(int fd, const struct rm_address *peer, void *arg);
/* The daemon has accepted the hello: the connection is not pending any more. */
void rm_server_settled(struct rm_conn *conn);
/* Ends a connection at once and frees its session, without calling on_close. */
void rm_server_end(struct rm_conn *conn);
/* Closes connections that have been pending for too long. Call it about once a
 * second. */
void rm_server_sweep(struct rm_server *server, rm_mono_t now);

/* The sessions, the newest first; NULL: no more. */
void *rm_server_first(const struct rm_server *server);
void *rm_server_next(const struct rm_server *server, const struct rm_conn *conn);

/* Sum over all connections, also those that have ended. */
struct rm_link_counts rm_server_traffic(const struct rm_server *server);

/* Logs the end of a connection, for on_close. name: the peer's name; NULL: the peer had
 * no session. The end of a refused peer (-EPERM) is not logged, as the refusal was. */
void rm_server_log_end(
    struct rm_link *link, const struct rm_address *peer, int reason, const char *name);

#endif
