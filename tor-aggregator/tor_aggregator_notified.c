#include "tor-aggregator/tor_aggregator_notified.h"

#include "tor-aggregator/pairs.h"
#include "tor-aggregator/rack/tor_rack.h"
#include "tor-aggregator/tor_aggregator_state.h"

/* False for ToRs, links and switches: the analyzer sends the alerts on those. */
static bool
has_alerts(const struct rm_part *part)
{
	return part->type == RM_PART_RNIC || part->type == RM_PART_HOST ||
	       part->type == RM_PART_AGENT;
}

bool
tor_aggregator_alerts_on(const struct tor_rack *rack, const struct rm_part *part)
{
	return tor_rack_is_active(rack) && has_alerts(part);
}

static const struct rm_incident *
find_id(const struct tor_rack *rack, uint64_t id)
{
	const struct rm_incidents *incidents = tor_rack_incidents(rack);
	const struct rm_incident *incident;

	for (size_t n = 0; (incident = rm_incidents_get(incidents, n)) != NULL; n++)
		if (incident->id == id)
			break;
	return incident;
}

void
tor_aggregator_mark_notified(
    struct tor_aggregator *aggregator, size_t i, uint64_t id, bool resolved)
{
	if (!tor_rack_notified(aggregator->racks[i], id, resolved))
		return;
	aggregator->incidents_changed[i] = true;
	pairs_report(aggregator->pairs, i, find_id(aggregator->racks[i], id));
}

/* Marks the incidents of other racks on the same part, too: one alert is sent for all
 * of them. */
static void
mark_equals(struct tor_aggregator *aggregator, size_t i, const struct rm_part *part,
    bool resolved)
{
	const struct rm_incidents *incidents = tor_rack_incidents(aggregator->racks[i]);
	const struct rm_incident *incident;

	for (size_t n = 0; (incident = rm_incidents_get(incidents, n)) != NULL; n++)
		if ((incident->resolved.ns != 0) == resolved &&
		    rm_part_equal(&incident->verdict.part, part))
			tor_aggregator_mark_notified(
			    aggregator, i, incident->id, resolved);
}

void
tor_aggregator_on_notified(uint64_t id, bool resolved, void *arg)
{
	struct tor_aggregator *aggregator = arg;
	const struct rm_incident *incident = NULL;
	size_t own = 0;

	while (own < aggregator->rack_count &&
	       (incident = find_id(aggregator->racks[own], id)) == NULL)
		own++;
	if (incident == NULL)
		return;
	tor_aggregator_mark_notified(aggregator, own, id, resolved);
	/* If they differ, the notification is old, and incidents of other racks may be
	 * different ones. */
	if ((incident->resolved.ns != 0) != resolved)
		return;
	for (size_t i = 0; i < aggregator->rack_count; i++)
		if (i != own)
			mark_equals(aggregator, i, &incident->verdict.part, resolved);
}

bool
tor_aggregator_opening_was_notified(
    const struct tor_aggregator *aggregator, const struct rm_part *part)
{
	for (size_t i = 0; i < aggregator->rack_count; i++) {
		const struct rm_incidents *incidents =
		    tor_rack_incidents(aggregator->racks[i]);

		if (!tor_rack_is_active(aggregator->racks[i]))
			continue;
		for (size_t n = 0; n < rm_incidents_open(incidents); n++) {
			const struct rm_incident *other =
			    rm_incidents_get(incidents, n);

			if (other->notified_opened &&
			    rm_part_equal(&other->verdict.part, part))
				return true;
		}
	}
	return false;
}

void
tor_aggregator_note_notified(struct tor_aggregator *aggregator,
    const struct tor_rack *rack, enum rm_incident_event event,
    const struct rm_incident *incident)
{
	const struct rm_part *part = &incident->verdict.part;
	bool resolved = event == RM_INCIDENT_RESOLVED;
	bool active = tor_rack_is_active(rack);

	if (event == RM_INCIDENT_UPDATED || event == RM_INCIDENT_NOTED ||
	    (!active && !resolved))
		return;
	/* The receivers have accepted the opening, so they must get the end. */
	if (!active && incident->notified_opened && has_alerts(part))
		return;
	if (tor_aggregator_alerts_on(rack, part) &&
	    (resolved || !tor_aggregator_opening_was_notified(aggregator, part)))
		return;
	for (size_t i = 0; i < aggregator->rack_count; i++)
		if (aggregator->racks[i] == rack)
			tor_aggregator_mark_notified(
			    aggregator, i, incident->id, resolved);
}
