#include "tests/sim/scenario.h"

/* clang-format off */
const struct scenario_option scenario_top_options[TOP_OPTIONS] = {
	[TOP_SECONDS] = { "seconds", 12, 1, 86400, false, "of simulated time in a run" },
	[TOP_COUNT] = { "count", 1, 1, 1000000, true, "runs, each with a draw of its own" },
};

const struct scenario_option scenario_fabric_options[FABRIC_OPTIONS] = {
	[FABRIC_TIERS] = { "tiers", 2, 2, 3, true, "of switches" },
	[FABRIC_PODS] = { "pods", 1, 1, 1024, true, "of three tiers" },
	[FABRIC_RACKS] = { "racks", 4, 1, CLOS_MAX_RACKS, true, "in all" },
	[FABRIC_MIDDLE] = { "middle", 4, 1, 256, true, "two tiers: spines; three: switches of a pod above its ToRs" },
	[FABRIC_CORES] = { "cores", 0, 0, 4096, true, "three tiers: a multiple of middle" },
	[FABRIC_CABLES] = { "cables", 1, 1, CLOS_MAX_CABLES, true, "between the same two switches" },
	[FABRIC_RNICS_PER_RACK] = { "rnics_per_rack", 4, 1, CLOS_MAX_RNICS_PER_RACK, true, "under one ToR" },
	[FABRIC_RNICS_PER_HOST] = { "rnics_per_host", 1, 1, 16, true, "without rails all in one rack, with rails each in another" },
	[FABRIC_RAILS] = { "rails", 0, 0, 1, true, "true: rail-optimised" },
	[FABRIC_LOOPBACKS] = { "loopbacks", 0, 0, 1, true, "true: a switch answers traces from one address of its own" },
	[FABRIC_SYMMETRIC] = { "symmetric", 0, 0, 1, true, "true: replies come back over the switches that their probes crossed" },
};

const struct scenario_option scenario_probing_options[PROBING_OPTIONS] = {
	[PROBING_TOR_MESH_SIZE] = { "tor_mesh_size", 10, 1, 64, true, "peers of an RNIC at a time" },
	[PROBING_MESH_INTERVAL_MS] = { "mesh_interval_ms", 100, 10, 60000, true, "between two probes to one peer" },
	[PROBING_MESH_MAX_RATE_PER_S] = { "mesh_max_rate_per_s", 70, 1, 1000, true, "of one RNIC to all peers" },
	[PROBING_ROTATION_S] = { "rotation_s", 60, 5, 86400, true, "the peers change this often" },
	[PROBING_COVERAGE_PERMILLE] = { "coverage_permille", 990, 500, 999, true, "probability that every path is seen" },
	[PROBING_LINK_RATE_PER_S] = { "link_rate_per_s", 10, 1, 1000, true, "probes over every cable and direction" },
	[PROBING_INTER_TOR_MAX_RATE_PER_S] = { "inter_tor_max_rate_per_s", 60, 1, 1000, true, "of one RNIC" },
	[PROBING_INTER_TOR_DESTINATIONS] = { "inter_tor_destinations", 64, 1, 1024, true, "ToRs that one ToR probes" },
	[PROBING_ASSUMED_PATHS] = { "assumed_paths", 4, 1, 256, true, "where links are not known" },
	[PROBING_PAIR_ABOVE_MS] = { "pair_above_ms", 300, 20, 60000, true, "slower targets are probed in pairs" },
	[PROBING_WITNESS_BELOW] = { "witness_below", 4, 0, 64, true, "racks with fewer RNICs have witnesses outside" },
	[PROBING_WITNESS_TARGETS] = { "witness_targets", 3, 1, 16, true, "of each RNIC of such a rack" },
	[PROBING_WITNESS_INTERVAL_MS] = { "witness_interval_ms", 100, 10, 60000, true, "between two probes to one witness" },
	[PROBING_DSCP] = { "dscp", 26, 0, 63, true, "of most probes" },
	[PROBING_DSCP_BEST_EFFORT] = { "dscp_best_effort", 0, 0, 63, true, "of some probes" },
	[PROBING_SERVICE_LEVEL] = { "service_level", 0, 0, 15, true, "of verbs probes" },
	[PROBING_VERBS] = { "verbs", 0, 0, 1, true, "true: RNICs have QPs, and are probed over RoCE" },
	[PROBING_TRACE_INTERVAL_S] = { "trace_interval_s", 30, 1, 3600, false, "the way of every flow is traced this often" },
};

