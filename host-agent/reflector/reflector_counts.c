#include "host-agent/reflector/reflector_counts.h"

#include <stdbool.h>
#include <stdlib.h>

/* no exit(): hh.tbl is NULL if an entry could not be added */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct row_key {
	uint64_t guid;
	uint8_t port, dscp;
	uint8_t zero[6];
};

struct reflector_counts_row {
	struct row_key key;
	uint64_t received;
	bool changed;                      /* the row is in the queue of changed rows */
	struct reflector_counts_row *next; /* the next row in that queue */
	UT_hash_handle hh;
};

struct reflector_counts_table {
	struct wire_rnic_id own;
	struct reflector_counts_row *rows;         /* uthash */
	struct reflector_counts_row *first, *last; /* the queue of changed rows */
};

struct reflector_counts_table *
reflector_counts_new(struct wire_rnic_id own)
{
	struct reflector_counts_table *table = calloc(1, sizeof(*table));

	if (table != NULL)
		table->own = own;
	return table;
}

void
reflector_counts_free(struct reflector_counts_table *table)
{
	struct reflector_counts_row *row, *next;

	if (table == NULL)
		return;
	HASH_ITER (hh, table->rows, row, next) {
		HASH_DEL(table->rows, row);
		free(row);
	}
	free(table);
}

struct reflector_counts_row *
reflector_counts_row(
    struct reflector_counts_table *table, struct wire_rnic_id prober, uint8_t dscp)
{
	struct row_key key = { .guid = prober.guid, .port = prober.port, .dscp = dscp };
	struct reflector_counts_row *row;

	HASH_FIND(hh, table->rows, &key, sizeof(key), row);
	if (row != NULL)
		return row;
	if (HASH_COUNT(table->rows) >= WIRE_MAX_COUNTS)
		return NULL;
	row = calloc(1, sizeof(*row));
	if (row == NULL)
		return NULL;
	row->key = key;
	HASH_ADD(hh, table->rows, key, sizeof(row->key), row);
	if (row->hh.tbl == NULL) {
		free(row);
		return NULL;
	}
	return row;
}

static void
row_queue(struct reflector_counts_table *table, struct reflector_counts_row *row)
{
	if (row->changed)
		return;
	row->changed = true;
	row->next = NULL;
	if (table->last != NULL)
		table->last->next = row;
	else
		table->first = row;
	table->last = row;
}

void
reflector_counts_add(
    struct reflector_counts_table *table, struct reflector_counts_row *row)
{
	row->received++;
	row_queue(table, row);
}

size_t
reflector_counts_changed(
    struct reflector_counts_table *table, struct wire_count *rows, size_t max)
{
	size_t n = 0;

	while (n < max && table->first != NULL) {
		struct reflector_counts_row *row = table->first;

		table->first = row->next;
		if (table->first == NULL)
			table->last = NULL;
		row->changed = false;
		rows[n++] = (struct wire_count){ .own_guid = table->own.guid,
			.own_port_num = table->own.port,
			.prober_guid = row->key.guid,
			.prober_port_num = row->key.port,
			.dscp = row->key.dscp,
			.received = row->received };
	}
	return n;
}

void
reflector_counts_change_all(struct reflector_counts_table *table)
{
	for (struct reflector_counts_row *row = table->rows; row; row = row->hh.next)
		row_queue(table, row);
}
