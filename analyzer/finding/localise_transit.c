#include "analyzer/finding/localise_transit.h"

#define TRANSIT_LOSS 0.9
#define MAX_PATHS_ASKED 256

uint32_t
localise_transit(const struct localise_case *c, const struct localise_element *pair,
    const struct localise_element *node)
{
	uint32_t at = pair->stamp == c->stamp ? c->locals[pair->local].next_transit : 0;

	while (at != 0 && c->locals[at - 1].element != node)
		at = c->locals[at - 1].next_transit;
	return at - 1;
}

double
localise_transit_share(
    const struct localise_case *c, const struct localise_local *transit)
{
	const struct localise_element *pair = transit->transit;
	double all = 0, over = 0;

	for (size_t i = 0; i < pair->path_count && i < MAX_PATHS_ASKED; i++) {
		const struct localise_path *path = pair->paths[i];

		if (!path->is_traced ||
		    rm_mono_since(c->now, path->row_at) > c->current_ns)
			continue;
		all++;
		over += localise_path_crosses(path, transit->element);
	}
	return all > 0 ? over / all : 0;
}

bool
localise_transit_takes_all(
    const struct localise_case *c, const struct localise_local *transit)
{
	const struct localise_local *pair = &c->locals[transit->transit->local];

	/* `unanswered`, not `lost`: if both probes and replies are lost between two
	 * RNICs, the receive counts do not show which flow lost which. */
	return transit->lost >= 1 &&
	       transit->unanswered >= TRANSIT_LOSS * transit->sent &&
	       pair->lost >= LOCALISE_MIN_LOST;
}

uint32_t
localise_transit_suspect(const struct localise_case *c,
    const struct localise_element *pair, const struct localise_element *node)
{
	const uint32_t local = localise_transit(c, pair, node);

	return local != LOCALISE_NO_LOCAL &&
		       localise_transit_takes_all(c, &c->locals[local])
		   ? local
		   : LOCALISE_NO_LOCAL;
}
