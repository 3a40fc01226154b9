#include "ctl/history/history_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/client/ctl.h"
#include "ctl/client/show.h"
#include "ctl/history/history_paths.h"
#include "ctl/output/printable.h"
#include "ctl/output/table.h"
#include "rackmesh/core/clock.h"

#define BUCKETS 128

struct bucket {
	bool there;
	uint64_t sent, lost, p50_ns, p99_ns;
};

struct kept { /* one incident */
	int64_t when_ns;
	uint64_t opened_ns;
	/* "": the history has no such value */
	char *region, *state, *kind, *part, *id, *impact, *services, *sentence;
};

struct history_rows {
	const struct history_subject *subject;
	struct history_span span;
	struct bucket buckets[BUCKETS];
	struct kept incidents[HISTORY_INCIDENTS];
	size_t incident_count;
	uint64_t left_out;
	bool cut;      /* the list is not complete */
	bool no_text;  /* the texts of incidents are not stored */
	json_t *paths; /* see history_paths.h; NULL: not requested */
};

/* Chooses the smallest round duration for which at most half of the buckets are needed.
 */
static int64_t
choose_bucket(int64_t length_ns)
{
	static const int64_t seconds[] = { 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800,
		3600, 7200, 21600, 43200 };

	for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++)
		if (length_ns / (seconds[i] * RM_NS_PER_S) <= BUCKETS / 2)
			return seconds[i] * RM_NS_PER_S;
	return (length_ns / (BUCKETS / 2) / (86400 * RM_NS_PER_S) + 1) * 86400 *
	       RM_NS_PER_S;
}

struct history_span
history_span(int64_t until_ns, int64_t length_ns)
{
	const int64_t bucket_ns = choose_bucket(length_ns);
	int64_t from_ns = (until_ns - length_ns) / bucket_ns * bucket_ns;

	if (length_ns <= HISTORY_LONGEST_NS && until_ns - from_ns > HISTORY_LONGEST_NS)
		from_ns += bucket_ns;
	return (struct history_span){
		.from_ns = from_ns,
		.to_ns = until_ns,
		.bucket_ns = bucket_ns,
	};
}

struct history_rows *
history_rows_new(const struct history_subject *subject, const struct history_span *span)
{
	struct history_rows *rows = calloc(1, sizeof(*rows));

	if (rows == NULL)
		return NULL;
	rows->subject = subject;
	rows->span = *span;
	return rows;
}

static void
kept_clear(struct kept *kept)
{
	free(kept->region);
	free(kept->state);
	free(kept->kind);
	free(kept->part);
	free(kept->id);
	free(kept->impact);
	free(kept->services);
	free(kept->sentence);
}

void
history_rows_free(struct history_rows *rows)
{
	if (rows == NULL)
		return;
	for (size_t i = 0; i < rows->incident_count; i++)
		kept_clear(&rows->incidents[i]);
	json_decref(rows->paths);
	free(rows);
}

/* ---- an answer ---- */

struct rows_of { /* one answer; its values are found by the names of columns */
	const json_t *columns, *rows;
};

/* False: the answer does not have this form. */
static bool
read_answer(const json_t *answer, struct rows_of *ret)
{
	ret->columns = json_object_get(answer, "columns");
	ret->rows = json_object_get(answer, "rows");
	return json_is_array(ret->columns) && json_is_array(ret->rows);
}

static const json_t *
value_of(const struct rows_of *of, const json_t *row, const char *name)
{
	const json_t *column;
	size_t i;

	json_array_foreach (of->columns, i, column)
		if (json_is_string(column) &&
		    strcmp(json_string_value(column), name) == 0)
			return json_array_get(row, i);
	return NULL;
}

static const char *
text_of(const struct rows_of *of, const json_t *row, const char *name)
{
	const char *text = json_string_value(value_of(of, row, name));

	return text != NULL ? text : "";
}

static uint64_t
number_of(const struct rows_of *of, const json_t *row, const char *name)
{
	const json_int_t number = json_integer_value(value_of(of, row, name));

	return number > 0 ? (uint64_t)number : 0;
}

static bool
time_of(const struct rows_of *of, const json_t *row, int64_t *ret)
{
	rm_wall_t when;

	if (!rm_wall_parse(text_of(of, row, "time"), &when))
		return false;
	*ret = when.ns;
	return true;
}

