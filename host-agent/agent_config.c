#include "host-agent/agent_config.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/pinglist/pinglist_store.h"
#include "host-agent/probe/prober.h"
#include "host-agent/rnic/rnic_pattern.h"
#include "host-agent/services/qp_hooks.h"
#include "host-agent/services/services.h"
#include "host-agent/trace/tracer.h"
#include "rackmesh/config/host_name.h"
#include "rackmesh/core/address.h"
#include "rackmesh/core/endpoint.h"
#include "rackmesh/http/http_url.h"
#include "rackmesh/judge/part.h"

#define AT(field) offsetof(struct agent_config, field)
#define RNIC_AT(field) offsetof(struct agent_rnic_config, field)
#define AGGREGATOR_AT(field) offsetof(struct agent_aggregator_config, field)

#define SWITCH_AT(field) offsetof(struct agent_switch_config, field)

#define NETDEV_MAX_LEN 15
#define FLOW_QPS_MAX 64

static const struct rm_enum_name hooks[] = {
	{ "any", QP_HOOKS_ANY },
	{ "fexit", QP_HOOKS_FEXIT },
	{ "kprobe", QP_HOOKS_KPROBE },
	{ "fprobe", QP_HOOKS_FPROBE },
	{ 0 },
};

static const struct rm_enum_name transports[] = {
	{ "auto", RNIC_AUTO },
	{ "udp", RNIC_UDP },
	{ "roce", RNIC_ROCE },
	{ 0 },
};

static const struct rm_enum_name one_flow_names[] = {
	{ "none", AGENT_ONE_FLOW_NONE },
	{ "roce", AGENT_ONE_FLOW_ROCE },
	{ "all", AGENT_ONE_FLOW_ALL },
	{ 0 },
};

/* clang-format off */
static const struct rm_option rnic_options[] = {
	{ "device", RM_STRING, RNIC_AT(device), NULL, 1, 63, RM_REQUIRED,
	  "network device or RDMA device of the RNIC. auto, or a pattern with * ? "
	  "[...], selects all RDMA ports with a RoCEv2 address that match and are not "
	  "listed by name (with transport udp: all network devices with an address)", NULL, NULL, 0 },
	{ "driver", RM_STRING, RNIC_AT(driver), NULL, 1, 31, 0,
	  "for a pattern: only devices whose driver matches this one", NULL, NULL, 0 },
	{ "netdev", RM_STRING, RNIC_AT(netdev), NULL, 1, 63, 0,
	  "for a pattern: only devices whose network device matches this one", NULL, NULL, 0 },
	{ "except", RM_LIST, RNIC_AT(except), NULL, 1, 64, 0,
	  "for a pattern: leave out devices that match one of these, or whose network "
	  "device does",
	  NULL, NULL, 0 },
	{ "transport", RM_ENUM, RNIC_AT(transport), "auto", 0, 0, 0,
	  "auto: roce if the device is an RDMA device, or if its RDMA port has a "
	  "RoCEv2 GID; else udp",
	  transports, NULL, 0 },
	{ "port", RM_UINT, RNIC_AT(port), "1", 1, 254, 0,
	  "port number, if device is an RDMA device", NULL, NULL, 0 },
	{ "gid_index", RM_UINT, RNIC_AT(gid_index), "256", 0, 256, 0,
	  "for roce: use only the GID with this index; left out (256): one RoCEv2 GID "
	  "of each address family",
	  NULL, NULL, 0 },
	{ "tor", RM_STRING, RNIC_AT(tor), NULL, 1, 63, 0,
	  "name of the ToR to which the RNIC's cable leads; left out: the ToR that "
	  "LLDP names, else the one in the controllers' topology", NULL, NULL, 0 },
	{ "tors", RM_LIST, RNIC_AT(tors), NULL, 1, WIRE_MAX_ATTACHMENTS, 0,
	  "instead of tor: both ToRs of a bond", NULL, NULL, 0 },
	{ "address", RM_STRING, RNIC_AT(address), NULL, 2, 45, 0,
	  "use only this address, instead of all global addresses of the device", NULL, NULL, 0 },
	{ "udp_port", RM_UINT, RNIC_AT(udp_port), "862", 1, 65535, 0,
	  "for udp: UDP port of the RNIC's reflector (862 is the port of STAMP)", NULL, NULL, 0 },
	{ 0 }
};

