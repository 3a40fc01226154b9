#include <errno.h>
#include <stdlib.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>

#include "rackmesh/loop/loop.h"
#include "rackmesh/net/frame.h"
#include "rackmesh/net/link_state.h"
#include "rackmesh/tls/tls_stream.h"

/* Who is there? 0, -EAGAIN while nobody knows, or why to close. What has come is looked
 * at in its turn: a step costs as much as a thousand frames of those who are known. */
static int
link_shake_hands(struct rm_link *link)
{
	int r = tls_stream_greeted(link->stream, &link->why);

	if (r == 0 && link->ended && !tls_stream_begun(link->stream))
		r = -EAGAIN;
	if (r == 0 && !link->has_turn &&
	    evbuffer_get_length(bufferevent_get_input(link->bev)) > 0) {
		rm_turn_ask(&link->turn);
		return -EAGAIN;
	}
	link->has_turn = false;
	if (r == 0)
		r = tls_stream_handshake(link->stream, &link->identity, &link->why);
	if (r == -EAGAIN && link->ended)
		return tls_stream_give_up(link->stream, false, &link->why);
	if (r < 0)
		return r;
	rm_timer_after(link->timer, LINK_RECHECK_NS);
	if (link->paused)
		bufferevent_disable(link->bev, EV_READ);
	return tls_stream_write(link->stream, link->outgoing);
}

int
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

/* Another frame may be among what has come enciphered; 0, -EAGAIN, or why to close. */
static int
link_decipher(struct rm_link *link)
{
	int r = tls_stream_read(link->stream, link->plain,
	    RM_FRAME_HEADER_BYTES + link->max_frame, &link->why);

	/* TLS answers some messages by itself: who asks and asks, and reads nothing,
	 * would have us keep the answers. */
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

void
link_note_rest(struct rm_link *link)
{
	if (!link_has_rest(link)) {
		link->begun_at = (rm_mono_t){ 0 };
		return;
	}
	if (link->begun_at.ns != 0 && link->begun_after == link->counts.frames_in)
		return; /* the same one still */
	link->begun_at = rm_mono_now();
	link->begun_after = link->counts.frames_in;
	link->late = false;
	if (link->stream != NULL || link->watched)
		return;
	link->watched = true;
	rm_timer_after(link->timer, link->frame_ns);
}

/* After a stop of our own process the rest of the frame lies in the kernel: one look
 * is no proof. */
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

/* With TLS again and again, else as long as frames come in parts. */
void
link_recheck(struct rm_link *link)
{
	int r = 0;

	if (link->stream != NULL)
		r = tls_stream_check(link->stream, &link->why);
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

/* The two ways of not being configured alike deserve a sentence. */
static void
link_explain(struct rm_link *link)
{
	uint8_t head[2] = { 0 };

	if (link->stream != NULL || link->counts.frames_in > 0)
		return;
	evbuffer_copyout(bufferevent_get_input(link->bev), head, sizeof(head));
	if (head[0] >= 0x14 && head[0] <= 0x17 && head[1] == 0x03)
		rm_why(&link->why, 0, "the peer speaks TLS, and we do not");
}

int
link_last_reason(struct rm_link *link)
{
	const struct evbuffer *rest = link->plain;

	if (rest == NULL)
		rest = bufferevent_get_input(link->bev);
	/* Cut off in the middle of a frame is no orderly end; nor is within TLS one
	 * that anybody on the way could have made. */
	if (link->reason == 0 &&
	    (evbuffer_get_length(rest) > 0 || (link->stream != NULL && !link->goodbye)))
		link->reason = -ECONNRESET;
	return link->reason;
}

int
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
	/* The owner's -EAGAIN is a reason like any other, not "wait for more". */
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
rm_link_why(const struct rm_link *link)
{
	return link->why.text;
}
