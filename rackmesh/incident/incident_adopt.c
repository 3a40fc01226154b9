#include "rackmesh/incident/incident_adopt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/incident/incident_state.h"

/* An incident with the same name comes first: one on "A or B" is used for A only if
 * there is no other, and if none of the two is on a flapping part that is good now. */
static struct incident_entry *
find_same(const struct rm_incidents *incidents, const struct rm_incident *theirs)
{
	const struct rm_part *part = &theirs->verdict.part;
	struct incident_entry *narrower = NULL;

	for (size_t i = 0; i < incidents->open_count; i++) {
		struct incident_entry *entry = incidents->open[i];
		const struct rm_part *mine = &entry->incident.verdict.part;

		if (rm_part_equal(mine, part))
			return entry;
		if (!entry->held && entry->incident.good_since.ns == 0 &&
		    theirs->good_since.ns == 0 && incident_is_narrowing(mine, part))
			narrower = entry;
	}
	return narrower;
}

static bool
id_is_taken(const struct rm_incidents *incidents, uint64_t id)
{
	for (size_t i = 0; i < incidents->open_count; i++)
		if (incidents->open[i]->incident.id == id)
			return true;
	return false;
}

/* The other aggregator counts. If it knows less, because it is older or has begun only
 * now, the falls that were counted here stay. */
static void
take_falls(struct rm_incident *mine, const struct rm_incident *theirs)
{
	const rm_mono_t up_since = mine->recurrence.up_since; /* as seen here */

	if (theirs->recurrence.at[0].ns == 0 ||
	    (mine->recurrence.flaps && !theirs->recurrence.flaps))
		return;
	mine->fault = theirs->fault;
	mine->links = theirs->links;
	incident_guess_links(mine);
	mine->is_total = mine->is_total || theirs->is_total;
	mine->recurrence = theirs->recurrence;
	if (up_since.ns != 0)
		mine->recurrence.up_since = up_since;
	mine->flaps_since = theirs->flaps_since;
	mine->returned = theirs->returned;
	mine->returns = theirs->returns;
}

static void
take_over(struct incident_entry *entry, const struct rm_incident *theirs)
{
	struct rm_incident *mine = &entry->incident;
	struct rm_evidence *evidence = &mine->verdict.evidence;
	const struct incident_impact worst =
	    incident_worst_impact(&theirs->verdict.evidence, evidence);

	evidence->impact = worst.impact;
	strcpy(evidence->services, worst.services);
	strcpy(entry->announced_services, worst.services);
	mine->id = theirs->id;
	mine->verdict.part = theirs->verdict.part;
	evidence->window_start = theirs->verdict.evidence.window_start;
	evidence->late_ns = theirs->verdict.evidence.late_ns;
	mine->opened = theirs->opened;
	mine->severity = theirs->severity;
	if (mine->changed.ns < theirs->changed.ns)
		mine->changed = theirs->changed;
	mine->notified_opened = theirs->notified_opened;
	take_falls(mine, theirs);
}

int
rm_incidents_adopt(
    struct rm_incidents *incidents, const struct rm_incident *theirs, bool held)
{
	struct incident_entry *entry = find_same(incidents, theirs);

	if (entry != NULL) {
		if (held && (entry->incident.id == theirs->id ||
				!id_is_taken(incidents, theirs->id)))
			take_over(entry, theirs);
		entry->held = entry->held || held;
		entry->owed = entry->owed && !held;
		entry->confirmed = true;
		return 0;
	}
	if (incidents->open_count == incidents->options.max_open ||
	    id_is_taken(incidents, theirs->id)) {
		incidents->counts.refused++;
		return -ENOSPC;
	}
	entry = calloc(1, sizeof(*entry));
	if (entry == NULL) {
		incidents->counts.refused++;
		return -ENOMEM;
	}
	entry->incident = *theirs;
	entry->incident.resolved.ns = 0;
	entry->incident.notified_resolved = false;
	incident_note_announced(entry);
	if (theirs->fault == RM_FAULT_UNSET)
		entry->incident.fault = incident_fault_of(theirs->verdict.kind);
	incident_guess_links(&entry->incident);
	entry->fell_again = theirs->returned.ns != theirs->opened.ns;
	entry->was_good = theirs->good_since.ns != 0;
	entry->held = held;
	entry->confirmed = true;
	incidents->open[incidents->open_count++] = entry;
	return 1;
}

