#include "tor-aggregator/api/aggregator_metrics_reports.h"

#include <stddef.h>

#include "rackmesh/metrics/metrics.h"
#include "tor-aggregator/analyzer/analyzer_link.h"
#include "tor-aggregator/analyzer/report_spool.h"
#include "tor-aggregator/controller/brake_store.h"
#include "tor-aggregator/controller/resolver.h"
#include "tor-aggregator/controller_requests.h"
#include "tor-aggregator/paths/lossy_ends.h"
#include "tor-aggregator/paths/path_ends.h"
#include "tor-aggregator/paths/path_rows.h"
#include "tor-aggregator/paths/path_table.h"
#include "tor-aggregator/rack/tor_rack.h"
#include "tor-aggregator/services/service_table.h"

#define N(name) "rackmesh_aggregator_" name

/* ---- lanes to the analyzer ---- */

#define SP(field) offsetof(struct rm_spool_counts, field)
#define U(field) offsetof(struct report_spool_counts, field)
#define Z(field) offsetof(struct analyzer_link_counts, field)

/* clang-format off */
static const struct metrics_counter analyzer_counters[] = {
	{ N("analyzer_connects_total"), "", Z(connected), "Sessions with an analyzer." },
	{ N("analyzer_disconnects_total"), "", Z(disconnected), "Sessions with an analyzer that ended." },
	{ N("analyzer_refusals_total"), "", Z(refused), "Sessions that an analyzer refused." },
	{ N("analyzer_returns_total"), "", Z(returned), "Times that the aggregator went back to an analyzer that is earlier in the list." },
	{ N("analyzer_silent_total"), "", Z(silent), "Connections closed because the analyzer sent nothing for too long." },
	{ N("analyzer_acks_total"), "", Z(acks), "Acknowledgements received from an analyzer." },
	{ N("analyzer_bad_frames_total"), "", Z(bad_frames), "Malformed frames from analyzers." },
	{ N("analyzer_sent_total"), "lane=\"summary\"", Z(summaries), "Messages sent to an analyzer, repeated ones included." },
	{ N("analyzer_sent_total"), "lane=\"incident\"", Z(incidents), "Messages sent to an analyzer, repeated ones included." },
	{ 0 }
};

static const struct metrics_counter spool_counters[] = {
	{ N("spool_syncs_total"), "", SP(syncs), "Times that the lane was synced to disk." },
	{ N("spool_written_bytes_total"), "", SP(written_bytes), "Bytes written to the lane's files." },
	{ N("spool_failed_writes_total"), "", SP(failed_writes), "Failed writes to the lane's files." },
	{ N("spool_failed_syncs_total"), "", SP(failed_syncs), "Failed syncs of the lane to disk." },
	{ N("spool_corrupt_bytes_total"), "", SP(lost_corrupt_bytes), "Bytes of damaged parts of the lane's files." },
	{ N("spool_quarantined_total"), "", SP(quarantined), "Damaged parts of the lane's files that were set aside." },
	{ 0 }
};

static const struct metrics_counter summary_lane[] = {
	{ N("lane_in_total"), "lane=\"summary\"", U(in), "Messages put on the lane: delivered + spooled + dropped." },
	{ N("lane_delivered_total"), "lane=\"summary\"", U(delivered), "Messages that the analyzer has acknowledged." },
	{ N("lane_dropped_total"), "lane=\"summary\",reason=\"full\"", U(dropped_full), "Messages dropped, by reason." },
	{ N("lane_dropped_total"), "lane=\"summary\",reason=\"write\"", U(dropped_write), "Messages dropped, by reason." },
	{ N("lane_dropped_total"), "lane=\"summary\",reason=\"off\"", U(dropped_off), "Messages dropped, by reason." },
	{ N("upstream_bytes_total"), "lane=\"summary\"", U(bytes), "Bytes of messages made for the analyzer." },
	{ 0 }
};

static const struct metrics_counter incident_lane[] = {
	{ N("lane_in_total"), "lane=\"incident\"", U(in), "Messages put on the lane: delivered + spooled + dropped." },
	{ N("lane_delivered_total"), "lane=\"incident\"", U(delivered), "Messages that the analyzer has acknowledged." },
	{ N("lane_dropped_total"), "lane=\"incident\",reason=\"full\"", U(dropped_full), "Messages dropped, by reason." },
	{ N("lane_dropped_total"), "lane=\"incident\",reason=\"write\"", U(dropped_write), "Messages dropped, by reason." },
	{ N("lane_dropped_total"), "lane=\"incident\",reason=\"off\"", U(dropped_off), "Messages dropped, by reason." },
	{ N("upstream_bytes_total"), "lane=\"incident\"", U(bytes), "Bytes of messages made for the analyzer." },
	{ 0 }
};

