#include "rackmesh/incident/incident_file.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/error.h"
#include "rackmesh/core/file.h"
#include "rackmesh/core/log.h"
#include "rackmesh/incident/incident_state.h"
#include "rackmesh/loop/file_save.h"

#define MAX_FILE_BYTES (64u << 20)

struct rm_incident_file {
	struct rm_worker *worker;
	char path[PATH_MAX];
	char *writing; /* text that is being saved; NULL: no save is running */
	char *next;    /* newer text that waits to be saved; NULL: none waits */
	bool behind;   /* the last write failed */
	uint64_t failures;
	uint64_t saves; /* number of calls of save */
	/* the numbers of the running and of the waiting save */
	uint64_t writing_save, next_save;
	uint64_t tried, has;
	void (*on_write)(void *arg);
	void *arg;
};

static void start_writing(struct rm_incident_file *file);

int
rm_incident_file_new(
    struct rm_worker *worker, const char *path, struct rm_incident_file **ret)
{
	struct rm_incident_file *file;

	if (strlen(path) >= PATH_MAX)
		return -ENAMETOOLONG;
	file = calloc(1, sizeof(*file));
	if (file == NULL)
		return -ENOMEM;
	file->worker = worker;
	strcpy(file->path, path);
	*ret = file;
	return 0;
}

void
rm_incident_file_free(struct rm_incident_file *file)
{
	if (file == NULL)
		return;
	/* The worker has been freed, and there is no loop that a write could block. */
	if (file->next != NULL)
		rm_file_replace(
		    file->path, (const uint8_t *)file->next, strlen(file->next));
	free(file->next);
	free(file);
}

json_t *
rm_incident_file_load(const struct rm_incident_file *file)
{
	json_error_t error;
	json_t *json = NULL;
	uint8_t *data;
	size_t len;
	int r;

	r = rm_file_read(file->path, MAX_FILE_BYTES, &data, &len);
	if (r == -ENOENT)
		return NULL;
	if (r == -EFBIG) {
		rm_file_set_aside(file->path, ".corrupt", "it is too large");
		return NULL;
	}
	if (r == 0) {
		json =
		    json_loadb((const char *)data, len, JSON_REJECT_DUPLICATES, &error);
		free(data);
		if (json == NULL && json_error_code(&error) == json_error_out_of_memory)
			r = -ENOMEM;
	}
	/* The file may be good: only this process cannot read it now. */
	if (r < 0)
		rm_log_warn(r, "cannot read %s, started without it", file->path);
	else if (json == NULL)
		rm_file_set_aside(file->path, ".corrupt", error.text);
	return json;
}

/* Stores the result of a save. */
static void
settle(struct rm_incident_file *file, uint64_t save, int r)
{
	file->failures += r < 0;
	if (r == 0)
		file->has = save;
	if (save >= file->tried) { /* else a newer save has failed already */
		file->tried = save;
		file->behind = r < 0;
	}
	if (file->on_write != NULL)
		file->on_write(file->arg);
}

static void
write_done(void *arg, int r)
{
	struct rm_incident_file *file = arg;

	if (r == -ECANCELED && file->next == NULL)
		file->next = file->writing; /* rm_incident_file_free writes it */
	else
		free(file->writing);
	file->writing = NULL;
	if (r == -ECANCELED)
		return;
	settle(file, file->writing_save, r);
	start_writing(file);
}

static void
start_writing(struct rm_incident_file *file)
{
	int r;

	if (file->writing != NULL || file->next == NULL)
		return;
	file->writing = file->next;
	file->next = NULL;
	file->writing_save = file->next_save;
	r = rm_file_save(file->worker, file->path, file->writing, strlen(file->writing),
	    write_done, file);
	if (r == 0)
		return;
	/* The worker is full, or there is no memory: the next save, or
	 * rm_incident_file_free, tries again. */
	file->next = file->writing;
	file->writing = NULL;
	settle(file, file->next_save, r);
}

