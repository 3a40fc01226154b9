#include "analyzer/incidents/region.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/blind/blind.h"
#include "analyzer/incidents/incident_table.h"
#include "analyzer/incidents/incident_table_ends.h"
#include "analyzer/incidents/part_names.h"
#include "analyzer/incidents/port_counts.h"
#include "analyzer/incidents/recorder.h"
#include "analyzer/incidents/service_uses.h"
#include "analyzer/localise/localise.h"
#include "analyzer/marks/class_marks.h"
#include "analyzer/marks/cnp_balance.h"
#include "rackmesh/core/log.h"
#include "rackmesh/core/random.h"
#include "rackmesh/incident/alert.h"
#include "rackmesh/incident/alert_config.h"
#include "rackmesh/incident/incident_adopt.h"
#include "rackmesh/incident/incident_file.h"
#include "rackmesh/judge/part.h"

struct region {
	char name[RM_NAME_BYTES];
	struct region_callbacks callbacks;
	struct localise *localise;
	struct recorder *recorder; /* NULL: nothing is recorded */
	struct blind *blind;
	struct class_marks *marks;
	struct port_counts *ports;
	struct service_uses *uses;
	struct cnp_balance *cnps;
	struct rm_incidents *incidents;
	struct rm_alerts *alerts;
	struct rm_incident_file *file; /* NULL: incidents are not saved */
	/* the longest row interval of the region's aggregators */
	int64_t row_interval_ns;
	/* incident_table_changes when the RNICs and hosts with incidents were last
	 * copied to localise */
	uint64_t incident_table_seen;
	bool is_dirty; /* the file is older than the incidents */
	bool is_first; /* this is the first analyzer of the aggregators' lists */
	/* this is not the first analyzer, and no aggregator is connected to it */
	bool is_left;
	/* time since which this analyzer is cut off; ns 0: it is not */
	rm_mono_t cut_off;
	rm_mono_t connected;             /* when an aggregator was last connected */
	rm_mono_t now;                   /* time of the current judgement */
	const struct rm_verdict *silent; /* the last verdicts of blind_judge */
	size_t silent_count;
	/* verdicts of all kinds, of the current judgement */
	struct rm_verdict *verdicts;
	size_t verdict_room;
};

/* ---- aggregators at another analyzer, an analyzer that is cut off ---- */

/* After this time without a message, the receivers of alerts are asked for an answer.
 */
#define ALONE_NS (1 * RM_NS_PER_S)
#define ANSWER_NS (2 * RM_NS_PER_S) /* reachable receivers answer within this time */
/* After this time without a message, a rack or an aggregator is reported as missing. */
#define LEFT_NS (2 * RM_NS_PER_S)

void
region_leave(struct region *region)
{
	const struct rm_incident *incident;

	while (rm_incidents_open(region->incidents) > 0) {
		incident = rm_incidents_get(region->incidents, 0);
		rm_alerts_withdraw(region->alerts, &incident->verdict.part);
		rm_incidents_end(region->incidents, incident->id, rm_wall_now(), true,
		    rm_mono_now());
		region->callbacks.on_incident(region->name, WIRE_RESOLVED,
		    rm_incidents_get(
			region->incidents, rm_incidents_open(region->incidents)),
		    region->callbacks.arg);
	}
	blind_clear(region->blind);
	localise_forget_named(region->localise);
	region->incident_table_seen = UINT64_MAX;
	region->silent_count = 0;
	region->is_dirty = true;
	region->is_left = true;
	rm_log_info("region %s: left to another analyzer", region->name);
}

/* Decides for an analyzer that is not the first one. If no aggregator was connected for
 * LEFT_NS, the aggregators use another analyzer, and the open incidents are left to
 * that analyzer. */
static bool
region_is_left(struct region *region, rm_mono_t now)
{
	if (blind_is_connected(region->blind)) {
		region->connected = now;
		region->is_left = false;
	}
	if (!region->is_left && rm_mono_since(now, region->connected) >= LEFT_NS)
		region_leave(region);
	return region->is_left;
}

/* True: no aggregator has sent anything for ALONE_NS, and no receiver of alerts
 * answers, so this analyzer is cut off from the network. Then no rack is reported as
 * silent. */
