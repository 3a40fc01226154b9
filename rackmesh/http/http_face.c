#include "rackmesh/http/http_face.h"

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
struct rm_http_face;

static void face_on_accept_error(struct evconnlistener *listener, void *evhttps);

static const char *
http_socket_path(const struct rm_address *address)
{
	const struct sockaddr_un *un = (const void *)&address->storage;

	return un->sun_family == AF_UNIX ? un->sun_path : NULL;
}

/* A bound socket, not yet listening: nobody can connect before the chmod of a Unix
 * one. The caller closes it. */
static int
http_socket_bind(const struct rm_address *address, int *ret)
{
	const struct sockaddr *sa = (const void *)&address->storage;
	const char *path = http_socket_path(address);
	struct stat st;
	int fd, r = 0, on = 1;

	/* Only ever a socket: a slip in the config must not cost a file. */
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

/* of a TCP one */
static int
http_socket_port(int fd)
{
	struct sockaddr_storage storage;
	socklen_t len = sizeof(storage);

	if (getsockname(fd, (void *)&storage, &len) < 0)
		return -errno;
	/* The port lies at the same place in both families. */
	return ntohs(((struct sockaddr_in *)&storage)->sin_port);
}

/* For a connection that is about to be accepted; NULL: no memory. on_shaken: at each
 * step of the handshake, with face as the application's data. */
static struct bufferevent *
http_seal_new(struct event_base *base, struct rm_tls *tls, struct rm_http_face *face,
    void (*on_shaken)(const SSL *ssl, int where, int r))
{
	SSL *ssl = rm_tls_accepting(tls);
	struct bufferevent *bev;

	if (ssl == NULL)
		return NULL;
	/* Who shows no certificate is told in words what is wanted, or shows a token: a
	 * browser has nothing but a riddle for a handshake that fails. A bad one fails.
	 */
	SSL_set_verify(ssl, SSL_VERIFY_PEER, NULL);
	SSL_set_app_data(ssl, face);
	SSL_set_info_callback(ssl, on_shaken);
	/* It frees ssl, and only with this option. */
	bev = bufferevent_openssl_socket_new(
	    base, -1, ssl, BUFFEREVENT_SSL_ACCEPTING, BEV_OPT_CLOSE_ON_FREE);
	if (bev == NULL) {
		SSL_free(ssl);
		return NULL;
	}
	/* HTTP says itself where a message ends. */
	bufferevent_openssl_set_allow_dirty_shutdown(bev, 1);
	return bev;
}

/* still */
static bool
http_seal_shakes_hands(struct bufferevent *bev)
{
	return !SSL_is_init_finished(bufferevent_openssl_get_ssl(bev));
}

/* The handshake is over, or is to be: counts how it went. */
static void
http_seal_count(struct rm_tls *tls, struct bufferevent *bev, bool late)
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
http_seal_identity(const struct rm_tls *tls, struct evhttp_request *req,
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
	/* A connection may stand for days, and what was true at its handshake not. */
	return rm_tls_still_good(tls, ssl) ? 0 : -EACCES;
}

void
http_seal_refuses(struct rm_tls *tls, struct evhttp_request *req)
{
	struct evhttp_connection *connection = evhttp_request_get_connection(req);
	char *address = NULL;
	ev_uint16_t port;

	/* Else so many of these would keep everybody out. */
	evhttp_add_header(
	    evhttp_request_get_output_headers(req), "Connection", "close");
	tls_request_refused(tls);
	if (connection != NULL)
		evhttp_connection_get_peer(connection, &address, &port);
	rm_log_warn(0,
	    "http: request refused: %s shows neither a certificate "
	    "nor a token of somebody who may ask",
	    address != NULL ? address : "nowhere");
}

#define FACE_MAX_HEADERS (8 << 10)
#define FACE_MAX_BODY (64 << 10)
/* Over TLS without a certificate: a viewer's token reads, and reading needs none. */
#define FACE_MAX_UNKNOWN_BODY (1 << 10)
#define FACE_MAX_CONNECTIONS 64
#define FACE_MAX_LISTENERS 4
#define FACE_SILENCE_S 10
#define FACE_PAUSE_NS (100 * RM_NS_PER_MS)
#define FACE_LOOK_NS (250 * RM_NS_PER_MS) /* between two looks at all connections */
/* From the accept or the last answer to a whole request, however it comes. */
#define FACE_REQUEST_NS (10 * RM_NS_PER_S)
#define FACE_CROWDED_NS (1 * RM_NS_PER_S) /* the same when newcomers wait */
/* To the end of its answer: some take 10 s to make, and the reader may be slow. */
#define FACE_ANSWER_NS (60 * RM_NS_PER_S)
#define FACE_METHODS                                                           \
	(EVHTTP_REQ_GET | EVHTTP_REQ_HEAD | EVHTTP_REQ_POST | EVHTTP_REQ_PUT | \
	    EVHTTP_REQ_DELETE | EVHTTP_REQ_OPTIONS | EVHTTP_REQ_TRACE |        \
	    EVHTTP_REQ_CONNECT | EVHTTP_REQ_PATCH)

enum phase { SHAKES_HANDS, ASKS, IS_ANSWERED };

/* A connection of evhttp's; first known only by its bufferevent. */
struct slot {
	struct bufferevent *unbound; /* we hold a reference until it is bound */
	struct evhttp_connection *connection;
	enum phase phase;
	rm_mono_t since;
};

struct listener {
	struct evconnlistener *listener; /* evhttp frees it */
	struct rm_address address;
};

struct rm_http_face {
	struct event_base *base;
	struct rm_tls *tls;
	struct rm_timer *look;
	bool looks; /* the timer runs */
	struct evhttp *http;
	struct event *bind;
	struct rm_turn turn;    /* to accept one more */
	struct rm_timer *pause; /* no descriptors left: accept again later */
	struct slot slots[FACE_MAX_CONNECTIONS];
	size_t used;
	struct listener listeners[FACE_MAX_LISTENERS];
	size_t listener_count;
	struct http_face_counts *counts;
	void (*on_request)(struct evhttp_request *req, void *arg);
	void *arg;
	struct rm_http_face *next;
};

static struct rm_http_face *all_faces; /* for face_on_accept_error */

static void
face_accept(void *arg)
{
	struct rm_http_face *face = arg;

	if (face->used == FACE_MAX_CONNECTIONS)
		return; /* until one of them closes */
	for (size_t i = 0; i < face->listener_count; i++)
		evconnlistener_enable(face->listeners[i].listener);
}

static void
face_accept_no_more(struct rm_http_face *face)
{
	for (size_t i = 0; i < face->listener_count; i++)
		evconnlistener_disable(face->listeners[i].listener);
}

/* Connection NULL: a free one. */
static struct slot *
face_slot(struct rm_http_face *face, const struct evhttp_connection *connection)
{
	for (size_t i = 0; i < FACE_MAX_CONNECTIONS; i++)
		if (face->slots[i].connection == connection &&
		    face->slots[i].unbound == NULL)
			return &face->slots[i];
	return NULL;
}

static void
slot_enters(struct rm_http_face *face, struct slot *slot, enum phase phase)
{
	if (slot->phase == SHAKES_HANDS && phase != SHAKES_HANDS && face->tls != NULL)
		http_seal_count(face->tls,
		    evhttp_connection_get_bufferevent(slot->connection), false);
	slot->phase = phase;
	slot->since = rm_mono_now();
}

static void
face_on_close(struct evhttp_connection *connection, void *arg)
{
	struct rm_http_face *face = arg;
	struct slot *slot = face_slot(face, connection);

	if (slot != NULL) {
		slot_enters(face, slot, ASKS); /* counts a handshake that failed */
		slot->connection = NULL;
		face->used--;
	}
	rm_turn_ask(&face->turn);
}

/* Larger bodies are for those whom a certificate names: who they are is asked of a
 * request that is whole. */
static void
bound_body(struct evhttp_connection *connection)
{
	const SSL *ssl =
	    bufferevent_openssl_get_ssl(evhttp_connection_get_bufferevent(connection));

	if (SSL_is_init_finished(ssl) && SSL_get0_peer_certificate(ssl) == NULL)
		evhttp_connection_set_max_body_size(connection, FACE_MAX_UNKNOWN_BODY);
}

static void
face_on_shaken(const SSL *ssl, int where, int r)
{
	struct rm_http_face *face = SSL_get_app_data(ssl);

	if ((where & SSL_CB_HANDSHAKE_DONE) == 0)
		return;
	for (size_t i = 0; i < FACE_MAX_CONNECTIONS; i++)
		if (face->slots[i].connection != NULL)
			bound_body(face->slots[i].connection);
}

/* Frees it; no request can have come. */
static void
slot_gives_up(struct rm_http_face *face, struct slot *slot)
{
	struct evhttp_connection *connection = slot->connection;

	http_seal_count(face->tls, evhttp_connection_get_bufferevent(connection), true);
	slot->phase = ASKS;                 /* it is counted */
	evhttp_connection_free(connection); /* calls face_on_close */
}

static void
slot_look(struct rm_http_face *face, struct slot *slot, rm_mono_t now)
{
	struct bufferevent *bev = evhttp_connection_get_bufferevent(slot->connection);
	int64_t took = rm_mono_since(now, slot->since), patience = FACE_ANSWER_NS;

	if (slot->phase == SHAKES_HANDS) {
		if (!http_seal_shakes_hands(bev))
			slot_enters(face, slot, ASKS);
		else if (took > RM_TLS_HANDSHAKE_NS)
			slot_gives_up(face, slot);
		return;
	}
	if (slot->phase == ASKS)
		patience = face->used == FACE_MAX_CONNECTIONS ? FACE_CROWDED_NS
							      : FACE_REQUEST_NS;
	if (took <= patience)
		return;
	/* As if the client had left: whoever has its request learns of it so. */
	shutdown(bufferevent_getfd(bev), SHUT_RDWR);
	slot->since = now;
	face->counts->late++;
}

static void
face_on_look(void *arg)
{
	struct rm_http_face *face = arg;
	rm_mono_t now = rm_mono_now();

	for (size_t i = 0; i < FACE_MAX_CONNECTIONS; i++)
		if (face->slots[i].connection != NULL)
			slot_look(face, &face->slots[i], now);
	face->looks = face->used > 0;
	if (face->looks)
		rm_timer_after(face->look, FACE_LOOK_NS);
}

static void
face_on_answered(struct evhttp_request *req, void *arg)
{
	struct rm_http_face *face = arg;
	struct evhttp_connection *connection = evhttp_request_get_connection(req);
	struct slot *slot = connection != NULL ? face_slot(face, connection) : NULL;

	if (slot != NULL)
		slot_enters(face, slot, ASKS);
}

static void
face_on_request(struct evhttp_request *req, void *arg)
{
	struct rm_http_face *face = arg;
	struct slot *slot = face_slot(face, evhttp_request_get_connection(req));

	if (slot != NULL)
		slot_enters(face, slot, IS_ANSWERED);
	evhttp_request_set_on_complete_cb(req, face_on_answered, face);
	face->on_request(req, face->arg);
}

/* An answer is several writes: without this the last waits 40 ms for the first one's
 * acknowledgement. Not of a Unix socket, which needs none. */
static void
send_at_once(struct evhttp_connection *connection)
{
	const int on = 1;

	(void)setsockopt(
	    bufferevent_getfd(evhttp_connection_get_bufferevent(connection)),
	    IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

/*
 * evhttp of libevent 2.1 does not count its connections and says nothing about a
 * new one, except that it asks for a bufferevent. The connection made with that
 * is the argument of the bufferevent's callbacks one turn of the loop later, and
 * can be asked to report its end.
 */
static void
face_on_bind(evutil_socket_t fd, short what, void *arg)
{
	struct rm_http_face *face = arg;

	for (size_t i = 0; i < FACE_MAX_CONNECTIONS; i++) {
		struct slot *slot = &face->slots[i];
		void *connection = NULL;

		if (slot->unbound == NULL)
			continue;
		bufferevent_getcb(slot->unbound, NULL, NULL, NULL, &connection);
		if (connection != NULL)
			evhttp_connection_set_closecb(connection, face_on_close, face);
		else
			face->used--; /* gone already */
		if (connection != NULL)
			send_at_once(connection);
		if (connection != NULL && face->tls != NULL)
			bound_body(connection); /* its handshake may be over */
		slot->connection = connection;
		slot->phase = face->tls != NULL ? SHAKES_HANDS : ASKS;
		slot->since = rm_mono_now();
		bufferevent_decref(slot->unbound);
		slot->unbound = NULL;
	}
	if (!face->looks) {
		face->looks = true;
		rm_timer_after(face->look, FACE_LOOK_NS);
	}
	rm_turn_ask(&face->turn);
}

static struct bufferevent *
face_on_connection(struct event_base *base, void *arg)
{
	struct rm_http_face *face = arg;
	struct bufferevent *bev;
	struct slot *slot;

	bev = face->tls != NULL ? http_seal_new(base, face->tls, face, face_on_shaken)
				: bufferevent_socket_new(base, -1, 0);
	if (bev == NULL || face->used == FACE_MAX_CONNECTIONS)
		return bev;
	slot = face_slot(face, NULL);
	bufferevent_incref(bev);
	slot->unbound = bev;
	event_active(face->bind, EV_TIMEOUT, 1);
	if (++face->used == FACE_MAX_CONNECTIONS)
		face->counts->full++;
	/* Of many who come at once the handshakes would come at once, too. */
	if (face->tls != NULL || face->used == FACE_MAX_CONNECTIONS)
		face_accept_no_more(face);
	return bev;
}

/*
 * Out of descriptors, most likely: without a pause the loop would spin. The callback's
 * argument is evhttp's own, whatever is given with the listener, hence the list.
 */
static void
face_on_accept_error(struct evconnlistener *listener, void *evhttps)
{
	struct rm_http_face *face = all_faces;

	while (face != NULL && face->http != evhttps)
		face = face->next;
	if (face == NULL)
		return;
	face->counts->full++;
	evconnlistener_disable(listener);
	rm_timer_after(face->pause, FACE_PAUSE_NS);
}

int
rm_http_face_new(struct rm_loop *loop, struct rm_tls *tls,
    void (*on_request)(struct evhttp_request *req, void *arg), void *arg,
    struct http_face_counts *counts, struct rm_http_face **ret)
{
	struct rm_http_face *face = calloc(1, sizeof(*face));
	int r = -ENOMEM;

	if (face == NULL)
		return -ENOMEM;
	face->base = rm_loop_base(loop);
	face->tls = tls;
	face->counts = counts;
	face->on_request = on_request;
	face->arg = arg;
	rm_turn_init(&face->turn, loop, RM_TURN_ACCEPT, face_accept, face);
	face->http = evhttp_new(face->base);
	face->bind = event_new(face->base, -1, 0, face_on_bind, face);
	if (face->http == NULL || face->bind == NULL)
		goto out;
	r = rm_timer_new(loop, face_accept, face, &face->pause);
	if (r == 0)
		r = rm_timer_new(loop, face_on_look, face, &face->look);
	if (r < 0)
		goto out;
	evhttp_set_max_headers_size(face->http, FACE_MAX_HEADERS);
	evhttp_set_max_body_size(face->http, FACE_MAX_BODY);
	evhttp_set_timeout(face->http, FACE_SILENCE_S);
	evhttp_set_allowed_methods(face->http, FACE_METHODS);
	evhttp_set_bevcb(face->http, face_on_connection, face);
	evhttp_set_gencb(face->http, face_on_request, face);
	face->next = all_faces;
	all_faces = face;
	*ret = face;
	return 0;
out:
	rm_http_face_free(face);
	return r;
}

void
rm_http_face_max_body(struct rm_http_face *face, size_t bytes)
{
	evhttp_set_max_body_size(face->http, (ssize_t)bytes);
}

void
rm_http_face_free(struct rm_http_face *face)
{
	if (face == NULL)
		return;
	for (struct rm_http_face **at = &all_faces; *at != NULL; at = &(*at)->next)
		if (*at == face) {
			*at = face->next;
			break;
		}
	for (size_t i = 0; i < face->listener_count; i++) {
		const char *path = http_socket_path(&face->listeners[i].address);

		if (path != NULL)
			unlink(path);
	}
	/* evhttp ends its listeners first, then each connection calls face_on_close. */
	face->listener_count = 0;
	for (size_t i = 0; i < FACE_MAX_CONNECTIONS; i++) {
		if (face->slots[i].unbound != NULL)
			bufferevent_decref(face->slots[i].unbound);
	}
	if (face->http != NULL)
		evhttp_free(face->http);
	if (face->bind != NULL)
		event_free(face->bind);
	rm_turn_leave(&face->turn);
	rm_timer_free(face->pause);
	rm_timer_free(face->look);
	free(face);
}

int
rm_http_face_listen(struct rm_http_face *face, const struct rm_address *address)
{
	struct evconnlistener *listener;
	int fd = -1, r;

	if (face->listener_count == FACE_MAX_LISTENERS)
		return -ENOSPC;
	r = http_socket_bind(address, &fd);
	if (r < 0)
		return r;
	/* Here, since evconnlistener_new would not say why it failed. */
	if (listen(fd, FACE_MAX_CONNECTIONS) < 0) {
		r = -errno;
		close(fd);
		return r;
	}
	listener = evconnlistener_new(face->base, NULL, NULL,
	    LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, fd);
	if (listener == NULL) {
		close(fd);
		return -ENOMEM;
	}
	if (evhttp_bind_listener(face->http, listener) == NULL) {
		evconnlistener_free(listener);
		return -ENOMEM;
	}
	evconnlistener_set_error_cb(listener, face_on_accept_error);
	face->listeners[face->listener_count++] =
	    (struct listener){ listener, *address };
	face_accept(face);
	return 0;
}

struct rm_tls *
rm_http_face_tls(const struct rm_http_face *face)
{
	return face->tls;
}

int
rm_http_face_port(const struct rm_http_face *face)
{
	if (face->listener_count == 0)
		return -ENOTCONN;
	return http_socket_port(evconnlistener_get_fd(face->listeners[0].listener));
}
