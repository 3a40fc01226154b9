/* The past as InfluxDB 1.x has it, by InfluxQL. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "ctl/history/history_rows.h"
#include "ctl/history/history_source.h"
#include "ctl/history/influx.h"
#include "rackmesh/core/clock.h"
#include "rackmesh/core/fnv.h"
#include "rackmesh/metrics/line_reader.h"

#define STATEMENT_BYTES 8192
#define MAX_POLICIES 16

/* Which column is this? -1: none. */
static int
column_of(const json_t *series, const char *name)
{
	const json_t *column;
	size_t i;

	json_array_foreach (json_object_get(series, "columns"), i, column)
		if (json_is_string(column) &&
		    strcmp(json_string_value(column), name) == 0)
			return (int)i;
	return -1;
}

static const char *
text_at(const json_t *series, const json_t *row, const char *name)
{
	int i = column_of(series, name);
	const char *text =
	    i < 0 ? NULL : json_string_value(json_array_get(row, (size_t)i));

	return text != NULL ? text : "";
}

static int64_t
number_at(const json_t *row, size_t i)
{
	return (int64_t)json_number_value(json_array_get(row, i));
}

/* Times have more digits than a double. */
static int64_t
time_at(const json_t *row)
{
	return json_integer_value(json_array_get(row, 0));
}

/* Names of policies are whatever somebody has made. False: no room. */
static bool
put_quoted(const char *name, char *out, size_t room, size_t *at)
{
	size_t n = *at;

	for (const char *c = name; *c != '\0' && n + 4 < room; c++) {
		if (*c == '"' || *c == '\\')
			out[n++] = '\\';
		out[n++] = *c;
	}
	out[n] = '\0';
	*at = n;
	return n + 4 < room;
}

/* Points of a measurement lie in whatever policy the analyzer writes to: all of them
 * are asked, as "policy"."measurement", with commas. Empty: there is no database. */
static int
write_sources(
    const struct influx_place *place, const char *measurement, char *out, size_t room)
{
	json_t *list = NULL;
	const json_t *series, *row;
	char statement[512];
	size_t at = 0, i;
	int r;

	snprintf(statement, sizeof(statement), "SHOW RETENTION POLICIES ON \"%s\"",
	    place->database);
	r = influx_query(place, statement, &list);
	if (r < 0)
		return r;
	out[0] = '\0';
	series = json_array_get(list, 0);
	json_array_foreach (json_object_get(series, "values"), i, row) {
		if (i == MAX_POLICIES || at >= room)
			break;
		at += (size_t)snprintf(out + at, room - at, "%s\"", i > 0 ? "," : "");
		if (at >= room ||
		    !put_quoted(text_at(series, row, "name"), out, room, &at)) {
			at = room;
			break;
		}
		at += (size_t)snprintf(out + at, room - at, "\".\"%s\"", measurement);
	}
	json_decref(list);
	if (at == 0 || at >= room) {
		fprintf(stderr, "rackmeshctl: %s has no retention policies in \"%s\"\n",
		    place->url, place->database);
		return -ENOENT;
	}
	return 0;
}

/* Names are checked (rm_name_valid): no quote is among them. */
static void
write_condition(const struct history_subject *subject, char *out, size_t room)
{
	if (subject->tor[0] != '\0')
		snprintf(out, room, "src_tor = '%s'", subject->tor);
	else if (subject->rnic[0] != '\0')
		snprintf(out, room, "rnic = '%s'", subject->rnic);
	else
		snprintf(out, room, "host = '%s' AND device = '%s'", subject->host,
		    subject->device);
}

static int
ask_rows(const struct influx_place *place, const struct history_subject *subject,
    struct history_rows *rows)
{
	char sources[4096], condition[256], statement[STATEMENT_BYTES];
	const json_t *series, *row;
	json_t *list = NULL;
	size_t s, i;
	int r;

