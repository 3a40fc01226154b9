#include "rackmesh/net/link.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/util.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rackmesh/core/address.h"
#include "rackmesh/core/clock.h"
#include "rackmesh/core/error.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/turn.h"
#include "rackmesh/net/frame.h"
#include "rackmesh/tls/tls.h"
#include "rackmesh/tls/tls_stream.h"

/* Certificates must be checked within RM_TLS_RECHECK_NS; a check at half of that time
 * leaves the other half for a renewal. */
#define LINK_RECHECK_NS (RM_TLS_RECHECK_NS / 2)
/* maximum number of encrypted bytes that wait to be decrypted: a few records */
#define LINK_SEALED_BYTES (64 << 10)

struct bufferevent;
struct evbuffer;
struct rm_timer;
struct tls_stream;

struct rm_link {
	int fd;
	struct bufferevent *bev; /* NULL: the link is closed */
	/* fires at the time-outs of on_open and of a frame, and with TLS at the times
	   of its checks */
	struct rm_timer *timer;
	size_t max_frame;
	size_t max_output;
	int64_t frame_ns;
	struct rm_link_callbacks callbacks;
	void *arg;
	/* NULL: plaintext; then the next four members are not used. */
	struct tls_stream *stream;
	struct evbuffer *plain;    /* decrypted bytes */
	struct evbuffer *outgoing; /* frames that wait for the end of the handshake */
	struct rm_turn turn;       /* the turn for a step of the handshake */
	bool has_turn;
	const char *identity;
	struct rm_error error;
	/*
	 * ended: the peer has ended the stream; frames that arrived before are still
	 * delivered. closing: this side closes the link, and frames that arrived before
	 * are not delivered.
	 */
	bool ended;
	bool closing;
	bool open;    /* on_open has been called */
	bool begun;   /* the time-out of the handshake is running */
	bool goodbye; /* the peer has sent TLS's end of the stream (close_notify) */
	bool paused;  /* frames are not delivered */
	int reason;   /* the reason for `ended` or `closing` */
	/* When a frame began to arrive, and the number of frames received before it;
	 * begun_at.ns 0: no frame is incomplete. */
	rm_mono_t begun_at;
	uint64_t begun_after;
	bool watched; /* the timer is set for the time-out of a frame, or for TLS */
	/* the frame was late at the last check; its rest may be in the kernel's
	 * buffer */
	bool late;
	struct rm_address peer;
	struct rm_link_counts counts;
};

/* Makes a step of the handshake. 0: done; -EAGAIN: not yet; else the reason to close.
 * Links take turns, because a step costs as much CPU as a thousand frames. */
static int
link_shake_hands(struct rm_link *link)
{
	int r = tls_stream_greeted(link->stream, &link->error);

	if (r == 0 && link->ended && !tls_stream_begun(link->stream))
		r = -EAGAIN;
	if (r == 0 && !link->has_turn &&
	    evbuffer_get_length(bufferevent_get_input(link->bev)) > 0) {
		rm_turn_ask(&link->turn);
		return -EAGAIN;
	}
	link->has_turn = false;
	if (r == 0)
		r = tls_stream_handshake(link->stream, &link->identity, &link->error);
	if (r == -EAGAIN && link->ended)
		return tls_stream_give_up(link->stream, false, &link->error);
	if (r < 0)
		return r;
	rm_timer_after(link->timer, LINK_RECHECK_NS);
	if (link->paused)
		bufferevent_disable(link->bev, EV_READ);
	return tls_stream_write(link->stream, link->outgoing);
}

/* Calls on_open. 0; -EAGAIN: not yet; else the reason to close. */
static int
link_begin(struct rm_link *link)
{
	int r = 0;

	if (link->stream != NULL)
		r = link_shake_hands(link);
	if (r < 0)
		return r;
	link->open = true;
	if (link->callbacks.on_open != NULL)
		r = link->callbacks.on_open(link, link->arg);
	if (r < 0)
		rm_link_close(link, r);
	return 0;
}

/* Decrypts what has arrived, which may contain another frame. Returns 0, -EAGAIN, or
 * the reason to close. */
static int
link_decipher(struct rm_link *link)
{
	int r = tls_stream_read(link->stream, link->plain,
	    RM_FRAME_HEADER_BYTES + link->max_frame, &link->error);

	/* TLS answers some messages itself: a peer that sends such messages and reads
	 * nothing would make this process buffer the answers without limit. */
	if (evbuffer_get_length(bufferevent_get_output(link->bev)) >
	    link->max_output + LINK_SEALED_BYTES)
		return -ENOBUFS;
	if (r != -ENODATA)
		return r;
	if (!link->ended)
		bufferevent_disable(link->bev, EV_READ | EV_WRITE);
	link->ended = true;
	link->goodbye = true;
	return -EAGAIN;
}

