#include "tests/sim/scenario.h"

/* clang-format off */
const struct scenario_option scenario_top_options[TOP_OPTIONS] = {
	[TOP_SECONDS] = { "seconds", 12, 1, 86400, false, "simulated time of a run" },
	[TOP_COUNT] = { "count", 1, 1, 1000000, true, "number of runs; each draws its own values" },
};

const struct scenario_option scenario_fabric_options[FABRIC_OPTIONS] = {
	[FABRIC_TIERS] = { "tiers", 2, 2, 3, true, "tiers of switches" },
	[FABRIC_PODS] = { "pods", 1, 1, 1024, true, "pods of a fabric with three tiers" },
	[FABRIC_RACKS] = { "racks", 4, 1, CLOS_MAX_RACKS, true, "racks in all" },
	[FABRIC_MIDDLE] = { "middle", 4, 1, 256, true, "two tiers: spines; three: switches of a pod above its ToRs" },
	[FABRIC_CORES] = { "cores", 0, 0, 4096, true, "three tiers: a multiple of middle" },
	[FABRIC_CABLES] = { "cables", 1, 1, CLOS_MAX_CABLES, true, "between the same two switches" },
	[FABRIC_RNICS_PER_RACK] = { "rnics_per_rack", 4, 1, CLOS_MAX_RNICS_PER_RACK, true, "under one ToR" },
	[FABRIC_RNICS_PER_HOST] = { "rnics_per_host", 1, 1, 16, true, "without rails all are in one rack, with rails each is in another one" },
	[FABRIC_RAILS] = { "rails", 0, 0, 1, true, "true: rail-optimised" },
	[FABRIC_LOOPBACKS] = { "loopbacks", 0, 0, 1, true, "true: a switch answers traces from one address of its own" },
	[FABRIC_SYMMETRIC] = { "symmetric", 0, 0, 1, true, "true: a reply crosses the same switches as its probe" },
};

const struct scenario_option scenario_probing_options[PROBING_OPTIONS] = {
	[PROBING_TOR_MESH_SIZE] = { "tor_mesh_size", 10, 1, 64, true, "peers of an RNIC at a time" },
	[PROBING_MESH_INTERVAL_MS] = { "mesh_interval_ms", 100, 10, 60000, true, "between two probes to one peer" },
	[PROBING_MESH_MAX_RATE_PER_S] = { "mesh_max_rate_per_s", 70, 1, 1000, true, "probes of one RNIC to all peers" },
	[PROBING_ROTATION_S] = { "rotation_s", 60, 5, 86400, true, "time between two changes of the peers" },
	[PROBING_COVERAGE_PERMILLE] = { "coverage_permille", 990, 500, 999, true, "probability that every path is seen" },
	[PROBING_LINK_RATE_PER_S] = { "link_rate_per_s", 10, 1, 1000, true, "probes over every cable and direction" },
	[PROBING_INTER_TOR_MAX_RATE_PER_S] = { "inter_tor_max_rate_per_s", 60, 1, 1000, true, "probes of one RNIC" },
	[PROBING_INTER_TOR_DESTINATIONS] = { "inter_tor_destinations", 64, 1, 1024, true, "ToRs that one ToR probes" },
	[PROBING_ASSUMED_PATHS] = { "assumed_paths", 4, 1, 256, true, "paths if links are not known" },
	[PROBING_PAIR_ABOVE_MS] = { "pair_above_ms", 300, 20, 60000, true, "slower targets are probed in pairs" },
	[PROBING_WITNESS_BELOW] = { "witness_below", 4, 0, 64, true, "racks with fewer RNICs have witnesses outside" },
	[PROBING_WITNESS_TARGETS] = { "witness_targets", 3, 1, 16, true, "witnesses of each RNIC of such a rack" },
	[PROBING_WITNESS_INTERVAL_MS] = { "witness_interval_ms", 100, 10, 60000, true, "between two probes to one witness" },
	[PROBING_DSCP] = { "dscp", 26, 0, 63, true, "of most probes" },
	[PROBING_DSCP_BEST_EFFORT] = { "dscp_best_effort", 0, 0, 63, true, "of some probes" },
	[PROBING_SERVICE_LEVEL] = { "service_level", 0, 0, 15, true, "of verbs probes" },
	[PROBING_VERBS] = { "verbs", 1, 0, 1, true, "true: RNICs have QPs, and are probed over RoCE; false: over UDP" },
	[PROBING_TRACE_INTERVAL_S] = { "trace_interval_s", 30, 1, 3600, false, "time between two traces of a flow" },
};