void
rm_incident_file_save(struct rm_incident_file *file, json_t *takes)
{
	char *text = takes == NULL
			 ? NULL
			 : json_dumps(takes, JSON_INDENT(2) | JSON_REAL_PRECISION(6));

	json_decref(takes);
	file->saves++;
	if (text == NULL) {
		settle(file, file->saves, -ENOMEM);
		return;
	}
	free(file->next);
	file->next = text;
	file->next_save = file->saves;
	start_writing(file);
}

void
rm_incident_file_on_write(
    struct rm_incident_file *file, void (*on_write)(void *arg), void *arg)
{
	file->on_write = on_write;
	file->arg = arg;
}

uint64_t
rm_incident_file_next(const struct rm_incident_file *file)
{
	return file->saves + 1;
}

bool
rm_incident_file_tried(const struct rm_incident_file *file, uint64_t save)
{
	return save <= file->tried;
}

bool
rm_incident_file_has(const struct rm_incident_file *file, uint64_t save)
{
	return save <= file->has;
}

bool
rm_incident_file_behind(const struct rm_incident_file *file)
{
	return file->behind && file->writing == NULL;
}

const uint64_t *
rm_incident_file_failures(const struct rm_incident_file *file)
{
	return &file->failures;
}

#define VERSION 1
#define REMEMBER_NS (300 * RM_NS_PER_S)
#define UNTOLD_NS (86400 * RM_NS_PER_S) /* after this a notice is not worth sending */
#define ID_DIGITS 16

/* ---- writing ---- */

static json_t *
legs_json(const struct rm_leg_counts *legs)
{
	return json_pack("[I, I]", (json_int_t)legs->sent, (json_int_t)legs->arrived);
}

static json_t *
ruled_out_json(const struct rm_evidence *evidence)
{
	json_t *list = json_array();

	for (size_t i = 0; list != NULL && i < evidence->ruled_out_count; i++)
		json_array_append_new(list, json_string(evidence->ruled_out[i]));
	return list;
}

static json_t *
evidence_json(const struct rm_evidence *evidence)
{
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:s, s:o, s:o, s:o, s:o, s:s, s:s, "
			 "s:I, s:b, s:s, s:s, s:o, s:s, s:i, s:i, s:i, s:s, s:b, s:s, "
			 "s:s}",
	    "narrowed", evidence->narrowed, "window_ns",
	    (json_int_t)evidence->window_ns, "window_start_ns",
	    (json_int_t)evidence->window_start.ns, "late_ns",
	    (json_int_t)evidence->late_ns, "peers", (json_int_t)evidence->peers,
	    "direction", rm_direction_str(evidence->direction), "to_part",
	    legs_json(&evidence->to_part), "from_part", legs_json(&evidence->from_part),
	    "outside", legs_json(&evidence->outside), "others",
	    legs_json(&evidence->others), "observed", evidence->observed, "counters",
	    evidence->counters, "counters_at_ns", (json_int_t)evidence->counters_at.ns,
	    "counters_old", evidence->counters_old, "impact",
	    rm_impact_str(evidence->impact), "services", evidence->services,
	    "ruled_out", ruled_out_json(evidence), "links", evidence->links,
	    "links_down", (int)evidence->links_down, "links_lossy",
	    (int)evidence->links_lossy, "links_of", (int)evidence->links_of, "widened",
	    evidence->widened, "widened_is_tor", evidence->widened_is_tor, "lost_from",
	    evidence->lost_from, "lost_to", evidence->lost_to);
}

