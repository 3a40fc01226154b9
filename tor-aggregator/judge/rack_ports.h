/*
 * rack_ports - RNICs whose port is down by their own host's word. Pure.
 *
 * That needs no probes, only that the word is fresh: the agent lives. One window's wait
 * lets the others of the rack say the same, for where all ports are down it is their
 * ToR.
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

/* Before a window is judged: who tells nothing of it, because its port is down, or was
 * until so recently that the window may show it. memories, excused: one per member.
 * Returns whether any has fallen since the last window. */
bool rack_ports_excuse(const struct rack *rack, const struct window_closed *window,
    struct rack_suspect_memory *memories, bool *excused);

/* After it: fills one verdict for each that is down or flaps, or one for the ToR, and
 * returns how many. healths: one per member; of those that this window names for
 * anything else bad, and they are not told to flap while they are up. */
size_t rack_ports_judge(const struct rack *rack, const struct window_closed *window,
    rm_wall_t window_start, const enum rm_health *healths,
    struct rack_suspect_memory *memories, struct rm_verdict *verdicts);

#endif
