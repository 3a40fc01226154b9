#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "ctl/client/ctl.h"
#include "ctl/client/query.h"
#include "ctl/client/show.h"
#include "ctl/output/table.h"

#define LIMIT 2000 /* the daemon's limit for findings */

static const struct column columns[] = {
	{ "HOST", "host", COLUMN_TEXT },
	{ "RNIC", "device", COLUMN_TEXT },
	{ "DIAGNOSIS", "diagnosis", COLUMN_TEXT },
	{ "SINCE", "since", COLUMN_TEXT },
	{ "EVIDENCE", "evidence", COLUMN_TEXT },
	{ 0 },
};

static const struct column pause_columns[] = {
	{ "PAUSES OF", "source", COLUMN_TEXT },
	{ "SWITCH", "switch", COLUMN_TEXT },
	{ "PORT", "port", COLUMN_TEXT },
	{ "DIAGNOSIS", "diagnosis", COLUMN_TEXT },
	{ "SINCE", "since", COLUMN_TEXT },
	{ "EVIDENCE", "evidence", COLUMN_TEXT },
	{ 0 },
};

/* The columns for each RNIC of a host: can the network be at fault? */
static const struct column network_columns[] = {
	{ "HOST", "host", COLUMN_TEXT },
	{ "DEVICE", "device", COLUMN_TEXT },
	{ "NETWORK", "network", COLUMN_TEXT },
	{ "BY", "network_evidence", COLUMN_TEXT },
	{ 0 },
};

static const struct column rule_columns[] = {
	{ "HOST", "host", COLUMN_TEXT },
	{ "RNIC", "device", COLUMN_TEXT },
	{ "NOT KNOWN", "diagnosis", COLUMN_TEXT },
	{ "NEEDS", "needs", COLUMN_TEXT },
	{ 0 },
};

static const struct column proof_columns[] = {
	{ "RACK", "tor", COLUMN_TEXT },
	{ "PROOF", "name", COLUMN_TEXT },
	{ "IS", "value", COLUMN_TEXT },
	{ "EVIDENCE", "evidence", COLUMN_TEXT },
	{ 0 },
};

/* ---- the proof ---- */

static void
add_row(json_t *rows, const json_t *rack, const char *name, const char *value,
    const char *evidence)
{
	json_t *row = json_object();

	json_object_set(row, "tor", json_object_get(rack, "tor"));
	json_object_set_new(row, "name", json_string(name));
	json_object_set_new(row, "value", json_string(value));
	json_object_set_new(row, "evidence", json_string(evidence));
	json_array_append_new(rows, row);
}

static const char *
text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text == NULL ? "" : text;
}

struct percent {
	char text[32];
};

/* Formats a percentage without an exponent: "0.025", "12.5", "1500". A value that is
 * not 0 is not printed as 0. */
static struct percent
percent(double pct)
{
	struct percent percent;

	if (pct > 0 && pct < 0.001)
		snprintf(percent.text, sizeof(percent.text), "<0.001");
	else
		snprintf(percent.text, sizeof(percent.text),
		    pct < 99.95 ? "%.3g" : "%.0f", pct < 1e15 ? pct : 1e15);
	return percent;
}

static void
add_ratio(json_t *rows, const json_t *rack, const json_t *ratio)
{
	const json_t *pct = json_object_get(ratio, "pct");
	const char *error = text_of(ratio, "error");
	char value[40], evidence[512];

	if (json_is_number(pct))
		snprintf(value, sizeof(value), "%s %%",
		    percent(json_number_value(pct)).text);
	else
		snprintf(value, sizeof(value), "%s",
		    json_is_true(json_object_get(ratio, "known")) ? "too few"
								  : "not known");
	snprintf(evidence, sizeof(evidence),
	    "%s: %" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT "%s%s",
	    text_of(ratio, "what"), json_integer_value(json_object_get(ratio, "of")),
	    json_integer_value(json_object_get(ratio, "per")),
	    error[0] == '\0' ? "" : "; ", error);
	add_row(rows, rack, text_of(ratio, "name"), value, evidence);
}

