#include "analyzer/analyzer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "analyzer/analyzer_check.h"
#include "analyzer/analyzer_config.h"
#include "analyzer/analyzer_events.h"
#include "analyzer/analyzer_state.h"
#include "analyzer/api/drills.h"
#include "analyzer/blind/blind.h"
#include "analyzer/history/history.h"
#include "analyzer/incidents/incident_table.h"
#include "analyzer/incidents/region.h"
#include "analyzer/intake/intake.h"
#include "analyzer/past/past.h"
#include "analyzer/racks/known_aggregators.h"
#include "analyzer/racks/rack_source.h"
#include "analyzer/racks/racks.h"
#include "analyzer/racks/tor_mesh.h"
#include "analyzer/sla/sla.h"
#include "analyzer/sla/sla_file.h"
#include "rackmesh/check/check.h"
#include "rackmesh/core/address.h"
#include "rackmesh/core/log.h"
#include "rackmesh/core/random.h"
#include "rackmesh/http/http_client.h"
#include "rackmesh/http/http_server.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/worker.h"
#include "rackmesh/metrics/metrics.h"
#include "rackmesh/net/listener.h"

#define WORKER_JOBS 1024
#define SILENCE_NS (3 * RM_NS_PER_S)
#define FORGET_NS (86400 * RM_NS_PER_S)
#define MAX_PATH 2048

/* Makes the state folder. Its parent must exist, so that a mistyped path is refused. If
 * the folder cannot be created on the disk, the data that would be stored there stay in
 * memory. */
