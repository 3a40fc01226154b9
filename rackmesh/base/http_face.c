#include "rackmesh/base/http_face.h"

#include <errno.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "rackmesh/base/address.h"
#include "rackmesh/base/http_seal.h"
#include "rackmesh/base/loop.h"
#include "rackmesh/base/tls.h"

#define FACE_MAX_HEADERS (8 << 10)
#define FACE_MAX_BODY (64 << 10)
#define FACE_MAX_CONNECTIONS 64
#define FACE_MAX_LISTENERS 4
#define FACE_SILENCE_S 10
#define FACE_PAUSE_NS (100 * RM_NS_PER_MS)
#define FACE_HANDSHAKES_NS (250 * RM_NS_PER_MS) /* between two looks at them */
#define FACE_METHODS                                                           \
	(EVHTTP_REQ_GET | EVHTTP_REQ_HEAD | EVHTTP_REQ_POST | EVHTTP_REQ_PUT | \
	    EVHTTP_REQ_DELETE | EVHTTP_REQ_OPTIONS | EVHTTP_REQ_TRACE |        \
	    EVHTTP_REQ_CONNECT | EVHTTP_REQ_PATCH)

/* A connection of evhttp's; first known only by its bufferevent. */
struct slot {
	struct bufferevent *unbound; /* we hold a reference until it is bound */
	struct evhttp_connection *connection;
	bool shakes_hands;
	rm_mono_t until;
};

struct listener {
	struct evconnlistener *listener; /* evhttp frees it */
	struct rm_address address;
};

struct rm_http_face {
	struct event_base *base;
	struct rm_tls *tls;
	struct rm_timer *handshakes;
	struct evhttp *http;
	struct event *bind;
	struct rm_timer *pause; /* no descriptors left: accept again later */
	struct slot slots[FACE_MAX_CONNECTIONS];
	size_t used;
	struct listener listeners[FACE_MAX_LISTENERS];
	size_t listener_count;
	uint64_t *full;
};

static void
face_accept(struct rm_http_face *face)
{
	for (size_t i = 0; i < face->listener_count; i++) {
		struct evconnlistener *listener = face->listeners[i].listener;

		if (face->used < FACE_MAX_CONNECTIONS)
			evconnlistener_enable(listener);
		else
			evconnlistener_disable(listener);
	}
}

static void
face_on_close(struct evhttp_connection *connection, void *arg)
{
	struct rm_http_face *face = arg;

	for (size_t i = 0; i < FACE_MAX_CONNECTIONS; i++) {
		struct slot *slot = &face->slots[i];

		if (slot->connection != connection)
			continue;
		if (slot->shakes_hands)
			http_seal_count(face->tls,
			    evhttp_connection_get_bufferevent(connection), false);
		slot->connection = NULL;
		slot->shakes_hands = false;
		face->used--;
	}
	face_accept(face);
}

/* False: it is done with that, or gone. */
static bool
slot_shakes_hands(struct rm_http_face *face, struct slot *slot, rm_mono_t now)
{
	struct bufferevent *bev;
	bool late;

	if (!slot->shakes_hands)
		return false;
	bev = evhttp_connection_get_bufferevent(slot->connection);
	late = http_seal_shakes_hands(bev);
	if (late && rm_mono_since(slot->until, now) > 0)
		return true;
	slot->shakes_hands = false;
	http_seal_count(face->tls, bev, late);
	if (late)
		evhttp_connection_free(slot->connection); /* calls face_on_close */
	return false;
}

static void
face_on_handshakes(void *arg)
{
	struct rm_http_face *face = arg;
	rm_mono_t now = rm_mono_now();
	bool any = false;

	for (size_t i = 0; i < FACE_MAX_CONNECTIONS; i++)
		any |= slot_shakes_hands(face, &face->slots[i], now);
	if (any)
		rm_timer_after(face->handshakes, FACE_HANDSHAKES_NS);
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
		slot->connection = connection;
		slot->shakes_hands = connection != NULL && face->tls != NULL;
		if (slot->shakes_hands) {
			slot->until = rm_mono_add(rm_mono_now(), RM_TLS_HANDSHAKE_NS);
			rm_timer_after(face->handshakes, FACE_HANDSHAKES_NS);
		}
		bufferevent_decref(slot->unbound);
		slot->unbound = NULL;
	}
	face_accept(face);
}

