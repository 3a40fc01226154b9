#include "analyzer/finding/localise_transit.h"

uint32_t
localise_transit(const struct localise_case *c, const struct localise_element *pair,
    const struct localise_element *node)
{
	uint32_t at = pair->stamp == c->stamp ? c->locals[pair->local].next_transit : 0;

	while (at != 0 && c->locals[at - 1].element != node)
		at = c->locals[at - 1].next_transit;
	return at - 1;
}
