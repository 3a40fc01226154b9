#include "region-controller/controller_config.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/config/host_name.h"
#include "rackmesh/core/address.h"
#include "rackmesh/core/file.h"
#include "rackmesh/core/log.h"
#include "rackmesh/http/http_url.h"
#include "rackmesh/judge/part.h"

#define DEFAULT_TOPOLOGY "/etc/rackmesh/topology.yaml"
#define MAX_PASSWORD_BYTES 1024
#define AT(field) offsetof(struct controller_config, field)

/* clang-format off */
const struct rm_option controller_options[] = {
	{ "name", RM_STRING, AT(name), NULL, 1, 63, 0,
	  "name of this controller; left out: the system's host name", NULL, NULL, 0 },
	{ "region", RM_STRING, AT(region), "default", 1, 63, 0,
	  "the region it plans for", NULL, NULL, 0 },
	{ "listen", RM_STRING, AT(listen), "0.0.0.0:7481", 1, 255, 0,
	  "address:port where tor-aggregators connect, on the management network", NULL, NULL, 0 },
	RM_CREDENTIALS_OPTIONS(struct controller_config, credentials),
	{ "topology", RM_STRING, AT(topology), DEFAULT_TOPOLOGY, 1, 4095, 0,
	  "file with the region's switches and links (docs/topology.md); read again on SIGHUP; "
	  "not used with etcd", NULL, NULL, 0 },
	{ "etcd.endpoints", RM_LIST, AT(etcd.endpoints), "[]", 0, 16, 0,
	  "URLs of an etcd cluster, http://address:2379, which several "
	  "controllers share; left out: one controller with a topology file", NULL, NULL, 0 },
	{ "etcd.user", RM_STRING, AT(etcd.user), "", 0, 255, 0,
	  "user of etcd; \"\": no authentication", NULL, NULL, 0 },
	{ "etcd.password_file", RM_STRING, AT(etcd.password_file), "", 0, 4095, 0,
	  "file with that user's password (mode 0600)", NULL, NULL, 0 },
	RM_HTTP_ORIGIN_TLS("etcd", struct controller_config, etcd.origin),
	{ "etcd.lease_ttl_s", RM_UINT, AT(etcd.lease_ttl_s), "2", 2, 60, 0,
	  "a leader that has not renewed its lease for this long loses leadership", NULL, NULL, 0 },
	{ "etcd.timeout_ms", RM_UINT, AT(etcd.timeout_ms), "2500", 100, 60000, 0,
	  "a request to etcd without an answer after this time has failed", NULL, NULL, 0 },
	{ "etcd.relist_s", RM_UINT, AT(etcd.relist_s), "30", 1, 3600, 0,
	  "time between two listings of all keys, which find changes that a watch has "
	  "missed", NULL, NULL, 0 },
	{ "etcd.compact_after_s", RM_UINT, AT(etcd.compact_after_s), "300", 0, 604800, 0,
	  "time between two compactions of etcd by the leader; each removes the "
	  "history of the whole cluster that is older than this time; 0: never, it is "
	  "left to etcd's auto-compaction", NULL, NULL, 0 },
	{ "max_aggregators", RM_UINT, AT(max_aggregators), "1024", 1, 16384, 0,
	  "limit on connections at a time", NULL, NULL, 0 },
	{ "settle_ms", RM_UINT, AT(settle_ms), "3000", 0, 600000, 0,
	  "after a start, plans are published when the RNICs of every ToR are "
	  "registered, but at the latest after this time; plans that are published "
	  "earlier could lack RNICs", NULL, NULL, 0 },
	{ "debounce_ms", RM_UINT, AT(debounce_ms), "200", 1, 10000, RM_RELOAD,
	  "changes within this time are planned together", NULL, NULL, 0 },
	{ "forget_after_days", RM_UINT, AT(forget_after_days), "7", 1, 3650, RM_RELOAD,
	  "an RNIC is removed from the plans if no connected aggregator has reported "
	  "it for this time", NULL, NULL, 0 },
	{ "probe_keys.secret_file", RM_STRING, AT(keys_secret_file), "", 0, 4095, 0,
	  "file (mode 0600) with the secret from which all probe keys are derived, in "
	  "a line of 32 to 64 characters; a second line that ends in ' from TIME' has "
	  "the next secret; all controllers of the region have the same file; a "
	  "reload reads it again",
	  NULL, NULL, 0 },
	{ "probe_keys.unauthenticated", RM_BOOL, AT(keys_unauthenticated), "false", 0, 0, 0,
	  "true: probes are not authenticated, so every host that reaches an RNIC can "
	  "probe it and answer in the name of others; for labs only; plaintext "
	  "implies it", NULL, NULL, 0 },
	{ "probe_keys.epoch_s", RM_UINT, AT(keys_epoch_s), "86400", 2, 2592000, 0,
	  "time between two changes of the probe keys; the same at all "
	  "controllers", NULL, NULL, 0 },
	RM_LOG_LEVEL_OPTION(struct controller_config, log_level),
	{ "http.listen", RM_STRING, AT(http_listen), "127.0.0.1:9473", 0, 255, 0,
	  "address:port of /metrics and the read-only API; \"\": none", NULL, NULL, 0 },
	RM_HTTP_TLS_OPTION(struct controller_config, https_listen),
	RM_HTTP_TOKENS_OPTION(struct controller_config, http_tokens),
	RM_HTTP_NAMES_OPTION(struct controller_config, http_names),
	{ "http.socket", RM_STRING, AT(http_socket), "/run/rackmesh/region-controller.sock", 0, 100, 0,
	  "Unix socket of the whole API, with the calls that change something; "
	  "\"\": none", NULL, NULL, 0 },

	{ "plan.tor_mesh_size", RM_UINT, AT(plan.tor_mesh_size), "10", 1, 64, RM_RELOAD,
	  "number of peers in its rack that an RNIC probes at a time", NULL, NULL, 0 },
	{ "plan.mesh_interval_ms", RM_UINT, AT(plan.mesh_interval_ms), "100", 10, 60000, RM_RELOAD,
	  "time between two probes to the same peer", NULL, NULL, 0 },
	{ "plan.mesh_max_rate_per_s", RM_UINT, AT(plan.mesh_max_rate_per_s), "70", 1, 1000, RM_RELOAD,
	  "limit on probes per second of one RNIC to all peers of its rack; the "
	  "interval is lengthened to stay below it", NULL, NULL, 0 },
	{ "plan.rotation_s", RM_UINT, AT(plan.rotation_s), "60", 5, 86400, RM_RELOAD,
	  "time between two changes of the peers, in a rack with more RNICs than "
	  "tor_mesh_size", NULL, NULL, 0 },
	{ "plan.coverage_permille", RM_UINT, AT(plan.coverage_permille), "990", 500, 999, RM_RELOAD,
	  "probability that the flows between two ToRs cover all parallel paths", NULL, NULL, 0 },
	{ "plan.link_rate_per_s", RM_UINT, AT(plan.link_rate_per_s), "10", 1, 1000, RM_RELOAD,
	  "probes per second that every cable between switches carries in each "
	  "direction", NULL, NULL, 0 },
	{ "plan.inter_tor_max_rate_per_s", RM_UINT, AT(plan.inter_tor_max_rate_per_s), "60", 1, 1000, RM_RELOAD,
	  "limit on probes per second of one RNIC to other racks", NULL, NULL, 0 },
	{ "plan.inter_tor_destinations", RM_UINT, AT(plan.inter_tor_destinations), "64", 1, 1024, RM_RELOAD,
	  "limit on racks that one rack probes; if there are more, an even selection "
	  "of them is probed", NULL, NULL, 0 },
	{ "plan.assumed_paths", RM_UINT, AT(plan.assumed_paths), "4", 1, 256, RM_RELOAD,
	  "assumed number of parallel paths between ToRs of a plane whose links are "
	  "not in the topology", NULL, NULL, 0 },
	{ "plan.pair_above_ms", RM_UINT, AT(plan.pair_above_ms), "300", 20, 60000, RM_RELOAD,
	  "targets with a longer interval are probed in pairs: the second probe "
	  "carries the send time of the first", NULL, NULL, 0 },
	{ "plan.witness_below", RM_UINT, AT(plan.witness_below), "4", 0, 64, RM_RELOAD,
	  "RNICs of racks with fewer RNICs than this are also probed from other "
	  "racks, by witnesses", NULL, NULL, 0 },
	{ "plan.witness_targets", RM_UINT, AT(plan.witness_targets), "3", 1, 16, RM_RELOAD,
	  "number of witnesses of each RNIC of such a rack", NULL, NULL, 0 },
	{ "plan.witness_interval_ms", RM_UINT, AT(plan.witness_interval_ms), "100", 10, 60000, RM_RELOAD,
	  "time between two probes to the same witness", NULL, NULL, 0 },
	{ "plan.dscp", RM_UINT, AT(plan.dscp), "26", 0, 63, RM_RELOAD,
	  "DSCP of three of four probes; use the DSCP of RoCE traffic in this fabric", NULL, NULL, 0 },
	{ "plan.dscp_best_effort", RM_UINT, AT(plan.dscp_best_effort), "0", 0, 63, RM_RELOAD,
	  "DSCP of the fourth probe", NULL, NULL, 0 },
	{ "plan.probe_timeout_ms", RM_UINT, AT(plan.probe_timeout_ms), "0", 0, 2000, RM_RELOAD,
	  "a probe of this region without a reply after this time counts as lost (at "
	  "least 10); 0: agents use probe.timeout_ms of their aggregator", NULL, NULL, 0 },
	{ "plan.service_level", RM_UINT, AT(plan.sl), "0", 0, WIRE_MAX_SL, RM_RELOAD,
	  "service level in the address handles of probes over verbs", NULL, NULL, 0 },
	{ 0 }
};
/* clang-format on */

