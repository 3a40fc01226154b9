#include "host-agent/api/agent_metrics.h"

#include <stddef.h>
#include <stdio.h>

#include "host-agent/host_agent_services.h"
#include "host-agent/packet/key_ring.h"
#include "host-agent/pinglist/brake_file.h"
#include "host-agent/pinglist/pinglist_cache.h"
#include "host-agent/pinglist/pinglist_store.h"
#include "host-agent/report/aggregator_link.h"
#include "host-agent/report/outbox.h"
#include "host-agent/report/self_limit.h"
#include "host-agent/trace/tracer_io.h"
#include "rackmesh/identity/key_file.h"
#include "rackmesh/loop/notify.h"
#include "rackmesh/metrics/metrics.h"

#define GROUP_LABEL METRICS_LABEL_BYTES

#define O(field) offsetof(struct outbox_counts, field)
#define U(field) offsetof(struct aggregator_link_counts, field)
#define L(field) offsetof(struct pinglist_store_counts, field)
#define C(field) offsetof(struct pinglist_cache_counts, field)
#define A(field) offsetof(struct agent_counts, field)
#define B(field) offsetof(struct brake_file_counts, field)
#define K(field) offsetof(struct key_ring_counts, field)
#define F(field) offsetof(struct rm_key_file_counts, field)
#define W(field) offsetof(struct rm_notify_counts, field)

/* clang-format off */
static const struct metrics_counter outbox_counters[] = {
	{ "rackmesh_agent_batches_made_total", "", O(made.batches), "Batches of probe results made." },
	{ "rackmesh_agent_batches_sent_total", "", O(sent.batches), "Batches that were sent at least once." },
	{ "rackmesh_agent_batches_resent_total", "", O(resent.batches), "Batches sent again in a later session." },
	{ "rackmesh_agent_batches_acked_total", "", O(acked.batches), "Batches that the aggregator has acknowledged." },
	{ "rackmesh_agent_batches_acked_within_total", "seconds=\"0.0005\"", O(acked_within[0]), "Batches acknowledged within this time after they were sent." },
	{ "rackmesh_agent_batches_acked_within_total", "seconds=\"0.001\"", O(acked_within[1]), "Batches acknowledged within this time after they were sent." },
	{ "rackmesh_agent_batches_acked_within_total", "seconds=\"0.002\"", O(acked_within[2]), "Batches acknowledged within this time after they were sent." },
	{ "rackmesh_agent_batches_acked_within_total", "seconds=\"0.004\"", O(acked_within[3]), "Batches acknowledged within this time after they were sent." },
	{ "rackmesh_agent_batches_acked_within_total", "seconds=\"0.008\"", O(acked_within[4]), "Batches acknowledged within this time after they were sent." },
	{ "rackmesh_agent_batches_acked_within_total", "seconds=\"0.016\"", O(acked_within[5]), "Batches acknowledged within this time after they were sent." },
	{ "rackmesh_agent_batches_acked_within_total", "seconds=\"0.032\"", O(acked_within[6]), "Batches acknowledged within this time after they were sent." },
	{ "rackmesh_agent_batches_acked_within_total", "seconds=\"0.064\"", O(acked_within[7]), "Batches acknowledged within this time after they were sent." },
	{ "rackmesh_agent_batches_acked_within_total", "seconds=\"0.128\"", O(acked_within[8]), "Batches acknowledged within this time after they were sent." },
	{ "rackmesh_agent_batches_acked_within_total", "seconds=\"0.256\"", O(acked_within[9]), "Batches acknowledged within this time after they were sent." },
	{ "rackmesh_agent_batches_acked_within_total", "seconds=\"0.512\"", O(acked_within[10]), "Batches acknowledged within this time after they were sent." },
	{ "rackmesh_agent_batches_acked_within_total", "seconds=\"1.024\"", O(acked_within[11]), "Batches acknowledged within this time after they were sent." },
	{ "rackmesh_agent_batches_dropped_total", "reason=\"full\"", O(dropped[OUTBOX_DROP_FULL].batches), "Batches dropped before an aggregator acknowledged them." },
	{ "rackmesh_agent_batches_dropped_total", "reason=\"old\"", O(dropped[OUTBOX_DROP_OLD].batches), "Batches dropped before an aggregator acknowledged them." },
	{ "rackmesh_agent_batches_dropped_total", "reason=\"memory\"", O(dropped[OUTBOX_DROP_MEMORY].batches), "Batches dropped before an aggregator acknowledged them." },
	{ "rackmesh_agent_results_batched_total", "", O(made.results), "Results in batches made." },
	{ "rackmesh_agent_results_sent_total", "", O(sent.results), "Results in batches that were sent at least once." },
	{ "rackmesh_agent_results_acked_total", "", O(acked.results), "Results in batches that the aggregator has acknowledged." },
	{ "rackmesh_agent_results_dropped_total", "reason=\"full\"", O(dropped[OUTBOX_DROP_FULL].results), "Results in batches dropped before an aggregator acknowledged them." },
	{ "rackmesh_agent_results_dropped_total", "reason=\"old\"", O(dropped[OUTBOX_DROP_OLD].results), "Results in batches dropped before an aggregator acknowledged them." },
	{ "rackmesh_agent_results_dropped_total", "reason=\"memory\"", O(dropped[OUTBOX_DROP_MEMORY].results), "Results in batches dropped before an aggregator acknowledged them." },
	{ 0 }
};

