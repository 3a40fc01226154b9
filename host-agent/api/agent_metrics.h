/*
 * agent_metrics - this daemon's metrics, rackmesh_agent_*.
 *
 * These equations hold at any moment: probes_sent = sum of results without
 * send_failed, plus probes in flight; for each aggregator made = acked + dropped +
 * waiting + unconfirmed, in batches and in results. Packets on the wire = probes_sent
 * + replies_sent + trace_packets - trace_packets_failed.
 */
#ifndef HOST_AGENT_API_AGENT_METRICS_H
#define HOST_AGENT_API_AGENT_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct agent_services;
struct brake_file;
struct key_ring;
struct rnic;
struct pinglist_store;
struct counters;
struct kubelet;
struct rm_key_files;
struct rm_metrics;
struct rm_notify;
struct self_limit;
struct services;
struct tracer_io;
struct aggregator_link;
struct wire_brake;

struct agent_counts { /* counts of the whole daemon */
	uint64_t loop_stalls;
	/* requests to focus from an RNIC that is not of this host */
	uint64_t focus_refused;
	/* reports of receive counts that were cut because memory ran out */
	uint64_t rows_no_memory;
};

/* In each function the first pointer after metrics is borrowed, and is the owner for
 * rm_metrics_forget. The rnic must be up. -EEXIST, -ENOMEM: metrics that were
 * registered before the error stay. */
int agent_metrics_rnic(struct rm_metrics *metrics, const struct rnic *rnic);
/* The state of the RNIC. It is registered for the rnic's whole life, whether the RNIC
 * is up or not. */
int agent_metrics_rnic_state(struct rm_metrics *metrics, const struct rnic *rnic);
int agent_metrics_aggregator_link(
    struct rm_metrics *metrics, const struct aggregator_link *aggregator_link);
int agent_metrics_plans(
    struct rm_metrics *metrics, const struct pinglist_store *pinglists);
int agent_metrics_brake(struct rm_metrics *metrics, const struct wire_brake *brake,
    const struct brake_file *file);
int agent_metrics_keys(struct rm_metrics *metrics, const struct key_ring *ring,
    const struct rm_key_files *files);
int agent_metrics_notify(struct rm_metrics *metrics, const struct rm_notify *notify);
int agent_metrics_limit(struct rm_metrics *metrics, const struct self_limit *limit);
int agent_metrics_tracing(struct rm_metrics *metrics, const struct tracer_io *io);
/* services NULL: the values of all these metrics are 0. */
int agent_metrics_services(
    struct rm_metrics *metrics, const struct agent_services *services);
/* The users of QPs: the AGENT_METRICS_USERS largest ones, and one series for all
 * others of each device. */
#define AGENT_METRICS_USERS 256
int agent_metrics_users(struct rm_metrics *metrics, const struct services *services);
struct agent_pods { /* both borrowed */
	const struct services *services;
	const struct kubelet *kubelet; /* NULL: the names of pods are not known */
};
/* Metrics about readings of the kubelet; pods: borrowed as long as metrics. */
int agent_metrics_pods(struct rm_metrics *metrics, const struct agent_pods *pods);
struct agent_users { /* both borrowed */
	const struct services *services;
	const struct counters *counters;
};
/* The counters of the users' QPs, at most AGENT_METRICS_COUNTED series; users:
 * borrowed as long as metrics. */
#define AGENT_METRICS_COUNTED 2048
int agent_metrics_counted(struct rm_metrics *metrics, const struct agent_users *users);
int agent_metrics_agent(
    struct rm_metrics *metrics, const struct agent_counts *counts, const bool *paused);

#endif
