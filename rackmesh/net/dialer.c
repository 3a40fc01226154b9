#include "rackmesh/net/dialer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include "rackmesh/core/address.h"
#include "rackmesh/core/backoff.h"
#include "rackmesh/core/clock.h"
#include "rackmesh/core/endpoint.h"
#include "rackmesh/core/error.h"
#include "rackmesh/core/log.h"
#include "rackmesh/core/random.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/net/lookup.h"

#define DIALER_CONNECT_TIMEOUT_NS (2 * RM_NS_PER_S)
#define DIALER_BACKOFF_BASE_NS (100 * RM_NS_PER_MS)
#define DIALER_BACKOFF_CAP_NS (5 * RM_NS_PER_S)

struct dialer_peer {
	struct rm_dialer *dialer;
	struct rm_endpoint endpoint;
	/* The numeric address, or the addresses of the last answer to the name's
	 * look-up. */
	struct rm_address addresses[RM_ENDPOINT_ADDRESSES];
	size_t count;
	struct rm_lookup *lookup; /* NULL: no look-up is running */
	bool unresolved; /* the last look-up has failed, and the failure was logged */
};

/*
 * States: waiting (timer set, fd -1, link NULL); resolving (timer set as time-out,
 * resolving true); connecting (timer set as time-out, fd and writable set); opening
 * (timer set as time-out, link set); up (link set, up true).
 */
struct rm_dialer {
	struct rm_loop *loop;
	struct dialer_peer *peers;
	size_t peer_count;
	size_t at;      /* index of the peer that is dialed, or that is dialed next */
	size_t address; /* index of the peer's address */
	bool resolving;
	int64_t connect_timeout_ns;
	struct rm_backoff backoff;
	struct rm_link_limits limits;
	struct rm_dialer_callbacks callbacks;
	void *arg;

	struct rm_timer *timer;
	int fd;
	struct event *writable;
	struct rm_link *link;
	bool up;
	bool settled;
	rm_mono_t up_at, last_frame;
	bool pings;            /* the peer of this link sends pings */
	struct rm_error error; /* error of the last link that was closed */
};

static void
dialer_drop_socket(struct rm_dialer *dialer)
{
	if (dialer->writable != NULL)
		event_free(dialer->writable);
	dialer->writable = NULL;
	if (dialer->fd >= 0)
		close(dialer->fd);
	dialer->fd = -1;
}

/*
 * The present address has failed: tries the next one, after the last one with a pause.
 * The caller must return at once, since the owner may free the dialer in on_down.
 */
static void
dialer_next(struct rm_dialer *dialer, int reason)
{
	int64_t pause_ns = 0;

	dialer_drop_socket(dialer);
	dialer->resolving = false;
	dialer->address++;
	if (dialer->address >= dialer->peers[dialer->at].count) {
		dialer->address = 0;
		dialer->at++;
	}
	if (dialer->at == dialer->peer_count) {
		dialer->at = 0;
		pause_ns = rm_backoff_next_ns(&dialer->backoff, rm_random_u64());
	}
	rm_timer_after(dialer->timer, pause_ns);
	dialer->callbacks.on_down(reason, dialer->arg);
}

static int
dialer_on_open(struct rm_link *link, void *arg)
{
	struct rm_dialer *dialer = arg;

	rm_timer_stop(dialer->timer);
	dialer->up = true;
	dialer->up_at = dialer->last_frame = rm_mono_now();
	dialer->pings = false;
	return dialer->callbacks.on_up(link, dialer->arg);
}

static int
dialer_on_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	struct rm_dialer *dialer = arg;

	dialer->last_frame = rm_mono_now();
	return dialer->callbacks.on_frame(link, data, len, dialer->arg);
}

static void
dialer_on_drained(struct rm_link *link, void *arg)
{
	struct rm_dialer *dialer = arg;

	if (dialer->callbacks.on_drained != NULL && dialer->up)
		dialer->callbacks.on_drained(link, dialer->arg);
}

static void
dialer_on_close(struct rm_link *link, int reason, void *arg)
{
	struct rm_dialer *dialer = arg;

	rm_error_set(&dialer->error, 0, "%s", rm_link_error(link));
	rm_link_free(link);
	dialer->link = NULL;
	dialer->up = false;
	/*
	 * A peer that accepted the connection without a welcome (it is frozen, or it
	 * refuses this daemon) counts as unreachable, so that the next peers in the
	 * list are tried. After a session with a welcome the list starts again soon, at
	 * a random time, so that not all daemons dial at once.
	 */
	if (dialer->settled) {
		dialer->at = dialer->peer_count - 1;
		dialer->address = dialer->peers[dialer->at].count;
	}
	dialer_next(dialer, reason);
}

/* True: the socket is connected to itself. TCP allows that for a local port of the
 * ephemeral range on which nobody listens. */