void
history_rows_paths(struct history_rows *rows, json_t *paths)
{
	json_decref(rows->paths);
	rows->paths = paths;
}

void
history_rows_cut(struct history_rows *rows)
{
	rows->cut = true;
}

static bool
columns_are(const struct rows_of *of, const char *expected)
{
	char have[256] = "";
	const json_t *column;
	size_t i, at = 0;

	json_array_foreach (of->columns, i, column) {
		const char *name = json_string_value(column);

		at += (size_t)snprintf(have + at, sizeof(have) - at, "%s%s",
		    i > 0 ? "," : "", name != NULL ? name : "");
		if (at >= sizeof(have))
			return false;
	}
	return strcmp(have, expected) == 0;
}

/* True: the answer has one row per step; a step without probes has a row without
 * values. An older analyzer, which does not know steps, sends the rows as they were
 * written. */
static bool
is_of_steps(const struct history_rows *rows, const struct rows_of *of)
{
	int64_t when_ns, last_ns = INT64_MIN;
	const json_t *row;
	size_t i;

	json_array_foreach (of->rows, i, row) {
		if (!time_of(of, row, &when_ns))
			continue; /* the function that uses the row will refuse it */
		if (when_ns <= last_ns || when_ns % rows->span.bucket_ns != 0)
			return false;
		last_ns = when_ns;
	}
	return columns_are(of, rows->subject->whole ? "time," HISTORY_REGION_COLUMNS
						    : "time," HISTORY_PROBE_COLUMNS);
}

int
history_rows_take_probes(struct history_rows *rows, const json_t *answer)
{
	struct rows_of of;
	const json_t *row;
	size_t i;

	if (!read_answer(answer, &of))
		return -EBADMSG;
	if (!is_of_steps(rows, &of))
		return -EPROTO;
	if (json_is_true(json_object_get(answer, "truncated")))
		rows->cut = true;
	json_array_foreach (of.rows, i, row) {
		struct bucket *bucket;
		int64_t when_ns;

		if (!time_of(&of, row, &when_ns))
			return -EBADMSG;
		when_ns -= rows->span.from_ns;
		if (when_ns < 0 || when_ns / rows->span.bucket_ns >= BUCKETS)
			continue;
		bucket = &rows->buckets[when_ns / rows->span.bucket_ns];
		*bucket = (struct bucket){ true, number_of(&of, row, "sent"),
			number_of(&of, row, rows->subject->whole ? "lost" : "no_reply"),
			number_of(&of, row, "rtt_p50_ns"),
			number_of(&of, row, "rtt_p99_ns") };
	}
	return 0;
}

void
history_regions_read(const json_t *answer, struct history_regions *ret)
{
	struct rows_of of;
	const json_t *row;
	size_t i, k;

	*ret = (struct history_regions){ 0 };
	if (!read_answer(answer, &of))
		return;
	json_array_foreach (of.rows, i, row) {
		const char *name = text_of(&of, row, "region");

		for (k = 0; k < ret->count && strcmp(ret->names[k], name) != 0; k++)
			;
		if (k == ret->count && k < HISTORY_REGIONS && rm_name_valid(name))
			strcpy(ret->names[ret->count++], name);
	}
}

/* ---- incidents ---- */

bool
history_part_holds(const char *part, const char *name)
{
	size_t len = strlen(name);
	const char *at = part;

	if (len == 0)
		return false;
	while ((at = strstr(at, name)) != NULL) {
		const char *end = at + len;
		bool begins = at == part || at[-1] == ' ' ||
			      (at - part >= 2 && (memcmp(at - 2, "--", 2) == 0 ||
						     memcmp(at - 2, "->", 2) == 0));
		bool ends = *end == '\0' || *end == ' ' || *end == ',' ||
			    strncmp(end, "--", 2) == 0 || strncmp(end, "->", 2) == 0;

		if (begins && ends)
			return true;
		at++;
	}
	return false;
}