static const struct metrics_counter aggregator_link_counters[] = {
	{ "rackmesh_agent_sessions_total", "", U(sessions), "Sessions established." },
	{ "rackmesh_agent_refusals_total", "", U(refusals), "Sessions refused by the aggregator." },
	{ "rackmesh_agent_frames_refused_total", "", U(refused_frames), "Malformed frames from the aggregator." },
	{ "rackmesh_agent_pinglists_received_total", "", U(pinglists), "Pinglists from this aggregator." },
	{ "rackmesh_agent_keys_received_total", "", U(keys), "Messages with probe keys received from this aggregator." },
	{ "rackmesh_agent_focuses_received_total", "", U(focuses), "Requests of this aggregator to probe a pair faster (focus)." },
	{ "rackmesh_agent_brakes_received_total", "", U(brakes), "Messages with the state of the brake received from this aggregator." },
	{ "rackmesh_agent_acks_received_total", "", U(acks), "Acknowledgements from this aggregator." },
	{ "rackmesh_agent_pings_received_total", "", U(pings), "Pings from this aggregator." },
	{ "rackmesh_agent_heartbeats_sent_total", "", U(heartbeats), "Heartbeats sent." },
	{ "rackmesh_agent_heartbeats_behind_total", "", U(heartbeats_behind), "Heartbeats sent while batches waited for acknowledgements." },
	{ "rackmesh_agent_overdue_replies_unsent_total", "", U(overdue_unsent), "Replies that came after their probe was reported as lost, and were not reported because this aggregator's release does not know them." },
	{ "rackmesh_agent_count_rows_sent_total", "", U(rx_count_report), "Rows of receive counts sent." },
	{ "rackmesh_agent_paths_sent_total", "", U(paths), "Traced paths sent." },
	{ "rackmesh_agent_service_reports_sent_total", "", U(services), "Reports of service flows sent." },
	{ "rackmesh_agent_readings_sent_total", "", U(counter_reports), "Reports of the RNICs' counters sent." },
	{ "rackmesh_agent_questions_sent_total", "", U(asked), "Queries sent for the RNIC at the other end of a service's QP." },
	{ "rackmesh_agent_questions_resolved_total", "", U(resolved), "Answers of this aggregator to queries for the RNIC of a QP's peer that named an RNIC." },
	{ "rackmesh_agent_registrations_sent_total", "", U(registrations), "Registrations sent." },
	{ 0 }
};

static const struct metrics_counter pinglist_store_counters[] = {
	{ "rackmesh_agent_pinglists_total", "result=\"new\"", L(taken), "Pinglists received, by result." },
	{ "rackmesh_agent_pinglists_total", "result=\"same\"", L(same), "Pinglists received, by result." },
	{ "rackmesh_agent_pinglists_total", "result=\"old\"", L(old), "Pinglists received, by result." },
	{ "rackmesh_agent_pinglists_total", "result=\"malformed\"", L(malformed), "Pinglists received, by result." },
	{ "rackmesh_agent_pinglists_total", "result=\"other_tor\"", L(other_tor), "Pinglists received, by result." },
	{ "rackmesh_agent_pinglists_total", "result=\"no_memory\"", L(no_memory), "Pinglists received, by result." },
	{ "rackmesh_agent_pinglists_expired_total", "", L(expired), "Pinglists that no aggregator has confirmed for pinglists.expire_days; they are probed at a tenth of their rate from then on." },
	{ "rackmesh_agent_pinglists_recovered_total", "", L(recovered), "Expired pinglists that an aggregator has confirmed again." },
	{ "rackmesh_agent_pinglists_ended_total", "", L(ended), "Expired pinglists dropped because of their age." },
	{ 0 }
};

