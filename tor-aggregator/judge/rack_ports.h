/*
 * rack_ports - RNICs whose port is down, as reported by their own host. Pure.
 *
 * This needs no probes, only a recent report: the agent must be alive. It waits for one
 * window, in which the other hosts of the rack may report the same: if all ports are
 * down, their ToR is.
 */
#ifndef TOR_AGGREGATOR_JUDGE_RACK_PORTS_H
#define TOR_AGGREGATOR_JUDGE_RACK_PORTS_H

#include <stdbool.h>
#include <stddef.h>

#include "rackmesh/incident/incident.h"
#include "rackmesh/judge/verdict.h"

struct rack;
struct rack_suspect_memory;
struct window_closed;

/* Called before a window is judged: finds members that are no evidence in it,
 * because their port is down, or was so recently that the window may show it.
 * memories, excused: one per member. Returns whether any port has gone down since
 * the last window. */
bool rack_ports_excuse(const struct rack *rack, const struct window_closed *window,
    struct rack_suspect_memory *memories, bool *excused);

/* Called after it: fills one verdict for each port that is down or flaps, or one for
 * the ToR, and returns how many. healths: one per member; members that this window
 * finds bad for another reason are not reported as flapping while their port is up. */
size_t rack_ports_judge(const struct rack *rack, const struct window_closed *window,
    rm_wall_t window_start, const enum rm_health *healths,
    struct rack_suspect_memory *memories, struct rm_verdict *verdicts);

#endif