struct plan_options
controller_plan_options(const struct controller_config *config)
{
	const struct controller_plan_config *plan = &config->plan;

	return (struct plan_options){
		.mesh_peers = (uint32_t)plan->tor_mesh_size,
		.mesh_interval_ms = (uint32_t)plan->mesh_interval_ms,
		.mesh_max_rate_per_s = (uint32_t)plan->mesh_max_rate_per_s,
		.mesh_rotation_s = (uint32_t)plan->rotation_s,
		.coverage = (double)plan->coverage_permille / 1000,
		.link_rate_per_s = (uint32_t)plan->link_rate_per_s,
		.inter_max_rate_per_s = (uint32_t)plan->inter_tor_max_rate_per_s,
		.destinations = (uint32_t)plan->inter_tor_destinations,
		.assumed_paths = (uint32_t)plan->assumed_paths,
		.pair_above_ms = (uint32_t)plan->pair_above_ms,
		.witness_below = (uint32_t)plan->witness_below,
		.witness_targets = (uint32_t)plan->witness_targets,
		.witness_interval_ms = (uint32_t)plan->witness_interval_ms,
		.probe_timeout_ms = (uint32_t)plan->probe_timeout_ms,
		.dscp = (uint8_t)plan->dscp,
		.dscp_best_effort = (uint8_t)plan->dscp_best_effort,
		.sl = (uint8_t)plan->sl,
	};
}

