#include "tor-aggregator/tor_aggregator.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "rackmesh/check/check.h"
#include "rackmesh/core/address.h"
#include "rackmesh/core/endpoint.h"
#include "rackmesh/core/log.h"
#include "rackmesh/core/random.h"
#include "rackmesh/http/http_client.h"
#include "rackmesh/http/http_server.h"
#include "rackmesh/incident/alert.h"
#include "rackmesh/incident/incident_file.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/worker.h"
#include "rackmesh/metrics/metrics.h"
#include "rackmesh/net/lookup.h"
#include "tor-aggregator/agents/agent.h"
#include "tor-aggregator/agents/agent_server.h"
#include "tor-aggregator/agents/pinglist_sender.h"
#include "tor-aggregator/aggregator_check.h"
#include "tor-aggregator/aggregator_config.h"
#include "tor-aggregator/analyzer/analyzer_link.h"
#include "tor-aggregator/analyzer/report_spool.h"
#include "tor-aggregator/api/aggregator_api.h"
#include "tor-aggregator/api/aggregator_metrics.h"
#include "tor-aggregator/api/hypervisor_answer.h"
#include "tor-aggregator/api/switch_answer.h"
#include "tor-aggregator/controller/controller_link.h"
#include "tor-aggregator/controller_requests.h"
#include "tor-aggregator/drift/drift.h"
#include "tor-aggregator/drift/drift_groups.h"
#include "tor-aggregator/hypervisor/hypervisor_collector.h"
#include "tor-aggregator/otlp/otlp.h"
#include "tor-aggregator/otlp/otlp_body.h"
#include "tor-aggregator/pairs.h"
#include "tor-aggregator/plan/key_store.h"
#include "tor-aggregator/plan/plan_store.h"
#include "tor-aggregator/rack/tor_rack.h"
#include "tor-aggregator/services/service_table.h"
#include "tor-aggregator/switch/switch_collector.h"
#include "tor-aggregator/tor_aggregator_diagnosis.h"
#include "tor-aggregator/tor_aggregator_events.h"
#include "tor-aggregator/tor_aggregator_incidents.h"
#include "tor-aggregator/tor_aggregator_notified.h"
#include "tor-aggregator/tor_aggregator_state.h"

/* ---- The HTTP server: where it listens ---- */

static int
tor_aggregator_serve_http(struct tor_aggregator *aggregator)
{
	const struct aggregator_config *config = aggregator->config;
	const struct rm_http_places places = { config->http_listen, config->http_socket,
		config->https_listen, config->http_tokens,
		.names = &config->http_names };
	struct rm_error error = { 0 };
	int r;

	r = rm_metrics_new(&aggregator->metrics);
	if (r == 0)
		r = rm_metrics_build_info(aggregator->metrics, "tor-aggregator");
	if (r == 0)
		r = rm_lookup_metrics(aggregator->metrics);
	if (r == 0)
		r = rm_metrics_reloads(aggregator->metrics, &aggregator->reload);
	if (r == 0)
		r = aggregator_metrics_register(aggregator, aggregator->metrics);
	if (r == 0)
		r = rm_credentials_metrics(
		    aggregator->credentials, aggregator->metrics);
	if (r == 0)
		r = rm_http_server_new(aggregator->loop, &aggregator->server);
	if (r == 0)
		r = rm_metrics_counter(aggregator->metrics, aggregator->server,
		    "rackmesh_aggregator_http_full_total", "",
		    "Times that new HTTP connections had to wait because too many were "
		    "open.",
		    rm_http_server_full(aggregator->server));
	if (r == 0)
		r = rm_metrics_counter(aggregator->metrics, aggregator->server,
		    "rackmesh_aggregator_http_late_total", "",
		    "HTTP connections closed because a request or an answer took too "
		    "long.",
		    rm_http_server_late(aggregator->server));
	if (r == 0)
		r = rm_metrics_counter(aggregator->metrics, aggregator->server,
		    "rackmesh_aggregator_http_misdirected_total", "",
		    "HTTP requests refused because their Host is not a name of this "
		    "host.",
		    rm_http_server_misdirected(aggregator->server));
	if (r == 0)
		r = aggregator_api_serve(aggregator, aggregator->server);
	if (r < 0) {
		rm_log_error(r, "cannot prepare the HTTP server");
		return r;
	}
	r = rm_http_places_listen(aggregator->server, &places,
	    rm_credentials_tls(aggregator->credentials), config->region, &error);
	if (r < 0)
		rm_log_error(0, "%s", error.text);
	return r;
}

