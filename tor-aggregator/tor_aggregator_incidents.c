#include "tor-aggregator/tor_aggregator_incidents.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#include "rackmesh/core/error.h"
#include "rackmesh/core/log.h"
#include "rackmesh/incident/alert.h"
#include "rackmesh/incident/incident_file.h"
#include "tor-aggregator/aggregator_config.h"
#include "tor-aggregator/analyzer/report_spool.h"
#include "tor-aggregator/pairs.h"
#include "tor-aggregator/rack/tor_rack.h"
#include "tor-aggregator/tor_aggregator_notified.h"
#include "tor-aggregator/tor_aggregator_state.h"

#define MAX_PATH 4096
/* The number of ticks before a file is written again, after an error of the disk or if
 * only the link-downs of ports have changed. */
#define FILE_AGAIN_TICKS 20

static bool
has_open(const struct tor_rack *rack, const struct rm_part *part)
{
	const struct rm_incidents *incidents = tor_rack_incidents(rack);

	for (size_t i = 0; i < rm_incidents_open(incidents); i++)
		if (rm_part_equal(&rm_incidents_get(incidents, i)->verdict.part, part))
			return true;
	return false;
}

/* The RNICs of a host may be in several racks, so that several racks find the same
 * fault of the host. One alert must be sent: the first rack that opens the incident
 * sends it, and the last rack that closes the incident resolves it. */
static bool
another_is_active(const struct tor_aggregator *aggregator, const struct tor_rack *rack,
    const struct rm_part *part, bool only_before)
{
	for (size_t i = 0; i < aggregator->rack_count; i++) {
		const struct tor_rack *other = aggregator->racks[i];

		if (other == rack && only_before)
			return false;
		if (other != rack && tor_rack_is_active(other) && has_open(other, part))
			return true;
	}
	return false;
}

/* NULL: no files are kept. */
static const struct rm_incident_file *
file_of(const struct tor_aggregator *aggregator, const struct tor_rack *rack)
{
	size_t i = 0;

	while (i < aggregator->rack_count && aggregator->racks[i] != rack)
		i++;
	return i < aggregator->rack_count ? aggregator->incident_files[i] : NULL;
}

static void
alert(struct tor_aggregator *aggregator, const struct tor_rack *rack,
    enum rm_incident_event event, const struct rm_incident *incident)
{
	const struct rm_part *part = &incident->verdict.part;

	tor_aggregator_note_notified(aggregator, rack, event, incident);
	if (!tor_aggregator_alerts_on(rack, part))
		return;
	if (event == RM_INCIDENT_NOTED) {
		rm_alerts_note(aggregator->alerts, incident);
	} else if (event == RM_INCIDENT_RESOLVED) {
		if (!another_is_active(aggregator, rack, part, false))
			rm_alerts_resolve(aggregator->alerts, incident);
	} else if (!another_is_active(aggregator, rack, part, true)) {
		rm_alerts_fire_kept(
		    aggregator->alerts, incident, file_of(aggregator, rack));
	}
}

void
tor_aggregator_on_incident(struct tor_rack *rack, enum rm_incident_event event,
    const struct rm_incident *incident, void *arg)
{
	static const enum wire_incident_state states[] = {
		[RM_INCIDENT_OPENED] = WIRE_OPENED,
		[RM_INCIDENT_UPDATED] = WIRE_UPDATED,
		[RM_INCIDENT_RESOLVED] = WIRE_RESOLVED,
		[RM_INCIDENT_NOTED] = WIRE_UPDATED,
	};
	struct tor_aggregator *aggregator = arg;
	char sentence[RM_SENTENCE_BYTES];

	rm_incident_sentence(incident, sentence, sizeof(sentence));
	if (event == RM_INCIDENT_OPENED)
		rm_log_warn(0, "%s: incident opened: %s", tor_rack_tor(rack), sentence);
	else if (event == RM_INCIDENT_RESOLVED)
		rm_log_info("%s: incident resolved: %s", tor_rack_tor(rack), sentence);
	for (size_t i = 0; i < aggregator->rack_count; i++) {
		if (aggregator->racks[i] != rack)
			continue;
		aggregator->incidents_changed[i] = true;
		pairs_report(aggregator->pairs, i, incident);
	}
	alert(aggregator, rack, event, incident);
	if (tor_rack_is_active(rack))
		report_spool_incident(
		    aggregator->reports, tor_rack_tor(rack), states[event], incident);
}