static bool
region_is_cut_off(struct region *region, rm_mono_t now)
{
	rm_mono_t last_seen;
	bool cut_off;

	if (!blind_last_seen(region->blind, &last_seen))
		return false;
	last_seen = rm_mono_add(last_seen, ALONE_NS);
	cut_off = rm_mono_since(now, last_seen) >= 0 &&
		  !rm_alerts_answered(region->alerts, last_seen);
	/* After the cut the grace time of every silent aggregator begins again. */
	if (!cut_off && region->cut_off.ns != 0 &&
	    rm_mono_since(now, region->cut_off) >= ANSWER_NS)
		blind_stalled(region->blind, now);
	if (!cut_off || region->cut_off.ns == 0)
		region->cut_off = cut_off ? now : (rm_mono_t){ 0 };
	return cut_off;
}

#define MAX_OPEN 2048
#define MAX_CLOSED 1024
/* Row interval until an aggregator reports its own. */
#define ROW_INTERVAL_NS (WIRE_SUMMARY_INTERVAL_S * RM_NS_PER_S)
#define FORGET_NS (86400 * RM_NS_PER_S)
#define MAX_PATH 2048

/* ---- incidents ---- */

static void
on_event(enum rm_incident_event event, const struct rm_incident *incident, void *arg)
{
	static const enum wire_incident_state states[] = {
		[RM_INCIDENT_OPENED] = WIRE_OPENED,
		[RM_INCIDENT_UPDATED] = WIRE_UPDATED,
		[RM_INCIDENT_RESOLVED] = WIRE_RESOLVED,
		[RM_INCIDENT_NOTED] = WIRE_UPDATED,
	};
	struct region *region = arg;
	char sentence[RM_SENTENCE_BYTES];

	rm_incident_sentence(incident, sentence, sizeof(sentence));
	if (event == RM_INCIDENT_OPENED)
		rm_log_warn(
		    0, "region %s: incident opened: %s", region->name, sentence);
	else if (event == RM_INCIDENT_RESOLVED)
		rm_log_info("region %s: incident resolved: %s", region->name, sentence);
	if (event == RM_INCIDENT_RESOLVED)
		rm_alerts_resolve(region->alerts, incident);
	else if (event == RM_INCIDENT_NOTED)
		rm_alerts_note(region->alerts, incident);
	else
		rm_alerts_fire_kept(region->alerts, incident, region->file);
	region->is_dirty = true;
	region->callbacks.on_incident(
	    region->name, states[event], incident, region->callbacks.arg);
}

static void
on_notified(uint64_t incident, bool resolved, void *arg)
{
	struct region *region = arg;

	region->is_dirty |=
	    rm_incidents_notified(region->incidents, incident, resolved);
}

static enum rm_health
health_of(const struct rm_verdict *verdict, void *arg)
{
	const struct region *region = arg;

	switch (verdict->part.type) {
	case RM_PART_RACK:
	case RM_PART_AGGREGATOR:
	case RM_PART_REGION:
	case RM_PART_CONTROLLER:
	case RM_PART_ANALYZER:
		return blind_health(region->blind, verdict, region->now);
	case RM_PART_CLASS:
		return class_marks_health(region->marks, verdict);
	default:
		return localise_health(region->localise, verdict);
	}
}

/* ---- verdicts ---- */

static int
make_room(struct region *region, size_t count)
{
	struct rm_verdict *grown;

	if (count <= region->verdict_room)
		return 0;
	grown = realloc(region->verdicts, count * sizeof(*grown));
	if (grown == NULL)
		return -ENOMEM;
	region->verdicts = grown;
	region->verdict_room = count;
	return 0;
}

/* True: the rack is silent because of a fault of its ToR, or of a link of the ToR, that
 * is found now or has an open incident, unless that one is on a flapping part that is
 * good now. */
static bool
is_explained(const struct region *region, const struct rm_verdict *silent, size_t found)
{
	const struct rm_incidents *incidents = region->incidents;
	const char *tor = silent->part.name;

	if (silent->part.type != RM_PART_RACK)
		return false;
	for (size_t i = 0; i < found; i++)
		if (part_names_tor_of(&region->verdicts[i], tor))
			return true;
	for (size_t i = 0; i < rm_incidents_open(incidents); i++) {
		const struct rm_incident *incident = rm_incidents_get(incidents, i);

		if (incident->good_since.ns == 0 &&
		    part_names_tor_of(&incident->verdict, tor))
			return true;
	}
	return false;
}

