/*
 * flow_choice - chooses the flows of a target to probe, once their paths are known.
 *
 * Two flows on the same path give the same information, so one of them is probed, and
 * the other one's share of the probes goes to other paths. Pure.
 */
#ifndef HOST_AGENT_TRACE_FLOW_CHOICE_H
#define HOST_AGENT_TRACE_FLOW_CHOICE_H

#include <stddef.h>
#include <stdint.h>

/*
 * path_ids: a number for the path of each flow, equal for equal paths; 0: not known for
 * sure. count: at most 64. Returns a bit for each flow to probe: for every known path,
 * the flow with the smallest source port; and all flows whose path is not known.
 */
uint64_t flow_choice(const uint16_t *ports, const uint64_t *path_ids, size_t count);

#endif