/* ---- over a restart ---------------------------------------------------------- */

static void
rack_restore(struct tor_aggregator *aggregator, size_t i)
{
	json_t *saved = rm_incident_file_load(aggregator->incident_files[i]);
	struct rm_error error = { 0 };
	int r = 0;

	if (saved != NULL)
		r = tor_rack_restore(
		    aggregator->racks[i], saved, rm_mono_now(), rm_wall_now(), &error);
	json_decref(saved);
	if (error.text[0] != '\0')
		rm_log_warn(0, "incidents of %s: %s: started without %s",
		    aggregator->tors[i], error.text, r < 0 ? "them" : "it");
	if (r > 0)
		rm_log_info("%s: restored %d open incidents", aggregator->tors[i], r);
}

static void
rack_restored(struct tor_aggregator *aggregator, size_t i)
{
	struct tor_rack *rack = aggregator->racks[i];
	const struct rm_incidents *incidents = tor_rack_incidents(rack);
	const struct rm_incident *incident;

	for (size_t n = 0; (incident = rm_incidents_get(incidents, n)) != NULL; n++) {
		const struct rm_part *part = &incident->verdict.part;
		bool resolved = incident->resolved.ns != 0;

		if (resolved && has_open(rack, part)) {
			/* The fault has returned, so the incident is open again. */
			tor_aggregator_mark_notified(aggregator, i, incident->id, true);
			continue;
		}
		if (tor_aggregator_alerts_on(rack, part) &&
		    !another_is_active(aggregator, rack, part, !resolved))
			rm_alerts_restore(aggregator->alerts, incident);
		if (resolved)
			report_spool_incident(aggregator->reports, tor_rack_tor(rack),
			    WIRE_RESOLVED, incident);
	}
}

int
tor_aggregator_restore_incidents(struct tor_aggregator *aggregator)
{
	const char *folder = aggregator->config->state_folder;
	char path[MAX_PATH];
	int n, r;

	if (folder[0] == 0)
		return 0;
	for (size_t i = 0; i < aggregator->rack_count; i++) {
		n = snprintf(path, sizeof(path), "%s/incidents-%s.json", folder,
		    aggregator->tors[i]);
		if (n < 0 || n >= MAX_PATH)
			return -ENAMETOOLONG;
		r = rm_incident_file_new(
		    aggregator->worker, path, &aggregator->incident_files[i]);
		if (r < 0)
			return r;
		rm_incident_file_on_write(
		    aggregator->incident_files[i], rm_alerts_look, aggregator->alerts);
		rack_restore(aggregator, i);
	}
	/* Restore the incidents of all racks before any alert is sent: of several racks
	 * only one sends the alert on a host. */
	for (size_t i = 0; i < aggregator->rack_count; i++)
		if (tor_rack_is_active(aggregator->racks[i]))
			rack_restored(aggregator, i);
	return 0;
}

void
tor_aggregator_keep_incidents(struct tor_aggregator *aggregator, rm_wall_t wall)
{
	const bool again = aggregator->ticks % FILE_AGAIN_TICKS == 0;

	for (size_t i = 0; i < aggregator->rack_count; i++) {
		struct rm_incident_file *file = aggregator->incident_files[i];
		const struct tor_rack *rack = aggregator->racks[i];
		const uint64_t falls = tor_rack_port_falls(rack);
		bool due = aggregator->incidents_changed[i] ||
			   (again && falls != aggregator->port_falls_kept[i]);

		aggregator->incidents_changed[i] = false;
		if (file == NULL || !(due || (again && rm_incident_file_behind(file))))
			continue;
		aggregator->port_falls_kept[i] = falls;
		rm_incident_file_save(file, tor_rack_save(rack, rm_mono_now(), wall));
	}
}