static const struct rm_option aggregator_options[] = {
	{ "address", RM_STRING, AGGREGATOR_AT(address), NULL, 1, 262, RM_REQUIRED,
	  "name:port or address:port of a tor-aggregator, on the management network", NULL, NULL, 0 },
	{ "tors", RM_LIST, AGGREGATOR_AT(tors), NULL, 1, WIRE_MAX_TORS, 0,
	  "the ToRs that the aggregator serves; left out: all ToRs of this host", NULL, NULL, 0 },
	{ 0 }
};

static const struct rm_option switch_options[] = {
	{ "name", RM_STRING, SWITCH_AT(name), NULL, 1, 255, RM_REQUIRED,
	  "system name of the switch in LLDP", NULL, NULL, 0 },
	{ "tor", RM_STRING, SWITCH_AT(tor), NULL, 1, 63, RM_REQUIRED,
	  "name of this ToR in Rackmesh", NULL, NULL, 0 },
	{ 0 }
};

static const struct rm_enum_name rnic_choices[] = { { "auto", 1 }, { 0 } };

const struct rm_option agent_options[] = {
	{ "host", RM_STRING, AT(host), NULL, 1, 63, 0,
	  "name of this host; left out: the system's host name", NULL, NULL, 0 },
	{ "region", RM_STRING, AT(region), "default", 1, 63, 0,
	  "region of this host", NULL, NULL, 0 },
	RM_CREDENTIALS_OPTIONS(struct agent_config, credentials),
	{ "netns", RM_STRING, AT(netns), NULL, 1, 255, 0,
	  "network namespace of the RNICs: a name as in ip netns, or a path", NULL, NULL, 0 },
	{ "state_folder", RM_STRING, AT(state_folder), "/var/lib/rackmesh/host-agent",
	  0, 1023, 0, "folder for the last good pinglists; \"\": none are kept", NULL, NULL, 0 },
	{ "rnics", RM_TABLE, AT(rnics), NULL, 1, WIRE_MAX_HOST_RNICS, RM_REQUIRED,
	  "the RNICs to probe from; no other RNIC is used. auto: all RDMA ports with a "
	  "RoCEv2 address", rnic_choices, rnic_options,
	  sizeof(struct agent_rnic_config) },
	{ "lldp.file", RM_STRING, AT(lldp_file), "/run/rackmesh-lldp/neighbors.json", 0, 255, 0,
	  "file with the output of `lldpcli -f json0 show neighbors`, which "
	  "rackmesh-lldp.timer writes; it names the ToRs of RNICs whose tor is left "
	  "out, and is compared with the tor of the others; \"\": none", NULL, NULL, 0 },
	{ "lldp.switches", RM_TABLE, AT(lldp_switches), NULL, 0, 256, 0,
	  "ToRs whose name in Rackmesh is not the switch's system name without its "
	  "domain", NULL, switch_options,
	  sizeof(struct agent_switch_config) },
	{ "aggregators", RM_TABLE, AT(aggregators), NULL, 0, AGENT_MAX_AGGREGATORS, 0,
	  "the aggregators of these RNICs' ToRs; if left out, the agent asks the "
	  "controllers for them", NULL,
	  aggregator_options,
	  sizeof(struct agent_aggregator_config) },
	{ "controllers", RM_LIST, AT(controllers), NULL, 0, AGENT_MAX_CONTROLLERS, 0,
	  "name:port or address:port of the region's controllers; if aggregators or rnics[].tor "
	  "are left out, the agent asks the controllers, whose topology has them in "
	  "racks[].aggregators and racks[].members", NULL, NULL, 0 },
	{ "probe.timeout_ms", RM_UINT, AT(probe_timeout_ms), "500", 10, 10000, RM_RELOAD,
	  "a probe without a reply after this time counts as lost; used until a "
	  "pinglist sets the value", NULL, NULL, 0 },
	{ "probe.max_rate_per_s", RM_UINT, AT(probe_max_rate_per_s), "0", 0,
	  PROBER_MAX_RATE_PER_S, RM_RELOAD,
	  "limit on probes per second of one RNIC; 0: the built-in limit", NULL, NULL, 0 },
	{ "roce.flow_qps", RM_UINT, AT(roce_flow_qps), "8", 1, FLOW_QPS_MAX, 0,
	  "number of QPs that send probes, if the RNIC's driver gives each QP one "
	  "source port", NULL, NULL, 0 },
	{ "roce.software_stamps", RM_BOOL, AT(roce_software_stamps), "false", 0, 0, 0,
	  "true: do not use the NICs' hardware time stamps", NULL, NULL, 0 },
	{ "trace.interval_s", RM_UINT, AT(trace_interval_s), "30", 0, 3600, RM_RELOAD,
	  "time between two traces of a flow's path; 0: no path is traced", NULL, NULL, 0 },
	{ "trace.max_packets_per_s", RM_UINT, AT(trace_max_packets_per_s), "200", 1,
	  TRACER_MAX_RATE_PER_S, RM_RELOAD,
	  "limit on trace packets per second, of all RNICs together", NULL, NULL, 0 },
	{ "trace.one_flow_per_path", RM_ENUM, AT(trace_one_flow_per_path), "roce", 0, 0,
	  RM_RELOAD,
	  "if several flows to a target have the same traced path, probe only one of "
	  "them. none: never; roce: if the target is probed over RoCE; all: always",
	  one_flow_names, NULL, 0 },
	{ "services.enabled", RM_BOOL, AT(services_enabled), "true", 0, 0, 0,
	  "follow the QPs of other processes on these RNICs, and probe along "
	  "their paths", NULL,
	  NULL, 0 },
	{ "services.hooks", RM_ENUM, AT(services_hooks), "any", 0, 0, 0,
	  "kind of BPF hook that reports QPs; any: the first of fexit, kprobe and fprobe that the kernel allows", hooks, NULL, 0 },
	{ "services.max_flows", RM_UINT, AT(services_max_flows), "16", 0,
	  SERVICES_MAX_PROBED, RM_RELOAD,
	  "limit on service flows that one RNIC probes at a time; the others wait",
	  NULL, NULL, 0 },
	{ "services.interval_ms", RM_UINT, AT(services_interval_ms), "250", 10, 60000,
	  RM_RELOAD, "time between two probes of a service flow (above 300: between two "
	  "pairs of probes)",
	  NULL, NULL, 0 },
	{ "services.rotation_s", RM_UINT, AT(services_rotation_s), "30", 1, 3600, RM_RELOAD,
	  "how long a service flow is probed before one that waits takes its place", NULL, NULL, 0 },
	{ "kubernetes.kubelet", RM_STRING, AT(kubernetes_kubelet), "", 0, 255, 0,
	  "https://host:port of this host's kubelet, which names the pods of services by their "
	  "UIDs; \"\": none", NULL, NULL, 0 },
	RM_HTTP_ORIGIN_TLS("kubernetes", struct agent_config, kubernetes_origin),
	{ "kubernetes.token_file", RM_STRING, AT(kubernetes_origin.token_file), "", 0, 1023, 0,
	  "file with the token of a service account that may get nodes/pods (mode 0600); \"\": "
	  "none", NULL, NULL, 0 },
	{ "kubernetes.interval_s", RM_UINT, AT(kubernetes_interval_s), "300", 10, 3600, 0,
	  "time between two requests to the kubelet; for a process of an unknown pod, "
	  "a request is sent within 10 s", NULL, NULL, 0 },
	{ "counters.enabled", RM_BOOL, AT(counters_enabled), "true", 0, 0, 0,
	  "read the counters of these RNICs, for /metrics and /v1/counters", NULL, NULL, 0 },
	{ "counters.interval_ms", RM_UINT, AT(counters_interval_ms), "5000", 500, 60000,
	  RM_RELOAD, "time between two readings of an RNIC's counters; some counters of 32 bits overflow within a minute", NULL, NULL, 0 },
	{ "counters.rest_interval_ms", RM_UINT, AT(counters_rest_interval_ms), "15000", 500,
	  60000, RM_RELOAD, "time between two readings of the counters that no aggregator needs and that take a separate request", NULL, NULL, 0 },
	{ "counters.optics_interval_s", RM_UINT, AT(counters_optics_interval_s), "60", 0, 3600, 0,
	  "time between two readings of the optical modules of these RNICs, which needs "
	  "CAP_NET_ADMIN; 0: they are not read", NULL, NULL, 0 },
	{ "counters.namespaces", RM_BOOL, AT(counters_namespaces), "false", 0, 0, RM_RELOAD,
	  "also read the RDMA devices in the network namespaces of pods, if `rdma system "
	  "set netns exclusive` is set; needs CAP_SYS_ADMIN", NULL, NULL, 0 },
	{ "counters.by_process", RM_BOOL, AT(counters_by_process), "false", 0, 0, RM_RELOAD,
	  "also read the counters of each process's QPs, if `rdma statistic qp set "
	  "link ... auto pid on` makes the NIC count per process; each reading sends "
	  "requests to the firmware", NULL,
	  NULL, 0 },
	{ "limits.cpu_percent", RM_UINT, AT(limits_cpu_percent), "10", 0, 6400, RM_RELOAD,
	  "CPU limit, in percent of one core; if the agent stays above it, it sends "
	  "fewer probes, but at least a tenth; 0: no limit",
	  NULL, NULL, 0 },
	{ "limits.memory_mib", RM_UINT, AT(limits_memory_mib), LIMITS_MEMORY_MIB, 0, 65536,
	  RM_RELOAD,
	  "limit on resident memory; 6 MiB more are allowed for every RDMA port; "
	  "above the limit the agent sends fewer probes, as with cpu_percent; 0: no "
	  "limit",
	  NULL, NULL, 0 },
	{ "pinglists.expire_days", RM_UINT, AT(pinglists_expire_days), PINGLIST_STORE_EXPIRE_DAYS, 1,
	  PINGLIST_STORE_MAX_EXPIRE_DAYS, RM_RELOAD,
	  "if no aggregator has confirmed a pinglist for this time, its targets are "
	  "probed at a tenth of the rate", NULL, NULL, 0 },
	{ "batch.max_age_ms", RM_UINT, AT(batch_max_age_ms), "200", 10, 1000, 0,
	  "a batch is sent at most this time after its first result", NULL, NULL, 0 },
	{ "batch.max_results", RM_UINT, AT(batch_max_results), "512", 1, 4096, 0,
	  "a batch is sent as soon as it holds this many results", NULL, NULL, 0 },
	{ "queue.max_age_ms", RM_UINT, AT(queue_max_age_ms), "30000", 1000, 600000, 0,
	  "batches that the aggregator has not acknowledged are dropped after "
	  "this time", NULL, NULL, 0 },
	{ "queue.max_bytes", RM_UINT, AT(queue_max_bytes), "2097152", 65536, 67108864, 0,
	  "limit on unacknowledged batches, per aggregator; the oldest are "
	  "dropped first", NULL, NULL, 0 },
	RM_LOG_LEVEL_OPTION(struct agent_config, log_level),
	{ "http.listen", RM_STRING, AT(http_listen), "127.0.0.1:9471", 0, 255, 0,
	  "address:port of /metrics and the read-only API; \"\": none", NULL, NULL, 0 },
	RM_HTTP_TLS_OPTION(struct agent_config, https_listen),
	RM_HTTP_TOKENS_OPTION(struct agent_config, http_tokens),
	RM_HTTP_NAMES_OPTION(struct agent_config, http_names),
	{ "http.socket", RM_STRING, AT(http_socket), "/run/rackmesh/host-agent.sock", 0,
	  100, 0, "Unix socket of the whole API, with pause and resume; \"\": none", NULL, NULL, 0 },
	{ 0 }
};
/* clang-format on */

