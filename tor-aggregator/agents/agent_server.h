/*
 * agent_server - the server of the agents' connections: checks identities, and passes
 * each frame to its handler.
 *
 * A hello comes first and is answered by a welcome; then come registrations, batches,
 * heartbeats, receive counts, counters, traced paths, services, requests. A message
 * that is malformed, unexpected or about another host's RNIC closes the link, counted
 * by reason; unknown kinds of newer agents are ignored. A newer connection of an agent
 * replaces an older one; of two hosts with one name the second is refused while the
 * first is connected.
 */
#ifndef TOR_AGGREGATOR_AGENTS_AGENT_SERVER_H
#define TOR_AGGREGATOR_AGENTS_AGENT_SERVER_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

struct agent;
struct agent_server;
struct agents;
struct ingest;
struct rm_address;
struct rm_link;
struct rm_loop;
struct rm_tls;

struct agent_server_options {
	const char *name, *region; /* borrowed */
	uint64_t incarnation;
	struct rm_tls *tls;      /* borrowed; NULL: plaintext */
	size_t max_links;        /* connections, including unknown peers */
	size_t max_output_bytes; /* waiting to be sent to one agent */
};

struct agent_server_callbacks {
	/* It has sent a registration, the first or another one. */
	void (*on_register)(
	    struct agent *agent, const struct wire_register_view *view, void *arg);
	void (*on_gone)(struct agent *agent, void *arg);
	/* It got its welcome. */
	void (*on_session)(struct agent *agent, void *arg);
	/* It requests the RNIC of an address; must be answered. */
	void (*on_resolve)(
	    struct agent *agent, const struct wire_resolve *resolve, void *arg);
	/* It requests the other end of a QP of its RNIC; must be answered. */
	void (*on_join)(struct agent *agent, const struct wire_join *join, void *arg);
	/* The complete list of its service flows. */
	void (*on_services)(
	    struct agent *agent, const struct wire_services_view *view, void *arg);
	/* The counters of its RNICs. */
	void (*on_counters)(
	    struct agent *agent, const struct wire_counter_report *view, void *arg);
	void *arg;
};

/* For other aggregators, which dial the same port; the callee frees their links. */
struct agent_server_peers {
	/* NULL: accepted; else the reason of the refusal. */
	const char *(*on_hello)(
	    struct rm_link *link, const struct wire_hello_view *view, void *arg);
	void (*on_up)(struct rm_link *link, void *arg); /* it was welcomed */
	int (*on_frame)(
	    struct rm_link *link, const uint8_t *data, size_t len, void *arg);
	void (*on_gone)(struct rm_link *link, void *arg);
	void *arg;
};

enum agent_server_refused {            /* why this aggregator closed a link */
	AGENT_SERVER_FULL,             /* too many connections */
	AGENT_SERVER_SILENT,           /* no hello in time */
	AGENT_SERVER_TOO_MANY_PENDING, /* no hello yet, and too many others; see
					 rm_pending_conns */
	AGENT_SERVER_WRONG_IDENTITY,   /* another region or role, a bad name */
	AGENT_SERVER_NAME_TAKEN,       /* another host of that name is connected */
	AGENT_SERVER_VERSION,
	AGENT_SERVER_AGENTS, /* too many agents known */
	AGENT_SERVER_OUT_OF_TURN,
	AGENT_SERVER_MALFORMED,  /* did not verify */
	AGENT_SERVER_NOT_ITSELF, /* a message that belongs to another host or
				    incarnation */
	AGENT_SERVER_SLOW, /* did not read what was sent, or sent a frame too slowly */
	AGENT_SERVER_SUPERSEDED, /* its host has a newer connection */
	AGENT_SERVER_REFUSALS
};

struct agent_server_counts {
	uint64_t accepted, sessions;
	uint64_t refused[AGENT_SERVER_REFUSALS];
	uint64_t refused_rnics;    /* malformed, or registered by another host */
	uint64_t refused_frames;   /* damaged or oversized, below the wire */
	uint64_t unknown_messages; /* of newer agents, ignored */
	uint64_t heartbeats, pings;
	uint64_t bytes_in, frames_in; /* from agents, over closed and open links */
	uint64_t frames_out, refused_sends, slow_frames; /* the same, as in the links */
	uint64_t bytes_out;
};

int agent_server_new(struct rm_loop *loop, const struct agent_server_options *options,
    const struct agent_server_callbacks *callbacks, struct agents *agents,
    struct ingest *ingest, struct agent_server **ret);
void agent_server_free(struct agent_server *links); /* calls no callback any more */

/* Call it before agent_server_listen; without it no aggregator is accepted. */
void agent_server_admit(
    struct agent_server *links, const struct agent_server_peers *peer_aggregators);

int agent_server_listen(struct agent_server *links, const struct rm_address *address);
/* The real port if 0 was asked for. */
int agent_server_port(const struct agent_server *links);

/* Sends to this agent; -ENOTCONN. An agent that does not read is disconnected. */
int agent_server_send(
    struct agent_server *links, struct agent *agent, const struct wire_bytes *bytes);

/* Pings report to agents whether this aggregator can deliver alerts; one is sent at
 * once if that changes. */
void agent_server_mute(struct agent_server *links, bool mute);

/* Call it every 50 ms: asks the kernels of silent agents for acknowledgements, and
 * closes connections without a hello. */
void agent_server_tick(struct agent_server *links);

size_t agent_server_open(const struct agent_server *links);
/* The address of an agent's link, for the API; "" when it has none. */
const char *agent_server_peer(const struct agent *agent, char *text, size_t len);
/* When its certificate expires, in wall-clock seconds, if that is soon; 0: not soon, no
 * link, no TLS. */
int64_t agent_server_certificate_ends_s(const struct agent *agent, rm_wall_t now);
const struct agent_server_counts *agent_server_counts(struct agent_server *links);
const char *agent_server_refused_str(enum agent_server_refused reason);

#endif