static json_t *
saved_json(const struct rm_incidents *incidents, const struct rm_incident *incident)
{
	const struct rm_verdict *verdict = &incident->verdict;
	json_t *falls = rm_incident_falls_save(
	    incident, incidents->clock_mono, incidents->clock_wall);
	char id[ID_DIGITS + 1], rnic[RM_RNIC_ID_TEXT] = "";

	snprintf(id, sizeof(id), "%016" PRIx64, incident->id);
	if (verdict->rnic.guid != 0)
		rm_rnic_id_format(verdict->rnic, rnic);
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:f, s:I, s:I, s:I, s:I, "
			 "s:I, s:I, s:I, s:I, s:b, s:b, s:o, s:o}",
	    "id", id, "part_type", rm_part_type_str(verdict->part.type), "part",
	    verdict->part.name, "place", verdict->part.place, "rnic", rnic, "kind",
	    rm_kind_str(verdict->kind), "severity", rm_severity_str(incident->severity),
	    "confidence", verdict->confidence, "opened_ns",
	    (json_int_t)incident->opened.ns, "changed_ns",
	    (json_int_t)incident->changed.ns, "resolved_ns",
	    (json_int_t)incident->resolved.ns, "reopened",
	    (json_int_t)incident->reopened, "flaps_since_ns",
	    (json_int_t)incident->flaps_since.ns, "returned_ns",
	    (json_int_t)incident->returned.ns, "returns", (json_int_t)incident->returns,
	    "good_since_ns", (json_int_t)incident->good_since.ns, "notified_opened",
	    incident->notified_opened, "notified_resolved", incident->notified_resolved,
	    "falls", falls, "evidence", evidence_json(&verdict->evidence));
}

static bool
is_worth_keeping(const struct rm_incident *incident, rm_wall_t now)
{
	int64_t age_ns = now.ns - incident->resolved.ns;

	return incident->resolved.ns == 0 || age_ns <= REMEMBER_NS ||
	       (!incident->notified_resolved && age_ns <= UNTOLD_NS);
}

json_t *
rm_incidents_save(const struct rm_incidents *incidents, rm_wall_t now)
{
	json_t *list = json_array(), *one;
	const struct rm_incident *incident;

	/* The oldest is written first, so that loading gives the same order. */
	for (size_t i = incidents->open_count + incidents->closed_count; i-- > 0;) {
		incident = rm_incidents_get(incidents, i);
		if (!is_worth_keeping(incident, now))
			continue;
		one = saved_json(incidents, incident);
		if (one == NULL || json_array_append_new(list, one) < 0) {
			json_decref(list);
			return NULL;
		}
	}
	return json_pack("{s:i, s:o, s:o}", "version", VERSION, "incidents", list,
	    "falls", incident_falls_save(incidents));
}

/* ---- reading: foreign bytes ---- */

/* One incident that is being read, and the first key with a wrong value. */
struct reading {
	const json_t *object;
	const char *wrong; /* NULL: nothing */
};

static void
take_text(struct reading *reading, const char *key, char *out, size_t size, bool empty)
{
	const char *text = json_string_value(json_object_get(reading->object, key));

	if (text == NULL || strlen(text) >= size || (text[0] == '\0' && !empty))
		reading->wrong = key;
	else
		strcpy(out, text);
}

static int64_t
take_number(struct reading *reading, const char *key, int64_t max)
{
	const json_t *number = json_object_get(reading->object, key);
	json_int_t value = json_integer_value(number);

	if (!json_is_integer(number) || value < 0 || value > max) {
		reading->wrong = key;
		return 0;
	}
	return value;
}

/* absent: the value of a missing key. Files of an older version have no such key; that
 * version saved an incident after its notices had been sent. */
static bool
take_notified(
    struct reading *reading, const char *key, const char *old_key, bool absent)
{
	const json_t *notified = json_object_get(reading->object, key);

	if (notified == NULL) /* of a version before 1.0 */
		notified = json_object_get(reading->object, old_key);
	if (notified == NULL)
		return absent;
	if (!json_is_boolean(notified))
		reading->wrong = key;
	return json_is_true(notified);
}

static void
take_legs(struct reading *reading, const char *key, struct rm_leg_counts *legs)
{
	const json_t *pair = json_object_get(reading->object, key);
	json_int_t sent = json_integer_value(json_array_get(pair, 0));
	json_int_t arrived = json_integer_value(json_array_get(pair, 1));

	if (json_array_size(pair) != 2 || sent < 0 || arrived < 0) {
		reading->wrong = key;
		return;
	}
	legs->sent = (uint64_t)sent;
	legs->arrived = (uint64_t)arrived;
}