struct rnic_place
agent_rnic_place(const struct agent_config *config, size_t i)
{
	const struct agent_rnic_config *rnic =
	    (const struct agent_rnic_config *)config->rnics.items + i;

	return (struct rnic_place){
		.transport = (enum rnic_transport)rnic->transport,
		.device = rnic->device,
		.netns = config->netns,
		.address = rnic->address,
		.rdma_port = (uint8_t)rnic->port,
		.gid_index =
		    rnic->gid_index == AGENT_GID_CHOSEN ? -1 : (int)rnic->gid_index,
	};
}

size_t
agent_rnic_tor_count(const struct agent_rnic_config *rnic)
{
	return rnic->tor != NULL ? 1 : rnic->tors.count;
}

const char *
agent_rnic_tor(const struct agent_rnic_config *rnic, size_t i)
{
	return rnic->tor != NULL ? rnic->tor : ((char *const *)rnic->tors.items)[i];
}

bool
agent_aggregator_serves(
    const struct agent_aggregator_config *aggregator, const char *tor)
{
	for (size_t i = 0; i < aggregator->tors.count; i++) {
		if (strcmp(((char *const *)aggregator->tors.items)[i], tor) == 0)
			return true;
	}
	return aggregator->tors.count == 0;
}

uint64_t
agent_tor_aggregators(const struct agent_config *config, const char *tor)
{
	const struct agent_aggregator_config *list = config->aggregators.items;
	uint64_t serving = 0;

	for (size_t k = 0; k < config->aggregators.count; k++)
		if (agent_aggregator_serves(&list[k], tor))
			serving |= UINT64_C(1) << k;
	return serving;
}

