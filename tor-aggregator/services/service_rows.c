#include "tor-aggregator/services/service_rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/metrics/sketch.h"
#include "tor-aggregator/services/service_table.h"

#define ARENA_BYTES (256u << 10) /* memory for the encoded sketches of one message */

struct row {
	char service[SERVICE_NAME_BYTES];
	uint8_t dscp;
	uint64_t sent, outcomes[WIRE_OUTCOMES];
	struct rm_sketch *rtt;
};

struct service_rows {
	const struct service_table *table;
	/* For each row: number of the service's name, and class, in one word for a fast
	 * search. */
	uint64_t keys[WIRE_MAX_SERVICE_ROWS];
	struct row rows[WIRE_MAX_SERVICE_ROWS];
	size_t row_count;
	rm_wall_t since;
	uint64_t refused;
	struct wire_service_row out[WIRE_MAX_SERVICE_ROWS];
	/* texts to which `out` points */
	char names[WIRE_MAX_SERVICE_ROWS][SERVICE_NAME_BYTES];
	uint8_t arena[ARENA_BYTES];
};

int
service_rows_new(
    const struct service_table *table, rm_wall_t wall, struct service_rows **ret)
{
	struct service_rows *rows = calloc(1, sizeof(*rows));

	if (rows == NULL)
		return -ENOMEM;
	rows->table = table;
	rows->since = wall;
	*ret = rows;
	return 0;
}

void
service_rows_free(struct service_rows *rows)
{
	if (rows == NULL)
		return;
	for (size_t i = 0; i < rows->row_count; i++)
		rm_sketch_free(rows->rows[i].rtt);
	free(rows);
}

/* ---- counting ---- */

/* Finds or adds the row. NULL: there is no room. */
static struct row *
row_of(struct service_rows *rows, const struct service_name *name, uint8_t dscp)
{
	const uint64_t key = name->number << 8 | dscp;
	struct row *row;

	for (size_t i = 0; i < rows->row_count; i++)
		if (rows->keys[i] == key)
			return &rows->rows[i];
	/* A name that was deleted and reported again has another number, but belongs to
	 * the same row. */
	for (size_t i = 0; i < rows->row_count; i++)
		if (rows->rows[i].dscp == dscp &&
		    strcmp(rows->rows[i].service, name->text) == 0) {
			rows->keys[i] = key;
			return &rows->rows[i];
		}
	if (rows->row_count == WIRE_MAX_SERVICE_ROWS)
		return NULL;
	row = &rows->rows[rows->row_count];
	*row = (struct row){ .dscp = dscp, .rtt = rm_sketch_new() };
	if (row->rtt == NULL)
		return NULL;
	strcpy(row->service, name->text);
	rows->keys[rows->row_count++] = key;
	return row;
}

void
service_rows_add(struct service_rows *rows, const struct wire_result *result)
{
	const struct service_name *name =
	    rows->table != NULL ? service_table_probed(rows->table, result) : NULL;
	struct row *row;

	if (name == NULL)
		return;
	row = row_of(rows, name, result->dscp);
	if (row == NULL) {
		rows->refused++;
		return;
	}
	row->sent++;
	row->outcomes[result->outcome]++;
	if (result->outcome == WIRE_OK && (result->flags & WIRE_SPLIT) != 0)
		rm_sketch_add(row->rtt, result->rtt_ns);
}

/* ---- moves the rows into a summary ---- */

void
service_rows_take(
    struct service_rows *rows, rm_wall_t wall, struct wire_summary *summary)
{
	size_t used = 0;

	for (size_t i = 0; i < rows->row_count; i++) {
		struct row *row = &rows->rows[i];
		struct wire_service_row *out = &rows->out[i];
		int len =
		    rm_sketch_encode(row->rtt, rows->arena + used, ARENA_BYTES - used);

		strcpy(rows->names[i], row->service);
		*out = (struct wire_service_row){ .service = rows->names[i],
			.dscp = row->dscp,
			.sent = row->sent,
			.rtt = { rows->arena + used, len > 0 ? (size_t)len : 0 } };
		memcpy(out->outcomes, row->outcomes, sizeof(out->outcomes));
		used += out->rtt.len;
		rm_sketch_free(row->rtt);
	}
	summary->services_start_wall_ns = (uint64_t)rows->since.ns;
	summary->services = rows->out;
	summary->service_count = rows->row_count;
	rows->since = wall;
	/* so that a service that has ended has no row in the next summary */
	rows->row_count = 0;
}

const uint64_t *
service_rows_refused(const struct service_rows *rows)
{
	return &rows->refused;
}
