#include <stdio.h>
#include <string.h>

#include "ctl/ctl.h"
#include "ctl/request.h"
#include "ctl/show.h"

static const char *
text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value != NULL ? value : "-";
}

static void
print_incident(const json_t *incident)
{
	const json_t *sample;
	size_t i;

	printf("%-8s  %s  %s  (confidence %.2f)\n", text(incident, "state"),
	    text(incident, "opened"), text(incident, "kind"),
	    json_number_value(json_object_get(incident, "confidence")));
	printf("          %s\n", text(incident, "sentence"));
	json_array_foreach (
	    json_object_get(json_object_get(incident, "evidence"), "samples"), i,
	    sample) {
		printf("          e.g. %s -> %s, source port %lld, DSCP %lld, "
		       "%lld bytes: %s\n",
		    text(sample, "from"), text(sample, "to"),
		    (long long)json_integer_value(json_object_get(sample, "src_port")),
		    (long long)json_integer_value(json_object_get(sample, "dscp")),
		    (long long)json_integer_value(
			json_object_get(sample, "size_bytes")),
		    text(sample, "outcome"));
		if (i == 1)
			break; /* --json has them all */
	}
	if (strcmp(text(incident, "state"), "open") != 0)
		printf("          resolved %s\n", text(incident, "resolved"));
}

int
ctl_incidents(const struct ctl *ctl)
{
	bool open_only = ctl->argc == 1 && strcmp(ctl->argv[0], "--open") == 0;
	const json_t *list, *incident;
	json_t *answer = NULL;
	int status = CTL_GOOD;
	size_t i;

	if (ctl->argc > 0 && !open_only)
		return ctl_usage("expected: incidents [--open]");
	if (request_get(ctl->aggregator,
		open_only ? "/v1/incidents?open=1" : "/v1/incidents", &answer) < 0)
		return CTL_NO_ANSWER;
	list = json_object_get(answer, "incidents");
	if (!json_is_array(list)) {
		fprintf(stderr,
		    "rackmeshctl: %s has no \"incidents\"; is it the right daemon?\n",
		    ctl->aggregator);
		json_decref(answer);
		return CTL_NO_ANSWER;
	}
	if (ctl->json)
		show_json(answer);
	json_array_foreach (list, i, incident) {
		if (!ctl->json)
			print_incident(incident);
		if (strcmp(text(incident, "state"), "open") == 0)
			status = CTL_BAD_NEWS;
	}
	if (!ctl->json && json_array_size(list) == 0)
		printf("No incidents%s.\n", open_only ? " are open" : "");
	json_decref(answer);
	return status;
}
