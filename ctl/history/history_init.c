#include "ctl/history/history_init.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "ctl/client/ctl.h"
#include "ctl/client/duration.h"
#include "ctl/history/influx.h"

/* Returns the row with this name in the answer to a SHOW; NULL: there is none. */
static const json_t *
find_row(const json_t *list, const char *name)
{
	const json_t *row;
	size_t i;

	json_array_foreach (
	    json_object_get(json_array_get(list, 0), "values"), i, row) {
		const char *first = json_string_value(json_array_get(row, 0));

		if (first != NULL && strcmp(first, name) == 0)
			return row;
	}
	return NULL;
}

static int
make_database(const struct influx_place *place)
{
	char statement[512];
	json_t *list = NULL;
	bool there;
	int r;

	r = influx_query(place, "SHOW DATABASES", &list);
	if (r < 0)
		return r;
	there = find_row(list, place->database) != NULL;
	json_decref(list);
	if (there) {
		printf("Database \"%s\" exists already.\n", place->database);
		return 0;
	}
	snprintf(
	    statement, sizeof(statement), "CREATE DATABASE \"%s\"", place->database);
	r = influx_query(place, statement, NULL);
	if (r == 0)
		printf("Database \"%s\" made.\n", place->database);
	return r;
}

static int
make_policy(const struct influx_place *place, const char *name, const char *duration,
    bool is_default)
{
	char statement[512];
	json_t *list = NULL;
	const json_t *row;
	const char *have;
	bool there, same;
	int r;

	snprintf(statement, sizeof(statement), "SHOW RETENTION POLICIES ON \"%s\"",
	    place->database);
	r = influx_query(place, statement, &list);
	if (r < 0)
		return r;
	/* The columns are: name, duration ("336h0m0s"), shard duration, replicas,
	 * default. */
	row = find_row(list, name);
	there = row != NULL;
	have = json_string_value(json_array_get(row, 1));
	same = there && have != NULL && duration_ns(have) == duration_ns(duration) &&
	       (!is_default || json_is_true(json_array_get(row, 4)));
	json_decref(list);
	if (same) {
		printf("Retention policy \"%s\" keeps %s already.\n", name, duration);
		return 0;
	}
	snprintf(statement, sizeof(statement),
	    "%s RETENTION POLICY \"%s\" ON \"%s\" DURATION %s REPLICATION 1%s",
	    there ? "ALTER" : "CREATE", name, place->database, duration,
	    is_default ? " DEFAULT" : "");
	r = influx_query(place, statement, NULL);
	if (r == 0)
		printf("Retention policy \"%s\" %s: keeps %s%s.\n", name,
		    there ? "changed" : "made", duration,
		    is_default ? ", the default" : "");
	return r;
}

/* The hourly rows, by all tags. RTTs and delays have the median of the rows' medians,
 * and the maximum: percentiles of an hour cannot be computed from percentiles of
 * shorter times. */
#define TOTAL(name) "sum(\"" name "\") AS \"" name "\""
#define SUM(name) TOTAL(name) ", "
#define WORST(name) "max(\"" name "\") AS \"" name "\""
#define TERM(name)                                       \
	"percentile(\"" name "_p50_ns\", 50) AS \"" name \
	"_p50_ns\", " WORST(name "_p99_ns") ", " WORST(name "_max_ns")
#define HOURLY             \
	SUM("sent")        \
	SUM("ok")          \
	SUM("no_reply")    \
	SUM("late_reply")  \
	SUM("send_failed") \
	SUM("sent_late")   \
	SUM("stale_qpn")   \
	SUM("self_loss")   \
	SUM("invalid")     \
	WORST("bad")       \
	", " TERM("rtt") ", " TERM("prober_delay") ", " TERM("responder_delay")
#define SLA SUM("sent") SUM("lost") SUM("available") SUM("unavailable") TOTAL("unknown")
#define DIRECTIONS SUM("lost_forward") SUM("lost_reverse") SUM("lost_unknown")
#define MARKS SUM("arrived") SUM("rewritten") SUM("congested")
#define LEAST(name) "min(\"" name "\") AS \"" name "\", "
#define HOPS SUM("hops_known") SUM("hops") LEAST("hops_least") WORST("hops_most") ", "

/* Past hours are computed again for some time, because points may come late out of a
 * spool. */
static int
make_hourly(const struct influx_place *place, const char *measurement,
    const char *columns, const char *kept)
{
	char statement[4096];
	int r;

	snprintf(statement, sizeof(statement),
	    "DROP CONTINUOUS QUERY \"%s_hour\" ON \"%s\"", measurement,
	    place->database);
	r = influx_query(place, statement, NULL);
	if (r < 0)
		return r;
	snprintf(statement, sizeof(statement),
	    "CREATE CONTINUOUS QUERY \"%s_hour\" ON \"%s\" RESAMPLE FOR 6h BEGIN "
	    "SELECT %s INTO \"%s\".\"" HISTORY_POLICY_INCIDENTS "\".\"%s_hour\" "
	    "FROM \"%s\".\"" HISTORY_POLICY_RAW "\".\"%s\" "
	    "GROUP BY time(1h), * END",
	    measurement, place->database, columns, place->database, measurement,
	    place->database, measurement);
	r = influx_query(place, statement, NULL);
	if (r == 0)
		printf(
		    "Continuous query \"%s_hour\" made: every hour of %s, kept %s.\n",
		    measurement, measurement, kept);
	return r;
}

static void
report_what_to_configure(const struct influx_place *place)
{
	printf("\nIn the analyzer's configuration:\n\n"
	       "influx:\n"
	       "  url: %s\n"
	       "  database: %s\n"
	       "  retention_policy: " HISTORY_POLICY_RAW "\n"
	       "  incident_retention_policy: " HISTORY_POLICY_INCIDENTS "\n",
	    place->url, place->database);
}

int
history_init(const struct influx_place *place, const char *raw, const char *incidents)
{
	enum influx_kind kind;
	int r;

	r = influx_kind(place, &kind);
	if (r < 0)
		return CTL_NO_ANSWER;
	switch (kind) {
	case INFLUX_VICTORIA:
		printf("%s is VictoriaMetrics: there is nothing to create. Its "
		       "option\n-retentionPeriod sets how long it keeps points.\n",
		    place->url);
		return CTL_GOOD;
	case INFLUX_2:
		printf("%s is InfluxDB 2: make a bucket and a token there,\n\n"
		       "  influx bucket create --name %s --retention %s\n"
		       "  influx auth create --read-buckets --write-buckets\n\n"
		       "and set influx.version: 2, influx.org, influx.bucket and "
		       "influx.token_file.\n",
		    place->url, place->database, raw);
		return CTL_GOOD;
	case INFLUX_1:
		break;
	}
	r = make_database(place);
	if (r == 0)
		r = make_policy(place, HISTORY_POLICY_RAW, raw, true);
	if (r == 0)
		r = make_policy(place, HISTORY_POLICY_INCIDENTS, incidents, false);
	if (r == 0)
		r = make_hourly(
		    place, "rm_tor_pair", DIRECTIONS MARKS HOPS HOURLY, incidents);
	if (r == 0)
		r = make_hourly(place, "rm_rnic", HOURLY, incidents);
	if (r == 0)
		r = make_hourly(place, "rm_sla_rack", SLA, incidents);
	if (r < 0)
		return CTL_NO_ANSWER;
	report_what_to_configure(place);
	return CTL_GOOD;
}
