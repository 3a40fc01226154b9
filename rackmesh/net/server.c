#include "rackmesh/net/server.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rackmesh/core/address.h"
#include "rackmesh/core/log.h"

static void *
session_of(const struct rm_server *server, const struct rm_conn *conn)
{
	return conn == NULL ? NULL : (char *)conn - server->options.conn_offset;
}

static void
add_counts(struct rm_link_counts *sum, const struct rm_link_counts *more)
{
	sum->frames_in += more->frames_in;
	sum->bytes_in += more->bytes_in;
	sum->frames_out += more->frames_out;
	sum->bytes_out += more->bytes_out;
	sum->refused_frames += more->refused_frames;
	sum->slow_frames += more->slow_frames;
	sum->refused_sends += more->refused_sends;
}

void
rm_server_init(struct rm_server *server, const struct rm_server_options *options)
{
	*server = (struct rm_server){ .options = *options };
	server->options.limits.accepting = true;
}

void
rm_server_clear(struct rm_server *server)
{
	while (server->first != NULL)
		rm_server_end(server->first);
}

void
rm_server_end(struct rm_conn *conn)
{
	struct rm_server *server = conn->server;
	void *session = session_of(server, conn);

	if (conn->previous != NULL)
		conn->previous->next = conn->next;
	else
		server->first = conn->next;
	if (conn->next != NULL)
		conn->next->previous = conn->previous;
	server->count--;
	rm_pending_conns_remove(&server->pending_conns, &conn->pending_conn);
	server->options.on_free(session);
	add_counts(&server->closed, rm_link_counts(conn->link));
	rm_link_free(conn->link);
	free(session);
}

static int
on_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	struct rm_conn *conn = arg;
	const struct rm_server *server = conn->server;

	return server->options.on_frame(link, data, len, session_of(server, conn));
}

static void
on_close(struct rm_link *link, int reason, void *arg)
{
	struct rm_conn *conn = arg;
	const struct rm_server *server = conn->server;

	server->options.on_close(link, reason, session_of(server, conn));
	rm_server_end(conn);
}

static int
on_open(struct rm_link *link, void *arg)
{
	struct rm_conn *conn = arg;

	(void)link;
	rm_pending_conns_named(&conn->server->pending_conns, &conn->pending_conn);
	return 0;
}

static const struct rm_link_callbacks link_callbacks = {
	.on_frame = on_frame,
	.on_close = on_close,
	.on_open = on_open,
};

int
rm_server_accept(int fd, const struct rm_address *peer, void *arg)
{
	struct rm_server *server = arg;
	const struct rm_server_options *options = &server->options;
	struct rm_conn *conn;
	void *session = NULL;
	int r;

	if (server->count < options->max_conns)
		session = calloc(1, options->session_bytes);
	if (session == NULL) {
		server->refused++;
		close(fd);
		return -ENOBUFS;
	}
	if (options->user_timeout_ms != 0)
		(void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT,
		    &options->user_timeout_ms, sizeof(options->user_timeout_ms));
	conn = (struct rm_conn *)((char *)session + options->conn_offset);
	conn->server = server;
	r = rm_link_new(
	    options->loop, fd, &options->limits, &link_callbacks, conn, &conn->link);
	if (r < 0) {
		server->refused++;
		free(session);
		return r;
	}
	conn->next = server->first;
	if (conn->next != NULL)
		conn->next->previous = conn;
	server->first = conn;
	server->count++;
	server->accepted++;
	rm_pending_conns_add(
	    &server->pending_conns, &conn->pending_conn, conn->link, rm_mono_now());
	options->on_accept(session, peer, options->arg);
	return 0;
}

void
rm_server_settled(struct rm_conn *conn)
{
	rm_pending_conns_remove(&conn->server->pending_conns, &conn->pending_conn);
}

void
rm_server_sweep(struct rm_server *server, rm_mono_t now)
{
	rm_pending_conns_sweep(&server->pending_conns, now);
}

void *
rm_server_first(const struct rm_server *server)
{
	return session_of(server, server->first);
}

void *
rm_server_next(const struct rm_server *server, const struct rm_conn *conn)
{
	return session_of(server, conn->next);
}

struct rm_link_counts
rm_server_traffic(const struct rm_server *server)
{
	struct rm_link_counts sum = server->closed;

	for (const struct rm_conn *conn = server->first; conn != NULL;
	     conn = conn->next)
		add_counts(&sum, rm_link_counts(conn->link));
	return sum;
}

void
rm_server_log_end(
    struct rm_link *link, const struct rm_address *peer, int reason, const char *name)
{
	char text[RM_ADDRESS_TEXT];

	rm_address_format(peer, text);
	if (name != NULL)
		rm_log_at(reason == 0 ? RM_LOG_INFO : RM_LOG_WARNING, __FILE__,
		    __LINE__, reason, "%s (%s): disconnected", name, text);
	else if (reason != -EPERM)
		rm_log_warn(reason, "%s: disconnected before a hello%s%s", text,
		    rm_link_error(link)[0] != '\0' ? ": " : "", rm_link_error(link));
}
