#include "analyzer/history/history_schema.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
#define TAG(name, help) { name, RM_LINE_TAG, "", help }
#define COUNT(name, unit, help) { name, RM_LINE_INTEGER, unit, help, HISTORY_MERGE_SUM }
#define LEVEL(name, unit, help) { name, RM_LINE_INTEGER, unit, help, HISTORY_MERGE_LARGEST }
#define FLAG(name, help) LEVEL(name, "0, 1", help)
#define TIME(name, help) { name, RM_LINE_INTEGER, "ns", help }
#define NAMES(name, help) { name, RM_LINE_STRING, "", help }

#define HEAD                                                                               \
	TAG("region", "region of the rack"),                                               \
	TAG("aggregator", "the aggregator that reported the row; for rows of the analyzer itself, its name")

#define OUTCOMES                                                                           \
	COUNT("sent", "probes", "probes that ended within the window, with any outcome"),           \
	COUNT("ok", "probes", "answered in time"),                                         \
	COUNT("no_reply", "probes", "lost: sent in time, but not answered within the time-out"), \
	COUNT("late_reply", "probes", "answered after the time-out"),                      \
	COUNT("send_failed", "probes", "probes that could not be sent"),                   \
	COUNT("sent_late", "probes", "not answered, and sent late because the host stalled"), \
	COUNT("stale_qpn", "probes", "not answered, because they were sent to a QPN that has changed"), \
	COUNT("self_loss", "probes", "not answered while a queue of the prober's host overflowed"), \
	COUNT("invalid", "probes", "answered, with an impossible time stamp")

#define QUANTILES(term, what)                                                              \
	LEVEL(term "_p50_ns", "ns", what ", median"),                                      \
	LEVEL(term "_p95_ns", "ns", what ", 95th percentile"),                             \
	LEVEL(term "_p99_ns", "ns", what ", 99th percentile"),                             \
	LEVEL(term "_max_ns", "ns", what ", largest")

#define TERMS                                                                              \
	QUANTILES("rtt", "network round trip (T5-T2)-(T4-T3)"),                            \
	QUANTILES("prober_delay", "prober delay (T6-T1)-(T5-T2)"),                         \
	QUANTILES("responder_delay", "responder delay T4-T3")

#define DIRECTIONS                                                                         \
	COUNT("lost_forward", "probes", "lost on the way to the responder, by its receive count"), \
	COUNT("lost_reverse", "probes", "lost on the way back to the prober"),             \
	COUNT("lost_unknown", "probes", "lost in an unknown direction")

static const struct history_column path_columns[] = {
	HEAD,
	TAG("src_tor", "ToR of the probers"),
	TAG("dst_tor", "ToR of the responders"),
	TAG("dscp", "class that was probed"),
	OUTCOMES,
	DIRECTIONS,
	COUNT("arrived", "probes", "probes for which the DSCP and ECN at the responder are known"),
	COUNT("rewritten", "probes", "arrived probes with another class than they were sent with"),
	COUNT("congested", "probes", "arrived probes with a congestion mark (ECN CE)"),
	{ "arrived_dscp", RM_LINE_INTEGER, "DSCP", "DSCP of the last of the rewritten probes" },
	COUNT("hops_known", "probes", "arrived probes whose TTL at the responder is known"),
	COUNT("hops", "hops", "routers that these probes passed, by their TTL, in all"),
	{ "hops_least", RM_LINE_INTEGER, "hops", "on the shortest of their paths", HISTORY_MERGE_SMALLEST },
	LEVEL("hops_most", "hops", "on the longest of their paths: more than before means a detour"),
	FLAG("bad", "1: so many probes were lost that the row is reported at once"),
	NAMES("flow_set", "\"all\", or the source ports with losses"),
	TERMS,
	{ 0 },
};

static const struct history_column route_columns[] = {
	HEAD,
	TAG("src_tor", "ToR of the probers"),
	TAG("dst_tor", "ToR of the responders"),
	TAG("dscp", "class that was probed"),
	TIME("start_ns", "start of the counted time, since the epoch; its end is the time of the point"),
	COUNT("sent", "probes", "probes along this path"),
	DIRECTIONS,
	LEVEL("flows", "flows", "flows that took this path"),
	LEVEL("flows_dead", "flows", "flows without a single answer"),
	COUNT("arrived", "probes", "probes for which the DSCP and ECN at the responder are known"),
	COUNT("rewritten", "probes", "arrived probes with another class than they were sent with"),
	COUNT("congested", "probes", "arrived probes with a congestion mark (ECN CE)"),
	COUNT("not_ect", "probes", "arrived probes whose ECN field was set to 0 on the way: switches drop instead of marking"),
	NAMES("path", "hops as switch@address, by trace; \"\": not traced; \"*\": several"),
	NAMES("samples", "up to 8 flows with losses"),
	{ 0 },
};

