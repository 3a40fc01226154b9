/*
 * versions_json - which release every daemon of the region runs, as JSON.
 *
 * Several aggregators may report one daemon. The report of the daemon itself is
 * preferred to those of others, and that of a connected aggregator to that of one which
 * has disconnected. Aggregators connect to the leader alone: a standby controller
 * reports itself by its key in etcd. Older releases write no such key: of a controller
 * of another release without a connection it is not known whether it is a standby.
 */
#ifndef REGION_CONTROLLER_API_VERSIONS_JSON_H
#define REGION_CONTROLLER_API_VERSIONS_JSON_H

#include <jansson.h>

struct api_context;

/* The caller owns it. NULL: out of memory. */
json_t *versions_json(const struct api_context *context);

/* Returns null for "": the release is not known. */
json_t *versions_json_text(const char *software);

#endif