static int
link_take(struct rm_link *link, struct rm_frame *frame)
{
	int r;

	if (link->stream == NULL)
		return rm_frame_take(
		    bufferevent_get_input(link->bev), link->max_frame, frame);
	r = rm_frame_take_sealed(link->plain, link->max_frame, frame);
	if (r != -EAGAIN)
		return r;
	r = link_decipher(link);
	if (r < 0)
		return r;
	return rm_frame_take_sealed(link->plain, link->max_frame, frame);
}

static bool
link_has_rest(const struct rm_link *link)
{
	if (evbuffer_get_length(bufferevent_get_input(link->bev)) > 0)
		return true;
	return link->stream != NULL && (evbuffer_get_length(link->plain) > 0 ||
					   tls_stream_in_record(link->stream));
}

/* Called when all whole frames were delivered: notes whether the buffer has the
 * beginning of a frame. */
static void
link_note_rest(struct rm_link *link)
{
	if (!link_has_rest(link)) {
		link->begun_at = (rm_mono_t){ 0 };
		return;
	}
	if (link->begun_at.ns != 0 && link->begun_after == link->counts.frames_in)
		return; /* this is the same frame as at the last check */
	link->begun_at = rm_mono_now();
	link->begun_after = link->counts.frames_in;
	link->late = false;
	if (link->stream != NULL || link->watched)
		return;
	link->watched = true;
	rm_timer_after(link->timer, link->frame_ns);
}

/* Returns true at the second check only. If this process was stopped, the rest of the
 * frame may still be in the kernel's buffer at the first check. */
static bool
link_frame_is_late(struct rm_link *link)
{
	bool late = link->begun_at.ns != 0 && !link->paused &&
		    link->begun_after == link->counts.frames_in &&
		    rm_mono_since(rm_mono_now(), link->begun_at) >= link->frame_ns;
	bool twice = late && link->late;

	link->late = late;
	link->counts.slow_frames += twice;
	return twice;
}

/* Sets the timer again: always with TLS, otherwise while frames arrive in parts. */
static void
link_recheck(struct rm_link *link)
{
	int r = 0;

	if (link->stream != NULL)
		r = tls_stream_check(link->stream, &link->error);
	if (r == 0 && link_frame_is_late(link))
		r = -ETIMEDOUT;
	link->watched = link->stream != NULL || link->begun_at.ns != 0;
	if (link->watched)
		rm_timer_after(link->timer, link->frame_ns < LINK_RECHECK_NS
						? link->frame_ns
						: LINK_RECHECK_NS);
	if (r < 0)
		rm_link_close(link, r);
}

/* If one side uses TLS and the other does not, the error says so. */
static void
link_explain(struct rm_link *link)
{
	uint8_t head[2] = { 0 };

	if (link->stream != NULL || link->counts.frames_in > 0)
		return;
	evbuffer_copyout(bufferevent_get_input(link->bev), head, sizeof(head));
	if (head[0] >= 0x14 && head[0] <= 0x17 && head[1] == 0x03)
		rm_error_set(
		    &link->error, 0, "the peer uses TLS, this daemon runs plaintext");
}

/* The reason for closing at the end of the stream. It is an orderly end only if no
 * bytes are left. */
static int
link_last_reason(struct rm_link *link)
{
	const struct evbuffer *rest = link->plain;

	if (rest == NULL)
		rest = bufferevent_get_input(link->bev);
	/* A stream that ends within a frame was cut off. A TLS stream that ends without
	 * close_notify was cut off, too: any host on the path can close a TCP
	 * connection. */
	if (link->reason == 0 &&
	    (evbuffer_get_length(rest) > 0 || (link->stream != NULL && !link->goodbye)))
		link->reason = -ECONNRESET;
	return link->reason;
}

/* Delivers one frame to the owner. Returns 0, -EAGAIN, or the reason to close. */
static int
link_hand_over(struct rm_link *link)
{
	struct rm_frame frame;
	int r;

	r = link_take(link, &frame);
	if (r == -EMSGSIZE || r == -EBADMSG) {
		link->counts.refused_frames++;
		link_explain(link);
	}
	if (r < 0)
		return r;
	link->counts.frames_in++;
	link->counts.bytes_in += RM_FRAME_HEADER_BYTES + frame.len;
	r = link->callbacks.on_frame(link, frame.data, frame.len, link->arg);
	free(frame.data);
	/* -EAGAIN of on_frame closes the link; it does not mean "wait for more". */
	if (r == -EAGAIN) {
		rm_link_close(link, r);
		r = 0;
	}
	return r;
}