static const struct metrics_counter key_counters[] = {
	{ "rackmesh_agent_keys_total", "result=\"new\"", K(taken), "Messages with probe keys, from an aggregator or from disk, by result." },
	{ "rackmesh_agent_keys_total", "result=\"same\"", K(same), "Messages with probe keys, from an aggregator or from disk, by result." },
	{ "rackmesh_agent_keys_total", "result=\"old\"", K(old), "Messages with probe keys, from an aggregator or from disk, by result." },
	{ "rackmesh_agent_keys_total", "result=\"malformed\"", K(malformed), "Messages with probe keys, from an aggregator or from disk, by result." },
	{ "rackmesh_agent_keys_total", "result=\"other_tor\"", K(other_tor), "Messages with probe keys, from an aggregator or from disk, by result." },
	{ "rackmesh_agent_keys_total", "result=\"no_memory\"", K(no_memory), "Messages with probe keys, from an aggregator or from disk, by result." },
	{ 0 }
};

static const struct metrics_counter key_file_counters[] = {
	{ "rackmesh_agent_key_loads_total", "result=\"good\"", F(loaded), "Files with probe keys read at the start, by their state." },
	{ "rackmesh_agent_key_loads_total", "result=\"damaged\"", F(damaged), "Files with probe keys read at the start, by their state." },
	{ "rackmesh_agent_key_saves_total", "result=\"good\"", F(saved), "Times that probe keys were written to disk, by result." },
	{ "rackmesh_agent_key_saves_total", "result=\"failed\"", F(failed), "Times that probe keys were written to disk, by result." },
	{ 0 }
};

static const struct metrics_counter notify_counters[] = {
	{ "rackmesh_agent_watchdog_fed_total", "", W(fed), "Times that systemd's watchdog was fed." },
	{ "rackmesh_agent_watchdog_withheld_total", "", W(withheld), "Times that systemd's watchdog was not fed because a job of the worker was stuck." },
	{ "rackmesh_agent_notify_failed_total", "", W(failed), "Messages to systemd that could not be sent." },
	{ 0 }
};

static const struct metrics_counter cache_counters[] = {
	{ "rackmesh_agent_cache_loads_total", "result=\"good\"", C(loaded), "Pinglist files read at the start, by their state." },
	{ "rackmesh_agent_cache_loads_total", "result=\"expired\"", C(expired), "Pinglist files read at the start, by their state." },
	{ "rackmesh_agent_cache_loads_total", "result=\"damaged\"", C(damaged), "Pinglist files read at the start, by their state." },
	{ "rackmesh_agent_cache_saves_total", "result=\"good\"", C(saved), "Times that a pinglist was written to disk, by result." },
	{ "rackmesh_agent_cache_saves_total", "result=\"failed\"", C(save_failed), "Times that a pinglist was written to disk, by result." },
	{ "rackmesh_agent_cache_saves_total", "result=\"skipped\"", C(save_skipped), "Times that a pinglist was written to disk, by result." },
	{ 0 }
};

static const struct metrics_counter brake_counters[] = {
	{ "rackmesh_agent_brake_saves_total", "result=\"good\"", B(saved), "Times that the state of the brake was written to disk, by result." },
	{ "rackmesh_agent_brake_saves_total", "result=\"failed\"", B(save_failed), "Times that the state of the brake was written to disk, by result." },
	{ "rackmesh_agent_brake_saves_total", "result=\"skipped\"", B(save_skipped), "Times that the state of the brake was written to disk, by result." },
	{ 0 }
};

