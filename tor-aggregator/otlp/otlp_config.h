/*
 * otlp_config - the options that begin with "otlp.", and the file with HTTP headers,
 * which may be secret.
 */
#ifndef TOR_AGGREGATOR_OTLP_OTLP_CONFIG_H
#define TOR_AGGREGATOR_OTLP_OTLP_CONFIG_H

#include <stdint.h>

#include "rackmesh/config/config.h"
#include "rackmesh/http/http_origin.h"

#define OTLP_PATH "/v1/metrics" /* below the base URL */
#define OTLP_MAX_HEADERS 8
#define OTLP_HEADERS_BYTES 4096 /* limit on the size of the file */

struct otlp_config {
	char *url; /* base URL, without "/" at the end; "": nothing is sent */
	uint64_t interval_s;
	char *headers_file; /* "": none */
	struct rm_http_origin origin;
};

/* clang-format off */
#define OTLP_OPTIONS(type, otlp)                                                           \
	{ "otlp.url", RM_STRING, offsetof(type, otlp.url), "", 0, 1023, 0,                 \
	  "base URL of an OpenTelemetry collector that accepts OTLP over HTTP as " \
	  "JSON, e.g. http://192.0.2.30:4318; the measurements are sent to " \
	  "/v1/metrics below it; \"\": none", \
	  NULL, NULL, 0 },                                                                 \
	{ "otlp.interval_s", RM_UINT, offsetof(type, otlp.interval_s), "60", 1, 3600, 0,   \
	  "time between two messages", NULL, NULL, 0 },                                    \
	{ "otlp.headers_file", RM_STRING, offsetof(type, otlp.headers_file), "", 0, 1023, 0, \
	  "file with headers for each request, one \"Name: value\" per line (mode 0600); " \
	  "\"\": none", NULL, NULL, 0 },                                                   \
	RM_HTTP_ORIGIN_TLS("otlp", type, otlp.origin),                                         \
	RM_HTTP_ORIGIN_LOGIN("otlp", type, otlp.origin)
/* clang-format on */

/* Checks the options and the file of headers, and removes OTLP_PATH and any "/" from
 * the end of the URL. path: path of the config file. On failure a negative errno, and
 * *error. */
int otlp_config_check(
    struct otlp_config *config, const char *path, struct rm_error *error);

struct otlp_headers {
	char *text; /* owned; may contain secrets: otlp_headers_clear erases it */
	size_t len;
	/* pointers into text; Content-Type is the first; NULL is the last */
	const char *list[OTLP_MAX_HEADERS + 2];
};

/* Reads the headers. file: "" for none. -EINVAL: a line is not a header; else the errno
 * of reading the file. The caller clears *ret. */
int otlp_headers_read(
    const char *file, struct otlp_headers *ret, struct rm_error *error);
void otlp_headers_clear(struct otlp_headers *headers);

#endif
