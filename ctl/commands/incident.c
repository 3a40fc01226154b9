#include "ctl/commands/incident.h"

#include <stdio.h>
#include <string.h>

const char *
incident_text(const json_t *incident, const char *key)
{
	const char *value = json_string_value(json_object_get(incident, key));

	return value != NULL && value[0] != '\0' ? value : "-";
}

bool
incident_is_open(const json_t *incident)
{
	return strcmp(incident_text(incident, "state"), "open") == 0;
}

/* Prints the values of one probe. A flow has fewer values. A value 0 was not measured.
 */
static void
print_sample(const json_t *sample)
{
	const json_t *dscp = json_object_get(sample, "dscp");
	long long port =
	    (long long)json_integer_value(json_object_get(sample, "src_port"));
	long long bytes =
	    (long long)json_integer_value(json_object_get(sample, "size_bytes"));

	if (json_is_string(sample)) { /* a flow, as text */
		printf("          e.g. %s\n", json_string_value(sample));
		return;
	}
	printf("          e.g. %s -> %s", incident_text(sample, "from"),
	    incident_text(sample, "to"));
	if (port > 0)
		printf(", source port %lld", port);
	if (json_is_integer(dscp) && (bytes > 0 || json_integer_value(dscp) > 0))
		printf(", DSCP %lld", (long long)json_integer_value(dscp));
	if (bytes > 0)
		printf(", %lld bytes", bytes);
	printf(": %s\n", incident_text(sample, "outcome"));
}

void
incident_print(const json_t *incident, size_t max_samples)
{
	const json_t *samples =
	    json_object_get(json_object_get(incident, "evidence"), "samples");
	const json_t *sample;
	/* An older daemon does not send the severity, and an aggregator no region. */
	const char *severity = json_string_value(json_object_get(incident, "severity")),
		   *region = json_string_value(json_object_get(incident, "region"));
	size_t i;

	printf("%-8s  %s  %s  (%s%sconfidence %.2f, incident %s%s%s)\n",
	    incident_text(incident, "state"), incident_text(incident, "opened"),
	    incident_text(incident, "kind"), severity != NULL ? severity : "",
	    severity != NULL ? ", " : "",
	    json_number_value(json_object_get(incident, "confidence")),
	    incident_text(incident, "id"), region != NULL ? ", region " : "",
	    region != NULL ? region : "");
	printf("          %s\n", incident_text(incident, "sentence"));
	json_array_foreach (samples, i, sample) {
		if (i == max_samples)
			break;
		print_sample(sample);
	}
	if (!incident_is_open(incident))
		printf("          resolved %s\n", incident_text(incident, "resolved"));
}
