/*
 * tor_aggregator_state - the struct of the daemon. Only the files of the daemon's root
 * folder, its API and its metrics may include it.
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
#include "tor-aggregator/switch/config/switch_config.h"

struct read_switch {
	struct switch_collector *collector;
	const char *name;        /* in the config */
	const char *system_name; /* the switch's name in LLDP; "": the same as name */
	enum switch_role role;
	/* index of the rack whose ToR it is; SIZE_MAX: no rack of this aggregator */
	size_t rack;
	/* time of the last reading whose ports were judged; only for switches without a
	 * rack */
	rm_mono_t judged;
	uint64_t impossible; /* counters that were not used for diagnoses, in all */
};

struct tor_aggregator {
	struct rm_loop *loop;
	struct aggregator_config *config; /* borrowed; a reload changes it */
	struct rm_reload reload;
	struct rm_credentials *credentials;
	uint64_t incarnation;
	struct tor_rack *racks[WIRE_MAX_TORS];
	/* The names of the racks' ToRs in the config, in the order of racks. */
	const char *tors[WIRE_MAX_TORS];
	size_t rack_count;
	struct ingest ingest;
	struct agents *agents;
	struct agent_server *links;
	struct pairs *pairs;
	struct pinglist_sender *pinglist_sender;
	struct rm_worker *worker;
	/* parses the answers of Nexuses; NULL: none is read */
	struct rm_worker *parser;
	struct plan_store *plans;
	struct key_store *keys;
	struct controller_link *controller_link;
	uint64_t controller_link_informed; /* number of the connection on which all
					      paths were sent */
	struct wire_writer *paths_writer;
	struct peer_versions versions;
	struct versions_sent { /* the versions that the controller has */
		uint64_t connection, hash;
	} versions_sent;
	struct controller_requests *controller_requests;
	struct service_table *services;
	rm_mono_t served; /* when the peers of services were searched last */
	struct report_spool *reports;
	struct analyzer_link *analyzer;
	/* Per rack; NULL: no files are kept. */
	struct rm_incident_file *incident_files[WIRE_MAX_TORS];
	bool incidents_changed[WIRE_MAX_TORS];
	/* tor_rack_port_falls when the file was saved last. */
	uint64_t port_falls_kept[WIRE_MAX_TORS];
	struct rm_http_client *http;
	struct rm_alerts *alerts;
	struct otlp *otlp;
	/* All switches whose counters are read; the racks' switches come first. */
	struct read_switch read_switches[WIRE_MAX_TORS + SWITCH_MAX_OTHERS];
	size_t read_switch_count;
	/* By rack: the reader of its switch; NULL: the switch is not read. */
	struct switch_collector *switches[WIRE_MAX_TORS];
	struct switch_metrics *switch_metrics;
	struct hypervisor_collector *hypervisors[HYPERVISOR_MAX_HOSTS];
	size_t hypervisor_count;
	struct {
		size_t rack;         /* index of the host's rack; SIZE_MAX: not known */
		rm_mono_t taken;     /* time of the last reading that was judged */
		uint64_t impossible; /* as in struct read_switch */
	} hypervisor_racks[HYPERVISOR_MAX_HOSTS];
	struct hypervisor_metrics *hypervisor_metrics;
	/* expected settings of RNICs, from the config; a reload replaces them */
	struct drift_groups *expected;
	struct drift *drifts[WIRE_MAX_TORS];        /* per rack */
	struct diagnoses *diagnoses[WIRE_MAX_TORS]; /* per rack */
	struct diagnoses_turns diagnosed;
	struct rack_proof *proofs; /* per rack */
	struct pauses *pauses;     /* NULL: no switch is read */
	/* readings with counters of RNICs that are in no rack of this aggregator */
	uint64_t readings_elsewhere;
	struct rm_metrics *metrics;
	struct rnic_metrics rnic_metrics;
	struct rm_http_server *server;
	struct rm_timer *tick;
	rm_mono_t deadline;   /* when the next tick is due */
	rm_mono_t hold_until; /* after a stall: no bin is closed before this time */
	int64_t stalls_in_hold_ns; /* sum of the stalls since the last hold ended */
	unsigned ticks;
	uint64_t stalls, stalled_ns;
};

#endif