static bool
dialer_met_itself(int fd)
{
	struct rm_address here = { .len = sizeof(here.storage) };
	struct rm_address there = { .len = sizeof(there.storage) };

	if (getsockname(fd, (struct sockaddr *)&here.storage, &here.len) < 0 ||
	    getpeername(fd, (struct sockaddr *)&there.storage, &there.len) < 0)
		return false;
	return here.storage.ss_family != AF_UNIX && rm_address_equal(&here, &there);
}

static void
dialer_connected(struct rm_dialer *dialer)
{
	static const struct rm_link_callbacks callbacks = {
		.on_frame = dialer_on_frame,
		.on_close = dialer_on_close,
		.on_drained = dialer_on_drained,
		.on_open = dialer_on_open,
	};
	int fd = dialer->fd;
	int r;

	if (dialer_met_itself(fd)) {
		dialer_next(dialer, -ECONNREFUSED);
		return;
	}
	dialer->fd = -1; /* the link owns fd from here on, also on failure */
	dialer_drop_socket(dialer);
	r = rm_link_new(
	    dialer->loop, fd, &dialer->limits, &callbacks, dialer, &dialer->link);
	if (r < 0)
		dialer_next(dialer, r);
	else
		dialer->settled = false;
}

static void
dialer_on_writable(evutil_socket_t fd, short what, void *arg)
{
	struct rm_dialer *dialer = arg;
	socklen_t len = sizeof(int);
	int error = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
		error = errno;
	if (error != 0)
		dialer_next(dialer, -error);
	else
		dialer_connected(dialer);
}

