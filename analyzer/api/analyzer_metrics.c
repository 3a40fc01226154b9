#include <stdio.h>

#include "analyzer/analyzer_state.h"
#include "analyzer/api/drills.h"
#include "analyzer/history/history.h"
#include "analyzer/incidents/board.h"
#include "analyzer/incidents/region.h"
#include "analyzer/intake/intake.h"
#include "analyzer/localise/localise.h"
#include "analyzer/marks/class_marks.h"
#include "analyzer/past/past.h"
#include "analyzer/racks/racks.h"
#include "analyzer/racks/tor_mesh.h"
#include "analyzer/sla/sla.h"
#include "rackmesh/http/http_server.h"
#include "rackmesh/incident/alert.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/notify.h"
#include "rackmesh/metrics/metrics.h"
#include "rackmesh/net/strangers.h"

#define COUNT(items) (sizeof(items) / sizeof((items)[0]))
#define NAME(name) "rackmesh_analyzer_" name

static double
read_row_interval(const void *region)
{
	return (double)region_row_interval_ns(region) / RM_NS_PER_S;
}

static double
read_open(const void *board)
{
	return (double)board_open(board);
}

static int
add_intake(const struct analyzer *analyzer, struct rm_metrics *metrics)
{
	const struct intake_counts *c = intake_counts(analyzer->intake);
	const struct rm_strangers *s = intake_strangers(analyzer->intake);
	/* clang-format off */
	const struct rm_metric counters[] = {
		{ NAME("connections_accepted_total"), "", "Connections of aggregators", &c->accepted },
		{ NAME("connections_refused_total"), "reason=\"full\"",
		  "Connections turned away", &c->refused_connections },
		{ NAME("connections_refused_total"), "reason=\"hello\"",
		  "Connections turned away", &c->refused_hellos },
		{ NAME("connections_refused_total"), "reason=\"silent\"",
		  "Connections turned away", &s->timed_out },
		{ NAME("connections_refused_total"), "reason=\"too_many_pending\"",
		  "Connections turned away", &s->pushed_out },
		{ NAME("sessions_replaced_total"), "",
		  "Sessions closed because the same aggregator connected anew", &c->replaced },
		{ NAME("sessions_silent_total"), "", "Sessions closed for their silence", &c->silent },
		{ NAME("messages_total"), "lane=\"summary\"", "Messages taken, also repeated ones",
		  &c->summaries },
		{ NAME("messages_total"), "lane=\"incident\"", "Messages taken, also repeated ones",
		  &c->incidents },
		{ NAME("messages_repeated_total"), "",
		  "Messages that came again, acknowledged and not applied", &c->repeated },
		{ NAME("messages_missing_total"), "",
		  "Numbers left out: messages that their aggregator had to drop", &c->missing },
		{ NAME("messages_refused_total"), "reason=\"bad\"",
		  "Messages that were not applied: bad ones are damaged, malformed or unknown", &c->refused_messages },
		{ NAME("messages_refused_total"), "reason=\"not_own_message\"",
		  "Messages that were not applied: bad ones are damaged, malformed or unknown", &c->foreign },
		{ NAME("messages_without_points_total"), "", "Messages that left nothing in history",
		  &c->pointless },
		{ NAME("row_intervals_refused_total"), "",
		  "Hellos that say an interval beyond an hour: 10 s is taken", &c->refused_intervals },
		{ NAME("sessions_held_total"), "",
		  "Times that an aggregator was not read because history could not take more", &c->held },
		{ NAME("acknowledgements_total"), "", "Acknowledgements sent", &c->acks },
	};
	const struct rm_metric gauges[] = {
		{ NAME("sessions"), "", "Connections of aggregators now", &c->sessions },
		{ NAME("aggregators"), "", "Aggregators whose numbers are remembered", &c->peers },
	};
	/* clang-format on */
	int r;

	r = rm_metrics_counters(metrics, analyzer, counters, COUNT(counters));
	return r < 0 ? r : rm_metrics_gauges(metrics, analyzer, gauges, COUNT(gauges));
}