static const struct metrics_counter agent_counters[] = {
	{ "rackmesh_agent_loop_stalls_total", "", A(loop_stalls), "Times that the event loop did not run for 100 ms or longer." },
	{ "rackmesh_agent_focus_refused_total", "", A(focus_refused), "Requests to probe a pair faster (focus) refused because the RNIC is not one of this host." },
	{ "rackmesh_agent_count_rows_no_memory_total", "", A(rows_no_memory), "Reports of receive counts cut because memory ran out." },
	{ 0 }
};
/* clang-format on */

static double
read_session(const void *arg)
{
	return aggregator_link_has_session(arg) ? 1 : 0;
}

static double
read_waiting(const void *arg)
{
	return (double)outbox_counts(aggregator_link_outbox(arg))->waiting.batches;
}

static double
read_waiting_results(const void *arg)
{
	return (double)outbox_counts(aggregator_link_outbox(arg))->waiting.results;
}

static double
read_waiting_bytes(const void *arg)
{
	return (double)outbox_bytes(aggregator_link_outbox(arg));
}

static double
read_doubtful(const void *arg)
{
	return (double)outbox_counts(aggregator_link_outbox(arg))->doubtful.batches;
}

static double
read_doubtful_results(const void *arg)
{
	return (double)outbox_counts(aggregator_link_outbox(arg))->doubtful.results;
}

int
agent_metrics_aggregator_link(
    struct rm_metrics *metrics, const struct aggregator_link *aggregator_link)
{
	static const struct {
		const char *name, *help;
		double (*read)(const void *arg);
	} gauges[] = {
		{ "rackmesh_agent_aggregator_connected", "1 during a session.",
		    read_session },
		{ "rackmesh_agent_batches_waiting", "Batches not acknowledged yet.",
		    read_waiting },
		{ "rackmesh_agent_results_waiting",
		    "Results in batches not acknowledged yet.", read_waiting_results },
		{ "rackmesh_agent_batches_waiting_bytes",
		    "Bytes of batches not acknowledged yet.", read_waiting_bytes },
		{ "rackmesh_agent_batches_unconfirmed",
		    "Batches no longer resent whose acknowledgement may still come.",
		    read_doubtful },
		{ "rackmesh_agent_results_unconfirmed",
		    "Results in batches no longer resent whose acknowledgement may "
		    "still come.",
		    read_doubtful_results },
	};
	char label[GROUP_LABEL];
	int r;

	snprintf(label, sizeof(label), "aggregator=\"%s\"",
	    aggregator_link_address(aggregator_link));
	r = metrics_table_add_owned(metrics, aggregator_link, aggregator_link_counters,
	    aggregator_link_counts(aggregator_link), label);
	if (r == 0)
		r = metrics_table_add_owned(metrics, aggregator_link, outbox_counters,
		    outbox_counts(aggregator_link_outbox(aggregator_link)), label);
	for (size_t i = 0; i < sizeof(gauges) / sizeof(gauges[0]) && r == 0; i++)
		r = rm_metrics_gauge(metrics, aggregator_link, gauges[i].name, label,
		    gauges[i].help, gauges[i].read, aggregator_link);
	return r;
}

static double
read_slow(const void *arg)
{
	return (double)pinglist_store_slow(arg);
}

int
agent_metrics_plans(struct rm_metrics *metrics, const struct pinglist_store *pinglists)
{
	int r = metrics_table_add_owned(metrics, pinglists, pinglist_store_counters,
	    pinglist_store_counts(pinglists), "");

	if (r == 0)
		r = rm_metrics_gauge(metrics, pinglists,
		    "rackmesh_agent_pinglists_slow", "",
		    "Expired pinglists in use; a tenth of their probes is sent.",
		    read_slow, pinglists);
	if (r == 0 && pinglist_store_cache_counts(pinglists) != NULL)
		r = metrics_table_add_owned(metrics, pinglists, cache_counters,
		    pinglist_store_cache_counts(pinglists), "");
	return r;
}

int
agent_metrics_keys(struct rm_metrics *metrics, const struct key_ring *ring,
    const struct rm_key_files *files)
{
	int r = metrics_table_add_owned(
	    metrics, ring, key_counters, key_ring_counts(ring), "");

	if (r == 0)
		r = metrics_table_add_owned(
		    metrics, ring, key_file_counters, rm_key_files_counts(files), "");
	return r;
}

int
agent_metrics_notify(struct rm_metrics *metrics, const struct rm_notify *notify)
{
	return metrics_table_add_owned(
	    metrics, notify, notify_counters, rm_notify_counts(notify), "");
}

