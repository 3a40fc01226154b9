#include "tor-aggregator/api/lane_metrics.h"

#include <stddef.h>

#include "rackmesh/metrics/metrics.h"
#include "tor-aggregator/analyzer/analyzer_link.h"
#include "tor-aggregator/analyzer/uplink.h"

#define N(name) "rackmesh_aggregator_" name
#define SP(field) offsetof(struct rm_spool_counts, field)
#define U(field) offsetof(struct uplink_counts, field)
#define Z(field) offsetof(struct analyzer_link_counts, field)

/* clang-format off */
static const struct metrics_counter analyzer_counters[] = {
	{ N("analyzer_connects_total"), "", Z(connected), "Sessions with an analyzer." },
	{ N("analyzer_disconnects_total"), "", Z(disconnected), "Sessions with an analyzer that ended." },
	{ N("analyzer_refusals_total"), "", Z(refused), "Welcomes that were none." },
	{ N("analyzer_returns_total"), "", Z(returned), "Times that an earlier analyzer of the list was back." },
	{ N("analyzer_silent_total"), "", Z(silent), "Links dropped because an analyzer fell silent." },
	{ N("analyzer_acks_total"), "", Z(acks), "Acknowledgements." },
	{ N("analyzer_bad_frames_total"), "", Z(bad_frames), "Frames of analyzers that made no sense." },
	{ N("analyzer_sent_total"), "lane=\"summary\"", Z(summaries), "Messages sent, also those sent again." },
	{ N("analyzer_sent_total"), "lane=\"incident\"", Z(incidents), "Messages sent, also those sent again." },
	{ 0 }
};

static const struct metrics_counter spool_counters[] = {
	{ N("spool_syncs_total"), "", SP(syncs), "Times that the lane was synced to disk." },
	{ N("spool_written_bytes_total"), "", SP(written_bytes), "Bytes written to the lane's files." },
	{ N("spool_failed_writes_total"), "", SP(failed_writes), "Writes that failed." },
	{ N("spool_failed_syncs_total"), "", SP(failed_syncs), "Syncs that failed." },
	{ N("spool_corrupt_bytes_total"), "", SP(lost_corrupt_bytes), "Bytes of damaged parts." },
	{ N("spool_quarantined_total"), "", SP(quarantined), "Damaged parts that were set aside." },
	{ 0 }
};

static const struct metrics_counter summary_lane[] = {
	{ N("lane_in_total"), "lane=\"summary\"", U(in), "Messages put on the lane: delivered + spooled + dropped." },
	{ N("lane_delivered_total"), "lane=\"summary\"", U(delivered), "Messages that the receiver is responsible for." },
	{ N("lane_dropped_total"), "lane=\"summary\",reason=\"full\"", U(dropped_full), "Messages dropped." },
	{ N("lane_dropped_total"), "lane=\"summary\",reason=\"write\"", U(dropped_write), "Messages dropped." },
	{ N("lane_dropped_total"), "lane=\"summary\",reason=\"off\"", U(dropped_off), "Messages dropped." },
	{ N("upstream_bytes_total"), "lane=\"summary\"", U(bytes), "Bytes made for the analyzer." },
	{ 0 }
};

static const struct metrics_counter incident_lane[] = {
	{ N("lane_in_total"), "lane=\"incident\"", U(in), "Messages put on the lane: delivered + spooled + dropped." },
	{ N("lane_delivered_total"), "lane=\"incident\"", U(delivered), "Messages that the receiver is responsible for." },
	{ N("lane_dropped_total"), "lane=\"incident\",reason=\"full\"", U(dropped_full), "Messages dropped." },
	{ N("lane_dropped_total"), "lane=\"incident\",reason=\"write\"", U(dropped_write), "Messages dropped." },
	{ N("lane_dropped_total"), "lane=\"incident\",reason=\"off\"", U(dropped_off), "Messages dropped." },
	{ N("upstream_bytes_total"), "lane=\"incident\"", U(bytes), "Bytes made for the analyzer." },
	{ 0 }
};

/* clang-format on */

/* The first of a lane to be scraped, so it also brings its counters up to date. */
static double
read_spooled_summary(const void *arg)
{
	return (double)uplink_spooled((struct uplink *)arg, WIRE_LANE_SUMMARY);
}

static double
read_spooled_incident(const void *arg)
{
	return (double)uplink_spooled((struct uplink *)arg, WIRE_LANE_INCIDENT);
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
add_spools(struct uplink *uplink, struct rm_metrics *metrics)
{
	static const struct {
		enum wire_lane lane;
		const char *label;
	} lanes[] = { { WIRE_LANE_SUMMARY, "lane=\"summary\"" },
		{ WIRE_LANE_INCIDENT, "lane=\"incident\"" } };
	int r = 0;

	for (size_t i = 0; r == 0 && i < 2; i++) {
		const struct rm_spool_counts *counts =
		    uplink_spool_counts(uplink, lanes[i].lane);

		if (counts == NULL)
			continue;
		r = metrics_table_add(metrics, spool_counters, counts, lanes[i].label);
		if (r == 0)
			r = rm_metrics_gauge(metrics, uplink, N("spool_durable"),
			    lanes[i].label, "1 when what the lane promises is on disk.",
			    read_durable, counts);
	}
	return r;
}

int
lane_metrics_register(
    struct uplink *uplink, const struct analyzer_link *link, struct rm_metrics *metrics)
{
	const struct {
		const char *name, *label, *help;
		double (*read)(const void *arg);
		const void *arg;
	} gauges[] = {
		{ N("lane_spooled"), "lane=\"summary\"", "Messages not yet delivered.",
		    read_spooled_summary, uplink },
		{ N("lane_spooled"), "lane=\"incident\"", "Messages not yet delivered.",
		    read_spooled_incident, uplink },
		{ N("analyzer_connected"), "", "1 with a session.", read_analyzer,
		    link },
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(gauges) / sizeof(gauges[0]); i++)
		r = rm_metrics_gauge(metrics, uplink, gauges[i].name, gauges[i].label,
		    gauges[i].help, gauges[i].read, gauges[i].arg);
	if (r == 0)
		r = metrics_table_add(metrics, summary_lane,
		    uplink_counts(uplink, WIRE_LANE_SUMMARY), "");
	if (r == 0)
		r = metrics_table_add(metrics, incident_lane,
		    uplink_counts(uplink, WIRE_LANE_INCIDENT), "");
	if (r == 0)
		r = metrics_table_add(
		    metrics, analyzer_counters, analyzer_link_counts(link), "");
	return r < 0 ? r : add_spools(uplink, metrics);
}
