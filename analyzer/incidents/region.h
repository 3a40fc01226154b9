/*
 * region - judges one region: faults between its racks, silent racks, and the incidents
 * and alerts for both.
 *
 * Its open incidents are saved in a file: after a restart they continue under their
 * ids. While the ToR of a rack, or a link of the ToR, is known to be at fault, no alert
 * is sent for the silence of the rack.
 */
#ifndef ANALYZER_INCIDENTS_REGION_H
#define ANALYZER_INCIDENTS_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/incident/incident.h"
#include "schemas/wire.h"

struct cnp_finding;
struct localise_counts;
struct port_counts_counts;
struct incident_table;
struct region;
struct rm_alert_config;
struct rm_alert_counts;
struct rm_http_client;
struct rm_loop;
struct rm_metrics;
struct rm_worker;

struct region_callbacks {
	/* Also called for incidents that were restored from the file. */
	void (*on_incident)(const char *region, enum wire_incident_state state,
	    const struct rm_incident *incident, void *arg);
	void *arg;
	/* True: an incident of a rack explains these losses. NULL: no incident explains
	 * losses. */
	bool (*is_explained)(const char *region, const struct rm_verdict *verdict,
	    rm_wall_t now, void *arg);
};

struct region_options { /* all pointers must live longer than the region */
	struct rm_loop *loop;
	struct rm_worker *worker;
	struct rm_http_client *http;
	const char *analyzer;      /* name of this analyzer, in alerts */
	const char *state_folder;  /* "": open incidents are not saved */
	const char *record_folder; /* NULL or "": nothing is recorded */
	uint64_t record_max_bytes;
	int64_t resolve_after_ns;
	int64_t flap_within_ns;                 /* as in rm_incident_options */
	int64_t blind_grace_ns, blind_start_ns; /* see blind.h */
	const struct rm_alert_config *alerts;
	bool first; /* this analyzer is the first in the aggregators' lists */
};

int region_new(const struct region_options *options, const char *name,
    const struct region_callbacks *callbacks, struct region **ret);
void region_free(struct region *region); /* after the worker */

/* From now on alerts go to these receivers; see rm_alerts_reload. */
int region_alert_to(struct region *region, const struct rm_alert_config *config);

const char *region_name(const struct region *region);
struct blind *region_blind(const struct region *region);
const struct rm_incidents *region_incidents(const struct region *region);
const struct rm_alert_counts *region_alert_counts(const struct region *region);
/* See rm_alerts_trouble, rm_alerts_metrics. */
const char *region_alert_trouble(const struct region *region);
int region_alert_metrics(struct region *region, struct rm_metrics *metrics,
    const char *name, const char *labels);
/* Returns how often the file of open incidents could not be written; NULL: there is no
 * file. */
const uint64_t *region_file_failures(const struct region *region);

const struct class_marks *region_marks(const struct region *region);
/* Whether the region's CNPs (congestion notification packets) arrive. */
const struct cnp_finding *region_cnps(const struct region *region);
/* Returns counts of rows on ports of switches that were left out or refused. */
const struct port_counts_counts *region_ports(const struct region *region);
const struct localise_counts *region_localised(const struct region *region);

/* Call it before each judgement: it takes over the RNICs and hosts that have an open
 * incident of their own rack. */
void region_update_ends(struct region *region, const struct incident_table *table);

/* Handles a summary of one of the region's racks. Call it in order, and once for each
 * summary. */
void region_summary(
    struct region *region, const struct wire_summary_view *view, rm_mono_t now);
/* Handles an incident of one of the region's racks. Call it once for each change. */
void region_incident(
    struct region *region, const struct wire_incident *incident, rm_mono_t now);
/* Whether an aggregator reports this rack now. */
void region_rack_is_seen(
    struct region *region, const char *tor, bool seen, rm_mono_t now);
/* Sets the summary interval that the judgement uses to the longest one in the hellos of
 * its aggregators. region_judge does this, too. */
void region_row_interval(struct region *region, rm_mono_t now);
/* The summary interval that the judgement uses. */
int64_t region_row_interval_ns(const struct region *region);
/* Another analyzer judges the region from now on: open incidents end here, without a
 * message to the receivers of alerts, and a silent rack is no finding. */
void region_leave(struct region *region);
/* Call it every 250 ms; also_blind: also judge which racks are silent, once a second.
 * -ENOMEM: incidents are unchanged. */
int region_judge(struct region *region, rm_mono_t now, rm_wall_t wall, bool also_blind);

#endif
