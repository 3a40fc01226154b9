/*
 * service_impact - the impact of a fault in a rack, from the services that use the
 * part. Pure.
 *
 * P0: probes of a service over the part are lost. P1: a service uses it. P2: no service
 * uses it, and the hosts of its RNICs trace services. Nothing passes a daemon of
 * Rackmesh: P2.
 */
#ifndef TOR_AGGREGATOR_SERVICES_SERVICE_IMPACT_H
#define TOR_AGGREGATOR_SERVICES_SERVICE_IMPACT_H

#include <stdbool.h>

#include "schemas/wire.h"

struct rm_verdict;
struct service_table;

struct service_impact {
	/* True: what this RNIC sends and receives passes the part. */
	bool (*is_on)(struct wire_rnic_id rnic, void *arg);
	void *arg;
	bool traced; /* services are traced on the hosts of all these RNICs */
	bool lost; /* besides what the verdict counts: a probe of a service was lost */
};

/* Fills impact and services of the evidence. */
void service_impact_fill(const struct service_table *table,
    const struct service_impact *of, struct rm_verdict *verdict);

/* True: the agent of this host is connected, and traces its services. */
bool service_impact_traced(const struct service_table *table, const char *host);

#endif
