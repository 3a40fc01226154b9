/*
 * switch_rates - limits the packets of traces that one switch gets from this host.
 * Pure.
 *
 * All hosts of a region may trace at the same time, e.g. after a fault of a spine, and
 * the control plane of a switch answers only some hundred packets per second. A host
 * does not know how many others there are. So it watches for switches that limit their
 * answers: if a switch has several times in a row not answered, while later hops of the
 * same traces did, this host halves the rate of that switch. Each answer raises the
 * rate again. A dead path does not lower a rate, because then no later hop answers.
 */
#ifndef HOST_AGENT_TRACE_SWITCH_RATES_H
#define HOST_AGENT_TRACE_SWITCH_RATES_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

struct trace_hops;

#define SWITCH_RATES_MAX 4096 /* addresses; further ones are not limited */
/* packets per second to one address: the initial rate, and the least one */
#define SWITCH_RATES_MOST 100.0
#define SWITCH_RATES_LEAST 0.5
#define SWITCH_RATES_BURST 10.0 /* packets at once, at the initial rate */

struct switch_rates;

struct switch_rates *switch_rates_new(void);        /* NULL: out of memory */
void switch_rates_free(struct switch_rates *rates); /* NULL is allowed */

/* True: one packet may be sent to each hop of the path now, and is counted. False: one
 * of the switches has no room; *wait_ns: until it has. */
bool switch_rates_take(struct switch_rates *rates, const struct trace_hops *path,
    rm_mono_t now, int64_t *wait_ns);
/* Adds the result of a trace of that path: bit i of answered is set if hop i answered,
 * counted from 0. Returns how many rates were lowered. */
unsigned switch_rates_note(struct switch_rates *rates, const struct trace_hops *path,
    uint32_t answered, rm_mono_t now);

#endif