/* ---- Keys of probes: from the controllers to the agents ---- */

static int
tor_aggregator_start_keys(struct tor_aggregator *aggregator)
{
	int r = key_store_new(aggregator->worker, aggregator->config->state_folder,
	    aggregator->tors, aggregator->rack_count, &aggregator->keys);

	if (r < 0)
		return r;
	key_store_load(aggregator->keys);
	pinglist_sender_set_keys(aggregator->pinglist_sender, aggregator->keys);
	return 0;
}

#define WORKER_JOBS 256
/* one answer of each switch */
#define PARSER_JOBS (WIRE_MAX_TORS + SWITCH_MAX_OTHERS)
#define ASK_SINKS_NS (3 * RM_NS_PER_S)
#define MAX_AGENT_OUTPUT_BYTES (24u << 20) /* more than the largest pinglist */

static int
start_racks(struct tor_aggregator *aggregator)
{
	const struct aggregator_config *config = aggregator->config;
	const struct aggregator_tor_config *tors = config->tors.items;
	struct tor_rack_options options = {
		.ring_bytes = config->ring_bytes,
		.timeout_ns = (int64_t)config->probe_timeout_ms * RM_NS_PER_MS,
		.row_interval_ns = (int64_t)config->row_interval_s * RM_NS_PER_S,
		.rnic_interval_ns = (int64_t)config->rnic_interval_s * RM_NS_PER_S,
		.resolve_after_ns = (int64_t)config->resolve_after_ms * RM_NS_PER_MS,
		.flap_within_ns = (int64_t)config->flapping_within_s * RM_NS_PER_S,
		.services = aggregator->services,
	};
	struct tor_rack_callbacks callbacks;

	tor_aggregator_rack_callbacks(aggregator, &callbacks);
	for (size_t i = 0; i < config->tors.count; i++) {
		int r;

		options.tor = tors[i].name;
		/* For a ToR with two aggregators, pairs decides which one is active. */
		options.active = tors[i].primary && tors[i].peer_name[0] == 0;
		options.id_seed = rm_random_u64();
		r = tor_rack_new(&options, &callbacks, rm_mono_now(), rm_wall_now(),
		    &aggregator->racks[i]);
		if (r < 0) {
			rm_log_error(r, "cannot watch ToR %s", tors[i].name);
			return r;
		}
		aggregator->tors[i] = tors[i].name;
		aggregator->rack_count++;
	}
	return 0;
}

/* Creates the state folder. Its parent folder must exist, so that a mistyped path is
 * not created. If the disk cannot be used, all state stays in memory. */
static int
start_state(struct tor_aggregator *aggregator)
{
	const char *folder = aggregator->config->state_folder;
	int r;

	if (folder[0] == 0 || mkdir(folder, 0750) == 0 || errno == EEXIST)
		return 0;
	r = -errno;
	if (r == -ENOENT || r == -ENOTDIR) {
		rm_log_error(r, "cannot make the state folder %s", folder);
		return r;
	}
	rm_log_warn(
	    r, "cannot make the state folder %s, started without a disk", folder);
	return 0;
}

/* Loads the plans saved before the restart, then plan files; of each ToR the newer plan
 * is used. */
static int
start_plans(struct tor_aggregator *aggregator)
{
	const struct aggregator_config *config = aggregator->config;
	const char *folder = config->state_folder[0] == 0 ? NULL : config->state_folder;
	struct rm_error error = { 0 };
	int r;

	r = plan_store_new(aggregator->worker, config->region, folder, aggregator->tors,
	    aggregator->rack_count, &aggregator->plans);
	if (r < 0)
		return r;
	for (size_t i = 0; i < aggregator->rack_count; i++)
		if (plan_store_load_cache(aggregator->plans, i, &error) < 0)
			rm_log_warn(0, "%s: started without it", error.text);
	for (size_t i = 0; i < aggregator->rack_count; i++)
		if (plan_store_view(aggregator->plans, i) != NULL)
			tor_aggregator_on_plan(i, aggregator);
	return tor_aggregator_load_plans(aggregator, config);
}

