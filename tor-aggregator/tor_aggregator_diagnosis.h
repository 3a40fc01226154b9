/*
 * tor_aggregator_diagnosis - passes the counters of agents and switches and the racks'
 * probes to diagnosis/, and starts its judgements.
 */
#ifndef TOR_AGGREGATOR_TOR_AGGREGATOR_DIAGNOSIS_H
#define TOR_AGGREGATOR_TOR_AGGREGATOR_DIAGNOSIS_H

#include "rackmesh/core/clock.h"
#include "tor-aggregator/diagnosis/pause_findings.h"
#include "tor-aggregator/summary/summary.h"

struct agent;
struct proof;
struct rm_verdict;
struct tor_aggregator;
struct tor_rack;
struct wire_counter_report;
struct wire_port_row;
struct wire_rack_state;

struct rack_proof {
	struct proof *proof;
	/* end of the last round of judgements; ns 0: there was none */
	rm_mono_t ended;
	struct summary_marks marks; /* marks that were reported last */
	/* time of the switch's reading that was passed on last */
	rm_mono_t switch_at;
};

/* The ports at which pauses begin that spread over several switches. Only switches that
 * are read are included. */
struct pauses {
	struct pause_findings findings;
	/* Of the last judgement: */
	rm_mono_t at;      /* its time; ns 0: there was none */
	rm_mono_t newest;  /* time of the newest reading */
	size_t old;        /* number of switches without a recent reading */
	uint64_t left_out; /* number of ports and pauses beyond the limits */
};

int tor_aggregator_start_diagnosis(struct tor_aggregator *aggregator);
void tor_aggregator_end_diagnosis(struct tor_aggregator *aggregator);

/* Callback of agent_server; arg is the aggregator. */
void tor_aggregator_on_counters(
    struct agent *agent, const struct wire_counter_report *view, void *arg);

/* Adds counters to the evidence of a verdict on an RNIC. */
void tor_aggregator_counters_report(const struct tor_aggregator *aggregator,
    const struct tor_rack *rack, struct rm_verdict *verdict);

/* Fills in the congestion control counters of the rack's RNICs, and into uncounted the
 * names of the RNICs that lack them ("host/device, ..."), as many as fit. */
void tor_aggregator_cnps_report(const struct tor_aggregator *aggregator,
    const struct tor_rack *rack, struct wire_rack_state *state,
    char uncounted[WIRE_UNCOUNTED_BYTES]);

/* Fills rows with the findings on the ports of the rack's switch, and on the ports of
 * other switches at the far ends of its cables, as diagnoses_ports does. room: the
 * length of rows. Returns the number of rows. */
size_t tor_aggregator_ports_report(const struct tor_aggregator *aggregator,
    const struct tor_rack *rack, struct wire_port_row *rows, size_t room);

/* Call it at each tick; it judges one rack at most. */
void tor_aggregator_diagnosis_tick(
    struct tor_aggregator *aggregator, rm_mono_t now, rm_wall_t wall);

#endif
