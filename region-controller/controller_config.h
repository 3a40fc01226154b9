/*
 * controller_config - the region-controller's options: one table, and checks over all
 * options together.
 */
#ifndef REGION_CONTROLLER_CONTROLLER_CONFIG_H
#define REGION_CONTROLLER_CONTROLLER_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/config/config.h"
#include "rackmesh/http/http_origin.h"
#include "rackmesh/identity/http_places.h"
#include "rackmesh/tls/credentials.h"
#include "region-controller/plan/plan.h"

struct controller_plan_config {
	uint64_t tor_mesh_size, mesh_interval_ms, mesh_max_rate_per_s, rotation_s;
	uint64_t coverage_permille, link_rate_per_s, inter_tor_max_rate_per_s;
	uint64_t inter_tor_destinations, assumed_paths, pair_above_ms;
	uint64_t witness_below, witness_targets, witness_interval_ms;
	uint64_t dscp, dscp_best_effort, sl;
	uint64_t probe_timeout_ms; /* 0: each aggregator uses its own time-out */
};

struct controller_etcd_config {
	/* char *: endpoints of etcd; empty: the store is the topology file */
	struct rm_list endpoints;
	char *user, *password_file;
	struct rm_http_origin origin; /* certificates for etcd; no login */
	uint64_t lease_ttl_s, timeout_ms, relist_s, compact_after_s;
};

struct controller_config {
	const char *path; /* borrowed from argv; NULL: no file */

	char *name; /* never NULL after a load */
	char *region;
	char *listen;
	struct rm_credentials_config credentials;
	char *topology;
	struct controller_etcd_config etcd;
	uint64_t max_aggregators;
	uint64_t settle_ms;
	uint64_t debounce_ms;
	uint64_t forget_after_days;
	char *keys_secret_file;
	bool keys_unauthenticated;
	uint64_t keys_epoch_s;
	char *http_listen;
	char *https_listen; /* "": no HTTPS server */
	char *http_tokens;  /* "": no bearer token is accepted */
	/* char *: host names that requests may use for this server */
	struct rm_list http_names;
	char *http_socket;
	int log_level;
	struct controller_plan_config plan;
};

extern const struct rm_option controller_options[];

extern const struct rm_config_type controller_config_type;

/* As rm_config_read. */
int controller_config_read(
    struct controller_config *config, const char *path, struct rm_error *error);
void controller_config_clear(struct controller_config *config);

/* Text for a config that names a topology file although etcd has the topology. */
#define CONTROLLER_UNUSED_TOPOLOGY                        \
	"it is not used, since the topology in etcd is; " \
	"rackmeshctl topology import FILE"
bool controller_config_unused_topology(const struct controller_config *config);

/* Reads the password of etcd's user; the caller frees *ret, which is "" if there is no
 * user. Only the owner may read the file. */
int controller_config_password(
    const struct controller_config *config, char **ret, struct rm_error *error);

struct plan_options controller_plan_options(const struct controller_config *config);

#endif