static int
add_board(const struct analyzer *analyzer, struct rm_metrics *metrics)
{
	const struct board_counts *b = board_counts(analyzer->board);
	const struct racks_counts *k = racks_counts(analyzer->racks);
	const struct drills_counts *d = drills_counts(analyzer->drills);
	const struct past_counts *p = past_counts(analyzer->past);
	/* clang-format off */
	const struct rm_metric counters[] = {
		{ NAME("incidents_opened_total"), "", "Incidents opened, of racks and our own", &b->opened },
		{ NAME("incidents_updated_total"), "", "Changes of open incidents", &b->updated },
		{ NAME("incidents_resolved_total"), "", "Incidents resolved", &b->resolved },
		{ NAME("incidents_repeated_total"), "", "Incident messages that repeat what is known", &b->repeated },
		{ NAME("incidents_refused_total"), "",
		  "Incident messages that are invalid, or beyond what the table holds", &b->refused },
		{ NAME("rack_rows_refused_total"), "",
		  "Rows and racks without sense, or beyond a bound", &k->refused },
		{ NAME("tor_mesh_rows_refused_total"), "",
		  "Rows that /v1/mesh leaves out: without sense, or beyond a bound",
		  tor_mesh_refused(analyzer->tor_mesh) },
		{ NAME("drills_total"), "", "Raw results asked for", &d->asked },
		{ NAME("drills_answered_total"), "", "Answers to them", &d->answered },
		{ NAME("drills_refused_total"), "", "Questions and answers refused", &d->refused },
		{ NAME("history_questions_total"), "", "Questions for the history", &p->asked },
		{ NAME("history_questions_answered_total"), "", "Those that were answered", &p->answered },
		{ NAME("history_questions_failed_total"), "",
		  "Those that the database, or the disk, did not answer", &p->failed },
		{ NAME("history_questions_refused_total"), "", "Too many at once", &p->refused },
	};
	const struct rm_metric gauges[] = {
		{ NAME("racks"), "", "Racks known", &k->racks },
		{ NAME("rnics"), "", "RNICs known", &k->rnics },
	};
	/* clang-format on */
	int r;

	r = rm_metrics_counters(metrics, analyzer, counters, COUNT(counters));
	if (r == 0)
		r = rm_metrics_gauges(metrics, analyzer, gauges, COUNT(gauges));
	if (r == 0)
		r = rm_metrics_gauge(metrics, analyzer, NAME("incidents_open"), "",
		    "Incidents open now", read_open, analyzer->board);
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
		{ NAME("stalls_total"), "", "Times that the loop stood still", &c->stalls },
		{ NAME("judgements_total"), "", "Judgements of a region", &c->judgements },
		{ NAME("judgements_failed_total"), "", "Those that failed for want of memory",
		  &c->failed_judgements },
		{ NAME("findings_unkept_total"), "", "Own findings that history did not take", &c->unkept },
		{ NAME("windows_overlapping_total"), "",
		  "Windows of a rack that its other aggregator had reported: not counted twice",
		  &c->overlaps },
		{ NAME("watchdog_fed_total"), "", "Times that systemd's watchdog was fed", &n->fed },
		{ NAME("watchdog_withheld_total"), "",
		  "Turns in which it was not, since a job of the worker was stuck", &n->withheld },
		{ NAME("notify_failed_total"), "", "Messages to systemd that could not be sent",
		  &n->failed },
		{ NAME("regions_refused_total"), "", "Hellos of one region too many", &c->refused_regions },
		{ NAME("sla_refused_total"), "",
		  "Rows of a region, class, service or rack that found no place among the SLA's",
		  &sla_counts(analyzer->sla)->refused },
		{ NAME("sla_services_evicted_total"), "",
		  "Services whose SLA was forgotten for that of another one: the longest silent",
		  &sla_counts(analyzer->sla)->evicted },
		{ NAME("sla_late_total"), "",
		  "Rows that came when their minute of the SLA was closed, or from ahead of it",
		  &sla_counts(analyzer->sla)->late },
		{ NAME("http_full_total"), "",
		  "Times that newcomers over HTTP had to wait to be accepted",
		  rm_http_server_full(analyzer->server) },
		{ NAME("http_late_total"), "",
		  "Connections over HTTP whose request or answer took too long",
		  rm_http_server_late(analyzer->server) },
	};
	/* clang-format on */
	int r;

	r = rm_metrics_counters(metrics, analyzer, counters, COUNT(counters));
	if (r == 0)
		r = rm_metrics_counter_ns(metrics, analyzer,
		    NAME("stalled_seconds_total"), "",
		    "How long the loop stood still in all", &c->stalled_ns);
	if (r == 0)
		r = rm_metrics_counter_ns(metrics, analyzer,
		    NAME("judging_seconds_total"), "",
		    "How long judgements took in all", &c->judging_ns);
	return r;
}

int
analyzer_metrics_register(const struct analyzer *analyzer, struct rm_metrics *metrics)
{
	int r;

	r = add_intake(analyzer, metrics);
	if (r == 0)
		r = add_board(analyzer, metrics);
	if (r == 0)
		r = add_own(analyzer, metrics);
	if (r == 0)
		r = history_metrics(analyzer->history, metrics);
	for (size_t i = 0; i < analyzer->region_count && r == 0; i++)
		r = analyzer_metrics_region(analyzer->regions[i], metrics);
	return r;
}

/* A region's own, once it is made. */
int
analyzer_metrics_region(struct region *region, struct rm_metrics *metrics)
{
	const struct localise_counts *l = region_localised(region);
	const struct rm_alert_counts *a = region_alert_counts(region);
	char labels[RM_NAME_BYTES + 16];
	/* clang-format off */
	const struct rm_metric counters[] = {
		{ NAME("path_rows_total"), labels, "Path rows of summaries taken", &l->rows },
		{ NAME("path_rows_refused_total"), labels, "Malformed, or beyond a bound", &l->refused_rows },
		{ NAME("path_judgements_total"), labels, "Judgements of the region's paths", &l->judged },
		{ NAME("probes_unexplained_total"), labels, "Lost probes that no part explains",
		  &l->unexplained_lost },
		{ NAME("probes_untraced_total"), labels, "Probes of flows without a path", &l->untraced },
		{ NAME("class_rows_refused_total"), labels,
		  "Pairs of racks beyond a bound, whose class is not watched",
		  class_marks_refused(region_marks(region)) },
		{ NAME("alerts_queued_total"), labels, "Alerts for all receivers", &a->queued },
		{ NAME("alerts_delivered_total"), labels, "Alerts taken", &a->delivered },
		{ NAME("alerts_failed_attempts_total"), labels, "Attempts that will be repeated",
		  &a->failed_attempts },
		{ NAME("alerts_dropped_total"), labels, "Alerts lost for want of room", &a->dropped },
		{ NAME("alerts_withdrawn_total"), labels, "Alerts that were taken back before they left",
		  &a->withdrawn },
		{ NAME("alerts_refused_total"), labels, "Alerts that a receiver refused", &a->refused },
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
