/*
 * agent_config - the host-agent's options: one table, and checks over all options
 * together.
 *
 * The option rnics is a list of the RNICs that the agent may use: it uses no others.
 */
#ifndef HOST_AGENT_AGENT_CONFIG_H
#define HOST_AGENT_AGENT_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "host-agent/rnic/rnic_facts.h"
#include "rackmesh/config/config.h"
#include "rackmesh/http/http_origin.h"
#include "rackmesh/identity/http_places.h"
#include "rackmesh/tls/credentials.h"

/* the agent chooses the GID by its address; larger than any index of a GID table */
#define AGENT_GID_CHOSEN 256

#define AGENT_MAX_AGGREGATORS 64 /* aggregators are bits of a uint64_t */
#define AGENT_MAX_CONTROLLERS 16

/* AddressSanitizer keeps up to 256 MiB of freed memory, so the agent has no memory
 * limit by default there. */
#if defined(__SANITIZE_ADDRESS__)
#define LIMITS_MEMORY_MIB "0"
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LIMITS_MEMORY_MIB "0"
#endif
#endif
#ifndef LIMITS_MEMORY_MIB
#define LIMITS_MEMORY_MIB "128"
#endif

struct agent_rnic_config {
	char *device;
	int transport; /* enum rnic_transport */
	char *tor;     /* the only ToR of the RNIC; NULL: see tors */
	/* char *: all ToRs of the RNIC; empty: see tor. If tor is not set either, LLDP
	 * or the controllers name the ToRs */
	struct rm_list tors;
	char *address; /* NULL: all addresses of the device */
	uint64_t udp_port;
	uint64_t port;      /* number of the RDMA device's port, from 1 */
	uint64_t gid_index; /* AGENT_GID_CHOSEN: by address */

	/* The next two members are used if device is a pattern: they select some of the
	 * devices that match it. */
	char *driver, *netdev; /* patterns; NULL: any */
	/* char *: patterns of devices and network devices that are not used */
	struct rm_list except;
};

struct agent_switch_config {
	char *name; /* the system name that the switch sends by LLDP */
	char *tor;
};

struct agent_aggregator_config {
	char *address;
	struct rm_list tors; /* char *; empty: all ToRs of this host */
};

/* The transports that probe one flow per path, and drop the other flows. Over UDP all
 * flows stay: a port that drops packets by a hash of the 5-tuple is found sooner when
 * more flows cross it. */
enum agent_one_flow {
	AGENT_ONE_FLOW_NONE,
	AGENT_ONE_FLOW_ROCE,
	AGENT_ONE_FLOW_ALL,
};

struct agent_config {
	const char *path; /* borrowed from argv; NULL: no file */

	char *host; /* never NULL after a load */
	char *region;
	struct rm_credentials_config credentials;
	char *netns; /* NULL: the agent's own */
	char *state_folder;
	struct rm_list rnics;         /* struct agent_rnic_config */
	char *lldp_file;              /* "": LLDP is not read */
	struct rm_list lldp_switches; /* struct agent_switch_config */
	struct rm_list aggregators;   /* struct agent_aggregator_config */
	/* char *: addresses of controllers, which know the ToRs and aggregators of this
	 * host */
	struct rm_list controllers;
	uint64_t probe_timeout_ms;
	uint64_t probe_max_rate_per_s;
	uint64_t roce_flow_qps;
	bool roce_software_stamps;
	uint64_t trace_interval_s;
	uint64_t trace_max_packets_per_s;
	int trace_one_flow_per_path; /* enum agent_one_flow */
	bool services_enabled;
	int services_hooks; /* enum qp_hooks_method */
	uint64_t services_max_flows;
	uint64_t services_interval_ms;
	uint64_t services_rotation_s;
	/* "": the agent does not read the kubelet's list of pods */
	char *kubernetes_kubelet;
	struct rm_http_origin kubernetes_origin;
	uint64_t kubernetes_interval_s;
	bool counters_enabled;
	bool counters_by_process;
	bool counters_namespaces;
	uint64_t counters_interval_ms, counters_rest_interval_ms;
	uint64_t counters_optics_interval_s; /* 0: optical modules are not read */
	uint64_t batch_max_age_ms;
	uint64_t batch_max_results;
	uint64_t limits_cpu_percent;
	uint64_t limits_memory_mib;
	uint64_t pinglists_expire_days;
	uint64_t queue_max_age_ms;
	uint64_t queue_max_bytes;
	char *http_listen;
	char *https_listen; /* "": no HTTPS server */
	char *http_tokens;  /* "": no bearer token is accepted */
	/* char *: host names that requests may use for this server */
	struct rm_list http_names;
	char *http_socket;
	int log_level;
};

extern const struct rm_option agent_options[];

extern const struct rm_config_type agent_config_type;

/* As rm_config_read. */
int agent_config_read(
    struct agent_config *config, const char *path, struct rm_error *error);
void agent_config_clear(struct agent_config *config);

/* Where to find the i-th RNIC; the result borrows from config. */
struct rnic_place agent_rnic_place(const struct agent_config *config, size_t i);
/* The ToRs to which an RNIC is attached; the names are borrowed from rnic. */
size_t agent_rnic_tor_count(const struct agent_rnic_config *rnic);
const char *agent_rnic_tor(const struct agent_rnic_config *rnic, size_t i);

/* True: rnic->device is a pattern for names of devices, not a name. */
bool agent_rnic_is_pattern(const struct agent_rnic_config *rnic);

bool agent_aggregator_serves(
    const struct agent_aggregator_config *aggregator, const char *tor);
struct place;
/* Copies the aggregators in the controllers' answer into the config, if the config
 * lists none. place: NULL is allowed. */
int agent_config_place(struct agent_config *config, const struct place *place);
/* Bit k of the result is set if aggregators[k] serves this ToR. */
uint64_t agent_tor_aggregators(const struct agent_config *config, const char *tor);

#endif
