#include "analyzer/finding/localise_observe.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/finding/localise_fan.h"
#include "analyzer/finding/localise_one_class.h"
#include "analyzer/finding/localise_transit.h"
#include "analyzer/paths/localise_map.h"

#define MAX_PATHS_ASKED 128

/* Switches may hash both directions of a flow in the same way. Then no reply to a probe
 * over another path crosses the part, and such replies prove nothing about it:
 * therefore at most this many of them count. */
#define MAX_OTHER_REPLIES 2

static int
observe(struct localise_case *c, double sent, double lost, const uint32_t *elements,
    uint32_t count)
{
	struct rm_observation *o;

	if (localise_losses_grow(&c->observations, &c->observation_size,
		c->observation_count + 1, sizeof *c->observations) < 0)
		return -ENOMEM;
	o = &c->observations[c->observation_count++];
	*o = (struct rm_observation){ .element_count = count };
	o->sent = (uint32_t)fmin(round(fmax(sent, lost)), UINT32_MAX / 2);
	o->lost = (uint32_t)fmin(round(lost), o->sent);
	memcpy(o->elements, elements, count * sizeof *elements);
	return 0;
}

struct localise_sum
localise_observe_witnesses(
    const struct localise_case *c, const struct localise_sum *sum)
{
	const double lost = sum->forward + sum->reverse + sum->unknown;
	struct localise_sum ret = *sum;
	double each;

	if (!c->by_flow || sum->tuples >= sum->sent)
		return ret;
	each = lost > 0 ? fmin(fmin(sum->tuples_gone, sum->tuples) / lost, 1) : 0;
	ret.sent = sum->tuples;
	ret.forward *= each;
	ret.reverse *= each;
	ret.unknown *= each;
	return ret;
}

/* Adds probes whose reply was lost, or may have been lost, on one of the paths back. */
static int
observe_lost_replies(struct localise_case *c, const struct localise_path *path,
    double lost, const uint32_t *elements, uint32_t count)
{
	const int r = observe(c, lost, lost, elements, count);

	return r < 0
		   ? r
		   : localise_fan_replies(c, &c->observations[c->observation_count - 1],
			 path->pair->back);
}

static void
add_crossed(const struct localise_case *c, const struct localise_lossy *lossy,
    uint32_t local, uint32_t *elements, uint32_t *count)
{
	if (localise_one_class_crossed(c, lossy, local))
		elements[(*count)++] = local;
}

/* Adds to the last observation the elements that its probes may have crossed, if their
 * path is not known. */
static int
add_possible(struct localise_case *c, const struct localise_path *path)
{
	return localise_path_is_unknown(path)
		   ? localise_fan_packets(
			 c, &c->observations[c->observation_count - 1], path->pair)
		   : 0;
}

int
localise_observe_path(struct localise_case *c, const struct localise_lossy *lossy)
{
	const struct localise_sum sum = localise_observe_witnesses(c, &lossy->sum);
	const struct localise_path *path = lossy->path;
	const uint32_t back[] = { path->elements[0]->local,
		path->elements[path->element_count - 1]->local,
		path->pair->back->local };
	uint32_t elements[RM_OBSERVATION_ELEMENTS], count = 0;
	int r = 0;

	for (uint8_t i = 0; i < path->element_count; i++)
		add_crossed(c, lossy, path->elements[i]->local, elements, &count);
	add_crossed(c, lossy, path->pair->local, elements, &count);
	for (uint8_t i = 0; c->with_transits && i < path->element_count; i++) {
		const uint32_t transit =
		    localise_transit_suspect(c, path->pair, path->elements[i]);

		if (transit != LOCALISE_NO_LOCAL)
			add_crossed(c, lossy, transit, elements, &count);
	}
	if (sum.sent > sum.unknown) {
		r = observe(c, sum.sent - sum.unknown, sum.forward, elements, count);
		if (r == 0)
			r = add_possible(c, path);
	}
	if (r == 0 && c->with_replies && round(lossy->sum.reverse) >= 1)
		r = observe_lost_replies(c, path, sum.reverse, back, 3);
	if (r < 0 || round(lossy->sum.unknown) < 1)
		return r;
	elements[count++] = path->pair->back->local;
	r = observe_lost_replies(c, path, sum.unknown, elements, count);
	return r < 0 ? r : add_possible(c, path);
}

/* Adds replies that arrived, a share of which has crossed the element. */
static int
observe_replies(struct localise_case *c, uint32_t local, double arrived, float share)
{
	if (arrived < 1)
		return 0;
	if (observe(c, arrived, 0, &local, 1) < 0)
		return -ENOMEM;
	c->observations[c->observation_count - 1].spread = 1;
	c->observations[c->observation_count - 1].shares[0] = share;
	return 0;
}

