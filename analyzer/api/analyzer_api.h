/*
 * analyzer_api - the parts of the HTTP API that are in two files. docs/api.md lists all
 * paths.
 */
#ifndef ANALYZER_API_ANALYZER_API_H
#define ANALYZER_API_ANALYZER_API_H

#include "analyzer/incidents/incident_table.h"

struct rm_http_request;

/* Both are rm_http_handlers; arg is the analyzer. */
void analyzer_api_incidents(struct rm_http_request *request, void *analyzer);
void analyzer_api_incident(struct rm_http_request *request, void *analyzer);

#endif
