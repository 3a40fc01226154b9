/* The timers of the agent: they check the loop every 25 ms, send heartbeats every 250
 * ms, and examine the RNICs every few seconds. */
#include "host-agent/host_agent_state.h"

#include "host-agent/agent_config.h"
#include "host-agent/host_agent_rnics.h"
#include "host-agent/pinglist/pinglist.h"
#include "host-agent/pinglist/pinglist_store.h"
#include "host-agent/reflector/reflector.h"
#include "host-agent/reflector/rx_count_report.h"
#include "host-agent/report/self_limit.h"
#include "host-agent/rnic/device_events.h"
#include "host-agent/rnic/look_pace.h"
#include "host-agent/rnic/rdma_index.h"
#include "rackmesh/core/log.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/notify.h"
#include "schemas/wire/text.h"

/* ---- the rate of probes: the brake and the agent's own limits ---- */

#define DAY_NS (24 * 3600 * RM_NS_PER_S)
/* A sample may be this much early: heartbeats come a little closer together at
 * times. */
#define SAMPLE_SLACK_NS (100 * RM_NS_PER_MS)
/* Memory that an RDMA port needs, however slowly it probes: about 4 MiB of buffers, and
 * what its provider allocates. */
#define PORT_MEMORY_BYTES (UINT64_C(6) << 20)

uint32_t
agent_pace(const struct host_agent *agent)
{
	uint32_t braked = agent->brake_now.rate_permille;
	uint32_t pace = braked * agent->limit.permille / 1000;

	return braked > 0 && pace == 0 ? 1 : pace;
}

void
agent_set_pace(struct host_agent *agent)
{
	for (size_t i = 0; i < agent->rnic_count; i++)
		rnic_brake(agent->rnics[i], agent_pace(agent));
	agent_tune_tracing(agent);
}

/* The limit in bytes, including the needs of the open RDMA ports; 0: there is no limit.
 */
static uint64_t
memory_limit(const struct host_agent *agent)
{
	uint64_t bytes = agent->config.limits_memory_mib << 20;
	struct port_verbs_facts facts;

	for (size_t i = 0; bytes != 0 && i < agent->rnic_count; i++)
		bytes += rnic_verbs(agent->rnics[i], &facts) ? PORT_MEMORY_BYTES : 0;
	return bytes;
}

void
agent_tune_limits(struct host_agent *agent)
{
	const struct agent_config *config = &agent->config;
	const struct self_limit_options options = {
		.cpu_percent = config->limits_cpu_percent,
		.memory_bytes = memory_limit(agent),
	};

	self_limit_tune(&agent->limit, &options);
	pinglist_store_set_life(
	    agent->pinglists, (int64_t)config->pinglists_expire_days * DAY_NS);
}

static void
agent_report_slowed(const struct host_agent *agent)
{
	const struct self_limit *limit = &agent->limit;

	if (limit->reason == WIRE_SLOW_NOT)
		rm_log_info("probing: back at full rate");
	else
		rm_log_warn(0,
		    "probing: slowed by the %s limit: %u of 1000 probes are sent; CPU "
		    "%.1f %% of a core, memory %llu MiB",
		    wire_slow_str(limit->reason), (unsigned)limit->permille,
		    limit->cpu_percent,
		    (unsigned long long)(limit->memory_bytes >> 20));
}

/* Measures the agent's own use of CPU and memory, at most once a second. */
static void
agent_watch_itself(struct host_agent *agent, rm_mono_t now)
{
	struct self_sample sample;
	uint64_t bytes;
	int r;

	if (agent->limit.sampled && rm_mono_since(now, agent->limit.at) <
					SELF_LIMIT_INTERVAL_NS - SAMPLE_SLACK_NS)
		return;
	r = self_sample_read(&sample);
	if (r < 0) {
		rm_log_warn(r, "cannot measure the agent's own CPU and memory");
		return;
	}
	/* The limit never falls: malloc may keep the memory of a port that was
	 * closed. */
	bytes = memory_limit(agent);
	if (bytes > agent->limit.options.memory_bytes)
		agent->limit.options.memory_bytes = bytes;
	if (!self_limit_take(&agent->limit, &sample, now))
		return;
	agent_set_pace(agent);
	agent_report_slowed(agent);
}