/* The key is missing in files of an older version. */
static enum rm_direction
take_direction(struct reading *reading, const char *key)
{
	const json_t *direction = json_object_get(reading->object, key);
	const char *name = json_string_value(direction);

	for (int i = 0; i < RM_DIRECTIONS && name != NULL; i++)
		if (strcmp(name, rm_direction_str((enum rm_direction)i)) == 0)
			return (enum rm_direction)i;
	if (direction != NULL)
		reading->wrong = key;
	return RM_DIRECTION_UNKNOWN;
}

static void
take_id(struct reading *reading, uint64_t *id)
{
	char text[ID_DIGITS + 1] = "", *end;

	take_text(reading, "id", text, sizeof(text), false);
	*id = strtoull(text, &end, 16);
	if (strspn(text, "0123456789abcdef") != ID_DIGITS || *id == 0)
		reading->wrong = "id";
}

static void
take_names(struct reading *reading, struct rm_verdict *verdict)
{
	char name[64] = "";

	take_text(reading, "part_type", name, sizeof(name), false);
	for (int i = 1; i < RM_PART_TYPES; i++)
		if (strcmp(name, rm_part_type_str((enum rm_part_type)i)) == 0)
			verdict->part.type = (enum rm_part_type)i;
	if (verdict->part.type == 0)
		reading->wrong = "part_type";
	name[0] = '\0';
	take_text(reading, "kind", name, sizeof(name), false);
	for (int i = 1; i < RM_KINDS; i++)
		if (strcmp(name, rm_kind_str((enum rm_kind)i)) == 0)
			verdict->kind = (enum rm_kind)i;
	if (verdict->kind == 0)
		reading->wrong = "kind";
}

/* The key is missing in files of an older version, which sent every alert as critical.
 */
static enum rm_severity
take_severity(struct reading *reading)
{
	const json_t *severity = json_object_get(reading->object, "severity");
	enum rm_severity ret;

	if (severity == NULL || json_string_length(severity) == 0)
		return RM_SEVERITY_CRITICAL;
	ret = json_is_string(severity) ? rm_severity_parse(json_string_value(severity))
				       : RM_SEVERITY_UNSET;
	if (ret == RM_SEVERITY_UNSET)
		reading->wrong = "severity";
	return ret;
}

/* This key is missing in files of an older version, too. */
static enum rm_impact
take_impact(struct reading *reading)
{
	const json_t *impact = json_object_get(reading->object, "impact");
	const char *name = json_string_value(impact);
	enum rm_impact ret = RM_IMPACT_UNKNOWN;

	if (impact != NULL && (name == NULL || !rm_impact_parse(name, &ret)))
		reading->wrong = "impact";
	return ret;
}

static void
take_links(struct reading *reading, struct rm_evidence *evidence)
{
	if (json_object_get(reading->object, "links") == NULL)
		return; /* a file of an older version */
	take_text(reading, "links", evidence->links, sizeof(evidence->links), true);
	take_text(
	    reading, "widened", evidence->widened, sizeof(evidence->widened), true);
	evidence->widened_is_tor =
	    json_is_true(json_object_get(reading->object, "widened_is_tor"));
	if (json_object_get(reading->object, "lost_from") != NULL) {
		take_text(reading, "lost_from", evidence->lost_from,
		    sizeof(evidence->lost_from), true);
		take_text(reading, "lost_to", evidence->lost_to,
		    sizeof(evidence->lost_to), true);
	}
	evidence->links_down = (unsigned)take_number(reading, "links_down", INT_MAX);
	evidence->links_lossy = (unsigned)take_number(reading, "links_lossy", INT_MAX);
	evidence->links_of = (unsigned)take_number(reading, "links_of", INT_MAX);
}

