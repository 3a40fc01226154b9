/*
 * agent_metrics - names for this daemon's counters: rackmesh_agent_*.
 *
 * Sums that hold at any moment: probes_sent = sum of results but send_failed, plus
 * those in flight; per aggregator made = acked + dropped + waiting + doubtful, in
 * batches and in results. Packets on the wire = probes_sent + replies_sent +
 * trace_packets - trace_packets_failed.
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

struct agent_counts { /* of the daemon as a whole */
	uint64_t loop_stalls;
	uint64_t focus_refused;  /* for an RNIC that is not of this host */
	uint64_t rows_no_memory; /* receive counts that waited for memory */
};

/* The owner of each group is its first pointer: forget by that. The rnic must be
 * up. -EEXIST, -ENOMEM: whatever was registered already stays. */
int agent_metrics_rnic(struct rm_metrics *metrics, const struct rnic *rnic);
/* Whether it is present: registered for the rnic's whole life, up or not. */
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
int agent_metrics_services(
    struct rm_metrics *metrics, const struct agent_services *services); /* NULL: 0 */
/* Whose QPs they are: the AGENT_METRICS_USERS largest users, and a series of all others
 * for each device. */
#define AGENT_METRICS_USERS 256
int agent_metrics_users(struct rm_metrics *metrics, const struct services *services);
struct agent_pods { /* both borrowed */
	const struct services *services;
	const struct kubelet *kubelet; /* NULL: none */
};
/* Metrics of the readings of the kubelet; pods: borrowed as long as metrics. */
int agent_metrics_pods(struct rm_metrics *metrics, const struct agent_pods *pods);
struct agent_users { /* both borrowed */
	const struct services *services;
	const struct counters *counters;
};
/* What their QPs have counted, at most AGENT_METRICS_COUNTED series; users: borrowed as
 * long as metrics. */
#define AGENT_METRICS_COUNTED 2048
int agent_metrics_counted(struct rm_metrics *metrics, const struct agent_users *users);
int agent_metrics_agent(
    struct rm_metrics *metrics, const struct agent_counts *counts, const bool *paused);

#endif
