/*
 * peer_link - links to the other aggregators of this aggregator's ToRs: one link to
 * each, for all common ToRs.
 *
 * The one whose name comes first in the alphabet dials the other's port for agents.
 * Both send their state every 250 ms, and the active one sends its incidents; nothing
 * is acknowledged, because everything is sent again on a new link. If an aggregator is
 * silent for 3 s, the link is closed and dialled again.
 */
#ifndef TOR_AGGREGATOR_STANDBY_PEER_LINK_H
#define TOR_AGGREGATOR_STANDBY_PEER_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/core/endpoint.h"
#include "schemas/wire.h"

struct peer_links;
struct rm_link;
struct rm_loop;
struct rm_tls;

struct peer_link_other {
	const char *name; /* borrowed */
	struct rm_endpoint endpoint;
	const char *tors[WIRE_MAX_TORS]; /* borrowed: the common ToRs */
	size_t tor_count;
};

struct peer_link_options {
	const char *name, *region; /* borrowed */
	uint64_t incarnation;
	struct rm_tls *tls;      /* borrowed; NULL: plaintext */
	const char *const *tors; /* borrowed */
	size_t tor_count;
	const struct peer_link_other *others; /* copied */
	size_t other_count;                   /* at most WIRE_MAX_TORS */
};

struct peer_link_callbacks {
	/* A session has begun: nothing was sent in it yet. */
	void (*on_session)(size_t other, void *arg);
	void (*on_standing)(
	    size_t other, const struct wire_standing *standing, void *arg);
	void (*on_incident)(
	    size_t other, const struct wire_incident *incident, void *arg);
	void *arg;
};

struct peer_link_counts {
	uint64_t sessions, refused, silent;
	uint64_t standings, incidents; /* that came */
	uint64_t sent, unsent; /* messages; unsent: the link did not accept them */
	uint64_t bad_frames;
};

/* True: by this URI of its certificate ("": a link without TLS) the peer is the
 * expected aggregator, allowed for every common ToR. reason: if it is not. */
bool peer_link_admits(const struct peer_link_other *other, const char *region,
    const char *uri, char *reason, size_t len);

int peer_links_new(struct rm_loop *loop, const struct peer_link_options *options,
    const struct peer_link_callbacks *callbacks, struct peer_links **ret);
void peer_links_free(struct peer_links *links); /* before the servers are freed */

/* -ENOTCONN, or as rm_link_send. */
int peer_links_send(
    struct peer_links *links, size_t other, const struct wire_bytes *bytes);
bool peer_links_connected(const struct peer_links *links, size_t other);

/* Often. */
void peer_links_tick(struct peer_links *links, rm_mono_t now);
/* This aggregator itself was stopped until now: the others were not silent
 * meanwhile. */
void peer_links_stalled(struct peer_links *links, rm_mono_t now);

/* For aggregators that dial this one: callback of agent_server's peers. NULL:
 * accepted; else the reason of the refusal. */
const char *peer_links_on_hello(
    struct rm_link *link, const struct wire_hello_view *view, void *links);
void peer_links_on_up(struct rm_link *link, void *links);
int peer_links_on_frame(
    struct rm_link *link, const uint8_t *data, size_t len, void *links);
void peer_links_on_gone(struct rm_link *link, void *links);

const struct peer_link_counts *peer_links_counts(const struct peer_links *links);

#endif
