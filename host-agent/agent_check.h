/*
 * agent_check - what --check of a host-agent finds beside its options.
 */
#ifndef HOST_AGENT_AGENT_CHECK_H
#define HOST_AGENT_AGENT_CHECK_H

#include <stdbool.h>

#include "rackmesh/identity/identity.h"

struct agent_config;

/* Who the config says that this agent is; borrows. */
struct rm_identity_claim agent_claim(const struct agent_config *config);

/* For rm_config_start; config: a struct agent_config. */
unsigned agent_check(const void *config, bool connect);

#endif