/* Sends the incident's state again, in case the last message was lost. In the database
 * it overwrites the same point. */
static void
report_again(
    struct tor_aggregator *aggregator, size_t i, const struct rm_incident *incident)
{
	report_spool_incident(aggregator->reports, aggregator->tors[i],
	    incident->changed.ns == incident->opened.ns ? WIRE_OPENED : WIRE_UPDATED,
	    incident);
}

void
tor_aggregator_report_incidents(void *arg)
{
	struct tor_aggregator *aggregator = arg;

	for (size_t i = 0; i < aggregator->rack_count; i++) {
		const struct rm_incidents *incidents =
		    tor_rack_incidents(aggregator->racks[i]);

		/* Oldest first. */
		for (size_t n = rm_incidents_open(incidents);
		     n-- > 0 && tor_rack_is_active(aggregator->racks[i]);)
			report_again(aggregator, i, rm_incidents_get(incidents, n));
	}
}

/* ---- active and standby --------------------------------------------------------- */

void
tor_aggregator_fire(
    struct tor_aggregator *aggregator, size_t i, const struct rm_incident *incident)
{
	const struct tor_rack *rack = aggregator->racks[i];
	const struct rm_part *part = &incident->verdict.part;

	if (!tor_aggregator_alerts_on(rack, part) ||
	    tor_aggregator_opening_was_notified(aggregator, part))
		tor_aggregator_mark_notified(aggregator, i, incident->id, false);
	if (tor_aggregator_alerts_on(rack, part) &&
	    !another_is_active(aggregator, rack, part, true))
		rm_alerts_restore(aggregator->alerts, incident);
	report_again(aggregator, i, incident);
	aggregator->incidents_changed[i] = true;
}

/* Sends ends of incidents from before a restart that not all receivers have
 * accepted. */
static void
fire_ends(struct tor_aggregator *aggregator, size_t i)
{
	const struct tor_rack *rack = aggregator->racks[i];
	const struct rm_incidents *incidents = tor_rack_incidents(rack);
	const struct rm_incident *incident;

	for (size_t n = rm_incidents_open(incidents);
	     (incident = rm_incidents_get(incidents, n)) != NULL; n++) {
		const struct rm_part *part = &incident->verdict.part;

		if (incident->notified_resolved)
			continue;
		if (has_open(rack, part) || !tor_aggregator_alerts_on(rack, part))
			tor_aggregator_mark_notified(aggregator, i, incident->id, true);
		else if (!another_is_active(aggregator, rack, part, false))
			rm_alerts_restore(aggregator->alerts, incident);
		report_spool_incident(
		    aggregator->reports, tor_rack_tor(rack), WIRE_RESOLVED, incident);
	}
}

void
tor_aggregator_set_active(struct tor_aggregator *aggregator, size_t i)
{
	struct tor_rack *rack = aggregator->racks[i];
	const struct rm_incidents *incidents = tor_rack_incidents(rack);

	tor_rack_set_active(rack, true);
	for (size_t n = rm_incidents_open(incidents); n-- > 0;)
		tor_aggregator_fire(aggregator, i, rm_incidents_get(incidents, n));
	fire_ends(aggregator, i);
}

void
tor_aggregator_go_standby(struct tor_aggregator *aggregator, size_t i)
{
	struct tor_rack *rack = aggregator->racks[i];
	const struct rm_incidents *incidents = tor_rack_incidents(rack);
	const struct rm_incident *incident;

	tor_rack_set_active(rack, false);
	for (size_t n = 0; (incident = rm_incidents_get(incidents, n)) != NULL; n++) {
		const struct rm_part *part = &incident->verdict.part;

		if ((incident->resolved.ns == 0 || !incident->notified_resolved) &&
		    !another_is_active(aggregator, rack, part, false))
			rm_alerts_withdraw(aggregator->alerts, part);
	}
}
