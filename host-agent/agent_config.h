/*
 * agent_config - the host-agent's options: one table, checked as a whole.
 *
 * The list restricts: the agent uses the RNICs of its list and no others.
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

#define AGENT_GID_CHOSEN 256 /* never an index of a GID table */

#define AGENT_MAX_AGGREGATORS 64 /* each is one bit of a uint64_t */
#define AGENT_MAX_CONTROLLERS 16

/* AddressSanitizer keeps freed memory, up to 256 MiB. */
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
	int transport;       /* enum rnic_transport */
	char *tor;           /* either this */
	struct rm_list tors; /* or this list, char * */
	char *address;       /* NULL: all addresses of the device */
	uint64_t udp_port;
	uint64_t port;      /* of the RDMA device */
	uint64_t gid_index; /* AGENT_GID_CHOSEN: by address */

	/* If device is a pattern: these select among all devices that match. */
	char *driver, *netdev; /* patterns; NULL: any */
	struct rm_list except; /* char *, patterns of devices and network devices */
};

struct agent_switch_config {
	char *name; /* as in LLDP */
	char *tor;
};

struct agent_aggregator_config {
	char *address;
	struct rm_list tors; /* char *; empty: all ToRs of this host */
};

/* Transports whose targets keep one flow per path. Over UDP all flows stay: a port
 * that drops packets by a hash of the 5-tuple is found sooner when more flows cross
 * it. */
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
	char *lldp_file;              /* "": none */
	struct rm_list lldp_switches; /* struct agent_switch_config */
	struct rm_list aggregators;   /* struct agent_aggregator_config */
	struct rm_list
	    controllers; /* char *: controllers, which know the ToRs and aggregators */
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
	char *kubernetes_kubelet; /* "": none */
	struct rm_http_origin kubernetes_origin;
	uint64_t kubernetes_interval_s;
	bool counters_enabled;
	bool counters_by_process;
	bool counters_namespaces;
	uint64_t counters_interval_ms, counters_rest_interval_ms;
	uint64_t counters_optics_interval_s; /* 0: they are not read */
	uint64_t batch_max_age_ms;
	uint64_t batch_max_results;
	uint64_t limits_cpu_percent;
	uint64_t limits_memory_mib;
	uint64_t pinglists_expire_days;
	uint64_t queue_max_age_ms;
	uint64_t queue_max_bytes;
	char *http_listen;
	char *https_listen;        /* "": nowhere */
	char *http_tokens;         /* "": no tokens are accepted */
	struct rm_list http_names; /* of char * */
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
/* The ToRs that an RNIC is attached to. */
size_t agent_rnic_tor_count(const struct agent_rnic_config *rnic);
const char *agent_rnic_tor(const struct agent_rnic_config *rnic, size_t i);

/* True: it is a pattern for devices, not the name of one. */
bool agent_rnic_is_pattern(const struct agent_rnic_config *rnic);

bool agent_aggregator_serves(
    const struct agent_aggregator_config *aggregator, const char *tor);
struct place;
/* Fills in the aggregators from the controllers' answer, if the file lists none.
 * place: NULL is allowed. */
int agent_config_place(struct agent_config *config, const struct place *place);
/* Bit k is set if aggregators[k] serves this ToR. */
uint64_t agent_tor_aggregators(const struct agent_config *config, const char *tor);

#endif
