#include "analyzer/incidents/incident_table.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "rackmesh/identity/sight.h"
#include "rackmesh/incident/incident.h"
#include "rackmesh/judge/verdict.h"

/* One message about an incident, after its checks. Strings are borrowed, and each fits
 * into its field of an entry. */
struct message {
	uint64_t id;
	enum wire_incident_state state;
	bool is_own;
	const char *region, *source, *tor;
	const char *part_type, *part, *place, *kind;
	enum rm_severity severity;
	double confidence;
	rm_wall_t began, opened, changed, good_since;
	const char *sentence, *evidence_json;
	char own_sentence[RM_SENTENCE_BYTES];
};

/* Most reports of one incident. This is enough for a host with eight rails, for which
 * both aggregators of each of its racks may report the same fault. */
#define MAX_REPORTS 32
#define KEY_BYTES (RM_NAME_BYTES + 24)
#define LABELS_BYTES (2 * RM_NAME_BYTES + RM_PART_NAME_BYTES + 32)

/* The reports of one aggregator, or of this analyzer, on an incident under one id. */
struct report {
	char key[KEY_BYTES]; /* region and id */
	struct node *node;
	/* the aggregator and the rack that report it */
	char source[RM_NAME_BYTES], tor[RM_NAME_BYTES];
	bool is_own, is_open;
	/* which part of "A or B" is at fault: 1: A; 2: B; 0: not known */
	unsigned known;
	rm_wall_t changed;
	rm_wall_t good_since; /* as in the entry */
	UT_hash_handle hh;
};

struct node {
	struct incident_table_entry entry; /* first */
	char labels[LABELS_BYTES];
	struct report *reports[MAX_REPORTS];
	size_t report_count;
	size_t place; /* index in the list of open reports, while the report is open */
	/* links the incident into the table by labels, while it is open */
	UT_hash_handle hh;
};

struct incident_table {
	struct node *open[INCIDENT_TABLE_MAX_OPEN]; /* oldest first */
	size_t open_count;
	struct node *
	    /* a ring; the next entry is written at closed_next */
	    closed[INCIDENT_TABLE_MAX_CLOSED];
	size_t closed_count, closed_next;
	struct node *by_labels;
	struct report *by_key;
	uint64_t changes;
	struct rm_sight_counts by_region; /* changes so far */
	struct incident_table_counts counts;
};

/* ---- checks of a report ---- */

/* This is later than any real time: near the year 2262. */
#define MAX_WALL_NS (INT64_MAX - 86400 * RM_NS_PER_S)

/* For names that become labels and are written to the log: printable ASCII without '|',
 * which separates labels. room: size of the field for the name, with the final '\0'. */
static bool
is_label(const char *text, size_t room)
{
	size_t len = 0;

	for (; text[len] != '\0'; len++)
		if (text[len] < ' ' || text[len] > '~' || text[len] == '|')
			return false;
	return len > 0 && len < room;
}

static bool
is_part_type(const char *name)
{
	for (int i = RM_PART_RNIC; i < RM_PART_TYPES; i++)
		if (strcmp(name, rm_part_type_str((enum rm_part_type)i)) == 0)
			return true;
	return false;
}

static bool
is_text(const char *text)
{
	/* NULL: the text is not UTF-8, or there is no memory */
	json_t *json = json_string(text);
	bool good = json != NULL;

	json_decref(json);
	return good;
}

/* Checks the fields of the incident and copies them to *ret. -EINVAL: a field is out of
 * range. */
