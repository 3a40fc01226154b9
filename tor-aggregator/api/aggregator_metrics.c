#include "tor-aggregator/api/aggregator_metrics.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "rackmesh/identity/key_file.h"
#include "rackmesh/incident/alert.h"
#include "rackmesh/incident/incident.h"
#include "rackmesh/incident/incident_file.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/notify.h"
#include "rackmesh/metrics/metrics.h"
#include "tor-aggregator/agents/agent.h"
#include "tor-aggregator/agents/agent_server.h"
#include "tor-aggregator/agents/ingest.h"
#include "tor-aggregator/agents/pinglist_sender.h"
#include "tor-aggregator/api/aggregator_metrics_reports.h"
#include "tor-aggregator/api/diagnosis_answer.h"
#include "tor-aggregator/api/drift_answer.h"
#include "tor-aggregator/api/hypervisor_answer.h"
#include "tor-aggregator/api/rnic_metrics.h"
#include "tor-aggregator/api/switch_answer.h"
#include "tor-aggregator/controller/controller_link.h"
#include "tor-aggregator/mesh/rack_mesh.h"
#include "tor-aggregator/otlp/otlp.h"
#include "tor-aggregator/pairs.h"
#include "tor-aggregator/plan/key_store.h"
#include "tor-aggregator/plan/plan_store.h"
#include "tor-aggregator/rack/focus.h"
#include "tor-aggregator/rack/rack_uses.h"
#include "tor-aggregator/rack/tor_rack.h"
#include "tor-aggregator/services/service_rows.h"
#include "tor-aggregator/summary/summary.h"
#include "tor-aggregator/tor_aggregator_state.h"
#include "tor-aggregator/window/ring.h"
#include "tor-aggregator/window/roster.h"

#define N(name) "rackmesh_aggregator_" name

#define I(field) offsetof(struct ingest_counts, field)
#define T(field) offsetof(struct tor_rack_counts, field)
#define R(field) offsetof(struct controller_link_counts, field)
#define P(field) offsetof(struct plan_store_counts, field)
#define D(field) offsetof(struct pinglist_sender_counts, field)
#define A(field) offsetof(struct rm_alert_counts, field)
#define O(field) offsetof(struct otlp_counts, field)
#define F(field) offsetof(struct focus_counts, field)
#define S(field) offsetof(struct tor_aggregator, field)
#define E(field) offsetof(struct rm_incident_counts, field)
#define K(field) offsetof(struct key_store_counts, field)
#define Y(field) offsetof(struct rm_key_file_counts, field)
#define W(field) offsetof(struct rm_notify_counts, field)

/* clang-format off */
static const struct metrics_counter ingest_counters[] = {
	{ N("results_taken_total"), "", I(raw.taken), "Results received from agents: windowed + late + invalid + duplicate." },
	{ N("results_windowed_total"), "", I(raw.windowed), "Results counted in a window." },
	{ N("results_late_total"), "", I(raw.late), "Results that arrived after their window was closed." },
	{ N("results_invalid_total"), "", I(raw.invalid), "Results refused; results_invalid_reason_total has the reasons." },
	{ N("results_duplicate_total"), "", I(raw.duplicate), "Results of batches received before." },
	{ N("results_stale_qpn_total"), "", I(stale_qpn), "Probes lost because they were sent to an outdated QPN." },
	{ N("results_service_total"), "", I(service), "Results of probes along services' flows that were counted in a window." },
	{ N("agent_results_dropped_total"), "", I(agent_dropped), "Results that agents have dropped, as reported by the agents." },
	{ N("batches_total"), "", I(batches), "Batches received from agents." },
	{ N("batches_duplicate_total"), "", I(duplicate_batches), "Batches received again." },
	{ N("batches_missing_total"), "", I(missing_batches), "Batches missing, by the gaps in their numbers." },
	{ N("agents_restarted_total"), "", I(restarted), "Agents that connected again with a new incarnation, as after a restart." },
	{ N("receive_count_reports_total"), "", I(count_reports), "Reports of receive counts from agents' reflectors." },
	{ N("receive_count_rows_total"), "", I(count_rows), "Rows in reports of receive counts." },
	{ N("receive_count_rows_invalid_total"), "", I(count_rows_invalid), "Rows of receive counts about RNICs that the agent has not registered." },
	{ N("receive_count_rows_refused_total"), "", I(count_rows_refused), "Rows of receive counts not kept because the table of the agent is full or memory ran out." },
	{ N("path_reports_total"), "", I(path_reports), "Agents' reports of traced paths." },
	{ N("path_reports_paths_total"), "", I(paths), "Traced paths in agents' reports." },
	{ N("path_reports_invalid_total"), "", I(paths_invalid), "Traced paths refused because the source is not an RNIC of the agent, the target is unknown, or the path is too old." },
	{ 0 }
};

