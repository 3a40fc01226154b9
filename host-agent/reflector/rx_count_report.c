#include "host-agent/reflector/rx_count_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/reflector/reflector.h"

#define RX_COUNT_REPORT_FIRST 256

struct rx_count_report {
	/* Rows of the RNIC i are rows[begin[i]] to rows[begin[i] + count[i] - 1]. */
	struct wire_count *rows;
	struct wire_count *picked;
	size_t used, capacity; /* numbers of entries of rows and of picked */
	size_t begin[WIRE_MAX_HOST_RNICS], count[WIRE_MAX_HOST_RNICS];
};

static int
rows_reserve(struct rx_count_report *rows, size_t capacity)
{
	struct wire_count *grown;

	if (capacity > WIRE_MAX_COUNTS)
		return -ENOBUFS;
	grown = realloc(rows->rows, capacity * sizeof(*grown));
	if (grown == NULL)
		return -ENOMEM;
	rows->rows = grown;
	grown = realloc(rows->picked, capacity * sizeof(*grown));
	if (grown == NULL)
		return -ENOMEM;
	rows->picked = grown;
	rows->capacity = capacity;
	return 0;
}

int
rx_count_report_new(struct rx_count_report **ret)
{
	struct rx_count_report *rows = calloc(1, sizeof(*rows));
	int r = -ENOMEM;

	if (rows != NULL)
		r = rows_reserve(rows, RX_COUNT_REPORT_FIRST);
	if (r < 0)
		rx_count_report_free(rows);
	else
		*ret = rows;
	return r;
}

void
rx_count_report_free(struct rx_count_report *rows)
{
	if (rows == NULL)
		return;
	free(rows->rows);
	free(rows->picked);
	free(rows);
}

void
rx_count_report_start(struct rx_count_report *rows)
{
	rows->used = 0;
	memset(rows->count, 0, sizeof(rows->count));
}

int
rx_count_report_gather(
    struct rx_count_report *rows, size_t rnic, struct reflector *reflector)
{
	size_t room, got;
	int r;

	rows->begin[rnic] = rows->used;
	for (;;) {
		room = rows->capacity - rows->used;
		got = room == 0 ? 0
				: reflector_changed_counts(
				      reflector, rows->rows + rows->used, room);
		rows->used += got;
		rows->count[rnic] += got;
		if (got < room)
			return 0;
		r = rows_reserve(rows, rows->capacity * 2);
		if (r < 0)
			return r;
	}
}

const struct wire_count *
rx_count_report_pick(struct rx_count_report *rows,
    bool (*serves)(size_t rnic, const void *arg), const void *arg, size_t *count)
{
	size_t picked = 0;

	for (size_t i = 0; i < WIRE_MAX_HOST_RNICS; i++) {
		if (rows->count[i] == 0 || !serves(i, arg))
			continue;
		memcpy(rows->picked + picked, rows->rows + rows->begin[i],
		    rows->count[i] * sizeof(*rows->rows));
		picked += rows->count[i];
	}
	*count = picked;
	return rows->picked;
}
