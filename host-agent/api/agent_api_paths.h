/*
 * agent_api_paths - GET /v1/paths: the traced path of each flow.
 */
#ifndef HOST_AGENT_API_AGENT_API_PATHS_H
#define HOST_AGENT_API_AGENT_API_PATHS_H

struct rm_http_request;

void agent_api_paths(struct rm_http_request *request, void *arg); /* struct agent_api */

#endif
