#include "analyzer/suspicion/localise_direction.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/paths/localise_bins.h"
#include "analyzer/paths/localise_part.h"

#define MIN_SHOWN 2     /* least number of probes that were lost on their way out */
#define SHOWN_SHARE 0.2 /* share of these among losses with a known direction */
/* least number of probes that certainly passed in this direction */
#define MIN_CLEAN 4
/* a direction with at least this share of the other direction's loss is as lossy */
#define LIKE_SHARE 0.25
/* up to this lost share of the sent probes, hardly anything is lost */
#define CLEAN_LOSS 0.1

struct directions {
	const struct localise_map *map;
	struct localise_directed *link;
	localise_seen *seen;
	rm_mono_t now;
	struct localise_sum there, back;
};

/* Returns the element by which the path crosses the link, or a parallel cable, in this
 * direction. NULL: the path does not cross it. */
static struct localise_element *
crossing(const struct localise_path *path, const char *from, const char *to)
{
	for (uint8_t i = 0; i < path->element_count; i++)
		if (strcmp(path->elements[i]->a, from) == 0 &&
		    strcmp(path->elements[i]->b, to) == 0)
			return path->elements[i];
	return NULL;
}

static bool
add_path(struct localise_path *path, void *arg)
{
	struct directions *directions = arg;
	const struct localise_element *there = directions->link->there;
	struct localise_element *back = crossing(path, there->b, there->a);

	directions->seen(directions->map, path, directions->now,
	    back == NULL ? &directions->there : &directions->back);
	if (directions->link->back == NULL)
		directions->link->back = back;
	return true;
}

static bool
is_shown(const struct localise_sum *sum)
{
	return sum->forward >= MIN_SHOWN &&
	       sum->forward >= SHOWN_SHARE * (sum->forward + sum->reverse);
}

/* True: this direction passes packets, because replies were lost to probes that had
 * passed in it, or because hardly any probe is lost. */
static bool
is_clean(const struct localise_sum *sum)
{
	const double lost = sum->forward + sum->unknown;

	if (is_shown(sum))
		return false;
	return sum->reverse >= MIN_CLEAN ||
	       (sum->sent - lost >= MIN_CLEAN && lost <= CLEAN_LOSS * sum->sent);
}

/* True: this direction loses packets, and about as large a share as the other
 * direction. */
static bool
is_as_lossy(const struct localise_sum *sum, const struct localise_sum *other)
{
	return is_shown(sum) &&
	       sum->forward * other->sent >= LIKE_SHARE * other->forward * sum->sent;
}

static enum localise_direction
slow_direction_of(
    const struct directions *directions, const struct localise_suspect *link)
{
	const bool there = is_as_lossy(&directions->there, &directions->back),
		   back = is_as_lossy(&directions->back, &directions->there);

	if (link->element_count == 1)
		return there ? LOCALISE_THERE : LOCALISE_UNKNOWN_DIRECTION;
	return there && back ? LOCALISE_BOTH_DIRECTIONS
	       : there       ? LOCALISE_THERE
	       : back        ? LOCALISE_BACK
			     : LOCALISE_UNKNOWN_DIRECTION;
}

static enum localise_direction
direction_of(const struct directions *directions, const struct localise_suspect *link)
{
	const bool there = is_clean(&directions->there),
		   back = is_clean(&directions->back);

	if (is_shown(&directions->there) && is_shown(&directions->back))
		return LOCALISE_BOTH_DIRECTIONS;
	if (back && !there)
		return LOCALISE_THERE;
	if (there && !back)
		return LOCALISE_BACK;
	return link->element_count == 1 && is_shown(&directions->there)
		   ? LOCALISE_THERE
		   : LOCALISE_UNKNOWN_DIRECTION;
}

void
localise_direction_see(const struct localise_map *map,
    const struct localise_suspect *link, bool slow, rm_mono_t now,
    struct localise_directed *ret)
{
	struct directions directions = { .map = map,
		.link = ret,
		.seen = slow ? localise_path_slow : localise_path_recent,
		.now = now };
	struct rm_part part;

	*ret = (struct localise_directed){ .there = link->elements[0],
		.back = link->element_count == 2 ? link->elements[1] : NULL };
	localise_suspect_part(link, &part);
	localise_part_paths(map, &part, add_path, &directions);
	ret->direction = slow ? slow_direction_of(&directions, link)
			      : direction_of(&directions, link);
}

static const char *
interface_of(const struct localise_element *e)
{
	return e->at[0] != '\0' ? e->at : "?";
}

const struct localise_element *
localise_direction_only(const struct localise_directed *directed)
{
	switch (directed->direction) {
	case LOCALISE_THERE:
		return directed->there;
	case LOCALISE_BACK:
		return directed->back != NULL ? directed->back : directed->there;
	default:
		return NULL;
	}
}

void
localise_direction_report(
    const struct localise_directed *directed, char out[RM_EVIDENCE_TEXT])
{
	const struct localise_element *there = directed->there, *back = directed->back;
	const struct localise_element *one = localise_direction_only(directed);

	if (one != NULL)
		snprintf(out, RM_EVIDENCE_TEXT, "from %.60s to %.60s at %.45s", one->a,
		    one->b, one->at[0] != '\0' ? one->at : "an unknown interface");
	else if (back != NULL)
		snprintf(out, RM_EVIDENCE_TEXT,
		    "%s, at %.35s of %.45s and %.35s of %.45s",
		    directed->direction == LOCALISE_BOTH_DIRECTIONS ? "both ways"
								    : "one way or both",
		    interface_of(there), there->b, interface_of(back), back->b);
}
