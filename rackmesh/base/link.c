#include "rackmesh/base/link.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/util.h>

#include "rackmesh/base/address.h"
#include "rackmesh/base/clock.h"
#include "rackmesh/base/frame.h"
#include "rackmesh/base/loop.h"

/* Frames handed over before other peers get their turn. */
#define LINK_FRAMES_PER_WAKEUP 64

struct rm_link {
	int fd;
	struct bufferevent *bev; /* NULL: closed */
	struct rm_timer *timer;  /* NULL: nobody waits for on_open */
	size_t max_frame;
	size_t max_output;
	struct rm_link_callbacks callbacks;
	void *arg;
	/*
	 * ended: the stream has said its last; the frames that came before it
	 * are still handed over. closing: our side has had enough, they are not.
	 */
	bool open; /* on_open has been called */
	bool ended;
	bool closing;
	bool paused; /* frames wait */
	int reason;  /* of whichever of the two */
	struct rm_address peer;
	struct rm_link_counts counts;
};

/* Hands the kernel what it takes at once of the queue, so that a refusal sent
 * just before the close has a chance to arrive, and lets go of the socket. */
static void
link_shut(struct rm_link *link)
{
	struct evbuffer *output;

	rm_timer_free(link->timer);
	link->timer = NULL;
	if (link->bev == NULL)
		return;
	output = bufferevent_get_output(link->bev);
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
	link_shut(link);
	link->callbacks.on_close(link, reason, link->arg);
}

/* The owner may use it from now on; 0, or why to close. */
static int
link_begin(struct rm_link *link)
{
	link->open = true;
	if (link->callbacks.on_open == NULL)
		return 0;
	return link->callbacks.on_open(link, link->arg);
}

/* One frame off the input to the owner; 0, -EAGAIN, or why to close. */
static int
link_hand_over(struct rm_link *link)
{
	struct rm_frame frame;
	int r;

	r = rm_frame_take(bufferevent_get_input(link->bev), link->max_frame, &frame);
	if (r == -EMSGSIZE || r == -EBADMSG)
		link->counts.refused_frames++;
	if (r < 0)
		return r;
	link->counts.frames_in++;
	link->counts.bytes_in += RM_FRAME_HEADER_BYTES + frame.len;
	r = link->callbacks.on_frame(link, frame.data, frame.len, link->arg);
	free(frame.data);
	/* The owner's -EAGAIN is a reason like any other, not "wait for more". */
	if (r == -EAGAIN) {
		rm_link_close(link, r);
		r = 0;
	}
	return r;
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
			link_finish(link, r);
			return;
		}
		if (link->paused)
			return;
		r = link_hand_over(link);
		if (r == -EAGAIN && link->ended) {
			/* Cut off in the middle of a frame is no orderly end. */
			if (link->reason == 0 &&
			    evbuffer_get_length(bufferevent_get_input(bev)) > 0)
				link->reason = -ECONNRESET;
			r = link->reason;
		} else if (r == -EAGAIN) {
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
link_on_writable(struct bufferevent *bev, void *arg)
{
	struct rm_link *link = arg;

	if (link->callbacks.on_drained != NULL && !link->closing)
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
	 * closed is still to be read, and reading always comes to an end now.
	 */
	if (what & BEV_EVENT_WRITING && what & BEV_EVENT_ERROR && error == EPIPE) {
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

	link_on_readable(link->bev, link);
}

/* For on_open: not every peer speaks first. */
static int
link_arm(struct rm_link *link, struct rm_loop *loop)
{
	int r;

	if (link->callbacks.on_open == NULL)
		return 0;
	r = rm_timer_new(loop, link_on_timer, link, &link->timer);
	if (r == 0)
		rm_timer_after(link->timer, 0);
	return r;
}

/* A host that vanishes while we have nothing to say is noticed within some 15 s. A
 * frozen process's kernel still answers. */
static int
link_set_tcp(int fd)
{
	static const struct {
		int level, name, value;
	} options[] = {
		{ IPPROTO_TCP, TCP_NODELAY, 1 },
		{ SOL_SOCKET, SO_KEEPALIVE, 1 },
		{ IPPROTO_TCP, TCP_KEEPIDLE, 5 },
		{ IPPROTO_TCP, TCP_KEEPINTVL, 3 },
		{ IPPROTO_TCP, TCP_KEEPCNT, 3 },
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (setsockopt(fd, options[i].level, options[i].name, &options[i].value,
			sizeof(options[i].value)) < 0)
			return -errno;
	return 0;
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
	return link_set_tcp(link->fd);
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
	link->callbacks = *callbacks;
	link->arg = arg;

	r = limits->tls != NULL ? -EPROTONOSUPPORT : link_name_peer(link);
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
	free(link);
}

int
rm_link_send(struct rm_link *link, const uint8_t *data, size_t len)
{
	struct evbuffer *output;
	int r;

	if (link->closing || link->ended)
		return -ENOTCONN;
	output = bufferevent_get_output(link->bev);
	if (len > RM_FRAME_MAX_BYTES)
		return -EMSGSIZE;
	if (evbuffer_get_length(output) + RM_FRAME_HEADER_BYTES + len >
	    link->max_output) {
		link->counts.refused_sends++;
		return -ENOBUFS;
	}
	r = rm_frame_put(output, data, len);
	if (r < 0)
		return r;
	link->counts.frames_out++;
	link->counts.bytes_out += RM_FRAME_HEADER_BYTES + len;
	return 0;
}

size_t
rm_link_output_bytes(const struct rm_link *link)
{
	if (link->bev == NULL)
		return 0;
	return evbuffer_get_length(bufferevent_get_output(link->bev));
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
	if (link->bev != NULL)
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
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);
	int queued, unsent;

	if (link->fd < 0)
		return -ENOTCONN;
	if (link->peer.storage.ss_family == AF_UNIX)
		return -EOPNOTSUPP;
	if (getsockopt(link->fd, IPPROTO_TCP, TCP_INFO, &info, &len) < 0)
		return -errno;
	if (ioctl(link->fd, SIOCOUTQ, &queued) < 0 ||
	    ioctl(link->fd, SIOCOUTQNSD, &unsent) < 0)
		return -errno;
	*since_ns = (int64_t)info.tcpi_last_ack_recv * RM_NS_PER_MS;
	/* Behind a frozen process's full window bytes wait unsent: those wait for
	 * room and not for an ACK. */
	*unacked = queued > unsent ? (uint32_t)(queued - unsent) : 0;
	return 0;
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

const char *
rm_link_identity(const struct rm_link *link)
{
	return "";
}

const char *
rm_link_why(const struct rm_link *link)
{
	return "";
}