static const struct metrics_counter rack_counters[] = {
	{ N("rack_results_taken_total"), "", T(raw.taken), "Results whose source is in the rack." },
	{ N("rack_results_windowed_total"), "", T(raw.windowed), "Results whose source is in the rack that were counted in a window." },
	{ N("rack_results_late_total"), "", T(raw.late), "Results whose source is in the rack that came after their window was closed." },
	{ N("rack_results_invalid_total"), "", T(raw.invalid), "Results whose source is in the rack that were refused." },
	{ N("rack_results_duplicate_total"), "", T(raw.duplicate), "Results whose source is in the rack that were received before." },
	{ N("windows_judged_total"), "", T(judged), "Windows judged, four a second." },
	{ N("windows_partial_total"), "", T(partial), "Windows that are incomplete because the aggregator was starting or stopped." },
	{ N("windows_failed_total"), "", T(judge_failed), "Windows not judged because memory ran out." },
	{ N("rosters_renumbered_total"), "", T(renumbered), "Times that an RNIC was removed from a rack; its open windows are dropped." },
	{ N("results_without_tor_total"), "", T(without_tor), "Results to RNICs of other racks beyond the 1,022 that a rack can distinguish: they are in no summary and on no path." },
	{ N("legs_unexplained_total"), "", T(unexplained_lost), "Lost one-way trips of probes that no faulty part explains." },
	{ 0 }
};

static const struct metrics_counter focus_counters[] = {
	{ N("focuses_asked_total"), "", F(asked), "Pairs chosen to be probed faster for a short time." },
	{ N("focuses_refused_total"), "", F(refused), "Pairs not probed faster because too many are already." },
	{ 0 }
};

static const struct metrics_counter incident_counters[] = {
	{ N("incidents_opened_total"), "", E(opened), "Incidents opened." },
	{ N("incidents_updated_total"), "", E(updated), "Changes of open incidents." },
	{ N("incidents_resolved_total"), "", E(resolved), "Incidents resolved." },
	{ N("incidents_reconsidered_total"), "", E(reconsidered), "Times that the known faulty part of an open incident on \"A or B\" was replaced by the other part." },
	{ N("incidents_falls_forgotten_total"), "", E(forgotten), "Parts whose last falls were forgotten, so that they may flap unseen, because too many parts failed." },
	{ N("incidents_refused_total"), "", E(refused), "Verdicts without an incident because too many are open." },
	{ 0 }
};

static const struct metrics_counter controller_link_counters[] = {
	{ N("controller_connects_total"), "", R(connected), "Sessions with a controller." },
	{ N("controller_disconnects_total"), "", R(disconnected), "Sessions with a controller that ended." },
	{ N("controller_refusals_total"), "", R(refused), "Sessions that a controller refused." },
	{ N("controller_bad_frames_total"), "", R(bad_frames), "Malformed frames from controllers." },
	{ N("controller_plans_total"), "", R(plans), "Newer plans received from a controller." },
	{ N("registrations_relayed_total"), "", R(registrations), "Registrations sent to a controller." },
	{ N("registrations_failed_total"), "", R(registrations_failed), "Registrations that could not be sent to a controller." },
	{ 0 }
};

