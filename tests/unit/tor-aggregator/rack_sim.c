#include "rack_sim.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/judge/mesh.h"
#include "tor-aggregator/window/window.h"

#define MAX_FAULTS 16
#define MESH_PEERS 10
#define INTERVAL_NS (100 * RM_NS_PER_MS)
#define JITTERS 20 /* steps within an interval */
#define FOCUS 5    /* factor by which probing is faster */
#define FOCUS_NS (2 * RM_NS_PER_S)
#define SMALL_BYTES 88
#define LARGE_BYTES 4096
#define START_NS (1000 * RM_NS_PER_S)
#define TIMEOUT_NS (500 * RM_NS_PER_MS)
#define AGE_NS (750 * RM_NS_PER_MS) /* age of a window's end when it is judged */
#define GRACE_NS (2 * RM_NS_PER_S)
#define FROZEN_AFTER_NS (2 * RM_NS_PER_S)
#define GONE_AFTER_NS (1500 * RM_NS_PER_MS)

struct target {
	size_t src, dst; /* dst of a witness is a remote RNIC */
	bool remote;
	int64_t next_ns;
	uint64_t received; /* probes that dst has received since its last report */
	int64_t noise;     /* packets by which the last report was too high */
	unsigned number;   /* number of the next probe */
	int64_t focus_from_ns, focus_to_ns;
};

struct sim {
	struct sim_options options;
	uint64_t random;
	int64_t now_ns;    /* end of the newest bin */
	int64_t judged_ns; /* end of the newest window */
	struct window *window;
	struct rack_judge *judge;
	struct target *targets;
	size_t target_count;
	struct sim_fault faults[MAX_FAULTS];
	size_t fault_count;
	struct rack rack;
	struct rack_member members[SIM_MAX_MEMBERS], remotes[SIM_MAX_REMOTES];
	struct rack_host hosts[SIM_MAX_MEMBERS];
	char names[SIM_MAX_MEMBERS][24], devices[SIM_MAX_MEMBERS][24];
	int64_t reported_ns[SIM_MAX_MEMBERS];
	uint64_t probes;
};