/* True: this aggregator serves a ToR whose pinglist has expired, because no aggregator
 * has confirmed it. */
static bool
aggregator_link_is_expired(const struct host_agent *agent, size_t aggregator)
{
	const struct agent_aggregator_config *list = agent->config.aggregators.items;

	for (size_t i = 0; i < pinglist_store_tors(agent->pinglists); i++) {
		const struct pinglist *pinglist =
		    pinglist_store_at(agent->pinglists, i);

		if (pinglist_slow(pinglist) &&
		    agent_aggregator_serves(&list[aggregator], pinglist_tor(pinglist)))
			return true;
	}
	return false;
}

/* Fills in, for this aggregator's next heartbeat, by how much probing is slowed and
 * why. */
static void
agent_note_slowed(
    const struct host_agent *agent, size_t aggregator, struct loop_turn *turn)
{
	const uint32_t expired = 1000 / PINGLIST_SLOW_FACTOR;

	turn->slowed_permille = 0;
	turn->slowed_reason = agent->limit.reason;
	if (agent->limit.permille < 1000)
		turn->slowed_permille = (uint16_t)agent->limit.permille;
	if (pinglist_store_slow(agent->pinglists) == 0 ||
	    !aggregator_link_is_expired(agent, aggregator))
		return;
	turn->slowed_permille = (uint16_t)(expired * agent->limit.permille / 1000);
	turn->slowed_reason = WIRE_SLOW_PLAN;
}

/* Returns by how many ns the prober that is furthest behind its schedule is behind. */
static int64_t
agent_behind_ns(const struct host_agent *agent, rm_mono_t now)
{
	int64_t most = 0;

	for (size_t i = 0; i < agent->rnic_count; i++) {
		const struct prober *prober = rnic_prober(agent->rnics[i]);
		int64_t behind = prober == NULL ? 0 : prober_behind_ns(prober, now);

		most = behind > most ? behind : most;
	}
	return most;
}

/* A prober whose work has been due for this long is stuck. */
#define STUCK_NS (5 * RM_NS_PER_S)
/* Two timers that are due within this time may fire in any order. */
#define TIMER_SLACK_NS RM_NS_PER_MS

static void
agent_on_turn(void *arg)
{
	struct host_agent *agent = arg;
	rm_mono_t now = rm_mono_now();
	struct loop_turn turn = loop_watch_turn(&agent->watch, now);
	int64_t late;

	for (size_t i = 0; i < agent->aggregator_link_count; i++) {
		agent_note_slowed(agent, i, &turn);
		aggregator_link_note(agent->aggregator_links[i], &turn);
	}
	if (turn.stalled)
		agent->counts.loop_stalls++;
	rm_timer_at(agent->turn, agent->watch.deadline);

	late = rm_mono_since(now, agent->next_beat);
	if (late < 0)
		return;
	agent->next_beat = rm_mono_add(agent->next_beat,
	    (late / HEARTBEAT_INTERVAL_NS + 1) * HEARTBEAT_INTERVAL_NS);
	agent_beat_soon(agent, now);
}

void
agent_beat_soon(struct host_agent *agent, rm_mono_t now)
{
	/*
	 * The heartbeat is sent by a timer that is due now, not from here: timers of
	 * probers that were due earlier, perhaps long ago because of a stall, report
	 * lost probes first.
	 */
	agent->beat_due = now;
	rm_timer_at(agent->beat, now);
}

struct served { /* the RNICs of one aggregator, as its heartbeat needs them */
	const struct host_agent *agent;
	size_t aggregator;
};

static bool
rnic_is_served(size_t rnic, const void *arg)
{
	const struct served *served = arg;

	return agent_serves(served->aggregator, served->agent->rnics[rnic]);
}