static int
check_etcd(const struct controller_config *config, struct rm_error *error)
{
	char *const *endpoints = config->etcd.endpoints.items;
	int r;

	for (size_t i = 0; i < config->etcd.endpoints.count; i++) {
		const char *host = strstr(endpoints[i], "://");

		if (!rm_http_url_valid(endpoints[i]) || strchr(host + 3, '/') != NULL)
			return rm_config_refuse(config->path, error,
			    "expected a URL without a path, http://address:port",
			    "etcd.endpoints[%zu]", i);
	}
	if (config->etcd.user[0] != '\0' && config->etcd.password_file[0] == '\0')
		return rm_config_refuse(
		    config->path, error, "give etcd.password_file, too", "etcd.user");
	r = rm_http_origin_check(&config->etcd.origin, "etcd", error);
	return r < 0 ? rm_config_locate(config->path, error, r) : 0;
}

static int
check_keys(const struct controller_config *config, struct rm_error *error)
{
	bool has_secret = config->keys_secret_file[0] != '\0';

	if (has_secret && config->keys_unauthenticated)
		return rm_config_refuse(config->path, error,
		    "probe_keys.secret_file is set, too; remove one of the two",
		    "probe_keys.unauthenticated");
	if (!has_secret && !config->keys_unauthenticated &&
	    !config->credentials.plaintext)
		return rm_config_refuse(config->path, error,
		    "expected a file with a secret, the same at all controllers of the "
		    "region, made by (umask 077; openssl rand -base64 32 > "
		    "/etc/rackmesh/probe-secret); or say 'probe_keys: "
		    "{unauthenticated: true}'",
		    "probe_keys.secret_file");
	return 0;
}