static int
read_edge(const struct wire_incident *incident, struct message *ret)
{
	const size_t kind_bytes = sizeof(((struct incident_table_entry *)0)->kind);

	if (!rm_name_valid(incident->head.region) ||
	    !rm_name_valid(incident->head.aggregator) || !rm_name_valid(incident->tor))
		return -EINVAL;
	if (!is_part_type(incident->part_type) ||
	    !is_label(incident->part, RM_PART_NAME_BYTES) ||
	    !is_label(incident->kind, kind_bytes))
		return -EINVAL;
	if (incident->place[0] != '\0' && !rm_name_valid(incident->place))
		return -EINVAL;
	/* Also false for a number that is not finite. */
	if (!(incident->confidence >= 0 && incident->confidence <= 1))
		return -EINVAL;
	if (incident->began_wall_ns > MAX_WALL_NS ||
	    incident->opened_wall_ns > MAX_WALL_NS ||
	    incident->changed_wall_ns > MAX_WALL_NS ||
	    incident->good_since_wall_ns > MAX_WALL_NS || incident->incident_id == 0)
		return -EINVAL;
	if (!is_text(incident->sentence) || !is_text(incident->evidence_json))
		return -EINVAL;
	*ret = (struct message){
		.id = incident->incident_id,
		.state = incident->state,
		.region = incident->head.region,
		.source = incident->head.aggregator,
		.tor = incident->tor,
		.part_type = incident->part_type,
		.part = incident->part,
		.place = incident->place,
		.kind = incident->kind,
		.severity = rm_severity_parse(incident->severity),
		.confidence = incident->confidence,
		.began = { (int64_t)incident->began_wall_ns },
		.opened = { (int64_t)incident->opened_wall_ns },
		.changed = { (int64_t)incident->changed_wall_ns },
		.good_since = { (int64_t)incident->good_since_wall_ns },
		.sentence = incident->sentence,
		.evidence_json = incident->evidence_json,
	};
	return 0;
}

static int
read_own(const char *region, const char *analyzer, enum wire_incident_state state,
    const struct rm_incident *incident, const char *evidence_json, struct message *ret)
{
	const struct rm_verdict *verdict = &incident->verdict;
	const struct rm_part *part = &verdict->part;
	bool of_tor = part->type == RM_PART_TOR || part->type == RM_PART_RACK;

	*ret = (struct message){
		.id = incident->id,
		.state = state,
		.is_own = true,
		.region = region,
		.source = analyzer,
		/* "tor1 or tor2" is of neither rack */
		.tor = of_tor && rm_name_valid(part->name) ? part->name : "",
		.part_type = rm_part_type_str(part->type),
		.part = part->name,
		.place = part->place,
		.kind = rm_kind_str(verdict->kind),
		.severity = incident->severity,
		.confidence = verdict->confidence,
		.began = verdict->evidence.window_start,
		.opened = incident->opened,
		.changed =
		    state == WIRE_RESOLVED ? incident->resolved : incident->changed,
		.good_since = incident->good_since,
		.evidence_json = evidence_json,
	};
	rm_incident_sentence(incident, ret->own_sentence, sizeof(ret->own_sentence));
	ret->sentence = ret->own_sentence;
	return 0;
}

/* ---- entries ------------------------------------------------------------------ */

static void
key_of(const struct message *message, char key[KEY_BYTES])
{
	snprintf(key, KEY_BYTES, "%s|%016" PRIx64, message->region, message->id);
}

static void
labels_of(const struct message *message, char labels[LABELS_BYTES])
{
	snprintf(labels, LABELS_BYTES, "%s|%s|%s|%s", message->region,
	    message->part_type, message->part, message->place);
}

static void
node_free(struct incident_table *table, struct node *node)
{
	for (size_t i = 0; i < node->report_count; i++) {
		HASH_DEL(table->by_key, node->reports[i]);
		free(node->reports[i]);
	}
	free(node->entry.sentence);
	free(node->entry.evidence_json);
	free(node);
}

static void
add_source(struct incident_table_entry *entry, const char *source)
{
	for (size_t i = 0; i < entry->source_count; i++)
		if (strcmp(entry->sources[i], source) == 0)
			return;
	if (entry->source_count < INCIDENT_TABLE_SOURCES)
		strcpy(entry->sources[entry->source_count++], source);
}

/* Returns the slot of this aggregator's report about this rack, or a free slot. NULL:
 * all are used. */
static struct report **
report_place(struct node *node, const struct message *message)
{
	for (size_t i = 0; i < node->report_count; i++)
		if (strcmp(node->reports[i]->source, message->source) == 0 &&
		    strcmp(node->reports[i]->tor, message->tor) == 0)
			return &node->reports[i];
	return node->report_count < MAX_REPORTS ? &node->reports[node->report_count]
						: NULL;
}

