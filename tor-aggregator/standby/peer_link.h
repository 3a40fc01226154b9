/*
 * peer_link - connections to the second aggregators of this aggregator's ToRs: one
 * connection to each of them, for all ToRs that both have.
 *
 * The aggregator whose name is first in the alphabet dials the other one's port for
 * agents. Both send their state every 250 ms, and the active one sends its incidents.
 * Messages are not acknowledged, because all of them are sent again on a new link. If
 * nothing arrives for 3 s, the link is closed, and dialed again.
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
	/* borrowed; the ToRs that both aggregators have */
	const char *tors[WIRE_MAX_TORS];
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
	/* A session has begun; nothing has been sent in it yet. other: index in
	 * peer_link_options.others. */
	void (*on_session)(size_t other, void *arg);
	void (*on_standing)(
	    size_t other, const struct wire_standing *standing, void *arg);
	void (*on_incident)(
	    size_t other, const struct wire_incident *incident, void *arg);
	void *arg;
};

struct peer_link_counts {
	uint64_t sessions, refused, silent;
	uint64_t standings, incidents; /* messages received */
	uint64_t sent, unsent; /* messages sent; unsent: the link did not accept them */
	uint64_t bad_frames;
};

/* True: the peer is the expected aggregator, and may serve every common ToR. uri: of
 * the peer's certificate; "": no TLS. If false, the cause is written to reason, of len
 * bytes. */
bool peer_link_admits(const struct peer_link_other *other, const char *region,
    const char *uri, char *reason, size_t len);

int peer_links_new(struct rm_loop *loop, const struct peer_link_options *options,
    const struct peer_link_callbacks *callbacks, struct peer_links **ret);
/* free it before the server for agents */
void peer_links_free(struct peer_links *links);

/* 0, -ENOTCONN, or an error of rm_link_send. */
int peer_links_send(
    struct peer_links *links, size_t other, const struct wire_bytes *bytes);
bool peer_links_connected(const struct peer_links *links, size_t other);

/* Call it often: closes links on which nothing arrives. */
void peer_links_tick(struct peer_links *links, rm_mono_t now);
/* Call it after this aggregator was stopped: the time until now does not count as
 * silence of the others. */
void peer_links_stalled(struct peer_links *links, rm_mono_t now);

/* The callbacks of agent_server_peers, for aggregators that dial this one. on_hello
 * returns NULL to accept, else the reason of the refusal. */
const char *peer_links_on_hello(
    struct rm_link *link, const struct wire_hello_view *view, void *links);
void peer_links_on_up(struct rm_link *link, void *links);
int peer_links_on_frame(
    struct rm_link *link, const uint8_t *data, size_t len, void *links);
void peer_links_on_gone(struct rm_link *link, void *links);

const struct peer_link_counts *peer_links_counts(const struct peer_links *links);

#endif