const char *
rm_link_identity(const struct rm_link *link)
{
	return link->identity != NULL ? link->identity : "";
}

int64_t
rm_link_certificate_ends_s(const struct rm_link *link)
{
	return link->stream != NULL ? tls_stream_peer_ends_s(link->stream) : 0;
}

bool
rm_link_certificate_ending(const struct rm_link *link, int64_t now_wall_s)
{
	return link->stream != NULL && tls_stream_peer_ending(link->stream, now_wall_s);
}

const char *
rm_link_error(const struct rm_link *link)
{
	return link->error.text;
}

/* With these settings, a host that vanishes while nothing is sent is noticed within
 * about 15 s. The kernel of a frozen process still answers. */
static int
rm_tcp_prepare(int fd)
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

/* See rm_link_peer_ack. */
static int
rm_tcp_peer_ack(int fd, int64_t *since_ns, uint32_t *unacked)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);
	int queued, unsent;

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) < 0)
		return -errno;
	if (ioctl(fd, SIOCOUTQ, &queued) < 0 || ioctl(fd, SIOCOUTQNSD, &unsent) < 0)
		return -errno;
	*since_ns = (int64_t)info.tcpi_last_ack_recv * RM_NS_PER_MS;
	/* If the window of a frozen process is full, bytes stay unsent. These bytes
	 * wait for room in the window, not for an acknowledgement. */
	*unacked = queued > unsent ? (uint32_t)(queued - unsent) : 0;
	return 0;
}

/* Most frames that are delivered before other peers get their turn. */
#define LINK_FRAMES_PER_WAKEUP 64

/* Gives the kernel as much of the queue as it takes at once, so that a refusal that was
 * sent before the close can arrive; then closes the socket. */
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
	/* The bufferevent may live until its running callback returns, so its events
	 * are removed before the descriptor is closed. */
	bufferevent_disable(link->bev, EV_READ | EV_WRITE);
	bufferevent_free(link->bev);
	link->bev = NULL;
	close(link->fd);
	link->fd = -1;
}

/* The caller must return at once, since the owner may free the link in on_close. */
static void
link_finish(struct rm_link *link, int reason)
{
	link->closing = true;
	if (link->stream != NULL && !link->open && reason == -ETIMEDOUT)
		tls_stream_give_up(link->stream, true, &link->error);
	link_shut(link);
	link->callbacks.on_close(link, reason, link->arg);
}

/*
 * Delivers all whole frames that have arrived. libevent calls this function only for
 * new bytes, so a frame that is not delivered now would wait for the peer's next frame.
 * After a fixed number of frames the rest goes to the back of the queue, so that one
 * busy peer does not block the others.
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
	 * EPIPE: the peer has closed the connection. What the peer sent before, and how
	 * it has closed, is still read, and reading then ends. A peer that refuses our
	 * certificate reports that by TLS and then resets the connection.
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

/* Starts the timer that calls on_open, because some peers do not send first, and
 * because TLS has to begin. */
static int
link_arm(struct rm_link *link, struct rm_loop *loop)
{
	int r = rm_timer_new(loop, link_on_timer, link, &link->timer);

	if (r == 0 && !link->open)
		rm_timer_after(link->timer, 0);
	return r;
}

static int
link_tls_wrap(struct rm_link *link, const struct rm_link_limits *limits)
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
	/* The largest frame fits into the buffer, so that the limit cannot block the
	 * stream, and an incomplete frame cannot take more. */
	bufferevent_setwatermark(
	    link->bev, EV_READ, 0, RM_FRAME_HEADER_BYTES + link->max_frame);
	r = limits->tls != NULL ? link_tls_wrap(link, limits) : 0;
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

/* Frames wait for the end of the handshake; after it they are encrypted at once. */
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
	/* Nothing more is read; the deferred callback sees that closing is set. */
	bufferevent_disable(link->bev, EV_READ);
	bufferevent_trigger(
	    link->bev, EV_READ, BEV_OPT_DEFER_CALLBACKS | BEV_TRIG_IGNORE_WATERMARKS);
}

void
rm_link_pause(struct rm_link *link)
{
	link->paused = true;
	link->begun_at = (rm_mono_t){ 0 };
	/* Pausing does not stop the handshake. */
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
	/* Delivers frames that arrived during the pause. */
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
