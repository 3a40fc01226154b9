#include "tor-aggregator/aggregator_config.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/config/host_name.h"
#include "rackmesh/core/address.h"
#include "rackmesh/core/endpoint.h"
#include "rackmesh/core/log.h"
#include "rackmesh/judge/part.h"
#include "schemas/wire.h"

#define AT(field) offsetof(struct aggregator_config, field)
#define TOR_AT(field) offsetof(struct aggregator_tor_config, field)

/* clang-format off */
static const struct rm_option tor_options[] = {
	{ "name", RM_STRING, TOR_AT(name), NULL, 1, 63, RM_REQUIRED,
	  "name of the ToR, as agents and topology call it", NULL, NULL, 0 },
	{ "primary", RM_BOOL, TOR_AT(primary), "true", 0, 0, 0,
	  "true at one of the ToR's two aggregators, which is normally active; false "
	  "at the other one, the standby", NULL, NULL, 0 },
	{ "peer.name", RM_STRING, TOR_AT(peer_name), "", 0, 63, 0,
	  "name of the ToR's other aggregator; \"\": there is none; without a peer "
	  "and with \"primary: false\" no alert is ever sent", NULL, NULL, 0 },
	{ "peer.address", RM_STRING, TOR_AT(peer_address), "", 0, 262, 0,
	  "name:port or address:port where the other aggregator listens for agents", NULL, NULL, 0 },
	SWITCH_OPTIONS("switch.", struct aggregator_tor_config, counters),
	{ 0 }
};

const struct rm_option aggregator_options[] = {
	{ "name", RM_STRING, AT(name), NULL, 1, 63, 0,
	  "name of this aggregator; left out: the system's host name", NULL, NULL, 0 },
	{ "region", RM_STRING, AT(region), "default", 1, 63, 0,
	  "region of its racks", NULL, NULL, 0 },
	{ "listen", RM_STRING, AT(listen), "0.0.0.0:7471", 1, 255, 0,
	  "address:port where host-agents connect, on the management network", NULL, NULL, 0 },
	RM_CREDENTIALS_OPTIONS(struct aggregator_config, credentials),
	{ "tors", RM_TABLE, AT(tors), NULL, 1, WIRE_MAX_TORS, RM_REQUIRED,
	  "the ToRs whose racks it monitors", NULL, tor_options,
	  sizeof(struct aggregator_tor_config) },
	{ "controllers", RM_LIST, AT(controllers), NULL, 0,
	  AGGREGATOR_MAX_CONTROLLERS, 0,
	  "name:port or address:port of the region's controllers; the first that is "
	  "reachable is used", NULL, NULL, 0 },
	{ "analyzers", RM_LIST, AT(analyzers), NULL, 0, AGGREGATOR_MAX_ANALYZERS, 0,
	  "name:port or address:port of the analyzers; the first that is reachable "
	  "is used; none: no summary is sent", NULL, NULL, 0 },
	{ "plans", RM_LIST, AT(plans), NULL, 0, WIRE_MAX_TORS, RM_RELOAD,
	  "plan files, for running without a controller", NULL, NULL, 0 },
	DRIFT_OPTION(struct aggregator_config, expected),
	OTHER_SWITCHES_OPTION(struct aggregator_config, switches),
	HYPERVISORS_OPTION(struct aggregator_config, hypervisors),
	{ "state_folder", RM_STRING, AT(state_folder), "/var/lib/rackmesh/tor-aggregator",
	  0, 1023, 0, "folder for plans, open incidents and reports that the analyzer "
	  "has not acknowledged; \"\": nothing is kept", NULL, NULL, 0 },
	{ "probe.timeout_ms", RM_UINT, AT(probe_timeout_ms), "500", 10, 2000, 0,
	  "a probe without a reply after this time counts as lost; agents get this "
	  "value if the plan has none (plan.probe_timeout_ms of the controllers)", NULL, NULL, 0 },
	RM_ALERT_OPTIONS(struct aggregator_config, alerts),
	{ "alerts.resolve_after_ms", RM_UINT, AT(resolve_after_ms), "2000", 250, 600000, 0,
	  "an incident is resolved when its part has worked for this long", NULL, NULL, 0 },
	{ "alerts.flapping_within_s", RM_UINT, AT(flapping_within_s), "1800", 1, 1800, 0,
	  "a part that fails for the third time within this time is flapping: one "
	  "incident, until it has worked for three times the longest time that it worked "
	  "between two failures", NULL, NULL, 0 },
	OTLP_OPTIONS(struct aggregator_config, otlp),
	{ "ring.max_bytes", RM_UINT, AT(ring_bytes), "67108864", 65536, UINT64_C(1) << 34, 0,
	  "limit on the memory for raw results of one ToR, for drill-down; a result "
	  "takes 64 bytes. To find losses of the last RNIC of a rack that works, the "
	  "results of 15 to 45 s are compared: with less memory than they need, such "
	  "losses may not be found", NULL, NULL, 0 },
	{ "summary.interval_s", RM_UINT, AT(row_interval_s), "10", 1,
	  WIRE_MAX_SUMMARY_INTERVAL_S, 0,
	  "time between two summaries of healthy rows to the analyzers; bad rows are "
	  "sent at once", NULL, NULL, 0 },
	{ "summary.rnic_interval_s", RM_UINT, AT(rnic_interval_s), "60", 1, 3600, 0,
	  "time between two summaries of single RNICs", NULL, NULL, 0 },
	{ "spool.summary_bytes", RM_UINT, AT(spool_summary_bytes), "33554432", 1048576,
	  UINT64_C(1) << 32, 0, "limit on summaries that no analyzer has acknowledged; the oldest are "
	  "dropped first", NULL, NULL, 0 },
	{ "spool.incident_bytes", RM_UINT, AT(spool_incident_bytes), "33554432", 1048576,
	  UINT64_C(1) << 32, 0, "limit on incidents that no analyzer has acknowledged; the oldest are "
	  "dropped first", NULL, NULL, 0 },
	{ "agents.max", RM_UINT, AT(max_agents), "2048", 1, 65536, 0,
	  "limit on connected hosts; connections of further hosts are refused", NULL, NULL, 0 },
	{ "agents.max_connections", RM_UINT, AT(max_links), "4096", 1, 65536, 0,
	  "limit on connections at a time, of agents and of unknown peers", NULL, NULL, 0 },
	{ "agents.max_results_per_s", RM_UINT, AT(max_results_per_s), "200000", 100, 100000000,
	  RM_RELOAD,
	  "limit on results per second of one agent; further results are counted but "
	  "not judged", NULL, NULL, 0 },
	RM_LOG_LEVEL_OPTION(struct aggregator_config, log_level),
	{ "http.listen", RM_STRING, AT(http_listen), "127.0.0.1:9472", 0, 255, 0,
	  "address:port of /metrics and the read-only API; \"\": none", NULL, NULL, 0 },
	RM_HTTP_TLS_OPTION(struct aggregator_config, https_listen),
	RM_HTTP_TOKENS_OPTION(struct aggregator_config, http_tokens),
	RM_HTTP_NAMES_OPTION(struct aggregator_config, http_names),
	{ "http.socket", RM_STRING, AT(http_socket), "/run/rackmesh/tor-aggregator.sock", 0,
	  100, 0, "Unix socket of the whole API; \"\": none", NULL, NULL, 0 },
	{ 0 }
};
/* clang-format on */