/* Writes "paused 40 % (h1/mlx5_0)". A counter that nobody reports is unknown, which
 * differs from 0. */
static size_t
report_share(
    char *out, size_t len, const json_t *side, const char *side_name, const char *key)
{
	const json_t *pct = json_object_get(side, key);
	const char *who = text_of(side, side_name);
	int written;

	if (json_is_number(pct))
		written = snprintf(out, len, "%s %s %%%s%s%s", side_name,
		    percent(json_number_value(pct)).text, who[0] == '\0' ? "" : " (",
		    who, who[0] == '\0' ? "" : ")");
	else
		written = snprintf(out, len, "%s not known", side_name);
	return written < 0 || (size_t)written >= len ? len - 1 : (size_t)written;
}

static size_t
report_frames(
    char *out, size_t len, const json_t *side, const char *side_name, const char *key)
{
	const json_t *frames = json_object_get(side, key);
	int written;

	if (json_is_integer(frames))
		written = snprintf(out, len, "%" JSON_INTEGER_FORMAT " frames %s, ",
		    json_integer_value(frames), side_name);
	else
		written = snprintf(out, len, "frames %s not known, ", side_name);
	return written < 0 || (size_t)written >= len ? len - 1 : (size_t)written;
}

static bool
is_known(const json_t *side)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)side, key, value)
		if (json_is_number(value))
			return true;
	return false;
}

static void
add_side(
    json_t *rows, const json_t *rack, const json_t *priority, const char *side_name)
{
	const json_t *side = json_object_get(priority, side_name);
	char name[32], evidence[512];
	const size_t size = sizeof(evidence);
	size_t len = 0;

	if (!is_known(side))
		return;
	snprintf(name, sizeof(name), "pfc priority %" JSON_INTEGER_FORMAT,
	    json_integer_value(json_object_get(priority, "priority")));
	len += report_frames(
	    evidence + len, size - len, side, "received", "frames_received");
	len += report_frames(evidence + len, size - len, side, "sent", "frames_sent");
	len += report_share(evidence + len, size - len, side, "paused", "paused_pct");
	len += (size_t)snprintf(
	    evidence + len, size - len, "%s", len + 2 < size ? ", " : "");
	report_share(evidence + len, size - len, side, "pausing", "pausing_pct");
	add_row(rows, rack, name, side_name, evidence);
}

static bool
any_failing(const json_t *answer)
{
	const json_t *rack, *each;
	size_t i, j;

	json_array_foreach (json_object_get(answer, "racks"), i, rack)
		json_array_foreach (json_object_get(rack, "answers"), j, each)
			if (strcmp(text_of(each, "state"), "failing") == 0)
				return true;
	return false;
}

static int
show_proof(const json_t *answer, const struct query *query)
{
	json_t *rows = json_array(), *rack, *each;
	size_t i, j;
	int r;

	json_array_foreach (json_object_get(answer, "racks"), i, rack) {
		json_array_foreach (json_object_get(rack, "answers"), j, each)
			add_row(rows, rack, text_of(each, "question"),
			    text_of(each, "state"), text_of(each, "sentence"));
		json_array_foreach (json_object_get(rack, "ratios"), j, each)
			add_ratio(rows, rack, each);
		json_array_foreach (json_object_get(rack, "priorities"), j, each) {
			add_side(rows, rack, each, "host");
			add_side(rows, rack, each, "switch");
		}
	}
	r = query_rows(query, proof_columns, rows);
	json_decref(rows);
	if (r == CTL_GOOD && json_array_size(json_object_get(answer, "racks")) == 0) {
		fprintf(stderr, "rackmeshctl: no such rack in the aggregator's answer: "
				"name one of its ToRs\n");
		r = CTL_NO_ANSWER;
	}
	return r == CTL_GOOD && any_failing(answer) ? CTL_PROBLEM : r;
}

/* ---- the diagnoses ---- */

