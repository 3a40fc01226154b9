/*
 * service_impact - the impact of an RNIC's fault, from the services that use it. Pure.
 *
 * P0: a service's own probes over it are lost. P1: a service uses it. P2: no service
 * does, and its host traces services.
 */
#ifndef TOR_AGGREGATOR_SERVICES_SERVICE_IMPACT_H
#define TOR_AGGREGATOR_SERVICES_SERVICE_IMPACT_H

struct rm_verdict;
struct service_table;

/* Fills impact and services of the evidence. host: the RNIC's. */
void service_impact_fill(
    const struct service_table *table, const char *host, struct rm_verdict *verdict);

#endif
