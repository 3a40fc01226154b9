#define HASH_NONFATAL_OOM 1
#include "tor-aggregator/rack/rack_uses.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "rackmesh/core/fnv.h"
#include "tor-aggregator/paths/path_table.h"
#include "tor-aggregator/services/service_table.h"
#include "tor-aggregator/window/rack_view.h"
#include "tor-aggregator/window/roster.h"
#include "tor-aggregator/window/window.h"

#define MAX_FLOWS 65536
#define NAME_BYTES (SERVICE_NAME_BYTES + SERVICE_POD_BYTES + 4)

struct flow_key { /* no padding: it is hashed as bytes */
	uint64_t src_guid, dst_guid;
	uint16_t src_port;
	uint8_t src_port_num, dst_port_num;
	uint32_t zero;
};

struct flow {
	struct flow_key key;
	uint64_t sent, lost;
	rm_mono_t lost_sent; /* when the last lost probe was sent */
	UT_hash_handle hh;
};

struct row_key {          /* no padding */
	uint64_t service; /* hash of its name */
	uint64_t dst_tor; /* likewise; 0: not known */
	uint32_t path, zero;
};

struct row {
	struct row_key key;
	char service[NAME_BYTES];
	UT_hash_handle hh;
};

struct rack_uses {
	struct flow *flows;
	rm_mono_t taken, lost_sent;
	bool is_lossy; /* a probe was lost since the last report */
	bool is_hasty;
	uint64_t refused;
	struct row *by_key;
	size_t row_count;
	struct row rows[WIRE_MAX_USE_ROWS];
	struct wire_use_row out[WIRE_MAX_USE_ROWS];
};

int
rack_uses_new(rm_mono_t now, struct rack_uses **ret)
{
	struct rack_uses *uses = calloc(1, sizeof(*uses));

	if (uses == NULL)
		return -ENOMEM;
	uses->taken = now;
	*ret = uses;
	return 0;
}

static void
forget_flows(struct rack_uses *uses)
{
	struct flow *flow, *next;

	HASH_ITER (hh, uses->flows, flow, next) {
		HASH_DEL(uses->flows, flow);
		free(flow);
	}
}

void
rack_uses_free(struct rack_uses *uses)
{
	if (uses == NULL)
		return;
	forget_flows(uses);
	HASH_CLEAR(hh, uses->by_key);
	free(uses);
}

/* ---- counting ---- */

static struct flow *
flow_find(const struct rack_uses *uses, const struct flow_key *key)
{
	struct flow *flow;

	HASH_FIND(hh, uses->flows, key, sizeof(*key), flow);
	return flow;
}

/* NULL: no room. */
static struct flow *
flow_get(struct rack_uses *uses, const struct flow_key *key)
{
	struct flow *flow = flow_find(uses, key);

	if (flow != NULL || HASH_COUNT(uses->flows) >= MAX_FLOWS)
		return flow;
	flow = calloc(1, sizeof(*flow));
	if (flow == NULL)
		return NULL;
	flow->key = *key;
	HASH_ADD(hh, uses->flows, key, sizeof(flow->key), flow);
	if (flow->hh.tbl != NULL)
		return flow;
	free(flow); /* uthash could not grow */
	return NULL;
}

void
rack_uses_add(struct rack_uses *uses, const struct service_table *table, rm_mono_t sent,
    const struct wire_result *result)
{
	const struct flow_key key = { .src_guid = result->src_guid,
		.dst_guid = result->dst_guid,
		.src_port = result->src_port,
		.src_port_num = result->src_port_num,
		.dst_port_num = result->dst_port_num };
	const bool lost = result->outcome == WIRE_NO_REPLY;
	struct flow *flow;

	if (table == NULL || result->kind != WIRE_SERVICE ||
	    (!lost && result->outcome != WIRE_OK &&
		result->outcome != WIRE_LATE_REPLY) ||
	    service_table_probed(table, result) == NULL)
		return;
	if (lost) {
		uses->is_lossy = true;
		uses->lost_sent = sent;
	}
	flow = flow_get(uses, &key);
	if (flow == NULL)
		return;
	flow->sent++;
	flow->lost += lost;
	if (lost)
		flow->lost_sent = sent;
}

bool
rack_uses_due(const struct rack_uses *uses, int64_t row_interval_ns, rm_mono_t now)
{
	const int64_t ago = rm_mono_since(now, uses->taken);

	return uses->is_hasty ||
	       ago >= (uses->is_lossy ? RM_NS_PER_S : row_interval_ns);
}

void
rack_uses_hurry(struct rack_uses *uses)
{
	uses->is_hasty = true;
}

bool
rack_uses_lost(const struct rack_uses *uses, rm_mono_t now, int64_t within_ns)
{
	return uses->lost_sent.ns != 0 &&
	       rm_mono_since(now, uses->lost_sent) <= within_ns;
}

