/*
 * aggregator_config - the options of a tor-aggregator, see tor-aggregator.yaml.
 */
#ifndef TOR_AGGREGATOR_AGGREGATOR_CONFIG_H
#define TOR_AGGREGATOR_AGGREGATOR_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/config/config.h"
#include "rackmesh/identity/http_places.h"
#include "rackmesh/incident/alert_config.h"
#include "rackmesh/tls/credentials.h"
#include "tor-aggregator/drift/drift_groups.h"
#include "tor-aggregator/hypervisor/hypervisor_config.h"
#include "tor-aggregator/otlp/otlp_config.h"
#include "tor-aggregator/switch/config/switch_config.h"

#define AGGREGATOR_MAX_ANALYZERS 16
#define AGGREGATOR_MAX_CONTROLLERS 16

struct aggregator_tor_config {
	char *name;
	/* true: this aggregator is active for the ToR whenever it can be. If the ToR
	 * has no second aggregator, this one is always active */
	bool primary;
	/* name and address of the ToR's second aggregator; "": there is none */
	char *peer_name, *peer_address;
	struct switch_config counters; /* how to read the switch's own counters */
};

struct aggregator_config {
	/* path of the config file, for reloads; borrowed; NULL: none */
	const char *path;
	char *name; /* never NULL: the host's name if the config has none */
	char *region;
	char *listen;
	struct rm_credentials_config credentials;
	char *state_folder;         /* "": nothing is saved on disk */
	struct rm_list tors;        /* struct aggregator_tor_config */
	struct rm_list controllers; /* char * */
	struct rm_list analyzers;
	struct rm_list plans;
	struct rm_list expected;    /* struct drift_group_config */
	struct rm_list switches;    /* struct other_switch_config */
	struct rm_list hypervisors; /* struct hypervisor_config */
	struct rm_alert_config alerts;
	struct otlp_config otlp;
	uint64_t resolve_after_ms, flapping_within_s;
	uint64_t probe_timeout_ms;
	uint64_t ring_bytes; /* limit on the memory for results of one ToR */
	uint64_t row_interval_s, rnic_interval_s;
	uint64_t spool_summary_bytes, spool_incident_bytes;
	uint64_t max_agents, max_links;
	uint64_t max_results_per_s;
	char *http_listen, *http_socket; /* "": nowhere */
	char *https_listen;              /* "": nowhere */
	char *http_tokens;               /* "": no tokens are accepted */
	struct rm_list http_names;       /* char * */
	int log_level;
};

extern const struct rm_option aggregator_options[];

extern const struct rm_config_type aggregator_config_type;

/* Like rm_config_read: reads and checks the file. Returns 0, or a negative errno and
 * *error. */
int aggregator_config_read(
    struct aggregator_config *config, const char *path, struct rm_error *error);
/* True: a ToR of this aggregator has a second aggregator. */
bool aggregator_config_has_peers(const struct aggregator_config *config);
/* Frees the members; a config that is all zero is allowed. */
void aggregator_config_clear(struct aggregator_config *config);

#endif
