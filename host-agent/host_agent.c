#include "host-agent/host_agent.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "host-agent/agent_check.h"
#include "host-agent/api/agent_api_counters.h"
#include "host-agent/host_agent_counters.h"
#include "host-agent/host_agent_rnics.h"
#include "host-agent/host_agent_services.h"
#include "host-agent/host_agent_state.h"
#include "host-agent/packet/key_ring.h"
#include "host-agent/pinglist/brake_file.h"
#include "host-agent/pinglist/pinglist_store.h"
#include "host-agent/reflector/rx_count_report.h"
#include "host-agent/rnic/device_events.h"
#include "host-agent/rnic/rdma_index.h"
#include "host-agent/trace/tracer_io.h"
#include "host-agent/verbs/priority_pool.h"
#include "rackmesh/check/check.h"
#include "rackmesh/core/endpoint.h"
#include "rackmesh/core/log.h"
#include "rackmesh/core/random.h"
#include "rackmesh/http/http_server.h"
#include "rackmesh/identity/key_file.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/worker.h"
#include "rackmesh/metrics/metrics.h"
#include "rackmesh/net/lookup.h"

/* ---- The HTTP server: its addresses, and what operators may do ---- */

static void
agent_pause(bool paused, void *arg)
{
	struct host_agent *agent = arg;

	if (agent->paused != paused)
		rm_log_info("probing: %s", paused ? "paused" : "resumed");
	agent->paused = paused;
	for (size_t i = 0; i < agent->rnic_count; i++)
		rnic_pause(agent->rnics[i], paused);
	agent_tune_tracing(agent);
}

static int
agent_serve_http(struct host_agent *agent)
{
	const struct rm_http_places places = { agent->config.http_listen,
		agent->config.http_socket, agent->config.https_listen,
		agent->config.http_tokens, .names = &agent->config.http_names };
	struct rm_error error = { 0 };
	int r;

	/* The RNICs may be added later: host_agent_rnics.c adds them to this list. */
	agent->api.host = agent->config.host;
	agent->api.aggregator_links = agent->aggregator_links;
	agent->api.aggregator_link_count = agent->aggregator_link_count;
	agent->api.pinglists = agent->pinglists;
	agent->api.tracer = tracer_io_tracer(agent->io);
	agent->api.services = agent->services;
	agent->api.counters = agent_counters_table(agent->counters);
	agent->api.paused = &agent->paused;
	agent->api.brake = &agent->brake_now;
	agent->api.limit = &agent->limit;
	agent->api.pause = agent_pause;
	agent->api.arg = agent;
	r = rm_http_server_new(agent->loop, &agent->http);
	if (r == 0)
		r = rm_metrics_counter(agent->metrics, agent->http,
		    "rackmesh_agent_http_full_total", "",
		    "Times that new HTTP connections had to wait because too many were "
		    "open.",
		    rm_http_server_full(agent->http));
	if (r == 0)
		r = rm_metrics_counter(agent->metrics, agent->http,
		    "rackmesh_agent_http_late_total", "",
		    "HTTP connections closed because a request or an answer took too "
		    "long.",
		    rm_http_server_late(agent->http));
	if (r == 0)
		r = rm_metrics_counter(agent->metrics, agent->http,
		    "rackmesh_agent_http_misdirected_total", "",
		    "HTTP requests refused because their Host is not a name of this "
		    "host.",
		    rm_http_server_misdirected(agent->http));
	if (r == 0)
		r = agent_api_serve(agent->http, agent->metrics, &agent->api);
	if (r < 0)
		return r;
	r = rm_http_places_listen(agent->http, &places,
	    rm_credentials_tls(agent->credentials), agent->config.region, &error);
	if (r < 0)
		rm_log_error(0, "%s", error.text);
	return r;
}

/* Jobs that may wait at a time: one examination per RNIC, and a few writes per ToR. */
#define WORKER_JOBS (8 * WIRE_MAX_HOST_RNICS)
#define OUTBOX_MAX_BATCHES 4096
/* Each neighbour that does not answer keeps one thread busy for a second. */
#define ADDRESS_LANES 8

