/* agent_api_counters - the counters of the RNICs, as JSON and as metrics. */
#ifndef HOST_AGENT_API_AGENT_API_COUNTERS_H
#define HOST_AGENT_API_AGENT_API_COUNTERS_H

#include <jansson.h>

#include "rackmesh/core/clock.h"

struct agent_counter_metrics;
struct counters;
struct counters_port;
struct namespace_ports;
struct rm_http_request;
struct rm_metrics;

void agent_api_counters(struct rm_http_request *request, void *api);
/* The counters of one RNIC; the caller owns the result. */
json_t *agent_api_counters_port(const struct counters_port *port, rm_mono_t now);

/* host and counters are borrowed. *ret must live longer than metrics. */
int agent_counter_metrics_new(struct rm_metrics *metrics, const char *host,
    const struct counters *counters, struct agent_counter_metrics **ret);
void agent_counter_metrics_free(struct agent_counter_metrics *shown);

/* The owners of devices in other namespaces. ports: borrowed; NULL: no metrics. */
int agent_namespace_metrics(
    struct rm_metrics *metrics, const struct namespace_ports *ports);

#endif