const uint64_t *
rack_uses_refused(const struct rack_uses *uses)
{
	return &uses->refused;
}

/* ---- reporting ---- */

struct report {
	struct rack_uses *uses;
	const struct roster *roster;
	const struct path_table *paths;
	rm_mono_t now;
	bool all; /* no row was left out of this report */
};

static void
name_of(const struct service_flow *flow, char name[NAME_BYTES])
{
	const bool pod = flow->pod[0] != '\0';

	snprintf(name, NAME_BYTES, "%s%s%s%s", flow->service, pod ? " (" : "",
	    flow->pod, pod ? ")" : "");
}

/* NULL: no room. */
static struct wire_use_row *
row_of(struct report *report, const struct row_key *key, const char *name,
    const char *dst_tor)
{
	struct rack_uses *uses = report->uses;
	struct row *row;

	HASH_FIND(hh, uses->by_key, key, sizeof(*key), row);
	if (row != NULL)
		return &uses->out[row - uses->rows];
	if (uses->row_count == WIRE_MAX_USE_ROWS)
		return NULL;
	row = &uses->rows[uses->row_count];
	memset(row, 0, sizeof(*row));
	row->key = *key;
	memcpy(row->service, name, sizeof(row->service));
	HASH_ADD(hh, uses->by_key, key, sizeof(row->key), row);
	if (row->hh.tbl == NULL) /* uthash could not grow */
		return NULL;
	uses->out[uses->row_count] = (struct wire_use_row){
		.service = row->service,
		.dst_tor = dst_tor,
		.path = key->path == PATH_UNTRACED
			    ? ""
			    : path_table_text(report->paths, key->path),
	};
	return &uses->out[uses->row_count++];
}

static void
report_flow(struct report *report, const struct service_flow *flow)
{
	const struct roster_rnic *dst = roster_find(report->roster, flow->dst);
	const struct flow_key key = { .src_guid = flow->src.guid,
		.dst_guid = flow->dst.guid,
		.src_port = flow->probe_port,
		.src_port_num = flow->src.port,
		.dst_port_num = flow->dst.port };
	const struct flow *counted =
	    flow->probe_port == 0 ? NULL : flow_find(report->uses, &key);
	const rm_mono_t at =
	    counted != NULL && counted->lost > 0 ? counted->lost_sent : report->now;
	const bool is_own = dst != NULL && dst->tor_number == 0;
	const char *tor = dst == NULL ? ""
			  : is_own    ? roster_tor(report->roster)
				      : dst->tor;
	struct row_key of = {
		.dst_tor = dst == NULL ? 0 : rm_fnv1a(RM_FNV1A, tor, strlen(tor)) | 1,
	};
	char name[NAME_BYTES] = "";
	struct wire_use_row *row;

	name_of(flow, name);
	of.service = rm_fnv1a(RM_FNV1A, name, strlen(name));
	if (flow->probe_port != 0 && dst != NULL && !is_own)
		of.path = path_table_find(
		    report->paths, flow->src, flow->dst, flow->probe_port, at);
	row = row_of(report, &of, name, tor);
	if (row == NULL) {
		report->uses->refused++;
		report->all = false;
		return;
	}
	row->flows++;
	row->sent += counted != NULL ? counted->sent : 0;
	row->lost += counted != NULL ? counted->lost : 0;
}

/* False: the host does not trace the services of its RNICs. */
static bool
report_host(struct report *report, const struct service_table *table, const char *name)
{
	const struct service_host *host = service_table_find(table, name);

	if (host == NULL)
		return false;
	for (size_t i = 0; i < host->flow_count; i++) {
		const struct roster_rnic *src =
		    roster_find(report->roster, host->flows[i].src);

		if (src != NULL && src->index < WINDOW_REMOTE_BASE)
			report_flow(report, &host->flows[i]);
	}
	return host->tracing && host->gone.ns == 0;
}

void
rack_uses_take(struct rack_uses *uses, const struct service_table *table,
    const struct roster *roster, const struct path_table *paths, rm_mono_t now,
    struct wire_summary *summary)
{
	struct report report = {
		.uses = uses,
		.roster = roster,
		.paths = paths,
		.now = now,
		.all = table != NULL && roster_hosts(roster) > 0,
	};

	uses->row_count = 0;
	for (size_t i = 0; table != NULL && i < roster_hosts(roster); i++)
		if (!report_host(&report, table, roster_host(roster, i)))
			report.all = false;
	HASH_CLEAR(hh, uses->by_key);
	forget_flows(uses);
	uses->taken = now;
	uses->is_lossy = uses->is_hasty = false;
	summary->uses_known = report.all ? WIRE_USES_ALL : WIRE_USES_SOME;
	summary->uses = uses->out;
	summary->use_count = uses->row_count;
}