/* The longest time that the end of the agent waits for running calls of verbs. */
#define VERBS_STOP_NS (2 * RM_NS_PER_S)

/* ---- options, and applying a new config ---- */

struct prober_options
agent_prober_options(struct host_agent *agent)
{
	const struct agent_config *config = &agent->config;
	const uint32_t planned_ms = pinglist_store_probe_timeout_ms(agent->pinglists);

	return (struct prober_options){
		.timeout_ns =
		    (int64_t)(planned_ms != 0 ? planned_ms : config->probe_timeout_ms) *
		    RM_NS_PER_MS,
		.max_rate_per_s = config->probe_max_rate_per_s,
		.host_rate_limit = &agent->rate_limit,
	};
}

void
agent_tune_probers(struct host_agent *agent)
{
	const struct prober_options options = agent_prober_options(agent);

	if (options.timeout_ns == agent->tuned.timeout_ns &&
	    options.max_rate_per_s == agent->tuned.max_rate_per_s)
		return;
	agent->tuned = options;
	for (size_t i = 0; i < agent->rnic_count; i++) {
		int r = rnic_retune(agent->rnics[i], &options);

		if (r < 0)
			rm_log_warn(r, "%s: cannot apply the new probe options",
			    rnic_device(agent->rnics[i]));
	}
}

static int
amend_place(void *fresh, struct rm_error *error, void *arg)
{
	const struct host_agent *agent = arg;
	int r = agent_config_place(fresh, agent->place);

	return r < 0 ? rm_error_set(error, r, "cannot use its aggregators") : 0;
}

void
host_agent_reload(void *arg)
{
	struct host_agent *agent = arg;

	if (!rm_reload_read(&agent->reload, &agent_config_type, &agent->config,
		rm_wall_now(), amend_place, agent))
		return;
	agent_tune_tracing(agent);
	agent_tune_limits(agent);
	agent_services_tune(agent->services);
	agent_tune_probers(agent);
}

/* ---- creation ---- */

static int
agent_add_rnics(struct host_agent *agent)
{
	agent->tuned = agent_prober_options(agent);
	agent->rnics = calloc(WIRE_MAX_HOST_RNICS, sizeof(struct rnic *));
	if (agent->rnics == NULL)
		return -ENOMEM;
	return agent_finder_new(agent, &agent->finder);
}