size_t
localise_observe_asked(const struct localise_element *at)
{
	return at->path_count < MAX_PATHS_ASKED ? at->path_count : MAX_PATHS_ASKED;
}

const struct localise_path *
localise_observe_asked_path(const struct localise_element *at, size_t nth)
{
	return localise_element_sample(at, MAX_PATHS_ASKED, nth);
}

static double
arrived_back(const struct localise_sum *sum)
{
	return sum->sent - sum->forward - sum->unknown - sum->reverse;
}

/* The part of the counts that is evidence for or against the element. */
static struct localise_sum
witnesses_over(
    const struct localise_case *c, uint32_t local, const struct localise_sum *sum)
{
	const struct localise_sum of = localise_one_class_over(c, local, sum);

	return localise_observe_witnesses(c, &of);
}

/* Returns the counts of a sample of the element's paths. With the factor *scale, they
 * are the counts of all its paths. local: the element for which these counts are
 * evidence. */
static struct localise_sum
ask(const struct localise_case *c, const struct localise_map *map, localise_seen *seen,
    const struct localise_element *at, uint32_t local, double *scale)
{
	const size_t asked = localise_observe_asked(at);
	struct localise_sum sum = { 0 };

	for (size_t i = 0; i < asked; i++)
		seen(map, localise_observe_asked_path(at, i), c->now, &sum);
	*scale = (double)at->path_count / fmax((double)asked, 1);
	return witnesses_over(c, local, &sum);
}

/* Adds the replies to probes over an element's paths. */
static double
replies(const struct localise_case *c, const struct localise_map *map,
    localise_seen *seen, const struct localise_element *at, uint32_t local)
{
	double scale;
	const struct localise_sum sum = ask(c, map, seen, at, local, &scale);

	return scale * arrived_back(&sum);
}

/* Adds the replies that crossed a switch above the racks. The switch's share of all
 * paths is taken as the share of all replies that cross it, whether their probes
 * crossed this switch or another one. */
static int
observe_at_switch(struct localise_case *c, const struct localise_map *map,
    localise_seen *seen, uint32_t local)
{
	const struct localise_element *at = c->locals[local].element;
	const float share = (float)at->path_count / (float)map->path_count;
	const double same = replies(c, map, seen, at, local);
	const double others = same / (double)share - same;

	return observe_replies(c, local, same + fmin(others, MAX_OTHER_REPLIES), share);
}

/* True: the path crosses the same cable, or a parallel one, in the other direction. */
static bool
comes_over(const struct localise_path *path, const struct localise_element *link)
{
	for (uint8_t i = 0; i < path->element_count; i++)
		if (path->elements[i]->cable == link->cable &&
		    strcmp(path->elements[i]->a, link->b) == 0 &&
		    path->elements[i]->b[0] != '\0')
			return true;
	return false;
}

/* Returns the number of replies that left this ToR (up), or arrived at it, and may have
 * crossed the link. */
static double
replies_at(const struct localise_case *c, const struct localise_map *map,
    localise_seen *seen, const struct localise_element *tor, bool up, uint32_t local)
{
	const struct localise_element *link = c->locals[local].element;
	const size_t asked = localise_observe_asked(tor);
	const double scale = (double)tor->path_count / (double)asked;
	struct localise_sum same = { 0 }, others = { 0 };

	for (size_t i = 0; i < asked; i++) {
		const struct localise_path *path = localise_observe_asked_path(tor, i);

		if (path->elements[up ? path->element_count - 1 : 0] == tor)
			seen(map, path, c->now,
			    comes_over(path, link) ? &same : &others);
	}
	same = witnesses_over(c, local, &same);
	others = witnesses_over(c, local, &others);
	return scale * arrived_back(&same) +
	       fmin(scale * arrived_back(&others), MAX_OTHER_REPLIES);
}

static int
observe_at_tor(struct localise_case *c, const struct localise_map *map,
    localise_seen *seen, uint32_t local, bool up)
{
	const struct localise_path *path = c->locals[local].element->paths[0];
	struct localise_element *tor = path->elements[up ? 0 : path->element_count - 1];
	const struct localise_fan *fan;

	if (tor->stamp != c->stamp)
		return 0;
	fan = localise_fan(c, tor, up ? LOCALISE_FAN_UP : LOCALISE_FAN_DOWN);
	if (fan == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < fan->count; i++)
		if (fan->parts[i].local == local)
			return observe_replies(c, local,
			    replies_at(c, map, seen, tor, up, local),
			    fan->parts[i].share);
	return 0;
}

