#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/client/ctl.h"
#include "ctl/client/request.h"
#include "ctl/client/show.h"
#include "ctl/commands/incident.h"
#include "ctl/history/past_incident.h"
#include "rackmesh/core/clock.h"
#include "rackmesh/judge/part.h"

#define ALL_SAMPLES 64
#define OPENINGS 5 /* maximum number of earlier incidents that are printed */
/* room for the name of a part of which each character is escaped */
#define PARAMETERS_BYTES (3 * RM_PART_NAME_BYTES + 512)
#define PATIENCE_S 25 /* seconds; the analyzer's time-out is 20 s */

static void
print_legs(const json_t *evidence, const char *key, const char *what)
{
	const json_t *legs = json_object_get(evidence, key);
	long long sent = json_integer_value(json_object_get(legs, "sent"));
	long long arrived = json_integer_value(json_object_get(legs, "arrived"));

	if (sent > 0)
		printf("    %-30s %lld of %lld arrived\n", what, arrived, sent);
}

/* Prints the share of packets that an RNIC loses, by direction. */
static void
print_direction(const json_t *evidence)
{
	const char *direction = incident_text(evidence, "direction");

	if (strcmp(direction, "receive") == 0)
		printf("    lost: what is sent to it\n");
	else if (strcmp(direction, "send") == 0)
		printf("    lost: what it sends\n");
	else if (strcmp(direction, "both") == 0)
		printf("    lost: what it sends and what is sent to it\n");
}

/* "unknown" is printed, too, because it does not mean that there is no impact. */
static void
print_impact(const json_t *evidence)
{
	static const struct {
		const char *impact, *reports;
	} impacts[] = {
		{ "P0", "P0: a service's own probes over it are lost" },
		{ "P1", "P1: a service uses it" },
		{ "P2", "P2: no service uses it" },
		{ "unknown", "unknown" },
	};
	const char *impact = incident_text(evidence, "impact");
	const char *services = incident_text(evidence, "services");

	for (size_t i = 0; i < sizeof(impacts) / sizeof(impacts[0]); i++)
		if (strcmp(impact, impacts[i].impact) == 0)
			printf("    impact %s%s%s\n", impacts[i].reports,
			    strcmp(services, "-") != 0 ? ": " : "",
			    strcmp(services, "-") != 0 ? services : "");
}

static void
print_list(const char *title, const json_t *list)
{
	const json_t *item;
	size_t i;

	if (json_array_size(list) == 0)
		return;
	printf("\n  %s\n", title);
	json_array_foreach (list, i, item)
		if (json_is_string(item))
			printf("    %s\n", json_string_value(item));
}

static void
print_related(const json_t *related)
{
	const json_t *other;
	size_t i;

	if (json_array_size(related) == 0)
		return;
	printf("\n  Also open there\n");
	json_array_foreach (related, i, other)
		printf("    %s  %s %s\n", incident_text(other, "id"),
		    incident_text(other, "kind"), incident_text(other, "part"));
}

static void
print_counters(const json_t *evidence)
{
	const char *counters = incident_text(evidence, "counters"),
		   *at = incident_text(evidence, "counters_at");

	if (strcmp(counters, "-") == 0)
		return;
	printf("    %s", counters);
	if (strcmp(at, "-") != 0)
		printf(" (as of %s)", at);
	printf("\n");
}

static void
print_explanation(const json_t *incident)
{
	const json_t *evidence = json_object_get(incident, "evidence"), *source;
	size_t i;

	incident_print(incident, ALL_SAMPLES);
	printf(
	    "\n  What was seen, from %s on", incident_text(evidence, "window_start"));
	if (json_integer_value(json_object_get(evidence, "window_ms")) > 0)
		printf(", in %lld ms", (long long)json_integer_value(
					   json_object_get(evidence, "window_ms")));
	printf("\n");
	print_legs(evidence, "to_part", "to it, or over it");
	print_legs(evidence, "from_part", "from it");
	print_legs(evidence, "outside", "out of the rack");
	print_legs(evidence, "others", "that did not touch it");
	print_direction(evidence);
	print_impact(evidence);
	if (strcmp(incident_text(evidence, "narrowed"), "-") != 0)
		printf("    it is %s\n", incident_text(evidence, "narrowed"));
	if (strcmp(incident_text(evidence, "widened"), "-") != 0)
		printf("    it is one of several links of %s\n",
		    incident_text(evidence, "widened"));
	if (strcmp(incident_text(evidence, "observed"), "-") != 0)
		printf("    %s\n", incident_text(evidence, "observed"));
	print_counters(evidence);
	print_list("Links at fault", json_object_get(evidence, "links"));
	print_list("Ruled out", json_object_get(evidence, "ruled_out"));
	printf("\n  Reported by");
	json_array_foreach (json_object_get(incident, "sources"), i, source)
		if (json_is_string(source))
			printf("%s %s", i > 0 ? "," : "", json_string_value(source));
	printf(", confidence %.2f.\n",
	    json_number_value(json_object_get(incident, "confidence")));
	print_related(json_object_get(incident, "related"));
}

/* Prints the part of docs/verdicts.md on the kind. The analyzer serves it as a file; an
 * older analyzer has no such file. */