static void
agent_gather_counts(struct host_agent *agent)
{
	bool all = false;

	for (size_t i = 0; i < agent->aggregator_link_count; i++)
		all |= aggregator_link_wants_all_counts(agent->aggregator_links[i]);
	rx_count_report_start(agent->rows);
	for (size_t i = 0; i < agent->rnic_count; i++) {
		struct reflector *reflector = rnic_reflector(agent->rnics[i]);

		if (reflector == NULL)
			continue;
		if (all)
			reflector_report_all(reflector);
		if (rx_count_report_gather(agent->rows, i, reflector) < 0)
			agent->counts.rows_no_memory++;
	}
}

/* Lists the connected aggregators. All of them get the list, because a standby
 * aggregator uses it to decide whether to become active. */
static void
agent_list_live(const struct host_agent *agent, const char *live[WIRE_MAX_LIVE],
    struct aggregator_link_report *report)
{
	rm_mono_t now = rm_mono_now();

	report->live = live;
	for (size_t i = 0; i < agent->aggregator_link_count; i++) {
		const struct aggregator_link *aggregator_link =
		    agent->aggregator_links[i];
		const char *id = aggregator_link_live(aggregator_link, now);

		if (id == NULL || report->live_count == WIRE_MAX_LIVE)
			continue;
		report->live_mute |= (uint64_t)aggregator_link_is_mute(aggregator_link)
				     << report->live_count;
		live[report->live_count++] = id;
	}
}

static void
agent_on_beat(void *arg)
{
	struct host_agent *agent = arg;
	rm_mono_t now = rm_mono_now();
	const char *live[WIRE_MAX_LIVE];
	struct aggregator_link_report report = {
		.paused = agent->paused || agent->brake_now.rate_permille == 0,
		.paused_by_hand = agent->paused,
		.known_through = rm_mono_add(agent->beat_due, -TIMER_SLACK_NS),
	};

	agent_tick_place(agent, now);
	agent_list_live(agent, live, &report);
	agent_gather_counts(agent);
	for (size_t i = 0; i < agent->rnic_count; i++)
		report.self_loss += rnic_self_loss(agent->rnics[i]);
	for (size_t i = 0; i < agent->aggregator_link_count; i++) {
		struct served served = { agent, i };

		report.rows = rx_count_report_pick(
		    agent->rows, rnic_is_served, &served, &report.row_count);
		aggregator_link_report(
		    agent->aggregator_links[i], &report, rm_mono_now());
	}

	agent_watch_itself(agent, now);
	if (agent_behind_ns(agent, now) < STUCK_NS)
		rm_notify_worked(rm_loop_notify(agent->loop), agent->worker, now);
}

static void
agent_renew_plans(struct host_agent *agent, rm_mono_t now)
{
	for (size_t i = 0; i < agent->rnic_count; i++) {
		const struct rnic *rnic = agent->rnics[i];
		const struct agent_aggregator_config *list =
		    agent->config.aggregators.items;

		for (size_t t = 0; t < rnic_tor_count(rnic); t++) {
			const char *tor = rnic_tor(rnic, t);

			for (size_t u = 0; u < agent->aggregator_link_count; u++) {
				if (aggregator_link_has_session(
					agent->aggregator_links[u]) &&
				    agent_aggregator_serves(&list[u], tor))
					pinglist_store_renew(
					    agent->pinglists, tor, now);
			}
		}
	}
}

/* Returns the CPU time in ns of examining once all RNICs that are up, or all that are
 * not up. */
static int64_t
agent_look_cpu_ns(const struct host_agent *agent, bool up)
{
	int64_t cpu_ns = 0;

	for (size_t i = 0; i < agent->rnic_count; i++)
		if (rnic_up(agent->rnics[i]) == up)
			cpu_ns += rnic_look_cpu_ns(agent->rnics[i]);
	return cpu_ns;
}

static void
agent_on_changed(void *arg)
{
	struct host_agent *agent = arg;

	agent->change_awaited = false;
	agent->looked_for_event = rm_mono_now();
	rdma_index_expire(agent->rdma);
	agent_find(agent, true, agent->looked_for_event);
	for (size_t i = 0; i < agent->rnic_count; i++)
		rnic_look(agent->rnics[i]);
}