static const struct history_column rnic_columns[] = {
	HEAD,
	TAG("tor", "ToR of this row's attachment"),
	TAG("host", "its host"),
	TAG("device", "its device"),
	TAG("rnic", "node GUID and port, or MAC"),
	OUTCOMES,
	FLAG("bad", "1: judged bad at the end of the window"),
	TERMS,
	{ 0 },
};

static const struct history_column rack_columns[] = {
	HEAD,
	TAG("tor", "ToR of the rack"),
	TIME("start_ns", "start of the window, since the epoch; the end is the point's time"),
	FLAG("partial", "1: the window was cut by a restart or a stall of the aggregator"),
	LEVEL("taken", "results", "raw results so far: the sum of the next four columns"),
	LEVEL("windowed", "results", "results counted in a window, so far"),
	LEVEL("late", "results", "results that arrived after their window had closed, so far"),
	LEVEL("invalid", "results", "results with impossible values, so far"),
	LEVEL("duplicate", "results", "results that arrived twice, so far"),
	LEVEL("agent_dropped", "results", "results that agents dropped, so far"),
	LEVEL("rnics", "RNICs", "RNICs in the plan"),
	LEVEL("rnics_good", "RNICs", "RNICs judged good; RNICs that are neither good nor bad are unknown"),
	LEVEL("rnics_bad", "RNICs", "RNICs judged bad"),
	LEVEL("hosts", "hosts", "hosts in the plan"),
	LEVEL("hosts_ok", "hosts", "hosts whose agents report"),
	LEVEL("incidents_open", "incidents", "open incidents of the rack"),
	LEVEL("plan_version", "version", "version of the plan in force"),
	LEVEL("brake_permille", "1/1000", "share of the planned rate that the brake allows"),
	LEVEL("hosts_slowed", "hosts", "hosts whose agents probe less because of their own limits"),
	{ 0 },
};

static const struct history_column incident_columns[] = {
	HEAD,
	TAG("tor", "ToR of the rack that found it; no value for incidents that the analyzer found"),
	TAG("part_type", "rnic, host, agent, tor, link, switch, path, rack, ..."),
	TAG("part", "its name"),
	TAG("place", "its place, if it has a fixed one"),
	TAG("state", "opened, updated, resolved; if an opening is repeated as an update at the same time, both are stored"),
	NAMES("id", "id of this opening, hexadecimal"),
	NAMES("kind", "what is wrong with the part"),
	NAMES("severity", "critical, major, warning: severity of its alert when it opened"),
	NAMES("impact", "P0: a service on the part is degraded; P1: a service uses "
	    "it; P2: no service uses it; unknown"),
	NAMES("services", "services that use the part, or are affected by its fault"),
	NAMES("links", "links of a switch that are at fault together, separated by commas; no value if not all of them are known, and for other incidents"),
	{ "confidence", RM_LINE_FLOAT, "0..1", "confidence of the verdict" },
	TIME("began_ns", "start of the first window that showed it, since the epoch"),
	TIME("opened_ns", "when it was opened, since the epoch"),
	NAMES("sentence", "the evidence in one sentence"),
	NAMES("evidence", "counts, samples, what was ruled out: JSON"),
	{ 0 },
};

#define SLA                                                                                \
	COUNT("sent", "probes", "probes whose result became final within the minute"), \
	COUNT("lost", "probes", "sent probes that were lost"),                                         \
	COUNT("invalid", "probes", "sent probes with impossible time stamps"),               \
	COUNT("not_sent", "probes", "probes that were not sent, or were sent late"),       \
	COUNT("racks_available", "racks", "racks that lost less than the threshold"),                 \
	COUNT("racks_unavailable", "racks", "racks that lost the threshold or more"), \
	COUNT("racks_unknown", "racks", "racks without results: they count as not available"),                 \
	QUANTILES("rtt", "network round trip")