static double
read_bool(const void *arg)
{
	return *(const bool *)arg ? 1 : 0;
}

static double
read_brake(const void *arg)
{
	return ((const struct wire_brake *)arg)->rate_permille;
}

int
agent_metrics_brake(struct rm_metrics *metrics, const struct wire_brake *brake,
    const struct brake_file *file)
{
	int r = metrics_table_add_owned(
	    metrics, file, brake_counters, brake_file_counts(file), "");

	if (r == 0)
		r = rm_metrics_gauge(metrics, brake, "rackmesh_agent_brake_permille",
		    "",
		    "Probes that the brake allows, of 1000 probes in the pinglists.",
		    read_brake, brake);
	return r;
}

int
agent_metrics_agent(
    struct rm_metrics *metrics, const struct agent_counts *counts, const bool *paused)
{
	int r = metrics_table_add_owned(metrics, counts, agent_counters, counts, "");

	if (r == 0)
		r = rm_metrics_gauge(metrics, counts, "rackmesh_agent_paused", "",
		    "1 while a person has paused probing on this host.", read_bool,
		    paused);
	return r;
}

/* ---- Metrics of the agent's CPU and memory, and of its limits ---- */

static double
read_permille(const void *arg)
{
	return ((const struct self_limit *)arg)->permille;
}

static double
read_cpu(const void *arg)
{
	return ((const struct self_limit *)arg)->cpu_percent / 100;
}

static double
read_memory(const void *arg)
{
	return (double)((const struct self_limit *)arg)->memory_bytes;
}

static double
read_by_cpu(const void *arg)
{
	return ((const struct self_limit *)arg)->reason == WIRE_SLOW_CPU ? 1 : 0;
}

static double
read_by_memory(const void *arg)
{
	return ((const struct self_limit *)arg)->reason == WIRE_SLOW_MEMORY ? 1 : 0;
}

int
agent_metrics_limit(struct rm_metrics *metrics, const struct self_limit *limit)
{
	static const struct {
		const char *name, *label, *help;
		double (*read)(const void *arg);
	} gauges[] = {
		{ "rackmesh_agent_slowed_permille", "",
		    "Probes that the agent's own limits allow, of 1000 planned probes.",
		    read_permille },
		{ "rackmesh_agent_slowed", "reason=\"cpu\"",
		    "1 while this limit reduces probing.", read_by_cpu },
		{ "rackmesh_agent_slowed", "reason=\"memory\"",
		    "1 while this limit reduces probing.", read_by_memory },
		{ "rackmesh_agent_cpu_ratio", "",
		    "Share of one core that the agent used in the last second.",
		    read_cpu },
		{ "rackmesh_agent_memory_bytes", "", "Resident memory of the agent.",
		    read_memory },
	};
	int r = 0;

	for (size_t i = 0; i < sizeof(gauges) / sizeof(gauges[0]) && r == 0; i++)
		r = rm_metrics_gauge(metrics, limit, gauges[i].name, gauges[i].label,
		    gauges[i].help, gauges[i].read, limit);
	if (r == 0)
		r = rm_metrics_counter(metrics, limit, "rackmesh_agent_slowdowns_total",
		    "",
		    "Times that the agent reduced its probing because it reached a "
		    "limit of its own.",
		    &limit->falls);
	if (r == 0)
		r = rm_metrics_counter(metrics, limit,
		    "rackmesh_agent_slowdowns_eased_total", "",
		    "Times that the agent raised its probing again after a reduction.",
		    &limit->rises);
	return r;
}

/* ---- Metrics of service flows ---- */

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

int
agent_metrics_services(
    struct rm_metrics *metrics, const struct agent_services *services)
{
	const struct agent_services_counts *c;
	int r;