static struct bufferevent *
face_on_connection(struct event_base *base, void *arg)
{
	struct rm_http_face *face = arg;
	struct slot *slot = face->slots;
	struct bufferevent *bev;

	bev = face->tls != NULL ? http_seal_new(base, face->tls)
				: bufferevent_socket_new(base, -1, 0);
	if (bev == NULL || face->used == FACE_MAX_CONNECTIONS)
		return bev;
	while (slot->unbound != NULL || slot->connection != NULL)
		slot++;
	bufferevent_incref(bev);
	slot->unbound = bev;
	event_active(face->bind, EV_TIMEOUT, 1);
	if (++face->used == FACE_MAX_CONNECTIONS) {
		++*face->full;
		face_accept(face);
	}
	return bev;
}

static void
face_on_resume(void *arg)
{
	face_accept(arg);
}

/* Out of descriptors, most likely: without a pause the loop would spin. */
static void
face_on_accept_error(struct evconnlistener *listener, void *arg)
{
	struct rm_http_face *face = arg;

	++*face->full;
	evconnlistener_disable(listener);
	rm_timer_after(face->pause, FACE_PAUSE_NS);
}

int
rm_http_face_new(struct rm_loop *loop, struct rm_tls *tls,
    void (*on_request)(struct evhttp_request *req, void *arg), void *arg,
    uint64_t *full, struct rm_http_face **ret)
{
	struct rm_http_face *face = calloc(1, sizeof(*face));
	int r = -ENOMEM;

	if (face == NULL)
		return -ENOMEM;
	face->base = rm_loop_base(loop);
	face->tls = tls;
	face->full = full;
	face->http = evhttp_new(face->base);
	face->bind = event_new(face->base, -1, 0, face_on_bind, face);
	if (face->http == NULL || face->bind == NULL)
		goto out;
	r = rm_timer_new(loop, face_on_resume, face, &face->pause);
	if (r == 0)
		r = rm_timer_new(loop, face_on_handshakes, face, &face->handshakes);
	if (r < 0)
		goto out;
	evhttp_set_max_headers_size(face->http, FACE_MAX_HEADERS);
	evhttp_set_max_body_size(face->http, FACE_MAX_BODY);
	evhttp_set_timeout(face->http, FACE_SILENCE_S);
	evhttp_set_allowed_methods(face->http, FACE_METHODS);
	evhttp_set_bevcb(face->http, face_on_connection, face);
	evhttp_set_gencb(face->http, on_request, arg);
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

static const char *
unix_path(const struct rm_address *address)
{
	const struct sockaddr_un *un = (const void *)&address->storage;

	return un->sun_family == AF_UNIX ? un->sun_path : NULL;
}

void
rm_http_face_free(struct rm_http_face *face)
{
	if (face == NULL)
		return;
	for (size_t i = 0; i < face->listener_count; i++) {
		const char *path = unix_path(&face->listeners[i].address);

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
	rm_timer_free(face->pause);
	rm_timer_free(face->handshakes);
	free(face);
}

/* A bound socket, not yet listening: nobody can connect before the chmod. */
static int
listen_bind(const struct rm_address *address, int *ret)
{
	const struct sockaddr *sa = (const void *)&address->storage;
	const char *path = unix_path(address);
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

int
rm_http_face_listen(struct rm_http_face *face, const struct rm_address *address)
{
	struct evconnlistener *listener;
	int fd = -1, r;

	if (face->listener_count == FACE_MAX_LISTENERS)
		return -ENOSPC;
	r = listen_bind(address, &fd);
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
	struct sockaddr_storage storage;
	socklen_t len = sizeof(storage);
	int fd;

	if (face->listener_count == 0)
		return -ENOTCONN;
	fd = evconnlistener_get_fd(face->listeners[0].listener);
	if (getsockname(fd, (void *)&storage, &len) < 0)
		return -errno;
	/* The port lies at the same place in both families. */
	return ntohs(((struct sockaddr_in *)&storage)->sin_port);
}
