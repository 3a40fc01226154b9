#include <stdio.h>

#include "analyzer/analyzer_state.h"
#include "analyzer/api/drills.h"
#include "analyzer/api/region_metrics.h"
#include "analyzer/history/history.h"
#include "analyzer/incidents/incident_table.h"
#include "analyzer/incidents/port_counts.h"
#include "analyzer/incidents/region.h"
#include "analyzer/intake/intake.h"
#include "analyzer/localise/localise.h"
#include "analyzer/marks/class_marks.h"
#include "analyzer/past/past.h"
#include "analyzer/racks/racks.h"
#include "analyzer/racks/tor_mesh.h"
#include "analyzer/sla/sla.h"
#include "analyzer/sla/sla_file.h"
#include "rackmesh/http/http_server.h"
#include "rackmesh/incident/alert.h"
#include "rackmesh/incident/incident.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/notify.h"
#include "rackmesh/metrics/metrics.h"
#include "rackmesh/net/server.h"

#define COUNT(items) (sizeof(items) / sizeof((items)[0]))
#define NAME(name) "rackmesh_analyzer_" name

static double
read_row_interval(const void *region)
{
	return (double)region_row_interval_ns(region) / RM_NS_PER_S;
}

static double
read_open(const void *table)
{
	return (double)incident_table_open(table);
}

static int
add_intake(const struct analyzer *analyzer, struct rm_metrics *metrics)
{
	const struct intake_counts *c = intake_counts(analyzer->intake);
	const struct rm_server *s = intake_server(analyzer->intake);
	/* clang-format off */
	const struct rm_metric counters[] = {
		{ NAME("connections_accepted_total"), "", "Connections of aggregators accepted", &s->accepted },
		{ NAME("connections_refused_total"), "reason=\"full\"",
		  "Connections of aggregators refused or closed, by reason", &s->refused },
		{ NAME("connections_refused_total"), "reason=\"hello\"",
		  "Connections of aggregators refused or closed, by reason", &c->refused_hellos },
		{ NAME("connections_refused_total"), "reason=\"silent\"",
		  "Connections of aggregators refused or closed, by reason", &s->pending_conns.timed_out },
		{ NAME("connections_refused_total"), "reason=\"too_many_pending\"",
		  "Connections of aggregators refused or closed, by reason", &s->pending_conns.pushed_out },
		{ NAME("sessions_replaced_total"), "",
		  "Sessions closed because the same aggregator connected again", &c->replaced },
		{ NAME("sessions_silent_total"), "", "Sessions closed because the aggregator sent nothing for too long", &c->silent },
		{ NAME("messages_total"), "lane=\"summary\"", "Messages received, repeated ones included",
		  &c->summaries },
		{ NAME("messages_total"), "lane=\"incident\"", "Messages received, repeated ones included",
		  &c->incidents },
		{ NAME("messages_repeated_total"), "",
		  "Messages received again; they are acknowledged and not applied", &c->repeated },
		{ NAME("messages_missing_total"), "",
		  "Messages that an aggregator had to drop, by the gaps in their numbers", &c->missing },
		{ NAME("messages_refused_total"), "reason=\"bad\"",
		  "Messages that were not applied, by reason; bad: damaged, malformed or unknown", &c->refused_messages },
		{ NAME("messages_refused_total"), "reason=\"not_own_message\"",
		  "Messages that were not applied, by reason; bad: damaged, malformed or unknown", &c->foreign },
		{ NAME("messages_without_points_total"), "", "Messages from which no point of history was made",
		  &c->pointless },
		{ NAME("row_intervals_refused_total"), "",
		  "Hellos with a summary interval above an hour; 10 s is used instead", &c->refused_intervals },
		{ NAME("sessions_held_total"), "",
		  "Times that reading from an aggregator was paused because history could not take more", &c->held },
		{ NAME("acknowledgements_total"), "", "Acknowledgements sent", &c->acks },
	};
	const struct rm_metric gauges[] = {
		{ NAME("sessions"), "", "Connections of aggregators open now", &s->count },
		{ NAME("aggregators"), "", "Aggregators whose last message number is stored", &c->peers },
	};
	/* clang-format on */
	int r;

	r = rm_metrics_counters(metrics, analyzer, counters, COUNT(counters));
	return r < 0 ? r : rm_metrics_gauges(metrics, analyzer, gauges, COUNT(gauges));
}

