/*
 * influx_config - the section `influx` of the analyzer's configuration: where points
 * go, and what waits for it.
 */
#ifndef ANALYZER_HISTORY_INFLUX_CONFIG_H
#define ANALYZER_HISTORY_INFLUX_CONFIG_H

#include <stdint.h>

#include "rackmesh/http/http_origin.h"

/* Strings are never NULL. */
struct influx_config {
	char *url; /* base, "http://127.0.0.1:8086"; "": history goes into files */
	uint64_t version; /* 1: /write, 2: /api/v2/write */
	char *database, *retention_policy, *incident_retention_policy;
	char *org, *bucket;
	char *token_file, *user, *password_file; /* "": none */
	struct rm_http_origin origin;            /* its TLS; nothing else of it */
	uint64_t batch_points, batch_ms, timeout_ms;
	uint64_t spool_bytes, incident_spool_bytes; /* also without a url */
};

#endif
