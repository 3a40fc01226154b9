/* An incident as the other aggregator of a ToR sends it: adopted and given up. */
#include <stdlib.h>
#include <string.h>

#include "rackmesh/incident/incident.h"
#include "rackmesh/incident/incident_adopt.h"
#include "tor-aggregator/standby/peer_incident.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was read is sent to the other aggregator, which reads the same. */
static void
report(const struct rm_incident *incident)
{
	struct wire_writer *writer = wire_writer_new();
	struct wire_incident wire;
	struct wire_bytes bytes;
	struct rm_incident again;

	if (writer != NULL && peer_incident_write(writer, "t1", incident,
				  (rm_mono_t){ 1 }, &bytes) == 0) {
		if (wire_open_incident(&wire, bytes.data, bytes.len) < 0 ||
		    peer_incident_read(&wire, (rm_mono_t){ 1 }, &again) < 0)
			abort();
		if (again.id != incident->id || again.severity != incident->severity ||
		    again.verdict.kind != incident->verdict.kind ||
		    !rm_part_equal(&again.verdict.part, &incident->verdict.part) ||
		    (again.resolved.ns != 0) != (incident->resolved.ns != 0))
			abort();
	}
	wire_writer_free(writer);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct rm_incident_options options = { .max_open = 2, .max_closed = 1 };
	struct rm_incidents *incidents = NULL;
	struct wire_incident wire;
	struct rm_incident incident;
	uint8_t *aligned = malloc(size + 1);

	if (aligned == NULL)
		return 0;
	memcpy(aligned, data, size);
	if (wire_open_incident(&wire, aligned, size) == 0 &&
	    peer_incident_read(&wire, (rm_mono_t){ 1 }, &incident) == 0 &&
	    rm_incidents_new(&options, &incidents) == 0) {
		if (rm_incidents_adopt(incidents, &incident, true) != 1)
			abort();
		if (rm_incidents_adopt(incidents, &incident, true) != 0)
			abort();
		report(&incident);
		if (!rm_incidents_end(incidents, incident.id, incident.changed,
			incident.notified_resolved, (rm_mono_t){ 1 }))
			abort();
	}
	rm_incidents_free(incidents);
	free(aligned);
	return 0;
}
