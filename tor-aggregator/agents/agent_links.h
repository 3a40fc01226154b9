/*
 * agent_links - the agents' connections: who may speak, and what each frame leads to.
 *
 * Hello first, answered by a welcome; then one registration or more, batches,
 * heartbeats, receive counts, counters, traced paths, services, questions. What is
 * malformed, out of turn or spoken for somebody else closes the link, counted by
 * reason; a kind of message that only a newer agent knows is passed over. A newer
 * connection of an agent takes the place of an older one; of two hosts with one name
 * the second is refused while the first is heard.
 */
#ifndef TOR_AGGREGATOR_AGENTS_AGENT_LINKS_H
#define TOR_AGGREGATOR_AGENTS_AGENT_LINKS_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

struct agent;
struct agent_links;
struct agents;
struct ingest;
struct rm_address;
struct rm_link;
struct rm_loop;
struct rm_tls;

struct agent_links_options {
	const char *name, *region; /* borrowed */
	uint64_t incarnation;
	struct rm_tls *tls;      /* borrowed; NULL: plaintext */
	size_t max_links;        /* connections, also of strangers */
	size_t max_output_bytes; /* waiting for one agent */
};

struct agent_links_callbacks {
	/* It has (again) said which RNICs it speaks for. */
	void (*on_register)(
	    struct agent *agent, const struct wire_register_view *view, void *arg);
	void (*on_gone)(struct agent *agent, void *arg);
	/* It was welcomed. */
	void (*on_session)(struct agent *agent, void *arg);
	/* It asks whose address this is; to be answered. */
	void (*on_resolve)(
	    struct agent *agent, const struct wire_resolve *resolve, void *arg);
	/* It asks for the other end of a QP of its RNIC's; to be answered. */
	void (*on_join)(struct agent *agent, const struct wire_join *join, void *arg);
	/* All service flows that it has. */
	void (*on_services)(
	    struct agent *agent, const struct wire_services_view *view, void *arg);
	/* What its RNICs have counted. */
	void (*on_counters)(
	    struct agent *agent, const struct wire_counter_report *view, void *arg);
	void *arg;
};

/* Other aggregators, who dial the same port; their links are ours to free. */
struct agent_links_peers {
	/* NULL: welcome; else why not. */
	const char *(*on_hello)(
	    struct rm_link *link, const struct wire_hello_view *view, void *arg);
	void (*on_up)(struct rm_link *link, void *arg); /* it was welcomed */
	int (*on_frame)(
	    struct rm_link *link, const uint8_t *data, size_t len, void *arg);
	void (*on_gone)(struct rm_link *link, void *arg);
	void *arg;
};

enum agent_links_refused {            /* why a link was closed by us */
	AGENT_LINKS_FULL,             /* too many connections */
	AGENT_LINKS_SILENT,           /* no hello in time */
	AGENT_LINKS_TOO_MANY_PENDING, /* no hello yet, and others came; see
					 rm_pending_conns */
	AGENT_LINKS_WRONG_IDENTITY,   /* another region or role, a bad name */
	AGENT_LINKS_NAME_TAKEN,       /* another host of that name is connected */
	AGENT_LINKS_VERSION,
	AGENT_LINKS_AGENTS, /* too many agents known */
	AGENT_LINKS_OUT_OF_TURN,
	AGENT_LINKS_MALFORMED,  /* did not verify */
	AGENT_LINKS_NOT_ITSELF, /* another host's or incarnation's message */
	AGENT_LINKS_SLOW,       /* did not take what we sent, or dribbled a frame */
	AGENT_LINKS_SUPERSEDED, /* its host has a newer connection */
	AGENT_LINKS_REFUSALS
};

struct agent_links_counts {
	uint64_t accepted, sessions;
	uint64_t refused[AGENT_LINKS_REFUSALS];
	uint64_t refused_rnics;    /* malformed, or spoken for by another host */
	uint64_t refused_frames;   /* damaged or oversized, below the wire */
	uint64_t unknown_messages; /* of newer agents, passed over */
	uint64_t heartbeats, pings;
	uint64_t bytes_in, frames_in; /* from agents, of closed links and open ones */
	uint64_t frames_out, refused_sends, slow_frames; /* likewise, as in the links */
	uint64_t bytes_out;
};

int agent_links_new(struct rm_loop *loop, const struct agent_links_options *options,
    const struct agent_links_callbacks *callbacks, struct agents *agents,
    struct ingest *ingest, struct agent_links **ret);
void agent_links_free(struct agent_links *links); /* no callback any more */

/* Before agent_links_listen; else no aggregator is welcome. */
void agent_links_admit(
    struct agent_links *links, const struct agent_links_peers *peer_aggregators);

int agent_links_listen(struct agent_links *links, const struct rm_address *address);
int agent_links_port(const struct agent_links *links); /* the real one, for port 0 */

/* To this agent; -ENOTCONN. One that does not take it is disconnected. */
int agent_links_send(
    struct agent_links *links, struct agent *agent, const struct wire_bytes *bytes);

/* From now on agents hear that we can deliver alerts, or cannot; at once where that is
 * news. */
void agent_links_mute(struct agent_links *links, bool mute);

/* Every 50 ms: asks kernels of silent agents, closes who never said hello. */
void agent_links_tick(struct agent_links *links);

size_t agent_links_open(const struct agent_links *links);
/* Of an agent's link, for the API; "" when it has none. */
const char *agent_links_peer(const struct agent *agent, char *text, size_t len);
/* Wall-clock seconds, of the certificate that it came with, once that ends soon; 0: not
 * soon, no link, no TLS. */
int64_t agent_links_certificate_ends_s(const struct agent *agent, rm_wall_t now);
const struct agent_links_counts *agent_links_counts(struct agent_links *links);
const char *agent_links_refused_str(enum agent_links_refused reason);

#endif
