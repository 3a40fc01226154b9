#include "rackmesh/incident/incident_state.h"

#define FLAP_ENDS 2 /* so many within RM_INCIDENT_FLAP_NS, and it is back */

struct incident_entry *
incident_closed(const struct rm_incidents *incidents, size_t i)
{
	const size_t max = incidents->options.max_closed;

	return incidents->closed[(incidents->closed_next + max - 1 - i) % max];
}

/* Those of an earlier life count as a return; when they ended nobody knows any more. */
void
incident_past(
    const struct rm_incidents *incidents, struct rm_incident *incident, rm_mono_t now)
{
	const struct rm_incident *newest = NULL, *first = NULL;
	uint64_t ends = 0;

	for (size_t i = 0; i < incidents->closed_count; i++) {
		const struct incident_entry *entry = incident_closed(incidents, i);
		const int64_t since_ns = rm_mono_since(now, entry->resolved);

		if (since_ns > incidents->options.flap_memory_ns)
			break;
		if (!rm_part_equal(
			&entry->incident.verdict.part, &incident->verdict.part))
			continue;
		if (newest == NULL)
			newest = &entry->incident;
		if (entry->former || since_ns > RM_INCIDENT_FLAP_NS)
			break;
		first = &entry->incident;
		ends++;
	}
	if (newest != NULL)
		incident->reopened = newest->reopened + 1;
	if (ends < FLAP_ENDS)
		return;
	incident->returned = incident->opened;
	incident->flaps_since = first->opened;
	incident->returns = ends;
	if (newest->flaps_since.ns != 0) {
		incident->flaps_since = newest->flaps_since;
		incident->returns = newest->returns + 1;
	}
}

int64_t
incident_resolve_after_ns(
    const struct rm_incidents *incidents, const struct rm_incident *incident)
{
	const int64_t after_ns = incidents->options.resolve_after_ns;

	return incident->flaps_since.ns != 0 && after_ns < RM_INCIDENT_CALM_NS
		   ? RM_INCIDENT_CALM_NS
		   : after_ns;
}
