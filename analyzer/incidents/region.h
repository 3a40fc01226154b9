/*
 * region - one region's judgement over its racks: what stands between them, what is not
 * heard of, and the incidents and alerts that come of it.
 *
 * Its open incidents are kept in a file: after a restart they go on under their id.
 * While the ToR of a rack, or a link of it, is known to be at fault, that nothing is
 * heard of the rack is no alert of its own.
 */
#ifndef ANALYZER_INCIDENTS_REGION_H
#define ANALYZER_INCIDENTS_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/incident/incident.h"
#include "schemas/wire.h"

struct localise_counts;
struct incident_table;
struct region;
struct rm_alert_config;
struct rm_alert_counts;
struct rm_http_client;
struct rm_loop;
struct rm_metrics;
struct rm_worker;

struct region_callbacks {
	/* Also of what the file brought back. */
	void (*on_incident)(const char *region, enum wire_incident_state state,
	    const struct rm_incident *incident, void *arg);
	void *arg;
	/* A rack has told why these probes were lost; NULL: none tells anything. */
	bool (*is_explained)(const char *region, const struct rm_verdict *verdict,
	    rm_wall_t now, void *arg);
};

struct region_options { /* what it points to lives longer than the region */
	struct rm_loop *loop;
	struct rm_worker *worker;
	struct rm_http_client *http;
	const char *analyzer;      /* our name, in alerts */
	const char *state_folder;  /* "": open incidents are not kept */
	const char *record_folder; /* NULL or "": nothing is recorded */
	uint64_t record_max_bytes;
	int64_t resolve_after_ns;
	int64_t blind_grace_ns, blind_start_ns; /* see blind.h */
	const struct rm_alert_config *alerts;
	bool first; /* we are the one of the region's analyzers that alerts */
};

int region_new(const struct region_options *options, const char *name,
    const struct region_callbacks *callbacks, struct region **ret);
void region_free(struct region *region); /* after the worker */

/* From now on alerts go to these; see rm_alerts_reload. */
int region_alert_to(struct region *region, const struct rm_alert_config *config);

const char *region_name(const struct region *region);
struct blind *region_blind(const struct region *region);
const struct rm_incidents *region_incidents(const struct region *region);
const struct rm_alert_counts *region_alert_counts(const struct region *region);
/* See rm_alerts_trouble, rm_alerts_metrics. */
const char *region_alert_trouble(const struct region *region);
int region_alert_metrics(struct region *region, struct rm_metrics *metrics,
    const char *name, const char *labels);
/* NULL: nothing is kept. */
const uint64_t *region_file_failures(const struct region *region);

const struct class_marks *region_marks(const struct region *region);
const struct localise_counts *region_localised(const struct region *region);

/* Before each judgement: which RNICs and hosts their racks hold bad now. */
void region_listen_to_table(struct region *region, const struct incident_table *table);

/* What its racks tell: summaries, in order and none twice; */
void region_summary(
    struct region *region, const struct wire_summary_view *view, rm_mono_t now);
/* incidents, each change once; */
void region_incident(
    struct region *region, const struct wire_incident *incident, rm_mono_t now);
/* whether anything is heard of one. */
void region_rack_is_seen(
    struct region *region, const char *tor, bool seen, rm_mono_t now);
/* Takes over what its aggregators say in their hellos, as region_judge does: the
 * longest. */
void region_row_interval(struct region *region, rm_mono_t now);
/* By which it is judged. */
int64_t region_row_interval_ns(const struct region *region);
/* Another analyzer judges it from now on: what is open here ends without a word to
 * anybody but history, and nobody is missed. */
void region_leave(struct region *region);
/* Every 250 ms; also_blind: once a second. -ENOMEM: some verdicts were left out. */
int region_judge(struct region *region, rm_mono_t now, rm_wall_t wall, bool also_blind);

#endif