/* True: the part is an RNIC of the host, or "A or B" with one. */
static bool
is_on_host(const char *part, const char *host)
{
	const size_t len = strlen(host);

	for (; part != NULL; part = strstr(part, RM_PART_OR)) {
		if (strncmp(part, RM_PART_OR, strlen(RM_PART_OR)) == 0)
			part += strlen(RM_PART_OR);
		if (strncmp(part, host, len) == 0 && part[len] == '/')
			return true;
	}
	return false;
}

static bool
has_probes(const struct history_rows *rows)
{
	for (size_t i = 0; i < BUCKETS; i++)
		if (rows->buckets[i].there)
			return true;
	return false;
}

/* True: the incident is of a switch between racks, or of links of it that are not
 * listed. It may concern each rack. An incident that began on one link keeps that part,
 * so the kind decides; VictoriaMetrics stores no kinds. */
static bool
is_of_switch(const struct rows_of *of, const json_t *row)
{
	const char *type = text_of(of, row, "part_type"),
		   *kind = text_of(of, row, "kind");

	if (text_of(of, row, "links")[0] != '\0')
		return false;
	return strcmp(type, "switch") == 0 ||
	       (strcmp(type, "link") == 0 && (strncmp(kind, "switch-", 7) == 0 ||
						 strncmp(kind, "links-", 6) == 0));
}

/* probes: the subject has probes in the span, so if it has the name of a switch, it is
 * a ToR; otherwise it may be the name of a host. */
static bool
concerns(const struct history_subject *subject, bool probes, const struct rows_of *of,
    const json_t *row)
{
	const char *part = text_of(of, row, "part");
	char rnic[2 * 64 + 2];

	if (subject->whole)
		return true;
	/* A part between racks has no ToR: it may be on the path of this pair. Its
	 * losses are also those of the parts in both racks. */
	if (subject->dst_tor[0] != '\0')
		return text_of(of, row, "tor")[0] == '\0' ||
		       strcmp(text_of(of, row, "tor"), subject->tor) == 0 ||
		       strcmp(text_of(of, row, "tor"), subject->dst_tor) == 0;
	if (subject->tor[0] != '\0')
		return strcmp(text_of(of, row, "tor"), subject->tor) == 0 ||
		       strcmp(text_of(of, row, "place"), subject->tor) == 0 ||
		       history_part_holds(part, subject->tor) ||
		       history_part_holds(text_of(of, row, "links"), subject->tor) ||
		       (probes ? is_of_switch(of, row)
			       : is_on_host(part, subject->tor));
	snprintf(rnic, sizeof(rnic), "%s/%s", subject->host, subject->device);
	return subject->host[0] != '\0' && (history_part_holds(part, rnic) ||
					       history_part_holds(part, subject->host));
}

/* Returns the place for one more incident; if all are used, the oldest incident is
 * dropped. NULL: the new one is the oldest. */
static struct kept *
place_for(struct history_rows *rows, int64_t when_ns)
{
	struct kept *oldest = &rows->incidents[0];

	if (rows->incident_count < HISTORY_INCIDENTS)
		return &rows->incidents[rows->incident_count++];
	rows->left_out++;
	for (size_t i = 1; i < rows->incident_count; i++)
		if (rows->incidents[i].when_ns < oldest->when_ns)
			oldest = &rows->incidents[i];
	if (oldest->when_ns >= when_ns)
		return NULL;
	kept_clear(oldest);
	return oldest;
}

static char *
printable_copy(const char *text)
{
	char *copy = strdup(text);

	if (copy != NULL)
		printable_text(copy);
	return copy;
}

static int
keep(struct history_rows *rows, int64_t when_ns, const struct rows_of *of,
    const json_t *row, const char *state)
{
	struct kept *kept = place_for(rows, when_ns);

	if (kept == NULL)
		return 0;
	*kept = (struct kept){ when_ns, number_of(of, row, "opened_ns"),
		printable_copy(text_of(of, row, "region")), printable_copy(state),
		printable_copy(text_of(of, row, "kind")),
		printable_copy(text_of(of, row, "part")),
		printable_copy(text_of(of, row, "id")),
		printable_copy(text_of(of, row, "impact")),
		printable_copy(text_of(of, row, "services")),
		printable_copy(text_of(of, row, "sentence")) };
	if (kept->region != NULL && kept->state != NULL && kept->kind != NULL &&
	    kept->part != NULL && kept->id != NULL && kept->impact != NULL &&
	    kept->services != NULL && kept->sentence != NULL)
		return 0;
	kept_clear(kept);
	*kept = rows->incidents[--rows->incident_count];
	return -ENOMEM;
}