/* The generator splitmix64. */
uint64_t
sim_random(struct sim *sim)
{
	uint64_t x = sim->random += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static bool
chance(struct sim *sim, double p)
{
	return p > 0 && (double)(sim_random(sim) >> 11) * 0x1p-53 < p;
}

static int64_t
below(struct sim *sim, int64_t limit)
{
	return (int64_t)(sim_random(sim) % (uint64_t)limit);
}

static void
add_target(struct sim *sim, size_t src, size_t dst, bool remote)
{
	sim->targets[sim->target_count++] = (struct target){ .src = src,
		.dst = dst,
		.remote = remote,
		.next_ns = sim->now_ns + below(sim, sim->options.interval_ns) };
}

static void
pace(struct sim *sim, struct target *target)
{
	const bool focused = target->next_ns >= target->focus_from_ns &&
			     target->next_ns < target->focus_to_ns;
	const int64_t interval = sim->options.interval_ns / (focused ? FOCUS : 1);
	const int64_t jitter = interval / JITTERS;

	target->next_ns += interval - jitter + below(sim, 2 * jitter);
}

static void
plan(struct sim *sim)
{
	const size_t n = sim->options.members;
	const size_t slots = n - 1 < MESH_PEERS ? n - 1 : MESH_PEERS;

	for (size_t i = 0; i < n; i++) {
		const size_t first = (size_t)below(sim, 4);

		for (size_t k = 0; k < slots; k++) {
			const size_t j = rm_mesh_target(n, MESH_PEERS, 0, i, k);

			if (sim->members[i].host_index != sim->members[j].host_index)
				add_target(sim, i, j, false);
		}
		for (size_t k = 0; k < sim->options.witnesses; k++)
			add_target(sim, i, (first + k) % 4, true);
	}
}

static void
name_all(struct sim *sim)
{
	const size_t per_host = sim->options.rnics_per_host;
	const size_t n = sim->options.members;
	const size_t hosts = (n + per_host - 1) / per_host;

	for (size_t i = 0; i < n; i++) {
		snprintf(sim->devices[i], sizeof sim->devices[i], "r%zu", i % per_host);
		sim->members[i] = (struct rack_member){ { 0x020000000000 + i, 0 },
			sim->names[i / per_host], sim->devices[i], i / per_host };
	}
	for (size_t i = 0; i < hosts; i++) {
		snprintf(sim->names[i], sizeof sim->names[i], "h%zu", i);
		sim->hosts[i] = (struct rack_host){ sim->names[i], HOST_OK };
	}
	for (size_t i = 0; i < SIM_MAX_REMOTES; i++)
		sim->remotes[i] =
		    (struct rack_member){ { 0x030000000000 + i, 0 }, "far", "r0", 0 };
	sim->rack = (struct rack){ "tor1", sim->members, n, sim->remotes,
		SIM_MAX_REMOTES, sim->hosts, hosts };
}

int
sim_new(const struct sim_options *options, struct sim **ret)
{
	const struct window_options window = {
		.bin_ns = SIM_BIN_NS,
		.judge_bins = 4,
		.open_bins = 16,
		.timeout_ns = TIMEOUT_NS,
		.wait_ns = TIMEOUT_NS,
		.max_pairs = 131072,
	};
	struct sim *sim = calloc(1, sizeof *sim);

	if (sim == NULL)
		return -ENOMEM;
	sim->options = *options;
	if (options->interval_ns == 0)
		sim->options.interval_ns = INTERVAL_NS;
	sim->random = options->seed;
	sim->now_ns = START_NS;
	sim->targets = calloc(
	    options->members * (MESH_PEERS + SIM_MAX_REMOTES), sizeof *sim->targets);
	if (sim->targets == NULL || rack_judge_new(&sim->judge) < 0 ||
	    window_new(&window, (rm_mono_t){ START_NS }, &sim->window) < 0) {
		sim_free(sim);
		return -ENOMEM;
	}
	name_all(sim);
	plan(sim);
	for (size_t i = 0; i < options->members; i++) {
		sim->reported_ns[i] = START_NS - below(sim, SIM_BIN_NS);
		if (!options->uncounted)
			window_counts_through(sim->window, (uint32_t)i,
			    (rm_mono_t){ sim->reported_ns[i] });
	}
	*ret = sim;
	return 0;
}

void
sim_free(struct sim *sim)
{
	if (sim == NULL)
		return;
	window_free(sim->window);
	rack_judge_free(sim->judge);
	free(sim->targets);
	free(sim);
}

void
sim_add_fault(struct sim *sim, struct sim_fault fault)
{
	fault.from_ns += START_NS;
	fault.to_ns += START_NS;
	sim->faults[sim->fault_count++] = fault;
}

const struct rack *
sim_rack(const struct sim *sim)
{
	return &sim->rack;
}

uint64_t
sim_probes(const struct sim *sim)
{
	return sim->probes;
}

static const struct sim_fault *
find_fault(const struct sim *sim, enum sim_fault_kind kind, size_t index, int64_t t)
{
	for (size_t i = 0; i < sim->fault_count; i++) {
		const struct sim_fault *fault = &sim->faults[i];

		if (fault->kind == kind && fault->index == index &&
		    t >= fault->from_ns && t < fault->to_ns)
			return fault;
	}
	return NULL;
}

static bool
is_fault(const struct sim *sim, enum sim_fault_kind kind, size_t index, int64_t t)
{
	return find_fault(sim, kind, index, t) != NULL;
}

/* Returns true if this fault drops the packet. */
static bool
takes(struct sim *sim, enum sim_fault_kind kind, size_t index, int64_t t)
{
	const struct sim_fault *fault = find_fault(sim, kind, index, t);

	return fault != NULL && chance(sim, fault->share);
}

static bool
agent_runs(const struct sim *sim, size_t member, int64_t t)
{
	const size_t host = sim->members[member].host_index;

	return !is_fault(sim, SIM_AGENT_KILLED, host, t) &&
	       !is_fault(sim, SIM_AGENT_FROZEN, host, t) &&
	       !is_fault(sim, SIM_HOST_GONE, host, t);
}

static bool
is_cut(const struct sim *sim, size_t member, int64_t t)
{
	return is_fault(sim, SIM_RNIC_BOTH, member, t) ||
	       is_fault(sim, SIM_RNIC_LINK_DOWN, member, t) ||
	       is_fault(sim, SIM_RNIC_PORT_DOWN, member, t);
}

static bool
can_send(struct sim *sim, size_t member, bool large, int64_t t)
{
	if (large && (is_fault(sim, SIM_RNIC_MTU, member, t) ||
			 is_fault(sim, SIM_RNIC_MTU_SEND, member, t)))
		return false;
	return !is_cut(sim, member, t) && !is_fault(sim, SIM_RNIC_SEND, member, t) &&
	       !(is_fault(sim, SIM_RNIC_LOSSY, member, t) && chance(sim, 0.4)) &&
	       !takes(sim, SIM_RNIC_LOSES_SENT, member, t) &&
	       !takes(sim, SIM_RNIC_LOSES_BOTH, member, t);
}

static bool
can_receive(struct sim *sim, size_t member, bool large, int64_t t)
{
	if (large && (is_fault(sim, SIM_RNIC_MTU, member, t) ||
			 is_fault(sim, SIM_RNIC_MTU_RECEIVE, member, t)))
		return false;
	return !is_cut(sim, member, t) && !is_fault(sim, SIM_RNIC_RECEIVE, member, t) &&
	       !(is_fault(sim, SIM_RNIC_LOSSY, member, t) && chance(sim, 0.4)) &&
	       !takes(sim, SIM_RNIC_LOSES_RECEIVED, member, t) &&
	       !takes(sim, SIM_RNIC_LOSES_BOTH, member, t);
}

static bool
leg(struct sim *sim, size_t from, size_t to, bool large, int64_t t)
{
	return can_send(sim, from, large, t) && can_receive(sim, to, large, t) &&
	       !is_fault(sim, SIM_TOR, 0, t) && !chance(sim, sim->options.loss);
}

static bool
round_trip_outside(struct sim *sim, const struct target *target, bool large, int64_t t)
{
	return can_send(sim, target->src, large, t) &&
	       can_receive(sim, target->src, large, t) &&
	       !is_fault(sim, SIM_TOR, 0, t) && !is_fault(sim, SIM_UPLINKS, 0, t) &&
	       !is_fault(sim, SIM_REMOTE, target->dst, t) &&
	       !chance(sim, 2 * sim->options.loss);
}

static bool
refuses(const struct sim *sim, size_t member, size_t prober)
{
	const struct sim_lies *lies = sim->options.lies;

	return lies != NULL && lies->refuses != NULL &&
	       lies->refuses(lies->arg, member, prober);
}

static bool
shuns(const struct sim *sim, const struct target *target)
{
	const struct sim_lies *lies = sim->options.lies;

	return lies != NULL && lies->shuns != NULL && !target->remote &&
	       lies->shuns(lies->arg, target->src, target->dst);
}

static bool
is_at(const struct sim *sim, enum sim_fault_kind kind, const struct target *target,
    int64_t t)
{
	return is_fault(sim, kind, target->src, t) ||
	       (!target->remote && is_fault(sim, kind, target->dst, t));
}

/* Sets the times of a probe that is answered, and delays them for late parts. */
static void
delay(const struct sim *sim, const struct target *target, int64_t t,
    struct wire_result *result)
{
	result->flags = WIRE_SPLIT;
	result->rtt_ns =
	    is_at(sim, SIM_RNIC_LATE, target, t) ? 400 * RM_NS_PER_MS : 40000;
	if (is_at(sim, SIM_RNIC_TOO_LATE, target, t) ||
	    is_fault(sim, SIM_TOR_LATE, 0, t))
		result->outcome = WIRE_NO_REPLY;
}

static uint32_t
window_index(const struct target *target)
{
	return (
	    uint32_t)(target->remote ? WINDOW_REMOTE_BASE + target->dst : target->dst);
}

/* Adds the result as the source's agent reports it. */
static void
report_at(
    struct sim *sim, const struct target *target, int64_t t, struct wire_result result)
{
	const struct sim_lies *lies = sim->options.lies;
	unsigned times = 1;

	if (lies != NULL && lies->on_result != NULL)
		times = lies->on_result(
		    lies->arg, target->src, target->dst, target->remote, &result);
	while (times-- > 0)
		window_add(sim->window, (rm_mono_t){ t }, &result,
		    (uint32_t)target->src, window_index(target));
}

/* A target with a loss is probed faster for some time, from when the loss is known.
 * Each further loss extends the time. */
static void
focus(struct target *target, int64_t t)
{
	if (t + AGE_NS >= target->focus_to_ns)
		target->focus_from_ns = t + AGE_NS;
	target->focus_to_ns = t + AGE_NS + FOCUS_NS;
}

static bool
is_large(const struct sim *sim, struct target *target)
{
	const unsigned every = sim->options.large_every;
	const unsigned run = sim->options.large_run > 0 ? sim->options.large_run : 1;

	return every > 0 && target->number++ / run % every == every - 1;
}

static void
probe(struct sim *sim, struct target *target, int64_t t)
{
	const bool large = is_large(sim, target);
	struct wire_result result = { .outcome = WIRE_NO_REPLY,
		.kind = target->remote ? WIRE_WITNESS : WIRE_TOR_MESH,
		.size_bytes = large ? LARGE_BYTES : SMALL_BYTES };
	bool is_late = false;

	/* An agent pauses a prober whose port is down. */
	if (!agent_runs(sim, target->src, t) ||
	    is_fault(sim, SIM_RNIC_PORT_DOWN, target->src, t) || shuns(sim, target))
		return;
	if (is_fault(sim, SIM_RNIC_LINK_DOWN, target->src, t) ||
	    is_fault(sim, SIM_RNIC_UNABLE, target->src, t)) {
		result.outcome = WIRE_SEND_FAILED;
	} else if (target->remote) {
		if (round_trip_outside(sim, target, large, t))
			result.outcome = WIRE_OK;
	} else if (leg(sim, target->src, target->dst, large, t) &&
		   agent_runs(sim, target->dst, t) &&
		   !is_fault(sim, SIM_RNIC_REFUSES, target->dst, t) &&
		   !refuses(sim, target->dst, target->src)) {
		target->received++;
		if (leg(sim, target->dst, target->src, large, t))
			result.outcome = WIRE_OK;
	}
	sim->probes++;
	if (result.outcome == WIRE_OK) {
		delay(sim, target, t, &result);
		is_late = is_fault(sim, SIM_TOR_LATE, 0, t);
	}
	if (result.outcome == WIRE_NO_REPLY && sim->options.focuses)
		focus(target, t);
	if (is_fault(sim, SIM_MANAGEMENT_DOWN, sim->members[target->src].host_index, t))
		return; /* the agent reports no count */
	report_at(sim, target, t, result);
	if (is_late)
		window_overdue(sim->window, (rm_mono_t){ t }, &result,
		    (uint32_t)target->src, window_index(target));
}

/* Reports the probes that dst has received since its last report, with noise: a packet
 * too many in one report is missing in the next. */
static void
report(struct sim *sim, size_t dst, int64_t t)
{
	const struct sim_lies *lies = sim->options.lies;
	const int64_t noise = sim->options.count_noise;
	const rm_mono_t from = { sim->reported_ns[dst] }, to = { t };

	for (size_t i = 0; i < sim->target_count; i++) {
		struct target *target = &sim->targets[i];
		int64_t count, off;

		if (target->remote || target->dst != dst)
			continue;
		off = noise > 0 ? below(sim, 2 * noise + 1) - noise : 0;
		count = (int64_t)target->received - target->noise + off;
		if (count < 0) {
			off -= count;
			count = 0;
		}
		target->noise = off;
		target->received = 0;
		if (lies != NULL && lies->on_count != NULL)
			count = (int64_t)lies->on_count(
			    lies->arg, target->src, dst, (uint64_t)count);
		window_arrived(sim->window, (uint32_t)target->src, (uint32_t)dst, from,
		    to, (uint64_t)count);
	}
	window_counts_through(sim->window, (uint32_t)dst, to);
	sim->reported_ns[dst] = t;
}

/* Takes the registrations that were received before the window up to judged_ns is
 * judged. */
static void
see_ports(struct sim *sim)
{
	const struct sim_lies *lies = sim->options.lies;

	for (size_t i = 0; i < sim->options.members; i++) {
		sim->members[i].port_down = is_fault(
		    sim, SIM_RNIC_PORT_DOWN, i, sim->judged_ns + SIM_REPORT_AHEAD_NS);
		if (lies != NULL && lies->on_port != NULL)
			sim->members[i].port_down =
			    lies->on_port(lies->arg, i, sim->members[i].port_down);
	}
}

/* Sets the states of hosts as the daemon has them when the window up to judged_ns is
 * judged. */
static void
see_hosts(struct sim *sim)
{
	for (size_t i = 0; i < sim->rack.host_count; i++) {
		sim->hosts[i].state = HOST_OK;
		sim->hosts[i].silence.ns = 100 * RM_NS_PER_MS;
	}
	for (size_t i = 0; i < sim->fault_count; i++) {
		const struct sim_fault *fault = &sim->faults[i];
		struct rack_host *host = &sim->hosts[fault->index];
		const int64_t judged_ns = sim->judged_ns + AGE_NS;
		const int64_t silent_ns = judged_ns - fault->from_ns;
		const bool over = judged_ns > fault->to_ns;

		if (fault->kind < SIM_AGENT_KILLED || judged_ns < fault->from_ns ||
		    sim->judged_ns - 4 * SIM_BIN_NS > fault->to_ns)
			continue;
		if (!over)
			host->silence.ns = silent_ns;
		if (fault->kind == SIM_AGENT_KILLED)
			host->state = over || silent_ns < GRACE_NS ? HOST_RESTARTING
								   : HOST_AGENT_DOWN;
		else if (fault->kind == SIM_AGENT_FROZEN)
			host->state = over || silent_ns < FROZEN_AFTER_NS
					  ? HOST_STALLED
					  : HOST_AGENT_FROZEN;
		else
			host->state = over || silent_ns < GONE_AFTER_NS
					  ? HOST_STALLED
					  : HOST_UNREACHABLE;
	}
}

static bool
can_report(const struct sim *sim, size_t member)
{
	return !sim->options.uncounted && agent_runs(sim, member, sim->now_ns) &&
	       !is_fault(sim, SIM_MANAGEMENT_DOWN, sim->members[member].host_index,
		   sim->now_ns);
}

/* Sends all probes until `end`, and one report of each host at some time before it. */
static void
run_bin(struct sim *sim, int64_t end)
{
	for (size_t m = 0; m < sim->options.members; m++) {
		/* A random time, so that reports are not in step with the bins. */
		const int64_t t =
		    sim->now_ns + SIM_BIN_NS / 8 + below(sim, SIM_BIN_NS / 4);

		for (size_t i = 0; i < sim->target_count; i++) {
			struct target *target = &sim->targets[i];

			/* The probes of each destination must be in the order of time.
			 */
			if (!target->remote && target->dst == m)
				while (target->next_ns < t) {
					probe(sim, target, target->next_ns);
					pace(sim, target);
				}
		}
		if (can_report(sim, m))
			report(sim, m, t);
	}
	for (size_t i = 0; i < sim->target_count; i++)
		while (sim->targets[i].next_ns < end) {
			probe(sim, &sim->targets[i], sim->targets[i].next_ns);
			pace(sim, &sim->targets[i]);
		}
}

int
sim_step(struct sim *sim, int64_t *end_ns, struct rack_judgement *ret)
{
	const int64_t end = sim->now_ns + SIM_BIN_NS;
	struct window_closed closed;

	run_bin(sim, end);
	sim->now_ns = end;
	/* A report may end in the next bin, so judging is one bin behind. */
	sim->judged_ns = end - SIM_BIN_NS;
	*end_ns = sim->judged_ns - START_NS;
	if (!window_close(sim->window, (rm_mono_t){ end },
		(rm_mono_t){ sim->judged_ns }, &closed))
		return -EAGAIN;
	see_hosts(sim);
	see_ports(sim);
	return rack_judge_window(
	    sim->judge, &sim->rack, &closed, (rm_wall_t){ closed.start.ns }, ret);
}
