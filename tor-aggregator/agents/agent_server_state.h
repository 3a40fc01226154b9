/*
 * agent_server_state - the struct of an agent's connection; private to agent_server.c
 * and to the fuzzer that plays agents.
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
	struct rm_conn conn; /* pending until the welcome */
	struct agent *agent; /* NULL: no hello received yet */
	rm_mono_t pinged;    /* ns 0: a ping with a change is due */
	bool closing, is_peer_aggregator;
};

struct agent_server {
	struct rm_loop *loop;
	struct agent_server_options options;
	struct agent_server_callbacks callbacks;
	struct agent_server_peers peer_aggregators; /* zero: none are accepted */
	struct agents *agents;
	struct ingest *ingest;
	struct rm_listener *listener;
	struct wire_writer *writer;
	struct rm_server server;
	bool mute;
	struct rm_refusals refusals;
	struct agent_server_counts counts; /* without those of the server */
	struct agent_server_counts shown;
};

/* The next one behind rm_server_first; NULL: no more. */
static inline struct agent_link *
agent_link_next(const struct agent_link *peer)
{
	return rm_server_next(&peer->links->server, &peer->conn);
}

#endif