static int
add_incident_table(const struct analyzer *analyzer, struct rm_metrics *metrics)
{
	const struct incident_table_counts *b = incident_table_counts(analyzer->table);
	const struct racks_counts *k = racks_counts(analyzer->racks);
	const struct drills_counts *d = drills_counts(analyzer->drills);
	const struct past_counts *p = past_counts(analyzer->past);
	/* clang-format off */
	const struct rm_metric counters[] = {
		{ NAME("incidents_opened_total"), "", "Incidents opened, by aggregators and by the analyzer", &b->opened },
		{ NAME("incidents_updated_total"), "", "Changes of open incidents", &b->updated },
		{ NAME("incidents_resolved_total"), "", "Incidents resolved", &b->resolved },
		{ NAME("incidents_repeated_total"), "", "Incident messages that change nothing", &b->repeated },
		{ NAME("incidents_refused_total"), "",
		  "Incident messages refused because they are invalid or the table is full", &b->refused },
		{ NAME("rack_rows_refused_total"), "",
		  "Rows and racks refused because they are invalid or a table is full", &k->refused },
		{ NAME("tor_mesh_rows_refused_total"), "",
		  "Rows left out of /v1/mesh because they are invalid or the table is full",
		  tor_mesh_refused(analyzer->tor_mesh) },
		{ NAME("drills_total"), "", "Requests to aggregators for raw results or meshes", &d->asked },
		{ NAME("drills_answered_total"), "", "Requests to aggregators for raw results or meshes that were answered", &d->answered },
		{ NAME("drills_refused_total"), "", "Requests for raw results or meshes, or their answers, that were refused", &d->refused },
		{ NAME("history_questions_total"), "", "Requests for history", &p->asked },
		{ NAME("history_questions_answered_total"), "", "Requests for history that were answered", &p->answered },
		{ NAME("history_questions_failed_total"), "",
		  "Requests for history that the database or the disk did not answer", &p->failed },
		{ NAME("history_questions_refused_total"), "", "Requests for history refused because too many were open", &p->refused },
	};
	const struct rm_metric gauges[] = {
		{ NAME("racks"), "", "Racks known now", &k->racks },
		{ NAME("rnics"), "", "RNICs known", &k->rnics },
	};
	/* clang-format on */
	int r;

	r = rm_metrics_counters(metrics, analyzer, counters, COUNT(counters));
	if (r == 0)
		r = rm_metrics_gauges(metrics, analyzer, gauges, COUNT(gauges));
	if (r == 0)
		r = rm_metrics_gauge(metrics, analyzer, NAME("incidents_open"), "",
		    "Incidents open now", read_open, analyzer->table);
	return r;
}

static int
add_own(const struct analyzer *analyzer, struct rm_metrics *metrics)
{
	const struct analyzer_counts *c = &analyzer->counts;
	const struct rm_notify_counts *n =
	    rm_notify_counts(rm_loop_notify(analyzer->loop));
	/* clang-format off */
	const struct rm_metric counters[] = {
		{ NAME("stalls_total"), "", "Times that the event loop was stopped", &c->stalls },
		{ NAME("judgements_total"), "", "Times that a region was judged", &c->judgements },
		{ NAME("judgements_failed_total"), "", "Times that a region could not be judged because memory ran out",
		  &c->failed_judgements },
		{ NAME("findings_unkept_total"), "", "Findings of the analyzer that could not be written to the history", &c->unkept },
		{ NAME("windows_overlapping_total"), "",
		  "Windows of a rack already reported by its other aggregator; they are counted once",
		  &c->overlaps },
		{ NAME("watchdog_fed_total"), "", "Times that systemd's watchdog was fed", &n->fed },
		{ NAME("watchdog_withheld_total"), "",
		  "Times that systemd's watchdog was not fed because a job of the worker was stuck", &n->withheld },
		{ NAME("notify_failed_total"), "", "Messages to systemd that could not be sent",
		  &n->failed },
		{ NAME("regions_refused_total"), "", "Hellos refused because the table of regions is full", &c->refused_regions },
		{ NAME("sla_refused_total"), "",
		  "Rows not counted in an SLA because the table of SLAs is full",
		  &sla_counts(analyzer->sla)->refused },
		{ NAME("sla_services_evicted_total"), "",
		  "Services whose SLA was removed to make room for another one; the "
		  "one without probes for the longest time is removed first",
		  &sla_counts(analyzer->sla)->evicted },
		{ NAME("sla_late_total"), "",
		  "Rows not counted in an SLA because their minute was closed or in the future",
		  &sla_counts(analyzer->sla)->late },
		{ NAME("sla_saves_failed_total"), "",
		  "SLA figures that could not be written to the state folder",
		  &sla_file_counts(analyzer->sla_file)->failed },
		{ NAME("sla_saves_left_out_total"), "",
		  "Scopes and services left out of saves of SLA figures because the file would be too large",
		  &sla_file_counts(analyzer->sla_file)->left_out },
		{ NAME("sla_files_set_aside_total"), "",
		  "Files of SLA figures that were not used at the start: damaged, of another version, or of a wrong time",
		  &sla_file_counts(analyzer->sla_file)->aside },
		{ NAME("http_full_total"), "",
		  "Times that new HTTP connections had to wait because too many were open",
		  rm_http_server_full(analyzer->server) },
		{ NAME("http_late_total"), "",
		  "HTTP connections closed because a request or an answer took too long",
		  rm_http_server_late(analyzer->server) },
		{ NAME("http_misdirected_total"), "",
		  "HTTP requests refused because their Host is not a name of this host",
		  rm_http_server_misdirected(analyzer->server) },
	};
	/* clang-format on */
	int r;

	r = rm_metrics_counters(metrics, analyzer, counters, COUNT(counters));
	if (r == 0)
		r = rm_metrics_counter_ns(metrics, analyzer,
		    NAME("stalled_seconds_total"), "",
		    "Seconds that the event loop was stopped, in total",
		    &c->stalled_ns);
	if (r == 0)
		r = rm_metrics_counter_ns(metrics, analyzer,
		    NAME("judging_seconds_total"), "",
		    "Seconds spent judging, in total", &c->judging_ns);
	return r;
}