static int
start_report_spool(struct tor_aggregator *aggregator)
{
	const struct aggregator_config *config = aggregator->config;
	const struct report_spool_options options = {
		.aggregator = config->name,
		.region = config->region,
		.off = config->analyzers.count == 0,
		.folder = config->state_folder[0] == 0 ? NULL : config->state_folder,
		.summary_bytes = config->spool_summary_bytes,
		.incident_bytes = config->spool_incident_bytes,
	};
	struct rm_error error = { 0 };
	int r = report_spool_new(aggregator->loop, aggregator->worker, &options,
	    &aggregator->reports, &error);

	if (r < 0)
		rm_log_error(r, "cannot spool for the analyzer: %s", error.text);
	return r;
}

static int
start_analyzer(struct tor_aggregator *aggregator)
{
	const struct aggregator_config *config = aggregator->config;
	char *const *analyzers = config->analyzers.items;
	struct rm_endpoint endpoints[AGGREGATOR_MAX_ANALYZERS];
	const struct analyzer_link_options options = {
		.analyzers = endpoints,
		.analyzer_count = config->analyzers.count,
		.name = config->name,
		.region = config->region,
		.incarnation = aggregator->incarnation,
		.tls = rm_credentials_tls(aggregator->credentials),
		.tors = aggregator->tors,
		.tor_count = aggregator->rack_count,
		.summary_interval_s = (uint16_t)config->row_interval_s,
		.versions = &aggregator->versions,
	};
	const struct analyzer_link_callbacks callbacks = {
		.on_welcome = tor_aggregator_report_incidents,
		.on_drill = tor_aggregator_on_drill,
		.arg = aggregator,
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < config->analyzers.count; i++)
		r = rm_endpoint_parse(analyzers[i], &endpoints[i]);
	if (r == 0)
		r = analyzer_link_new(aggregator->loop, &options, &callbacks,
		    aggregator->reports, &aggregator->analyzer);
	if (r < 0)
		rm_log_error(r, "cannot prepare the link to the analyzers");
	return r;
}

int
tor_aggregator_alert_to(struct tor_aggregator *aggregator)
{
	const struct aggregator_config *config = aggregator->config;
	struct rm_alert_options receivers = { 0 };
	int r = rm_alert_config_introduce(&config->alerts, aggregator->http);

	rm_alert_config_options(&config->alerts, &receivers);
	return r < 0 ? r : rm_alerts_reload(aggregator->alerts, &receivers);
}

static int
start_alerts(struct tor_aggregator *aggregator)
{
	const struct aggregator_config *config = aggregator->config;
	struct rm_alert_options options = {
		.texts = { .region = config->region, .source = config->name },
		.ask_ns = aggregator_config_has_peers(config) ? ASK_SINKS_NS : 0,
		.on_notified = tor_aggregator_on_notified,
		.arg = aggregator,
	};
	int r;

	rm_alert_config_options(&config->alerts, &options);
	r = rm_http_client_new(aggregator->loop, &aggregator->http);
	if (r == 0)
		r = rm_alert_config_introduce(&config->alerts, aggregator->http);
	if (r == 0)
		r = rm_alerts_new(
		    aggregator->loop, aggregator->http, &options, &aggregator->alerts);
	if (r < 0)
		rm_log_error(r, "cannot prepare alerts");
	return r;
}

static int
fill_otlp(struct evbuffer *body, void *arg)
{
	struct tor_aggregator *aggregator = arg;
	const struct otlp_resource resource = { .instance = aggregator->config->name,
		.region = aggregator->config->region };

	return rnic_metrics_export(
	    &aggregator->rnic_metrics, &resource, rm_wall_now(), body);
}