static void
agent_on_device_event(void *arg)
{
	struct host_agent *agent = arg;
	const int64_t cpu_ns =
	    agent_look_cpu_ns(agent, true) + agent_look_cpu_ns(agent, false);
	const int64_t soon_ns = look_pace_event_ns(0);
	const int64_t wait_ns = look_pace_event_ns(cpu_ns) -
				rm_mono_since(rm_mono_now(), agent->looked_for_event);

	/* The delay counts from the first event: a stream of events must not postpone
	 * the examination for ever. */
	if (agent->change_awaited)
		return;
	agent->change_awaited = true;
	rm_timer_after(agent->changed, wait_ns > soon_ns ? wait_ns : soon_ns);
}

/* Without the events, as in a namespace that does not exist yet, changes are only found
 * by the regular examinations. */
static void
agent_listen_to_devices(struct host_agent *agent)
{
	int r;

	if (agent->events != NULL)
		return;
	r = device_events_new(agent->loop, agent->config.netns, agent_on_device_event,
	    agent, &agent->events);
	if (r < 0 && !agent->events_failed)
		rm_log_warn(r, "cannot receive changes of devices from the kernel");
	agent->events_failed = r < 0;
}

static void
agent_look_at_rnics(struct host_agent *agent, rm_mono_t now)
{
	const int64_t pace_ns[2] = {
		look_pace_ns(false, agent_look_cpu_ns(agent, false)),
		look_pace_ns(true, agent_look_cpu_ns(agent, true)),
	};
	int64_t next_ns = look_pace_ns(true, 0);

	for (size_t i = 0; i < agent->rnic_count; i++) {
		struct rnic *rnic = agent->rnics[i];
		const int64_t due_ns = pace_ns[rnic_up(rnic)];

		if (due_ns < next_ns)
			next_ns = due_ns;
		if (rm_mono_since(now, rnic_looked(rnic)) >= due_ns - TIMER_SLACK_NS)
			rnic_look(rnic);
	}
	rm_timer_after(agent->look, next_ns);
}

static void
agent_on_look(void *arg)
{
	struct host_agent *agent = arg;
	rm_mono_t now = rm_mono_now();

	agent_listen_to_devices(agent);
	agent_look_at_rnics(agent, now);
	agent_find(agent, false, now);
	agent_renew_plans(agent, now);
	if (!pinglist_store_tick(agent->pinglists, rm_wall_now(), now))
		return;
	agent_tune_probers(agent);
	if (pinglist_store_slow(agent->pinglists) > 0)
		rm_log_warn(0,
		    "pinglists: %zu expired: no aggregator of their ToRs for days, a "
		    "tenth of their probes is sent",
		    pinglist_store_slow(agent->pinglists));
	else if (pinglist_store_any(agent->pinglists))
		rm_log_info("pinglists: in force again");
	else
		rm_log_warn(0, "pinglists: all expired: no probe is sent");
	for (size_t i = 0; i < agent->rnic_count; i++)
		agent_plan_rnic(agent, agent->rnics[i]);
}

int
agent_start_timers(struct host_agent *agent)
{
	rm_mono_t now = rm_mono_now();
	int r;

	r = rm_timer_new(agent->loop, agent_on_turn, agent, &agent->turn);
	if (r == 0)
		r = rm_timer_new(agent->loop, agent_on_beat, agent, &agent->beat);
	if (r == 0)
		r = rm_timer_new(agent->loop, agent_on_look, agent, &agent->look);
	if (r == 0)
		r = rm_timer_new(agent->loop, agent_on_changed, agent, &agent->changed);
	if (r == 0)
		r = rm_timer_new(
		    agent->loop, agent_report_paths, agent, &agent->report);
	if (r < 0)
		return r;
	loop_watch_init(&agent->watch, now);
	agent->next_beat = rm_mono_add(now, HEARTBEAT_INTERVAL_NS);
	rm_timer_at(agent->turn, agent->watch.deadline);
	rm_timer_at(agent->look, now);
	rm_timer_at(agent->report, now);
	return 0;
}