/* clang-format on */

/* This metric is the first of the lane's metrics that is read, so it also updates the
 * lane's counts. */
static double
read_spooled_summary(const void *arg)
{
	return (double)report_spool_held((struct report_spool *)arg, WIRE_LANE_SUMMARY);
}

static double
read_spooled_incident(const void *arg)
{
	return (double)report_spool_held(
	    (struct report_spool *)arg, WIRE_LANE_INCIDENT);
}

static double
read_analyzer(const void *arg)
{
	return analyzer_link_connected(arg);
}

static double
read_durable(const void *arg)
{
	return (double)((const struct rm_spool_counts *)arg)->durable;
}

static int
add_spools(struct report_spool *reports, struct rm_metrics *metrics)
{
	static const struct {
		enum wire_lane lane;
		const char *label;
	} lanes[] = { { WIRE_LANE_SUMMARY, "lane=\"summary\"" },
		{ WIRE_LANE_INCIDENT, "lane=\"incident\"" } };
	int r = 0;

	for (size_t i = 0; r == 0 && i < 2; i++) {
		const struct rm_spool_counts *counts =
		    report_spool_lane_counts(reports, lanes[i].lane);

		if (counts == NULL)
			continue;
		r = metrics_table_add(metrics, spool_counters, counts, lanes[i].label);
		if (r == 0)
			r = rm_metrics_gauge(metrics, reports, N("spool_durable"),
			    lanes[i].label,
			    "1 when the acknowledged messages of the lane are on disk.",
			    read_durable, counts);
	}
	return r;
}

int
lane_metrics_register(struct report_spool *reports, const struct analyzer_link *link,
    struct rm_metrics *metrics)
{
	const struct {
		const char *name, *label, *help;
		double (*read)(const void *arg);
		const void *arg;
	} gauges[] = {
		{ N("lane_spooled"), "lane=\"summary\"", "Messages not yet delivered.",
		    read_spooled_summary, reports },
		{ N("lane_spooled"), "lane=\"incident\"", "Messages not yet delivered.",
		    read_spooled_incident, reports },
		{ N("analyzer_connected"), "", "1 with a session.", read_analyzer,
		    link },
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(gauges) / sizeof(gauges[0]); i++)
		r = rm_metrics_gauge(metrics, reports, gauges[i].name, gauges[i].label,
		    gauges[i].help, gauges[i].read, gauges[i].arg);
	if (r == 0)
		r = metrics_table_add(metrics, summary_lane,
		    report_spool_counts(reports, WIRE_LANE_SUMMARY), "");
	if (r == 0)
		r = metrics_table_add(metrics, incident_lane,
		    report_spool_counts(reports, WIRE_LANE_INCIDENT), "");
	if (r == 0)
		r = metrics_table_add(
		    metrics, analyzer_counters, analyzer_link_counts(link), "");
	return r < 0 ? r : add_spools(reports, metrics);
}

/* ---- paths, and requests of controllers ---- */

#define T(field) offsetof(struct path_table_counts, field)
#define R(field) offsetof(struct path_rows_counts, field)
#define E(field) offsetof(struct path_ends_counts, field)
#define L(field) offsetof(struct lossy_ends_counts, field)
#define B(field) offsetof(struct brake_store_counts, field)
#define Q(field) offsetof(struct resolver_counts, field)
#define O(field) offsetof(struct controller_requests_counts, field)

/* clang-format off */
static const struct metrics_counter table_counters[] = {
	{ N("paths_learned_total"), "", T(learned), "Traces of a flow's path, repeated ones included." },
	{ N("paths_changed_total"), "", T(changed), "Traces that showed another path than before." },
	{ N("paths_incomplete_total"), "", T(incomplete), "Traces that did not reach the destination; a complete path known before is kept." },
	{ N("paths_unexpected_total"), "", T(unexpected), "Paths that do not begin at the ToR of the source or do not end at that of the target." },
	{ N("paths_refused_total"), "reason=\"flows\"", T(refused_flows), "Traces not kept because a table is full, by table." },
	{ N("paths_refused_total"), "reason=\"paths\"", T(refused_paths), "Traces not kept because a table is full, by table." },
	{ N("path_aliases_refused_total"), "", T(refused_aliases), "Switch addresses of plans refused because their name or address family is invalid." },
	{ N("paths_aged_total"), "", T(aged), "Flows dropped because no plan names them any more." },
	{ 0 }
};

