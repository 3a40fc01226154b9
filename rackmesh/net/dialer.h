/*
 * dialer - keeps one link to the first reachable of an ordered list of peers.
 *
 * Tries the peers in turn, each address for connect_timeout (TLS handshake included),
 * with back-off (full jitter) after every whole round. When the link closes it dials
 * again by itself: from the first peer if the session was settled, else as after a
 * failed attempt. So a peer that accepts and then closes is not dialed too often, and
 * does not hide the next one.
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
	struct rm_link_limits limits; /* limits.accepting: taken as false */
};

struct rm_dialer_callbacks {
	/* The link is open (as its on_open): send the hello. < 0 closes it again. */
	int (*on_up)(struct rm_link *link, void *arg);
	int (*on_frame)(
	    struct rm_link *link, const uint8_t *data, size_t len, void *arg);
	/* The link was closed, or a connect attempt failed; -ENXIO, -EAGAIN: the peer's
	 * name cannot be resolved, and there is no earlier answer. May free the dialer;
	 * the other callbacks may not. */
	void (*on_down)(int reason, void *arg);
	void (*on_drained)(struct rm_link *link, void *arg); /* may be NULL */
};

int rm_dialer_new(struct rm_loop *loop, const struct rm_dialer_options *options,
    const struct rm_dialer_callbacks *callbacks, void *arg, struct rm_dialer **ret);
void rm_dialer_free(struct rm_dialer *dialer); /* no callback is called afterwards */

/* NULL while not up. Borrowed until on_down. */
struct rm_link *rm_dialer_link(const struct rm_dialer *dialer);
/* The number of the peer that the link leads to, or that is dialed now. */
size_t rm_dialer_peer(const struct rm_dialer *dialer);
/* In on_down: the reason as text, from TLS or the resolver; "": none. */
const char *rm_dialer_error(const struct rm_dialer *dialer);
/* Call it at the peer's welcome: the session is settled, and the back-off is reset. */
void rm_dialer_settled(struct rm_dialer *dialer);

/* Call it for a ping: this peer sends pings, so its silence has a meaning. */
void rm_dialer_pinged(struct rm_dialer *dialer);
/* Closes the link (-ETIMEDOUT), and returns true, if it was not settled welcome_ns
 * after it came up, or is settled, and a peer that sends pings sent nothing for
 * silence_ns. */
bool rm_dialer_watch(
    struct rm_dialer *dialer, rm_mono_t now, int64_t welcome_ns, int64_t silence_ns);
/* This process stood still, so it did not read what the peer sent: both times begin
 * again. */
void rm_dialer_stalled(struct rm_dialer *dialer, rm_mono_t now);

#endif
