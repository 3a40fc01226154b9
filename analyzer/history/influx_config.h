/*
 * influx_config - the section `influx` of the analyzer's configuration: the database,
 * and the sizes of batches and spools.
 */
#ifndef ANALYZER_HISTORY_INFLUX_CONFIG_H
#define ANALYZER_HISTORY_INFLUX_CONFIG_H

#include <stdint.h>

#include "rackmesh/http/http_origin.h"

/* The strings are never NULL. */
struct influx_config {
	/* base URL, such as "http://127.0.0.1:8086"; "": the history is written to
	 * files */
	char *url;
	uint64_t version; /* 1: /write, 2: /api/v2/write */
	char *database, *retention_policy, *incident_retention_policy;
	char *org, *bucket;
	char *token_file, *user, *password_file; /* "": none */
	struct rm_http_origin origin;            /* only its TLS options are used */
	uint64_t batch_points, batch_ms, timeout_ms;
	uint64_t spool_bytes, incident_spool_bytes; /* used even without a URL */
};

#endif
