#include "host-agent/trace/flow_choice.h"

#include <stdbool.h>

#define FLOWS_MAX 64

/* True: another flow with the same path has a smaller port, or the same port and an
 * earlier place in the list. */
static bool
another_goes_before(
    const uint16_t *ports, const uint64_t *path_ids, size_t count, size_t own)
{
	for (size_t i = 0; i < count; i++) {
		if (path_ids[i] != path_ids[own])
			continue;
		if (ports[i] < ports[own] || (ports[i] == ports[own] && i < own))
			return true;
	}
	return false;
}

uint64_t
flow_choice(const uint16_t *ports, const uint64_t *path_ids, size_t count)
{
	uint64_t kept = 0;

	if (count > FLOWS_MAX)
		count = FLOWS_MAX;
	for (size_t i = 0; i < count; i++)
		if (path_ids[i] == 0 || !another_goes_before(ports, path_ids, count, i))
			kept |= UINT64_C(1) << i;
	return kept;
}