	r = write_sources(place, subject->tor[0] != '\0' ? "rm_tor_pair" : "rm_rnic",
	    sources, sizeof(sources));
	if (r < 0)
		return r;
	write_condition(subject, condition, sizeof(condition));
	snprintf(statement, sizeof(statement),
	    "SELECT sum(sent), sum(no_reply), max(rtt_p50_ns), max(rtt_p99_ns) FROM %s "
	    "WHERE %s AND time >= %" PRId64 " GROUP BY time(%" PRId64 "s) fill(none)",
	    sources, condition, history_rows_start_ns(rows),
	    history_rows_bucket_ns(rows) / RM_NS_PER_S);
	r = influx_query(place, statement, &list);
	json_array_foreach (list, s, series)
		json_array_foreach (json_object_get(series, "values"), i, row)
			history_rows_add(rows, time_at(row),
			    (uint64_t)number_at(row, 1), (uint64_t)number_at(row, 2),
			    (uint64_t)number_at(row, 3), (uint64_t)number_at(row, 4));
	json_decref(list);
	return r;
}

static int
ask_incidents(const struct influx_place *place, struct history_rows *rows)
{
	char sources[4096], statement[STATEMENT_BYTES];
	const json_t *series, *row;
	json_t *list = NULL;
	size_t s, i;
	int r;

	r = write_sources(place, "rm_incident", sources, sizeof(sources));
	if (r < 0)
		return r;
	snprintf(statement, sizeof(statement),
	    "SELECT id, state, kind, sentence, part, place, tor FROM %s "
	    "WHERE time >= %" PRId64 " ORDER BY time DESC LIMIT 100000",
	    sources, history_rows_start_ns(rows));
	r = influx_query(place, statement, &list);
	json_array_foreach (list, s, series) {
		json_array_foreach (json_object_get(series, "values"), i, row) {
			const struct history_incident incident = {
				.when_ns = time_at(row),
				.state = text_at(series, row, "state"),
				.kind = text_at(series, row, "kind"),
				.part = text_at(series, row, "part"),
				.place = text_at(series, row, "place"),
				.tor = text_at(series, row, "tor"),
				.id = text_at(series, row, "id"),
				.sentence = text_at(series, row, "sentence"),
			};

			if (r == 0)
				r = history_rows_incident(rows, &incident);
		}
	}
	json_decref(list);
	return r;
}

int
history_from_influx(const struct influx_place *place,
    const struct history_subject *subject, struct history_rows *rows)
{
	enum influx_kind kind;
	int r;

	r = influx_kind(place, &kind);
	if (r < 0)
		return r;
	if (kind != INFLUX_1) {
		fprintf(stderr,
		    "rackmeshctl: %s is %s: it does not answer InfluxQL; ask it in its "
		    "own language (docs/history.md has the names)\n",
		    place->url, kind == INFLUX_2 ? "InfluxDB 2" : "VictoriaMetrics");
		return -EOPNOTSUPP;
	}
	r = ask_rows(place, subject, rows);
	return r < 0 ? r : ask_incidents(place, rows);
}

/* ---- The past as files of line protocol have it ---- */

#define MAX_FILES 64 /* rackmesh.lp, rackmesh.lp.1, ... */
#define MAX_SEEN (4u << 20)

/* After a crash a batch may stand there twice: a database would keep one. */
struct seen {
	uint64_t *hashes; /* open addressing; 0: free */
	size_t room, count;
};

static uint64_t
hash_line(const char *line, size_t len)
{
	return rm_fnv1a(RM_FNV1A, line, len) | 1;
}

static int
seen_grow(struct seen *seen)
{
	struct seen grown = { .room = seen->room == 0 ? 4096 : 2 * seen->room };

	if (grown.room > 2 * MAX_SEEN)
		return -EFBIG;
	grown.hashes = calloc(grown.room, sizeof(*grown.hashes));
	if (grown.hashes == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < seen->room; i++) {
		size_t at = seen->hashes[i] % grown.room;

		if (seen->hashes[i] == 0)
			continue;
		while (grown.hashes[at] != 0)
			at = (at + 1) % grown.room;
		grown.hashes[at] = seen->hashes[i];
		grown.count++;
	}
	free(seen->hashes);
	*seen = grown;
	return 0;
}

/* 1: for the first time. 0: again. */
static int
seen_add(struct seen *seen, uint64_t hash)
{
	size_t at;

	if (2 * (seen->count + 1) > seen->room) {
		int r = seen_grow(seen);

		if (r < 0)
			return r;
	}
	for (at = hash % seen->room; seen->hashes[at] != 0; at = (at + 1) % seen->room)
		if (seen->hashes[at] == hash)
			return 0;
	seen->hashes[at] = hash;
	seen->count++;
	return 1;
}

