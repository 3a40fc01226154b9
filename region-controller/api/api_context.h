/*
 * api_context - the data that /metrics and the HTTP API read, and the functions that
 * they call when an operator changes something.
 */
#ifndef REGION_CONTROLLER_API_API_CONTEXT_H
#define REGION_CONTROLLER_API_API_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/core/error.h"
#include "rackmesh/judge/part.h"
#include "region-controller/plan/plan.h"

struct aggregators;
struct planner_counts;
struct publish;
struct registry;
struct rm_http_server;
struct rm_metrics;
struct store;
struct traced;

struct controller_counts {
	uint64_t topology_reloads, topology_refused;
};

struct controller_brake { /* version 0: none was ever set */
	uint32_t rate_permille;
	uint64_t version;
	char by[RM_NAME_BYTES];
	rm_wall_t when;
};

struct api_context {
	const char *name, *region;
	rm_wall_t started; /* start of this process */
	struct store *store;
	const struct registry *registry;
	const struct publish *publish;
	const struct traced *traced;
	struct aggregators *aggregators;
	struct rm_http_server *http; /* for answers that are sent later */
	const struct controller_brake *brake;
	const bool *settled;
	const struct controller_counts *counts;
	const struct planner_counts *planner_counts;
	const struct plan_counts *plan_counts; /* counts of the newest set of plans */
	/* Requests of operators. */
	int (*reload_topology)(void *arg, struct rm_error *error);
	int (*forget)(void *arg, struct rm_rnic_id id); /* -ENOENT */
	void *arg;
};

/* All of these functions borrow the context for as long as server and registry live. */
int controller_metrics_add(
    struct rm_metrics *metrics, const struct api_context *context);
int controller_api_serve(struct rm_http_server *server,
    const struct rm_metrics *metrics, const struct api_context *context);
/* Adds the routes about the whole region: leader, topology, brake, addresses,
 * drill-down. Only controller_api_serve calls it. */
int controller_api_serve_region(
    struct rm_http_server *server, const struct api_context *context);

#endif