static void
take_evidence(struct reading *reading, struct rm_evidence *evidence)
{
	const json_t *ruled_out;

	reading->object = json_object_get(reading->object, "evidence");
	evidence->window_ns = take_number(reading, "window_ns", INT64_MAX);
	evidence->window_start.ns = take_number(reading, "window_start_ns", INT64_MAX);
	evidence->peers = (unsigned)take_number(reading, "peers", UINT32_MAX);
	evidence->direction = take_direction(reading, "direction");
	take_legs(reading, "to_part", &evidence->to_part);
	take_legs(reading, "from_part", &evidence->from_part);
	take_legs(reading, "outside", &evidence->outside);
	take_legs(reading, "others", &evidence->others);
	take_text(
	    reading, "observed", evidence->observed, sizeof(evidence->observed), true);
	/* Files of older versions do not have these keys. */
	if (json_object_get(reading->object, "late_ns") != NULL)
		evidence->late_ns = take_number(reading, "late_ns", INT64_MAX);
	if (json_object_get(reading->object, "narrowed") != NULL)
		take_text(reading, "narrowed", evidence->narrowed,
		    sizeof(evidence->narrowed), true);
	if (json_object_get(reading->object, "counters") != NULL)
		take_text(reading, "counters", evidence->counters,
		    sizeof(evidence->counters), true);
	if (json_object_get(reading->object, "counters_at_ns") != NULL)
		evidence->counters_at.ns =
		    take_number(reading, "counters_at_ns", INT64_MAX);
	evidence->counters_old =
	    json_is_true(json_object_get(reading->object, "counters_old"));
	evidence->impact = take_impact(reading);
	if (json_object_get(reading->object, "services") != NULL)
		take_text(reading, "services", evidence->services,
		    sizeof(evidence->services), true);
	take_links(reading, evidence);
	ruled_out = json_object_get(reading->object, "ruled_out");
	if (!json_is_array(ruled_out) ||
	    json_array_size(ruled_out) > RM_EVIDENCE_RULED_OUT)
		reading->wrong = "ruled_out";
	for (size_t i = 0; reading->wrong == NULL && i < json_array_size(ruled_out);
	     i++) {
		const char *text = json_string_value(json_array_get(ruled_out, i));

		if (text == NULL || strlen(text) >= RM_EVIDENCE_TEXT)
			reading->wrong = "ruled_out";
		else
			strcpy(evidence->ruled_out[evidence->ruled_out_count++], text);
	}
}

/* Returns NULL, or the name of the wrong key. */
static const char *
incident_read(
    const json_t *object, rm_mono_t now, rm_wall_t wall, struct rm_incident *incident)
{
	struct reading reading = { .object = object };
	struct rm_verdict *verdict = &incident->verdict;
	char rnic[RM_RNIC_ID_TEXT] = "";

	take_id(&reading, &incident->id);
	take_names(&reading, verdict);
	incident->severity = take_severity(&reading);
	take_text(
	    &reading, "part", verdict->part.name, sizeof(verdict->part.name), false);
	take_text(
	    &reading, "place", verdict->part.place, sizeof(verdict->part.place), true);
	take_text(&reading, "rnic", rnic, sizeof(rnic), true);
	if (rnic[0] != '\0' && rm_rnic_id_parse(rnic, &verdict->rnic) < 0)
		reading.wrong = "rnic";
	verdict->confidence = json_number_value(json_object_get(object, "confidence"));
	if (!isfinite(verdict->confidence) || verdict->confidence < 0 ||
	    verdict->confidence > 1)
		reading.wrong = "confidence";
	incident->opened.ns = take_number(&reading, "opened_ns", INT64_MAX);
	incident->changed.ns = take_number(&reading, "changed_ns", INT64_MAX);
	incident->resolved.ns = take_number(&reading, "resolved_ns", INT64_MAX);
	incident->reopened = (uint64_t)take_number(&reading, "reopened", UINT32_MAX);
	if (rm_incident_falls_read(
		json_object_get(object, "falls"), now, wall, incident) != NULL)
		reading.wrong = "falls";
	if (json_object_get(reading.object, "returns") != NULL) {
		incident->flaps_since.ns =
		    take_number(&reading, "flaps_since_ns", INT64_MAX);
		incident->returned.ns = take_number(&reading, "returned_ns", INT64_MAX);
		incident->returns =
		    (uint64_t)take_number(&reading, "returns", UINT32_MAX);
	}
	if (json_object_get(object, "falls") == NULL) { /* an older version */
		incident->is_total = incident_kind_is_total(verdict->kind);
		incident_falls_guess(incident, now, wall);
	}
	if (json_object_get(reading.object, "good_since_ns") != NULL)
		incident->good_since.ns =
		    take_number(&reading, "good_since_ns", INT64_MAX);
	incident->notified_opened =
	    take_notified(&reading, "notified_opened", "told_opened", true);
	incident->notified_resolved = take_notified(
	    &reading, "notified_resolved", "told_resolved", incident->resolved.ns != 0);
	take_evidence(&reading, &verdict->evidence);
	return reading.wrong;
}