static int
check_all(void *arg, struct rm_error *error)
{
	const struct controller_config *config = arg;
	struct rm_address address;
	int r;

	if (!rm_name_valid(config->name))
		return rm_host_name_refuse(
		    config->path, error, "name", config->name, RM_NAME_EXPECTED);
	if (!rm_name_valid(config->region))
		return rm_config_refuse(
		    config->path, error, RM_NAME_EXPECTED, "region");
	r = check_etcd(config, error);
	if (r < 0)
		return r;
	if (rm_address_parse(config->listen, -1, &address) < 0)
		return rm_config_refuse_value(
		    config->path, error, RM_ADDRESS_EXPECTED, config->listen, "listen");
	if (config->http_listen[0] != '\0' &&
	    rm_address_parse(config->http_listen, -1, &address) < 0)
		return rm_config_refuse_value(config->path, error, RM_ADDRESS_EXPECTED,
		    config->http_listen, "http.listen");
	if (config->plan.probe_timeout_ms > 0 && config->plan.probe_timeout_ms < 10)
		return rm_config_refuse(config->path, error,
		    "expected 0, or 10 and more (ms)", "plan.probe_timeout_ms");
	return check_keys(config, error);
}

int
controller_config_password(
    const struct controller_config *config, char **ret, struct rm_error *error)
{
	char *password;
	int r;

	password = calloc(1, MAX_PASSWORD_BYTES);
	if (password == NULL)
		return rm_error_set(error, -ENOMEM, "out of memory");
	r = config->etcd.user[0] == '\0'
		? 0
		: rm_file_read_password(
		      config->etcd.password_file, password, MAX_PASSWORD_BYTES, error);
	if (r < 0) {
		free(password);
		return r;
	}
	*ret = password;
	return 0;
}

/* True: the config has a topology file, which is not used, because etcd has a
 * topology. */
bool
controller_config_unused_topology(const struct controller_config *config)
{
	return config->etcd.endpoints.count > 0 &&
	       strcmp(config->topology, DEFAULT_TOPOLOGY) != 0;
}

const struct rm_config_type controller_config_type = {
	.options = controller_options,
	.bytes = sizeof(struct controller_config),
	.path = AT(path),
	.name = AT(name),
	.log_level = AT(log_level),
	.name_option = "name",
	.check = check_all,
};

int
controller_config_read(
    struct controller_config *config, const char *path, struct rm_error *error)
{
	return rm_config_read(&controller_config_type, config, path, error);
}

void
controller_config_clear(struct controller_config *config)
{
	rm_config_clear(controller_options, config);
	config->path = NULL;
}
