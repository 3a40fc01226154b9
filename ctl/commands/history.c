#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/client/ctl.h"
#include "ctl/client/duration.h"
#include "ctl/client/request.h"
#include "ctl/history/history_init.h"
#include "ctl/history/history_paths.h"
#include "ctl/history/history_rows.h"
#include "ctl/history/influx.h"
#include "rackmesh/core/clock.h"
#include "rackmesh/judge/part.h"

#define PATIENCE_S 25 /* seconds; the analyzer's time-out is 20 s */
/* Incidents that were opened long before the span are searched by their ends, up to
 * this time after the span. */
#define AFTER_NS (31 * 86400 * RM_NS_PER_S)
/* the analyzer's clock may be this much ahead of this one */
#define AHEAD_NS (60 * RM_NS_PER_S)
/* maximum number of answers to read; each has up to 10,000 incidents */
#define ANSWERS 10
#define LONGEST_STEP_S (30 * 86400) /* maximum of the analyzer */

struct history_options {
	const char *since, *at, *region; /* NULL: not given */
	struct influx_place place;   /* place: used by init, like the members below */
	const char *raw, *incidents; /* retention times */
	const char *password_file;
};

/* Returns 0, or an exit code. */
static int
parse(const struct ctl *ctl, int first, bool init, struct history_options *options)
{
	const struct {
		const char *name;
		bool init;
		const char **value;
	} parameters[] = { { "--since", false, &options->since },
		{ "--at", false, &options->at },
		{ "--region", false, &options->region },
		{ "--url", true, &options->place.url },
		{ "--database", true, &options->place.database },
		{ "--user", true, &options->place.user },
		{ "--password-file", true, &options->password_file },
		{ "--retention-raw", true, &options->raw },
		{ "--retention-incidents", true, &options->incidents } };

	for (int i = first; i < ctl->argc; i += 2) {
		size_t w = 0;

		while (w < sizeof(parameters) / sizeof(parameters[0]) &&
		       (parameters[w].init != init ||
			   strcmp(parameters[w].name, ctl->argv[i]) != 0))
			w++;
		if (w == sizeof(parameters) / sizeof(parameters[0]))
			return ctl_usage(
			    "history%s has no %s", init ? " init" : "", ctl->argv[i]);
		if (i + 1 == ctl->argc)
			return ctl_usage("%s needs a value", ctl->argv[i]);
		*parameters[w].value = ctl->argv[i + 1];
	}
	if (options->region != NULL && !rm_name_valid(options->region))
		return ctl_usage("--region: " RM_NAME_EXPECTED);
	if (!rm_name_valid(options->place.database))
		return ctl_usage("--database: " RM_NAME_EXPECTED);
	if (duration_ns(options->since) <= 0 || duration_ns(options->raw) <= 0 ||
	    duration_ns(options->incidents) <= 0)
		return ctl_usage("expected a time like 90s, 15m, 6h, 14d");
	if (duration_ns(options->since) > HISTORY_LONGEST_NS)
		return ctl_usage("--since: at most 400d");
	if (options->password_file != NULL &&
	    influx_password(&options->place, options->password_file) < 0)
		return CTL_NO_ANSWER;
	return 0;
}

/* text: "host/device", an RNIC's id, "tor1->tor2", a ToR or another part; NULL: the
 * whole region, or all regions. False: text is none of these. */
static bool
read_subject(const char *text, const char *region, struct history_subject *subject)
{
	const char *slash = text != NULL ? strchr(text, '/') : NULL;
	const char *pair = text != NULL ? strstr(text, "->") : NULL;
	struct rm_rnic_id id;

	*subject = (struct history_subject){ .text = text };
	if (text == NULL) {
		subject->text = region != NULL ? region : "all regions";
		subject->whole = true;
		return true;
	}
	if (rm_rnic_id_parse(text, &id) == 0) {
		char canonical[RM_RNIC_ID_TEXT];

		rm_rnic_id_format(id, canonical);
		snprintf(subject->rnic, sizeof(subject->rnic), "%s", canonical);
		return true;
	}
	if (pair != NULL) {
		if ((size_t)(pair - text) >= sizeof(subject->tor))
			return false;
		memcpy(subject->tor, text, (size_t)(pair - text));
		snprintf(subject->dst_tor, sizeof(subject->dst_tor), "%s", pair + 2);
		return rm_name_valid(subject->tor) && rm_name_valid(pair + 2);
	}
	if (slash == NULL) {
		snprintf(subject->tor, sizeof(subject->tor), "%s", text);
		return rm_name_valid(text);
	}
	if ((size_t)(slash - text) >= sizeof(subject->host))
		return false;
	memcpy(subject->host, text, (size_t)(slash - text));
	snprintf(subject->device, sizeof(subject->device), "%s", slash + 1);
	return rm_name_valid(subject->host) && rm_name_valid(slash + 1);
}