	if (services == NULL)
		return 0;
	c = agent_services_counts(services);
	/* clang-format off */
	const struct rm_metric counters[] = {
		{ "rackmesh_agent_qp_events_total", "", "Events of the BPF hooks: a QP was connected or destroyed.", &c->hooks.events },
		{ "rackmesh_agent_qp_events_dropped_total", "", "Events of the BPF hooks lost because the ring buffer was full.", &c->hooks.dropped },
		{ "rackmesh_agent_qp_events_malformed_total", "", "Records of the BPF ring buffer that are not valid events.", &c->hooks.malformed },
		{ "rackmesh_agent_qp_events_unlisted_total", "", "Events of devices that the agent does not monitor.", &c->table.unlisted },
		{ "rackmesh_agent_qps_connected_total", "", "QPs of monitored RNICs that were connected to a peer.", &c->table.connected },
		{ "rackmesh_agent_qps_destroyed_total", "", "Connected QPs of monitored RNICs that were destroyed.", &c->table.destroyed },
		{ "rackmesh_agent_qps_older_total", "", "QPs that only a list of all QPs has shown, because they were connected before events were received.", &c->table.older },
		{ "rackmesh_agent_qps_missed_total", "", "QPs that were missing in a list of all QPs, without an event of their end.", &c->table.missed },
		{ "rackmesh_agent_qps_local_total", "", "QPs that connect an RNIC to itself.", &c->table.local },
		{ "rackmesh_agent_qps_refused_total", "", "QPs not followed because the table is full.", &c->table.refused },
		{ "rackmesh_agent_qp_lists_total", "", "Times that all QPs were listed.", &c->lists },
		{ "rackmesh_agent_qp_lists_failed_total", "", "Times that the kernel refused the list of all QPs.", &c->lists_failed },
		{ "rackmesh_agent_peers_asked_total", "", "Queries for the RNIC at the other end of a QP.", &c->table.asks },
		{ "rackmesh_agent_peers_unsent_total", "", "Queries for the RNIC of a peer not sent because no aggregator was connected.", &c->unsent },
		{ "rackmesh_agent_peers_found_total", "", "Answers that named the RNIC of a peer.", &c->table.found },
		{ "rackmesh_agent_peers_not_found_total", "", "Answers without an RNIC because the address of the peer is not registered.", &c->table.not_found },
		{ "rackmesh_agent_peers_unmatched_total", "", "Answers that match no open query for the RNIC of a peer.", &c->table.unmatched },
		{ "rackmesh_agent_service_peers_refused_total", "", "Peers of service flows refused because the table of peers whose probes are answered is full.", &c->table.service_peers_refused },
		{ "rackmesh_agent_process_names_total", "", "Processes whose names were looked up.", &c->names },
		{ "rackmesh_agent_qp_hook_attempts_total", "", "Attempts to attach the BPF hooks to the kernel's QP functions.", &c->hooks.attempts },
		{ "rackmesh_agent_service_reports_total", "", "Reports of service flows made.", &c->reports },
	}, gauges[] = {
		{ "rackmesh_agent_service_tracing", "", "1: BPF hooks report QPs.", &c->attached },
		{ "rackmesh_agent_service_qps", "", "QPs of monitored RNICs that are connected to a peer now.", &c->table.qps },
		{ "rackmesh_agent_service_flows", "", "Distinct flows of the connected QPs.", &c->table.flows },
		{ "rackmesh_agent_service_qps_unresolved", "", "Connected QPs whose peer RNIC is not known.", &c->table.unresolved },
		{ "rackmesh_agent_service_peers", "", "Peers of service flows whose probes are answered.", &c->table.service_peers },
		{ "rackmesh_agent_service_flows_probed", "", "Service flows probed now; flows that share probes count once.", &c->table.probed },
		{ "rackmesh_agent_service_flows_waiting", "", "Service flows that wait for their turn to be probed.", &c->table.waiting },
		{ "rackmesh_agent_service_flows_merged", "", "Service flows that share the probes of another flow.", &c->table.merged },
	};
	/* clang-format on */

	r = rm_metrics_counters(metrics, services, counters, COUNT(counters));
	if (r == 0)
		r = rm_metrics_gauges(metrics, services, gauges, COUNT(gauges));
	if (r == 0)
		r = agent_metrics_users(metrics, agent_services_table(services));
	if (r == 0)
		r = agent_metrics_pods(metrics, agent_services_pods(services));
	return r;
}

/* ---- The tracer's metrics ---- */

