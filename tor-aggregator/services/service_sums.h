/*
 * service_sums - sums up service_table by service: the number of flows, hosts and RNICs
 * of each service that uses the given RNICs. Pure.
 */
#ifndef TOR_AGGREGATOR_SERVICES_SERVICE_SUMS_H
#define TOR_AGGREGATOR_SERVICES_SERVICE_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tor-aggregator/services/service_table.h"

struct service_sum {
	char service[SERVICE_NAME_BYTES];
	/* probed: number of flows along which probes are sent */
	uint64_t flows, probed, qps;
	size_t hosts, rnics;
};

/* is_ours: returns true if this RNIC of the host counts, and sets *at to the index of
 * the RNIC among those of the host, below 64, so that each RNIC is counted once. *ret:
 * *count sums, sorted by number of flows, the largest first; the caller frees it; NULL
 * if there are none. -ENOMEM. */
int service_sums(const struct service_table *table,
    bool (*is_member)(const char *host, struct wire_rnic_id id, size_t *at, void *arg),
    void *arg, struct service_sum **ret, size_t *count);

#endif
