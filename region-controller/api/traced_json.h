/*
 * traced_json - marks the traced links and switches in a topology's JSON, and adds
 * those that only traces have found.
 */
#ifndef REGION_CONTROLLER_API_TRACED_JSON_H
#define REGION_CONTROLLER_API_TRACED_JSON_H

#include <jansson.h>

struct traced;

/*
 * topology: as topology_json makes it. Each of its switches and links gets "known":
 * "written", and "first_traced", "last_traced" (null: never). Those that are not in the
 * topology file are appended with "known": "traced" and "traced_by", the ToR whose
 * trace found them first. -ENOMEM.
 */
int traced_json_merge(json_t *topology, const struct traced *traced);

#endif