static int
gather(struct region *region, rm_wall_t wall, size_t *count)
{
	const struct region_callbacks *callbacks = &region->callbacks;
	const struct rm_verdict *found = NULL, *rewritten = NULL;
	const int classes =
	    class_marks_judge(region->marks, region->now, wall, &rewritten);
	size_t between,
	    silent = region->silent_count < MAX_OPEN ? region->silent_count : MAX_OPEN;
	int n, r;

	recorder_judged(region->recorder, region->now, wall);
	n = localise_judge(region->localise, region->now, wall, &found);
	if (n < 0)
		return n;
	r = make_room(region, (size_t)n + silent + (size_t)classes + 1);
	if (r < 0)
		return r;
	*count = 0;
	for (int i = 0; i < n; i++)
		if (callbacks->is_explained == NULL ||
		    !callbacks->is_explained(
			region->name, &found[i], wall, callbacks->arg))
			region->verdicts[(*count)++] = found[i];
	for (size_t i = 0; i < *count; i++) {
		port_counts_fill(region->ports, &region->verdicts[i], region->now);
		service_uses_fill(region->uses, &region->verdicts[i], region->now);
	}
	between = *count;
	for (size_t i = 0; i < silent; i++)
		if (!is_explained(region, &region->silent[i], between)) {
			region->verdicts[*count] = region->silent[i];
			service_uses_fill(
			    region->uses, &region->verdicts[(*count)++], region->now);
		}
	for (int i = 0; i < classes; i++)
		region->verdicts[(*count)++] = rewritten[i];
	return 0;
}

void
region_update_ends(struct region *region, const struct incident_table *table)
{
	if (incident_table_changes(table) == region->incident_table_seen)
		return;
	region->incident_table_seen = incident_table_changes(table);
	incident_table_ends_report(table, region->name, region->localise);
}

/* once_more: also write the state again if the last write failed; once a second. */
static void
keep(struct region *region, rm_wall_t wall, bool once_more)
{
	if (region->file == NULL)
		return;
	if (once_more)
		region->is_dirty |= rm_incident_file_behind(region->file);
	if (region->is_dirty)
		rm_incident_file_save(
		    region->file, rm_incidents_save(region->incidents, wall));
	region->is_dirty = false;
}

int64_t
region_row_interval_ns(const struct region *region)
{
	return region->row_interval_ns;
}

void
region_row_interval(struct region *region, rm_mono_t now)
{
	int64_t longest_ns = blind_longest_row_interval(region->blind, now);

	if (longest_ns == region->row_interval_ns)
		return;
	region->row_interval_ns = longest_ns;
	localise_row_interval(region->localise, longest_ns);
	recorder_row_interval(region->recorder, longest_ns, now);
	rm_log_info("region %s: summary interval changed to %lld s", region->name,
	    (long long)(longest_ns / RM_NS_PER_S));
}

int
region_judge(struct region *region, rm_mono_t now, rm_wall_t wall, bool also_blind)
{
	size_t count = 0;
	int r, ret = 0;

	region->now = now;
	cnp_balance_judge(region->cnps, now, wall);
	if (also_blind)
		region_row_interval(region, now);
	if (!region->is_first && region_is_left(region, now)) {
		keep(region, wall, also_blind);
		return 0;
	}
	if (also_blind) {
		region->silent_count = 0;
		r = 0;
		if (!region_is_cut_off(region, now))
			r = blind_judge(region->blind, now, wall, &region->silent);
		if (r < 0)
			ret = r;
		else
			region->silent_count = (size_t)r;
	}
	/* Without all verdicts, open incidents would seem to have ended. */
	r = ret == 0 ? gather(region, wall, &count) : ret;
	if (r < 0)
		return r;
	rm_incidents_judge(region->incidents, now, wall, region->verdicts, count,
	    health_of, on_event, region);
	keep(region, wall, also_blind);
	return 0;
}

/* Returns 0 if the value is missing, or is not a number in range. */
static uint64_t
count_of(const json_t *object, const char *name)
{
	const json_int_t count = json_integer_value(json_object_get(object, name));

	return count > 0 ? (uint64_t)count : 0;
}

static void
tor_incident(struct region *region, const struct wire_incident *incident, rm_mono_t now)
{
	json_t *json = json_loads(incident->evidence_json, 0, NULL);
	json_t *evidence = json_object_get(json, "evidence");
	json_t *others = json_object_get(evidence != NULL ? evidence : json, "others");
	const struct rm_leg_counts inside = { count_of(others, "sent"),
		count_of(others, "arrived") };
	const bool is_down = strcmp(incident->kind, rm_kind_str(RM_KIND_TOR_DOWN)) == 0;
	const enum localise_tor_report report =
	    localise_tor_report(is_down && incident->state != WIRE_RESOLVED &&
				    incident->good_since_wall_ns == 0,
		&inside, (unsigned)count_of(evidence, "peers"));

	localise_tor_verdict(region->localise, incident->part, report, now);
	recorder_tor(region->recorder, incident->part, report, now);
	json_decref(json);
}

