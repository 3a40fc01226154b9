#define HASH_NONFATAL_OOM 1
#include "tor-aggregator/services/service_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#define MAX_DSCP 63
#define STATES (WIRE_SERVICE_UNRESOLVED + 1)

struct name {
	struct service_name name; /* must be the first member */
	/* number of probes of this service; when it becomes 0, the name is freed */
	size_t probes;
	UT_hash_handle hh;
};

struct probe_key { /* The key must have no padding, because it is hashed as bytes. */
	uint64_t src_guid, dst_guid;
	uint16_t src_port;
	uint8_t src_port_num, dst_port_num;
	uint32_t zero;
};

struct probe {
	struct probe_key key;
	/* NULL: no service of this host has the probe; another host's service may have
	 * it now. */
	struct name *name;
	const struct entry *of;
	UT_hash_handle hh;
};

struct entry {
	struct service_host host; /* must be the first member */
	struct service_flow *flows;
	struct probe *probes; /* array with one probe for each flow */
	UT_hash_handle hh;
};

struct service_table {
	struct entry *hosts;  /* by name */
	struct probe *probes; /* by key */
	struct name *names;   /* by text */
	uint64_t last_number;
	size_t flow_count, max_flows;
	size_t states[STATES];
	struct service_table_counts counts;
};

int
service_table_new(size_t max_flows, struct service_table **ret)
{
	struct service_table *table = calloc(1, sizeof(*table));

	if (table == NULL)
		return -ENOMEM;
	table->max_flows = max_flows;
	*ret = table;
	return 0;
}

/* ---- finds the service of a probe ---- */

static struct name *
get_name(struct service_table *table, const char *text)
{
	struct name *name;

	HASH_FIND_STR(table->names, text, name);
	if (name != NULL)
		return name;
	name = calloc(1, sizeof(*name));
	if (name == NULL)
		return NULL;
	name->name.number = ++table->last_number;
	snprintf(name->name.text, sizeof(name->name.text), "%s", text);
	HASH_ADD_STR(table->names, name.text, name);
	if (name->hh.tbl == NULL) { /* uthash could not grow */
		free(name);
		return NULL;
	}
	return name;
}

static void
leave_name(struct service_table *table, struct name *name)
{
	if (--name->probes > 0)
		return;
	HASH_DEL(table->names, name);
	free(name);
}

static void
forget_probe(struct service_table *table, struct probe *probe)
{
	if (probe->name == NULL)
		return;
	HASH_DEL(table->probes, probe);
	leave_name(table, probe->name);
	probe->name = NULL;
}

static void
learn_probe(
    struct service_table *table, struct probe *probe, const struct service_flow *flow)
{
	struct probe *known;
	struct name *name;

	HASH_FIND(hh, table->probes, &probe->key, sizeof(probe->key), known);
	if (known != NULL && known->of == probe->of)
		return;
	name = get_name(table, flow->service);
	if (name == NULL)
		return;
	/* first, so that the name is not freed if it is the old name, too */
	name->probes++;
	if (known != NULL) /* the RNIC was moved from another host */
		forget_probe(table, known);
	HASH_ADD(hh, table->probes, key, sizeof(probe->key), probe);
	if (probe->hh.tbl != NULL)
		probe->name = name;
	else /* uthash could not grow */
		leave_name(table, name);
}

/* Adds the probes of a host's flows. If there is no memory, the services of some probes
 * are not known. */
static void
learn_probes(struct service_table *table, struct entry *entry)
{
	entry->probes = calloc(entry->host.flow_count + 1, sizeof(*entry->probes));
	for (size_t i = 0; entry->probes != NULL && i < entry->host.flow_count; i++) {
		const struct service_flow *flow = &entry->flows[i];
		struct probe *probe = &entry->probes[i];

		probe->of = entry;
		probe->key = (struct probe_key){ .src_guid = flow->src.guid,
			.dst_guid = flow->dst.guid,
			.src_port = flow->probe_port,
			.src_port_num = flow->src.port,
			.dst_port_num = flow->dst.port };
		if (flow->probe_port != 0 && flow->dst.guid != 0 &&
		    flow->service[0] != '\0')
			learn_probe(table, probe, flow);
	}
}

const struct service_name *
service_table_probed(
    const struct service_table *table, const struct wire_result *result)
{
	const struct probe_key key = { .src_guid = result->src_guid,
		.dst_guid = result->dst_guid,
		.src_port = result->src_port,
		.src_port_num = result->src_port_num,
		.dst_port_num = result->dst_port_num };
	const struct probe *probe = NULL;

	if (result->kind == WIRE_SERVICE)
		HASH_FIND(hh, table->probes, &key, sizeof(key), probe);
	return probe == NULL ? NULL : &probe->name->name;
}

/* ---- hosts ---- */

/* Removes all flows of the host. */
static void
empty(struct service_table *table, struct entry *entry)
{
	for (size_t i = 0; entry->probes != NULL && i < entry->host.flow_count; i++)
		forget_probe(table, &entry->probes[i]);
	free(entry->probes);
	entry->probes = NULL;
	for (size_t i = 0; i < entry->host.flow_count; i++)
		table->states[entry->flows[i].state]--;
	table->flow_count -= entry->host.flow_count;
	free(entry->flows);
	entry->flows = NULL;
	entry->host.flows = NULL;
	entry->host.flow_count = 0;
}

static void
drop(struct service_table *table, struct entry *entry)
{
	empty(table, entry);
	HASH_DEL(table->hosts, entry);
	free(entry);
}