/* Returns the evidence in the JSON text of a verdict, whose other keys repeat the
 * incident's fields. Without evidence: the whole text; JSON null if the text is no
 * JSON. */
static json_t *
evidence_of(const char *text)
{
	json_t *all = json_loads(text, 0, NULL);
	json_t *evidence = json_incref(json_object_get(all, "evidence"));

	if (evidence == NULL)
		return all != NULL ? all : json_null();
	json_decref(all);
	return evidence;
}

/* An impact that only a later release defines counts as unknown. */
static enum rm_impact
impact_of(const char *evidence_json)
{
	json_t *evidence = evidence_of(evidence_json);
	const char *name = json_string_value(json_object_get(evidence, "impact"));
	enum rm_impact ret = RM_IMPACT_UNKNOWN;

	if (name != NULL)
		(void)rm_impact_parse(name, &ret);
	json_decref(evidence);
	return ret;
}

/* Sets *ret to the i-th part (from 1) of "A or B". Returns its length; 0: there are
 * fewer parts. */
static size_t
one_of(const char *parts, unsigned i, const char **ret)
{
	const char *end = strstr(parts, RM_PART_OR);

	while (--i > 0 && end != NULL) {
		parts = end + strlen(RM_PART_OR);
		end = strstr(parts, RM_PART_OR);
	}
	if (i > 0)
		return 0;
	*ret = parts;
	return end != NULL ? (size_t)(end - parts) : strlen(parts);
}

/* Returns which part of "A or B" the evidence names: 1: A; 2: B; 0: neither. */
static unsigned
known_of(const char *parts, const char *evidence_json)
{
	json_t *evidence = evidence_of(evidence_json);
	const char *name = json_string_value(json_object_get(evidence, "narrowed"));
	const char *one;
	unsigned ret = 0;
	size_t len;

	for (unsigned i = 1; name != NULL && ret == 0; i++) {
		len = one_of(parts, i, &one);
		if (len == 0)
			break;
		if (strlen(name) == len && memcmp(name, one, len) == 0)
			ret = i;
	}
	json_decref(evidence);
	return ret;
}

#define CONTRADICTED UINT_MAX

/* Returns which part of "A or B" the reports name; 0: neither; CONTRADICTED: some name
 * A and some name B. is_open: reads only open reports; otherwise only resolved ones.
 * is_own: reads only reports of this analyzer; otherwise only those of racks. */
static unsigned
known_by(const struct node *node, bool is_open, bool is_own)
{
	unsigned ret = 0;

	for (size_t i = 0; i < node->report_count; i++) {
		const struct report *report = node->reports[i];

		if (report->is_open != is_open || report->is_own != is_own ||
		    report->known == 0)
			continue;
		if (ret != 0 && ret != report->known)
			return CONTRADICTED;
		ret = report->known;
	}
	return ret;
}

/* A message that names neither A nor B does not undo an earlier message of the same
 * report that named one. */
static void
report_note(struct report *report, const struct message *message)
{
	const unsigned known = known_of(message->part, message->evidence_json);

	if (known != 0)
		report->known = known;
	report->good_since = message->good_since;
}

/* Sets since when the part is good: all open reports must agree that it is. */
static void
note_good(struct node *node)
{
	node->entry.good_since.ns = 0;
	for (size_t i = 0; i < node->report_count; i++) {
		const struct report *report = node->reports[i];

		if (!report->is_open)
			continue;
		if (report->good_since.ns == 0) {
			node->entry.good_since.ns = 0;
			return;
		}
		if (report->good_since.ns > node->entry.good_since.ns)
			node->entry.good_since = report->good_since;
	}
}

/* Sets which one of "A or B" is at fault. Open reports decide, this analyzer's before
 * those of racks; resolved reports decide only if no open one names A or B. If open
 * reports contradict each other, the part at fault is not known; if resolved reports
 * do, nothing changes. */
