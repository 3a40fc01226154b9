/*
 * host_agent_services - connects the modules that follow services: from the kernel's
 * events on QPs it makes requests to aggregators, targets of probers and tracer, and
 * reports. A struct agent_services pointer that is NULL means that services are
 * disabled in the config.
 */
#ifndef HOST_AGENT_HOST_AGENT_SERVICES_H
#define HOST_AGENT_HOST_AGENT_SERVICES_H

#include <stddef.h>
#include <stdint.h>

#include "host-agent/services/qp_tracer.h"
#include "host-agent/services/services.h"

struct agent_pods;
struct agent_services;
struct host_agent;
struct pinglist_sum;
struct rnic;

struct agent_services_counts {
	uint64_t lists, lists_failed;
	uint64_t reports;
	uint64_t names;
	uint64_t unsent; /* requests that could not be sent to any aggregator */
	/* The following counts are from the last turn. */
	struct services_counts table;
	struct qp_tracer_counts hooks;
	uint64_t attached; /* 1: events of QPs come from the kernel; else 0 */
};

int agent_services_new(struct host_agent *agent, struct agent_services **ret);
/* Call stop before the worker is freed, and free after it. */
void agent_services_stop(struct agent_services *own);
void agent_services_free(struct agent_services *own);
void agent_services_tune(struct agent_services *own); /* applies a changed config */

/* Reports that the RNIC is ready, perhaps with another identity. */
void agent_services_rnic(struct agent_services *own, const struct rnic *rnic);
void agent_services_answer(
    struct agent_services *own, const struct wire_resolve_answer *answer);
/* Handles the result of a probe of a service flow. */
void agent_services_result(
    struct agent_services *own, const struct wire_result *result, rm_mono_t now);
/* Sends all service flows to this aggregator: its session is new, so it has no flows.
 */
void agent_services_report_all(struct agent_services *own, size_t aggregator);

/* Keeps the first count targets of sum, and replaces those after them by the targets
 * of services. sum borrows the new ones until the next call. -ENOMEM. */
int agent_services_add_probes(struct agent_services *own, const struct rnic *rnic,
    struct pinglist_sum *sum, size_t count);
int agent_services_add_traces(struct agent_services *own, const struct rnic *rnic,
    struct pinglist_sum *sum, size_t count);
/* Appends to the peers of sum those peers that the RNIC has to answer because of
 * services. -ENOMEM. */
int agent_services_add_peers(
    struct agent_services *own, const struct rnic *rnic, struct pinglist_sum *sum);

const struct services *agent_services_table(const struct agent_services *own);
/* The table of services, together with the kubelet's names of its pods. */
const struct agent_pods *agent_services_pods(const struct agent_services *own);
/* Returns NULL while verbs can use no RNIC yet. */
const struct qp_tracer *agent_services_hooks(const struct agent_services *own);
const struct agent_services_counts *agent_services_counts(
    const struct agent_services *own);

#endif
