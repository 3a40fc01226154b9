/*
 * rack_ports - finds RNICs whose port is down, by the report of their own host. Pure.
 *
 * This needs no probes, only a recent report of the host's agent. A verdict comes one
 * window after the report, because the other hosts of the rack may report the same, and
 * if all ports are down, the ToR is down.
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

/* Call it before each window is judged. Sets `excused` for members whose results are no
 * evidence, because their port is down, or was so recently that the window may show it.
 * memories, excused: one per member. True: a port went down since the last window. */
bool rack_ports_excuse(const struct rack *rack, const struct window_closed *window,
    struct rack_suspect_memory *memories, bool *excused);

/* Call it after the window was judged. Fills one verdict for each port that is down or
 * flaps, or one for the ToR, and returns their number. healths: one per member; a
 * member that is bad in this window for another reason is not reported as flapping
 * while its port is up. */
size_t rack_ports_judge(const struct rack *rack, const struct window_closed *window,
    rm_wall_t window_start, const enum rm_health *healths,
    struct rack_suspect_memory *memories, struct rm_verdict *verdicts);

#endif
