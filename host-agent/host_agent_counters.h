/*
 * host_agent_counters - calls the modules that read the counters and settings of the
 * agent's RNICs, and sends changed settings to the aggregators again. A struct
 * agent_counters pointer that is NULL means that counters are disabled in the config.
 */
#ifndef HOST_AGENT_HOST_AGENT_COUNTERS_H
#define HOST_AGENT_HOST_AGENT_COUNTERS_H

struct agent_counters;
struct counters;
struct host_agent;
struct namespace_ports;
struct rnic;
struct wire_settings;

int agent_counters_new(struct host_agent *agent, struct agent_counters **ret);
void agent_counters_free(struct agent_counters *own);

/* NULL: no namespaces are searched. */
const struct namespace_ports *agent_counters_namespaces(
    const struct agent_counters *own);
const struct counters *agent_counters_table(const struct agent_counters *own);

/* Fills in the settings that the last reading found. Without counters only the MTUs are
 * known. ret->firmware may point into own. */
void agent_counters_settings(const struct agent_counters *own, const struct rnic *rnic,
    struct wire_settings *ret);

#endif
