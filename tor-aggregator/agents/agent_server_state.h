/*
 * agent_server_state - the structs of the server and of a connection; private to
 * agent_server.c and to a fuzzer that sends messages as an agent.
 */
#ifndef TOR_AGGREGATOR_AGENTS_AGENT_SERVER_STATE_H
#define TOR_AGGREGATOR_AGENTS_AGENT_SERVER_STATE_H

#include <stdbool.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/net/refusals.h"
#include "rackmesh/net/server.h"
#include "tor-aggregator/agents/agent_server.h"

struct agent_link {
	struct agent_server *links;
	struct rm_conn conn; /* pending until the welcome is sent */
	struct agent *agent; /* NULL: no hello was received yet */
	/* when a ping was last sent; ns 0: a ping must be sent now */
	rm_mono_t pinged;
	bool closing, is_peer_aggregator;
};

struct agent_server {
	struct rm_loop *loop;
	struct agent_server_options options;
	struct agent_server_callbacks callbacks;
	/* all NULL: other aggregators are refused */
	struct agent_server_peers peer_aggregators;
	struct agents *agents;
	struct ingest *ingest;
	struct rm_listener *listener;
	struct wire_writer *writer;
	struct rm_server server;
	bool mute;
	struct rm_refusals refusals;
	/* does not include the counts that `server` has */
	struct agent_server_counts counts;
	struct agent_server_counts shown;
};

/* Returns the connection after this one, in the order of rm_server_first; NULL: there
 * are no more. */
static inline struct agent_link *
agent_link_next(const struct agent_link *peer)
{
	return rm_server_next(&peer->links->server, &peer->conn);
}

#endif