bool
agent_rnic_is_pattern(const struct agent_rnic_config *rnic)
{
	return rnic_pattern_is(rnic->device);
}

/* The arguments of the checks below: the whole config, and the error to fill. */
struct check {
	const struct agent_config *config;
	const char *path;
	struct rm_error *error;
};

static int
refuse(const struct check *check, const char *text, const char *table, size_t i,
    const char *key)
{
	return rm_config_refuse(
	    check->path, check->error, text, "%s[%zu].%s", table, i, key);
}

static int
check_rnic_address(const struct check *check, size_t i)
{
	const struct agent_rnic_config *rnic = check->config->rnics.items;
	struct rm_address address;
	char text[64];

	if (rnic[i].address == NULL)
		return 0;
	/* The text has an IPv6 address without the brackets that are needed before a
	 * port. */
	snprintf(text, sizeof(text),
	    strchr(rnic[i].address, ':') != NULL ? "[%s]" : "%s", rnic[i].address);
	if (rm_address_parse(text, 1, &address) < 0 || strchr(rnic[i].address, '[') ||
	    address.storage.ss_family == AF_UNIX)
		return refuse(check, "expected an IPv4 or IPv6 address, without a port",
		    "rnics", i, "address");
	return 0;
}

static int
check_rnic_tors(const struct check *check, size_t i)
{
	const struct agent_rnic_config *rnic =
	    (const struct agent_rnic_config *)check->config->rnics.items + i;
	const char *key = rnic->tor != NULL ? "tor" : "tors";
	size_t count = agent_rnic_tor_count(rnic);

	if (rnic->tor != NULL && rnic->tors.count > 0)
		return refuse(
		    check, "tor is given too; keep one of the two", "rnics", i, "tors");
	if (count == 0 && check->config->lldp_file[0] == '\0' &&
	    check->config->controllers.count == 0)
		return refuse(check,
		    "missing; name the ToR at the other end of its cable, or give "
		    "lldp.file or controllers",
		    "rnics", i, "tor");
	for (size_t t = 0; t < count; t++) {
		if (!rm_name_valid(agent_rnic_tor(rnic, t)))
			return refuse(check, RM_NAME_EXPECTED, "rnics", i, key);
		if (t > 0 &&
		    strcmp(agent_rnic_tor(rnic, 0), agent_rnic_tor(rnic, t)) == 0)
			return refuse(check, "the same ToR twice", "rnics", i, key);
		if (check->config->aggregators.count > 0 &&
		    agent_tor_aggregators(check->config, agent_rnic_tor(rnic, t)) == 0)
			return refuse(check,
			    "no aggregator of the list serves this ToR; add it to "
			    "one's tors",
			    "rnics", i, key);
	}
	return 0;
}

