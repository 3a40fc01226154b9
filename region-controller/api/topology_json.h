/*
 * topology_json - the topology as the API shows it.
 */
#ifndef REGION_CONTROLLER_API_TOPOLOGY_JSON_H
#define REGION_CONTROLLER_API_TOPOLOGY_JSON_H

#include <jansson.h>

struct rm_topology;

/* The caller owns them. */
json_t *topology_json(const struct rm_topology *topology);
json_t *topology_json_warnings(const struct rm_topology *topology);

#endif
