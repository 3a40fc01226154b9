/*
 * rack_fixture - a tor_rack with agents, and its output.
 *
 * Every member of the plan has an agent of its own that has registered; all agents have
 * the same clock. Hosts are HOST_OK unless a test sets another state.
 */
#ifndef TESTS_RACK_FIXTURE_H
#define TESTS_RACK_FIXTURE_H

#include "plan_fixture.h"
#include "rackmesh/judge/verdict.h"
#include "tor-aggregator/agents/agent.h"
#include "tor-aggregator/agents/agent_health.h"
#include "tor-aggregator/agents/ingest.h"
#include "tor-aggregator/rack/tor_rack.h"
#include "tor-aggregator/window/ring.h"
#include "tor-aggregator/window/roster.h"

#define FIXTURE_START (1000 * RM_NS_PER_S)
#define FIXTURE_WALL INT64_C(1700000000000000000)

struct rack_fixture {
	struct plan_fixture *plan;
	struct tor_rack *rack;
	struct agents *agents;
	struct agent *agent[FIXTURE_MAX];
	struct ingest ingest;
	struct wire_writer *writer;
	uint64_t seq[FIXTURE_MAX];
	rm_mono_t now;
	enum host_state states[FIXTURE_MAX];
	uint16_t size_bytes; /* of probes; 0: small */
	unsigned opened, resolved, summaries, focuses;
	unsigned services_reported,
	    services_apart; /* apart: whose times differ from those of the rows */
	char last_part[RM_PART_NAME_BYTES];
	enum rm_kind last_kind;
	size_t last_samples;
	int64_t last_late_ns;
	struct rm_evidence last_evidence;
	struct wire_focus last_focus;
	uint64_t summary_sent, summary_lost, summary_forward, summary_bad_rows;
};

static inline enum host_state
fixture_host_state(struct tor_rack *rack, const char *host, rm_mono_t now,
    rm_mono_t start, rm_mono_t end, struct host_silence *silence, void *arg)
{
	const struct rack_fixture *f = arg;

	*silence = (struct host_silence){ 0 };
	return f->states[atoi(host + 1)];
}

static inline void
fixture_incident(struct tor_rack *rack, enum rm_incident_event event,
    const struct rm_incident *incident, void *arg)
{
	struct rack_fixture *f = arg;

	f->opened += event == RM_INCIDENT_OPENED;
	f->resolved += event == RM_INCIDENT_RESOLVED;
	snprintf(f->last_part, sizeof(f->last_part), "%s", incident->verdict.part.name);
	f->last_kind = incident->verdict.kind;
	f->last_samples = incident->verdict.evidence.sample_count;
	f->last_late_ns = incident->verdict.evidence.late_ns;
	f->last_evidence = incident->verdict.evidence;
}

static inline void
fixture_summary(struct tor_rack *rack, const struct wire_summary *summary, void *arg)
{
	struct rack_fixture *f = arg;

	f->summaries++;
	f->services_reported += summary->services_start_wall_ns != 0;
	f->services_apart += summary->services_start_wall_ns != 0 &&
			     summary->services_start_wall_ns != summary->start_wall_ns;
	for (size_t i = 0; i < summary->row_count; i++) {
		f->summary_sent += summary->rows[i].sent;
		f->summary_lost += summary->rows[i].outcomes[WIRE_NO_REPLY];
		f->summary_forward += summary->rows[i].lost_forward;
		f->summary_bad_rows += summary->rows[i].bad;
	}
}

static inline void
fixture_focus(
    struct tor_rack *rack, const char *host, const struct wire_focus *focus, void *arg)
{
	struct rack_fixture *f = arg;

	f->focuses++;
	f->last_focus = *focus;
}

/* Registers the RNIC of member i for an agent "h<i>". */
static inline void
fixture_agent(struct rack_fixture *f, size_t i)
{
	struct wire_register reg = { .host = f->plan->names[i],
		.incarnation = 7 + i,
		.rnics = &f->plan->members[i],
		.rnic_count = 1 };
	struct wire_writer *again = wire_writer_new();
	struct wire_register_view view;
	struct wire_bytes bytes;
	struct agent_refused refused;
	int r;

	r = agents_get(f->agents, f->plan->names[i], &f->agent[i]);
	assert(r == 0);
	agent_hello(f->agent[i], 7 + i);
	agent_health_hello(f->agent[i]->watch, f->now, true);
	clock_map_sample(&f->agent[i]->clock, (uint64_t)f->now.ns, f->now);
	r = wire_write_register(f->writer, &reg, &bytes);
	assert(r == 0);
	r = wire_open_register(&view, bytes.data, bytes.len);
	assert(r == 0);
	r = agent_register(f->agents, f->agent[i], &view, again, &refused);
	assert(r == 0 && refused.count == 0);
	(void)r;
	tor_rack_register(f->rack, &f->plan->members[i], f->now);
	agent_place(f->agent[i], &f->rack, 1);
	wire_writer_free(again);
}