/* Computes the span: the time before now, or the time around --at. */
static int
read_span(const struct history_options *options, struct history_span *ret)
{
	const int64_t length_ns = duration_ns(options->since);
	rm_wall_t now = rm_wall_now(), until = now;

	if (options->at != NULL) {
		if (!rm_wall_parse(options->at, &until))
			return ctl_usage("--at: expected a time in UTC, as "
					 "2026-01-31T04:10:00Z, not %s",
			    options->at);
		if (until.ns > now.ns + AHEAD_NS)
			return ctl_usage("--at: %s is in the future, there is no "
					 "history of it",
			    options->at);
		until.ns += length_ns / 2;
		if (until.ns > now.ns)
			until = now;
	}
	*ret = history_span(until.ns, length_ns);
	return 0;
}

struct asking { /* id of an RNIC or ToR, and region; NULL: all */
	const struct ctl *ctl;
	const char *region;
};

/* Sends GET /v1/history/. parameters: further parameters, from '&' on. Returns an exit
 * code. */
static int
ask(const struct asking *asking, const char *measurement, int64_t from_ns,
    int64_t to_ns, const char *parameters, json_t **ret)
{
	char from[RM_WALL_TEXT], to[RM_WALL_TEXT], path[1024];

	rm_wall_format((rm_wall_t){ from_ns }, from);
	rm_wall_format((rm_wall_t){ to_ns }, to);
	snprintf(path, sizeof(path), "/v1/history/%s?from=%s&to=%s%s%s%s", measurement,
	    from, to, parameters, asking->region != NULL ? "&region=" : "",
	    asking->region != NULL ? asking->region : "");
	*ret = NULL;
	return request_get(asking->ctl->analyzer, path, ret) < 0 ? CTL_NO_ANSWER
								 : CTL_GOOD;
}

static int
report_answer(const struct ctl *ctl, int r)
{
	if (r == 0)
		return CTL_GOOD;
	if (r == -EBADMSG)
		fprintf(stderr,
		    "rackmeshctl: %s answered with something that is not a history\n",
		    ctl->analyzer);
	else if (r == -EPROTO)
		fprintf(stderr,
		    "rackmeshctl: the analyzer at %s does not merge rows by ?step_s=: "
		    "it "
		    "is older than this rackmeshctl and must be upgraded\n",
		    ctl->analyzer);
	else
		fprintf(stderr, "rackmeshctl: out of memory\n");
	return CTL_NO_ANSWER;
}

static const char *
measurement_of(const struct history_subject *subject)
{
	return subject->whole            ? "rm_sla"
	       : subject->tor[0] != '\0' ? "rm_tor_pair"
					 : "rm_rnic";
}

struct filter {
	char text[192]; /* "": all rows */
};

/* The parameters that choose the subject's rows of probes. */
static struct filter
subject_filter(const struct history_subject *subject)
{
	struct filter ret = { "" };

	/* In valid names, only the '/' of an id has to be escaped. */
	if (subject->tor[0] != '\0')
		snprintf(ret.text, sizeof(ret.text), "&src_tor=%s%s%s", subject->tor,
		    subject->dst_tor[0] != '\0' ? "&dst_tor=" : "", subject->dst_tor);
	else if (subject->rnic[0] != '\0')
		snprintf(ret.text, sizeof(ret.text), "&rnic=%s", subject->rnic);
	else if (!subject->whole)
		snprintf(ret.text, sizeof(ret.text), "&host=%s&device=%s",
		    subject->host, subject->device);
	return ret;
}

static int
ask_probes(const struct asking *asking, const struct history_subject *subject,
    const struct history_span *span, struct history_rows *rows)
{
	char parameters[320];
	json_t *answer;
	int status;

	snprintf(parameters, sizeof(parameters), "%s&step_s=%" PRId64 "&columns=%s",
	    subject_filter(subject).text, span->bucket_ns / RM_NS_PER_S,
	    subject->whole ? HISTORY_REGION_COLUMNS : HISTORY_PROBE_COLUMNS);
	status = ask(asking, measurement_of(subject), span->from_ns, span->to_ns,
	    parameters, &answer);
	if (status == CTL_GOOD)
		status =
		    report_answer(asking->ctl, history_rows_take_probes(rows, answer));
	json_decref(answer);
	return status;
}