/* In VictoriaMetrics incidents have no id. */
static bool
is_opening(const struct kept *kept, const struct rows_of *of, const json_t *row)
{
	const char *id = text_of(of, row, "id");

	return id[0] != '\0' ? strcmp(kept->id, id) == 0
			     : kept->opened_ns == number_of(of, row, "opened_ns") &&
				   strcmp(kept->part, text_of(of, row, "part")) == 0;
}

/* Drops a change from before the requested time. */
static void
forget_before(struct history_rows *rows, const struct rows_of *of, const json_t *row)
{
	for (size_t i = 0; i < rows->incident_count; i++)
		if (rows->incidents[i].when_ns < rows->span.from_ns &&
		    is_opening(&rows->incidents[i], of, row)) {
			kept_clear(&rows->incidents[i]);
			rows->incidents[i] = rows->incidents[--rows->incident_count];
			return;
		}
}

static bool
is_kept(const struct history_rows *rows, const struct rows_of *of, const json_t *row)
{
	for (size_t i = 0; i < rows->incident_count; i++)
		if (is_opening(&rows->incidents[i], of, row))
			return true;
	return false;
}

/* Also true for a later row of an incident that concerned the subject before: the list
 * of its links may have changed. */
static bool
is_wanted(const struct history_rows *rows, const struct rows_of *of, const json_t *row)
{
	return concerns(rows->subject, has_probes(rows), of, row) ||
	       is_kept(rows, of, row);
}

int
history_rows_take_incidents(
    struct history_rows *rows, const json_t *answer, int64_t end_ns)
{
	struct rows_of of;
	const json_t *row;
	size_t i;
	int r = 0;

	if (!read_answer(answer, &of))
		return -EBADMSG;
	if (json_array_size(json_object_get(answer, "not_kept")) > 0)
		rows->no_text = true;
	json_array_foreach (of.rows, i, row) {
		int64_t when_ns;
		bool before;

		if (!time_of(&of, row, &when_ns))
			return -EBADMSG;
		if (when_ns >= end_ns || !is_wanted(rows, &of, row))
			continue;
		before = when_ns < rows->span.from_ns;
		if (before)
			forget_before(rows, &of, row);
		if (!before || strcmp(text_of(&of, row, "state"), "resolved") != 0)
			r = keep(rows, when_ns, &of, row, text_of(&of, row, "state"));
		if (r < 0)
			return r;
	}
	return 0;
}

int
history_rows_take_older(struct history_rows *rows, const json_t *answer)
{
	struct rows_of of;
	const json_t *row;
	size_t i;

	if (!read_answer(answer, &of))
		return -EBADMSG;
	json_array_foreach (of.rows, i, row) {
		const int64_t opened_ns = (int64_t)number_of(&of, row, "opened_ns");
		int r;

		if (opened_ns == 0 ||
		    opened_ns >= rows->span.from_ns - HISTORY_BEFORE_NS ||
		    !concerns(rows->subject, has_probes(rows), &of, row) ||
		    is_kept(rows, &of, row))
			continue;
		r = keep(rows, opened_ns, &of, row, "opened");
		if (r < 0)
			return r;
	}
	return 0;
}

/* ---- output ---- */

static int
compare(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;

	return x->when_ns < y->when_ns ? -1 : x->when_ns > y->when_ns;
}

static void
cell_time(struct table *table, int64_t ns)
{
	char text[RM_WALL_TEXT];

	rm_wall_format((rm_wall_t){ ns }, text);
	table_cell(table, text);
}

static void
cell_us(struct table *table, uint64_t ns)
{
	if (ns > 0)
		table_cellf(table, "%.1f", (double)ns / 1000);
	else
		table_cell(table, NULL);
}

