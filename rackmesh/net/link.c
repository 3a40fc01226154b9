#include "rackmesh/net/link.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/util.h>

#include "rackmesh/loop/loop.h"
#include "rackmesh/net/frame.h"
#include "rackmesh/net/link_state.h"
#include "rackmesh/net/tcp.h"
#include "rackmesh/tls/tls_stream.h"

/* Frames handed over before other peers get their turn. */
#define LINK_FRAMES_PER_WAKEUP 64

/* Hands the kernel what it takes at once of the queue, so that a refusal sent
 * just before the close has a chance to arrive, and lets go of the socket. */
static void
link_shut(struct rm_link *link)
{
	struct evbuffer *output;

	rm_turn_leave(&link->turn);
	rm_timer_free(link->timer);
	link->timer = NULL;
	if (link->bev == NULL)
		return;
	output = bufferevent_get_output(link->bev);
	if (link->stream != NULL && !link->ended)
		tls_stream_end(link->stream);
	if (!link->ended && evbuffer_get_length(output) > 0) {
		evbuffer_unfreeze(output, 1);
		evbuffer_write(output, link->fd);
	}
	/* The bufferevent may live on until its running callback returns, so its
	 * events go before the descriptor does. */
	bufferevent_disable(link->bev, EV_READ | EV_WRITE);
	bufferevent_free(link->bev);
	link->bev = NULL;
	close(link->fd);
	link->fd = -1;
}

/* Only ever a caller's last statement: the owner may free the link. */
static void
link_finish(struct rm_link *link, int reason)
{
	link->closing = true;
	if (link->stream != NULL && !link->open && reason == -ETIMEDOUT)
		tls_stream_give_up(link->stream, true, &link->why);
	link_shut(link);
	link->callbacks.on_close(link, reason, link->arg);
}

/*
 * Hands over every whole frame that has arrived. libevent calls again only for
 * new bytes, so a frame left behind here would wait for the peer's next one.
 * One busy peer must not starve the others: after a fixed share the rest of its
 * frames go to the back of the queue.
 */
static void
link_on_readable(struct bufferevent *bev, void *arg)
{
	struct rm_link *link = arg;

	for (int i = 0; i < LINK_FRAMES_PER_WAKEUP; i++) {
		int r;

		if (link->closing) {
			link_finish(link, link->reason);
			return;
		}
		if (!link->open) {
			r = link_begin(link);
			if (r == 0)
				continue;
			if (r == -EAGAIN)
				return;
			link_finish(link, r);
			return;
		}
		if (link->paused)
			return;
		r = link_hand_over(link);
		if (r == -EAGAIN && link->ended) {
			r = link_last_reason(link);
		} else if (r == -EAGAIN) {
			link_note_rest(link);
			return;
		} else if (r >= 0) {
			continue;
		}
		link_finish(link, r);
		return;
	}
	bufferevent_trigger(bev, EV_READ, BEV_OPT_DEFER_CALLBACKS);
}

static void
link_on_turn(void *arg)
{
	struct rm_link *link = arg;

	link->has_turn = true;
	link_on_readable(link->bev, link);
}

static void
link_on_writable(struct bufferevent *bev, void *arg)
{
	struct rm_link *link = arg;

	if (link->callbacks.on_drained != NULL && link->open && !link->closing)
		link->callbacks.on_drained(link, link->arg);
}

static void
link_on_event(struct bufferevent *bev, short what, void *arg)
{
	int error = EVUTIL_SOCKET_ERROR();
	struct rm_link *link = arg;

	if (!(what & (BEV_EVENT_EOF | BEV_EVENT_ERROR)))
		return;
	/*
	 * EPIPE says that the peer had closed before; what it sent and how it
	 * closed is still to be read, and reading always comes to an end now. One
	 * that refuses our certificate says so and resets.
	 */
	if (what & BEV_EVENT_WRITING && what & BEV_EVENT_ERROR &&
	    (error == EPIPE || (link->stream != NULL && error == ECONNRESET))) {
		bufferevent_disable(bev, EV_WRITE);
		return;
	}
	if (!link->ended && !link->closing) {
		link->ended = true;
		link->reason = 0;
		if (what & BEV_EVENT_ERROR)
			link->reason = error > 0 ? -error : -EIO;
		bufferevent_disable(bev, EV_READ | EV_WRITE);
	}
	link_on_readable(bev, link);
}

