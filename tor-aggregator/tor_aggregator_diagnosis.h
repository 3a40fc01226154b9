/*
 * tor_aggregator_diagnosis - the part of the wiring that brings agents' counters and
 * the racks' probes to diagnosis/, and has it judge.
 */
#ifndef TOR_AGGREGATOR_TOR_AGGREGATOR_DIAGNOSIS_H
#define TOR_AGGREGATOR_TOR_AGGREGATOR_DIAGNOSIS_H

#include "rackmesh/core/clock.h"

struct agent;
struct tor_aggregator;
struct wire_counter_report;

int tor_aggregator_start_diagnosis(struct tor_aggregator *aggregator);
void tor_aggregator_end_diagnosis(struct tor_aggregator *aggregator);

/* For agent_links; arg is the aggregator. */
void tor_aggregator_on_counters(
    struct agent *agent, const struct wire_counter_report *view, void *arg);

/* Once a second; judges every few seconds. */
void tor_aggregator_diagnosis_tick(
    struct tor_aggregator *aggregator, rm_mono_t now, rm_wall_t wall);

#endif