static int
start_otlp(struct tor_aggregator *aggregator)
{
	const struct otlp_config *config = &aggregator->config->otlp;
	const struct otlp_options options = {
		.loop = aggregator->loop,
		.http = aggregator->http,
		.config = config,
		.fill = fill_otlp,
		.arg = aggregator,
	};
	int r = 0;

	if (config->url[0] != '\0')
		r = rm_http_client_origin(
		    aggregator->http, config->url, &config->origin);
	if (r == 0)
		r = otlp_new(&options, &aggregator->otlp);
	if (r < 0)
		rm_log_error(r, "cannot prepare messages to %s", config->url);
	return r;
}

/* Starts the worker for the answers of Nexuses. A large answer takes a second: the
 * worker that writes to disk must not wait for it. */
static int
start_parser(struct tor_aggregator *aggregator, const struct switch_config *config)
{
	return config->kind == SWITCH_NEXUS && aggregator->parser == NULL
		   ? rm_worker_new(aggregator->loop, PARSER_JOBS, &aggregator->parser)
		   : 0;
}

static int
start_switch(struct tor_aggregator *aggregator, const struct read_switch *like,
    const struct switch_config *config)
{
	struct switch_collector_options options = {
		.loop = aggregator->loop,
		.http = aggregator->http,
		.of = like->rack == SIZE_MAX ? "switch" : "switch of",
		.name = like->name,
		.own = like->rack != SIZE_MAX,
		.config = config,
	};
	struct read_switch *added =
	    &aggregator->read_switches[aggregator->read_switch_count];
	int r;

	if (config->kind == SWITCH_NONE)
		return 0;
	*added = *like;
	added->system_name = config->system_name;
	r = start_parser(aggregator, config);
	options.worker = aggregator->parser;
	if (r == 0)
		r = switch_collector_new(&options, &added->collector);
	if (r == 0)
		aggregator->read_switch_count++;
	return r;
}

static int
start_switches(struct tor_aggregator *aggregator)
{
	const struct aggregator_tor_config *tors = aggregator->config->tors.items;
	const struct rm_list *list = &aggregator->config->switches;
	const struct other_switch_config *others = list->items;
	int r = 0;

	for (size_t i = 0; r == 0 && i < aggregator->rack_count; i++) {
		const struct read_switch like = {
			.name = tors[i].name, .role = SWITCH_ROLE_TOR, .rack = i
		};

		r = start_switch(aggregator, &like, &tors[i].counters);
		if (r == 0 && tors[i].counters.kind != SWITCH_NONE)
			aggregator->switches[i] =
			    aggregator->read_switches[aggregator->read_switch_count - 1]
				.collector;
	}
	for (size_t i = 0; r == 0 && i < list->count; i++) {
		const struct read_switch like = { .name = others[i].name,
			.role = (enum switch_role)others[i].role,
			.rack = SIZE_MAX };

		r = start_switch(aggregator, &like, &others[i].reading);
	}
	if (r < 0)
		rm_log_error(r, "cannot prepare reading the switches' counters");
	return r;
}

/* The index of the rack that the ESXi host belongs to. */
static size_t
rack_of_hypervisor(
    const struct tor_aggregator *aggregator, const struct hypervisor_config *config)
{
	if (config->tor[0] == '\0')
		return aggregator->rack_count == 1 ? 0 : SIZE_MAX;
	for (size_t i = 0; i < aggregator->rack_count; i++)
		if (strcmp(aggregator->tors[i], config->tor) == 0)
			return i;
	return SIZE_MAX;
}

static int
start_hypervisors(struct tor_aggregator *aggregator)
{
	const struct rm_list *list = &aggregator->config->hypervisors;
	const struct hypervisor_config *configs = list->items;
	int r = 0;

	for (size_t i = 0; r == 0 && i < list->count; i++) {
		const struct hypervisor_collector_options options = {
			.loop = aggregator->loop,
			.config = &configs[i],
		};

		aggregator->hypervisor_racks[i].rack =
		    rack_of_hypervisor(aggregator, &configs[i]);
		r = hypervisor_collector_new(&options, &aggregator->hypervisors[i]);
		aggregator->hypervisor_count += r == 0;
	}
	if (r < 0)
		rm_log_error(r, "cannot prepare reading the hypervisors' counters");
	return r;
}