/* Asks for columns, and for newer ones: an older analyzer refuses a request for columns
 * that it does not have, and is asked again without them. filter: further parameters,
 * from '&' on. */
static int
ask_columns(const struct asking *asking, const char *measurement,
    const struct history_span *span, const char *filter, const char *columns,
    const char *newer, json_t **ret)
{
	char parameters[512], *refusal = NULL;
	size_t len = 0;
	FILE *memory = open_memstream(&refusal, &len);
	int status;

	snprintf(parameters, sizeof(parameters), "%s&limit=10000&columns=%s,%s", filter,
	    columns, newer);
	request_complain_to(memory);
	status = ask(asking, measurement, span->from_ns, span->to_ns, parameters, ret);
	request_complain_to(NULL);
	if (memory != NULL)
		fclose(memory);
	if (refusal != NULL && strstr(refusal, " has no column ") != NULL) {
		snprintf(parameters, sizeof(parameters), "%s&limit=10000&columns=%s",
		    filter, columns);
		status = ask(
		    asking, measurement, span->from_ns, span->to_ns, parameters, ret);
	} else if (refusal != NULL) {
		fputs(refusal, stderr);
	}
	free(refusal);
	return status;
}

/* Requests the paths of a pair of ToRs, as a list of history_paths. */
static int
ask_paths(const struct asking *asking, const struct history_subject *subject,
    const struct history_span *span, struct history_rows *rows)
{
	json_t *answer, *paths;
	int status = ask_columns(asking, "rm_path", span, subject_filter(subject).text,
	    HISTORY_PATH_COLUMNS, HISTORY_PATH_NEWER_COLUMNS, &answer);

	if (status != CTL_GOOD)
		return status;
	paths = history_paths(answer);
	if (json_is_true(json_object_get(answer, "truncated")))
		history_rows_cut(rows);
	json_decref(answer);
	if (paths == NULL)
		return report_answer(asking->ctl, -EBADMSG);
	history_rows_paths(rows, paths);
	return CTL_GOOD;
}

/* The answer for a part that several regions have. */
static int
refuse_regions(const char *what, const struct history_regions *regions)
{
	fprintf(stderr, "rackmeshctl: %s is in the regions", what);
	for (size_t i = 0; i < regions->count; i++)
		fprintf(stderr, "%s %s", i == 0 ? "" : ",", regions->names[i]);
	fprintf(stderr, ": choose one of them with --region\n");
	return CTL_USAGE;
}

/* Finds the region of a subject with probes, if --region was not given. Without probes,
 * e.g. for a switch, the region stays NULL. Two regions may have the same names: their
 * figures must not be added up. Ids of RNICs are unique. */
static int
learn_region(const struct asking *asking, const struct history_span *span,
    const struct history_subject *subject, struct history_regions *ret)
{
	char parameters[320];
	json_t *answer;
	int status;

	snprintf(parameters, sizeof(parameters),
	    "%s&by=region&step_s=%d&columns=" HISTORY_REGIONS_COLUMNS,
	    subject_filter(subject).text, LONGEST_STEP_S);
	status = ask(asking, measurement_of(subject), span->from_ns, span->to_ns,
	    parameters, &answer);
	history_regions_read(answer, ret);
	json_decref(answer);
	if (status == CTL_GOOD && ret->count > 1)
		status = refuse_regions(subject->text, ret);
	return status;
}

/* Finds host and device for an id, because incidents have these names and not the
 * id. */
static int
learn_name(const struct asking *asking, const struct history_span *span,
    struct history_subject *subject)
{
	const json_t *row;
	char parameters[128];
	json_t *answer;
	int status;

	snprintf(parameters, sizeof(parameters), "&rnic=%s&columns=host,device&limit=1",
	    subject->rnic);
	status =
	    ask(asking, "rm_rnic", span->from_ns, span->to_ns, parameters, &answer);
	/* The columns are in the order of the schema: time, host, device. */
	row = json_array_get(json_object_get(answer, "rows"), 0);
	if (json_is_string(json_array_get(row, 1)) &&
	    json_is_string(json_array_get(row, 2))) {
		snprintf(subject->host, sizeof(subject->host), "%s",
		    json_string_value(json_array_get(row, 1)));
		snprintf(subject->device, sizeof(subject->device), "%s",
		    json_string_value(json_array_get(row, 2)));
	}
	json_decref(answer);
	return status;
}