/* Ends an open incident without an alert. notified: all receivers know the end, and
 * this daemon need not send it later. */
static void
close_without_alert(struct rm_incidents *incidents, size_t i, rm_wall_t resolved,
    bool notified, rm_mono_t now)
{
	struct incident_entry *entry = incidents->open[i];

	incidents->open_count--;
	memmove(&incidents->open[i], &incidents->open[i + 1],
	    (incidents->open_count - i) * sizeof(struct incident_entry *));
	entry->incident.resolved = entry->incident.changed = resolved;
	if (notified)
		entry->incident.notified_opened = entry->incident.notified_resolved =
		    true;
	entry->resolved = now;
	entry->incident.good_since.ns = 0;
	incident_falls_keep(incidents, &entry->incident, now);
	entry->held = false;
	entry->confirmed = true;
	if (incidents->options.max_closed > 0)
		incident_remember(incidents, entry);
	else
		free(entry);
}

bool
rm_incidents_end(struct rm_incidents *incidents, uint64_t id, rm_wall_t resolved,
    bool notified, rm_mono_t now)
{
	for (size_t i = 0; i < incidents->open_count; i++) {
		if (incidents->open[i]->incident.id != id)
			continue;
		close_without_alert(incidents, i, resolved, notified, now);
		return true;
	}
	for (size_t i = 0; i < incidents->closed_count; i++)
		if (incidents->closed[i]->incident.id == id)
			incidents->closed[i]->confirmed = true;
	return notified && rm_incidents_notified(incidents, id, true);
}

void
rm_incidents_release(struct rm_incidents *incidents)
{
	for (size_t i = 0; i < incidents->open_count; i++)
		incidents->open[i]->held = incidents->open[i]->owed = false;
}

void
rm_incidents_owe(struct rm_incidents *incidents)
{
	for (size_t i = 0; i < incidents->open_count; i++)
		incidents->open[i]->owed = !incidents->open[i]->held &&
					   incidents->open[i]->incident.notified_opened;
}

bool
rm_incidents_owes(const struct rm_incidents *incidents, size_t i)
{
	return i < incidents->open_count &&
	       incidents->open[incidents->open_count - 1 - i]->owed;
}

void
rm_incidents_doubt(struct rm_incidents *incidents)
{
	for (size_t i = 0; i < incidents->open_count; i++)
		incidents->open[i]->confirmed = false;
	for (size_t i = 0; i < incidents->closed_count; i++)
		incidents->closed[i]->confirmed = false;
}

/* Marks those ends as delivered that the other aggregator has not sent to this one: it
 * would send an end that is not delivered. Returns their number. */
static size_t
mark_ends_delivered(struct rm_incidents *incidents)
{
	size_t ended = 0;

	for (size_t i = 0; i < incidents->closed_count; i++) {
		struct incident_entry *entry = incidents->closed[i];

		if (entry->confirmed || entry->incident.notified_resolved)
			continue;
		entry->incident.notified_resolved = true;
		ended++;
	}
	return ended;
}

size_t
rm_incidents_end_rest(struct rm_incidents *incidents, rm_wall_t resolved, rm_mono_t now)
{
	size_t ended = mark_ends_delivered(incidents);

	for (size_t i = incidents->open_count; i-- > 0;) {
		const struct incident_entry *entry = incidents->open[i];

		if (entry->confirmed || entry->owed ||
		    (entry->judged && !entry->held && !entry->former &&
			!entry->incident.notified_opened))
			continue;
		close_without_alert(incidents, i, resolved, true, now);
		ended++;
	}
	return ended;
}
