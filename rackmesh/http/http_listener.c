#include "rackmesh/http/http_listener.h"

#include <errno.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "rackmesh/core/address.h"
#include "rackmesh/core/log.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/turn.h"
#include "rackmesh/tls/tls.h"
#include "rackmesh/tls/tls_state.h"

struct rm_address;
struct rm_http_listener;

static void listener_on_accept_error(struct evconnlistener *listener, void *evhttps);

static const char *
http_socket_path(const struct rm_address *address)
{
	const struct sockaddr_un *un = (const void *)&address->storage;

	return un->sun_family == AF_UNIX ? un->sun_path : NULL;
}

/* Returns a bound socket that does not listen yet, so that nobody can connect to a Unix
 * socket before its chmod. The caller closes it. */
static int
http_socket_bind(const struct rm_address *address, int *ret)
{
	const struct sockaddr *sa = (const void *)&address->storage;
	const char *path = http_socket_path(address);
	struct stat st;
	int fd, r = 0, on = 1;

	/* Deletes only a socket: a mistake in the config must not delete a file. */
	if (path != NULL && lstat(path, &st) == 0) {
		if (!S_ISSOCK(st.st_mode))
			return -EEXIST;
		unlink(path);
	}
	fd = socket(sa->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (path == NULL &&
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0)
		r = -errno;
	if (r == 0 && sa->sa_family == AF_INET6 &&
	    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) < 0)
		r = -errno;
	if (r == 0 && bind(fd, sa, address->len) < 0)
		r = -errno;
	if (r == 0 && path != NULL && chmod(path, 0600) < 0)
		r = -errno;
	if (r < 0) {
		close(fd);
		return r;
	}
	*ret = fd;
	return 0;
}

/* port of a TCP socket */
static int
http_socket_port(int fd)
{
	struct sockaddr_storage storage;
	socklen_t len = sizeof(storage);

	if (getsockname(fd, (void *)&storage, &len) < 0)
		return -errno;
	/* The port is at the same offset for both families. */
	return ntohs(((struct sockaddr_in *)&storage)->sin_port);
}

/* Makes the bufferevent of a connection that is about to be accepted. NULL: out of
 * memory. on_shaken is called at each step of the handshake; the application data of
 * ssl is the listener. */
static struct bufferevent *
http_tls_new(struct event_base *base, struct rm_tls *tls,
    struct rm_http_listener *listener,
    void (*on_shaken)(const SSL *ssl, int where, int r))
{
	SSL *ssl = rm_tls_accepting(tls);
	struct bufferevent *bev;

	if (ssl == NULL)
		return NULL;
	/* Accepts a client without a certificate, so that it can get an answer with a
	 * reason, or send a token: for a failed handshake a browser only shows an
	 * unclear error. A bad certificate fails the handshake. */
	SSL_set_verify(ssl, SSL_VERIFY_PEER, NULL);
	SSL_set_app_data(ssl, listener);
	SSL_set_info_callback(ssl, on_shaken);
	/* The bufferevent frees ssl, only with this option. */
	bev = bufferevent_openssl_socket_new(
	    base, -1, ssl, BUFFEREVENT_SSL_ACCEPTING, BEV_OPT_CLOSE_ON_FREE);
	if (bev == NULL) {
		SSL_free(ssl);
		return NULL;
	}
	/* The length of a message is in HTTP, so it does no harm if TLS's end of the
	 * stream is missing. */
	bufferevent_openssl_set_allow_dirty_shutdown(bev, 1);
	return bev;
}

/* true: the connection is still in the handshake */
static bool
http_tls_in_handshake(struct bufferevent *bev)
{
	return !SSL_is_init_finished(bufferevent_openssl_get_ssl(bev));
}

/* Counts the result of a handshake. late: the handshake is about to be ended because it
 * takes too long. */
static void
http_tls_count(struct rm_tls *tls, struct bufferevent *bev, bool late)
{
	const SSL *ssl = bufferevent_openssl_get_ssl(bev);

	if (SSL_is_init_finished(ssl))
		tls_handshake_done(tls);
	else if (late)
		tls_handshake_late(tls, NULL);
	else
		tls_handshake_failed(
		    tls, ssl, bufferevent_get_openssl_error(bev), NULL);
}

