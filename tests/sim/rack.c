/* Simulates the aggregator of one rack, with its real modules, connected as in the
 * daemon. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/incident/incident_file.h"
#include "tests/sim/record.h"
#include "tests/sim/run_state.h"
#include "tor-aggregator/agents/agent.h"
#include "tor-aggregator/agents/agent_health.h"
#include "tor-aggregator/plan/pinglist_builder.h"
#include "tor-aggregator/rack/tor_rack.h"
#include "tor-aggregator/window/roster.h"

/* Ring size per RNIC of the rack, for three seconds of results. Small racks have room
 * for as many as RING_RNICS have: for a minute, if only one RNIC works. */
#define RING_BYTES 32768
#define RING_RNICS 8
#define RNIC_INTERVAL_NS (60 * RM_NS_PER_S)
/* after this time without a message, a session is closed */
#define SILENT_NS (10 * RM_NS_PER_S)

/* ---- callbacks of the aggregator's modules -----------------------------------------
 */

static struct sim_lane *
lane_of_host(struct sim_rack *rack, const char *host)
{
	struct agent *agent = agents_find(rack->agents, host);

	for (size_t i = 0; i < rack->lane_count && agent != NULL; i++)
		if (rack->run->lanes[rack->lanes[i]].agent == agent)
			return &rack->run->lanes[rack->lanes[i]];
	return NULL;
}

static enum host_state
on_host_state(struct tor_rack *tor, const char *host, rm_mono_t now, rm_mono_t start,
    rm_mono_t end, struct host_silence *silence, void *arg)
{
	struct sim_rack *rack = arg;
	const struct agent *agent = agents_find(rack->agents, host);

	*silence = (struct host_silence){ 0 };
	return agent == NULL ? HOST_UNKNOWN
			     : agent_health_state(agent->watch, now, start, end,
				   RUN_TIMEOUT_NS, silence);
}

static void
on_incident(struct tor_rack *tor, enum rm_incident_event event,
    const struct rm_incident *incident, void *arg)
{
	static const enum wire_incident_state states[] = {
		[RM_INCIDENT_OPENED] = WIRE_OPENED,
		[RM_INCIDENT_UPDATED] = WIRE_UPDATED,
		[RM_INCIDENT_RESOLVED] = WIRE_RESOLVED,
		[RM_INCIDENT_NOTED] = WIRE_UPDATED,
	};
	struct sim_rack *rack = arg;

	centre_incident(rack->run->centre, rack, states[event], incident);
}

static void
on_summary(struct tor_rack *tor, const struct wire_summary *summary, void *arg)
{
	struct sim_rack *rack = arg;

	centre_summary(rack->run->centre, rack, summary);
}

static void
on_focus(
    struct tor_rack *tor, const char *host, const struct wire_focus *focus, void *arg)
{
	struct sim_rack *rack = arg;
	const struct sim_lane *lane = lane_of_host(rack, host);

	if (lane != NULL && lane->connected && rack->run->life != NULL &&
	    life_runs(rack->run->life, lane->host, rack->run->now_ns))
		probing_focus(rack->run, focus, rack->run->now_ns);
}

/* ---- restarts -------------------------------------------------------------------- */

int
sim_rack_start(struct sim_rack *rack, int64_t now_ns)
{
	const size_t rnics = rack->run->draw.fabric.rnics_per_rack;
	const struct tor_rack_options options = {
		.tor = rack->name,
		.active = true,
		.ring_bytes = RING_BYTES * (rnics > RING_RNICS ? rnics : RING_RNICS),
		.timeout_ns = RUN_TIMEOUT_NS,
		.row_interval_ns = RUN_ROW_INTERVAL_NS,
		.rnic_interval_ns = RNIC_INTERVAL_NS,
		.resolve_after_ns = RUN_RESOLVE_NS,
		.id_seed = dice_next(&rack->run->dice),
	};
	const struct tor_rack_callbacks callbacks = { .host_state = on_host_state,
		.on_incident = on_incident,
		.on_summary = on_summary,
		.on_focus = on_focus,
		.arg = rack };
	const rm_mono_t now = rack_mono(rack, now_ns);
	struct rm_error error;
	int r;

	record_life(rack, true, now_ns);
	rack->ingest = (struct ingest){ 0 };
	rack->incarnation++;
	rack->summary_seq = 0;
	r = agents_new(WIRE_MAX_MEMBERS, &rack->agents);
	if (r == 0)
		r = tor_rack_new(
		    &options, &callbacks, now, rack_wall(rack, now_ns), &rack->rack);
	if (r == 0 && rack->saved != NULL)
		(void)tor_rack_restore(
		    rack->rack, rack->saved, now, rack_wall(rack, now_ns), &error);
	return r == 0 ? tor_rack_plan(rack->rack, &rack->view, now) : r;
}

