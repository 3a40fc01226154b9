#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/client/ctl.h"
#include "ctl/history/history_init.h"
#include "ctl/history/history_rows.h"
#include "ctl/history/history_source.h"
#include "ctl/history/influx.h"
#include "rackmesh/core/clock.h"
#include "rackmesh/judge/part.h"

#define USUAL_FOLDER "/var/lib/rackmesh/analyzer/history"

struct history_options {
	struct influx_place place; /* url NULL: files */
	const char *subject, *since, *folder;
	const char *raw, *incidents; /* retention */
	const char *password_file;
};

/* One unit, or several, as InfluxDB itself writes them: "336h0m0s". */
long long
history_duration_ns(const char *text)
{
	static const struct {
		char unit;
		long long seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 },
		{ 'w', 604800 } };
	const long long most = 3660LL * 86400;
	long long total = 0;

	do {
		char *end;
		long long count = strtoll(text, &end, 10);
		size_t i = 0;

		if (end == text || count < 0 || count > most)
			return -1;
		while (i < sizeof(units) / sizeof(units[0]) && units[i].unit != *end)
			i++;
		if (i == sizeof(units) / sizeof(units[0]))
			return -1;
		total += count * units[i].seconds;
		if (total > most)
			return -1;
		text = end + 1;
	} while (*text != '\0');
	return total * RM_NS_PER_S;
}

/* 0, or an exit code. */
static int
parse(const struct ctl *ctl, int first, struct history_options *options)
{
	const struct {
		const char *name;
		const char **value;
	} words[] = { { "--since", &options->since }, { "--folder", &options->folder },
		{ "--url", &options->place.url },
		{ "--database", &options->place.database },
		{ "--user", &options->place.user },
		{ "--password-file", &options->password_file },
		{ "--retention-raw", &options->raw },
		{ "--retention-incidents", &options->incidents } };

	for (int i = first; i < ctl->argc; i += 2) {
		size_t w = 0;

		while (w < sizeof(words) / sizeof(words[0]) &&
		       strcmp(words[w].name, ctl->argv[i]) != 0)
			w++;
		if (w == sizeof(words) / sizeof(words[0]))
			return ctl_usage("history has no %s", ctl->argv[i]);
		if (i + 1 == ctl->argc)
			return ctl_usage("%s needs a value", ctl->argv[i]);
		*words[w].value = ctl->argv[i + 1];
	}
	if (!rm_name_valid(options->place.database))
		return ctl_usage("--database: " RM_NAME_EXPECTED);
	if (history_duration_ns(options->since) <= 0 ||
	    history_duration_ns(options->raw) <= 0 ||
	    history_duration_ns(options->incidents) <= 0)
		return ctl_usage("expected a time like 90s, 15m, 6h, 14d");
	if (options->password_file != NULL &&
	    influx_password(&options->place, options->password_file) < 0)
		return CTL_NO_ANSWER;
	return 0;
}

/* "host/device", an RNIC's id, or a ToR. False: none of them. */
static bool
read_subject(const char *text, struct history_subject *subject)
{
	const char *slash = strchr(text, '/');
	struct rm_rnic_id id;

	*subject = (struct history_subject){ .text = text };
	if (rm_rnic_id_parse(text, &id) == 0) {
		char canonical[RM_RNIC_ID_TEXT];

		rm_rnic_id_format(id, canonical);
		snprintf(subject->rnic, sizeof(subject->rnic), "%s", canonical);
		return true;
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

static int
show_history(const struct ctl *ctl, const struct history_options *options)
{
	struct history_subject subject;
	struct history_rows *rows;
	int r, status;

	if (!read_subject(ctl->argv[0], &subject))
		return ctl_usage("%s is neither host/device, nor an RNIC's id, nor a "
				 "ToR",
		    ctl->argv[0]);
	rows = history_rows_new(
	    &subject, rm_wall_now().ns, history_duration_ns(options->since));
	if (rows == NULL)
		return CTL_NO_ANSWER;
	if (options->place.url != NULL && options->folder == NULL)
		r = history_from_influx(&options->place, &subject, rows);
	else
		r = history_from_files(
		    options->folder != NULL ? options->folder : USUAL_FOLDER, &subject,
		    rows);
	status = r < 0 ? CTL_NO_ANSWER : history_rows_print(rows, ctl->json);
	history_rows_free(rows);
	return status;
}

int
ctl_history(const struct ctl *ctl)
{
	const char *url = getenv("RACKMESH_INFLUX");
	struct history_options options = {
		.place = { .url = url != NULL && url[0] != '\0' ? url : NULL,
		    .database = "rackmesh" },
		.since = "1h",
		.raw = "14d",
		.incidents = "400d",
	};
	int status;

	if (ctl->argc == 0)
		return ctl_usage("expected: history RNIC|TOR [--since 1h] [--url URL] "
				 "[--folder FOLDER], or history init --url URL");
	status = parse(ctl, 1, &options);
	if (status == 0 && strcmp(ctl->argv[0], "init") != 0)
		status = show_history(ctl, &options);
	else if (status == 0 && options.place.url == NULL)
		status = ctl_usage("init needs --url URL, or $RACKMESH_INFLUX");
	else if (status == 0)
		status = history_init(&options.place, options.raw, options.incidents);
	explicit_bzero(options.place.password, sizeof(options.place.password));
	return status;
}
