/*
 * flow_choice - chooses the flows of a target to probe, once their paths are known.
 *
 * Two flows on the same path give the same information: one is enough, and the other's
 * probes go to other paths. Pure.
 */
#ifndef HOST_AGENT_TRACE_FLOW_CHOICE_H
#define HOST_AGENT_TRACE_FLOW_CHOICE_H

#include <stddef.h>
#include <stdint.h>

/*
 * paths: a number per flow, equal for equal paths; 0: not known for sure. Returns a bit
 * per flow, at most 64: of every path the flow with the smallest port, and all flows
 * whose path is not known.
 */
uint64_t flow_choice(const uint16_t *ports, const uint64_t *path_ids, size_t count);

#endif
