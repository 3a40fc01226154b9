/*
 * aggregator_api - the daemon's HTTP API: JSON for operators and rackmeshctl.
 *
 *   /v1/racks each ToR: members, agents, plan, last window, open incidents /v1/rnics
 *   each RNIC: identity, addresses, health, figures; ?tor= of one rack /v1/hosts each
 *   host: its agent, state, connection /v1/incidents open ones first, newest first;
 *   ?open=1 only those /v1/drill/X raw results of RNIC X (id, or host/device);
 *   ?seconds= &limit= /v1/mesh/T what each pair of RNICs of ToR T saw;
 *   ?period=minute|hour /v1/pinglist ?rnic=X: whom X is to probe now /v1/services whose
 *   flows use our RNICs, see docs/api.md
 */
#ifndef TOR_AGGREGATOR_API_AGGREGATOR_API_H
#define TOR_AGGREGATOR_API_AGGREGATOR_API_H

struct rm_http_server;
struct tor_aggregator;

int aggregator_api_serve(
    struct tor_aggregator *aggregator, struct rm_http_server *server);

#endif
