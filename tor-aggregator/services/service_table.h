/*
 * service_table - stores the flows of services that agents report. Pure.
 *
 * Each report has all flows of a host, and replaces the host's last report. When the
 * session of an agent ends, the flows stay for SERVICE_TABLE_GRACE_NS, because the
 * agent may reconnect. If flows of two services would have the same probe, the probe
 * counts for the first service. Texts from agents are cut to the sizes below, and bytes
 * that are not printable become '?'.
 */
#ifndef TOR_AGGREGATOR_SERVICES_SERVICE_TABLE_H
#define TOR_AGGREGATOR_SERVICES_SERVICE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/judge/part.h"
#include "schemas/wire.h"

/* maximum number of flows of all agents together */
#define SERVICE_TABLE_MAX_FLOWS 65536
#define SERVICE_TABLE_GRACE_NS (60 * RM_NS_PER_S)
#define SERVICE_NAME_BYTES 128
#define SERVICE_COMM_BYTES 32
#define SERVICE_POD_BYTES 128 /* with the final 0; longer names are cut */
#define SERVICE_MISSING_BYTES 256

struct service_table;

struct service_flow {
	struct wire_rnic_id src, dst; /* dst.guid 0: not resolved */
	struct wire_address peer;
	char service[SERVICE_NAME_BYTES], comm[SERVICE_COMM_BYTES];
	/* "namespace/name" of the pod; "": not known, or no pod */
	char pod[SERVICE_POD_BYTES];
	uint32_t pid, qps;
	uint32_t src_qpn, dst_qpn; /* numbers of one QP of the flow */
	uint16_t src_port, probe_port;
	uint8_t qp_type, state, dscp; /* see wire_service_flow */
	bool older;
};

struct service_name {
	uint64_t number; /* unique: no other name has it, and no deleted name had it */
	char text[SERVICE_NAME_BYTES];
};

struct service_host {
	char host[RM_NAME_BYTES];
	rm_mono_t reported_at; /* when the last report arrived */
	/* when the agent's session ended; ns 0: it is connected */
	rm_mono_t gone;
	bool tracing;
	char missing[SERVICE_MISSING_BYTES];
	uint64_t unresolved, over_cap, events_dropped;
	const struct service_flow *flows;
	size_t flow_count;
};

struct service_table_counts {
	uint64_t reports;
	/* flows of RNICs that the agent has not registered, or with an impossible
	 * class */
	uint64_t refused_flows;
	uint64_t dropped_flows; /* flows beyond the limit, or without memory */
	/* hosts that were deleted because their agent did not reconnect */
	uint64_t aged;
};

int service_table_new(size_t max_flows, struct service_table **ret);
void service_table_free(struct service_table *table); /* NULL is allowed */

/* Replaces the flows of a host by those in a report. owns: true if the host's agent has
 * registered the RNIC; other flows are refused. -ENOMEM: the host has no flows any
 * more. */
int service_table_take(struct service_table *table, const char *host,
    const struct wire_services_view *view,
    bool (*owns)(struct wire_rnic_id id, void *arg), void *arg, rm_mono_t now);
void service_table_gone(struct service_table *table, const char *host, rm_mono_t now);
/* Deletes hosts that have been disconnected for SERVICE_TABLE_GRACE_NS. */
void service_table_age(struct service_table *table, rm_mono_t now);

/* Finds a host. NULL: it has sent no report. */
const struct service_host *service_table_find(
    const struct service_table *table, const char *host);
/* Returns the host after this one in the order of names, the first host for NULL, and
 * NULL at the end. Valid until the table changes. */
const struct service_host *service_table_next(
    const struct service_table *table, const struct service_host *host);

/* Returns the service whose flow a probe follows; valid until the table changes. Hot
 * path. NULL: the probe follows no service's flow, the service has ended, or there was
 * no memory for the name. */
const struct service_name *service_table_probed(
    const struct service_table *table, const struct wire_result *result);

size_t service_table_flows(const struct service_table *table);
/* Returns the number of flows that are in this state. */
size_t service_table_in_state(
    const struct service_table *table, enum wire_service_state state);
const struct service_table_counts *service_table_counts(
    const struct service_table *table);

#endif