int
analyzer_metrics_register(const struct analyzer *analyzer, struct rm_metrics *metrics)
{
	int r;

	r = add_intake(analyzer, metrics);
	if (r == 0)
		r = add_incident_table(analyzer, metrics);
	if (r == 0)
		r = add_own(analyzer, metrics);
	if (r == 0)
		r = history_metrics(analyzer->history, metrics);
	if (r == 0)
		r = region_metrics_register(analyzer, metrics);
	for (size_t i = 0; i < analyzer->region_count && r == 0; i++)
		r = analyzer_metrics_region(analyzer->regions[i], metrics);
	return r;
}

/* The metrics of one region, added when the region is made. */
int
analyzer_metrics_region(struct region *region, struct rm_metrics *metrics)
{
	const struct localise_counts *l = region_localised(region);
	const struct port_counts_counts *p = region_ports(region);
	const struct rm_alert_counts *a = region_alert_counts(region);
	const struct rm_incident_counts *n =
	    rm_incidents_counts(region_incidents(region));
	char labels[RM_NAME_BYTES + 16];
	/* clang-format off */
	const struct rm_metric counters[] = {
		{ NAME("path_rows_total"), labels, "Path rows received in summaries", &l->rows },
		{ NAME("path_rows_refused_total"), labels, "Path rows refused because they are malformed or the table is full", &l->refused_rows },
		{ NAME("incidents_falls_forgotten_total"), labels,
		  "Parts whose last falls were forgotten, so that they may flap unseen, because too many parts failed",
		  &n->forgotten },
		{ NAME("path_judgements_total"), labels, "Times that the region's paths were judged", &l->judged },
		{ NAME("probes_unexplained_total"), labels, "Lost probes that no faulty part explains",
		  &l->unexplained_lost },
		{ NAME("probes_untraced_total"), labels, "Probes of flows whose path is not known", &l->untraced },
		{ NAME("probes_excluded_total"), labels,
		  "Lost probes that count for no path, because the rack of their target has found that RNIC or host bad",
		  &l->left_out },
		{ NAME("bad_ends_refused_total"), labels,
		  "RNICs and hosts that their own rack has found bad, whose losses count for paths because the table is full",
		  &l->refused_ends },
		{ NAME("suspicions_refused_total"), labels,
		  "Times that a part was not suspected because too many parts were", &l->refused_suspicions },
		{ NAME("class_rows_refused_total"), labels,
		  "Pairs of racks whose DSCP is not watched because the table is full",
		  class_marks_refused(region_marks(region)) },
		{ NAME("port_rows_left_out_total"), labels,
		  "Rows of summaries on ports of switches that are left out because the table is full", &p->left_out },
		{ NAME("port_rows_refused_total"), labels,
		  "Rows of summaries on ports of switches that are refused because "
		  "their values are invalid", &p->refused },
		{ NAME("alerts_queued_total"), labels, "Alerts put into the queues of all receivers", &a->queued },
		{ NAME("alerts_delivered_total"), labels, "Alerts that a receiver accepted", &a->delivered },
		{ NAME("alerts_failed_attempts_total"), labels, "Failed attempts to deliver an alert; they are repeated",
		  &a->failed_attempts },
		{ NAME("alerts_dropped_total"), labels, "Alerts dropped because a queue was full", &a->dropped },
		{ NAME("alerts_withdrawn_total"), labels, "Alerts withdrawn before they were sent",
		  &a->withdrawn },
		{ NAME("alerts_refused_total"), labels, "Alerts that a receiver refused for good", &a->refused },
		{ NAME("alerts_unsaved_total"), labels, "Alerts sent before their incident was on disk",
		  &a->unkept },
	};
	const struct rm_metric paths = { NAME("paths"), labels, "Paths known", &l->paths };
	/* clang-format on */
	int r;

	snprintf(labels, sizeof(labels), "region=\"%s\"", region_name(region));
	r = rm_metrics_counters(metrics, region, counters, COUNT(counters));
	if (r == 0)
		r = region_alert_metrics(
		    region, metrics, NAME("alert_receiver_up"), labels);
	if (r == 0 && region_file_failures(region) != NULL)
		r = rm_metrics_counter(metrics, region,
		    NAME("incident_saves_failed_total"), labels,
		    "Times that open incidents could not be written to disk",
		    region_file_failures(region));
	if (r == 0)
		r = rm_metrics_gauges(metrics, region, &paths, 1);
	if (r == 0)
		r = rm_metrics_gauge(metrics, region, NAME("row_interval_seconds"),
		    labels, "Longest summary interval of its aggregators",
		    read_row_interval, region);
	return r;
}
