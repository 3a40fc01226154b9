#include "analyzer/finding/localise_fan.h"

#include "analyzer/finding/localise_transit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define MAX_PATHS_ASKED 256

/* Shares are rounded to multiples of 1 / SHARE_STEPS: they are not exact anyway, and
 * the judge computes observations with equal shares together. */
#define SHARE_STEPS 64

static bool
is_suspect(const struct localise_case *c, const struct localise_element *element)
{
	return element->stamp == c->stamp &&
	       c->locals[element->local].lost >= LOCALISE_MIN_LOST;
}

static void
count_part(struct localise_fan *fan, uint32_t local)
{
	for (uint32_t i = 0; i < fan->count; i++)
		if (fan->parts[i].local == local) {
			fan->parts[i].share++;
			return;
		}
	if (fan->count < LOCALISE_FAN)
		fan->parts[fan->count++] = (struct localise_fan_part){ local, 1 };
}

/* Counts the suspects on the upward half of the path, or on the downward half, without
 * the ToR there. */
static void
count_path(const struct localise_case *c, struct localise_fan *fan,
    const struct localise_path *path, enum localise_fan_direction which)
{
	const uint8_t middle = path->element_count / 2;
	const uint8_t from = which == LOCALISE_FAN_UP ? 1 : middle;
	const uint8_t to =
	    which == LOCALISE_FAN_UP ? middle + 1 : path->element_count - 1;

	for (uint8_t i = from; i < to; i++)
		if (is_suspect(c, path->elements[i]))
			count_part(fan, path->elements[i]->local);
}

static void
fill(const struct localise_case *c, struct localise_fan *fan,
    const struct localise_element *tor, enum localise_fan_direction which)
{
	const size_t asked =
	    tor->path_count < MAX_PATHS_ASKED ? tor->path_count : MAX_PATHS_ASKED;
	float paths = 0;

	fan->count = 0;
	for (size_t i = 0; i < asked; i++) {
		const struct localise_path *path =
		    localise_element_sample(tor, MAX_PATHS_ASKED, i);
		const uint8_t end =
		    which == LOCALISE_FAN_UP ? 0 : path->element_count - 1;

		if (!path->is_traced || path->elements[end] != tor ||
		    rm_mono_since(c->now, path->row_at) > c->current_ns)
			continue;
		paths++;
		count_path(c, fan, path, which);
	}
	for (uint32_t i = 0; i < fan->count; i++)
		fan->parts[i].share =
		    fmaxf(roundf(fan->parts[i].share / paths * SHARE_STEPS), 1) /
		    SHARE_STEPS;
}

const struct localise_fan *
localise_fan(struct localise_case *c, struct localise_element *tor,
    enum localise_fan_direction direction)
{
	struct localise_local *local = &c->locals[tor->local];

	if (local->fans[direction] != 0)
		return &c->fans[local->fans[direction] - 1];
	if (c->fan_count == c->fan_size) {
		const size_t size = 2 * c->fan_size + 16;
		struct localise_fan *fans = realloc(c->fans, size * sizeof *fans);

		if (fans == NULL)
			return NULL;
		c->fans = fans;
		c->fan_size = size;
	}
	fill(c, &c->fans[c->fan_count], tor, direction);
	local->fans[direction] = (uint32_t)++c->fan_count;
	return &c->fans[c->fan_count - 1];
}

/* Adds a part with its share, or raises the share if the part is there: the highest
 * switch is in both halves of a path. An element that the probe crossed for sure is
 * added all the same: the reply may have crossed it again. */
static void
add_part(struct rm_observation *o, const struct localise_fan_part *part)
{
	const uint32_t sure = o->element_count - o->spread;

	for (uint32_t i = 0; i < o->spread; i++)
		if (o->elements[sure + i] == part->local) {
			o->shares[i] = fmaxf(o->shares[i], part->share);
			return;
		}
	if (o->element_count == RM_OBSERVATION_ELEMENTS)
		return;
	o->elements[o->element_count++] = part->local;
	o->shares[o->spread++] = part->share;
}

static void
add_parts(struct rm_observation *o, const struct localise_fan *fan)
{
	for (uint32_t i = 0; i < fan->count; i++)
		add_part(o, &fan->parts[i]);
}

/* Adds the transits of the pair, each with its share of the paths of this pair. */
static void
add_transits(const struct localise_case *c, struct rm_observation *o,
    const struct localise_element *pair)
{
	uint32_t at = c->locals[pair->local].next_transit;

	for (; at != 0; at = c->locals[at - 1].next_transit) {
		const struct localise_local *transit = &c->locals[at - 1];
		const double share = localise_transit_share(c, transit);
		struct localise_fan_part part = { .local = at - 1 };

		if (share <= 0 || !localise_transit_takes_all(c, transit))
			continue;
		part.share = fmaxf(roundf((float)share * SHARE_STEPS), 1) / SHARE_STEPS;
		add_part(o, &part);
	}
}

/* Adds both ToRs, which a reply certainly crosses again. Without them, over minutes,
 * the uplinks of a ToR that loses 1 % would explain the losses in both directions
 * better than the ToR does: a reply may have crossed any of them. In seconds a spine
 * would be taken for several ToRs; there see localise_tor_or_links. */
static void
add_ends(const struct localise_case *c, struct rm_observation *o,
    const struct localise_element *pair)
{
	for (size_t i = 0; c->slow && i < 2; i++) {
		const struct localise_fan_part end = { pair->ends[i]->local, 1 };

		add_part(o, &end);
	}
}

int
localise_fan_packets(struct localise_case *c, struct rm_observation *o,
    const struct localise_element *pair)
{
	const struct localise_fan *fan;

	if (c->with_transits)
		add_transits(c, o, pair);
	fan = localise_fan(c, pair->ends[0], LOCALISE_FAN_UP);
	if (fan == NULL)
		return -ENOMEM;
	add_parts(o, fan);
	fan = localise_fan(c, pair->ends[1], LOCALISE_FAN_DOWN);
	if (fan == NULL)
		return -ENOMEM;
	add_parts(o, fan);
	return 0;
}

int
localise_fan_replies(struct localise_case *c, struct rm_observation *o,
    const struct localise_element *pair)
{
	/* In windows of minutes, two links that are crossed in both directions would
	 * otherwise explain the losses of a switch that loses 1 % better than the
	 * switch itself does. */
	o->first_stands = c->slow;
	add_ends(c, o, pair);
	return localise_fan_packets(c, o, pair);
}
