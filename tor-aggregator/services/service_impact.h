/*
 * service_impact - the impact of an RNIC's fault, from the services that use it. Pure.
 *
 * P0: probes of a service over the RNIC are lost. P1: a service uses the RNIC. P2: no
 * service uses it, and its host traces services.
 */
#ifndef TOR_AGGREGATOR_SERVICES_SERVICE_IMPACT_H
#define TOR_AGGREGATOR_SERVICES_SERVICE_IMPACT_H

struct rm_verdict;
struct service_table;

/* Fills impact and services of the evidence. host: the host of the RNIC. */
void service_impact_fill(
    const struct service_table *table, const char *host, struct rm_verdict *verdict);

#endif
