/*
 * service_impact - decides the impact of a fault in a rack, by the services that use
 * the faulty part. Pure.
 *
 * P0: probes along the flows of a service are lost at the part. P1: a service uses the
 * part. P2: no service uses the part, and the hosts of its RNICs trace services. A
 * fault of a Rackmesh daemon is P2, as no traffic passes a daemon.
 */
#ifndef TOR_AGGREGATOR_SERVICES_SERVICE_IMPACT_H
#define TOR_AGGREGATOR_SERVICES_SERVICE_IMPACT_H

#include <stdbool.h>

#include "schemas/wire.h"

struct rm_verdict;
struct service_table;

struct service_impact {
	/* True: packets from and to this RNIC pass the part. */
	bool (*is_on)(struct wire_rnic_id rnic, void *arg);
	void *arg;
	/* services are traced on the hosts of all RNICs for which is_on is true */
	bool traced;
	/* a probe along a service's flow was lost, besides the probes that the verdict
	 * counts */
	bool lost;
};

/* Fills in the members impact and services of the verdict's evidence. */
void service_impact_fill(const struct service_table *table,
    const struct service_impact *of, struct rm_verdict *verdict);

/* True: the agent of this host is connected, and traces its services. */
bool service_impact_traced(const struct service_table *table, const char *host);

#endif