struct check {
	const struct aggregator_config *config;
	const char *path;
	struct rm_error *error;
};

static int
check_tors(const struct check *check)
{
	const struct aggregator_tor_config *tors = check->config->tors.items;

	for (size_t i = 0; i < check->config->tors.count; i++) {
		if (!rm_name_valid(tors[i].name))
			return rm_config_refuse(check->path, check->error,
			    RM_NAME_EXPECTED, "tors[%zu].name", i);
		for (size_t j = 0; j < i; j++)
			if (strcmp(tors[i].name, tors[j].name) == 0)
				return rm_config_refuse(check->path, check->error,
				    "listed twice; remove one", "tors[%zu].name", i);
	}
	return 0;
}

/* Checks that each ToR has both peer.name and peer.address, or neither, and that a name
 * always has the same address, because it is one daemon. */
static int
check_peers(const struct check *check)
{
	const struct aggregator_tor_config *tors = check->config->tors.items;
	struct rm_endpoint endpoint;

	for (size_t i = 0; i < check->config->tors.count; i++) {
		const char *name = tors[i].peer_name;

		if ((name[0] == 0) != (tors[i].peer_address[0] == 0))
			return rm_config_refuse(check->path, check->error,
			    "give both, peer.name and peer.address", "tors[%zu]", i);
		if (name[0] == 0)
			continue;
		if (!rm_name_valid(name) || strcmp(name, check->config->name) == 0)
			return rm_config_refuse(check->path, check->error,
			    "expected the name of another aggregator",
			    "tors[%zu].peer.name", i);
		if (rm_endpoint_parse(tors[i].peer_address, &endpoint) < 0)
			return rm_config_refuse_value(check->path, check->error,
			    RM_ENDPOINT_EXPECTED, tors[i].peer_address,
			    "tors[%zu].peer.address", i);
		for (size_t j = 0; j < i; j++)
			if (strcmp(tors[j].peer_name, name) == 0 &&
			    strcmp(tors[j].peer_address, tors[i].peer_address) != 0)
				return rm_config_refuse(check->path, check->error,
				    "the same aggregator has another address above",
				    "tors[%zu].peer.address", i);
	}
	return 0;
}