static void
print_advice(const struct ctl *ctl, const char *kind)
{
	FILE *nowhere = fopen("/dev/null", "w");
	char heading[64], *text = NULL;
	const char *section, *end;

	request_complain_to(nowhere);
	if (request_get_text(ctl->analyzer, "/verdicts.md", &text) < 0)
		text = NULL;
	request_complain_to(NULL);
	if (nowhere != NULL)
		fclose(nowhere);
	snprintf(heading, sizeof(heading), "\n## %s\n\n", kind);
	section = text == NULL ? NULL : strstr(text, heading);
	if (section != NULL) {
		section += strlen(heading);
		end = strstr(section, "\n\n## ");
		printf("\n  What %s means, and what to do\n    ", kind);
		for (; *section != '\0' && section != end; section++) {
			if (*section == '\n')
				printf("\n    ");
			else if (*section != '*' && *section != '`')
				putchar(*section);
		}
		putchar('\n');
	}
	free(text);
}

/* Returns the daemon's answer, or -errno. An error was printed, except that of a
 * missing incident. */
static int
ask_quietly(const struct ctl *ctl, const char *path, json_t **ret)
{
	char *shown = NULL;
	size_t len = 0;
	FILE *memory = open_memstream(&shown, &len);
	int r;

	request_complain_to(memory);
	r = request_get(ctl->analyzer, path, ret);
	request_complain_to(NULL);
	if (memory != NULL)
		fclose(memory);
	if (r < 0 && r != -ENOENT && shown != NULL)
		fputs(shown, stderr);
	free(shown);
	return r;
}

/* Requests the rows of rm_incident of the last month. parameters: further parameters,
 * from '&' on. */
static int
ask_past(const struct ctl *ctl, const char *parameters, json_t **ret)
{
	const rm_wall_t now = rm_wall_now();
	char from[RM_WALL_TEXT], path[PARAMETERS_BYTES + 128];

	rm_wall_format(
	    (rm_wall_t){ now.ns - PAST_INCIDENT_DAYS * 86400 * RM_NS_PER_S }, from);
	snprintf(
	    path, sizeof(path), "/v1/history/rm_incident?from=%s%s", from, parameters);
	request_patience(PATIENCE_S);
	return request_get(ctl->analyzer, path, ret);
}

/* Requests what the history has of an incident that the analyzer does not know any
 * more. */
static int
ask_written(const struct ctl *ctl, const char *escaped, json_t **ret)
{
	json_t *answer = NULL;
	char parameters[256];

	snprintf(parameters, sizeof(parameters), "&limit=1000&id=%s", escaped);
	if (ask_past(ctl, parameters, &answer) < 0)
		return -EPROTO;
	*ret = past_incident_read(answer);
	json_decref(answer);
	if (*ret == NULL) {
		fprintf(stderr,
		    "rackmeshctl: no incident has this id, now or in the last %d "
		    "days\n",
		    PAST_INCIDENT_DAYS);
		return -ENOENT;
	}
	return 0;
}

/* Prints how often the part was named before, and when it was last: a part that fails
 * again needs another remedy. */
static void
print_openings(const struct ctl *ctl, const json_t *incident)
{
	char *part = request_escape(incident_text(incident, "part"));
	char *region = request_escape(incident_text(incident, "region")),
	     parameters[PARAMETERS_BYTES];
	json_t *answer = NULL, *list = NULL;
	const json_t *one;
	size_t i;

	if (part == NULL || region == NULL)
		goto out;
	snprintf(parameters, sizeof(parameters),
	    "&limit=10000&state=opened&region=%s&part_type=%s&part=%s"
	    "&columns=id,kind,opened_ns",
	    region, incident_text(incident, "part_type"), part);
	if (ask_past(ctl, parameters, &answer) < 0)
		goto out; /* the error was printed; the rest of the incident is known */
	list = past_incident_openings(answer, incident_text(incident, "id"));
	printf("\n  The same part at other times, of the last %d days: %zu\n",
	    PAST_INCIDENT_DAYS, json_array_size(list));
	json_array_foreach (list, i, one) {
		if (i == OPENINGS)
			break;
		printf("    %s  opened %s  %s\n", incident_text(one, "id"),
		    incident_text(one, "opened"), incident_text(one, "kind"));
	}
out:
	json_decref(list);
	json_decref(answer);
	free(region);
	free(part);
}

int
ctl_explain(const struct ctl *ctl)
{
	char *escaped, path[512];
	json_t *answer = NULL;
	int r, status;

	if (ctl->argc != 1 || ctl->argv[0][0] == '-')
		return ctl_usage("expected: explain INCIDENT (its id, from "
				 "`rackmeshctl incidents`)");
	escaped = request_escape(ctl->argv[0]);
	if (escaped == NULL)
		return CTL_NO_ANSWER;
	snprintf(path, sizeof(path), "/v1/incidents/%s", escaped);
	r = ask_quietly(ctl, path, &answer);
	if (r == -ENOENT)
		r = ask_written(ctl, escaped, &answer);
	free(escaped);
	if (r < 0)
		return CTL_NO_ANSWER;
	status = incident_is_open(answer) ? CTL_PROBLEM : CTL_GOOD;
	if (ctl->json)
		show_json(answer);
	else {
		print_explanation(answer);
		print_advice(ctl, incident_text(answer, "kind"));
		print_openings(ctl, answer);
	}
	json_decref(answer);
	return status;
}