static const struct metrics_counter plan_counters[] = {
	{ N("plans_taken_total"), "", P(taken), "Newer plans that came into use." },
	{ N("plans_stale_total"), "", P(stale), "Plans received that are not newer than the one in use." },
	{ N("plans_refused_total"), "", P(refused), "Plans refused because they are malformed or for another ToR." },
	{ N("plan_cache_written_total"), "", P(cache_written), "Plans written to the state folder." },
	{ N("plan_cache_failed_total"), "", P(cache_failed), "Plans that could not be written to the state folder." },
	{ 0 }
};

static const struct metrics_counter key_counters[] = {
	{ N("keys_total"), "result=\"new\"", K(taken), "Messages with probe keys, from the controller or from disk, by result." },
	{ N("keys_total"), "result=\"old\"", K(stale), "Messages with probe keys, from the controller or from disk, by result." },
	{ N("keys_total"), "result=\"refused\"", K(refused), "Messages with probe keys, from the controller or from disk, by result." },
	{ N("key_pairs_left_out_total"), "", K(left_out), "Keys of pairs left out because a message to an agent cannot hold more." },
	{ 0 }
};

static const struct metrics_counter key_file_counters[] = {
	{ N("key_loads_total"), "result=\"good\"", Y(loaded), "Files with probe keys read at the start, by their state." },
	{ N("key_loads_total"), "result=\"damaged\"", Y(damaged), "Files with probe keys read at the start, by their state." },
	{ N("key_saves_total"), "result=\"good\"", Y(saved), "Times that probe keys were written to the state folder, by result." },
	{ N("key_saves_total"), "result=\"failed\"", Y(failed), "Times that probe keys were written to the state folder, by result." },
	{ 0 }
};

static const struct metrics_counter notify_counters[] = {
	{ N("watchdog_fed_total"), "", W(fed), "Times that systemd's watchdog was fed." },
	{ N("watchdog_withheld_total"), "", W(withheld), "Times that systemd's watchdog was not fed because a job of the worker was stuck." },
	{ N("notify_failed_total"), "", W(failed), "Messages to systemd that could not be sent." },
	{ 0 }
};

static const struct metrics_counter pinglist_sender_counters[] = {
	{ N("pinglists_sent_total"), "", D(pinglists), "Pinglists sent to agents." },
	{ N("pinglists_failed_total"), "", D(failed), "Pinglists that could not be sent." },
	{ N("pinglist_targets_refused_total"), "", D(refused_targets), "Targets and peers left out because a pinglist cannot hold more." },
	{ N("keys_sent_total"), "", D(keys), "Messages with probe keys sent to agents." },
	{ N("focuses_sent_total"), "", D(focuses), "Requests to probe a pair faster (focus) sent to agents." },
	{ N("focuses_failed_total"), "", D(focuses_failed), "Requests to probe a pair faster (focus) not sent because the agent was not connected." },
	{ 0 }
};

static const struct metrics_counter alert_counters[] = {
	{ N("alerts_queued_total"), "", A(queued), "Alerts put into the queues of all receivers." },
	{ N("alerts_delivered_total"), "", A(delivered), "Alerts that a receiver accepted." },
	{ N("alerts_failed_attempts_total"), "", A(failed_attempts), "Failed attempts to deliver an alert; they are repeated." },
	{ N("alerts_dropped_total"), "", A(dropped), "Alerts dropped because a queue was full." },
	{ N("alerts_withdrawn_total"), "", A(withdrawn), "Alerts withdrawn before they were sent because another aggregator has sent them." },
	{ N("alerts_refused_total"), "", A(refused), "Alerts that a receiver refused for good." },
	{ N("alerts_unsaved_total"), "", A(unkept), "Alerts sent before their incident was on disk." },
	{ 0 }
};

static const struct metrics_counter otlp_counters[] = {
	{ N("otlp_sent_total"), "", O(sent), "Messages that the OpenTelemetry collector accepted." },
	{ N("otlp_failed_attempts_total"), "", O(failed_attempts), "Messages that the OpenTelemetry collector did not accept." },
	{ N("otlp_dropped_total"), "", O(dropped), "Intervals whose message to the OpenTelemetry collector was dropped." },
	{ N("otlp_rejected_points_total"), "", O(rejected_points), "Values that the OpenTelemetry collector rejected in messages that it accepted." },
	{ 0 }
};