void
region_incident(
    struct region *region, const struct wire_incident *incident, rm_mono_t now)
{
	recorder_incident(region->recorder, incident, now);
	if (incident_table_is_fall(incident))
		localise_rack_found(
		    region->localise, incident->tor, incident->kind, now);
	/* A rack reports on its own ToR only. The kind does not matter here: an
	 * incident of a ToR that was down may become one of a late ToR. */
	if (strcmp(incident->part_type, rm_part_type_str(RM_PART_TOR)) == 0 &&
	    strcmp(incident->part, incident->tor) == 0)
		tor_incident(region, incident, now);
}

void
region_summary(
    struct region *region, const struct wire_summary_view *view, rm_mono_t now)
{
	const int64_t age_ns = service_uses_summary(region->uses, view, now);

	recorder_summary(region->recorder, view, now);
	/* localise counts what it has no room for. */
	(void)localise_summary(region->localise, view, now);
	class_marks_summary(region->marks, view, now);
	port_counts_summary(region->ports, view, age_ns, now);
	cnp_balance_summary(region->cnps, &view->summary, age_ns, now);
}

void
region_rack_is_seen(struct region *region, const char *tor, bool seen, rm_mono_t now)
{
	recorder_rack_is_seen(region->recorder, tor, seen, now);
	localise_rack_is_seen(region->localise, tor, seen);
}

/* ---- creation and end ---- */

/* True: the part has failed again since then. Both incidents have equal labels, so they
 * share one alert. */
static bool
came_back(const struct rm_incidents *incidents, const struct rm_incident *incident)
{
	for (size_t i = 0; i < rm_incidents_open(incidents); i++)
		if (rm_part_equal(&rm_incidents_get(incidents, i)->verdict.part,
			&incident->verdict.part))
			return true;
	return false;
}

/* Returns the state of the incident's last point, to write the same point again. */
static enum wire_incident_state
last_state(const struct rm_incident *incident)
{
	if (incident->resolved.ns != 0)
		return WIRE_RESOLVED;
	return incident->changed.ns == incident->opened.ns ? WIRE_OPENED : WIRE_UPDATED;
}

static void
take_back(struct region *region)
{
	const struct rm_incidents *incidents = region->incidents;
	const struct rm_incident *incident;
	json_t *saved = rm_incident_file_load(region->file);
	struct rm_error error = { 0 };
	int r = 0;

	if (saved != NULL)
		r = rm_incidents_restore(
		    region->incidents, saved, rm_mono_now(), rm_wall_now(), &error);
	json_decref(saved);
	if (error.text[0] != '\0')
		rm_log_warn(0, "incidents of region %s: %s: started without %s",
		    region->name, error.text, r < 0 ? "them" : "it");
	for (size_t i = 0; (incident = rm_incidents_get(incidents, i)) != NULL; i++) {
		if (incident->resolved.ns != 0 && came_back(incidents, incident))
			on_notified(incident->id, true, region); /* no end is sent */
		else
			rm_alerts_restore(region->alerts, incident);
		region->callbacks.on_incident(region->name, last_state(incident),
		    incident, region->callbacks.arg);
	}
	if (r > 0)
		rm_log_info("region %s: restored %d open incidents", region->name, r);
}

static int
start_file(struct region *region, const struct region_options *options)
{
	const char *folder = options->state_folder;
	char path[MAX_PATH];
	int r;

	if (folder[0] == '\0')
		return 0;
	snprintf(path, sizeof(path), "%s/incidents-%s.json", folder, region->name);
	r = rm_incident_file_new(options->worker, path, &region->file);
	if (r < 0)
		return r;
	rm_incident_file_on_write(region->file, rm_alerts_look, region->alerts);
	take_back(region);
	return 0;
}

static int
start_alerts(struct region *region, const struct region_options *options)
{
	struct rm_alert_options alerts = {
		.texts = { .region = region->name, .source = options->analyzer },
		.on_notified = on_notified,
		.arg = region,
	};

	rm_alert_config_options(options->alerts, &alerts);
	return rm_alerts_new(options->loop, options->http, &alerts, &region->alerts);
}