static bool
is_open(const struct rm_incidents *incidents, const struct rm_part *part)
{
	for (size_t i = 0; i < incidents->open_count; i++)
		if (rm_part_equal(&incidents->open[i]->incident.verdict.part, part))
			return true;
	return false;
}

/* Takes ownership of the entry. Returns NULL, or the name of the wrong key. */
static const char *
restore_entry(struct rm_incidents *incidents, struct incident_entry *entry,
    rm_mono_t now, rm_wall_t wall)
{
	struct rm_incident *incident = &entry->incident;
	const char *wrong = NULL;

	incident_note_announced(entry);
	entry->former = true;
	if (incident->fault == RM_FAULT_UNSET)
		incident->fault = incident_fault_of(incident->verdict.kind);
	incident_guess_links(incident);
	entry->fell_again = incident->returned.ns != incident->opened.ns;
	entry->was_good = incident->good_since.ns != 0;
	if (entry->was_good && rm_recurrence_is_old(&incident->recurrence, now))
		incident->recurrence.flaps = false;
	if (incident->resolved.ns != 0) {
		entry->resolved = now;
		if (incidents->options.max_closed > 0 &&
		    is_worth_keeping(incident, wall)) {
			incident_remember(incidents, entry);
			return NULL;
		}
	} else if (is_open(incidents, &incident->verdict.part)) {
		wrong = "part";
	} else if (incidents->open_count == incidents->options.max_open) {
		wrong = "opened_ns"; /* more open incidents than allowed */
	} else {
		incidents->open[incidents->open_count++] = entry;
		return NULL;
	}
	free(entry);
	return wrong;
}

static const char *
restore_one(
    struct rm_incidents *incidents, const json_t *object, rm_mono_t now, rm_wall_t wall)
{
	struct incident_entry *entry = calloc(1, sizeof(*entry));
	const char *wrong;

	if (entry == NULL)
		return "memory";
	wrong = incident_read(object, now, wall, &entry->incident);
	if (wrong == NULL)
		return restore_entry(incidents, entry, now, wall);
	free(entry);
	return wrong;
}

int
rm_incidents_restore(struct rm_incidents *incidents, const json_t *saved, rm_mono_t now,
    rm_wall_t wall, struct rm_error *error)
{
	const json_t *list = json_object_get(saved, "incidents");
	size_t unusable = 0;

	if (json_integer_value(json_object_get(saved, "version")) != VERSION ||
	    !json_is_array(list))
		return rm_error_set(
		    error, -EINVAL, "expected version %d and incidents", VERSION);
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *wrong =
		    restore_one(incidents, json_array_get(list, i), now, wall);

		if (wrong == NULL)
			continue;
		incidents->counts.refused++;
		if (unusable++ == 0)
			rm_error_set(error, -EINVAL, "incidents[%zu].%s is not usable",
			    i, wrong);
	}
	incidents->clock_mono = now;
	incidents->clock_wall = wall;
	list = json_object_get(saved, "falls"); /* not in files of an older version */
	for (size_t i = 0; i < json_array_size(list) && i < INCIDENT_FALLS_MAX; i++) {
		const char *wrong = incident_falls_restore(
		    incidents, json_array_get(list, i), now, wall);

		if (wrong == NULL)
			continue;
		incidents->counts.refused++;
		if (unusable++ == 0)
			rm_error_set(
			    error, -EINVAL, "falls[%zu].%s is not usable", i, wrong);
	}
	return (int)incidents->open_count;
}
