#include "region-controller/region_controller.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/check/check.h"
#include "rackmesh/core/address.h"
#include "rackmesh/core/log.h"
#include "rackmesh/core/random.h"
#include "rackmesh/http/http_server.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/notify.h"
#include "rackmesh/metrics/metrics.h"
#include "rackmesh/net/listener.h"
#include "rackmesh/topology/topology.h"
#include "region-controller/aggregators/aggregators.h"
#include "region-controller/controller_check.h"
#include "region-controller/controller_config.h"
#include "region-controller/etcd/store_etcd.h"
#include "region-controller/plan/publish.h"
#include "region-controller/planner.h"
#include "region-controller/region_controller_internal.h"
#include "region-controller/registry/probe_keys.h"
#include "region-controller/registry/registry.h"
#include "region-controller/store/store_file.h"
#include "region-controller/topology/traced.h"

struct controller_config;
struct rm_loop;
struct rm_error;
struct store;

static int
new_etcd(struct rm_loop *loop, const struct controller_config *config,
    const struct probe_keys *keys, struct store **ret, struct rm_error *error)
{
	struct store_etcd_options options = {
		.name = config->name,
		.region = config->region,
		.endpoints = config->etcd.endpoints.items,
		.endpoint_count = config->etcd.endpoints.count,
		.user = config->etcd.user,
		.origin = &config->etcd.origin,
		.timeout_ns = (int64_t)config->etcd.timeout_ms * RM_NS_PER_MS,
		.relist_ns = (int64_t)config->etcd.relist_s * RM_NS_PER_S,
		.compact_after_ns = (int64_t)config->etcd.compact_after_s * RM_NS_PER_S,
		.lease_ttl_s = (int64_t)config->etcd.lease_ttl_s,
		.random_seed = rm_random_u64(),
	};
	char print[PROBE_KEYS_PRINT] = "", *password = NULL;
	int r;

	if (keys != NULL)
		probe_keys_print(keys, print);
	options.keys = print;
	r = controller_config_password(config, &password, error);
	if (r < 0)
		return r;
	options.password = password;
	r = store_etcd_new(loop, &options, ret);
	explicit_bzero(password, strlen(password));
	free(password);
	return r < 0
		   ? rm_error_set(error, r, "cannot prepare for etcd: %s", strerror(-r))
		   : 0;
}

static int
controller_store_new(struct rm_loop *loop, const struct controller_config *config,
    const struct probe_keys *keys, struct store **ret, struct rm_error *error)
{
	if (config->etcd.endpoints.count > 0)
		return new_etcd(loop, config, keys, ret, error);
	return store_file_new(
	    config->topology, config->name, config->region, ret, error);
}

/* ---- callbacks ---- */

static int
reload_topology(void *arg, struct rm_error *error)
{
	struct region_controller *controller = arg;
	int r;

	r = store_reload(controller->store, error);
	if (r < 0) {
		controller->counts.topology_refused++;
		rm_log_error(
		    0, "topology: refused, the old one stays in use: %s", error->text);
		return r;
	}
	return 0;
}

static int
forget_rnic(void *arg, struct rm_rnic_id id)
{
	struct region_controller *controller = arg;
	char text[RM_RNIC_ID_TEXT];
	int r;

	r = registry_forget(controller->registry, id);
	if (r < 0)
		return r;
	rm_rnic_id_format(id, text);
	rm_log_info("RNIC %s: registration removed by request", text);
	planner_soon(controller->planner);
	return 0;
}

/* ---- config ---- */

static void
log_next_secret(const struct region_controller *controller)
{
	char text[RM_WALL_TEXT];
	rm_wall_t from;

	if (!probe_keys_next(controller->keys, rm_wall_now(), &from))
		return;
	rm_wall_format(from, text);
	rm_log_info("probes: the next secret is used from %s on", text);
}

static void
reload_keys(struct region_controller *controller)
{
	char print[PROBE_KEYS_PRINT];
	struct rm_error error = { 0 };
	int r;

	if (controller->keys == NULL)
		return;
	r = probe_keys_reload(controller->keys, controller->config.keys_secret_file,
	    aggregators_epoch(controller->aggregators), &error);
	if (r < 0) {
		controller->reload.refused++;
		controller->reload.successful = 0;
		rm_log_error(0,
		    "probe_keys.secret_file: refused, the old secret stays in use: %s",
		    error.text);
	}
	if (r <= 0)
		return;
	rm_log_info("probes: the secret's file was read again");
	log_next_secret(controller);
	probe_keys_print(controller->keys, print);
	r = store_set_keys(controller->store, print);
	if (r < 0)
		rm_log_error(r, "probes: cannot publish which secrets are in use");
}