static inline struct rack_fixture *
fixture_rack(size_t members, size_t remotes)
{
	struct rack_fixture *f = calloc(1, sizeof(*f));
	const struct tor_rack_callbacks callbacks = {
		.host_state = fixture_host_state,
		.on_incident = fixture_incident,
		.on_summary = fixture_summary,
		.on_focus = fixture_focus,
		.arg = f,
	};
	const struct tor_rack_options options = {
		.tor = "t1",
		.active = true,
		.ring_bytes = 1 << 20,
		.timeout_ns = 500 * RM_NS_PER_MS,
		.row_interval_ns = 10 * RM_NS_PER_S,
		.rnic_interval_ns = 60 * RM_NS_PER_S,
		.resolve_after_ns = 2 * RM_NS_PER_S,
		.id_seed = 42,
	};
	int r;

	f->now.ns = FIXTURE_START;
	f->plan = calloc(1, sizeof(*f->plan));
	f->writer = wire_writer_new();
	r = agents_new(FIXTURE_MAX, &f->agents);
	assert(r == 0);
	r = tor_rack_new(
	    &options, &callbacks, f->now, (rm_wall_t){ FIXTURE_WALL }, &f->rack);
	assert(r == 0);
	(void)r;
	fixture_plan(f->plan, 1, members, remotes);
	tor_rack_plan(f->rack, &f->plan->view, f->now);
	for (size_t i = 0; i < members; i++)
		fixture_agent(f, i);
	f->now.ns += RM_NS_PER_S; /* so that probes sent before the start are late */
	return f;
}

static inline void
fixture_rack_free(struct rack_fixture *f)
{
	tor_rack_free(f->rack);
	agents_free(f->agents);
	wire_writer_free(f->writer);
	fixture_free(f->plan);
	free(f);
}

/* The result of a probe that member src sent age_ns ago. */
static inline struct wire_result
fixture_result(const struct rack_fixture *f, size_t src, uint64_t dst_guid,
    int64_t age_ns, uint8_t outcome)
{
	return (struct wire_result){
		.src_guid = f->plan->members[src].id.guid,
		.src_port_num = 1,
		.dst_guid = dst_guid,
		.dst_port_num = 1,
		.sent_age_ns = (uint64_t)age_ns,
		.rtt_ns = 20000,
		.prober_delay_ns = 5000,
		.responder_delay_ns = 3000,
		.round_trip_ns = 23000,
		.src_port = 50000,
		.size_bytes = f->size_bytes == 0 ? 64 : f->size_bytes,
		.outcome = outcome,
		.kind = dst_guid >= FIXTURE_REMOTE ? WIRE_WITNESS : WIRE_TOR_MESH,
		.dscp = 26,
		.stamp_source = WIRE_STAMP_KERNEL,
		.flags = outcome == WIRE_OK ? WIRE_SPLIT : 0,
	};
}

static inline int
fixture_batch(struct rack_fixture *f, size_t src, uint64_t seq,
    const struct wire_result *results, size_t count)
{
	const struct wire_batch_head head = { .host = f->plan->names[src],
		.incarnation = 7 + src,
		.seq = seq,
		.now_ns = (uint64_t)f->now.ns };
	struct wire_bytes bytes;
	struct wire_ack ack;
	int r;

	r = wire_write_batch(f->writer, &head, results, count, &bytes);
	if (r == 0)
		r = ingest_batch(
		    &f->ingest, f->agent[src], f->now, bytes.data, bytes.len, &ack);
	return r;
}

static inline void
fixture_tick(struct rack_fixture *f)
{
	tor_rack_tick(f->rack, f->now,
	    (rm_wall_t){ FIXTURE_WALL + f->now.ns - FIXTURE_START },
	    rm_mono_add(f->now, -500 * RM_NS_PER_MS));
}

static inline bool
fixture_conserves(const struct raw_counts *raw)
{
	return raw->taken == raw->windowed + raw->late + raw->invalid + raw->duplicate;
}

#endif
