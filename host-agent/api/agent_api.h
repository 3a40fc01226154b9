/*
 * agent_api - the HTTP API of the daemon: its state, and pausing it.
 *
 *   GET  /v1/rnics        each RNIC: id, addresses, state, counters
 *   GET  /v1/pinglist     each ToR's pinglist: version, size of the roster, targets
 *                         (?offset=, ?limit=, at most 1000)
 *   GET  /v1/aggregators  each aggregator: session, number of batches by outcome
 *   GET  /v1/paths        the path of each flow that leaves the rack; ?offset=, ?limit=
 *   GET  /v1/counters     the hardware counters of each RNIC
 *   GET  /v1/services     services whose flows use this host's RNICs; ?offset=, ?limit=
 *   POST /v1/pause        stops probing (RM_HTTP_CHANGE)
 *   POST /v1/resume       continues probing (RM_HTTP_CHANGE)
 *
 * /metrics, /healthz and /readyz come from rackmesh/http. Ready: there is a pinglist
 * and an aggregator is connected.
 */
#ifndef HOST_AGENT_API_AGENT_API_H
#define HOST_AGENT_API_AGENT_API_H

#include <stdbool.h>
#include <stddef.h>

struct agent_services;
struct counters;
struct rnic;
struct wire_brake;
struct pinglist_store;
struct rm_http_server;
struct rm_metrics;
struct self_limit;
struct tracer;
struct aggregator_link;

#define AGENT_MAX_WAITING 64

/* A device that the config selects, and that is not an RNIC of this agent yet. */
struct agent_waiting {
	char device[64];
	char reason[192];
};

struct agent_api { /* data that the API shows; borrowed, and read at every request */
	const char *host;
	struct rnic *const *rnics;
	size_t rnic_count;
	const struct agent_waiting *waiting;
	size_t waiting_count;
	struct aggregator_link *const *aggregator_links;
	size_t aggregator_link_count;
	const struct pinglist_store *pinglists;
	const struct tracer *tracer;
	/* NULL: service flows are not followed. */
	const struct agent_services *services;
	const struct counters *counters; /* NULL: counters are not read */
	const bool *paused;
	const struct wire_brake *brake;
	const struct self_limit *limit;
	void (*pause)(bool paused, void *arg);
	void *arg;
};

/* api is borrowed for the life of the server. */
int agent_api_serve(struct rm_http_server *server, const struct rm_metrics *metrics,
    struct agent_api *api);

#endif
