/*
 * aggregator_api - the daemon's HTTP API: JSON for operators and rackmeshctl.
 * docs/api.md lists all paths and their parameters.
 */
#ifndef TOR_AGGREGATOR_API_AGGREGATOR_API_H
#define TOR_AGGREGATOR_API_AGGREGATOR_API_H

struct rm_http_server;
struct tor_aggregator;

int aggregator_api_serve(
    struct tor_aggregator *aggregator, struct rm_http_server *server);

#endif