static const struct metrics_counter own_counters[] = {
	{ N("stalls_total"), "", S(stalls), "Times that the aggregator was stopped for over 300 ms." },
	{ 0 }
};
/* clang-format on */

static int
add_reasons(struct tor_aggregator *aggregator, struct rm_metrics *metrics)
{
	const struct agent_server_counts *links =
	    agent_server_counts(aggregator->links);
	char label[METRICS_LABEL_BYTES];
	int r = 0;

	for (int i = 0; r == 0 && i < INGEST_INVALIDS; i++) {
		snprintf(label, sizeof(label), "reason=\"%s\"",
		    ingest_invalid_str((enum ingest_invalid)i));
		r = rm_metrics_counter(metrics, aggregator,
		    N("results_invalid_reason_total"), label,
		    "Results refused, by reason.",
		    &aggregator->ingest.counts.invalid[i]);
	}
	for (int i = 0; r == 0 && i < AGENT_SERVER_REFUSALS; i++) {
		snprintf(label, sizeof(label), "reason=\"%s\"",
		    agent_server_refused_str((enum agent_server_refused)i));
		r = rm_metrics_counter(metrics, aggregator, N("links_refused_total"),
		    label,
		    "Connections of agents that the aggregator closed, by reason.",
		    &links->refused[i]);
	}
	return r;
}

static int
add_links(struct tor_aggregator *aggregator, struct rm_metrics *metrics)
{
	const struct agent_server_counts *links =
	    agent_server_counts(aggregator->links);
	const struct {
		const char *name, *help;
		const uint64_t *value;
	} all[] = {
		{ N("links_accepted_total"), "Connections of agents accepted.",
		    &links->accepted },
		{ N("sessions_total"), "Sessions of agents started.",
		    &links->sessions },
		{ N("rnics_refused_total"), "RNICs refused at registration.",
		    &links->refused_rnics },
		{ N("frames_refused_total"),
		    "Frames from agents refused because they are damaged, oversized or "
		    "empty.",
		    &links->refused_frames },
		{ N("agents_messages_unknown_total"),
		    "Messages of newer agents that this version does not know; they "
		    "are ignored.",
		    &links->unknown_messages },
		{ N("heartbeats_total"), "Heartbeats received from agents.",
		    &links->heartbeats },
		{ N("pings_total"), "Pings sent to hosts whose agent is silent.",
		    &links->pings },
		{ N("agents_bytes_in_total"), "Bytes from agents, with frame headers.",
		    &links->bytes_in },
		{ N("agents_frames_in_total"), "Frames from agents.",
		    &links->frames_in },
		{ N("agents_bytes_out_total"), "Bytes to agents, with frame headers.",
		    &links->bytes_out },
		{ N("agents_frames_out_total"), "Frames to agents.",
		    &links->frames_out },
		{ N("agents_sends_refused_total"),
		    "Frames to agents not sent because the link's output queue was "
		    "full.",
		    &links->refused_sends },
		{ N("agents_frames_slow_total"),
		    "Frames from agents that were not complete in time.",
		    &links->slow_frames },
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(all) / sizeof(all[0]); i++)
		r = rm_metrics_counter(
		    metrics, aggregator, all[i].name, "", all[i].help, all[i].value);
	return r;
}

static double
read_controller(const void *arg)
{
	const struct tor_aggregator *aggregator = arg;

	return controller_link_connected(aggregator->controller_link);
}

/* This metric is the first of the server's metrics that is read, so it also sums up the
 * counts of all links. */
static double
read_links(const void *arg)
{
	const struct tor_aggregator *aggregator = arg;

	agent_server_counts(aggregator->links);
	return (double)agent_server_open(aggregator->links);
}

static double
read_agents(const void *arg)
{
	const struct tor_aggregator *aggregator = arg;
	double connected = 0;

	for (const struct agent *agent = agents_first(aggregator->agents);
	     agent != NULL; agent = agent->next)
		connected += agent->link != NULL;
	return connected;
}