/* clang-format off */
static const struct {
	const char *name;
	size_t offset;
	const char *help;
} tracer_counters[] = {
#define T(field) offsetof(struct tracer_counts, field)
	{ "rackmesh_agent_traces_total", T(traces), "Traces of a flow's path started." },
	{ "rackmesh_agent_trace_packets_total", T(packets), "Packets sent by traces." },
	{ "rackmesh_agent_trace_packets_failed_total", T(packets_failed), "Packets of traces that the kernel refused to send." },
	{ "rackmesh_agent_trace_answers_total", T(answers), "ICMP answers that showed a hop of a traced path." },
	{ "rackmesh_agent_trace_unmatched_total", T(unmatched), "ICMP answers that match no running trace." },
	{ "rackmesh_agent_traces_incomplete_total", T(incomplete), "Traces that showed fewer hops than are known of the path." },
	{ "rackmesh_agent_traces_over_budget_total", T(over_budget), "Times that a trace was put off because the budget of packets was used up." },
	{ "rackmesh_agent_traces_over_switch_rate_total", T(over_switch), "Times that a trace was put off because one of its switches had got as many packets of traces as it answers." },
	{ "rackmesh_agent_trace_switches_slowed_total", T(slowed), "Times that the rate of trace packets to one switch was halved, because it had not answered several traces in a row while later hops did." },
	{ "rackmesh_agent_paths_changed_total", T(moved), "Times that the known path of a flow changed, or grew by a hop." },
	{ "rackmesh_agent_traces_after_loss_total", T(after_loss), "Traces out of turn, of flows that had lost a probe: their path may have changed." },
	{ "rackmesh_agent_traces_all_again_total", T(all_again), "Times that all paths of an RNIC were traced out of turn because one of the paths had changed." },
	{ "rackmesh_agent_trace_flows_refused_total", T(refused_flows), "Flows not traced because the table is full." },
#undef T
}, port_counters[] = {
#define Q(field) offsetof(struct trace_socket_counts, field)
	{ "rackmesh_agent_trace_icmp_total", Q(received), "ICMP messages received that may be answers to traces." },
	{ "rackmesh_agent_trace_icmp_malformed_total", Q(malformed), "Malformed ICMP messages received." },
	{ "rackmesh_agent_trace_icmp_unrelated_total", Q(unrelated), "ICMP messages that belong to no trace." },
	{ "rackmesh_agent_trace_icmp_overruns_total", Q(overruns), "ICMP messages lost because the receive queue was full." },
#undef Q
};
/* clang-format on */

static double
read_flows(const void *arg)
{
	return (double)tracer_flows(tracer_io_tracer(arg));
}

static double
read_multipath(const void *arg)
{
	return (double)tracer_multipath(tracer_io_tracer(arg));
}

static double
read_denied(const void *arg)
{
	return tracer_io_denied(arg) ? 1 : 0;
}

static int
add(struct rm_metrics *metrics, const void *owner, const char *name, const char *help,
    const void *base, size_t offset)
{
	return rm_metrics_counter(metrics, owner, name, "", help,
	    (const uint64_t *)((const char *)base + offset));
}

int
agent_metrics_tracing(struct rm_metrics *metrics, const struct tracer_io *io)
{
	static const struct {
		const char *name, *help;
		double (*read)(const void *arg);
	} gauges[] = {
		{ "rackmesh_agent_trace_flows", "Flows whose path is traced.",
		    read_flows },
		{ "rackmesh_agent_trace_flows_multipath",
		    "Traced flows whose path keeps changing.", read_multipath },
		{ "rackmesh_agent_trace_denied",
		    "1: raw sockets are not allowed, so that nothing is traced.",
		    read_denied },
	};
	const void *counts = tracer_counts(tracer_io_tracer(io));
	const void *port = tracer_io_port_counts(io);
	int r = 0;

	for (size_t i = 0;
	     i < sizeof(tracer_counters) / sizeof(tracer_counters[0]) && r == 0; i++)
		r = add(metrics, io, tracer_counters[i].name, tracer_counters[i].help,
		    counts, tracer_counters[i].offset);
	for (size_t i = 0;
	     i < sizeof(port_counters) / sizeof(port_counters[0]) && r == 0; i++)
		r = add(metrics, io, port_counters[i].name, port_counters[i].help, port,
		    port_counters[i].offset);
	for (size_t i = 0; i < sizeof(gauges) / sizeof(gauges[0]) && r == 0; i++)
		r = rm_metrics_gauge(metrics, io, gauges[i].name, "", gauges[i].help,
		    gauges[i].read, io);
	return r;
}
