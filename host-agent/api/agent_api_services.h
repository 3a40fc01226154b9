/*
 * agent_api_services - GET /v1/services: the services whose flows use the RNICs of this
 * host.
 */
#ifndef HOST_AGENT_API_AGENT_API_SERVICES_H
#define HOST_AGENT_API_AGENT_API_SERVICES_H

struct rm_http_request;

void agent_api_services(
    struct rm_http_request *request, void *arg); /* struct agent_api */

#endif