static void
link_on_timer(void *arg)
{
	struct rm_link *link = arg;

	if (link->open) {
		link_recheck(link);
	} else if (link->stream != NULL && link->begun) {
		rm_link_close(link, -ETIMEDOUT);
	} else {
		link->begun = true;
		if (link->stream != NULL)
			rm_timer_after(link->timer, RM_TLS_HANDSHAKE_NS);
		link_on_readable(link->bev, link);
	}
}

/* For on_open: not every peer speaks first; and TLS has to begin. */
static int
link_arm(struct rm_link *link, struct rm_loop *loop)
{
	int r = rm_timer_new(loop, link_on_timer, link, &link->timer);

	if (r == 0 && !link->open)
		rm_timer_after(link->timer, 0);
	return r;
}

static int
link_seal(struct rm_link *link, const struct rm_link_limits *limits)
{
	link->plain = evbuffer_new();
	link->outgoing = evbuffer_new();
	if (link->plain == NULL || link->outgoing == NULL)
		return -ENOMEM;
	bufferevent_setwatermark(link->bev, EV_READ, 0, LINK_SEALED_BYTES);
	return tls_stream_new(limits->tls, limits->accepting,
	    bufferevent_get_input(link->bev), bufferevent_get_output(link->bev),
	    &link->stream);
}

static int
link_name_peer(struct rm_link *link)
{
	link->peer.len = sizeof(link->peer.storage);
	if (getpeername(
		link->fd, (struct sockaddr *)&link->peer.storage, &link->peer.len) < 0)
		return -errno;
	if (link->peer.storage.ss_family == AF_UNIX)
		return 0;
	return rm_tcp_prepare(link->fd);
}

int
rm_link_new(struct rm_loop *loop, int fd, const struct rm_link_limits *limits,
    const struct rm_link_callbacks *callbacks, void *arg, struct rm_link **ret)
{
	struct rm_link *link;
	int r;

	link = calloc(1, sizeof(*link));
	if (link == NULL) {
		close(fd);
		return -ENOMEM;
	}
	link->fd = fd;
	link->max_frame = limits->max_frame_bytes;
	if (link->max_frame > RM_FRAME_MAX_BYTES)
		link->max_frame = RM_FRAME_MAX_BYTES;
	link->max_output = limits->max_output_bytes;
	link->frame_ns = limits->frame_ns > 0 ? limits->frame_ns : RM_LINK_FRAME_NS;
	link->callbacks = *callbacks;
	link->arg = arg;
	rm_turn_init(&link->turn, loop, RM_TURN_HANDSHAKE, link_on_turn, link);
	link->open = callbacks->on_open == NULL && limits->tls == NULL;

	r = link_name_peer(link);
	if (r < 0)
		goto out;
	r = -ENOMEM;
	if (evutil_make_socket_nonblocking(fd) < 0)
		goto out;
	link->bev = bufferevent_socket_new(rm_loop_base(loop), fd, 0);
	if (link->bev == NULL)
		goto out;
	bufferevent_setcb(
	    link->bev, link_on_readable, link_on_writable, link_on_event, link);
	/* One frame of the largest kind fits whole, so the limit cannot wedge, and
	 * an unfinished one cannot hold more. */
	bufferevent_setwatermark(
	    link->bev, EV_READ, 0, RM_FRAME_HEADER_BYTES + link->max_frame);
	r = limits->tls != NULL ? link_seal(link, limits) : 0;
	if (r < 0)
		goto out;
	r = -ENOMEM;
	if (bufferevent_enable(link->bev, EV_READ | EV_WRITE) < 0)
		goto out;
	r = link_arm(link, loop);
	if (r < 0)
		goto out;
	*ret = link;
	return 0;
out:
	if (link->bev == NULL)
		close(fd);
	rm_link_free(link);
	return r;
}

