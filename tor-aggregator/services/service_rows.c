#include "tor-aggregator/services/service_rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "rackmesh/metrics/sketch.h"
#include "tor-aggregator/services/service_table.h"

#define ARENA_BYTES (256u << 10) /* of encoded sketches in one message */

struct flow_key { /* of a probe: no padding */
	uint64_t src_guid, dst_guid;
	uint16_t src_port;
	uint8_t src_port_num, dst_port_num;
	uint32_t zero;
};

struct flow {
	struct flow_key key;
	char service[SERVICE_NAME_BYTES];
	UT_hash_handle hh;
};

struct row {
	char service[SERVICE_NAME_BYTES];
	uint8_t dscp;
	uint64_t sent, outcomes[WIRE_OUTCOMES];
	struct rm_sketch *rtt;
};

struct service_rows {
	struct service_rows_options options;
	struct flow *flows;
	struct row rows[WIRE_MAX_SERVICE_ROWS];
	size_t row_count;
	rm_wall_t since;
	uint64_t refused;
	struct wire_service_row out[WIRE_MAX_SERVICE_ROWS];
	char names[WIRE_MAX_SERVICE_ROWS][SERVICE_NAME_BYTES]; /* of out */
	uint8_t arena[ARENA_BYTES];
};

int
service_rows_new(const struct service_rows_options *options, rm_wall_t wall,
    struct service_rows **ret)
{
	struct service_rows *rows = calloc(1, sizeof(*rows));

	if (rows == NULL)
		return -ENOMEM;
	rows->options = *options;
	rows->since = wall;
	*ret = rows;
	return 0;
}

static void
forget_flows(struct service_rows *rows)
{
	struct flow *flow, *next;

	HASH_ITER (hh, rows->flows, flow, next) {
		HASH_DEL(rows->flows, flow);
		free(flow);
	}
}

void
service_rows_free(struct service_rows *rows)
{
	if (rows == NULL)
		return;
	forget_flows(rows);
	for (size_t i = 0; i < rows->row_count; i++)
		rm_sketch_free(rows->rows[i].rtt);
	free(rows);
}

/* ---- whose flow it is ---- */

static void
learn(struct service_rows *rows, const struct service_flow *told)
{
	const struct flow_key key = { .src_guid = told->src.guid,
		.dst_guid = told->dst.guid,
		.src_port = told->probe_port,
		.src_port_num = told->src.port,
		.dst_port_num = told->dst.port };
	struct flow *flow;

	HASH_FIND(hh, rows->flows, &key, sizeof(key), flow);
	if (flow != NULL)
		return;
	flow = calloc(1, sizeof(*flow));
	if (flow == NULL)
		return;
	flow->key = key;
	snprintf(flow->service, sizeof(flow->service), "%s", told->service);
	HASH_ADD(hh, rows->flows, key, sizeof(key), flow);
	if (flow->hh.tbl == NULL) /* uthash could not grow */
		free(flow);
}

void
service_rows_learn(struct service_rows *rows, const struct service_table *table)
{
	const struct service_host *host = NULL;

	forget_flows(rows);
	while ((host = service_table_next(table, host)) != NULL)
		for (size_t i = 0; i < host->flow_count; i++) {
			const struct service_flow *flow = &host->flows[i];

			if (flow->probe_port != 0 && flow->dst.guid != 0 &&
			    flow->service[0] != '\0' &&
			    rows->options.is_member(flow->src, rows->options.arg))
				learn(rows, flow);
		}
}

/* ---- counting ---- */

/* NULL: no room. */
static struct row *
row_of(struct service_rows *rows, const char *service, uint8_t dscp)
{
	struct row *row;

	for (size_t i = 0; i < rows->row_count; i++)
		if (rows->rows[i].dscp == dscp &&
		    strcmp(rows->rows[i].service, service) == 0)
			return &rows->rows[i];
	if (rows->row_count == WIRE_MAX_SERVICE_ROWS)
		return NULL;
	row = &rows->rows[rows->row_count];
	*row = (struct row){ .dscp = dscp, .rtt = rm_sketch_new() };
	if (row->rtt == NULL)
		return NULL;
	snprintf(row->service, sizeof(row->service), "%s", service);
	rows->row_count++;
	return row;
}

void
service_rows_add(struct service_rows *rows, const struct wire_result *result)
{
	const struct flow_key key = { .src_guid = result->src_guid,
		.dst_guid = result->dst_guid,
		.src_port = result->src_port,
		.src_port_num = result->src_port_num,
		.dst_port_num = result->dst_port_num };
	struct flow *flow;
	struct row *row;

	if (result->kind != WIRE_SERVICE)
		return;
	HASH_FIND(hh, rows->flows, &key, sizeof(key), flow);
	if (flow == NULL)
		return; /* its service has ended meanwhile */
	row = row_of(rows, flow->service, result->dscp);
	if (row == NULL) {
		rows->refused++;
		return;
	}
	row->sent++;
	row->outcomes[result->outcome]++;
	if (result->outcome == WIRE_OK && (result->flags & WIRE_SPLIT) != 0)
		rm_sketch_add(row->rtt, result->rtt_ns);
}

/* ---- telling ---- */

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
	rows->row_count = 0; /* a service that has ended has no row */
}

const uint64_t *
service_rows_refused(const struct service_rows *rows)
{
	return &rows->refused;
}