void
sim_rack_stop(struct sim_rack *rack, int64_t now_ns)
{
	struct run *run = rack->run;

	record_life(rack, false, now_ns);
	run->result.windows += tor_rack_counts(rack->rack)->judged;
	rack->down_ns = now_ns;
	json_decref(rack->saved);
	rack->saved =
	    rm_incidents_save(tor_rack_incidents(rack->rack), rack_wall(rack, now_ns));
	for (size_t i = 0; i < rack->lane_count; i++) {
		run->lanes[rack->lanes[i]].agent = NULL;
		run->lanes[rack->lanes[i]].connected = false;
	}
	agents_free(rack->agents);
	tor_rack_free(rack->rack);
	rack->agents = NULL;
	rack->rack = NULL;
}

int
sim_rack_replan(struct sim_rack *rack, int64_t now_ns)
{
	return tor_rack_plan(rack->rack, &rack->view, rack_mono(rack, now_ns));
}

void
sim_rack_clear(struct sim_rack *rack)
{
	if (rack->rack != NULL)
		rack->run->result.windows += tor_rack_counts(rack->rack)->judged;
	agents_free(rack->agents);
	tor_rack_free(rack->rack);
	json_decref(rack->saved);
	free(rack->plan);
	free(rack->lanes);
}

/* ---- sessions -------------------------------------------------------------------- */

static int
take_hello(struct sim_rack *rack, struct sim_lane *lane, const uint8_t *data,
    size_t len, rm_mono_t now)
{
	struct wire_hello_view view;
	bool fresh;
	int r = wire_open_hello(&view, data, len);

	if (r == 0 && (view.hello.now_ns > INT64_MAX || !rm_name_valid(view.hello.id)))
		r = -EBADMSG;
	if (r == 0)
		r = agents_get(rack->agents, view.hello.id, &lane->agent);
	if (r < 0)
		return r;
	fresh = agent_hello(lane->agent, view.hello.incarnation);
	clock_map_sample(&lane->agent->clock, view.hello.now_ns, now);
	agent_health_hello(lane->agent->watch, now, fresh);
	return 0;
}

static int
take_registration(struct sim_rack *rack, struct sim_lane *lane, const uint8_t *data,
    size_t len, rm_mono_t now)
{
	struct wire_register_view view;
	struct agent_refused refused;
	int r = wire_open_register(&view, data, len);

	if (r == 0)
		r = agent_register(
		    rack->agents, lane->agent, &view, rack->run->rack_writer, &refused);
	if (r < 0)
		return r;
	tor_rack_leave(rack->rack, lane->agent->host);
	for (size_t i = 0; i < view.reg.rnic_count; i++) {
		struct wire_rnic rnic;

		wire_register_rnic(&view, i, &rnic);
		r = tor_rack_register(rack->rack, &rnic, now);
		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < rack->lane_count; i++)
		if (rack->run->lanes[rack->lanes[i]].agent != NULL)
			agent_place(
			    rack->run->lanes[rack->lanes[i]].agent, &rack->rack, 1);
	return 0;
}

static int
take_beat(struct agent *agent, const uint8_t *data, size_t len, rm_mono_t now)
{
	struct wire_heartbeat beat;
	rm_mono_t made, through, start, end;
	int r = wire_open_heartbeat(&beat, data, len);

	if (r < 0 || beat.incarnation != agent->incarnation)
		return r;
	if (clock_map_sample(&agent->clock, beat.now_ns, now) < 0 ||
	    !clock_map_ours(&agent->clock, beat.now_ns, &made) ||
	    !clock_map_ours(&agent->clock, beat.results_through_ns, &through))
		return -EBADMSG;
	for (size_t i = 0; i < beat.stall_count; i++)
		if (clock_map_ours(&agent->clock, beat.stalls[i].start_ns, &start) &&
		    clock_map_ours(&agent->clock, beat.stalls[i].end_ns, &end))
			agent_health_stall(agent->watch, start, end);
	agent_health_beat(agent->watch, now, made, through, beat.paused);
	return 0;
}

/* Messages of a former session are dropped, because that session has ended. */
static int
forgive(int r)
{
	return r == -EPERM ? 0 : r;
}

