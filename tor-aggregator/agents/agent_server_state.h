/*
 * agent_server_state - the struct of an agent's connection; private to agent_server.c
 * and to the fuzzer that plays agents.
 */
#ifndef TOR_AGGREGATOR_AGENTS_AGENT_SERVER_STATE_H
#define TOR_AGGREGATOR_AGENTS_AGENT_SERVER_STATE_H

#include <stdbool.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/net/pending_conns.h"
#include "rackmesh/net/refusals.h"
#include "tor-aggregator/agents/agent_server.h"

struct rm_link;

struct agent_link {
	struct agent_server *links;
	struct rm_link *link;
	struct agent *agent;                 /* NULL: no hello received yet */
	struct rm_pending_conn pending_conn; /* in use until the welcome */
	rm_mono_t pinged;                    /* ns 0: a ping with a change is due */
	bool closing, is_peer_aggregator;
	struct agent_link *next, *previous;
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
	struct agent_link *first;
	size_t count;
	bool mute;
	struct rm_pending_conns pending_conns;
	struct rm_refusals refusals;
	struct agent_server_counts counts; /* bytes and frames: only of closed links */
	struct agent_server_counts shown;
};

#endif
