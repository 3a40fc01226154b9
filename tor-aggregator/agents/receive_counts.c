#include "tor-aggregator/agents/receive_counts.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct counts_key { /* The key must have no padding, because it is hashed as bytes. */
	uint64_t own_guid, prober_guid;
	uint64_t ports_and_class;
};

struct counts_row {
	struct counts_key key;
	uint64_t received;
	UT_hash_handle hh;
};

struct receive_counts {
	struct counts_row *rows;
	size_t row_count, max_rows;
	bool known;        /* a report was received */
	bool base;         /* this report only sets the base */
	uint64_t now_ns;   /* time of the current report */
	uint64_t since_ns; /* time of the report before */
	uint64_t refused;
};

int
receive_counts_new(size_t max_rows, struct receive_counts **ret)
{
	struct receive_counts *counts = calloc(1, sizeof(*counts));

	if (counts == NULL)
		return -ENOMEM;
	counts->max_rows = max_rows;
	*ret = counts;
	return 0;
}

static void
clear(struct receive_counts *counts)
{
	struct counts_row *row, *next;

	HASH_ITER (hh, counts->rows, row, next) {
		HASH_DEL(counts->rows, row);
		free(row);
	}
	counts->row_count = 0;
}

void
receive_counts_free(struct receive_counts *counts)
{
	if (counts == NULL)
		return;
	clear(counts);
	free(counts);
}

void
receive_counts_reset(struct receive_counts *counts)
{
	clear(counts);
	counts->known = false;
	counts->base = false;
	counts->now_ns = counts->since_ns = 0;
}

int
receive_counts_report(
    struct receive_counts *counts, uint64_t now_ns, uint64_t *since_ns)
{
	if (counts->known && now_ns < counts->now_ns)
		return -EINVAL;
	if (!counts->known) {
		counts->known = true;
		counts->base = true;
		counts->now_ns = counts->since_ns = now_ns;
	} else if (now_ns > counts->now_ns) {
		counts->base = false;
		counts->since_ns = counts->now_ns;
		counts->now_ns = now_ns;
	}
	*since_ns = counts->since_ns;
	return counts->base ? 0 : 1;
}

uint64_t
receive_counts_delta(struct receive_counts *counts, const struct wire_count *row)
{
	const struct counts_key key = { row->own_guid, row->prober_guid,
		(uint64_t)row->own_port_num << 16 |
		    (uint64_t)row->prober_port_num << 8 | row->dscp };
	struct counts_row *known;
	uint64_t delta;

	HASH_FIND(hh, counts->rows, &key, sizeof(key), known);
	if (known == NULL) {
		if (counts->row_count >= counts->max_rows)
			goto refused;
		known = calloc(1, sizeof(*known));
		if (known == NULL)
			goto refused;
		known->key = key;
		HASH_ADD(hh, counts->rows, key, sizeof(known->key), known);
		if (known->hh.tbl == NULL) {
			free(known);
			goto refused;
		}
		counts->row_count++;
	}
	delta = row->received >= known->received ? row->received - known->received : 0;
	known->received = row->received;
	return counts->base ? 0 : delta;
refused:
	counts->refused++;
	return 0;
}

uint64_t
receive_counts_refused(const struct receive_counts *counts)
{
	return counts->refused;
}