int
sim_rack_take(struct sim_rack *rack, struct sim_lane *lane, enum wire_kind kind,
    const uint8_t *data, size_t len, int64_t now_ns)
{
	const rm_mono_t now = rack_mono(rack, now_ns);
	struct wire_ack ack;

	record_frame(rack, lane, data, len, now_ns);
	lane->last_seen_ns = now_ns;
	if (kind == WIRE_HELLO)
		return take_hello(rack, lane, data, len, now);
	if (lane->agent == NULL)
		return 0;
	switch (kind) {
	case WIRE_REGISTER:
		return take_registration(rack, lane, data, len, now);
	case WIRE_BATCH:
		if (rack->run->eyes != NULL)
			eyes_batch(rack->run->eyes, lane, data, len, now_ns);
		return forgive(
		    ingest_batch(&rack->ingest, lane->agent, now, data, len, &ack));
	case WIRE_COUNTS:
		return forgive(
		    ingest_receive_counts(&rack->ingest, lane->agent, now, data, len));
	case WIRE_HEARTBEAT:
		return take_beat(lane->agent, data, len, now);
	case WIRE_PATHS:
		return forgive(
		    ingest_paths(&rack->ingest, lane->agent, now, data, len));
	default:
		return -EINVAL;
	}
}

void
sim_rack_ended(
    struct sim_rack *rack, struct sim_lane *lane, bool by_peer, int64_t now_ns)
{
	if (by_peer)
		record_ended(rack, lane, now_ns);
	if (lane->agent != NULL && rack->rack != NULL)
		agent_health_ended(
		    lane->agent->watch, rack_mono(rack, now_ns), by_peer);
	lane->connected = false;
}

/* ---- time passes ----------------------------------------------------------------- */

static bool
kernel_answers(struct sim_rack *rack, struct sim_lane *lane, int64_t now_ns)
{
	const struct life *life = rack->run->life;

	if (life != NULL &&
	    lane->mute == life_kernel_answers(life, lane->host, now_ns)) {
		lane->mute = !lane->mute;
		record_kernel(rack, lane, !lane->mute, now_ns);
	}
	return !lane->mute;
}

/* Checks whether the kernels of silent agents answer, and closes sessions that are
 * silent for long. Returns the time until which all results have arrived. */
static rm_mono_t
watch_agents(struct sim_rack *rack, rm_mono_t now, int64_t now_ns)
{
	rm_mono_t least = now, through;

	for (size_t i = 0; i < rack->lane_count; i++) {
		struct sim_lane *lane = &rack->run->lanes[rack->lanes[i]];

		if (lane->agent == NULL)
			continue;
		if (agent_health_wants_ping(lane->agent->watch, now) &&
		    kernel_answers(rack, lane, now_ns))
			agent_health_acked(lane->agent->watch, now);
		if (lane->connected && now_ns - lane->last_seen_ns > SILENT_NS &&
		    !kernel_answers(rack, lane, now_ns))
			sim_rack_ended(rack, lane, false, now_ns);
		if (lane->agent->rnic_count > 0 &&
		    agent_health_reported(
			lane->agent->watch, now, RUN_TIMEOUT_NS, &through) &&
		    through.ns < least.ns)
			least = through;
	}
	return least;
}

static int
rotate(struct sim_rack *rack, int64_t now_ns)
{
	struct run *run = rack->run;
	const uint64_t rotation = pinglist_builder_rotation(
	    &rack->view.plan, rack_wall(rack, now_ns).ns / RM_NS_PER_S);
	int r = 0;

	for (size_t i = 0;
	     run->pinglist_builder != NULL && i < rack->lane_count && r == 0; i++) {
		struct sim_lane *lane = &run->lanes[rack->lanes[i]];

		if (lane->rotation != rotation)
			r = probing_expand(run, lane, rotation);
	}
	return r;
}

static int
restart(struct sim_rack *rack, int64_t now_ns)
{
	struct run *run = rack->run;
	const double per_hour = run->draw.noise[NOISE_AGGREGATOR_RESTARTS_PER_HOUR];

	if (rack->rack == NULL)
		return now_ns >= rack->up_ns ? sim_rack_start(rack, now_ns) : 0;
	if (per_hour <= 0 || now_ns < rack->next_down_ns)
		return 0;
	/* At the beginning of the run, only the time of the next restart is drawn. */
	if (rack->next_down_ns != 0) {
		sim_rack_stop(rack, now_ns);
		rack->up_ns =
		    now_ns +
		    (int64_t)(scenario_pick(
				  &run->scenario->noise[NOISE_AGGREGATOR_RESTART_S],
				  &run->dice) *
			      1e9);
	}
	rack->next_down_ns =
	    now_ns + (int64_t)(dice_exponential(&run->dice, 3600 / per_hour) * 1e9);
	return 0;
}

int
sim_rack_tick(struct sim_rack *rack, int64_t now_ns)
{
	const rm_mono_t now = rack_mono(rack, now_ns + RM_NS_PER_MS);
	int r = restart(rack, now_ns);

	if (r < 0 || rack->rack == NULL)
		return r;
	if (now_ns % RM_NS_PER_S == 0)
		r = rotate(rack, now_ns);
	tor_rack_tick(rack->rack, now, rack_wall(rack, now_ns + RM_NS_PER_MS),
	    watch_agents(rack, now, now_ns));
	return r;
}
