/*
 * rack_health - whether an RNIC that nobody blames is known to be well. Pure.
 */
#ifndef TOR_AGGREGATOR_JUDGE_RACK_HEALTH_H
#define TOR_AGGREGATOR_JUDGE_RACK_HEALTH_H

#include <stddef.h>

#include "rackmesh/incident/incident.h"

struct rack;
struct rack_tally;

/* GOOD or UNKNOWN; tally: its own. */
enum rm_health rack_health_of(
    const struct rack *rack, size_t member, const struct rack_tally *tally);

#endif
