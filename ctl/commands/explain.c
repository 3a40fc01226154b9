#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/client/ctl.h"
#include "ctl/client/request.h"
#include "ctl/client/show.h"
#include "ctl/commands/incident.h"

#define ALL_SAMPLES 64

static void
print_legs(const json_t *evidence, const char *key, const char *what)
{
	const json_t *legs = json_object_get(evidence, key);
	long long sent = json_integer_value(json_object_get(legs, "sent"));
	long long arrived = json_integer_value(json_object_get(legs, "arrived"));

	if (sent > 0)
		printf("    %-30s %lld of %lld arrived\n", what, arrived, sent);
}

/* Of an RNIC's packets those that are lost. */
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
	if (strcmp(incident_text(evidence, "narrowed"), "-") != 0)
		printf("    it is %s\n", incident_text(evidence, "narrowed"));
	if (strcmp(incident_text(evidence, "observed"), "-") != 0)
		printf("    %s\n", incident_text(evidence, "observed"));
	if (strcmp(incident_text(evidence, "counters"), "-") != 0)
		printf("    %s\n", incident_text(evidence, "counters"));
	print_list("Ruled out", json_object_get(evidence, "ruled_out"));
	printf("\n  Told by");
	json_array_foreach (json_object_get(incident, "sources"), i, source)
		if (json_is_string(source))
			printf("%s %s", i > 0 ? "," : "", json_string_value(source));
	printf(", confidence %.2f.\n",
	    json_number_value(json_object_get(incident, "confidence")));
	print_related(json_object_get(incident, "related"));
}

int
ctl_explain(const struct ctl *ctl)
{
	char *escaped, path[512];
	json_t *answer = NULL;
	int status;

	if (ctl->argc != 1)
		return ctl_usage("expected: explain INCIDENT (its id, from "
				 "`rackmeshctl incidents`)");
	escaped = request_escape(ctl->argv[0]);
	if (escaped == NULL)
		return CTL_NO_ANSWER;
	snprintf(path, sizeof(path), "/v1/incidents/%s", escaped);
	free(escaped);
	if (request_get(ctl->analyzer, path, &answer) < 0)
		return CTL_NO_ANSWER;
	status = incident_is_open(answer) ? CTL_BAD_NEWS : CTL_GOOD;
	if (ctl->json)
		show_json(answer);
	else
		print_explanation(answer);
	json_decref(answer);
	return status;
}