/* If the answer is truncated, returns the time of its last row, provided that it is
 * after from_ns. Rows with the same time are read again. INT64_MAX: there are no more
 * rows. */
static int64_t
next_time(const json_t *answer, int64_t from_ns)
{
	const json_t *list = json_object_get(answer, "rows");
	const char *last = json_string_value(
	    json_array_get(json_array_get(list, json_array_size(list) - 1), 0));
	rm_wall_t when;

	return json_is_true(json_object_get(answer, "truncated")) && last != NULL &&
		       rm_wall_parse(last, &when) && when.ns > from_ns
		   ? when.ns
		   : INT64_MAX;
}

/* filter: a further parameter, from '&' on. */
static int
ask_incident_rows(const struct asking *asking, int64_t from_ns, int64_t to_ns,
    const char *filter, json_t **ret)
{
	const struct history_span span = { .from_ns = from_ns, .to_ns = to_ns };

	return ask_columns(asking, "rm_incident", &span, filter,
	    HISTORY_INCIDENT_COLUMNS, "links", ret);
}

/* Requests all incidents of the span, in several answers. */
static int
ask_incidents(const struct asking *asking, int64_t from_ns, int64_t to_ns,
    struct history_rows *rows)
{
	int status = CTL_GOOD;

	for (int i = 0; status == CTL_GOOD && from_ns < to_ns; i++) {
		json_t *answer;
		int64_t next_ns;

		status = ask_incident_rows(asking, from_ns, to_ns, "", &answer);
		next_ns = i + 1 < ANSWERS ? next_time(answer, from_ns) : INT64_MAX;
		if (status == CTL_GOOD)
			status = report_answer(asking->ctl,
			    history_rows_take_incidents(rows, answer, next_ns));
		if (next_ns == INT64_MAX &&
		    json_is_true(json_object_get(answer, "truncated")))
			history_rows_cut(rows);
		from_ns = next_ns;
		json_decref(answer);
	}
	return status;
}

/* The texts of a list, separated as in the history. NULL: out of memory, or too long.
 */
static json_t *
joined(const json_t *list)
{
	char text[4096] = "";
	const json_t *each;
	size_t i, len = 0;

	json_array_foreach (list, i, each) {
		if (!json_is_string(each))
			continue;
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s",
		    len == 0 ? "" : ", ", json_string_value(each));
		if (len >= sizeof(text))
			return NULL;
	}
	return json_string(text);
}

/* A list of links that is not complete is left out, as in the history. */
static bool
is_complete(const json_t *evidence, const json_t *links)
{
	return (json_int_t)json_array_size(links) >=
	       json_integer_value(json_object_get(evidence, "links_down")) +
		   json_integer_value(json_object_get(evidence, "links_lossy"));
}

/* Converts the answer of /v1/incidents to rows of the same form as in the history. */
static json_t *
rows_of_open(const json_t *answer)
{
	static const char *const same[] = { "region", "id", "state", "kind",
		"part_type", "part", "place", "tor", "sentence", "impact", "services",
		"links" };
	json_t *columns = json_array(), *rows = json_array();
	const json_t *incident;
	size_t i;

	json_array_foreach (json_object_get(answer, "incidents"), i, incident) {
		const json_t *evidence = json_object_get(incident, "evidence");
		const char *opened =
		    json_string_value(json_object_get(incident, "opened"));
		json_t *row = json_array();
		rm_wall_t when;

		for (size_t k = 0; k < sizeof(same) / sizeof(same[0]); k++) {
			json_t *value = json_object_get(incident, same[k]);

			if (value == NULL)
				value = json_object_get(evidence, same[k]);
			if (!json_is_array(value))
				value = json_incref(value);
			else
				value =
				    is_complete(evidence, value) ? joined(value) : NULL;
			json_array_append_new(row, value != NULL ? value : json_null());
		}
		json_array_append_new(
		    row, json_integer(opened != NULL && rm_wall_parse(opened, &when)
					  ? (json_int_t)when.ns
					  : 0));
		json_array_append_new(rows, row);
	}
	for (size_t k = 0; k < sizeof(same) / sizeof(same[0]); k++)
		json_array_append_new(columns, json_string(same[k]));
	json_array_append_new(columns, json_string("opened_ns"));
	return json_pack("{s:o, s:o}", "columns", columns, "rows", rows);
}

/* Adds incidents that were opened long before the span: the history has their ends, or
 * they are still open. */
