/* What a history tells of itself. */
#include <stddef.h>

#include "analyzer/history/history.h"
#include "rackmesh/metrics/metrics.h"
#include "rackmesh/spool/spool.h"

#define N(what) "rackmesh_analyzer_history_" what
#define C(field) offsetof(struct history_counts, field)
#define S(field) offsetof(struct rm_spool_counts, field)

struct counter {
	const char *name;
	size_t offset;
	const char *help;
};

/* clang-format off */
static const struct counter counters[] = {
	{ N("points_total"), C(points), "Points that went into the spools." },
	{ N("refused_messages_total"), C(refused_messages), "Messages that make no points." },
	{ N("left_out_points_total"), C(left_out_points),
	  "Rows that cannot be points, of messages whose other rows were taken." },
	{ N("refused_points_total"), C(refused_points), "Points the database has refused." },
	{ N("delivered_points_total"), C(delivered_points),
	  "Points the database has taken, or that are in files." },
	{ N("batches_total"), C(batches), "Batches disposed of." },
	{ N("failed_attempts_total"), C(failed_attempts), "Writes that were not simply taken." },
	{ N("splits_total"), C(splits), "Batches, or parts of one, that were halved." },
	{ N("config_faults_total"), C(config_faults),
	  "Writes that failed for what a person has to mend: 401, 403, 404." },
};

static const struct counter spool_counters[] = {
	{ N("spool_in_total"), S(in), "Records that went into the spool." },
	{ N("spool_found_total"), S(found), "Records that the last life has left." },
	{ N("spool_done_total"), S(done), "Records that are done with." },
	{ N("spool_dropped_total"), S(dropped_full), "Oldest records pushed out by new ones." },
	{ N("spool_refused_total"), S(refused), "Records for which there was no memory." },
	{ N("spool_quarantined_total"), S(quarantined), "Corrupt parts set aside." },
	{ N("spool_corrupt_bytes_total"), S(lost_corrupt_bytes), "Bytes in such parts." },
	{ N("spool_failed_writes_total"), S(failed_writes), "Writes that failed." },
	{ N("spool_failed_syncs_total"), S(failed_syncs), "Syncs that failed." },
	{ N("spool_syncs_total"), S(syncs), "Group commits." },
	{ N("spool_written_bytes_total"), S(written_bytes), "Bytes written." },
};
/* clang-format on */

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static double
read_waiting_summaries(const void *arg)
{
	return (double)history_waiting(arg, WIRE_LANE_SUMMARY);
}

static double
read_waiting_incidents(const void *arg)
{
	return (double)history_waiting(arg, WIRE_LANE_INCIDENT);
}

static double
read_durable(const void *arg)
{
	return (double)((const struct rm_spool_counts *)arg)->durable;
}

static int
add_durable(struct rm_metrics *metrics, struct history *history, const char *labels,
    enum wire_lane lane)
{
	return rm_metrics_gauge(metrics, history, N("spool_durable"), labels,
	    "1 when what waits is on disk, 0 while memory is all there is.",
	    read_durable, history_spool_counts(history, lane));
}

static double
read_trouble(const void *arg)
{
	return history_trouble(arg)[0] != '\0';
}

static int
add(struct rm_metrics *metrics, const void *owner, const char *labels,
    const struct counter *table, size_t count, const void *base)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++)
		r = rm_metrics_counter(metrics, owner, table[i].name, labels,
		    table[i].help,
		    (const uint64_t *)((const char *)base + table[i].offset));
	return r;
}

int
history_metrics(struct history *history, struct rm_metrics *metrics)
{
	int r = add(
	    metrics, history, "", counters, COUNT(counters), history_counts(history));

	if (r == 0)
		r = add(metrics, history, "lane=\"summary\"", spool_counters,
		    COUNT(spool_counters),
		    history_spool_counts(history, WIRE_LANE_SUMMARY));
	if (r == 0)
		r = add(metrics, history, "lane=\"incident\"", spool_counters,
		    COUNT(spool_counters),
		    history_spool_counts(history, WIRE_LANE_INCIDENT));
	if (r == 0)
		r = rm_metrics_gauge(metrics, history, N("waiting_records"),
		    "lane=\"summary\"", "Records not yet written.",
		    read_waiting_summaries, history);
	if (r == 0)
		r = rm_metrics_gauge(metrics, history, N("waiting_records"),
		    "lane=\"incident\"", "Records not yet written.",
		    read_waiting_incidents, history);
	if (r == 0)
		r = add_durable(
		    metrics, history, "lane=\"summary\"", WIRE_LANE_SUMMARY);
	if (r == 0)
		r = add_durable(
		    metrics, history, "lane=\"incident\"", WIRE_LANE_INCIDENT);
	if (r == 0)
		r = rm_metrics_gauge(metrics, history, N("trouble"), "",
		    "1 while something stands in the way of points.", read_trouble,
		    history);
	return r;
}
