#include "analyzer/finding/localise_reply_losses.h"

#include <math.h>

#include "analyzer/finding/localise_fan.h"
#include "analyzer/finding/localise_observe.h"

/* With at least this share of its losses on the way out, the link is at fault. */
#define SHARE_OUT 0.15

static bool
is_of(const struct localise_suspect *suspect, const struct localise_element *element)
{
	for (size_t i = 0; i < suspect->element_count; i++)
		if (suspect->elements[i] == element)
			return true;
	return false;
}

/* True: packets from the ToR, or to it, may cross the part. */
static bool
may_cross(struct localise_case *c, struct localise_element *tor,
    enum localise_fan_direction direction, const struct localise_suspect *suspect)
{
	const struct localise_fan *fan =
	    tor->stamp == c->stamp ? localise_fan(c, tor, direction) : NULL;

	for (uint32_t i = 0; fan != NULL && i < fan->count; i++)
		if (is_of(suspect, c->locals[fan->parts[i].local].element))
			return true;
	return false;
}

/* True: replies from the one rack of the pair to the other may cross the part. */
static bool
replies_may_cross(struct localise_case *c, const struct localise_element *pair,
    const struct localise_suspect *part)
{
	return is_of(part, pair->ends[0]) || is_of(part, pair->ends[1]) ||
	       may_cross(c, pair->ends[0], LOCALISE_FAN_UP, part) ||
	       may_cross(c, pair->ends[1], LOCALISE_FAN_DOWN, part);
}

/* Returns the largest share that another blamed part may cost the replies to probes
 * over the path. -1: such a part is on the path itself. */
static double
lost_on_return_path(struct localise_case *c, const struct rm_explanation *explanation,
    const struct localise_suspect *link, const struct localise_path *path)
{
	double most = 0;

	for (size_t i = 0; i < explanation->part_count; i++) {
		const struct rm_blamed *part = &explanation->parts[i];
		const struct localise_suspect *s = &c->suspects[part->candidate];

		if (s == link || s->type == RM_PART_PATH || s->transit != NULL)
			continue;
		if (localise_suspect_on(s, path))
			return -1;
		if (replies_may_cross(c, path->pair->back, s))
			most = fmax(most, part->loss);
	}
	return most;
}

bool
localise_may_be_replies(struct localise_case *c, const struct localise_map *map,
    localise_seen *seen, const struct rm_explanation *explanation,
    const struct localise_suspect *link)
{
	double out = 0, unknown = 0, expected = 0;

	for (size_t i = 0; i < link->element_count; i++) {
		const struct localise_element *e = link->elements[i];

		for (size_t k = 0; k < localise_observe_asked(e); k++) {
			const struct localise_path *path =
			    localise_observe_asked_path(e, k);
			const double share =
			    lost_on_return_path(c, explanation, link, path);
			struct localise_sum sum = { 0 };

			if (share < 0)
				continue;
			seen(map, path, c->now, &sum);
			out += sum.forward;
			unknown += sum.unknown;
			expected += share * sum.sent;
		}
	}
	return out < SHARE_OUT * (out + unknown) && unknown <= expected;
}