static const struct metrics_counter row_counters[] = {
	{ N("path_rows_seconds_total"), "", R(seconds), "Seconds whose results were added up by path." },
	{ N("path_rows_lossy_seconds_total"), "", R(lossy), "Seconds in which something was lost, or was slow, along a path." },
	{ N("path_rows_skipped_seconds_total"), "", R(skipped), "Seconds left out of the rows by path because the aggregator was starting or stopped." },
	{ N("path_rows_messages_total"), "", R(messages), "Summaries with rows per path." },
	{ N("path_rows_total"), "", R(rows), "Rows by path in summaries." },
	{ N("path_rows_refused_total"), "kind=\"result\"", R(refused_flows), "Results and rows by path left out because a table is full." },
	{ N("path_rows_refused_total"), "kind=\"row\"", R(refused_rows), "Results and rows by path left out because a table is full." },
	{ N("path_rows_not_a_witness_total"), "", R(not_a_witness), "Probes left out of the rows by path because their source is faulty, or its host is stalled, paused or gone." },
	{ N("path_rows_remote_stopped_total"), "", R(remote_stopped), "Probes left out of the rows by path because the host of their target RNIC was stalled." },
	{ N("path_rows_doubtful_total"), "", R(doubtful), "Probes left out of the rows by path because soon afterwards a trace showed another path of their flow: it is not known which path they took." },
	{ N("path_rows_untraced_total"), "", R(untraced), "Probes whose path is not known." },
	{ N("path_rows_forgotten_total"), "", R(forgotten), "Probes left out of the rows by path because the aggregator was starting or stopped, or the list of RNICs changed." },
	{ 0 }
};

static const struct metrics_counter end_counters[] = {
	{ N("path_rows_remote_dead_total"), "", E(remote_dead), "Probes left out of the rows by path because their target is dead." },
	{ N("path_rows_own_dead_total"), "", E(own_dead), "Probes left out of the rows by path because all probes that their source sends are lost." },
	{ 0 }
};

static const struct metrics_counter lossy_counters[] = {
	{ N("path_rows_remote_lossy_total"), "", L(remote), "Probes left out of the rows by path because their target itself loses packets." },
	{ N("path_rows_own_lossy_total"), "", L(own), "Probes left out of the rows by path because their source itself loses packets." },
	{ 0 }
};

static const struct metrics_counter brake_counters[] = {
	{ N("brakes_taken_total"), "", B(taken), "Newer settings of the brake that came into use." },
	{ N("brakes_stale_total"), "", B(stale), "Settings of the brake ignored because they are not newer than the setting in use." },
	{ N("brakes_refused_total"), "", B(refused), "Settings of the brake refused because they are out of range." },
	{ N("brakes_written_total"), "", B(written), "Settings of the brake written to the state folder." },
	{ N("brakes_write_failed_total"), "", B(write_failed), "Settings of the brake that could not be written to the state folder." },
	{ 0 }
};

static const struct metrics_counter resolver_counters[] = {
	{ N("resolves_asked_total"), "", Q(asked), "Requests to the controller for the RNIC of an address or the other end of a QP." },
	{ N("resolves_answered_total"), "", Q(answered), "Requests for an RNIC or a QP that the controller answered." },
	{ N("resolves_expired_total"), "", Q(expired), "Requests for an RNIC or a QP that the controller did not answer in time." },
	{ N("resolves_refused_total"), "", Q(refused), "Requests for an RNIC or a QP refused because too many were open." },
	{ N("resolves_unknown_total"), "", Q(unknown), "Answers of the controller that match no open request." },
	{ 0 }
};

static const struct metrics_counter order_counters[] = {
	{ N("brakes_sent_total"), "", O(brakes_sent), "Settings of the brake sent to agents." },
	{ N("brakes_failed_total"), "", O(brakes_failed), "Settings of the brake that could not be sent to an agent." },
	{ N("resolved_here_total"), "", O(resolved_here), "Requests of agents for an RNIC that is in the aggregator's own racks." },
	{ N("joins_unauthorized_total"), "", O(unauthorized), "Requests for the other end of a QP refused because its RNIC is not registered by the agent." },
	{ N("service_peers_learned_total"), "", O(learned), "Peer RNICs of services that were added to a rack." },
	{ N("service_peers_failed_total"), "", O(learn_failed), "Peer RNICs of services that were not added because they are invalid or the table is full." },
	{ N("resolve_answers_failed_total"), "", O(resolve_failed), "Answers that could not be sent to an agent." },
	{ N("drills_total"), "", O(drills), "Requests, from an analyzer or a controller, for raw results." },
	{ N("drills_failed_total"), "", O(drills_failed), "Requests for raw results that could not be answered." },
	{ 0 }
};
/* clang-format on */

static double
read_flows(const void *arg)
{
	return (double)path_table_flows(tor_rack_paths(arg));
}

static double
read_paths(const void *arg)
{
	return (double)path_table_paths(tor_rack_paths(arg));
}

static double
read_brake(const void *arg)
{
	return brake_store_get(controller_requests_brake(arg))->rate_permille;
}