/* Makes only those checks that need no device, because the device may appear later. */
static int
check_rnic_transport(const struct check *check, size_t i)
{
	const struct agent_rnic_config *rnic =
	    (const struct agent_rnic_config *)check->config->rnics.items + i;
	bool udp = rnic->transport == RNIC_UDP;

	if (rnic->transport == RNIC_ROCE && check->config->netns != NULL)
		return refuse(check,
		    "roce works only if the daemon runs in the RNICs' network "
		    "namespace; remove netns and start the daemon there, or choose udp",
		    "rnics", i, "transport");
	if ((udp || check->config->netns != NULL) &&
	    strlen(rnic->device) > NETDEV_MAX_LEN)
		return refuse(check,
		    "the name is too long for a network device, and transport udp "
		    "needs one; to probe an RDMA device, use transport roce, without "
		    "netns",
		    "rnics", i, "device");
	if (udp && rnic->port != 1)
		return refuse(check, "only transport roce has ports; remove it",
		    "rnics", i, "port");
	if (udp && rnic->gid_index != AGENT_GID_CHOSEN)
		return refuse(check, "only transport roce has GIDs; remove it", "rnics",
		    i, "gid_index");
	if (rnic->address != NULL && rnic->gid_index != AGENT_GID_CHOSEN)
		return refuse(check,
		    "address is given too and selects the GID; keep one of the two",
		    "rnics", i, "gid_index");
	return 0;
}

