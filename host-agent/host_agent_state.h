/*
 * host_agent_state - the state of the daemon, shared by host_agent.c (start, reload),
 * host_agent_timers.c (timers), host_agent_events.c (events of RNICs and aggregators),
 * host_agent_paths.c (traces) and host_agent_services.c (flows of other programs). Only
 * these files include it.
 */
#ifndef HOST_AGENT_HOST_AGENT_STATE_H
#define HOST_AGENT_HOST_AGENT_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include "host-agent/agent_config.h"
#include "host-agent/api/agent_api.h"
#include "host-agent/api/agent_metrics.h"
#include "host-agent/pinglist/brake.h"
#include "host-agent/probe/prober.h"
#include "host-agent/probe/rate_limit.h"
#include "host-agent/report/aggregator_link.h"
#include "host-agent/report/heartbeat.h"
#include "host-agent/report/self_limit.h"
#include "host-agent/rnic/rnic.h"
#include "host-agent/trace/tracer.h"
#include "rackmesh/config/config_reload.h"

struct agent_counter_metrics;
struct agent_counters;
struct agent_finder;
struct agent_services;
struct brake_file;
struct rx_count_report;
struct device_events;
struct key_ring;
struct priority_pool;
struct pinglist_sum;
struct place;
struct place_link;
struct pinglist_store;
struct rdma_index;
struct rm_http_server;
struct rm_key_files;
struct rm_loop;
struct rm_metrics;
struct rm_timer;
struct rm_worker;
struct tracer_io;

struct host_agent {
	struct agent_config config;
	struct rm_reload reload;
	struct prober_options tuned; /* options that the probers use now */
	struct rm_credentials *credentials;
	struct rm_loop *loop;
	struct rm_worker *worker;
	struct priority_pool *pool; /* shared by all RDMA ports */
	uint64_t incarnation;
	bool paused;
	struct brake brake;
	struct wire_brake brake_now; /* the brake that is in force */
	struct brake_file *brake_file;
	struct self_limit limit;
	struct rate_limit rate_limit; /* shared by all RNICs */

	/* the answer of a controller that the config was filled from; NULL: the config
	 * names all ToRs and aggregators itself */
	struct place *place;
	struct place_link *place_link; /* NULL: no controllers are asked */
	/* when an aggregator was last connected; at first, the start of the agent */
	rm_mono_t last_seen;

	struct pinglist_store *pinglists;
	struct key_ring *keys;
	struct rm_key_files *key_files;
	struct rdma_index *rdma;
	struct agent_finder *finder;
	struct device_events *events; /* NULL: not created yet */
	/* device events could not be created, and that was logged */
	bool events_failed;
	struct rnic **rnics;
	size_t rnic_count;
	struct aggregator_link *
	    *aggregator_links; /* in the order of config.aggregators */
	size_t aggregator_link_count;
	struct rx_count_report *rows;

	struct tracer_io *io;
	uint64_t
	    paths_chosen; /* value of tracer_path_changes when flows were last chosen */

	struct agent_services *services; /* NULL: disabled */
	struct agent_counters *counters; /* NULL: disabled */
	struct agent_users users;
	struct agent_counter_metrics *counter_metrics;

	struct rm_timer *turn, *beat, *look, *changed, *report;
	bool change_awaited; /* the timer for changes is set */
	rm_mono_t looked_for_event;
	struct loop_watch watch;
	rm_mono_t next_beat, beat_due;

	struct rm_metrics *metrics;
	struct rm_http_server *http;
	struct agent_api api;
	struct agent_counts counts;
};

/* The arg of both is the host_agent. */
extern const struct rnic_callbacks agent_rnic_callbacks;
extern const struct aggregator_link_callbacks agent_aggregator_link_callbacks;

/* True: the aggregator of this link serves one of the rnic's ToRs. */
bool agent_serves(size_t aggregator, const struct rnic *rnic);
void agent_plan_rnic(struct host_agent *agent, struct rnic *rnic);
/* Registers RNICs again with each aggregator whose bit is set, as in
 * rnic_aggregators. */
void agent_register_with(struct host_agent *agent, uint64_t aggregator_links);
/* Handles a change of the RNIC's ToRs: registers all RNICs with all aggregators, and
 * applies the plans of the new ToRs. */
void agent_move_rnic(struct host_agent *agent, struct rnic *rnic);
/* Checks that the certificates of the connected aggregators allow them to serve the
 * RNIC's ToRs; an aggregator that may not is withheld from this RNIC. */
void agent_admit(struct host_agent *agent, struct rnic *rnic);
struct prober_options agent_prober_options(struct host_agent *agent); /* host_agent.c */
/* host_agent_events.c */
int agent_new_keys(struct host_agent *agent);
/* Loads the saved keys of all ToRs: blocks, so call it before the loop runs. */
void agent_load_keys(struct host_agent *agent);
/* Applies the brake that is in force now. */
void agent_obey_brake(struct host_agent *agent);

/* host_agent_timers.c: the share of the pinglists' rates at which to probe, in
 * permille, by the brake and by the agent's own limits. Only the brake can make it
 * 0. */
uint32_t agent_pace(const struct host_agent *agent);
void agent_set_pace(struct host_agent *agent);
void agent_tune_limits(struct host_agent *agent); /* sets the limits from the config */
/* Applies config and pinglists: a prober whose options changed restarts. */
void agent_tune_probers(struct host_agent *agent);

struct tracer_options agent_tracer_options(const struct agent_config *config);
/* Call it after a change of config, pause or brake. */
void agent_tune_tracing(struct host_agent *agent);
void agent_trace_rnic(struct host_agent *agent, const struct rnic *rnic);
void agent_trace_plan(
    struct host_agent *agent, const struct rnic *rnic, const struct pinglist_sum *sum);
void agent_trace_result(struct host_agent *agent, const struct rnic *rnic,
    const struct wire_result *result);
void agent_report_paths(void *arg); /* the host_agent */
int agent_start_timers(struct host_agent *agent);
/* Sends a heartbeat to every aggregator, after all data that has to be sent before
 * it. */
void agent_beat_soon(struct host_agent *agent, rm_mono_t now);

/* ---- host_agent_place.c ---- */

/* Writes the saved ToRs and aggregators into the config; call it before RNICs and
 * aggregator links are made. */
int agent_load_place(struct host_agent *agent);
int agent_start_place(struct host_agent *agent);
void agent_tick_place(struct host_agent *agent, rm_mono_t now);
void agent_free_place(struct host_agent *agent);

#endif
