#include "rackmesh/net/listener.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <unistd.h>

#include <event2/event.h>

#include "rackmesh/core/address.h"
#include "rackmesh/core/clock.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/turn.h"

/* Most connections that are accepted in one turn of the loop. */
#define LISTENER_ACCEPTS_PER_TURN 4
#define LISTENER_PAUSE_NS (100 * RM_NS_PER_MS)
/* Enough for all agents of a rack, or all daemons of a region, to reconnect within one
 * turn. */
#define LISTENER_BACKLOG 1024

struct rm_listener {
	int fd;
	int port;
	/* disabled while the listener waits for its turn or pauses */
	struct event *readable;
	struct rm_turn turn;
	struct rm_timer *pause;
	int (*on_accept)(int fd, const struct rm_address *peer, void *arg);
	void *arg;
};

static void
listener_resume(void *arg)
{
	struct rm_listener *listener = arg;

	event_add(listener->readable, NULL);
}

static void
listener_on_readable(evutil_socket_t ignored, short what, void *arg)
{
	struct rm_listener *listener = arg;

	rm_turn_ask(&listener->turn);
}

static void
listener_accept(void *arg)
{
	struct rm_listener *listener = arg;

	for (int i = 0; i < LISTENER_ACCEPTS_PER_TURN; i++) {
		struct rm_address peer = { .len = sizeof(peer.storage) };
		int fd;

		fd = accept4(listener->fd, (struct sockaddr *)&peer.storage, &peer.len,
		    SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0) {
			listener->on_accept(fd, &peer, listener->arg);
			continue;
		}
		switch (errno) {
		case EAGAIN:
			event_add(listener->readable, NULL);
			return;
		case EMFILE:
		case ENFILE:
		case ENOBUFS:
		case ENOMEM:
			/* There is no descriptor left, and the connection stays in the
			 * backlog: without a pause the event would fire again and
			 * again. */
			rm_timer_after(listener->pause, LISTENER_PAUSE_NS);
			return;
		default:
			/* Only this connection has failed (accept(2): treat network
			 * errors like EAGAIN); the next one may be good. */
			break;
		}
	}
	rm_turn_ask(&listener->turn); /* more connections may wait */
}

static int
listener_open(struct rm_listener *listener, const struct rm_address *address)
{
	struct rm_address bound = { .len = sizeof(bound.storage) };
	int one = 1;

	listener->fd = socket(
	    address->storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (listener->fd < 0)
		return -errno;
	if (setsockopt(listener->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0 ||
	    bind(listener->fd, (const struct sockaddr *)&address->storage,
		address->len) < 0 ||
	    listen(listener->fd, LISTENER_BACKLOG) < 0 ||
	    getsockname(listener->fd, (struct sockaddr *)&bound.storage, &bound.len) <
		0)
		return -errno;
	if (bound.storage.ss_family == AF_INET)
		listener->port =
		    ntohs(((struct sockaddr_in *)&bound.storage)->sin_port);
	else if (bound.storage.ss_family == AF_INET6)
		listener->port =
		    ntohs(((struct sockaddr_in6 *)&bound.storage)->sin6_port);
	return 0;
}

int
rm_listener_new(struct rm_loop *loop, const struct rm_address *address,
    int (*on_accept)(int fd, const struct rm_address *peer, void *arg), void *arg,
    struct rm_listener **ret)
{
	struct rm_listener *listener;
	int r;

	listener = calloc(1, sizeof(*listener));
	if (listener == NULL)
		return -ENOMEM;
	listener->fd = -1;
	listener->on_accept = on_accept;
	listener->arg = arg;
	rm_turn_init(&listener->turn, loop, RM_TURN_ACCEPT, listener_accept, listener);

	r = listener_open(listener, address);
	if (r < 0)
		goto out;
	r = rm_timer_new(loop, listener_resume, listener, &listener->pause);
	if (r < 0)
		goto out;
	listener->readable = event_new(
	    rm_loop_base(loop), listener->fd, EV_READ, listener_on_readable, listener);
	if (listener->readable == NULL || event_add(listener->readable, NULL) < 0) {
		r = -ENOMEM;
		goto out;
	}
	*ret = listener;
	return 0;
out:
	rm_listener_free(listener);
	return r;
}

void
rm_listener_free(struct rm_listener *listener)
{
	if (listener == NULL)
		return;
	if (listener->readable != NULL)
		event_free(listener->readable);
	rm_turn_leave(&listener->turn);
	rm_timer_free(listener->pause);
	if (listener->fd >= 0)
		close(listener->fd);
	free(listener);
}

int
rm_listener_port(const struct rm_listener *listener)
{
	return listener->port;
}
