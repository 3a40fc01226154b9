/*
 * service_sums - the services that use some RNICs, and their numbers of flows: sums
 * over service_table. Pure.
 */
#ifndef TOR_AGGREGATOR_SERVICES_SERVICE_SUMS_H
#define TOR_AGGREGATOR_SERVICES_SERVICE_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tor-aggregator/services/service_table.h"

struct service_sum {
	char service[SERVICE_NAME_BYTES];
	uint64_t flows, probed, qps; /* probed: flows along which probes are sent */
	size_t hosts, rnics;
};

/* is_ours: true if an RNIC of this host counts; *at: its index among the host's own
 * RNICs, below 64, so that it is counted once. *ret: sorted by number of flows, the
 * largest first; the caller frees it; NULL if there are none. -ENOMEM. */
int service_sums(const struct service_table *table,
    bool (*is_ours)(const char *host, struct wire_rnic_id id, size_t *at, void *arg),
    void *arg, struct service_sum **ret, size_t *count);

#endif