static int
agent_add_aggregator_links(struct host_agent *agent)
{
	const struct agent_config *config = &agent->config;
	const struct agent_aggregator_config *list = config->aggregators.items;

	agent->aggregator_links =
	    calloc(config->aggregators.count + 1, sizeof(*agent->aggregator_links));
	if (agent->aggregator_links == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < config->aggregators.count; i++) {
		struct rm_endpoint aggregator;
		struct aggregator_link_options options = {
			.aggregator = &aggregator,
			.host = config->host,
			.region = config->region,
			.incarnation = agent->incarnation,
			.tls = rm_credentials_tls(agent->credentials),
			.batch_max_results = config->batch_max_results,
			.batch_max_age_ns =
			    (int64_t)config->batch_max_age_ms * RM_NS_PER_MS,
			.outbox = { .max_items = OUTBOX_MAX_BATCHES,
			    .max_bytes = config->queue_max_bytes,
			    .max_age_ns =
				(int64_t)config->queue_max_age_ms * RM_NS_PER_MS },
		};
		int r;

		r = rm_endpoint_parse(list[i].address, &aggregator);
		if (r == 0)
			r = aggregator_link_new(agent->loop, &options,
			    &agent_aggregator_link_callbacks, agent,
			    &agent->aggregator_links[i]);
		if (r < 0)
			return r;
		agent->aggregator_link_count++;
		r = agent_metrics_aggregator_link(
		    agent->metrics, agent->aggregator_links[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

static void
agent_load_brake(struct host_agent *agent)
{
	int r = brake_file_load(agent->brake_file, &agent->brake);

	if (r < 0 && r != -ENOENT)
		rm_log_warn(r, "cannot read the saved brake");
	agent_obey_brake(agent);
}

static int
agent_add_tracing(struct host_agent *agent)
{
	struct tracer_options options = agent_tracer_options(&agent->config);
	int r;

	options.random_seed = rm_random_u64();
	r = tracer_io_new(agent->loop, &options, &agent->io);
	if (r == 0)
		r = agent_metrics_tracing(agent->metrics, agent->io);
	return r;
}

static int
agent_add_users(struct host_agent *agent)
{
	if (agent->services == NULL || agent->counters == NULL)
		return 0;
	agent->users = (struct agent_users){ agent_services_table(agent->services),
		agent_counters_table(agent->counters) };
	return agent_metrics_counted(agent->metrics, &agent->users);
}

static int
agent_build(struct host_agent *agent)
{
	const struct agent_config *config = &agent->config;
	const struct rm_identity_claim claim = agent_claim(config);
	int r;

	/* Only the folder itself is created: the package creates its parents.
	 * If that fails, for example because the disk is full, the agent starts
	 * all the same. */
	if (config->state_folder[0] != 0 && mkdir(config->state_folder, 0755) < 0 &&
	    errno != EEXIST)
		rm_log_warn(-errno, "%s: cannot keep pinglists", config->state_folder);
	r = agent_load_place(agent);
	if (r == 0)
		r = rm_metrics_new(&agent->metrics);
	if (r == 0)
		r = rm_metrics_build_info(agent->metrics, "host-agent");
	if (r == 0)
		r = rm_lookup_metrics(agent->metrics);
	if (r == 0)
		r = rm_metrics_reloads(agent->metrics, &agent->reload);
	if (r == 0)
		r = rm_credentials_new(
		    agent->loop, &config->credentials, &agent->credentials);
	if (r == 0)
		r = rm_check_identity(agent->credentials, &claim);
	if (r == 0)
		r = rm_credentials_metrics(agent->credentials, agent->metrics);
	if (r == 0)
		r = rm_worker_new(agent->loop, WORKER_JOBS, &agent->worker);
	if (r == 0)
		r = priority_pool_new(agent->loop, ADDRESS_LANES, &agent->pool);
	if (r == 0)
		r = pinglist_store_new(
		    config->state_folder, agent->worker, &agent->pinglists);
	if (r == 0)
		r = agent_new_keys(agent);
	if (r == 0)
		r = brake_file_new(
		    config->state_folder, agent->worker, &agent->brake_file);
	if (r == 0)
		r = rx_count_report_new(&agent->rows);
	if (r == 0)
		r = rdma_index_new(RDMA_SYSFS, &agent->rdma);
	if (r == 0)
		r = agent_metrics_agent(agent->metrics, &agent->counts, &agent->paused);
	if (r == 0)
		r = agent_metrics_brake(
		    agent->metrics, &agent->brake_now, agent->brake_file);
	if (r == 0)
		r = agent_metrics_plans(agent->metrics, agent->pinglists);
	if (r == 0)
		r = agent_metrics_keys(agent->metrics, agent->keys, agent->key_files);
	if (r == 0)
		r = agent_metrics_notify(agent->metrics, rm_loop_notify(agent->loop));
	if (r == 0)
		r = agent_metrics_limit(agent->metrics, &agent->limit);
	if (r == 0)
		r = agent_add_tracing(agent);
	if (r == 0)
		r = agent_add_rnics(agent);
	if (r == 0)
		r = agent_add_aggregator_links(agent);
	if (r == 0)
		r = agent_start_place(agent);
	if (r == 0)
		r = agent_services_new(agent, &agent->services);
	if (r == 0)
		r = agent_metrics_services(agent->metrics, agent->services);
	if (r == 0)
		r = agent_counters_new(agent, &agent->counters);
	if (r == 0)
		r = agent_add_users(agent);
	if (r == 0)
		r = agent_counter_metrics_new(agent->metrics, config->host,
		    agent_counters_table(agent->counters), &agent->counter_metrics);
	if (r == 0)
		r = agent_namespace_metrics(
		    agent->metrics, agent_counters_namespaces(agent->counters));
	if (r == 0)
		r = agent_serve_http(agent);
	if (r == 0)
		r = agent_start_timers(agent);
	if (r == 0) {
		agent_tune_limits(agent);
		agent_load_brake(agent);
		pinglist_store_load(agent->pinglists, rm_wall_now(), rm_mono_now());
		agent_tune_probers(agent);
		agent_load_keys(agent);
	}
	return r;
}

int
host_agent_new(
    struct rm_loop *loop, struct agent_config *config, struct host_agent **ret)
{
	struct host_agent *agent = calloc(1, sizeof(*agent));
	int r;

	if (agent == NULL) {
		rm_log_error(-ENOMEM, "cannot start");
		return -ENOMEM;
	}
	agent->loop = loop;
	agent->brake_now.rate_permille = BRAKE_NONE;
	self_limit_init(&agent->limit, &(struct self_limit_options){ 0 });
	rate_limit_init(&agent->rate_limit, RATE_LIMIT_HOST_PACKETS_PER_S,
	    RATE_LIMIT_HOST_BYTES_PER_S);
	agent->config = *config;
	*config = (struct agent_config){ 0 };
	rm_reload_start(&agent->reload, rm_wall_now());
	while (agent->incarnation == 0)
		agent->incarnation = rm_random_u64();
	r = agent_build(agent);
	if (r < 0) {
		rm_log_error(r, "cannot start");
		host_agent_free(agent);
		return r;
	}
	rm_log_info("%s: started: %zu RNICs, %zu aggregators", agent->config.host,
	    agent->rnic_count, agent->aggregator_link_count);
	*ret = agent;
	return 0;
}

/* Ends the jobs that the RNICs have left in the pool. If a driver hangs in a call, the
 * memory that the call uses is not freed. */
static void
end_verbs(struct host_agent *agent)
{
	const size_t left = priority_pool_free_until(
	    agent->pool, rm_mono_add(rm_mono_now(), VERBS_STOP_NS));

	if (left > 0)
		rm_log_warn(0,
		    "RNICs: ended while %zu calls for address handles hang in a driver",
		    left);
}

void
host_agent_free(struct host_agent *agent)
{
	if (agent == NULL)
		return;
	rm_timer_free(agent->turn);
	rm_timer_free(agent->beat);
	rm_timer_free(agent->look);
	rm_timer_free(agent->changed);
	device_events_free(agent->events);
	rm_timer_free(agent->report);
	rm_http_server_free(agent->http);
	agent_services_stop(agent->services);
	/* The worker is freed before the modules below, because its jobs use them when
	 * they end. */
	rm_worker_free(agent->worker);
	agent_finder_free(agent->finder);
	agent_services_free(agent->services);
	for (size_t i = 0; i < agent->rnic_count; i++)
		rnic_free(agent->rnics[i]);
	end_verbs(agent);
	for (size_t i = 0; i < agent->aggregator_link_count; i++)
		aggregator_link_free(agent->aggregator_links[i]);
	agent_free_place(agent);
	tracer_io_free(agent->io);
	/* The counters are freed late, because that waits for drivers, and a driver may
	 * hang. */
	agent_counters_free(agent->counters);
	free(agent->rnics);
	free(agent->aggregator_links);
	rx_count_report_free(agent->rows);
	rdma_index_free(agent->rdma);
	pinglist_store_free(agent->pinglists);
	key_ring_free(agent->keys);
	rm_key_files_free(agent->key_files);
	brake_file_free(agent->brake_file);
	rm_metrics_free(agent->metrics);
	agent_counter_metrics_free(agent->counter_metrics);
	rm_credentials_free(agent->credentials);
	agent_config_clear(&agent->config);
	free(agent);
}