static void
narrow(struct node *node)
{
	struct incident_table_entry *entry = &node->entry;
	const char *one = "";
	unsigned known = 0;
	size_t len;

	if (strstr(entry->part, RM_PART_OR) == NULL)
		return;
	for (int i = 0; i < 4 && known == 0; i++) {
		known = known_by(node, i < 2, i % 2 == 0);
		if (known == CONTRADICTED && i >= 2)
			return;
	}
	len = known != 0 ? one_of(entry->part, known, &one) : 0;
	memcpy(entry->narrowed, one, len);
	entry->narrowed[len] = '\0';
}

/* Adds a report under a new id. A sender that opens an incident a second time was
 * restarted before it could save the old id, and will never end the old report. So the
 * new report replaces the old one. */
static int
add_report(
    struct incident_table *table, struct node *node, const struct message *message)
{
	struct report *report, **place = report_place(node, message);

	if (place == NULL)
		return -ENOBUFS;
	report = calloc(1, sizeof(*report));
	if (report == NULL)
		return -ENOMEM;
	key_of(message, report->key);
	strcpy(report->source, message->source);
	strcpy(report->tor, message->tor);
	report->node = node;
	report->is_own = message->is_own;
	report->is_open = message->state != WIRE_RESOLVED;
	report->changed = message->changed;
	HASH_ADD_STR(table->by_key, key, report);
	if (report->hh.tbl == NULL) {
		free(report);
		return -ENOMEM;
	}
	if (place == &node->reports[node->report_count]) {
		node->report_count++;
	} else {
		/* If the old report is resolved, it does not show which of "A or B" is
		 * at fault now. */
		if ((*place)->is_open)
			report->known = (*place)->known;
		HASH_DEL(table->by_key, *place);
		free(*place);
	}
	*place = report;
	report_note(report, message);
	narrow(node);
	note_good(node);
	add_source(&node->entry, message->source);
	return 0;
}

/* Copies sentence, evidence and kind from the message into the entry. -ENOMEM: the
 * entry is unchanged. */
static int
copy_message(struct node *node, const struct message *message)
{
	struct incident_table_entry *entry = &node->entry;
	char *sentence = strdup(message->sentence);
	char *evidence = strdup(message->evidence_json);

	if (sentence == NULL || evidence == NULL) {
		free(sentence);
		free(evidence);
		return -ENOMEM;
	}
	free(entry->sentence);
	free(entry->evidence_json);
	entry->sentence = sentence;
	entry->evidence_json = evidence;
	strcpy(entry->kind, message->kind);
	entry->impact = impact_of(evidence);
	/* The severity is a label of the alert, which must not change: the first
	 * severity stays. */
	if (entry->severity == RM_SEVERITY_UNSET)
		entry->severity = message->severity;
	entry->confidence = message->confidence;
	if (message->changed.ns > entry->changed.ns)
		entry->changed = message->changed;
	return 0;
}

static void
count_change(struct incident_table *table, struct incident_table_entry *entry)
{
	entry->changes = ++table->changes;
	rm_sight_count(&table->by_region, entry->region);
	memcpy(entry->by_region, table->by_region.counts, sizeof(entry->by_region));
}

/* ---- open and closed ----------------------------------------------------------- */

static void
remember_closed(struct incident_table *table, struct node *node)
{
	if (table->closed_count == INCIDENT_TABLE_MAX_CLOSED)
		node_free(table, table->closed[table->closed_next]);
	else
		table->closed_count++;
	table->closed[table->closed_next] = node;
	table->closed_next = (table->closed_next + 1) % INCIDENT_TABLE_MAX_CLOSED;
}

static void
node_close(struct incident_table *table, struct node *node, rm_wall_t resolved)
{
	HASH_DEL(table->by_labels, node);
	table->open_count--;
	for (size_t i = node->place; i < table->open_count; i++) {
		table->open[i] = table->open[i + 1];
		table->open[i]->place = i;
	}
	node->entry.is_open = false;
	node->entry.resolved = resolved;
	table->counts.resolved++;
	remember_closed(table, node);
}