const struct scenario_option scenario_noise_options[NOISE_OPTIONS] = {
	[NOISE_LOSS] = { "loss", 0, 0, 0.1, false, "share of packets lost anywhere, each way" },
	[NOISE_BURSTS_PER_HOUR] = { "bursts_per_hour", 0, 0, 1e6, false, "of loss, in the whole fabric, each on one link" },
	[NOISE_BURST_MS] = { "burst_ms", 20, 1, 10000, false, "how long one lasts" },
	[NOISE_BURST_LOSS] = { "burst_loss", 0.3, 0, 1, false, "share of packets that it swallows" },
	[NOISE_RTT_US] = { "rtt_us", 10, 1, 1e6, false, "median network RTT inside a rack; between racks twice or thrice that" },
	[NOISE_RTT_TAIL] = { "rtt_tail", 0.01, 0, 1, false, "share of probes in the tail" },
	[NOISE_RTT_TAIL_US] = { "rtt_tail_us", 50, 0, 1e6, false, "mean of what the tail adds" },
	[NOISE_SLOW_US] = { "slow_us", 500, 1, 1e6, false, "an RTT above is slow, for the schemes that look at it" },
	[NOISE_STALLS_PER_HOUR] = { "stalls_per_hour", 0, 0, 3600, false, "of each host" },
	[NOISE_STALL_S] = { "stall_s", 0.5, 0.01, 3600, false, "how long one lasts; drawn for each" },
	[NOISE_AGENT_RESTARTS_PER_HOUR] = { "agent_restarts_per_hour", 0, 0, 3600, false, "of each host" },
	[NOISE_AGENT_RESTART_S] = { "agent_restart_s", 0.5, 0.01, 3600, false, "until it is back; drawn for each" },
	[NOISE_LATE_BATCHES] = { "late_batches", 0, 0, 1, false, "share of batches that come late, and what follows them" },
	[NOISE_LATE_MS] = { "late_ms", 200, 0, 100000, false, "how late; drawn for each" },
	[NOISE_MISSING_BATCHES] = { "missing_batches", 0, 0, 1, false, "share of batches that an agent throws away" },
	[NOISE_DUPLICATED_BATCHES] = { "duplicated_batches", 0, 0, 1, false, "share of batches that come twice" },
	[NOISE_CLOCK_OFFSET_S] = { "clock_offset_s", 100000, 0, 1e7, false, "hosts' monotonic clocks are up to so far apart" },
	[NOISE_CLOCK_DRIFT_PPM] = { "clock_drift_ppm", 0, 0, 200, false, "and part by up to this" },
	[NOISE_WALL_OFFSET_MS] = { "wall_offset_ms", 0, 0, 1e7, false, "aggregators' wall clocks are wrong by up to this" },
	[NOISE_AGGREGATOR_RESTARTS_PER_HOUR] = { "aggregator_restarts_per_hour", 0, 0, 3600, false, "of each rack's" },
	[NOISE_AGGREGATOR_RESTART_S] = { "aggregator_restart_s", 1, 0.05, 3600, false, "until it is back; drawn for each" },
	[NOISE_PATH_MOVES_PER_HOUR] = { "path_moves_per_hour", 0, 0, 1e6, false, "in the whole fabric: routing avoids one cable" },
	[NOISE_PATH_MOVE_S] = { "path_move_s", 10, 0.1, 3600, false, "for how long; drawn for each" },
	[NOISE_SPRAY] = { "spray", 0, 0, 1, false, "share of flows whose packets take a way each" },
};