static int
check_switches(const struct check *check)
{
	const struct aggregator_tor_config *tors = check->config->tors.items;
	const struct rm_list *list = &check->config->switches;
	const struct other_switch_config *others = list->items;
	char at[48];
	int r = 0;

	for (size_t i = 0; r == 0 && i < check->config->tors.count; i++) {
		snprintf(at, sizeof(at), "tors[%zu].switch", i);
		r = switch_config_check(
		    &tors[i].counters, at, check->path, check->error);
		for (size_t j = 0; r == 0 && j < list->count; j++)
			if (strcmp(tors[i].name, others[j].name) == 0)
				r = rm_config_refuse(check->path, check->error,
				    "it is one of tors: give its switch there",
				    "switches[%zu].name", j);
	}
	return r < 0 ? r : other_switches_check(list, check->path, check->error);
}

static int
check_hypervisors(const struct check *check)
{
	const struct aggregator_tor_config *tors = check->config->tors.items;
	const struct hypervisor_config *configs = check->config->hypervisors.items;

	for (size_t i = 0; i < check->config->hypervisors.count; i++) {
		bool found = configs[i].tor[0] == '\0';

		for (size_t t = 0; t < check->config->tors.count; t++)
			found |= strcmp(configs[i].tor, tors[t].name) == 0;
		if (!found)
			return rm_config_refuse(check->path, check->error,
			    "expected the name of one of tors", "hypervisors[%zu].tor",
			    i);
	}
	return hypervisors_check(
	    &check->config->hypervisors, check->path, check->error);
}

static int
check_endpoints(
    const struct check *check, const char *option, const struct rm_list *list)
{
	char *const *addresses = list->items;
	struct rm_endpoint endpoint;

	for (size_t i = 0; i < list->count; i++)
		if (rm_endpoint_parse(addresses[i], &endpoint) < 0)
			return rm_config_refuse_value(check->path, check->error,
			    RM_ENDPOINT_EXPECTED, addresses[i], "%s[%zu]", option, i);
	return 0;
}

static int
check_all(const struct check *check)
{
	const struct aggregator_config *config = check->config;
	struct rm_address address;
	int r;

	if (!rm_name_valid(config->name))
		return rm_host_name_refuse(
		    check->path, check->error, "name", config->name, RM_NAME_EXPECTED);
	if (!rm_name_valid(config->region))
		return rm_config_refuse(
		    check->path, check->error, RM_NAME_EXPECTED, "region");
	if (rm_address_parse(config->listen, -1, &address) < 0 ||
	    address.storage.ss_family == AF_UNIX)
		return rm_config_refuse_value(check->path, check->error,
		    RM_ADDRESS_EXPECTED, config->listen, "listen");
	if (config->http_listen[0] != 0 &&
	    rm_address_parse(config->http_listen, -1, &address) < 0)
		return rm_config_refuse_value(check->path, check->error,
		    RM_ADDRESS_EXPECTED, config->http_listen, "http.listen");
	r = check_tors(check);
	if (r == 0)
		r = check_peers(check);
	if (r == 0)
		r = check_switches(check);
	if (r == 0)
		r = check_endpoints(check, "controllers", &config->controllers);
	if (r == 0)
		r = check_endpoints(check, "analyzers", &config->analyzers);
	return r;
}

static int
check_config(void *arg, struct rm_error *error)
{
	struct aggregator_config *config = arg;
	const struct check check = { config, config->path, error };
	int r = check_all(&check);

	if (r == 0)
		r = rm_alert_config_check(&config->alerts, config->path, error);
	if (r == 0)
		r = otlp_config_check(&config->otlp, config->path, error);
	if (r == 0)
		r = drift_groups_check(&config->expected, config->path, error);
	return r < 0 ? r : check_hypervisors(&check);
}

/* Controllers and analyzers identify aggregators by name. */
static int
check_at_start(void *arg, struct rm_error *error)
{
	const struct aggregator_config *config = arg;

	return rm_host_name_check(config->path, error, "name", config->name);
}

const struct rm_config_type aggregator_config_type = {
	.options = aggregator_options,
	.bytes = sizeof(struct aggregator_config),
	.path = AT(path),
	.name = AT(name),
	.log_level = AT(log_level),
	.name_option = "name",
	.check = check_config,
	.check_start = check_at_start,
};

int
aggregator_config_read(
    struct aggregator_config *config, const char *path, struct rm_error *error)
{
	return rm_config_read(&aggregator_config_type, config, path, error);
}

void
aggregator_config_clear(struct aggregator_config *config)
{
	rm_config_clear(aggregator_options, config);
	config->path = NULL;
}

bool
aggregator_config_has_peers(const struct aggregator_config *config)
{
	const struct aggregator_tor_config *tors = config->tors.items;

	for (size_t i = 0; i < config->tors.count; i++)
		if (tors[i].peer_name[0] != 0)
			return true;
	return false;
}