static void
put_bucket(struct table *table, const struct history_rows *rows, size_t i)
{
	const struct bucket *bucket = &rows->buckets[i];

	cell_time(table, rows->span.from_ns + (int64_t)i * rows->span.bucket_ns);
	table_cellf(table, "%" PRIu64, bucket->sent);
	table_cellf(table, "%" PRIu64, bucket->lost);
	if (bucket->sent > 0)
		table_cellf(
		    table, "%.3f", 100 * (double)bucket->lost / (double)bucket->sent);
	else
		table_cell(table, NULL);
	cell_us(table, bucket->p50_ns);
	cell_us(table, bucket->p99_ns);
	table_cell(table, "");
}

static bool
has_several_regions(const struct history_rows *rows)
{
	for (size_t i = 1; i < rows->incident_count; i++)
		if (strcmp(rows->incidents[i].region, rows->incidents[0].region) != 0)
			return true;
	return false;
}

static void
put_incident(struct table *table, const struct kept *kept, bool with_region)
{
	cell_time(table, kept->when_ns);
	for (int i = 0; i < 5; i++)
		table_cell(table, "");
	table_cellf(table, "%s%s%s %s%s%s%s%s%s%s%s%s%s%s%s",
	    with_region ? kept->region : "", with_region ? ": " : "", kept->state,
	    kept->kind, kept->kind[0] != '\0' ? " " : "", kept->part,
	    kept->sentence[0] != '\0' ? ": " : "", kept->sentence,
	    kept->impact[0] != '\0' ? " Impact " : "", kept->impact,
	    kept->services[0] != '\0' ? ": " : "", kept->services,
	    kept->id[0] != '\0' ? " (incident " : "", kept->id,
	    kept->id[0] != '\0' ? ")" : "");
}

/* Rows come every 10 s, or only once a minute, and rows of service levels when their
 * minute has ended. */
#define GAP_NS (180 * RM_NS_PER_S)

/* If the next bucket with probes is so far from this one that rows must be missing in
 * between, returns its index, or BUCKETS if there is none; else 0. */
static size_t
gap_end(const struct history_rows *rows, size_t from)
{
	const int64_t bucket_ns = rows->span.bucket_ns,
		      begin_ns = rows->span.from_ns + (int64_t)from * bucket_ns;
	int64_t end_ns;
	size_t end = from;

	while (end < BUCKETS && !rows->buckets[end].there)
		end++;
	end_ns = rows->span.from_ns + (int64_t)end * bucket_ns;
	if (end_ns > rows->span.to_ns)
		end_ns = rows->span.to_ns;
	return end > from && end_ns - begin_ns >= GAP_NS ? end : 0;
}

static int64_t
gap_end_ns(const struct history_rows *rows, size_t end)
{
	const int64_t end_ns = rows->span.from_ns + (int64_t)end * rows->span.bucket_ns;

	return end == BUCKETS || end_ns > rows->span.to_ns ? rows->span.to_ns : end_ns;
}

static void
put_gap(struct table *table, const struct history_rows *rows, size_t from, size_t end)
{
	char until[RM_WALL_TEXT];

	rm_wall_format((rm_wall_t){ gap_end_ns(rows, end) }, until);
	cell_time(table, rows->span.from_ns + (int64_t)from * rows->span.bucket_ns);
	for (int i = 0; i < 5; i++)
		table_cell(table, NULL);
	table_cellf(table, "no data until %s: nothing is known", until);
}

static int
print_table(const struct history_rows *rows)
{
	static const char *const heads[] = { "TIME", ">SENT", ">LOST", ">LOST %",
		">RTT P50 us", ">P99 us", "INCIDENT", NULL };
	const bool with_region = has_several_regions(rows);
	struct table *table = table_new(heads);
	size_t next = 0, gap = 0;
	int r;

	if (table == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < BUCKETS; i++) {
		int64_t end =
		    rows->span.from_ns + (int64_t)(i + 1) * rows->span.bucket_ns;

		if (rows->buckets[i].there)
			put_bucket(table, rows, i);
		else if (i >= gap && (gap = gap_end(rows, i)) > 0)
			put_gap(table, rows, i, gap);
		for (;
		     next < rows->incident_count && rows->incidents[next].when_ns < end;
		     next++)
			put_incident(table, &rows->incidents[next], with_region);
	}
	r = table_print(table);
	table_free(table);
	return r;
}

