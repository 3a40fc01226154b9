#include "analyzer/suspicion/localise_direction.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/paths/localise_bins.h"
#include "analyzer/paths/localise_part.h"

#define MIN_SHOWN 2     /* lost this way for sure */
#define SHOWN_SHARE 0.2 /* of those of which it is known */
#define MIN_CLEAN 4     /* passed this way for sure */
#define LIKE_SHARE 0.25 /* of the other way's losses, of as many packets */
#define CLEAN_LOSS 0.1  /* of what was sent, at most, is lost nobody knows where */

struct ways {
	const struct localise_map *map;
	struct localise_directed *link;
	localise_seen *seen;
	rm_mono_t now;
	struct localise_sum there, back;
};

/* Where the way crosses the link, or a cable beside it, from there to there; or NULL.
 */
static struct localise_element *
crossing(const struct localise_way *way, const char *from, const char *to)
{
	for (uint8_t i = 0; i < way->element_count; i++)
		if (strcmp(way->elements[i]->a, from) == 0 &&
		    strcmp(way->elements[i]->b, to) == 0)
			return way->elements[i];
	return NULL;
}

static bool
add_way(struct localise_way *way, void *arg)
{
	struct ways *ways = arg;
	const struct localise_element *there = ways->link->there;
	struct localise_element *back = crossing(way, there->b, there->a);

	ways->seen(
	    ways->map, way, ways->now, back == NULL ? &ways->there : &ways->back);
	if (ways->link->back == NULL)
		ways->link->back = back;
	return true;
}

static bool
is_shown(const struct localise_sum *sum)
{
	return sum->forward >= MIN_SHOWN &&
	       sum->forward >= SHOWN_SHARE * (sum->forward + sum->reverse);
}

/* As much as is lost, and of which it is known, was lost on its way back; or hardly
 * anything is lost. */
static bool
is_clean(const struct localise_sum *sum)
{
	const double lost = sum->forward + sum->unknown;

	if (is_shown(sum))
		return false;
	return sum->reverse >= MIN_CLEAN ||
	       (sum->sent - lost >= MIN_CLEAN && lost <= CLEAN_LOSS * sum->sent);
}

/* As likely to lose a packet as the other, or not much less. */
static bool
is_as_lossy(const struct localise_sum *sum, const struct localise_sum *other)
{
	return is_shown(sum) &&
	       sum->forward * other->sent >= LIKE_SHARE * other->forward * sum->sent;
}

static enum localise_direction
slow_direction_of(const struct ways *ways, const struct localise_suspect *link)
{
	const bool there = is_as_lossy(&ways->there, &ways->back),
		   back = is_as_lossy(&ways->back, &ways->there);

	if (link->element_count == 1)
		return there ? LOCALISE_THERE : LOCALISE_UNKNOWN_WAY;
	return there && back ? LOCALISE_BOTH_WAYS
	       : there       ? LOCALISE_THERE
	       : back        ? LOCALISE_BACK
			     : LOCALISE_UNKNOWN_WAY;
}

static enum localise_direction
direction_of(const struct ways *ways, const struct localise_suspect *link)
{
	const bool there = is_clean(&ways->there), back = is_clean(&ways->back);

	if (is_shown(&ways->there) && is_shown(&ways->back))
		return LOCALISE_BOTH_WAYS;
	if (back && !there)
		return LOCALISE_THERE;
	if (there && !back)
		return LOCALISE_BACK;
	return link->element_count == 1 && is_shown(&ways->there)
		   ? LOCALISE_THERE
		   : LOCALISE_UNKNOWN_WAY;
}

static void
see(const struct localise_map *map, const struct localise_suspect *link,
    struct ways *ways, struct localise_directed *ret)
{
	struct rm_part part;

	*ret = (struct localise_directed){ .there = link->elements[0],
		.back = link->element_count == 2 ? link->elements[1] : NULL };
	localise_suspect_part(link, &part);
	localise_part_ways(map, &part, add_way, ways);
}

void
localise_direction_see(const struct localise_map *map,
    const struct localise_suspect *link, rm_mono_t now, struct localise_directed *ret)
{
	struct ways ways = {
		.map = map, .link = ret, .seen = localise_way_recent, .now = now
	};

	see(map, link, &ways, ret);
	ret->direction = direction_of(&ways, link);
}

void
localise_direction_see_slow(const struct localise_map *map,
    const struct localise_suspect *link, rm_mono_t now, struct localise_directed *ret)
{
	struct ways ways = {
		.map = map, .link = ret, .seen = localise_way_slow, .now = now
	};

	see(map, link, &ways, ret);
	ret->direction = slow_direction_of(&ways, link);
}

static const char *
interface_of(const struct localise_element *e)
{
	return e->at[0] != '\0' ? e->at : "?";
}

void
localise_direction_say(
    const struct localise_directed *directed, char out[RM_EVIDENCE_TEXT])
{
	const struct localise_element *there = directed->there, *back = directed->back;
	const struct localise_element *one =
	    directed->direction == LOCALISE_BACK && back != NULL ? back : there;

	if (directed->direction == LOCALISE_THERE ||
	    directed->direction == LOCALISE_BACK)
		snprintf(out, RM_EVIDENCE_TEXT, "from %.60s to %.60s at %.45s", one->a,
		    one->b, one->at[0] != '\0' ? one->at : "an unknown interface");
	else if (back != NULL)
		snprintf(out, RM_EVIDENCE_TEXT,
		    "%s, at %.35s of %.45s and %.35s of %.45s",
		    directed->direction == LOCALISE_BOTH_WAYS ? "both ways"
							      : "one way or both",
		    interface_of(there), there->b, interface_of(back), back->b);
}