void
service_table_free(struct service_table *table)
{
	struct entry *entry, *next;

	if (table == NULL)
		return;
	HASH_ITER (hh, table->hosts, entry, next)
		drop(table, entry);
	free(table);
}

static struct entry *
find(const struct service_table *table, const char *host)
{
	struct entry *entry = NULL;

	HASH_FIND_STR(table->hosts, host, entry);
	return entry;
}

static int
by_name(const struct entry *a, const struct entry *b)
{
	return strcmp(a->host.host, b->host.host);
}

/* Finds or adds a host. NULL: out of memory. */
static struct entry *
get(struct service_table *table, const char *host)
{
	struct entry *entry = find(table, host);

	if (entry != NULL)
		return entry;
	entry = calloc(1, sizeof(*entry));
	if (entry == NULL)
		return NULL;
	snprintf(entry->host.host, sizeof(entry->host.host), "%s", host);
	HASH_ADD_STR(table->hosts, host.host, entry);
	if (entry->hh.tbl == NULL) { /* uthash could not grow */
		free(entry);
		return NULL;
	}
	HASH_SORT(table->hosts, by_name);
	return entry;
}

static void
take_text(char *ret, size_t size, const char *text)
{
	snprintf(ret, size, "%.*s", (int)size - 1, text);
	for (; *ret != 0; ret++)
		if (*ret < ' ' || *ret > '~')
			*ret = '?';
}

static void
take_flow(struct service_flow *ret, const struct wire_service_flow *from)
{
	*ret = (struct service_flow){
		.src = from->src,
		.dst = from->dst,
		.peer = from->peer,
		.pid = from->pid,
		.qps = from->qps,
		.src_qpn = from->src_qpn,
		.dst_qpn = from->dst_qpn,
		.src_port = from->src_port,
		.probe_port = from->probe_port,
		.qp_type = from->qp_type,
		.state = from->state,
		.dscp = from->dscp,
		.older = from->older,
	};
	take_text(ret->service, sizeof(ret->service), from->service);
	take_text(ret->comm, sizeof(ret->comm), from->comm);
	take_text(ret->pod, sizeof(ret->pod), from->pod);
}

/* Adds the flows of a report, as long as there is room. */
static int
take_flows(struct service_table *table, struct entry *entry,
    const struct wire_services_view *view,
    bool (*owns)(struct wire_rnic_id id, void *arg), void *arg)
{
	size_t reported = view->services.flow_count;
	size_t room = table->max_flows - table->flow_count;
	size_t wanted = reported < room ? reported : room;

	if (reported == 0)
		return 0;
	entry->flows = calloc(wanted + 1, sizeof(*entry->flows));
	if (entry->flows == NULL) {
		table->counts.dropped_flows += reported;
		return -ENOMEM;
	}
	for (size_t i = 0; i < reported; i++) {
		struct wire_service_flow flow;

		wire_services_flow(view, i, &flow);
		if (flow.dscp > MAX_DSCP || !owns(flow.src, arg)) {
			table->counts.refused_flows++;
		} else if (entry->host.flow_count == wanted) {
			table->counts.dropped_flows++;
		} else {
			take_flow(&entry->flows[entry->host.flow_count++], &flow);
			table->states[flow.state]++;
		}
	}
	entry->host.flows = entry->flows;
	table->flow_count += entry->host.flow_count;
	learn_probes(table, entry);
	return 0;
}

int
service_table_take(struct service_table *table, const char *host,
    const struct wire_services_view *view,
    bool (*owns)(struct wire_rnic_id id, void *arg), void *arg, rm_mono_t now)
{
	const struct wire_services *services = &view->services;
	struct entry *entry = get(table, host);

	table->counts.reports++;
	if (entry == NULL) {
		table->counts.dropped_flows += services->flow_count;
		return -ENOMEM;
	}
	empty(table, entry);
	entry->host.reported_at = now;
	entry->host.gone = (rm_mono_t){ 0 };
	entry->host.tracing = services->tracing;
	entry->host.unresolved = services->unresolved;
	entry->host.over_cap = services->over_cap;
	entry->host.events_dropped = services->events_dropped;
	take_text(entry->host.missing, sizeof(entry->host.missing), services->missing);
	return take_flows(table, entry, view, owns, arg);
}

void
service_table_gone(struct service_table *table, const char *host, rm_mono_t now)
{
	struct entry *entry = find(table, host);

	if (entry != NULL && entry->host.gone.ns == 0)
		entry->host.gone = now;
}

void
service_table_age(struct service_table *table, rm_mono_t now)
{
	struct entry *entry, *next;

	HASH_ITER (hh, table->hosts, entry, next) {
		if (entry->host.gone.ns == 0 ||
		    rm_mono_since(now, entry->host.gone) < SERVICE_TABLE_GRACE_NS)
			continue;
		drop(table, entry);
		table->counts.aged++;
	}
}

const struct service_host *
service_table_find(const struct service_table *table, const char *host)
{
	const struct entry *entry = find(table, host);

	return entry == NULL ? NULL : &entry->host;
}

const struct service_host *
service_table_next(const struct service_table *table, const struct service_host *host)
{
	const struct entry *entry =
	    host == NULL ? table->hosts : ((const struct entry *)host)->hh.next;

	return entry == NULL ? NULL : &entry->host;
}

size_t
service_table_flows(const struct service_table *table)
{
	return table->flow_count;
}

size_t
service_table_in_state(const struct service_table *table, enum wire_service_state state)
{
	return table->states[state];
}

const struct service_table_counts *
service_table_counts(const struct service_table *table)
{
	return &table->counts;
}
