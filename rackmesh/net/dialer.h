/*
 * dialer - keeps one link to the first reachable of an ordered list of peers.
 *
 * The dialer tries the peers in turn, each address for connect_timeout (TLS handshake
 * included), and pauses after every round (back-off with full jitter). When a link
 * closes, it dials again: from the first peer if the session was settled, else as after
 * a failed attempt. So a peer that accepts connections and then closes them is not
 * dialed too often, and the peers after it are tried, too.
 *
 * A peer's name is looked up for every attempt, so again after every failure, and all
 * its addresses are tried in order. If no answer comes within connect_timeout, the
 * addresses of the last answer are used. A name that cannot be resolved is logged once.
 */
#ifndef RACKMESH_NET_DIALER_H
#define RACKMESH_NET_DIALER_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/net/link.h"

struct rm_dialer;
struct rm_endpoint;

struct rm_dialer_options {
	const struct rm_endpoint *peers; /* copied */
	size_t peer_count;
	int64_t connect_timeout_ns;   /* 0: 2 s */
	int64_t backoff_base_ns;      /* 0: 100 ms */
	int64_t backoff_cap_ns;       /* 0: 5 s */
	struct rm_link_limits limits; /* limits.accepting is ignored */
};

struct rm_dialer_callbacks {
	/* The link is open (see rm_link_callbacks.on_open): the owner should send its
	 * hello. < 0 closes the link. */
	int (*on_up)(struct rm_link *link, void *arg);
	int (*on_frame)(
	    struct rm_link *link, const uint8_t *data, size_t len, void *arg);
	/* The link was closed, or an attempt to connect has failed. -ENXIO, -EAGAIN:
	 * the peer's name cannot be resolved, and was never resolved. This callback may
	 * free the dialer; the others may not. */
	void (*on_down)(int reason, void *arg);
	void (*on_drained)(struct rm_link *link, void *arg); /* may be NULL */
};

int rm_dialer_new(struct rm_loop *loop, const struct rm_dialer_options *options,
    const struct rm_dialer_callbacks *callbacks, void *arg, struct rm_dialer **ret);
void rm_dialer_free(struct rm_dialer *dialer); /* calls no callback */

/* Returns NULL if there is no open link. Borrowed until on_down. */
struct rm_link *rm_dialer_link(const struct rm_dialer *dialer);
/* Returns the index of the peer of the link, or of the peer that is dialed now. */
size_t rm_dialer_peer(const struct rm_dialer *dialer);
/* For use in on_down: the reason as text, from TLS or the resolver; "": there is no
 * text. */
const char *rm_dialer_error(const struct rm_dialer *dialer);
/* The owner has got the peer's welcome: the session is settled, and the back-off is
 * reset. */
void rm_dialer_settled(struct rm_dialer *dialer);

/* The owner has got a ping, so the peer sends pings: from now on rm_dialer_watch closes
 * the link if the peer is silent. */
void rm_dialer_pinged(struct rm_dialer *dialer);
/* Closes the link (-ETIMEDOUT) and returns true in two cases: it is up for welcome_ns
 * and not settled; or it is settled, and a peer that sends pings has sent nothing for
 * silence_ns. */
bool rm_dialer_watch(
    struct rm_dialer *dialer, rm_mono_t now, int64_t welcome_ns, int64_t silence_ns);
/* Call it after this process was stopped: it has not read what the peer sent meanwhile,
 * so both time limits begin again. */
void rm_dialer_stalled(struct rm_dialer *dialer, rm_mono_t now);

#endif