static int
start_drift(struct tor_aggregator *aggregator)
{
	int r = drift_groups_new(&aggregator->config->expected, &aggregator->expected);

	for (size_t i = 0; r == 0 && i < aggregator->rack_count; i++)
		r = drift_new(&aggregator->drifts[i]);
	if (r < 0)
		rm_log_error(r, "cannot prepare comparing the settings of RNICs");
	return r;
}

static int
start_agents(struct tor_aggregator *aggregator)
{
	const struct aggregator_config *config = aggregator->config;
	const struct agent_server_options options = {
		.name = config->name,
		.region = config->region,
		.incarnation = aggregator->incarnation,
		.tls = rm_credentials_tls(aggregator->credentials),
		.max_links = config->max_links,
		.max_output_bytes = MAX_AGENT_OUTPUT_BYTES,
	};
	const struct agent_server_callbacks callbacks = {
		.on_register = tor_aggregator_on_register,
		.on_gone = tor_aggregator_on_gone,
		.on_session = tor_aggregator_on_session,
		.on_resolve = tor_aggregator_on_resolve,
		.on_join = tor_aggregator_on_join,
		.on_services = tor_aggregator_on_services,
		.on_counters = tor_aggregator_on_counters,
		.arg = aggregator,
	};
	struct rm_address address;
	int r;

	aggregator->ingest.max_results_per_s = config->max_results_per_s;
	r = agent_server_new(aggregator->loop, &options, &callbacks, aggregator->agents,
	    &aggregator->ingest, &aggregator->links);
	if (r == 0)
		r = pinglist_sender_new(aggregator->agents, aggregator->links,
		    aggregator->racks, aggregator->rack_count,
		    &aggregator->pinglist_sender);
	if (r < 0)
		return r;
	r = pairs_new(aggregator, &aggregator->pairs);
	if (r == 0)
		r = rm_address_parse(config->listen, -1, &address);
	if (r == 0)
		r = agent_server_listen(aggregator->links, &address);
	if (r < 0)
		rm_log_error(r, "cannot listen on %s", config->listen);
	return r;
}

static int
start_controller_link(struct tor_aggregator *aggregator)
{
	const struct aggregator_config *config = aggregator->config;
	char *const *controllers = config->controllers.items;
	struct rm_endpoint endpoints[AGGREGATOR_MAX_CONTROLLERS];
	const struct controller_link_options options = {
		.controllers = endpoints,
		.controller_count = config->controllers.count,
		.name = config->name,
		.region = config->region,
		.incarnation = aggregator->incarnation,
		.tls = rm_credentials_tls(aggregator->credentials),
		.tors = aggregator->tors,
		.tor_count = aggregator->rack_count,
		.keys = aggregator->keys,
		.versions = &aggregator->versions,
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < config->controllers.count; i++)
		r = rm_endpoint_parse(controllers[i], &endpoints[i]);
	if (r == 0)
		r = controller_link_new(aggregator->loop, &options, aggregator->agents,
		    aggregator->plans, tor_aggregator_on_plan, aggregator,
		    &aggregator->controller_link);
	if (r == 0)
		controller_link_listen(aggregator->controller_link,
		    controller_requests_take, aggregator->controller_requests);
	else
		rm_log_error(r, "cannot prepare the link to the controllers");
	return r;
}

int
tor_aggregator_new(
    struct rm_loop *loop, struct aggregator_config *config, struct tor_aggregator **ret)
{
	struct tor_aggregator *aggregator = calloc(1, sizeof(*aggregator));
	const char *tors[WIRE_MAX_TORS];
	struct rm_identity_claim claim;
	int r = -ENOMEM;

