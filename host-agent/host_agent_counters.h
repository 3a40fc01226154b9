/*
 * host_agent_counters - the part of the wiring that reads the counters of the agent's
 * RNICs, and of no others. NULL stands for none: the config may not want them.
 */
#ifndef HOST_AGENT_HOST_AGENT_COUNTERS_H
#define HOST_AGENT_HOST_AGENT_COUNTERS_H

struct agent_counters;
struct counters;
struct host_agent;

int agent_counters_new(struct host_agent *agent, struct agent_counters **ret);
void agent_counters_free(struct agent_counters *own);

const struct counters *agent_counters_table(const struct agent_counters *own);

#endif
