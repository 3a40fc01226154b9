/*
 * versions_json - which release every daemon of the region runs, as JSON.
 *
 * A daemon may be told of by several aggregators: what it says itself counts before
 * what others say, and then who is connected to it before who was.
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