void
rm_link_free(struct rm_link *link)
{
	if (link == NULL)
		return;
	link_shut(link);
	tls_stream_free(link->stream);
	if (link->plain != NULL)
		evbuffer_free(link->plain);
	if (link->outgoing != NULL)
		evbuffer_free(link->outgoing);
	free(link);
}

/* Frames wait for the handshake; then they are enciphered at once. */
static int
link_send_sealed(struct rm_link *link, const uint8_t *data, size_t len)
{
	int r;

	r = rm_frame_put_sealed(link->outgoing, data, len);
	if (r < 0 || !link->open)
		return r;
	r = tls_stream_write(link->stream, link->outgoing);
	if (r < 0)
		rm_link_close(link, r);
	return r;
}

int
rm_link_send(struct rm_link *link, const uint8_t *data, size_t len)
{
	int r;

	if (link->closing || link->ended)
		return -ENOTCONN;
	if (len > RM_FRAME_MAX_BYTES)
		return -EMSGSIZE;
	if (rm_link_output_bytes(link) + RM_FRAME_HEADER_BYTES + len >
	    link->max_output) {
		link->counts.refused_sends++;
		return -ENOBUFS;
	}
	if (link->stream != NULL)
		r = link_send_sealed(link, data, len);
	else
		r = rm_frame_put(bufferevent_get_output(link->bev), data, len);
	if (r < 0)
		return r;
	link->counts.frames_out++;
	link->counts.bytes_out += RM_FRAME_HEADER_BYTES + len;
	return 0;
}

size_t
rm_link_output_bytes(const struct rm_link *link)
{
	size_t waiting = 0;

	if (link->bev == NULL)
		return 0;
	if (link->outgoing != NULL)
		waiting = evbuffer_get_length(link->outgoing);
	return evbuffer_get_length(bufferevent_get_output(link->bev)) + waiting;
}

void
rm_link_close(struct rm_link *link, int reason)
{
	if (link->closing)
		return;
	link->closing = true;
	link->reason = reason;
	/* Nothing more is read; the deferred call finds closing set. */
	bufferevent_disable(link->bev, EV_READ);
	bufferevent_trigger(
	    link->bev, EV_READ, BEV_OPT_DEFER_CALLBACKS | BEV_TRIG_IGNORE_WATERMARKS);
}

void
rm_link_pause(struct rm_link *link)
{
	link->paused = true;
	link->begun_at = (rm_mono_t){ 0 };
	/* The handshake is not paused. */
	if (link->bev != NULL && (link->open || link->stream == NULL))
		bufferevent_disable(link->bev, EV_READ);
}

void
rm_link_resume(struct rm_link *link)
{
	if (!link->paused)
		return;
	link->paused = false;
	if (link->closing || link->bev == NULL)
		return;
	if (!link->ended)
		bufferevent_enable(link->bev, EV_READ);
	/* For the frames that have arrived already. */
	bufferevent_trigger(
	    link->bev, EV_READ, BEV_OPT_DEFER_CALLBACKS | BEV_TRIG_IGNORE_WATERMARKS);
}

int
rm_link_peer_ack(const struct rm_link *link, int64_t *since_ns, uint32_t *unacked)
{
	if (link->fd < 0)
		return -ENOTCONN;
	if (link->peer.storage.ss_family == AF_UNIX)
		return -EOPNOTSUPP;
	return rm_tcp_peer_ack(link->fd, since_ns, unacked);
}

const struct rm_address *
rm_link_peer(const struct rm_link *link)
{
	return &link->peer;
}

const struct rm_link_counts *
rm_link_counts(const struct rm_link *link)
{
	return &link->counts;
}
