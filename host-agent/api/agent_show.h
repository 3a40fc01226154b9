/*
 * agent_show - JSON that several answers of the agent's API share. Results are new
 * references.
 */
#ifndef HOST_AGENT_API_AGENT_SHOW_H
#define HOST_AGENT_API_AGENT_SHOW_H

#include <jansson.h>
#include <stdint.h>

#include "schemas/wire.h"

json_t *agent_show_id(struct wire_rnic_id id);
json_t *agent_show_address(const struct wire_address *address); /* with its port */
void agent_show_u64(json_t *object, const char *key, uint64_t value);

#endif
