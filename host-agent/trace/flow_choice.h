/*
 * flow_choice - which flows of a target are worth probing, once their ways are known.
 *
 * Two flows that take the same way tell the same: one is enough, and the other's
 * probes are better spent on the ways left. Pure.
 */
#ifndef HOST_AGENT_TRACE_FLOW_CHOICE_H
#define HOST_AGENT_TRACE_FLOW_CHOICE_H

#include <stddef.h>
#include <stdint.h>

/*
 * ways: of each flow what stands for its way, equal for equal ones; 0: not known for
 * sure. Returns a bit per flow, at most 64: of every way the smallest port, and all
 * whose way is not known.
 */
uint64_t flow_choice(const uint16_t *ports, const uint64_t *path_ids, size_t count);

#endif
