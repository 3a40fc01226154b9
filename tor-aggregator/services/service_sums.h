/*
 * service_sums - which services use some RNICs, and by how many flows: the sums of
 * service_table. Pure.
 */
#ifndef TOR_AGGREGATOR_SERVICES_SERVICE_SUMS_H
#define TOR_AGGREGATOR_SERVICES_SERVICE_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tor-aggregator/services/service_table.h"

struct service_sum {
	char service[SERVICE_NAME_BYTES];
	uint64_t flows, probed, qps; /* probed: flows along which probes go */
	size_t hosts, rnics;
};

/* is_ours: does an RNIC of this host count? *at: its place among the host's own, less
 * than 64, by which it is counted once. *ret: by flows, the most first; the caller
 * frees it; NULL where there are none. -ENOMEM. */
int service_sums(const struct service_table *table,
    bool (*is_ours)(const char *host, struct wire_rnic_id id, size_t *at, void *arg),
    void *arg, struct service_sum **ret, size_t *count);

#endif
