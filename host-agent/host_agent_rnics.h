/*
 * host_agent_rnics - runs the search for RNICs, and decides which RNICs this agent has.
 *
 * RNICs that the config names with their ToRs exist from the start. Others are added
 * when they are found and their ToR is known, at the start or later, and stay until the
 * agent ends: an RNIC that disappears is missing, not forgotten.
 */
#ifndef HOST_AGENT_HOST_AGENT_RNICS_H
#define HOST_AGENT_HOST_AGENT_RNICS_H

#include <stdbool.h>

#include "rackmesh/core/clock.h"

struct agent_finder;
struct host_agent;

/* Searches at once, before the loop runs. */
int agent_finder_new(struct host_agent *agent, struct agent_finder **ret);
/* Free the worker first. NULL is allowed. */
void agent_finder_free(struct agent_finder *finder);

/* Searches again if a search is due. changed: an event has reported a change. */
void agent_find(struct host_agent *agent, bool changed, rm_mono_t now);

#endif
