/*
 * traced_json - marks in a topology's JSON what traces have seen of it, and adds what
 * they have found besides.
 */
#ifndef REGION_CONTROLLER_API_TRACED_JSON_H
#define REGION_CONTROLLER_API_TRACED_JSON_H

#include <jansson.h>

struct traced;

/*
 * topology: as topology_json makes it. Each of its switches and links gets "known":
 * "written", and "first_traced", "last_traced" (null: never). Those that nobody wrote
 * down are appended with "known": "traced" and "traced_by", the ToR whose trace found
 * them first. -ENOMEM.
 */
int traced_json_merge(json_t *topology, const struct traced *traced);

#endif