static const struct history_column sla_columns[] = {
	TAG("region", "region"),
	TAG("aggregator", "the analyzer's name"),
	TAG("scope", "rack: inside racks; fabric: between them"),
	TAG("dscp", "class that was probed"),
	SLA,
	{ 0 },
};

static const struct history_column sla_service_columns[] = {
	TAG("region", "region"),
	TAG("aggregator", "the analyzer's name"),
	TAG("service", "name of the service on its host: a unit, a pod, a job"),
	TAG("dscp", "class that was probed"),
	SLA,
	{ 0 },
};

static const struct history_column sla_rack_columns[] = {
	TAG("region", "region"),
	TAG("aggregator", "the analyzer's name"),
	TAG("tor", "ToR of the probers"),
	TAG("scope", "rack: to the same rack; fabric: to others"),
	TAG("dscp", "class that was probed"),
	COUNT("sent", "probes", "probes whose result became final within the minute"),
	COUNT("lost", "probes", "sent probes that were lost"),
	COUNT("available", "minutes", "1: it lost less than the threshold"),
	COUNT("unavailable", "minutes", "1: it lost the threshold or more"),
	COUNT("unknown", "minutes", "1: it had no results, which counts as not available"),
	{ 0 },
};

const struct history_measurement history_measurements[] = {
	{ "rm_tor_pair", HISTORY_RAW,
	  "Probes from one rack to another (or inside a rack) in one class: a row "
	  "every 10 s, and a row at once when its column bad becomes 1.", path_columns },
	{ "rm_path", HISTORY_RAW,
	  "One traced path between two racks on which probes were lost, or arrived with other "
	  "marks than they were sent with (rewritten, congested, not_ect): other rows are not "
	  "stored. Of the paths without losses, a rack stores at a time only the 32 with the largest share of such probes. The times of several paths of the same pair of racks differ by a nanosecond.", route_columns, true },
	{ "rm_rnic", HISTORY_RAW, "Probes of one RNIC: a row every 60 s, and a row at once when the RNIC becomes faulty.",
	  rnic_columns },
	{ "rm_rack", HISTORY_RAW, "The state of a rack, one row for each summary of its aggregator.",
	  rack_columns },
	{ "rm_incident", HISTORY_KEPT, "One opening, change or resolution of an incident.",
	  incident_columns },
	{ "rm_sla", HISTORY_KEPT, "One minute of a region and class; its time is the minute's "
	  "start.", sla_columns },
	{ "rm_sla_rack", HISTORY_RAW, "One minute of a rack and class; its time is the minute's start.", sla_rack_columns },
	{ "rm_sla_service", HISTORY_RAW, "One minute of a service, from the probes "
	  "that follow its flows; racks are those from which it was probed.", sla_service_columns },
	{ 0 },
};
/* clang-format on */

static const char *
type_str(enum rm_line_type type)
{
	static const char *const names[] = { [RM_LINE_TAG] = "tag",
		[RM_LINE_INTEGER] = "integer",
		[RM_LINE_FLOAT] = "float",
		[RM_LINE_STRING] = "string",
		[RM_LINE_BOOLEAN] = "boolean" };

	return names[type];
}

static const char *
merge_str(enum history_merge merge)
{
	static const char *const names[] = { [HISTORY_MERGE_NONE] = "",
		[HISTORY_MERGE_SUM] = "sum",
		[HISTORY_MERGE_LARGEST] = "largest",
		[HISTORY_MERGE_SMALLEST] = "smallest" };

	return names[merge];
}

static const struct history_measurement *
find_measurement(const char *name)
{
	for (size_t i = 0; history_measurements[i].name != NULL; i++)
		if (strcmp(history_measurements[i].name, name) == 0)
			return &history_measurements[i];
	return NULL;
}