static double
read_agents_of_other_version(const void *arg)
{
	const struct tor_aggregator *aggregator = arg;
	double other = 0;

	for (const struct agent *agent = agents_first(aggregator->agents);
	     agent != NULL; agent = agent->next)
		other += agent->link != NULL &&
			 strcmp(agent->software, RACKMESH_VERSION) != 0;
	return other;
}

static double
read_members(const void *arg)
{
	return (double)roster_members(tor_rack_roster(arg));
}

static double
read_ring(const void *arg)
{
	return (double)ring_count(tor_rack_ring(arg));
}

static double
read_open(const void *arg)
{
	return (double)rm_incidents_open(tor_rack_incidents(arg));
}

static double
read_plan(const void *arg)
{
	const struct wire_plan_view *view = tor_rack_plan_view(arg);

	return view == NULL ? 0 : (double)view->plan.version;
}

static int
add_rack(struct tor_rack *rack, struct rm_metrics *metrics)
{
	const struct {
		const char *name, *help;
		double (*read)(const void *arg);
	} gauges[] = {
		{ N("rack_members"), "RNICs of the rack.", read_members },
		{ N("ring_results"), "Raw results kept for drill-down.", read_ring },
		{ N("incidents_open"), "Incidents open now.", read_open },
		{ N("plan_version"), "Version of the plan in use; 0: none.",
		    read_plan },
	};
	char label[METRICS_LABEL_BYTES];
	int r;

	snprintf(label, sizeof(label), "tor=\"%s\"", tor_rack_tor(rack));
	r = metrics_table_add(metrics, rack_counters, tor_rack_counts(rack), label);
	if (r == 0)
		r = metrics_table_add(
		    metrics, focus_counters, tor_rack_focus(rack), label);
	if (r == 0)
		r = metrics_table_add(metrics, incident_counters,
		    rm_incidents_counts(tor_rack_incidents(rack)), label);
	for (size_t i = 0; r == 0 && i < sizeof(gauges) / sizeof(gauges[0]); i++)
		r = rm_metrics_gauge(metrics, rack, gauges[i].name, label,
		    gauges[i].help, gauges[i].read, rack);
	if (r == 0)
		r = rm_metrics_counter(metrics, rack, N("roster_refused_total"), label,
		    "RNICs that were not added to the rack's list of RNICs, because "
		    "it is full or they are invalid.",
		    roster_refused(tor_rack_roster(rack)));
	if (r == 0)
		r = rm_metrics_counter(metrics, rack, N("results_without_row_total"),
		    label,
		    "Results not counted in the rack's summary because it has no room "
		    "for another row.",
		    summary_refused(tor_rack_summary(rack)));
	if (r == 0)
		r = rm_metrics_counter(metrics, rack, N("results_without_pair_total"),
		    label,
		    "Results not counted in the rack's mesh because its table of pairs "
		    "is full.",
		    rack_mesh_refused(tor_rack_pair_mesh(rack)));
	if (r == 0)
		r = rm_metrics_counter(metrics, rack,
		    N("results_without_service_total"), label,
		    "Results of services not counted in the rack's summary because it "
		    "has no room for another row.",
		    service_rows_refused(tor_rack_service_rows(rack)));
	if (r == 0)
		r = rm_metrics_counter(metrics, rack, N("service_paths_left_out_total"),
		    label,
		    "Rows of services and their paths left out of the rack's "
		    "summaries because of the limit: the impact of a fault there may "
		    "be unknown.",
		    rack_uses_refused(tor_rack_uses(rack)));
	if (r == 0)
		r = path_metrics_of_rack(rack, label, metrics);
	return r;
}

static int
add_incident_file(
    const struct tor_aggregator *aggregator, size_t tor, struct rm_metrics *metrics)
{
	const struct rm_incident_file *file = aggregator->incident_files[tor];
	char label[METRICS_LABEL_BYTES];

	if (file == NULL)
		return 0;
	snprintf(label, sizeof(label), "tor=\"%s\"", aggregator->tors[tor]);
	return rm_metrics_counter(metrics, file, N("incident_saves_failed_total"),
	    label, "Times that open incidents could not be written to disk.",
	    rm_incident_file_failures(file));
}