	if (aggregator == NULL)
		goto out;
	aggregator->loop = loop;
	aggregator->config = config;
	rm_reload_start(&aggregator->reload, rm_wall_now());
	aggregator->incarnation = rm_random_u64();
	claim = aggregator_claim(config, tors);
	r = rm_credentials_new(loop, &config->credentials, &aggregator->credentials);
	if (r == 0)
		r = rm_check_identity(aggregator->credentials, &claim);
	if (r == 0)
		r = agents_new(config->max_agents, &aggregator->agents);
	if (r == 0)
		r = rm_worker_new(loop, WORKER_JOBS, &aggregator->worker);
	if (r < 0)
		goto out;
	r = start_state(aggregator);
	if (r == 0)
		r = service_table_new(SERVICE_TABLE_MAX_FLOWS, &aggregator->services);
	if (r == 0)
		r = start_racks(aggregator);
	if (r == 0)
		r = start_report_spool(aggregator);
	if (r == 0)
		r = start_alerts(aggregator);
	if (r == 0)
		r = start_otlp(aggregator);
	if (r == 0)
		r = start_switches(aggregator);
	if (r == 0)
		r = start_hypervisors(aggregator);
	if (r == 0)
		r = start_drift(aggregator);
	if (r == 0)
		r = tor_aggregator_start_diagnosis(aggregator);
	if (r == 0)
		r = tor_aggregator_restore_incidents(aggregator);
	if (r == 0)
		r = controller_requests_new(
		    aggregator, &aggregator->controller_requests);
	if (r == 0)
		r = start_plans(aggregator);
	if (r == 0)
		r = start_agents(aggregator);
	if (r == 0)
		r = tor_aggregator_start_keys(aggregator);
	if (r == 0)
		r = start_controller_link(aggregator);
	if (r == 0)
		r = start_analyzer(aggregator);
	if (r == 0)
		r = tor_aggregator_serve_http(aggregator);
	if (r == 0)
		r = tor_aggregator_start_ticking(aggregator);
	if (r < 0)
		goto out;
	rm_log_info("%s: started: %zu ToRs, agents at %s", config->name,
	    aggregator->rack_count, config->listen);
	*ret = aggregator;
	return 0;
out:
	rm_log_error(r, "cannot start");
	tor_aggregator_free(aggregator);
	return r;
}

void
tor_aggregator_free(struct tor_aggregator *aggregator)
{
	if (aggregator == NULL)
		return;
	rm_timer_free(aggregator->tick);
	wire_writer_free(aggregator->paths_writer);
	rm_http_server_free(aggregator->server);
	rm_metrics_free(aggregator->metrics);
	switch_metrics_free(aggregator->switch_metrics);
	for (size_t i = 0; i < aggregator->read_switch_count; i++)
		switch_collector_free(aggregator->read_switches[i].collector);
	hypervisor_metrics_free(aggregator->hypervisor_metrics);
	for (size_t i = 0; i < aggregator->hypervisor_count; i++)
		hypervisor_collector_free(aggregator->hypervisors[i]);
	controller_link_free(aggregator->controller_link);
	pairs_free(aggregator->pairs);
	pinglist_sender_free(aggregator->pinglist_sender);
	agent_server_free(aggregator->links);
	/* Free the worker first: its jobs use the plan store and the report spool. */
	if (aggregator->parser != NULL)
		rm_worker_stop(aggregator->parser);
	rm_worker_free(aggregator->worker);
	rm_worker_free(aggregator->parser);
	plan_store_free(aggregator->plans);
	key_store_free(aggregator->keys);
	controller_requests_free(aggregator->controller_requests);
	service_table_free(aggregator->services);
	analyzer_link_free(aggregator->analyzer);
	report_spool_free(aggregator->reports);
	for (size_t i = 0; i < aggregator->rack_count; i++)
		rm_incident_file_free(aggregator->incident_files[i]);
	rm_alerts_free(aggregator->alerts);
	otlp_free(aggregator->otlp);
	rm_http_client_free(aggregator->http);
	for (size_t i = 0; i < aggregator->rack_count; i++) {
		drift_free(aggregator->drifts[i]);
		tor_rack_free(aggregator->racks[i]);
	}
	drift_groups_free(aggregator->expected);
	tor_aggregator_end_diagnosis(aggregator);
	agents_free(aggregator->agents);
	rm_credentials_free(aggregator->credentials);
	free(aggregator);
}