void
region_controller_reload(void *arg)
{
	struct region_controller *controller = arg;
	struct rm_error error = { 0 };

	if (rm_reload_read(&controller->reload, &controller_config_type,
		&controller->config, rm_wall_now(), NULL, NULL))
		planner_soon(controller->planner);
	reload_keys(controller);
	(void)reload_topology(
	    controller, &error); /* the function has logged the error */
}

/* ---- start ---- */

static int
controller_notify_metrics(struct region_controller *controller)
{
	const struct rm_notify_counts *n =
	    rm_notify_counts(rm_loop_notify(controller->loop));
	/* clang-format off */
	const struct rm_metric counters[] = {
		{ "rackmesh_controller_watchdog_fed_total", "",
		  "Times that systemd's watchdog was fed", &n->fed },
		{ "rackmesh_controller_notify_failed_total", "",
		  "Messages to systemd that could not be sent", &n->failed },
	};
	/* clang-format on */

	return rm_metrics_counters(controller->metrics, controller, counters,
	    sizeof(counters) / sizeof(counters[0]));
}

static int
serve_http(struct region_controller *controller)
{
	const struct rm_http_places places = { controller->config.http_listen,
		controller->config.http_socket, controller->config.https_listen,
		controller->config.http_tokens,
		.names = &controller->config.http_names };
	struct rm_error error = { 0 };
	int r;

	controller->context = (struct api_context){
		.name = controller->config.name,
		.started = rm_wall_now(),
		.region = controller->config.region,
		.store = controller->store,
		.registry = controller->registry,
		.publish = controller->publish,
		.traced = controller->traced,
		.aggregators = controller->aggregators,
		.brake = &controller->brake,
		.settled = planner_settled(controller->planner),
		.counts = &controller->counts,
		.planner_counts = planner_counts(controller->planner),
		.plan_counts = planner_plan_counts(controller->planner),
		.reload_topology = reload_topology,
		.forget = forget_rnic,
		.arg = controller,
	};
	r = rm_metrics_new(&controller->metrics);
	if (r == 0)
		r = rm_metrics_build_info(controller->metrics, "region-controller");
	if (r == 0)
		r = rm_metrics_reloads(controller->metrics, &controller->reload);
	if (r == 0)
		r = controller_metrics_add(controller->metrics, &controller->context);
	if (r == 0)
		r = rm_credentials_metrics(
		    controller->credentials, controller->metrics);
	if (r == 0)
		r = store_add_metrics(controller->store, controller->metrics);
	if (r == 0)
		r = rm_http_server_new(controller->loop, &controller->http);
	controller->context.http = controller->http;
	if (r == 0)
		r = rm_metrics_counter(controller->metrics, controller->http,
		    "rackmesh_controller_http_full_total", "",
		    "Times that new HTTP connections had to wait because too many were "
		    "open.",
		    rm_http_server_full(controller->http));
	if (r == 0)
		r = rm_metrics_counter(controller->metrics, controller->http,
		    "rackmesh_controller_http_late_total", "",
		    "HTTP connections closed because a request or an answer took too "
		    "long.",
		    rm_http_server_late(controller->http));
	if (r == 0)
		r = rm_metrics_counter(controller->metrics, controller->http,
		    "rackmesh_controller_http_misdirected_total", "",
		    "HTTP requests refused because their Host is not a name of this "
		    "host.",
		    rm_http_server_misdirected(controller->http));
	if (r == 0)
		r = controller_notify_metrics(controller);
	if (r == 0)
		r = controller_api_serve(
		    controller->http, controller->metrics, &controller->context);
	if (r < 0)
		return r;
	r = rm_http_places_listen(controller->http, &places,
	    rm_credentials_tls(controller->credentials), controller->config.region,
	    &error);
	if (r < 0)
		rm_log_error(0, "%s", error.text);
	return r;
}

