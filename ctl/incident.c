#include "ctl/incident.h"

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

static void
print_sample(const json_t *sample)
{
	/* What a rack samples is a probe; between racks it is a flow, in words. */
	if (json_is_string(sample)) {
		printf("          e.g. %s\n", json_string_value(sample));
		return;
	}
	printf("          e.g. %s -> %s, source port %lld, DSCP %lld, %lld bytes: %s\n",
	    incident_text(sample, "from"), incident_text(sample, "to"),
	    (long long)json_integer_value(json_object_get(sample, "src_port")),
	    (long long)json_integer_value(json_object_get(sample, "dscp")),
	    (long long)json_integer_value(json_object_get(sample, "size_bytes")),
	    incident_text(sample, "outcome"));
}

void
incident_print(const json_t *incident, size_t max_samples)
{
	const json_t *samples =
	    json_object_get(json_object_get(incident, "evidence"), "samples");
	const json_t *sample;
	size_t i;

	printf("%-8s  %s  %s  (confidence %.2f, incident %s)\n",
	    incident_text(incident, "state"), incident_text(incident, "opened"),
	    incident_text(incident, "kind"),
	    json_number_value(json_object_get(incident, "confidence")),
	    incident_text(incident, "id"));
	printf("          %s\n", incident_text(incident, "sentence"));
	json_array_foreach (samples, i, sample) {
		if (i == max_samples)
			break;
		print_sample(sample);
	}
	if (!incident_is_open(incident))
		printf("          resolved %s\n", incident_text(incident, "resolved"));
}
