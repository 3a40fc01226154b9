/*
 * agent_check - what the host-agent checks with --check, besides its options.
 */
#ifndef HOST_AGENT_AGENT_CHECK_H
#define HOST_AGENT_AGENT_CHECK_H

#include <stdbool.h>

#include "rackmesh/identity/identity.h"

struct agent_config;

/* The identity that the config claims for this agent. The result borrows from config.
 */
struct rm_identity_claim agent_claim(const struct agent_config *config);

/* Pass it to rm_daemon_main as check. config: a struct agent_config. */
unsigned agent_check(const void *config, bool connect);

#endif