static void
warn_of_gaps(const json_t *answer)
{
	if (json_integer_value(json_object_get(answer, "rnics_reported")) == 0)
		fprintf(stderr, "rackmeshctl: no agent has reported counters: older "
				"ones do not, nor do those with counters.enabled: "
				"false\n");
	if (json_integer_value(json_object_get(answer, "finding_count")) > LIMIT)
		fprintf(stderr,
		    "rackmeshctl: only the first %d findings are shown: name a host\n",
		    LIMIT);
}

/* Prints, for each RNIC, the diagnoses that cannot be made and the counter that is
 * missing for them. */
static int
show_not_known(const json_t *answer, const struct query *query)
{
	json_t *rows = json_array(), *rnic, *needs;
	const char *diagnosis;
	size_t i;
	int r;

	json_array_foreach (json_object_get(answer, "rnics"), i, rnic) {
		json_t *missing = json_object_get(rnic, "not_known");

		json_object_foreach (missing, diagnosis, needs) {
			json_t *row = json_object();

			json_object_set(row, "host", json_object_get(rnic, "host"));
			json_object_set(row, "device", json_object_get(rnic, "device"));
			json_object_set_new(row, "diagnosis", json_string(diagnosis));
			json_object_set(row, "needs", needs);
			json_array_append_new(rows, row);
		}
	}
	warn_of_gaps(answer);
	r = query_rows(query, rule_columns, rows);
	json_decref(rows);
	return r;
}

/* An empty table may mean that all is well, or that nothing is known. */
static void
explain_no_finding(const json_t *answer, const struct query *query)
{
	const bool one_host = query->filters[0] != NULL;
	const json_int_t reported =
	    one_host ? (json_int_t)json_array_size(json_object_get(answer, "rnics"))
		     : json_integer_value(json_object_get(answer, "rnics_reported"));

	if (reported > 0)
		fprintf(stderr,
		    "rackmeshctl: no finding in the counters of %lld RNIC%s\n",
		    (long long)reported, reported == 1 ? "" : "s");
	else if (one_host)
		fprintf(stderr, "rackmeshctl: no RNIC of this name has reported "
				"counters\n");
}

static int
show(const json_t *answer, const struct query *query)
{
	const json_t *pauses = json_object_get(answer, "pauses");
	int r;

	warn_of_gaps(answer);
	r = query_rows(query, columns, json_object_get(answer, "findings"));
	if (json_array_size(json_object_get(answer, "findings")) == 0)
		explain_no_finding(answer, query);
	if (r == CTL_GOOD && query->filters[0] != NULL && !query->json) {
		printf("\n");
		r = query_rows(
		    query, network_columns, json_object_get(answer, "rnics"));
	}
	if (r == CTL_GOOD && query->filters[0] == NULL && json_array_size(pauses) > 0) {
		if (!query->json)
			printf("\n");
		r = query_rows(query, pause_columns, pauses);
	}
	return r;
}

int
ctl_diagnosis(const struct ctl *ctl)
{
	struct query query = { "/v1/diagnosis", "findings", LIMIT,
		{ "host", "device" } };
	bool not_known = false, proof = false;
	size_t count = 0;

	for (int i = 0; i < ctl->argc; i++) {
		if (strcmp(ctl->argv[i], "--not-known") == 0)
			not_known = true;
		else if (strcmp(ctl->argv[i], "--proof") == 0)
			proof = true;
		else if (count < QUERY_FILTERS && ctl->argv[i][0] != '-')
			query.filters[count++] = ctl->argv[i];
		else
			return ctl_usage(
			    "expected: diagnosis [HOST [DEVICE]] [--not-known], or "
			    "diagnosis --proof [TOR]");
	}
	if (proof && (not_known || count > 1))
		return ctl_usage("expected: diagnosis --proof [TOR]");
	if (not_known && count == 0)
		return ctl_usage("--not-known: name a host");
	if (!proof)
		return query_show(
		    &query, ctl, ctl->aggregator, not_known ? show_not_known : show);
	query.path = "/v1/proof";
	query.list = "racks";
	query.limit = 0;
	query.keys[0] = "tor";
	return query_show(&query, ctl, ctl->aggregator, show_proof);
}
