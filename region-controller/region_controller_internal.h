/*
 * region_controller_internal - the controller's struct; private to region_controller.c
 * and region_controller_store.c.
 */
#ifndef REGION_CONTROLLER_REGION_CONTROLLER_INTERNAL_H
#define REGION_CONTROLLER_REGION_CONTROLLER_INTERNAL_H

#include "rackmesh/config/config_reload.h"
#include "region-controller/api/api_context.h"
#include "region-controller/api/controller_show.h"
#include "region-controller/controller_config.h"
#include "region-controller/store/store.h"

struct registry_rnic;

struct region_controller {
	struct rm_loop *loop;
	struct controller_config config;
	struct rm_reload reload;
	struct rm_credentials *credentials;
	struct store *store;
	struct registry *registry;
	struct publish *publish;
	struct probe_keys *keys; /* NULL: no RNIC authenticates */
	struct traced *traced;
	struct aggregators *aggregators;
	struct rm_listener *listener;
	struct rm_metrics *metrics;
	struct rm_http_server *http;
	struct planner *planner;
	struct controller_counts counts;
	struct api_context context;
	struct controller_brake brake;
	bool leads;
	char standby[SHOW_STANDBY_TEXT];
};

/* Starts the store, which calls its callbacks from now on. */
int controller_start_store(struct region_controller *controller);
void controller_log_warnings(const struct rm_topology *topology);

/* The following functions handle the aggregators' requests; arg is the controller. */
const char *controller_standby(void *arg);
const struct rm_topology *controller_topology(void *arg);
void controller_plan_soon(void *arg);
void controller_put_rnic(const struct registry_rnic *rnic, void *arg);
void controller_learn_paths(const struct wire_traced *traced, void *arg);

#endif