static int
node_new(struct incident_table *table, const struct message *message)
{
	bool is_open = message->state != WIRE_RESOLVED;
	struct incident_table_entry *entry;
	struct node *node;
	int r;

	if (is_open && table->open_count == INCIDENT_TABLE_MAX_OPEN)
		return -ENOBUFS;
	node = calloc(1, sizeof(*node));
	if (node == NULL)
		return -ENOMEM;
	entry = &node->entry;
	entry->id = message->id;
	entry->is_open = is_open;
	entry->began = message->began;
	entry->opened = message->opened;
	entry->resolved = is_open ? (rm_wall_t){ 0 } : message->changed;
	strcpy(entry->region, message->region);
	strcpy(entry->tor, message->tor);
	strcpy(entry->part_type, message->part_type);
	strcpy(entry->part, message->part);
	strcpy(entry->place, message->place);
	labels_of(message, node->labels);
	r = copy_message(node, message);
	if (r == 0)
		r = add_report(table, node, message);
	if (r == 0 && is_open) {
		HASH_ADD_STR(table->by_labels, labels, node);
		r = node->hh.tbl == NULL ? -ENOMEM : 0;
	}
	if (r < 0) {
		node_free(table, node);
		return r;
	}
	count_change(table, entry);
	table->counts.opened++;
	if (!is_open) {
		table->counts.resolved++;
		remember_closed(table, node);
		return 1;
	}
	node->place = table->open_count;
	table->open[table->open_count++] = node;
	return 1;
}

/* ---- reports --------------------------------------------------------------------- */

/* True: at least one report of the incident is open. own_only: only reports of this
 * analyzer count. */
static bool
still_open(const struct node *node, bool own_only)
{
	for (size_t i = 0; i < node->report_count; i++)
		if (node->reports[i]->is_open &&
		    (node->reports[i]->is_own || !own_only))
			return true;
	return false;
}

static int
report_known(
    struct incident_table *table, struct report *report, const struct message *message)
{
	struct node *node = report->node;
	int r = 0;

	/* The other aggregator of the rack may continue an incident under the same id:
	 * then that aggregator is the source. */
	if (!message->is_own && strcmp(report->source, message->source) != 0) {
		strcpy(report->source, message->source);
		add_source(&node->entry, message->source);
	}
	/* A repeated message does not open a resolved incident again. */
	if (!report->is_open || (message->state != WIRE_RESOLVED &&
				    message->changed.ns <= report->changed.ns)) {
		table->counts.repeated++;
		return 0;
	}
	/* A report of this analyzer has priority over a report of a rack. */
	if (message->is_own || !still_open(node, true))
		r = copy_message(node, message);
	if (r < 0)
		return r;
	report->changed = message->changed;
	report->is_open = message->state != WIRE_RESOLVED;
	report_note(report, message);
	narrow(node);
	note_good(node);
	count_change(table, &node->entry);
	if (!still_open(node, false))
		node_close(table, node, message->changed);
	else
		table->counts.updated++;
	return 1;
}

/* Handles a report under a new id that has the labels of an open incident. */
static int
report_again(
    struct incident_table *table, struct node *node, const struct message *message)
{
	int r;

	if (message->state == WIRE_RESOLVED) {
		/* the message is the end of an earlier incident */
		table->counts.repeated++;
		return 0;
	}
	r = add_report(table, node, message);
	if (r == 0 && message->is_own)
		r = copy_message(node, message);
	if (r < 0)
		return r;
	if (message->began.ns < node->entry.began.ns)
		node->entry.began = message->began;
	count_change(table, &node->entry);
	table->counts.updated++;
	return 1;
}

static int
take_message(struct incident_table *table, const struct message *message)
{
	char key[KEY_BYTES], labels[LABELS_BYTES];
	struct report *report;
	struct node *node;
	int r;

	key_of(message, key);
	HASH_FIND_STR(table->by_key, key, report);
	labels_of(message, labels);
	HASH_FIND_STR(table->by_labels, labels, node);
	if (report != NULL)
		r = report_known(table, report, message);
	else if (node != NULL)
		r = report_again(table, node, message);
	else
		r = node_new(table, message);
	if (r < 0)
		table->counts.refused++;
	return r;
}

