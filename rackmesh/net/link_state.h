/*
 * link_state - what the two files of link share; private to them.
 */
#ifndef RACKMESH_NET_LINK_STATE_H
#define RACKMESH_NET_LINK_STATE_H

#include "rackmesh/core/address.h"
#include "rackmesh/core/clock.h"
#include "rackmesh/core/why.h"
#include "rackmesh/loop/turn.h"
#include "rackmesh/net/link.h"
#include "rackmesh/tls/tls.h"

/* The files are looked at every second, so that half of the time is left for this. */
#define LINK_RECHECK_NS (RM_TLS_RECHECK_NS / 2)
/* Enciphered and not looked at yet: a few records. */
#define LINK_SEALED_BYTES (64 << 10)

struct bufferevent;
struct evbuffer;
struct rm_timer;
struct tls_stream;

struct rm_link {
	int fd;
	struct bufferevent *bev; /* NULL: closed */
	struct rm_timer
	    *timer; /* on_open, a frame's time; with TLS its time-outs, too */
	size_t max_frame;
	size_t max_output;
	int64_t frame_ns;
	struct rm_link_callbacks callbacks;
	void *arg;
	struct tls_stream *stream; /* NULL: plaintext, without the next four */
	struct evbuffer *plain;    /* deciphered */
	struct evbuffer *outgoing; /* frames that wait for the handshake */
	struct rm_turn turn;       /* for a step of the handshake */
	bool has_turn;
	const char *identity;
	struct rm_why why;
	/*
	 * ended: the stream has said its last; the frames that came before it
	 * are still handed over. closing: our side has had enough, they are not.
	 */
	bool ended;
	bool closing;
	bool open;    /* on_open has been called */
	bool begun;   /* the handshake's time runs */
	bool goodbye; /* the peer has said, within TLS, that this was all */
	bool paused;  /* frames wait */
	int reason;   /* of whichever of the two */
	/* A frame has begun after so many whole ones, then; 0: none. */
	rm_mono_t begun_at;
	uint64_t begun_after;
	bool watched; /* the timer runs, also without TLS */
	bool late; /* has been found late once: what waits in the kernel may end it */
	struct rm_address peer;
	struct rm_link_counts counts;
};

/* The owner may use it from now on; 0, -EAGAIN: not yet, or why to close. */
int link_begin(struct rm_link *link);
/* One frame off the input to the owner; 0, -EAGAIN, or why to close. */
int link_hand_over(struct rm_link *link);
/* All that has come is handed over: does the rest begin a frame? */
void link_note_rest(struct rm_link *link);
/* The timer of an open link: may it stay? */
void link_recheck(struct rm_link *link);
/* The stream is at its end, and no whole frame is left: was that all? */
int link_last_reason(struct rm_link *link);

#endif
