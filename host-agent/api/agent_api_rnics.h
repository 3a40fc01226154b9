/*
 * agent_api_rnics - GET /v1/rnics: each RNIC: its addresses, the transport and flows of
 * its probes, and its counters.
 */
#ifndef HOST_AGENT_API_AGENT_API_RNICS_H
#define HOST_AGENT_API_AGENT_API_RNICS_H

struct rm_http_request;

void agent_api_rnics(struct rm_http_request *request, void *arg); /* struct agent_api */

#endif