static json_t *
rows_json(const struct history_rows *rows)
{
	json_t *buckets = json_array(), *incidents = json_array(), *gaps = json_array();
	char text[RM_WALL_TEXT], until[RM_WALL_TEXT];
	size_t gap = 0;

	for (size_t i = 0; i < BUCKETS; i++) {
		const struct bucket *at = &rows->buckets[i];

		if (!at->there && i >= gap && (gap = gap_end(rows, i)) > 0) {
			rm_wall_format((rm_wall_t){ rows->span.from_ns +
						    (int64_t)i * rows->span.bucket_ns },
			    text);
			rm_wall_format((rm_wall_t){ gap_end_ns(rows, gap) }, until);
			json_array_append_new(
			    gaps, json_pack("{s:s, s:s}", "from", text, "to", until));
		}
		if (!at->there)
			continue;
		rm_wall_format((rm_wall_t){ rows->span.from_ns +
					    (int64_t)i * rows->span.bucket_ns },
		    text);
		json_array_append_new(buckets,
		    json_pack("{s:s, s:I, s:I, s:I, s:I}", "time", text, "sent",
			(json_int_t)at->sent, "lost", (json_int_t)at->lost,
			"rtt_p50_ns", (json_int_t)at->p50_ns, "rtt_p99_ns",
			(json_int_t)at->p99_ns));
	}
	for (size_t i = 0; i < rows->incident_count; i++) {
		const struct kept *kept = &rows->incidents[i];

		rm_wall_format((rm_wall_t){ kept->when_ns }, text);
		json_array_append_new(incidents,
		    json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "time",
			text, "region", kept->region, "state", kept->state, "kind",
			kept->kind, "part", kept->part, "id", kept->id, "impact",
			kept->impact, "services", kept->services, "sentence",
			kept->sentence));
	}
	return json_pack("{s:s, s:s?, s:I, s:o, s:o, s:o, s:I, s:b, s:b}", "subject",
	    rows->subject->text, "region", rows->subject->region, "bucket_s",
	    (json_int_t)(rows->span.bucket_ns / RM_NS_PER_S), "rows", buckets, "gaps",
	    gaps, "incidents", incidents, "incidents_left_out",
	    (json_int_t)rows->left_out, "texts_kept", (int)!rows->no_text, "truncated",
	    (int)rows->cut);
}

int
history_rows_print(struct history_rows *rows, bool json)
{
	bool known = rows->incident_count > 0;
	uint64_t sent = 0;
	json_t *all;
	int r = 0;

	for (size_t i = 0; i < BUCKETS; i++) {
		known = known || rows->buckets[i].there;
		sent += rows->buckets[i].sent;
	}
	qsort(
	    rows->incidents, rows->incident_count, sizeof(rows->incidents[0]), compare);
	if (json) {
		all = rows_json(rows);
		if (all != NULL && rows->paths != NULL)
			json_object_set(all, "paths", rows->paths);
		r = all == NULL ? -ENOMEM : 0;
		if (r == 0)
			show_json(all);
		json_decref(all);
	} else if (known) {
		r = print_table(rows);
		if (r == 0 && json_array_size(rows->paths) > 0)
			r = history_paths_print(rows->paths, sent);
	}
	if (r < 0) {
		fprintf(stderr, "rackmeshctl: out of memory\n");
		return CTL_NO_ANSWER;
	}
	if (rows->left_out > 0 && !json)
		fprintf(stderr,
		    "rackmeshctl: %" PRIu64 " incidents more, older ones, are left "
		    "out; ask for a shorter --since\n",
		    rows->left_out);
	if (rows->cut && !json)
		fprintf(stderr,
		    "rackmeshctl: the analyzer did not send all: figures may be too "
		    "low, "
		    "and incidents may be missing; ask for a shorter --since\n");
	if (rows->no_text && rows->incident_count > 0 && !json)
		fprintf(stderr,
		    "rackmeshctl: the analyzer's database keeps no text "
		    "(VictoriaMetrics): kinds, ids and sentences of incidents are "
		    "missing; "
		    "rackmeshctl incidents shows those since its start\n");
	if (!known && !json)
		fprintf(stderr, "rackmeshctl: there is no history of %s in that time\n",
		    rows->subject->text);
	return known ? CTL_GOOD : CTL_PROBLEM;
}