/* A failure is not fatal: without a recording the region is judged all the same. */
static void
start_recording(struct region *region, const struct region_options *options)
{
	const struct recorder_options recorder = {
		.folder = options->record_folder,
		.region = region->name,
		.max_bytes = options->record_max_bytes,
		.row_interval_ns = region->row_interval_ns,
		.now = rm_mono_now(),
		.wall = rm_wall_now(),
	};
	int r = 0;

	if (options->record_folder != NULL && options->record_folder[0] != '\0')
		r = recorder_new(&recorder, &region->recorder);
	if (r < 0)
		rm_log_warn(r, "cannot record in %s", options->record_folder);
}

static int
start_judging(struct region *region, const struct region_options *options)
{
	const struct localise_options localise = {
		.region = region->name,
		.row_interval_ns = region->row_interval_ns,
	};
	const struct blind_options blind = {
		.grace_ns = options->blind_grace_ns,
		.start_ns = options->blind_start_ns,
		.row_interval_ns = region->row_interval_ns,
		.forget_ns = FORGET_NS,
	};
	const struct rm_incident_options incidents = {
		.max_open = MAX_OPEN,
		.max_closed = MAX_CLOSED,
		.resolve_after_ns = options->resolve_after_ns,
		.flap_within_ns = options->flap_within_ns,
		.id_seed = rm_random_u64(),
	};
	int r;

	r = localise_new(&localise, &region->localise);
	if (r == 0)
		r = blind_new(&blind, rm_mono_now(), &region->blind);
	if (r == 0)
		r = class_marks_new(&region->marks);
	if (r == 0)
		region->ports = port_counts_new();
	if (r == 0)
		region->uses = service_uses_new();
	if (r == 0)
		region->cnps = cnp_balance_new();
	if (r == 0 &&
	    (region->ports == NULL || region->uses == NULL || region->cnps == NULL))
		r = -ENOMEM;
	if (r == 0)
		r = rm_incidents_new(&incidents, &region->incidents);
	return r;
}

int
region_new(const struct region_options *options, const char *name,
    const struct region_callbacks *callbacks, struct region **ret)
{
	struct region *region = calloc(1, sizeof(*region));
	int r;

	if (region == NULL)
		return -ENOMEM;
	snprintf(region->name, sizeof(region->name), "%s", name);
	region->callbacks = *callbacks;
	region->is_first = options->first;
	region->row_interval_ns = ROW_INTERVAL_NS;
	/* Aggregators that were connected before the restart get time to reconnect. */
	region->connected = rm_mono_add(rm_mono_now(), options->blind_start_ns);
	r = start_judging(region, options);
	start_recording(region, options);
	if (r == 0)
		r = start_alerts(region, options);
	if (r == 0)
		r = start_file(region, options);
	if (r < 0) {
		region_free(region);
		return r;
	}
	*ret = region;
	return 0;
}

void
region_free(struct region *region)
{
	if (region == NULL)
		return;
	rm_incident_file_free(region->file);
	rm_alerts_free(region->alerts);
	rm_incidents_free(region->incidents);
	blind_free(region->blind);
	class_marks_free(region->marks);
	port_counts_free(region->ports);
	service_uses_free(region->uses);
	cnp_balance_free(region->cnps);
	localise_free(region->localise);
	recorder_free(region->recorder);
	free(region->verdicts);
	free(region);
}

int
region_alert_to(struct region *region, const struct rm_alert_config *config)
{
	struct rm_alert_options receivers = { 0 };

	rm_alert_config_options(config, &receivers);
	return rm_alerts_reload(region->alerts, &receivers);
}

const char *
region_name(const struct region *region)
{
	return region->name;
}

struct blind *
region_blind(const struct region *region)
{
	return region->blind;
}

const struct class_marks *
region_marks(const struct region *region)
{
	return region->marks;
}

const struct cnp_finding *
region_cnps(const struct region *region)
{
	return cnp_balance_finding(region->cnps);
}

const struct port_counts_counts *
region_ports(const struct region *region)
{
	return port_counts_counts(region->ports);
}

const struct localise_counts *
region_localised(const struct region *region)
{
	return localise_counts(region->localise);
}

const struct rm_incidents *
region_incidents(const struct region *region)
{
	return region->incidents;
}

const struct rm_alert_counts *
region_alert_counts(const struct region *region)
{
	return rm_alerts_counts(region->alerts);
}

const char *
region_alert_trouble(const struct region *region)
{
	return rm_alerts_trouble(region->alerts);
}

int
region_alert_metrics(struct region *region, struct rm_metrics *metrics,
    const char *name, const char *labels)
{
	return rm_alerts_metrics(region->alerts, metrics, name, labels);
}

const uint64_t *
region_file_failures(const struct region *region)
{
	return region->file != NULL ? rm_incident_file_failures(region->file) : NULL;
}