static int
check_point(const struct rm_line_point *point, struct rm_error *error)
{
	const struct history_measurement *measurement =
	    find_measurement(point->measurement);

	if (measurement == NULL)
		return rm_error_set(
		    error, -EINVAL, "no such measurement: %s", point->measurement);
	for (size_t i = 0; i < point->column_count; i++) {
		const struct rm_line_column *have = &point->columns[i];
		const struct history_column *column = measurement->columns;

		while (column->name != NULL && strcmp(column->name, have->key) != 0)
			column++;
		if (column->name == NULL)
			return rm_error_set(error, -EINVAL, "%s has no %s %s",
			    measurement->name, type_str(have->type), have->key);
		if (column->type != have->type)
			return rm_error_set(error, -EINVAL,
			    "%s.%s: expected %s, not %s", measurement->name, have->key,
			    type_str(column->type), type_str(have->type));
		for (size_t j = 0; j < i; j++)
			if (strcmp(point->columns[j].key, have->key) == 0)
				return rm_error_set(error, -EINVAL, "%s.%s twice",
				    measurement->name, have->key);
	}
	return 0;
}

int
history_schema_check(const char *text, size_t len, struct rm_error *error)
{
	struct rm_line_point *point = malloc(sizeof(*point));
	char *copy = malloc(len + 1);
	size_t at = 0;
	int r = 0;

	if (point == NULL || copy == NULL) {
		r = rm_error_set(error, -ENOMEM, "out of memory");
		goto out;
	}
	memcpy(copy, text, len);
	while (r == 0 && at < len) {
		const char *end = memchr(text + at, '\n', len - at);

		if (end == NULL) {
			r = rm_error_set(error, -EINVAL, "the last line has no end");
			break;
		}
		if (rm_line_read(copy + at, (size_t)(end - text) - at, point) < 0)
			r = rm_error_set(error, -EINVAL, "no point: %.*s",
			    (int)((size_t)(end - text) - at), text + at);
		else
			r = check_point(point, error);
		at = (size_t)(end - text) + 1;
	}
out:
	free(copy);
	free(point);
	return r;
}

void
history_schema_print(FILE *out)
{
	fprintf(out,
	    "# The history: measurements, tags, fields\n"
	    "\n"
	    "`analyzer --help-schema` prints this page; the table is "
	    "`analyzer/history/history_schema.c`.\n"
	    "\n"
	    "Points are deterministic: the same message makes the same points, so "
	    "writing them twice\n"
	    "stores them once. The time of a point is the end of the interval that it "
	    "describes. Rows of summaries\n"
	    "(*raw*) are written to one retention policy, incidents and SLA figures "
	    "(*kept*) to another;\n"
	    "`rackmeshctl history init` creates both.\n"
	    "\n"
	    "VictoriaMetrics cuts times to milliseconds and drops strings. Of an "
	    "incident it stores the\n"
	    "part, its rack, state, severity and times, but not the kind, the id and "
	    "the sentence. Rows of\n"
	    "`rm_path` cannot be read from it. Its own `-retentionPeriod` applies to "
	    "everything, and there\n"
	    "are no `_hour` rows. All other questions get the same answers as with "
	    "InfluxDB.\n"
	    "\n"
	    "`GET /v1/history/` of the analyzer (api.md) reads the points again, from "
	    "the database that it\n"
	    "writes to, or from its files. With `step_s=` all points of a step are "
	    "merged into one, as\n"
	    "the column *merged* says; of percentiles the largest is used.\n"
	    "\n"
	    "With InfluxDB 1, `rackmeshctl history init` also creates continuous "
	    "queries: `rm_tor_pair_hour`,\n"
	    "`rm_rnic_hour` and `rm_sla_rack_hour` (*kept*) have a row for every hour "
	    "of the measurements\n"
	    "without `_hour`, with the same tags. Counts and minutes are sums, and "
	    "`bad` is 1 if it was 1 in\n"
	    "any row. For each duration there are the median of the rows' medians "
	    "(`_p50_ns`) and the largest\n"
	    "(`_p99_ns`, `_max_ns`). Each hour the last six hours are computed again, "
	    "so that points that\n"
	    "waited in a spool are counted; points that arrive later are not.\n");
	for (size_t i = 0; history_measurements[i].name != NULL; i++) {
		const struct history_measurement *at = &history_measurements[i];

		fprintf(out, "\n## %s (%s)\n\n%s\n\n", at->name,
		    at->retention == HISTORY_RAW ? "raw" : "kept", at->help);
		fprintf(out,
		    "| name | type | unit | merged | what |\n|---|---|---|---|---|\n");
		for (const struct history_column *column = at->columns;
		     column->name != NULL; column++)
			fprintf(out, "| `%s` | %s | %s | %s | %s |\n", column->name,
			    type_str(column->type), column->unit,
			    merge_str(column->merge), column->help);
	}
}
