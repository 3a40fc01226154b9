/*
 * host_agent_rnics - the wiring of rnic/'s search: which RNICs this agent has.
 *
 * RNICs that the config names with their ToRs are there from the start. Others come as
 * they are found and their ToR is known, at the start or later, and stay until the
 * agent ends: one that goes away is missing, not forgotten.
 */
#ifndef HOST_AGENT_HOST_AGENT_RNICS_H
#define HOST_AGENT_HOST_AGENT_RNICS_H

#include <stdbool.h>

#include "rackmesh/core/clock.h"

struct agent_finder;
struct host_agent;

/* Searches at once, before the loop runs. */
int agent_finder_new(struct host_agent *agent, struct agent_finder **ret);
/* After the worker. NULL is fine. */
void agent_finder_free(struct agent_finder *finder);

/* Searches again if it is time. changed: an event says that it is. */
void agent_find(struct host_agent *agent, bool changed, rm_mono_t now);

#endif