const struct scenario_option scenario_noise_options[NOISE_OPTIONS] = {
	[NOISE_LOSS] = { "loss", 0, 0, 0.1, false, "share of packets lost anywhere, in each direction" },
	[NOISE_BURSTS_PER_HOUR] = { "bursts_per_hour", 0, 0, 1e6, false, "bursts of loss in the whole fabric, each on one link" },
	[NOISE_BURST_MS] = { "burst_ms", 20, 1, 10000, false, "duration of a burst" },
	[NOISE_BURST_LOSS] = { "burst_loss", 0.3, 0, 1, false, "share of packets lost in a burst" },
	[NOISE_RTT_US] = { "rtt_us", 10, 1, 1e6, false, "median network RTT inside a rack; between racks two or three times that" },
	[NOISE_RTT_TAIL] = { "rtt_tail", 0.01, 0, 1, false, "share of probes in the tail" },
	[NOISE_RTT_TAIL_US] = { "rtt_tail_us", 50, 0, 1e6, false, "mean RTT that the tail adds" },
	[NOISE_SLOW_US] = { "slow_us", 500, 1, 1e6, false, "a higher RTT is slow, for schemes that use it" },
	[NOISE_STALLS_PER_HOUR] = { "stalls_per_hour", 0, 0, 3600, false, "stalls of each host" },
	[NOISE_STALL_S] = { "stall_s", 0.5, 0.01, 3600, false, "duration of a stall; drawn for each" },
	[NOISE_AGENT_RESTARTS_PER_HOUR] = { "agent_restarts_per_hour", 0, 0, 3600, false, "restarts of the agent of each host" },
	[NOISE_AGENT_RESTART_S] = { "agent_restart_s", 0.5, 0.01, 3600, false, "time until the agent is back; drawn for each" },
	[NOISE_LATE_BATCHES] = { "late_batches", 0, 0, 1, false, "share of batches that arrive late, with all messages behind them" },
	[NOISE_LATE_MS] = { "late_ms", 200, 0, 100000, false, "delay of a late batch; drawn for each" },
	[NOISE_MISSING_BATCHES] = { "missing_batches", 0, 0, 1, false, "share of batches that an agent drops" },
	[NOISE_DUPLICATED_BATCHES] = { "duplicated_batches", 0, 0, 1, false, "share of batches that arrive twice" },
	[NOISE_CLOCK_OFFSET_S] = { "clock_offset_s", 100000, 0, 1e7, false, "largest difference of the hosts' monotonic clocks" },
	[NOISE_CLOCK_DRIFT_PPM] = { "clock_drift_ppm", 0, 0, 200, false, "largest drift of these clocks" },
	[NOISE_WALL_OFFSET_MS] = { "wall_offset_ms", 0, 0, 1e7, false, "largest error of the aggregators' wall clocks" },
	[NOISE_AGGREGATOR_RESTARTS_PER_HOUR] = { "aggregator_restarts_per_hour", 0, 0, 3600, false, "restarts of the aggregator of each rack" },
	[NOISE_AGGREGATOR_RESTART_S] = { "aggregator_restart_s", 1, 0.05, 3600, false, "time until the aggregator is back; drawn for each" },
	[NOISE_PATH_MOVES_PER_HOUR] = { "path_moves_per_hour", 0, 0, 1e6, false, "moves in the whole fabric: routing avoids one cable" },
	[NOISE_PATH_MOVE_S] = { "path_move_s", 10, 0.1, 3600, false, "time for which the cable is avoided; drawn for each" },
	[NOISE_SPRAY] = { "spray", 0, 0, 1, false, "share of flows that take another path with every packet" },
};

const struct scenario_option scenario_fault_options[FAULT_OPTIONS] = {
	[FAULT_COUNT] = { "count", 1, 1, 4096, true, "number of different parts" },
	[FAULT_TOGETHER] = { "together", 0, 0, 1, true, "true: links that leave the same switch; RNICs of the same rack" },
	[FAULT_SKEW] = { "skew", 0, 0, 1, false, "share of the parts that belong to the few unlucky switches of a run; 0: all parts are equally likely" },
	[FAULT_SKEW_TO] = { "skew_to", 0.05, 0, 1, false, "share of the switches of every tier that are unlucky; at least one" },
	[FAULT_LOSS] = { "loss", 0.01, 0, 1, false, "share of packets that a lossy part loses" },
	[FAULT_SHARE] = { "share", 0.5, 0, 1, false, "share of flows that lose every packet" },
	[FAULT_DSCP] = { "dscp", -1, -1, 63, true, "only this class; -1: all" },
	[FAULT_MIN_BYTES] = { "min_bytes", 0, 0, 65535, true, "only packets of at least so many bytes" },
	[FAULT_LATENCY_US] = { "latency_us", 1000, 0, 1e7, false, "delay of a slow part, each time that a packet passes it" },
	[FAULT_FROM_S] = { "from_s", 5, 0, 86400, false, "from the run's start" },
	[FAULT_LASTS_S] = { "lasts_s", 0, 0, 86400, false, "0: to the run's end" },
	[FAULT_ON_MS] = { "flap.on_ms", 0, 0, 86400000, false, "the fault lasts for so long; 0: all the time" },
	[FAULT_OFF_MS] = { "flap.off_ms", 0, 0, 86400000, false, "and is away for so long, in turn" },
	[FAULT_KERNEL] = { "kernel", 1, 0, 1, true, "of a stall; false: the kernel does not answer either" },
	[FAULT_REROUTED_AFTER_S] = { "rerouted_after_s", 0, 0, 86400, false, "routing avoids the part's links from then on; 0: never" },
	[FAULT_PAIR] = { "pair", 0, 0, 2, true, "of a switch: 1: only packets from one rack to another one; 2: and back; 0: all" },
	[FAULT_HELD_MS] = { "held_ms", 0, 0, 60000, false, "packets of so long before the end of the fault pass when it ends; 0: all are lost" },
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