static int
serve_aggregators(struct region_controller *controller)
{
	const struct aggregators_options options = {
		.name = controller->config.name,
		.region = controller->config.region,
		.incarnation = rm_random_u64() | 1,
		.tls = rm_credentials_tls(controller->credentials),
		.max_sessions = controller->config.max_aggregators,
		.registry = controller->registry,
		.publish = controller->publish,
		.keys = controller->keys,
		.standby = controller_standby,
		.on_change = controller_plan_soon,
		.on_rnic = controller_put_rnic,
		.on_traced = controller_learn_paths,
		.topology = controller_topology,
		.arg = controller,
	};
	struct rm_address address;
	int r;

	if (controller->keys == NULL)
		rm_log_warn(0,
		    "probes: not authenticated: probe_keys.secret_file is not set, "
		    "so any host of the fabric can answer for another one");
	r = aggregators_new(controller->loop, &options, &controller->aggregators);
	if (r == 0)
		r = rm_address_parse(controller->config.listen, -1, &address);
	if (r < 0)
		return r;
	r = rm_listener_new(controller->loop, &address, aggregators_accept,
	    controller->aggregators, &controller->listener);
	if (r < 0)
		rm_log_error(r, "cannot listen on %s", controller->config.listen);
	return r;
}

static int
read_store(struct region_controller *controller)
{
	struct rm_error error = { 0 };
	int r;

	r = controller_store_new(controller->loop, &controller->config,
	    controller->keys, &controller->store, &error);
	if (r < 0) {
		rm_log_error(0, "%s", error.text);
		return r;
	}
	if (store_topology(controller->store) == NULL)
		return 0;
	controller_log_warnings(store_topology(controller->store));
	return registry_set_topology(
	    controller->registry, store_topology(controller->store));
}

static int
read_keys(struct region_controller *controller)
{
	const struct controller_config *config = &controller->config;
	struct rm_error error = { 0 };
	int r;

	if (config->keys_secret_file[0] == '\0')
		return 0;
	r = probe_keys_new(
	    config->keys_secret_file, config->keys_epoch_s, &error, &controller->keys);
	if (r < 0) {
		rm_log_error(0, "probe_keys.secret_file: %s", error.text);
		return r;
	}
	log_next_secret(controller);
	return 0;
}

static int
build(struct region_controller *controller)
{
	const struct rm_identity_claim claim = controller_claim(&controller->config);
	int r;

	r = rm_credentials_new(controller->loop, &controller->config.credentials,
	    &controller->credentials);
	if (r == 0)
		r = rm_check_identity(controller->credentials, &claim);
	if (r == 0)
		r = registry_new(&controller->registry);
	if (r == 0)
		r = publish_new(&controller->publish);
	if (r == 0)
		r = traced_new(TRACED_MAX_LINKS, &controller->traced);
	if (r == 0)
		r = read_keys(controller);
	if (r == 0)
		r = read_store(controller);
	if (r == 0)
		r = planner_new(controller->loop, &controller->config,
		    controller->store, controller->registry, controller->publish,
		    &controller->planner);
	if (r == 0)
		r = serve_aggregators(controller);
	if (r < 0)
		return r;
	planner_start(controller->planner, controller->aggregators);
	r = controller_start_store(controller);
	if (r == 0)
		r = serve_http(controller);
	return r;
}

int
region_controller_new(struct rm_loop *loop, struct controller_config *config,
    struct region_controller **ret)
{
	struct region_controller *controller = calloc(1, sizeof(*controller));
	int r;

	if (controller == NULL) {
		controller_config_clear(config);
		rm_log_error(-ENOMEM, "cannot start");
		return -ENOMEM;
	}
	controller->loop = loop;
	controller->config = *config;
	rm_reload_start(&controller->reload, rm_wall_now());
	if (controller_config_unused_topology(&controller->config))
		rm_log_warn(0, "topology: %s", CONTROLLER_UNUSED_TOPOLOGY);
	*config = (struct controller_config){ 0 };
	r = build(controller);
	if (r < 0) {
		rm_log_error(r, "cannot start");
		region_controller_free(controller);
		return r;
	}
	rm_log_info("%s: started: region %s, aggregators on port %d",
	    controller->config.name, controller->config.region,
	    rm_listener_port(controller->listener));
	*ret = controller;
	return 0;
}

void
region_controller_free(struct region_controller *controller)
{
	if (controller == NULL)
		return;
	/* The server is freed first, because it answers the requests that wait for an
	 * answer. */
	rm_http_server_free(controller->http);
	controller->context.http = NULL;
	rm_listener_free(controller->listener);
	aggregators_free(controller->aggregators);
	store_free(controller->store);
	planner_free(controller->planner);
	publish_free(controller->publish);
	probe_keys_free(controller->keys);
	traced_free(controller->traced);
	registry_free(controller->registry);
	rm_metrics_free(controller->metrics);
	controller_config_clear(&controller->config);
	rm_credentials_free(controller->credentials);
	free(controller);
}

int
region_controller_port(const struct region_controller *controller)
{
	return rm_listener_port(controller->listener);
}

int
region_controller_http_port(const struct region_controller *controller)
{
	return rm_http_server_port(controller->http);
}