static int
start_state(struct analyzer *analyzer)
{
	const char *folder = analyzer->config->state_folder;
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

static int
introduce_sites(struct analyzer *analyzer)
{
	const struct analyzer_config *config = analyzer->config;
	int r = 0;

	if (config->influx.url[0] != '\0')
		r = rm_http_client_origin(
		    analyzer->http, config->influx.url, &config->influx.origin);
	return r < 0 ? r : rm_alert_config_introduce(&config->alerts, analyzer->http);
}

static int
start_history(struct analyzer *analyzer)
{
	const struct analyzer_config *config = analyzer->config;
	struct history_options options = {
		.loop = analyzer->loop,
		.worker = analyzer->worker,
		.analyzer = config->name,
		.state_folder = config->state_folder,
		.files_folder = config->history_folder,
		.files_max_bytes = config->history_max_bytes,
		.influx = &config->influx,
	};
	struct history_callbacks callbacks;
	struct rm_error error = { 0 };
	int r;

	r = rm_http_client_new(analyzer->loop, &analyzer->http);
	if (r == 0)
		r = introduce_sites(analyzer);
	if (r < 0)
		return r;
	analyzer_history_callbacks(analyzer, &callbacks);
	options.http = analyzer->http;
	r = history_new(&options, &callbacks, &analyzer->history, &error);
	if (r < 0)
		rm_log_error(0, "%s", error.text);
	return r;
}

static int
start_modules(struct analyzer *analyzer)
{
	const struct analyzer_config *config = analyzer->config;
	const struct racks_options racks = { .forget_ns = FORGET_NS };
	const struct sla_options sla = {
		.unavailable_permille = (uint32_t)config->unavailable_permille,
	};
	int r;

	r = incident_table_new(&analyzer->table);
	if (r == 0)
		r = racks_new(&racks, &analyzer->racks);
	if (r == 0)
		r = sla_new(&sla, &analyzer->sla);
	if (r == 0)
		r = sla_file_new(analyzer->worker, config->state_folder, analyzer->sla,
		    rm_wall_now(), &analyzer->sla_file);
	if (r == 0)
		r = rack_source_new(&analyzer->turns);
	if (r == 0)
		r = tor_mesh_new(rm_mono_now(), &analyzer->tor_mesh);
	return r;
}

/* An aggregator that was connected before the restart is reported as missing if it does
 * not connect again. */
static void
miss(struct analyzer *analyzer, const struct known_aggregator *aggregator)
{
	const char *tors[WIRE_MAX_TORS];
	rm_mono_t now = rm_mono_now();
	struct region *region;

	if (analyzer_region_get(analyzer, aggregator->region, &region) < 0)
		return;
	for (size_t i = 0; i < aggregator->tor_count; i++) {
		tors[i] = aggregator->tors[i];
		racks_served(analyzer->racks, aggregator->region, tors[i],
		    aggregator->name, now);
	}
	blind_connected(region_blind(region), aggregator->region, aggregator->name,
	    tors, aggregator->tor_count, now);
	blind_disconnected(
	    region_blind(region), aggregator->region, aggregator->name, now);
}

static int
start_known(struct analyzer *analyzer)
{
	const char *folder = analyzer->config->state_folder;
	char path[MAX_PATH] = "";
	int r;

	if (folder[0] != '\0')
		snprintf(path, sizeof(path), "%s/aggregators.json", folder);
	r = known_new(analyzer->worker, path, &analyzer->known);
	if (r < 0)
		return r;
	known_load(analyzer->known, rm_wall_now(), FORGET_NS);
	for (size_t i = 0; i < known_count(analyzer->known); i++)
		miss(analyzer, known_get(analyzer->known, i));
	return 0;
}

static int
start_intake(struct analyzer *analyzer)
{
	const struct analyzer_config *config = analyzer->config;
	const struct intake_options options = {
		.name = config->name,
		.incarnation = rm_random_u64() | 1,
		.tls = rm_credentials_tls(analyzer->credentials),
		.max_sessions = config->max_aggregators,
		.silence_ns = SILENCE_NS,
	};
	struct intake_callbacks callbacks;

	analyzer_intake_callbacks(analyzer, &callbacks);
	return intake_new(analyzer->loop, &options, &callbacks, &analyzer->intake);
}

/* Called last: an aggregator that connects finds everything in place. */
static int
listen_to_aggregators(struct analyzer *analyzer)
{
	const char *where = analyzer->config->listen;
	struct rm_address address;
	int r;

	r = rm_address_parse(where, -1, &address);
	if (r == 0)
		r = rm_listener_new(analyzer->loop, &address, intake_accept,
		    analyzer->intake, &analyzer->listener);
	if (r < 0)
		rm_log_error(r, "cannot listen on %s", where);
	return r;
}

static int
start_past(struct analyzer *analyzer)
{
	const struct past_options options = { .loop = analyzer->loop,
		.http = analyzer->http,
		.server = analyzer->server,
		.influx = &analyzer->config->influx,
		.files_folder = analyzer->config->history_folder };

	return past_new(&options, &analyzer->past);
}

static const char *
region_at(size_t i, void *arg)
{
	const struct analyzer *analyzer = arg;

	return i < analyzer->region_count ? region_name(analyzer->regions[i]) : NULL;
}

static int
start_http(struct analyzer *analyzer)
{
	const struct analyzer_config *config = analyzer->config;
	const struct rm_http_places places = { config->http_listen, config->http_socket,
		config->https_listen, config->http_tokens, &analyzer->shown,
		.names = &config->http_names };
	struct rm_error error = { 0 };
	int r;

	analyzer->shown = (struct rm_http_regions){ region_at, analyzer };
	r = rm_http_server_new(analyzer->loop, &analyzer->server);
	if (r == 0)
		r = drills_new(analyzer->server, analyzer->intake, analyzer->racks,
		    &analyzer->drills);
	if (r == 0)
		r = start_past(analyzer);
	if (r == 0)
		r = rm_metrics_new(&analyzer->metrics);
	if (r == 0)
		r = rm_metrics_build_info(analyzer->metrics, "analyzer");
	if (r == 0)
		r = rm_metrics_reloads(analyzer->metrics, &analyzer->reload);
	if (r == 0)
		r = analyzer_metrics_register(analyzer, analyzer->metrics);
	if (r == 0)
		r = rm_credentials_metrics(analyzer->credentials, analyzer->metrics);
	if (r == 0)
		r = analyzer_api_serve(analyzer, analyzer->server);
	if (r < 0) {
		rm_log_error(r, "cannot prepare the HTTP server");
		return r;
	}
	r = rm_http_places_listen(analyzer->server, &places,
	    rm_credentials_tls(analyzer->credentials), NULL, &error);
	if (r < 0)
		rm_log_error(0, "%s", error.text);
	return r;
}

int
analyzer_new(
    struct rm_loop *loop, struct analyzer_config *config, struct analyzer **ret)
{
	struct analyzer *analyzer = calloc(1, sizeof(*analyzer));
	const struct rm_identity_claim claim = analyzer_claim();
	int r = -ENOMEM;

	if (analyzer == NULL)
		goto out;
	analyzer->loop = loop;
	analyzer->config = config;
	analyzer->started = rm_wall_now();
	rm_reload_start(&analyzer->reload, analyzer->started);
	r = rm_credentials_new(loop, &config->credentials, &analyzer->credentials);
	if (r == 0)
		r = rm_check_identity(analyzer->credentials, &claim);
	if (r == 0)
		r = rm_worker_new(loop, WORKER_JOBS, &analyzer->worker);
	if (r == 0)
		r = start_state(analyzer);
	if (r == 0)
		r = start_history(analyzer);
	if (r == 0)
		r = start_modules(analyzer);
	if (r == 0)
		r = start_known(analyzer);
	if (r == 0)
		r = start_intake(analyzer);
	if (r == 0)
		r = start_http(analyzer);
	if (r == 0)
		r = listen_to_aggregators(analyzer);
	if (r == 0)
		r = analyzer_start_ticking(analyzer);
	if (r < 0)
		goto out;
	rm_log_info("%s: started: aggregators on port %d", config->name,
	    rm_listener_port(analyzer->listener));
	*ret = analyzer;
	return 0;
out:
	rm_log_error(r, "cannot start");
	analyzer_free(analyzer);
	return r;
}

void
analyzer_free(struct analyzer *analyzer)
{
	if (analyzer == NULL)
		return;
	rm_timer_free(analyzer->tick);
	rm_listener_free(analyzer->listener);
	past_free(analyzer->past);
	rm_http_server_free(analyzer->server);
	rm_metrics_free(analyzer->metrics);
	drills_free(analyzer->drills);
	/* Jobs of the worker use history and the files, and history uses the intake. */
	rm_worker_free(analyzer->worker);
	history_free(analyzer->history);
	intake_free(analyzer->intake);
	for (size_t i = 0; i < analyzer->region_count; i++)
		region_free(analyzer->regions[i]);
	known_free(analyzer->known);
	rm_http_client_free(analyzer->http);
	sla_file_free(analyzer->sla_file);
	sla_free(analyzer->sla);
	rack_source_free(analyzer->turns);
	tor_mesh_free(analyzer->tor_mesh);
	racks_free(analyzer->racks);
	incident_table_free(analyzer->table);
	rm_credentials_free(analyzer->credentials);
	free(analyzer);
}

void
analyzer_reload(void *arg)
{
	struct analyzer *analyzer = arg;
	int r;

	if (!rm_reload_read(&analyzer->reload, &analyzer_config_type, analyzer->config,
		rm_wall_now(), NULL, NULL))
		return;
	r = rm_alert_config_introduce(&analyzer->config->alerts, analyzer->http);
	for (size_t i = 0; r == 0 && i < analyzer->region_count; i++)
		r = region_alert_to(analyzer->regions[i], &analyzer->config->alerts);
	if (r < 0)
		rm_log_error(
		    r, "cannot use the new receivers of alerts, restart the daemon");
}

int
analyzer_port(const struct analyzer *analyzer)
{
	return rm_listener_port(analyzer->listener);
}

int
analyzer_http_port(const struct analyzer *analyzer)
{
	return rm_http_server_port(analyzer->server);
}
