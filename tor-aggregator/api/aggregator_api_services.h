/*
 * aggregator_api_services - whose flows use our RNICs, over HTTP.
 *
 *   /v1/services  ?host= ?service= ?offset= ?limit=
 */
#ifndef TOR_AGGREGATOR_API_AGGREGATOR_API_SERVICES_H
#define TOR_AGGREGATOR_API_AGGREGATOR_API_SERVICES_H

struct rm_http_server;
struct tor_aggregator;

int aggregator_api_serve_services(
    struct tor_aggregator *aggregator, struct rm_http_server *server);

#endif