static int
ask_older(const struct asking *asking, const struct history_span *span,
    struct history_rows *rows)
{
	const int64_t now_ns = rm_wall_now().ns, after_ns = span->to_ns + AFTER_NS,
		      last_ns = after_ns < now_ns ? after_ns : now_ns;
	json_t *answer = NULL, *open = NULL;
	char path[RM_NAME_BYTES + 64];
	int status = CTL_GOOD;

	/* The analyzer has times in milliseconds, and refuses an empty span. */
	if (span->to_ns / RM_NS_PER_MS < last_ns / RM_NS_PER_MS)
		status = ask_incident_rows(
		    asking, span->to_ns, last_ns, "&state=resolved", &answer);
	if (status == CTL_GOOD && answer != NULL) {
		status =
		    report_answer(asking->ctl, history_rows_take_older(rows, answer));
		if (json_is_true(json_object_get(answer, "truncated")))
			history_rows_cut(rows);
	}
	json_decref(answer);
	snprintf(path, sizeof(path), "/v1/incidents?open=1%s%s",
	    asking->region != NULL ? "&region=" : "",
	    asking->region != NULL ? asking->region : "");
	if (status == CTL_GOOD &&
	    request_get_list(asking->ctl->analyzer, path, "incidents", &open) < 0)
		status = CTL_NO_ANSWER;
	if (status == CTL_GOOD) {
		answer = rows_of_open(open);
		status =
		    report_answer(asking->ctl, history_rows_take_older(rows, answer));
		json_decref(answer);
	}
	json_decref(open);
	return status;
}

static int
show_history(
    const struct ctl *ctl, const char *what, const struct history_options *options)
{
	struct asking asking = { ctl, options->region };
	struct history_regions regions = { 0 };
	struct history_subject subject;
	struct history_span span;
	struct history_rows *rows;
	int status;

	if (!read_subject(what, options->region, &subject))
		return ctl_usage("%s is neither host/device, nor an RNIC's id, nor a "
				 "ToR",
		    what);
	status = read_span(options, &span);
	if (status != CTL_GOOD)
		return status;
	request_patience(PATIENCE_S);
	if (asking.region == NULL && !subject.whole) {
		status = learn_region(&asking, &span, &subject, &regions);
		if (status != CTL_GOOD)
			return status;
		if (regions.count == 1)
			asking.region = regions.names[0];
	}
	subject.region = asking.region;
	rows = history_rows_new(&subject, &span);
	if (rows == NULL)
		return report_answer(ctl, -ENOMEM);
	status = ask_probes(&asking, &subject, &span, rows);
	if (status == CTL_GOOD && subject.dst_tor[0] != '\0')
		status = ask_paths(&asking, &subject, &span, rows);
	if (status == CTL_GOOD && subject.rnic[0] != '\0')
		status = learn_name(&asking, &span, &subject);
	/* This is requested separately, so that many incidents of the day before do not
	 * use up the limit for those of the span. */
	if (status == CTL_GOOD)
		status = ask_incidents(
		    &asking, span.from_ns - HISTORY_BEFORE_NS, span.from_ns, rows);
	if (status == CTL_GOOD)
		status = ask_incidents(&asking, span.from_ns, span.to_ns, rows);
	if (status == CTL_GOOD)
		status = ask_older(&asking, &span, rows);
	if (status == CTL_GOOD)
		status = history_rows_print(rows, ctl->json);
	history_rows_free(rows);
	return status;
}

int
ctl_history(const struct ctl *ctl)
{
	const char *url = getenv("RACKMESH_INFLUX");
	const bool init = ctl->argc > 0 && strcmp(ctl->argv[0], "init") == 0;
	const char *what = NULL;
	struct history_options options = {
		.place = { .url = url != NULL && url[0] != '\0' ? url : NULL,
		    .database = "rackmesh",
		    .authorities = ctl->authorities },
		.since = "1h",
		.raw = "14d",
		.incidents = "400d",
	};
	int status;

	if (ctl->argc > 0 && !init && ctl->argv[0][0] != '-')
		what = ctl->argv[0];
	status = parse(ctl, init || what != NULL, init, &options);
	if (status == 0 && !init)
		status = show_history(ctl, what, &options);
	else if (status == 0 && options.place.url == NULL)
		status = ctl_usage("init needs --url URL, or $RACKMESH_INFLUX");
	else if (status == 0)
		status = history_init(&options.place, options.raw, options.incidents);
	explicit_bzero(options.place.password, sizeof(options.place.password));
	return status;
}
