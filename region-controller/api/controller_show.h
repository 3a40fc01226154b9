/*
 * controller_show - JSON that several answers of the HTTP API share.
 */
#ifndef REGION_CONTROLLER_API_CONTROLLER_SHOW_H
#define REGION_CONTROLLER_API_CONTROLLER_SHOW_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

struct api_context;
struct registry_rnic;
struct rm_http_request;
struct rm_topology;
struct store_status;

/* The caller owns what these functions return; NULL: out of memory. */
json_t *show_wall(rm_wall_t wall); /* null for none */
json_t *show_rnic(const struct rm_topology *topology, const struct registry_rnic *rnic);
void show_u64(json_t *object, const char *key, uint64_t value);

/* Returns NULL if there is no topology yet, and 503 was sent. */
const struct rm_topology *show_topology(
    struct rm_http_request *request, const struct api_context *context);

/* False: another controller leads, and 409 was sent. */
bool show_leads(struct rm_http_request *request, const struct api_context *context);

/* Writes "standby: c2 leads", the text for requests to a controller that does not lead.
 * Returns text. */
#define SHOW_STANDBY_TEXT 128
const char *show_standby(
    const struct store_status *status, char text[SHOW_STANDBY_TEXT]);

#endif