bool
incident_table_is_fall(const struct wire_incident *incident)
{
	return incident->state == WIRE_OPENED ||
	       (incident->state == WIRE_UPDATED && incident->good_since_wall_ns == 0 &&
		   incident->returned_wall_ns != 0 &&
		   incident->returned_wall_ns == incident->changed_wall_ns);
}

int
incident_table_edge(struct incident_table *table, const struct wire_incident *incident)
{
	struct message report;
	int r;

	r = read_edge(incident, &report);
	if (r < 0) {
		table->counts.refused++;
		return r;
	}
	return take_message(table, &report);
}

int
incident_table_own(struct incident_table *table, const char *region,
    const char *analyzer, enum wire_incident_state state,
    const struct rm_incident *incident)
{
	struct message report;
	json_t *json = rm_verdict_json(&incident->verdict);
	char *evidence = json != NULL ? json_dumps(json, JSON_COMPACT) : NULL;
	int r = -ENOMEM;

	if (evidence != NULL)
		r = read_own(region, analyzer, state, incident, evidence, &report);
	if (r == 0)
		r = take_message(table, &report);
	else
		table->counts.refused++;
	json_decref(json);
	free(evidence);
	return r;
}

/* ---- ends of reports ------------------------------------------------------------- */

/* Call it after a report has ended. True: the entry now names another one of "A or B"
 * than before. */
static bool
end_narrows(struct node *node)
{
	char before[RM_PART_NAME_BYTES];

	strcpy(before, node->entry.narrowed);
	narrow(node);
	return strcmp(before, node->entry.narrowed) != 0;
}

size_t
incident_table_end_quiet(struct incident_table *table,
    rm_wall_t (*quiet)(const char *region, const char *source, const char *tor,
	rm_wall_t changed, void *arg),
    void (*on_ended)(const struct incident_table_entry *entry, void *arg), void *arg)
{
	size_t ended = 0;

	for (size_t i = table->open_count; i-- > 0;) {
		struct node *node = table->open[i];
		rm_wall_t last = { 0 };
		bool is_over;

		for (size_t t = 0; t < node->report_count; t++) {
			struct report *report = node->reports[t];
			rm_wall_t since = { 0 };

			if (report->is_open && !report->is_own)
				since = quiet(node->entry.region, report->source,
				    report->tor, report->changed, arg);
			if (since.ns == 0)
				continue;
			report->is_open = false;
			report->changed = last = since;
		}
		note_good(node);
		if (last.ns == 0)
			continue;
		is_over = !still_open(node, false);
		if (!end_narrows(node) && !is_over)
			continue;
		if (is_over || last.ns > node->entry.changed.ns)
			node->entry.changed = last;
		count_change(table, &node->entry);
		if (!is_over)
			continue;
		node_close(table, node, last);
		on_ended(&node->entry, arg);
		ended++;
	}
	return ended;
}

/* ---- creation and end ---- */

int
incident_table_new(struct incident_table **ret)
{
	struct incident_table *table = calloc(1, sizeof(*table));

	if (table == NULL)
		return -ENOMEM;
	*ret = table;
	return 0;
}

void
incident_table_free(struct incident_table *table)
{
	if (table == NULL)
		return;
	HASH_CLEAR(hh, table->by_labels);
	for (size_t i = 0; i < table->open_count; i++)
		node_free(table, table->open[i]);
	for (size_t i = 0; i < table->closed_count; i++)
		node_free(table, table->closed[i]);
	free(table);
}

/* ---- reading ---- */

const struct incident_table_entry *
incident_table_get(const struct incident_table *table, size_t i)
{
	if (i < table->open_count)
		return &table->open[table->open_count - 1 - i]->entry;
	i -= table->open_count;
	if (i >= table->closed_count)
		return NULL;
	i = (table->closed_next + INCIDENT_TABLE_MAX_CLOSED - 1 - i) %
	    INCIDENT_TABLE_MAX_CLOSED;
	return &table->closed[i]->entry;
}