int
path_metrics_of_rack(
    const struct tor_rack *rack, const char *label, struct rm_metrics *metrics)
{
	const struct path_rows *rows = tor_rack_path_rows(rack);
	int r;

	r = metrics_table_add(
	    metrics, table_counters, path_table_counts(tor_rack_paths(rack)), label);
	if (r == 0)
		r = metrics_table_add(
		    metrics, row_counters, path_rows_counts(rows), label);
	if (r == 0)
		r = metrics_table_add(
		    metrics, end_counters, path_rows_ends(rows), label);
	if (r == 0)
		r = metrics_table_add(
		    metrics, lossy_counters, path_rows_lossy_ends(rows), label);
	if (r == 0)
		r = rm_metrics_gauge(metrics, rack, N("path_flows"), label,
		    "Flows that leave the rack, traced or not.", read_flows, rack);
	if (r == 0)
		r = rm_metrics_gauge(metrics, rack, N("paths"), label,
		    "Distinct paths of the flows that leave the rack.", read_paths,
		    rack);
	return r;
}

int
path_metrics_of_requests(
    const struct controller_requests *controller_requests, struct rm_metrics *metrics)
{
	const struct brake_store *brake =
	    controller_requests_brake(controller_requests);
	int r;

	r = metrics_table_add(metrics, brake_counters, brake_store_counts(brake), "");
	if (r == 0)
		r = metrics_table_add(metrics, resolver_counters,
		    resolver_counts(controller_requests_resolver(controller_requests)),
		    "");
	if (r == 0)
		r = metrics_table_add(metrics, order_counters,
		    controller_requests_counts(controller_requests), "");
	if (r == 0)
		r = rm_metrics_gauge(metrics, controller_requests, N("brake_permille"),
		    "",
		    "Probes that the brake allows, of 1000 probes in the pinglists.",
		    read_brake, controller_requests);
	return r;
}

/* ---- services ---- */

#define S(field) offsetof(struct service_table_counts, field)

/* clang-format off */
static const struct metrics_counter service_counters[] = {
	{ N("service_reports_total"), "", S(reports), "Reports of service flows received from agents." },
	{ N("service_flows_refused_total"), "", S(refused_flows), "Service flows refused because the RNIC is not of the agent or the traffic class is impossible." },
	{ N("service_flows_dropped_total"), "", S(dropped_flows), "Service flows not kept because the table is full." },
	{ N("service_hosts_aged_total"), "", S(aged), "Hosts whose service flows were dropped because their agents did not connect again." },
	{ 0 }
};
/* clang-format on */

static double
read_resolving(const void *arg)
{
	return (double)service_table_in_state(arg, WIRE_SERVICE_RESOLVING);
}

static double
read_probed(const void *arg)
{
	return (double)service_table_in_state(arg, WIRE_SERVICE_PROBED);
}

static double
read_waiting(const void *arg)
{
	return (double)service_table_in_state(arg, WIRE_SERVICE_WAITING);
}

static double
read_unresolved(const void *arg)
{
	return (double)service_table_in_state(arg, WIRE_SERVICE_UNRESOLVED);
}

static double
read_unresolved_qps(const void *arg)
{
	const struct service_host *host = NULL;
	double qps = 0;

	while ((host = service_table_next(arg, host)) != NULL)
		qps += (double)host->unresolved;
	return qps;
}

static double
read_untraced_hosts(const void *arg)
{
	const struct service_host *host = NULL;
	double hosts = 0;

	while ((host = service_table_next(arg, host)) != NULL)
		hosts += !host->tracing;
	return hosts;
}

int
service_metrics_register(const struct service_table *table, struct rm_metrics *metrics)
{
	const struct {
		const char *name, *label, *help;
		double (*read)(const void *arg);
	} gauges[] = {
		{ N("service_flows"), "state=\"resolving\"",
		    "Present service flows, by state.", read_resolving },
		{ N("service_flows"), "state=\"probed\"",
		    "Present service flows, by state.", read_probed },
		{ N("service_flows"), "state=\"waiting\"",
		    "Present service flows, by state.", read_waiting },
		{ N("service_flows"), "state=\"unresolved\"",
		    "Present service flows, by state.", read_unresolved },
		{ N("service_qps_unresolved"), "",
		    "QPs whose other end is not known, as reported by agents.",
		    read_unresolved_qps },
		{ N("service_hosts_untraced"), "",
		    "Hosts whose agents cannot trace services.", read_untraced_hosts },
	};
	int r = metrics_table_add(
	    metrics, service_counters, service_table_counts(table), "");

	for (size_t i = 0; r == 0 && i < sizeof(gauges) / sizeof(gauges[0]); i++)
		r = rm_metrics_gauge(metrics, table, gauges[i].name, gauges[i].label,
		    gauges[i].help, gauges[i].read, table);
	return r;
}