static const char *
text_of(const struct rm_line_point *point, const char *key)
{
	const struct rm_line_column *column = rm_line_find(point, key);

	return column != NULL ? column->text : "";
}

static uint64_t
number_of(const struct rm_line_point *point, const char *key)
{
	const struct rm_line_column *column = rm_line_find(point, key);

	return column != NULL ? (uint64_t)column->integer : 0;
}

static bool
is_row_of(const struct rm_line_point *point, const struct history_subject *subject)
{
	if (subject->tor[0] != '\0')
		return strcmp(point->measurement, "rm_tor_pair") == 0 &&
		       strcmp(text_of(point, "src_tor"), subject->tor) == 0;
	if (strcmp(point->measurement, "rm_rnic") != 0)
		return false;
	if (subject->rnic[0] != '\0')
		return strcmp(text_of(point, "rnic"), subject->rnic) == 0;
	return strcmp(text_of(point, "host"), subject->host) == 0 &&
	       strcmp(text_of(point, "device"), subject->device) == 0;
}

static int
take_point(const struct rm_line_point *point, const struct history_subject *subject,
    uint64_t hash, struct seen *seen, struct history_rows *rows)
{
	int r;

	if (strcmp(point->measurement, "rm_incident") == 0) {
		const struct history_incident incident = { point->when.ns,
			text_of(point, "state"), text_of(point, "kind"),
			text_of(point, "part"), text_of(point, "place"),
			text_of(point, "tor"), text_of(point, "id"),
			text_of(point, "sentence") };

		return history_rows_incident(rows, &incident);
	}
	if (point->when.ns < history_rows_start_ns(rows) || !is_row_of(point, subject))
		return 0;
	r = seen_add(seen, hash);
	if (r == 1)
		history_rows_add(rows, point->when.ns, number_of(point, "sent"),
		    number_of(point, "no_reply"), number_of(point, "rtt_p50_ns"),
		    number_of(point, "rtt_p99_ns"));
	return r < 0 ? r : 0;
}

/* -ENOENT: there is no such file. Torn lines are passed over. */
static int
read_file(const char *path, const struct history_subject *subject, struct seen *seen,
    struct history_rows *rows)
{
	FILE *file = fopen(path, "re");
	struct rm_line_point *point = malloc(sizeof(*point));
	char *line = NULL;
	size_t room = 0;
	ssize_t len;
	int r = 0;

	if (file == NULL || point == NULL) {
		r = file == NULL ? -errno : -ENOMEM;
		goto out;
	}
	while (r == 0 && (len = getline(&line, &room, file)) > 0) {
		uint64_t hash;

		if (line[len - 1] != '\n')
			break;
		hash = hash_line(line, (size_t)len);
		if (rm_line_read(line, (size_t)len - 1, point) == 0)
			r = take_point(point, subject, hash, seen, rows);
	}
	if (r == 0 && ferror(file))
		r = -EIO;
out:
	free(line);
	free(point);
	if (file != NULL)
		fclose(file);
	return r;
}

int
history_from_files(const char *folder, const struct history_subject *subject,
    struct history_rows *rows)
{
	static const char *const names[] = { "rackmesh.lp", "incidents.lp" };
	struct seen seen = { 0 };
	char path[4096];
	unsigned found = 0;
	int r = 0;

	for (size_t n = 0; r == 0 && n < 2; n++)
		for (int i = 0; r == 0 && i < MAX_FILES; i++) {
			if (i == 0)
				snprintf(path, sizeof(path), "%s/%s", folder, names[n]);
			else
				snprintf(path, sizeof(path), "%s/%s.%d", folder,
				    names[n], i);
			r = read_file(path, subject, &seen, rows);
			if (r == -ENOENT && i > 0) {
				r = 0;
				break;
			}
			found += r == 0;
			if (r == -ENOENT)
				r = 0;
		}
	free(seen.hashes);
	if (r < 0)
		fprintf(
		    stderr, "rackmeshctl: cannot read %s: %s\n", path, strerror(-r));
	else if (found == 0) {
		fprintf(stderr,
		    "rackmeshctl: %s holds no history (rackmesh.lp, incidents.lp); see "
		    "--folder, --url\n",
		    folder);
		r = -ENOENT;
	}
	return r;
}