int
http_tls_identity(const struct rm_tls *tls, struct evhttp_request *req,
    char identity[RM_TLS_MAX_IDENTITY])
{
	struct evhttp_connection *connection = evhttp_request_get_connection(req);
	const SSL *ssl;

	identity[0] = '\0';
	if (connection == NULL)
		return -EACCES;
	ssl =
	    bufferevent_openssl_get_ssl(evhttp_connection_get_bufferevent(connection));
	if (ssl == NULL)
		return -EACCES;
	if (SSL_get0_peer_certificate(ssl) == NULL)
		return -ENOENT;
	if (rm_tls_identity(ssl, identity) < 0)
		return -EACCES;
	/* A connection may be open for days, so the certificate is checked again. */
	return rm_tls_still_good(tls, ssl) ? 0 : -EACCES;
}

void
http_tls_refuses(struct rm_tls *tls, struct evhttp_request *req)
{
	struct evhttp_connection *connection = evhttp_request_get_connection(req);
	char *address = NULL;
	ev_uint16_t port;

	/* Otherwise connections of refused clients could occupy all slots. */
	evhttp_add_header(
	    evhttp_request_get_output_headers(req), "Connection", "close");
	tls_request_refused(tls);
	if (connection != NULL)
		evhttp_connection_get_peer(connection, &address, &port);
	rm_log_warn(0,
	    "http: request refused: %s has neither a certificate nor a token that is "
	    "allowed",
	    address != NULL ? address : "nowhere");
}

#define LISTENER_MAX_HEADERS (8 << 10)
#define LISTENER_MAX_BODY (64 << 10)
/* Largest body of a client without a certificate: a viewer's token only allows reading,
 * which needs no body. */
#define LISTENER_MAX_UNKNOWN_BODY (1 << 10)
#define LISTENER_MAX_CONNECTIONS 64
#define LISTENER_MAX_SOCKETS 4
#define LISTENER_SILENCE_S 10
#define LISTENER_STOP_NS (100 * RM_NS_PER_MS)
/* Time between two checks of all connections. */
#define LISTENER_LOOK_NS (250 * RM_NS_PER_MS)
/* Longest time from the accept, or from the last answer, to the end of the request. */
#define LISTENER_REQUEST_NS (10 * RM_NS_PER_S)
/* The same limit while all connections are in use. */
#define LISTENER_CROWDED_NS (1 * RM_NS_PER_S)
/* Longest time from the request to the end of its answer: some answers take 10 s to
 * make, and the client may read slowly. */
#define LISTENER_ANSWER_NS (60 * RM_NS_PER_S)
#define LISTENER_METHODS                                                       \
	(EVHTTP_REQ_GET | EVHTTP_REQ_HEAD | EVHTTP_REQ_POST | EVHTTP_REQ_PUT | \
	    EVHTTP_REQ_DELETE | EVHTTP_REQ_OPTIONS | EVHTTP_REQ_TRACE |        \
	    EVHTTP_REQ_CONNECT | EVHTTP_REQ_PATCH)

enum phase { IN_HANDSHAKE, READS_REQUEST, SENDS_ANSWER };

/* A connection of evhttp. At first only its bufferevent is known. */
struct slot {
	/* holds a reference until the connection is known */
	struct bufferevent *unbound;
	struct evhttp_connection *connection;
	enum phase phase;
	rm_mono_t since;
};

struct listener {
	struct evconnlistener *listener; /* freed by evhttp */
	struct rm_address address;
};

struct rm_http_listener {
	struct event_base *base;
	struct rm_tls *tls;
	struct rm_timer *look;
	bool looks; /* the timer is running */
	struct evhttp *http;
	struct event *bind;
	/* the turn in which another connection is accepted when the loop is idle */
	struct rm_turn turn;
	/* set when no file descriptors are left: the listener accepts again when it
	 * fires */
	struct rm_timer *pause;
	struct slot slots[LISTENER_MAX_CONNECTIONS];
	size_t used;
	struct listener listeners[LISTENER_MAX_SOCKETS];
	size_t listener_count;
	struct http_listener_counts *counts;
	void (*on_request)(struct evhttp_request *req, void *arg);
	void *arg;
	struct rm_http_listener *next;
};

static struct rm_http_listener *all_faces; /* for listener_on_accept_error */

static void
listener_take(void *arg)
{
	struct rm_http_listener *listener = arg;

	if (listener->used == LISTENER_MAX_CONNECTIONS)
		return; /* accept no more until a connection closes */
	for (size_t i = 0; i < listener->listener_count; i++)
		evconnlistener_enable(listener->listeners[i].listener);
}

