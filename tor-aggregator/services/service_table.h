/*
 * service_table - the services' flows on RNICs of this aggregator's racks, from their
 * agents' reports. Pure.
 *
 * Each report has all flows of an agent, and replaces its last one. When its session
 * ends its flows stay for a while, as it may reconnect. Two services on the same
 * probe's flow count as the first of them. Texts come from outside: they are cut, and
 * bytes that do not print become '?'.
 */
#ifndef TOR_AGGREGATOR_SERVICES_SERVICE_TABLE_H
#define TOR_AGGREGATOR_SERVICES_SERVICE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/judge/part.h"
#include "schemas/wire.h"

#define SERVICE_TABLE_MAX_FLOWS 65536 /* of all agents together */
#define SERVICE_TABLE_GRACE_NS (60 * RM_NS_PER_S)
#define SERVICE_NAME_BYTES 128
#define SERVICE_COMM_BYTES 32
#define SERVICE_POD_BYTES 128 /* longer names are cut */
#define SERVICE_MISSING_BYTES 256

struct service_table;

struct service_flow {
	struct wire_rnic_id src, dst; /* dst.guid 0: not resolved */
	struct wire_address peer;
	char service[SERVICE_NAME_BYTES], comm[SERVICE_COMM_BYTES];
	char pod[SERVICE_POD_BYTES]; /* its "namespace/name"; "": not known, or not a
					pod */
	uint32_t pid, qps;
	uint32_t src_qpn, dst_qpn; /* of one of its QPs */
	uint16_t src_port, probe_port;
	uint8_t qp_type, state, dscp; /* see wire_service_flow */
	bool older;
};

struct service_name {
	uint64_t number; /* unique: never used before, for any name */
	char text[SERVICE_NAME_BYTES];
};

struct service_host {
	char host[RM_NAME_BYTES];
	rm_mono_t reported_at; /* when */
	rm_mono_t gone;        /* when its session ended; 0: it is connected */
	bool tracing;
	char missing[SERVICE_MISSING_BYTES];
	uint64_t unresolved, over_cap, events_dropped;
	const struct service_flow *flows;
	size_t flow_count;
};

struct service_table_counts {
	uint64_t reports;
	uint64_t refused_flows; /* of RNICs that the agent has not registered, or with
				   an impossible class */
	uint64_t dropped_flows; /* beyond the limit, or out of memory */
	uint64_t aged;          /* hosts that did not reconnect */
};

int service_table_new(size_t max_flows, struct service_table **ret);
void service_table_free(struct service_table *table); /* NULL is allowed */

/* Takes all flows that this host has now, on RNICs that it owns. -ENOMEM: it has
 * none. */
int service_table_take(struct service_table *table, const char *host,
    const struct wire_services_view *view,
    bool (*owns)(struct wire_rnic_id id, void *arg), void *arg, rm_mono_t now);
void service_table_gone(struct service_table *table, const char *host, rm_mono_t now);
/* Drops hosts that have been disconnected for too long. */
void service_table_age(struct service_table *table, rm_mono_t now);

/* NULL: it has sent no report. */
const struct service_host *service_table_find(
    const struct service_table *table, const char *host);
/* By name, the first for NULL; NULL at the end. Valid until the table changes. */
const struct service_host *service_table_next(
    const struct service_table *table, const struct service_host *host);

/* Hot path: the service that this probe follows, until the table changes. NULL: it
 * follows none, its service has ended meanwhile, or there was no memory for it. */
const struct service_name *service_table_probed(
    const struct service_table *table, const struct wire_result *result);

size_t service_table_flows(const struct service_table *table);
/* Number of flows in this state now. */
size_t service_table_in_state(
    const struct service_table *table, enum wire_service_state state);
const struct service_table_counts *service_table_counts(
    const struct service_table *table);

#endif
