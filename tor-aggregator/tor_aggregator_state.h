/*
 * tor_aggregator_state - what the wiring, the API and the metrics share; nobody
 * else's business.
 */
#ifndef TOR_AGGREGATOR_TOR_AGGREGATOR_STATE_H
#define TOR_AGGREGATOR_TOR_AGGREGATOR_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/config/config_reload.h"
#include "rackmesh/core/clock.h"
#include "schemas/wire.h"
#include "tor-aggregator/agents/ingest.h"
#include "tor-aggregator/api/rnic_metrics.h"
#include "tor-aggregator/diagnosis/diagnoses.h"
#include "tor-aggregator/hypervisor/hypervisor_config.h"
#include "tor-aggregator/plan/peer_versions.h"
#include "tor-aggregator/switch/switch_config.h"

struct read_switch {
	struct switch_collector *collector;
	const char *name;        /* the config's */
	const char *system_name; /* by LLDP; "": that name */
	enum switch_role role;
	size_t rack;      /* whose ToR it is; SIZE_MAX: of none of ours */
	rm_mono_t judged; /* the last reading whose ports were; of none of ours */
};

struct tor_aggregator {
	struct rm_loop *loop;
	struct aggregator_config *config; /* borrowed; a reload changes it */
	struct rm_reload reload;
	struct rm_credentials *credentials;
	uint64_t incarnation;
	struct tor_rack *racks[WIRE_MAX_TORS];
	const char *tors[WIRE_MAX_TORS]; /* the config's names, in the same order */
	size_t rack_count;
	struct ingest ingest;
	struct agents *agents;
	struct agent_server *links;
	struct pairs *pairs;
	struct pinglist_sender *pinglist_sender;
	struct rm_worker *worker;
	struct plan_store *plans;
	struct key_store *keys;
	struct controller_link *controller_link;
	uint64_t
	    controller_link_informed; /* which of its connections was told of ways */
	struct wire_writer *paths_writer;
	struct peer_versions versions;
	struct versions_sent { /* what the controller holds of them */
		uint64_t connection, hash;
	} versions_sent;
	struct controller_requests *controller_requests;
	struct service_table *services;
	rm_mono_t served; /* whom they talk to was last found then */
	struct report_spool *reports;
	struct analyzer_link *analyzer;
	/* Of each rack; NULL: nothing is kept. */
	struct rm_incident_file *incident_files[WIRE_MAX_TORS];
	bool incidents_changed[WIRE_MAX_TORS];
	uint64_t port_falls_kept[WIRE_MAX_TORS]; /* with them: tor_rack_port_falls */
	struct rm_http_client *http;
	struct rm_alerts *alerts;
	struct otlp *otlp;
	/* All that are read: first those of racks. */
	struct read_switch read_switches[WIRE_MAX_TORS + SWITCH_MAX_OTHERS];
	size_t read_switch_count;
	/* Of them that of each rack; NULL: its switch is not read. */
	struct switch_collector *switches[WIRE_MAX_TORS];
	struct switch_metrics *switch_metrics;
	struct hypervisor_collector *hypervisors[HYPERVISOR_MAX_HOSTS];
	size_t hypervisor_count;
	struct {
		size_t rack;     /* SIZE_MAX: not known */
		rm_mono_t taken; /* of the last reading that was judged by */
	} hypervisor_racks[HYPERVISOR_MAX_HOSTS];
	struct hypervisor_metrics *hypervisor_metrics;
	struct drift_groups *expected; /* of the config; a reload makes them anew */
	struct drift *drifts[WIRE_MAX_TORS];        /* of each rack */
	struct diagnoses *diagnoses[WIRE_MAX_TORS]; /* of each rack */
	struct diagnoses_turns diagnosed;
	struct rack_proof *proofs; /* of each rack */
	struct pauses *pauses;     /* NULL: no switch is read */
	uint64_t
	    readings_elsewhere; /* of counters of RNICs that are in no rack of ours */
	struct rm_metrics *metrics;
	struct rnic_metrics rnic_metrics;
	struct rm_http_server *server;
	struct rm_timer *tick;
	rm_mono_t deadline;   /* of the tick */
	rm_mono_t hold_until; /* no bin closes before: we stood still */
	int64_t still_ns;     /* for so long, since the last hold was over */
	unsigned ticks;
	uint64_t stalls, stalled_ns;
};

#endif
