/*
 * fuzz_incident_file - any JSON as saved incidents: an accepted text holds only valid
 * incidents, and saving it again gives the same text.
 */
#include <stdint.h>
#include <stdlib.h>

#include "rackmesh/incident/incident.h"
#include "rackmesh/incident/incident_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static struct rm_incidents *
fuzz_incidents(void)
{
	const struct rm_incident_options options = { .max_open = 4, .max_closed = 2 };
	struct rm_incidents *incidents;

	if (rm_incidents_new(&options, &incidents) < 0)
		abort();
	return incidents;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	json_t *json = json_loadb((const char *)data, len, 0, NULL), *saved;
	struct rm_incidents *incidents, *again;
	struct rm_error error = { 0 };
	int open;

	if (json == NULL)
		return 0;
	incidents = fuzz_incidents();
	open = rm_incidents_restore(
	    incidents, json, (rm_mono_t){ 1 }, (rm_wall_t){ 1 }, &error);
	if (open < 0 &&
	    (error.text[0] == '\0' || rm_incidents_get(incidents, 0) != NULL))
		abort();
	saved = rm_incidents_save(incidents, (rm_wall_t){ 0 });
	again = fuzz_incidents();
	if (saved == NULL ||
	    rm_incidents_restore(again, saved, (rm_mono_t){ 1 }, (rm_wall_t){ 1 },
		&error) != (int)rm_incidents_open(incidents))
		abort();
	for (size_t i = 0; rm_incidents_get(incidents, i) != NULL; i++) {
		char sentence[RM_SENTENCE_BYTES];

		rm_verdict_sentence(&rm_incidents_get(incidents, i)->verdict, sentence,
		    sizeof(sentence));
	}
	json_decref(saved);
	json_decref(json);
	rm_incidents_free(again);
	rm_incidents_free(incidents);
	return 0;
}