const struct incident_table_entry *
incident_table_find(const struct incident_table *table, uint64_t id)
{
	const struct report *report, *next;
	char text[KEY_BYTES];

	snprintf(text, sizeof(text), "|%016" PRIx64, id);
	HASH_ITER (hh, table->by_key, report, next) {
		if (strcmp(strchr(report->key, '|'), text) == 0)
			return &report->node->entry;
	}
	return NULL;
}

size_t
incident_table_open(const struct incident_table *table)
{
	return table->open_count;
}

uint64_t
incident_table_changes(const struct incident_table *table)
{
	return table->changes;
}

static uint64_t
sum_in(const struct incident_table *table, const uint64_t counts[RM_SIGHT_REGIONS],
    const struct rm_sight *sight)
{
	struct rm_sight all = *sight;

	all.asked = NULL;
	return rm_sight_sum(&table->by_region, counts, &all);
}

uint64_t
incident_table_changes_in(
    const struct incident_table *table, const struct rm_sight *sight)
{
	return rm_sight_is_limited(sight)
		   ? sum_in(table, table->by_region.counts, sight)
		   : table->changes;
}

uint64_t
incident_table_number_in(const struct incident_table *table,
    const struct incident_table_entry *entry, const struct rm_sight *sight)
{
	return rm_sight_is_limited(sight) ? sum_in(table, entry->by_region, sight)
					  : entry->changes;
}

const struct incident_table_counts *
incident_table_counts(const struct incident_table *table)
{
	return &table->counts;
}

/* ---- as JSON, which docs/api.md describes ---- */

static json_t *
wall_json(rm_wall_t wall)
{
	char text[RM_WALL_TEXT];

	if (wall.ns == 0)
		return json_null();
	rm_wall_format(wall, text);
	return json_string(text);
}

static json_t *
sources_json(const struct incident_table_entry *entry)
{
	json_t *list = json_array();

	for (size_t i = 0; i < entry->source_count; i++)
		json_array_append_new(list, json_string(entry->sources[i]));
	return list;
}

json_t *
incident_table_evidence(const struct incident_table_entry *entry)
{
	return evidence_of(entry->evidence_json);
}

/* If memory runs out, json_object_set_new leaves out a key whose value is NULL, which
 * is better than no answer. */
json_t *
incident_table_json(const struct incident_table_entry *entry)
{
	json_t *json = json_object(), *evidence = incident_table_evidence(entry);
	char id[17];

	/* The evidence is that of the last report, which need not name A or B. */
	if (strstr(entry->part, RM_PART_OR) != NULL)
		json_object_set_new(evidence, "narrowed", json_string(entry->narrowed));
	snprintf(id, sizeof(id), "%016" PRIx64, entry->id);
	json_object_set_new(json, "id", json_string(id));
	json_object_set_new(json, "number", json_integer((json_int_t)entry->changes));
	json_object_set_new(
	    json, "state", json_string(entry->is_open ? "open" : "resolved"));
	json_object_set_new(json, "region", json_string(entry->region));
	json_object_set_new(json, "tor", json_string(entry->tor));
	json_object_set_new(json, "sources", sources_json(entry));
	json_object_set_new(json, "part_type", json_string(entry->part_type));
	json_object_set_new(json, "part", json_string(entry->part));
	json_object_set_new(json, "place", json_string(entry->place));
	json_object_set_new(json, "kind", json_string(entry->kind));
	json_object_set_new(json, "severity",
	    entry->severity != RM_SEVERITY_UNSET
		? json_string(rm_severity_str(entry->severity))
		: json_null());
	json_object_set_new(json, "confidence", json_real(entry->confidence));
	json_object_set_new(json, "began", wall_json(entry->began));
	json_object_set_new(json, "opened", wall_json(entry->opened));
	json_object_set_new(json, "changed", wall_json(entry->changed));
	json_object_set_new(json, "resolved", wall_json(entry->resolved));
	json_object_set_new(json, "good_since", wall_json(entry->good_since));
	json_object_set_new(json, "sentence", json_string(entry->sentence));
	json_object_set_new(json, "evidence", evidence);
	return json;
}