static void
listener_accept_no_more(struct rm_http_listener *listener)
{
	for (size_t i = 0; i < listener->listener_count; i++)
		evconnlistener_disable(listener->listeners[i].listener);
}

/* connection NULL: returns a free slot. */
static struct slot *
listener_slot(
    struct rm_http_listener *listener, const struct evhttp_connection *connection)
{
	for (size_t i = 0; i < LISTENER_MAX_CONNECTIONS; i++)
		if (listener->slots[i].connection == connection &&
		    listener->slots[i].unbound == NULL)
			return &listener->slots[i];
	return NULL;
}

static void
slot_set_phase(struct rm_http_listener *listener, struct slot *slot, enum phase phase)
{
	if (slot->phase == IN_HANDSHAKE && phase != IN_HANDSHAKE &&
	    listener->tls != NULL)
		http_tls_count(listener->tls,
		    evhttp_connection_get_bufferevent(slot->connection), false);
	slot->phase = phase;
	slot->since = rm_mono_now();
}

static void
listener_on_close(struct evhttp_connection *connection, void *arg)
{
	struct rm_http_listener *listener = arg;
	struct slot *slot = listener_slot(listener, connection);

	if (slot != NULL) {
		/* a handshake that did not end is counted as failed */
		slot_set_phase(listener, slot, READS_REQUEST);
		slot->connection = NULL;
		listener->used--;
	}
	rm_turn_ask(&listener->turn);
}

/* Sets the limit for clients with a certificate, which may send larger bodies. Whether
 * the client may send this request is checked when the request is complete. */
static void
bound_body(struct evhttp_connection *connection)
{
	const SSL *ssl =
	    bufferevent_openssl_get_ssl(evhttp_connection_get_bufferevent(connection));

	if (SSL_is_init_finished(ssl) && SSL_get0_peer_certificate(ssl) == NULL)
		evhttp_connection_set_max_body_size(
		    connection, LISTENER_MAX_UNKNOWN_BODY);
}

static void
listener_on_shaken(const SSL *ssl, int where, int r)
{
	struct rm_http_listener *listener = SSL_get_app_data(ssl);

	if ((where & SSL_CB_HANDSHAKE_DONE) == 0)
		return;
	for (size_t i = 0; i < LISTENER_MAX_CONNECTIONS; i++)
		if (listener->slots[i].connection != NULL)
			bound_body(listener->slots[i].connection);
}

/* Frees a connection that is in its handshake, and so has no request. */
static void
slot_time_out(struct rm_http_listener *listener, struct slot *slot)
{
	struct evhttp_connection *connection = slot->connection;

	http_tls_count(
	    listener->tls, evhttp_connection_get_bufferevent(connection), true);
	slot->phase = READS_REQUEST;        /* the handshake is counted already */
	evhttp_connection_free(connection); /* calls listener_on_close */
}

static void
slot_look(struct rm_http_listener *listener, struct slot *slot, rm_mono_t now)
{
	struct bufferevent *bev = evhttp_connection_get_bufferevent(slot->connection);
	int64_t took = rm_mono_since(now, slot->since), patience = LISTENER_ANSWER_NS;

	if (slot->phase == IN_HANDSHAKE) {
		if (!http_tls_in_handshake(bev))
			slot_set_phase(listener, slot, READS_REQUEST);
		else if (took > RM_TLS_HANDSHAKE_NS)
			slot_time_out(listener, slot);
		return;
	}
	if (slot->phase == READS_REQUEST)
		patience = listener->used == LISTENER_MAX_CONNECTIONS
			       ? LISTENER_CROWDED_NS
			       : LISTENER_REQUEST_NS;
	if (took <= patience)
		return;
	/* Ends the connection as if the client had disconnected, which also reports the
	 * end to the owner of its request. */
	shutdown(bufferevent_getfd(bev), SHUT_RDWR);
	slot->since = now;
	listener->counts->late++;
}

static void
listener_on_look(void *arg)
{
	struct rm_http_listener *listener = arg;
	rm_mono_t now = rm_mono_now();

	for (size_t i = 0; i < LISTENER_MAX_CONNECTIONS; i++)
		if (listener->slots[i].connection != NULL)
			slot_look(listener, &listener->slots[i], now);
	listener->looks = listener->used > 0;
	if (listener->looks)
		rm_timer_after(listener->look, LISTENER_LOOK_NS);
}

