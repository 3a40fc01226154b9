/* The past as files of line protocol have it. */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "ctl/history/history_rows.h"
#include "ctl/history/history_source.h"
#include "rackmesh/core/fnv.h"
#include "rackmesh/metrics/line_reader.h"

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
		return strcmp(point->measurement, "rm_path") == 0 &&
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