static int
check_filter(const struct check *check, size_t i)
{
	const struct agent_rnic_config *rnic =
	    (const struct agent_rnic_config *)check->config->rnics.items + i;
	static const char one[] = "only a pattern selects among devices; remove it";
	static const char all[] =
	    "a pattern stands for many devices; list this one by its name";

	if (!agent_rnic_is_pattern(rnic)) {
		if (rnic->driver != NULL)
			return refuse(check, one, "rnics", i, "driver");
		if (rnic->netdev != NULL)
			return refuse(check, one, "rnics", i, "netdev");
		if (rnic->except.count > 0)
			return refuse(check, one, "rnics", i, "except");
		return rm_name_valid(rnic->device)
			   ? 0
			   : refuse(check, RM_NAME_EXPECTED, "rnics", i, "device");
	}
	if (rnic->address != NULL)
		return refuse(check, all, "rnics", i, "address");
	if (rnic->port != 1)
		return refuse(check, all, "rnics", i, "port");
	return 0;
}

static int
check_switches(const struct check *check)
{
	const struct agent_switch_config *list = check->config->lldp_switches.items;

	for (size_t i = 0; i < check->config->lldp_switches.count; i++) {
		if (!rm_name_valid(list[i].tor))
			return refuse(
			    check, RM_NAME_EXPECTED, "lldp.switches", i, "tor");
		for (size_t j = 0; j < i; j++) {
			if (strcmp(list[i].name, list[j].name) == 0)
				return refuse(check, "listed twice; remove one",
				    "lldp.switches", i, "name");
		}
	}
	return 0;
}

static int
check_rnics(const struct check *check)
{
	const struct agent_rnic_config *rnics = check->config->rnics.items;
	int r = check_switches(check);

	for (size_t i = 0; i < check->config->rnics.count && r == 0; i++) {
		r = check_filter(check, i);
		if (r < 0)
			return r;
		for (size_t j = 0; j < i; j++) {
			if (!agent_rnic_is_pattern(&rnics[i]) &&
			    strcmp(rnics[i].device, rnics[j].device) == 0 &&
			    rnics[i].port == rnics[j].port)
				return refuse(check, "listed twice; remove one",
				    "rnics", i, "device");
		}
		r = check_rnic_transport(check, i);
		if (r == 0)
			r = check_rnic_address(check, i);
		if (r == 0)
			r = check_rnic_tors(check, i);
	}
	return r;
}

static int
check_aggregators(const struct check *check)
{
	const struct agent_aggregator_config *list = check->config->aggregators.items;

	for (size_t i = 0; i < check->config->aggregators.count; i++) {
		struct rm_endpoint endpoint, other;

		if (rm_endpoint_parse(list[i].address, &endpoint) < 0)
			return rm_config_refuse_value(check->path, check->error,
			    RM_ENDPOINT_EXPECTED, list[i].address,
			    "aggregators[%zu].address", i);
		for (size_t j = 0; j < i; j++) {
			if (rm_endpoint_parse(list[j].address, &other) == 0 &&
			    rm_endpoint_equal(&endpoint, &other))
				return refuse(check,
				    "listed twice; put all its ToRs into one entry",
				    "aggregators", i, "address");
		}
		for (size_t t = 0; t < list[i].tors.count; t++) {
			if (!rm_name_valid(((char *const *)list[i].tors.items)[t]))
				return refuse(
				    check, RM_NAME_EXPECTED, "aggregators", i, "tors");
		}
	}
	return 0;
}