/* Adds the replies between two racks, all of which cross the elements between them. */
static int
observe_at_pair(struct localise_case *c, const struct localise_map *map,
    localise_seen *seen, uint32_t local)
{
	const struct localise_element *back = c->locals[local].element->back;
	const double arrived =
	    back->path_count > 0 ? replies(c, map, seen, back, local) : 0;

	return arrived >= 1 ? observe(c, arrived, 0, &local, 1) : 0;
}

/* Adds replies from one rack to the other, a share of which has crossed the switch. */
static int
observe_at_transit(struct localise_case *c, const struct localise_map *map,
    localise_seen *seen, uint32_t local)
{
	const struct localise_local *l = &c->locals[local];
	const struct localise_element *back = l->transit->back;
	const float share = (float)localise_transit_share(c, l);
	struct localise_sum same = { 0 }, others = { 0 };

	for (size_t i = 0; i < localise_observe_asked(back); i++) {
		const struct localise_path *path = localise_observe_asked_path(back, i);

		seen(map, path, c->now,
		    localise_path_crosses(path, l->element) ? &same : &others);
	}
	same = witnesses_over(c, local, &same);
	others = witnesses_over(c, local, &others);
	return share > 0 ? observe_replies(c, local,
			       arrived_back(&same) +
				   fmin(arrived_back(&others), MAX_OTHER_REPLIES),
			       share)
			 : 0;
}

int
localise_observe_replies(struct localise_case *c, const struct localise_map *map,
    localise_seen *seen, uint32_t local)
{
	const struct localise_element *at = c->locals[local].element;
	const struct localise_path *path;

	if (c->locals[local].transit != NULL)
		return localise_transit_takes_all(c, &c->locals[local])
			   ? observe_at_transit(c, map, seen, local)
			   : 0;
	if (at->back != NULL)
		return observe_at_pair(c, map, seen, local);
	if (at->is_tor || at->path_count == 0)
		return 0;
	path = at->paths[0];
	if (at->b[0] == '\0')
		return observe_at_switch(c, map, seen, local);
	if (path->elements[1] == at)
		return observe_at_tor(c, map, seen, local, true);
	if (path->elements[path->element_count - 2] == at)
		return observe_at_tor(c, map, seen, local, false);
	return 0;
}

/* Adds one observation for all of these paths, of this element alone: an arrived probe
 * is evidence on each of its elements, whatever other elements it has crossed. */
int
localise_observe_arrivals(struct localise_case *c, const struct localise_map *map,
    localise_seen *seen, uint32_t local)
{
	const struct localise_local *of = &c->locals[local];
	const struct localise_element *at =
	    of->transit != NULL ? of->transit : of->element;
	const size_t asked = localise_observe_asked(at);
	struct localise_sum sum = { 0 };
	double arrived;

	if (c->locals[local].lossy >= at->path_count)
		return 0;
	for (size_t i = 0; i < asked; i++) {
		const struct localise_path *path = localise_observe_asked_path(at, i);

		if (path->stamp != c->stamp &&
		    (of->transit == NULL || localise_path_crosses(path, of->element)))
			seen(map, path, c->now, &sum);
	}
	sum = witnesses_over(c, local, &sum);
	arrived = (double)at->path_count / (double)asked *
		  (sum.sent - sum.forward - sum.unknown);
	if (arrived < 1)
		return 0;
	return observe(c, arrived, 0, &local, 1);
}

int
localise_observe_inside(struct localise_case *c, const struct localise_map *map,
    localise_seen *seen, uint32_t local)
{
	const struct localise_local *tor = &c->locals[local];
	const struct localise_rack *rack;
	struct localise_sum sum = { 0 };
	double scale = 1;

	if (tor->transit != NULL || tor->element->back != NULL || !tor->element->is_tor)
		return 0;
	rack = localise_map_find_rack(map, tor->element->a);
	if (rack == NULL || rack->inside == NULL)
		return 0;
	seen(map, rack->inside, c->now, &sum);
	sum = witnesses_over(c, local, &sum);
	if (sum.unknown > tor->weighed)
		scale = tor->weighed / sum.unknown;
	sum.sent *= scale;
	sum.unknown *= scale;
	return sum.sent >= 1
		   ? observe(c, 2 * sum.sent - sum.unknown, sum.unknown, &local, 1)
		   : 0;
}

double
localise_observe_share(const struct localise_case *c, const struct localise_map *map,
    localise_seen *seen, const struct localise_suspect *suspect)
{
	double sent = 0, lost = 0, scale;

	for (size_t i = 0; i < suspect->element_count; i++) {
		const struct localise_sum sum = ask(c, map, seen, suspect->elements[i],
		    suspect->elements[i]->local, &scale);

		sent += scale * sum.sent;
		lost += scale * (sum.forward + sum.unknown);
	}
	return sent > 0 ? lost / sent : 0;
}
