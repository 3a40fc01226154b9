/*
 * plan_json - a plan and its parts as JSON.
 */
#ifndef REGION_CONTROLLER_PLAN_PLAN_JSON_H
#define REGION_CONTROLLER_PLAN_PLAN_JSON_H

#include <jansson.h>

#include "schemas/wire.h"

/* The caller owns what these functions return; NULL: out of memory. */
json_t *plan_json(const struct wire_plan_view *view);
json_t *plan_json_id(struct wire_rnic_id id);
json_t *plan_json_address(const struct wire_address *address);
json_t *plan_json_digest(uint64_t digest); /* 16 hex digits */

#endif