const struct scenario_option scenario_fault_options[FAULT_OPTIONS] = {
	[FAULT_COUNT] = { "count", 1, 1, 4096, true, "so many parts, each once" },
	[FAULT_TOGETHER] = { "together", 0, 0, 1, true, "true: links that leave the same switch; RNICs of the same rack" },
	[FAULT_SKEW] = { "skew", 0, 0, 1, false, "share of the parts that fall to a run's few unlucky switches; 0: any is as likely" },
	[FAULT_SKEW_TO] = { "skew_to", 0.05, 0, 1, false, "share of the switches of every tier that are unlucky; at least one" },
	[FAULT_LOSS] = { "loss", 0.01, 0, 1, false, "share of packets that a lossy part loses" },
	[FAULT_SHARE] = { "share", 0.5, 0, 1, false, "of the flows that die whole" },
	[FAULT_DSCP] = { "dscp", -1, -1, 63, true, "only this class; -1: all" },
	[FAULT_MIN_BYTES] = { "min_bytes", 0, 0, 65535, true, "only packets of at least so many bytes" },
	[FAULT_LATENCY_US] = { "latency_us", 1000, 0, 1e7, false, "what a slow part adds, each time a packet passes it" },
	[FAULT_FROM_S] = { "from_s", 5, 0, 86400, false, "from the run's start" },
	[FAULT_LASTS_S] = { "lasts_s", 0, 0, 86400, false, "0: to the run's end" },
	[FAULT_ON_MS] = { "flap.on_ms", 0, 0, 86400000, false, "it is there for so long, 0: all the time" },
	[FAULT_OFF_MS] = { "flap.off_ms", 0, 0, 86400000, false, "and then not for so long, in turn" },
	[FAULT_KERNEL] = { "kernel", 1, 0, 1, true, "of a stall; false: the kernel does not answer either" },
	[FAULT_REROUTED_AFTER_S] = { "rerouted_after_s", 0, 0, 86400, false, "routing takes links of it out; 0: never" },
	[FAULT_PAIR] = { "pair", 0, 0, 2, true, "of a switch: only what goes from one rack to another; 2: and back; 0: all" },
	[FAULT_HELD_MS] = { "held_ms", 0, 0, 60000, false, "what it would have lost for so long before its end passes as it ends; 0: nothing" },
};

const char *const scenario_direction_names[FAULT_DIRECTIONS + 1] = {
	[FAULT_BOTH] = "both", [FAULT_SEND] = "send", [FAULT_RECEIVE] = "receive",
	[FAULT_ONE] = "one",
};

const char *const scenario_place_names[PLACES + 1] = {
	[PLACE_BY_KIND] = "", [PLACE_RNIC] = "rnic", [PLACE_HOST] = "host",
	[PLACE_TOR] = "tor", [PLACE_MIDDLE] = "middle", [PLACE_CORE] = "core",
	[PLACE_SWITCH] = "switch", [PLACE_LINK] = "link", [PLACE_CABLE] = "cable",
};

const char *const scenario_kind_names[FAULT_BURST + 1] = {
	[FAULT_RNIC_DOWN] = "rnic-down",
	[FAULT_RNIC_SEND_DEAD] = "rnic-send-dead",
	[FAULT_RNIC_RECEIVE_DEAD] = "rnic-receive-dead",
	[FAULT_RNIC_LOSSY] = "rnic-lossy",
	[FAULT_RNIC_MTU] = "rnic-mtu",
	[FAULT_RNIC_PORT_DOWN] = "rnic-port-down",
	[FAULT_HOST_DOWN] = "host-down",
	[FAULT_HOST_STALL] = "host-stall",
	[FAULT_AGENT_DOWN] = "agent-down",
	[FAULT_AGENT_FROZEN] = "agent-frozen",
	[FAULT_MANAGEMENT_DOWN] = "management-down",
	[FAULT_TOR_DOWN] = "tor-down",
	[FAULT_LINK_DOWN] = "link-down",
	[FAULT_LINK_LOSSY] = "link-lossy",
	[FAULT_SWITCH_DOWN] = "switch-down",
	[FAULT_SWITCH_LOSSY] = "switch-lossy",
	[FAULT_FLOWS_BLACKHOLED] = "flows-blackholed",
	[FAULT_LINK_FLAP] = "link-flap",
	[FAULT_LATENCY] = "latency",
};
/* clang-format on */

const char *
scenario_kind_str(enum fault_kind kind)
{
	return kind == FAULT_BURST ? "burst" : scenario_kind_names[kind];
}
