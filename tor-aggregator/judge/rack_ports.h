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

#include "rackmesh/judge/verdict.h"

struct rack;
struct rack_suspect_memory;

/* Before a window is judged: who tells nothing of it, because its port is down, or was
 * until so recently that the window may show it. memories, excused: one per member. */
void rack_ports_excuse(
    const struct rack *rack, struct rack_suspect_memory *memories, bool *excused);

/* After it: fills one verdict for each that is down, or one for the ToR, and returns
 * how many. */
size_t rack_ports_judge(const struct rack *rack, rm_wall_t window_start,
    int64_t window_ns, struct rack_suspect_memory *memories,
    struct rm_verdict *verdicts);

#endif