static int
check_controllers(const struct check *check)
{
	const struct agent_config *config = check->config;
	char *const *controllers = config->controllers.items;
	struct rm_endpoint endpoint;

	if (config->controllers.count == 0)
		return config->aggregators.count > 0
			   ? 0
			   : rm_config_refuse(check->path, check->error,
				 "missing; list the aggregators, or give controllers, "
				 "which "
				 "know them",
				 "aggregators");
	for (size_t i = 0; i < config->controllers.count; i++)
		if (rm_endpoint_parse(controllers[i], &endpoint) < 0)
			return rm_config_refuse_value(check->path, check->error,
			    RM_ENDPOINT_EXPECTED, controllers[i], "controllers[%zu]",
			    i);
	if (config->state_folder[0] == '\0')
		return rm_config_refuse(check->path, check->error,
		    "missing; the answers of controllers are kept there",
		    "state_folder");
	return 0;
}

/* The checks read no file: an agent whose token is missing still has to probe. */
static int
check_kubernetes(const struct check *check)
{
	const struct rm_http_origin *origin = &check->config->kubernetes_origin;
	const char *kubelet = check->config->kubernetes_kubelet, *error = NULL;
	const bool token = origin->token_file[0] != '\0',
		   certificate = origin->certificate[0] != '\0',
		   key = origin->key[0] != '\0';

	if (kubelet[0] == '\0' &&
	    (token || certificate || key || origin->authorities[0] != '\0'))
		error = "missing; give the kubelet's https://host:port, or remove all "
			"of kubernetes";
	else if (kubelet[0] != '\0' && (strncmp(kubelet, "https://", 8) != 0 ||
					   strpbrk(kubelet + 8, "/@?#") != NULL ||
					   !rm_http_url_valid(kubelet)))
		error = "expected https://host:port of the kubelet";
	else if (certificate != key)
		error =
		    "give both, kubernetes.certificate and kubernetes.key, or neither";
	else if (kubelet[0] != '\0' && !token && !certificate)
		error =
		    "a kubelet needs to know its client; give kubernetes.token_file, "
		    "or kubernetes.certificate and kubernetes.key";
	return error == NULL ? 0
			     : rm_config_refuse(check->path, check->error, error,
				   "kubernetes.kubelet");
}

static int
check_all(const struct check *check)
{
	const struct agent_config *config = check->config;
	struct rm_address address;
	int r;

	if (!rm_name_valid(config->host))
		return rm_host_name_refuse(
		    check->path, check->error, "host", config->host, RM_NAME_EXPECTED);
	if (!rm_name_valid(config->region))
		return rm_config_refuse(
		    check->path, check->error, RM_NAME_EXPECTED, "region");
	if (config->http_listen[0] != 0 &&
	    rm_address_parse(config->http_listen, -1, &address) < 0)
		return rm_config_refuse_value(check->path, check->error,
		    RM_ADDRESS_EXPECTED, config->http_listen, "http.listen");
	r = check_controllers(check);
	if (r == 0)
		r = check_kubernetes(check);
	if (r == 0)
		r = check_aggregators(check);
	return r < 0 ? r : check_rnics(check);
}

static int
check_config(void *arg, struct rm_error *error)
{
	const struct agent_config *config = arg;
	const struct check check = { config, config->path, error };

	return check_all(&check);
}

/* Aggregators identify hosts by name. */
static int
check_at_start(void *arg, struct rm_error *error)
{
	const struct agent_config *config = arg;

	return rm_host_name_check(config->path, error, "host", config->host);
}

const struct rm_config_type agent_config_type = {
	.options = agent_options,
	.bytes = sizeof(struct agent_config),
	.path = AT(path),
	.name = AT(host),
	.log_level = AT(log_level),
	.name_option = "host",
	.check = check_config,
	.check_start = check_at_start,
};

int
agent_config_read(struct agent_config *config, const char *path, struct rm_error *error)
{
	return rm_config_read(&agent_config_type, config, path, error);
}

void
agent_config_clear(struct agent_config *config)
{
	rm_config_clear(agent_options, config);
	config->path = NULL;
}