static int
add_gauges(struct tor_aggregator *aggregator, struct rm_metrics *metrics)
{
	const struct {
		const char *name, *label, *help;
		double (*read)(const void *arg);
	} gauges[] = {
		{ N("links"), "", "Connections of agents open now.", read_links },
		{ N("agents_connected"), "", "Agents with a session now.",
		    read_agents },
		{ N("agents_of_other_version"), "",
		    "Agents with a session whose version differs from the "
		    "aggregator's.",
		    read_agents_of_other_version },
		{ N("controller_connected"), "", "1 with a session.", read_controller },
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(gauges) / sizeof(gauges[0]); i++)
		r = rm_metrics_gauge(metrics, aggregator, gauges[i].name,
		    gauges[i].label, gauges[i].help, gauges[i].read, aggregator);
	return r;
}

int
aggregator_metrics_register(
    struct tor_aggregator *aggregator, struct rm_metrics *metrics)
{
	const struct {
		const struct metrics_counter *table;
		const void *base;
	} tables[] = {
		{ ingest_counters, &aggregator->ingest.counts },
		{ controller_link_counters,
		    controller_link_counts(aggregator->controller_link) },
		{ plan_counters, plan_store_counts(aggregator->plans) },
		{ key_counters, key_store_counts(aggregator->keys) },
		{ key_file_counters, key_store_file_counts(aggregator->keys) },
		{ pinglist_sender_counters,
		    pinglist_sender_counts(aggregator->pinglist_sender) },
		{ notify_counters, rm_notify_counts(rm_loop_notify(aggregator->loop)) },
		{ alert_counters, rm_alerts_counts(aggregator->alerts) },
		{ otlp_counters, otlp_counts(aggregator->otlp) },
		{ own_counters, aggregator },
	};
	int r = add_gauges(aggregator, metrics);

	aggregator->rnic_metrics = (struct rnic_metrics){
		.racks = aggregator->racks,
		.rack_count = aggregator->rack_count,
		.now = rm_mono_now,
		.since = rm_wall_now(),
	};
	if (r == 0)
		r = rnic_metrics_register(&aggregator->rnic_metrics, metrics);
	if (r == 0)
		r = rm_alerts_metrics(
		    aggregator->alerts, metrics, N("alert_receiver_up"), "");
	for (size_t i = 0; r == 0 && i < sizeof(tables) / sizeof(tables[0]); i++)
		r = metrics_table_add(metrics, tables[i].table, tables[i].base, "");
	if (r == 0)
		r = rm_metrics_counter_ns(metrics, aggregator,
		    N("stalled_seconds_total"), "",
		    "Seconds that the aggregator was stopped, in total.",
		    &aggregator->stalled_ns);
	if (r == 0)
		r = lane_metrics_register(
		    aggregator->reports, aggregator->analyzer, metrics);
	if (r == 0)
		r = path_metrics_of_requests(aggregator->controller_requests, metrics);
	if (r == 0)
		r = service_metrics_register(aggregator->services, metrics);
	if (r == 0)
		r = pairs_metrics(aggregator->pairs, metrics);
	if (r == 0)
		r = add_reasons(aggregator, metrics);
	if (r == 0)
		r = add_links(aggregator, metrics);
	if (r == 0)
		r = switch_metrics_register(aggregator, metrics);
	if (r == 0)
		r = hypervisor_metrics_register(aggregator, metrics);
	if (r == 0)
		r = drift_metrics_register(aggregator, metrics);
	if (r == 0)
		r = diagnosis_metrics_register(aggregator, metrics);
	for (size_t i = 0; r == 0 && i < aggregator->rack_count; i++) {
		r = add_rack(aggregator->racks[i], metrics);
		if (r == 0)
			r = add_incident_file(aggregator, i, metrics);
	}
	return r;
}