static int
dialer_connect(struct rm_dialer *dialer)
{
	const struct rm_address *address =
	    &dialer->peers[dialer->at].addresses[dialer->address];

	dialer->fd = socket(
	    address->storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (dialer->fd < 0)
		return -errno;
	/* EAGAIN means that the backlog of a Unix socket is full; such a socket never
	 * becomes writable. */
	if (connect(dialer->fd, (const struct sockaddr *)&address->storage,
		address->len) < 0 &&
	    errno != EINPROGRESS)
		return -errno;
	/* If connect succeeded at once, the socket is writable at once. */
	dialer->writable = event_new(rm_loop_base(dialer->loop), dialer->fd, EV_WRITE,
	    dialer_on_writable, dialer);
	if (dialer->writable == NULL || event_add(dialer->writable, NULL) < 0)
		return -ENOMEM;
	rm_timer_after(dialer->timer, dialer->connect_timeout_ns);
	return 0;
}

static void
dialer_try(struct dialer_peer *peer, int unresolved)
{
	struct rm_dialer *dialer = peer->dialer;
	int r;

	dialer->resolving = false;
	/* A late look-up may have found fewer addresses than the one before. */
	r = dialer->address < peer->count ? dialer_connect(dialer) : unresolved;
	if (r < 0)
		dialer_next(dialer, r);
}

static void
dialer_on_answer(const struct rm_lookup_answer *answer, void *arg)
{
	struct dialer_peer *peer = arg;
	struct rm_dialer *dialer = peer->dialer;
	bool awaited = dialer->resolving && peer == &dialer->peers[dialer->at];

	peer->lookup = NULL;
	if (answer->r == 0) {
		memcpy(peer->addresses, answer->addresses,
		    answer->count * sizeof(*peer->addresses));
		peer->count = answer->count;
		if (peer->unresolved)
			rm_log_info("%s: resolved again", peer->endpoint.name);
		peer->unresolved = false;
	} else if (!peer->unresolved) {
		peer->unresolved = true;
		rm_log_warn(0,
		    peer->count > 0 ? "%s: its last addresses stay in use"
				    : "%s: trying again until it has an address",
		    answer->reason);
	}
	if (!awaited)
		return;
	if (answer->r < 0 && peer->count == 0)
		rm_error_set(&dialer->error, 0, "%s", answer->reason);
	dialer_try(peer, answer->r);
}

/* Begins with this peer. If its last look-up was too slow, and there are addresses of
 * an earlier look-up, these are used at once. */
static void
dialer_resolve(struct dialer_peer *peer)
{
	struct rm_dialer *dialer = peer->dialer;
	int r = 0;

	if (peer->lookup == NULL)
		r = rm_lookup_new(dialer->loop, &peer->endpoint, RM_LOOKUPS_MAX,
		    dialer_on_answer, peer, &peer->lookup);
	else if (peer->count > 0)
		r = -ETIMEDOUT;
	if (r == -EBUSY && peer->count == 0)
		rm_error_set(&dialer->error, 0, "cannot resolve %s: " RM_LOOKUPS_BUSY,
		    peer->endpoint.name);
	if (r < 0) {
		dialer_try(peer, r);
		return;
	}
	dialer->resolving = true;
	rm_timer_after(dialer->timer, dialer->connect_timeout_ns);
}

static void
dialer_begin(struct rm_dialer *dialer)
{
	struct dialer_peer *peer = &dialer->peers[dialer->at];

	dialer->error.text[0] = '\0';
	if (peer->endpoint.name[0] != '\0' && dialer->address == 0)
		dialer_resolve(peer);
	else
		dialer_try(peer, -ENXIO);
}

/* The pause has ended, or a look-up, connect or handshake took too long. */
static void
dialer_on_timer(void *arg)
{
	struct rm_dialer *dialer = arg;
	struct dialer_peer *peer = &dialer->peers[dialer->at];

	if (dialer->link != NULL) {
		/* the handshake took too long */
		rm_link_close(dialer->link, -ETIMEDOUT);
	} else if (dialer->resolving) {
		if (peer->count == 0)
			rm_error_set(&dialer->error, 0,
			    "cannot resolve %s: no answer yet", peer->endpoint.name);
		dialer_try(peer, -ETIMEDOUT);
	} else if (dialer->fd >= 0) {
		dialer_next(dialer, -ETIMEDOUT);
	} else {
		dialer_begin(dialer);
	}
}

static int64_t
dialer_or(int64_t given_ns, int64_t fallback_ns)
{
	return given_ns > 0 ? given_ns : fallback_ns;
}

static void
dialer_peer_init(struct rm_dialer *dialer, const struct rm_endpoint *endpoint,
    struct dialer_peer *peer)
{
	peer->dialer = dialer;
	peer->endpoint = *endpoint;
	if (endpoint->name[0] != '\0')
		return;
	peer->addresses[0] = endpoint->address;
	peer->count = 1;
}

int
rm_dialer_new(struct rm_loop *loop, const struct rm_dialer_options *options,
    const struct rm_dialer_callbacks *callbacks, void *arg, struct rm_dialer **ret)
{
	struct rm_dialer *dialer;
	int r = -ENOMEM;

	if (options->peer_count == 0)
		return -EINVAL;
	dialer = calloc(1, sizeof(*dialer));
	if (dialer == NULL)
		return -ENOMEM;
	dialer->loop = loop;
	dialer->fd = -1;
	dialer->connect_timeout_ns =
	    dialer_or(options->connect_timeout_ns, DIALER_CONNECT_TIMEOUT_NS);
	dialer->backoff.base_ns =
	    dialer_or(options->backoff_base_ns, DIALER_BACKOFF_BASE_NS);
	dialer->backoff.cap_ns =
	    dialer_or(options->backoff_cap_ns, DIALER_BACKOFF_CAP_NS);
	dialer->limits = options->limits;
	dialer->limits.accepting = false;
	dialer->callbacks = *callbacks;
	dialer->arg = arg;
	dialer->peers = calloc(options->peer_count, sizeof(*dialer->peers));
	if (dialer->peers == NULL)
		goto out;
	dialer->peer_count = options->peer_count;
	for (size_t i = 0; i < options->peer_count; i++)
		dialer_peer_init(dialer, &options->peers[i], &dialer->peers[i]);
	r = rm_timer_new(loop, dialer_on_timer, dialer, &dialer->timer);
	if (r < 0)
		goto out;
	rm_timer_after(dialer->timer, 0);
	*ret = dialer;
	return 0;
out:
	rm_dialer_free(dialer);
	return r;
}

void
rm_dialer_free(struct rm_dialer *dialer)
{
	if (dialer == NULL)
		return;
	rm_link_free(dialer->link);
	dialer_drop_socket(dialer);
	rm_timer_free(dialer->timer);
	for (size_t i = 0; i < dialer->peer_count; i++)
		rm_lookup_free(dialer->peers[i].lookup);
	free(dialer->peers);
	free(dialer);
}

struct rm_link *
rm_dialer_link(const struct rm_dialer *dialer)
{
	return dialer->up ? dialer->link : NULL;
}

size_t
rm_dialer_peer(const struct rm_dialer *dialer)
{
	return dialer->at;
}

const char *
rm_dialer_error(const struct rm_dialer *dialer)
{
	return dialer->error.text;
}

void
rm_dialer_settled(struct rm_dialer *dialer)
{
	dialer->settled = true;
	rm_backoff_reset(&dialer->backoff);
}

void
rm_dialer_pinged(struct rm_dialer *dialer)
{
	dialer->pings = true;
}

bool
rm_dialer_watch(
    struct rm_dialer *dialer, rm_mono_t now, int64_t welcome_ns, int64_t silence_ns)
{
	if (!dialer->up)
		return false;
	if (dialer->settled
		? !dialer->pings || rm_mono_since(now, dialer->last_frame) <= silence_ns
		: rm_mono_since(now, dialer->up_at) <= welcome_ns)
		return false;
	rm_link_close(dialer->link, -ETIMEDOUT);
	/* sets both times to now, so this is true only once */
	rm_dialer_stalled(dialer, now);
	return true;
}

void
rm_dialer_stalled(struct rm_dialer *dialer, rm_mono_t now)
{
	dialer->up_at = dialer->last_frame = now;
}
