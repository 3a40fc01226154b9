/*
 * versions_json - which release every daemon of the region runs, as JSON.
 *
 * Several aggregators may report a daemon: its own report counts before others', and a
 * connected aggregator's before a former one's.
 */
#ifndef REGION_CONTROLLER_API_VERSIONS_JSON_H
#define REGION_CONTROLLER_API_VERSIONS_JSON_H

#include <jansson.h>

struct api_context;

/* The caller owns it. NULL: out of memory. */
json_t *versions_json(const struct api_context *context);

/* null for "": it is not known. */
json_t *versions_json_text(const char *software);

#endif