static void
listener_on_answered(struct evhttp_request *req, void *arg)
{
	struct rm_http_listener *listener = arg;
	struct evhttp_connection *connection = evhttp_request_get_connection(req);
	struct slot *slot =
	    connection != NULL ? listener_slot(listener, connection) : NULL;

	if (slot != NULL)
		slot_set_phase(listener, slot, READS_REQUEST);
}

static void
listener_on_request(struct evhttp_request *req, void *arg)
{
	struct rm_http_listener *listener = arg;
	struct slot *slot = listener_slot(listener, evhttp_request_get_connection(req));

	if (slot != NULL)
		slot_set_phase(listener, slot, SENDS_ANSWER);
	evhttp_request_set_on_complete_cb(req, listener_on_answered, listener);
	listener->on_request(req, listener->arg);
}

/* evhttp writes an answer in several pieces: without TCP_NODELAY the last piece would
 * wait 40 ms for the acknowledgement of the first one. Unix sockets do not need it. */
static void
send_at_once(struct evhttp_connection *connection)
{
	const int on = 1;

	(void)setsockopt(
	    bufferevent_getfd(evhttp_connection_get_bufferevent(connection)),
	    IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

/*
 * evhttp of libevent 2.1 does not report a new connection, except that it asks for a
 * bufferevent. One turn of the loop later, the connection is the argument of that
 * bufferevent's callbacks. From then on it can report its end.
 */
static void
listener_on_bind(evutil_socket_t fd, short what, void *arg)
{
	struct rm_http_listener *listener = arg;

	for (size_t i = 0; i < LISTENER_MAX_CONNECTIONS; i++) {
		struct slot *slot = &listener->slots[i];
		void *connection = NULL;

		if (slot->unbound == NULL)
			continue;
		bufferevent_getcb(slot->unbound, NULL, NULL, NULL, &connection);
		if (connection != NULL)
			evhttp_connection_set_closecb(
			    connection, listener_on_close, listener);
		else
			listener->used--; /* it is closed already */
		if (connection != NULL)
			send_at_once(connection);
		if (connection != NULL && listener->tls != NULL)
			/* the handshake may have ended already */
			bound_body(connection);
		slot->connection = connection;
		slot->phase = listener->tls != NULL ? IN_HANDSHAKE : READS_REQUEST;
		slot->since = rm_mono_now();
		bufferevent_decref(slot->unbound);
		slot->unbound = NULL;
	}
	if (!listener->looks) {
		listener->looks = true;
		rm_timer_after(listener->look, LISTENER_LOOK_NS);
	}
	rm_turn_ask(&listener->turn);
}

static struct bufferevent *
listener_on_connection(struct event_base *base, void *arg)
{
	struct rm_http_listener *listener = arg;
	struct bufferevent *bev;
	struct slot *slot;

	bev = listener->tls != NULL
		  ? http_tls_new(base, listener->tls, listener, listener_on_shaken)
		  : bufferevent_socket_new(base, -1, 0);
	if (bev == NULL || listener->used == LISTENER_MAX_CONNECTIONS)
		return bev;
	slot = listener_slot(listener, NULL);
	bufferevent_incref(bev);
	slot->unbound = bev;
	event_active(listener->bind, EV_TIMEOUT, 1);
	if (++listener->used == LISTENER_MAX_CONNECTIONS)
		listener->counts->full++;
	/* Accepts one connection per turn: many handshakes in one turn would block the
	 * loop. */
	if (listener->tls != NULL || listener->used == LISTENER_MAX_CONNECTIONS)
		listener_accept_no_more(listener);
	return bev;
}

/*
 * There are probably no descriptors left: without a pause the loop would spin. The
 * argument of this callback is evhttp's own, so the listener is searched for in a list.
 */
static void
listener_on_accept_error(struct evconnlistener *listener, void *evhttps)
{
	struct rm_http_listener *http_listener = all_faces;

	while (http_listener != NULL && http_listener->http != evhttps)
		http_listener = http_listener->next;
	if (http_listener == NULL)
		return;
	http_listener->counts->full++;
	evconnlistener_disable(listener);
	rm_timer_after(http_listener->pause, LISTENER_STOP_NS);
}

int
rm_http_listener_new(struct rm_loop *loop, struct rm_tls *tls,
    void (*on_request)(struct evhttp_request *req, void *arg), void *arg,
    struct http_listener_counts *counts, struct rm_http_listener **ret)
{
	struct rm_http_listener *listener = calloc(1, sizeof(*listener));
	int r = -ENOMEM;

	if (listener == NULL)
		return -ENOMEM;
	listener->base = rm_loop_base(loop);
	listener->tls = tls;
	listener->counts = counts;
	listener->on_request = on_request;
	listener->arg = arg;
	rm_turn_init(&listener->turn, loop, RM_TURN_ACCEPT, listener_take, listener);
	listener->http = evhttp_new(listener->base);
	listener->bind = event_new(listener->base, -1, 0, listener_on_bind, listener);
	if (listener->http == NULL || listener->bind == NULL)
		goto out;
	r = rm_timer_new(loop, listener_take, listener, &listener->pause);
	if (r == 0)
		r = rm_timer_new(loop, listener_on_look, listener, &listener->look);
	if (r < 0)
		goto out;
	evhttp_set_max_headers_size(listener->http, LISTENER_MAX_HEADERS);
	evhttp_set_max_body_size(listener->http, LISTENER_MAX_BODY);
	evhttp_set_timeout(listener->http, LISTENER_SILENCE_S);
	evhttp_set_allowed_methods(listener->http, LISTENER_METHODS);
	evhttp_set_bevcb(listener->http, listener_on_connection, listener);
	evhttp_set_gencb(listener->http, listener_on_request, listener);
	listener->next = all_faces;
	all_faces = listener;
	*ret = listener;
	return 0;
out:
	rm_http_listener_free(listener);
	return r;
}

void
rm_http_listener_max_body(struct rm_http_listener *listener, size_t bytes)
{
	evhttp_set_max_body_size(listener->http, (ssize_t)bytes);
}

void
rm_http_listener_free(struct rm_http_listener *listener)
{
	if (listener == NULL)
		return;
	for (struct rm_http_listener **at = &all_faces; *at != NULL; at = &(*at)->next)
		if (*at == listener) {
			*at = listener->next;
			break;
		}
	for (size_t i = 0; i < listener->listener_count; i++) {
		const char *path = http_socket_path(&listener->listeners[i].address);

		if (path != NULL)
			unlink(path);
	}
	/* evhttp first frees its listeners; then each connection calls
	 * listener_on_close. */
	listener->listener_count = 0;
	for (size_t i = 0; i < LISTENER_MAX_CONNECTIONS; i++) {
		if (listener->slots[i].unbound != NULL)
			bufferevent_decref(listener->slots[i].unbound);
	}
	if (listener->http != NULL)
		evhttp_free(listener->http);
	if (listener->bind != NULL)
		event_free(listener->bind);
	rm_turn_leave(&listener->turn);
	rm_timer_free(listener->pause);
	rm_timer_free(listener->look);
	free(listener);
}

int
rm_http_listener_listen(
    struct rm_http_listener *http_listener, const struct rm_address *address)
{
	struct evconnlistener *listener;
	int fd = -1, r;

	if (http_listener->listener_count == LISTENER_MAX_SOCKETS)
		return -ENOSPC;
	r = http_socket_bind(address, &fd);
	if (r < 0)
		return r;
	/* Listens here, because evconnlistener_new does not return the error. */
	if (listen(fd, LISTENER_MAX_CONNECTIONS) < 0) {
		r = -errno;
		close(fd);
		return r;
	}
	listener = evconnlistener_new(http_listener->base, NULL, NULL,
	    LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, fd);
	if (listener == NULL) {
		close(fd);
		return -ENOMEM;
	}
	if (evhttp_bind_listener(http_listener->http, listener) == NULL) {
		evconnlistener_free(listener);
		return -ENOMEM;
	}
	evconnlistener_set_error_cb(listener, listener_on_accept_error);
	http_listener->listeners[http_listener->listener_count++] =
	    (struct listener){ listener, *address };
	listener_take(http_listener);
	return 0;
}

struct rm_tls *
rm_http_listener_tls(const struct rm_http_listener *listener)
{
	return listener->tls;
}

int
rm_http_listener_port(const struct rm_http_listener *listener)
{
	if (listener->listener_count == 0)
		return -ENOTCONN;
	return http_socket_port(evconnlistener_get_fd(listener->listeners[0].listener));
}
