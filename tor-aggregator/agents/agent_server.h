/*
 * agent_server - accepts the connections of agents, checks their identities, and passes
 * each frame to its handler.
 *
 * An agent first sends a hello, which is answered by a welcome; then it sends
 * registrations, batches, heartbeats, receive counts, counters, traced paths, services
 * and requests. If a message is malformed, unexpected or about another host's RNIC, the
 * link is closed, and the reason is counted. Messages of unknown kinds, from newer
 * agents, are ignored. A new connection of an agent replaces the old one. If two hosts
 * have the same name, the second is refused while the first is connected.
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
	struct rm_tls *tls; /* borrowed; NULL: plaintext */
	/* limit on connections, including those before their hello */
	size_t max_links;
	/* limit on the bytes that wait to be sent to one agent */
	size_t max_output_bytes;
};

struct agent_server_callbacks {
	/* The agent has sent a registration, and view is that message. All pointers are
	 * borrowed until the callback returns. */
	void (*on_register)(
	    struct agent *agent, const struct wire_register_view *view, void *arg);
	void (*on_gone)(struct agent *agent, void *arg);
	/* The welcome was sent to the agent. */
	void (*on_session)(struct agent *agent, void *arg);
	/* The agent asks which RNIC has an address; the request must be answered. */
	void (*on_resolve)(
	    struct agent *agent, const struct wire_resolve *resolve, void *arg);
	/* The agent asks for the other end of a QP of its RNIC; the request must be
	 * answered. */
	void (*on_join)(struct agent *agent, const struct wire_join *join, void *arg);
	/* The complete list of service flows on the host. */
	void (*on_services)(
	    struct agent *agent, const struct wire_services_view *view, void *arg);
	/* The counters of the host's RNICs. */
	void (*on_counters)(
	    struct agent *agent, const struct wire_counter_report *view, void *arg);
	void *arg;
};

/* Callbacks for connections of other aggregators, which dial the same port. The owner
 * of these callbacks frees the links. */
struct agent_server_peers {
	/* Returns NULL to accept the link, else the reason of the refusal. */
	const char *(*on_hello)(
	    struct rm_link *link, const struct wire_hello_view *view, void *arg);
	void (*on_up)(struct rm_link *link, void *arg); /* the welcome was sent */
	int (*on_frame)(
	    struct rm_link *link, const uint8_t *data, size_t len, void *arg);
	void (*on_gone)(struct rm_link *link, void *arg);
	void *arg;
};

enum agent_server_refused {  /* The reasons for which this aggregator closes a link. */
	AGENT_SERVER_FULL,   /* too many connections */
	AGENT_SERVER_SILENT, /* no hello has arrived in time */
	/* too many connections without a hello; see rm_pending_conns */
	AGENT_SERVER_TOO_MANY_PENDING,
	/* the peer has another region or role, or a bad name */
	AGENT_SERVER_WRONG_IDENTITY,
	AGENT_SERVER_NAME_TAKEN, /* another host of that name is connected */
	AGENT_SERVER_VERSION,
	AGENT_SERVER_AGENTS, /* there is no place for another agent, see agents_get */
	AGENT_SERVER_OUT_OF_TURN,
	AGENT_SERVER_MALFORMED, /* a message that does not verify */
	/* the message is about another host, or from another incarnation */
	AGENT_SERVER_NOT_ITSELF,
	AGENT_SERVER_SLOW, /* the agent did not read, or sent a frame too slowly */
	AGENT_SERVER_SUPERSEDED, /* the host has a newer connection */
	AGENT_SERVER_REFUSALS
};

struct agent_server_counts {
	uint64_t accepted, sessions;
	uint64_t refused[AGENT_SERVER_REFUSALS];
	/* RNICs that are malformed or that another host has registered */
	uint64_t refused_rnics;
	/* frames that are damaged or too large; no message was read */
	uint64_t refused_frames;
	uint64_t unknown_messages; /* messages of unknown kinds, from newer agents */
	uint64_t heartbeats, pings;
	uint64_t bytes_in, frames_in; /* received, over open and closed links */
	/* sums over open and closed links */
	uint64_t frames_out, refused_sends, slow_frames;
	uint64_t bytes_out;
};

int agent_server_new(struct rm_loop *loop, const struct agent_server_options *options,
    const struct agent_server_callbacks *callbacks, struct agents *agents,
    struct ingest *ingest, struct agent_server **ret);
void agent_server_free(struct agent_server *links); /* calls no callbacks */

/* Accepts other aggregators; peer_aggregators is copied. Call it before
 * agent_server_listen. */
void agent_server_admit(
    struct agent_server *links, const struct agent_server_peers *peer_aggregators);

int agent_server_listen(struct agent_server *links, const struct rm_address *address);
/* The port on which the server listens, also if address had port 0. */
int agent_server_port(const struct agent_server *links);

/* Sends a message to the agent. -ENOTCONN: it is not connected. An agent that does not
 * read is disconnected. */
int agent_server_send(
    struct agent_server *links, struct agent *agent, const struct wire_bytes *bytes);

/* mute: this aggregator cannot deliver alerts. Each ping to an agent says so; if mute
 * changes, a ping is sent at once. */
void agent_server_mute(struct agent_server *links, bool mute);

/* Call it every 50 ms: asks the kernels of silent agents for acknowledgements, and
 * closes connections without a hello. */
void agent_server_tick(struct agent_server *links);

size_t agent_server_open(const struct agent_server *links);
/* Writes the address of an agent's link into text, for the API, and returns text; "":
 * there is no link. */
const char *agent_server_peer(const struct agent *agent, char *text, size_t len);
/* Returns when the agent's certificate expires, in seconds since the epoch; 0: not
 * soon, no link, or no TLS. */
int64_t agent_server_certificate_ends_s(const struct agent *agent, rm_wall_t now);
const struct agent_server_counts *agent_server_counts(struct agent_server *links);
const char *agent_server_refused_str(enum agent_server_refused reason);

#endif
