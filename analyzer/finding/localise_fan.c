#include "analyzer/finding/localise_fan.h"

#include "analyzer/finding/localise_transit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PATHS_ASKED 256
#define STRIDE 7919
/* Shares are rounded to this many steps, so that the judge has few kinds of
 * observations. */
#define SHARE_STEPS 64

static bool
is_suspect(const struct localise_case *c, const struct localise_element *element)
{
	return element->stamp == c->stamp &&
	       c->locals[element->local].lost >= LOCALISE_MIN_LOST;
}

/* For a path from or to its ToR: the part that leads up to its highest switch, or down
 * from it, with that switch and without the ToR. */
static struct localise_half
half_of(const struct localise_case *c, const struct localise_path *path,
    enum localise_fan_direction which)
{
	const uint8_t middle = path->element_count / 2;
	const uint8_t from = which == LOCALISE_FAN_UP ? 1 : middle;
	const uint8_t to =
	    which == LOCALISE_FAN_UP ? middle + 1 : path->element_count - 1;
	struct localise_half half = {
		.top = path->elements[middle], .paths = 1, .length = path->element_count
	};

	for (uint8_t i = from; i < to && half.count < LOCALISE_HALF_PARTS; i++)
		if (is_suspect(c, path->elements[i]))
			half.parts[half.count++] = path->elements[i]->local;
	return half;
}

static bool
has_same_parts(const struct localise_half *a, const struct localise_half *b)
{
	return a->length == b->length && a->count == b->count &&
	       memcmp(a->parts, b->parts, a->count * sizeof *a->parts) == 0;
}

static void
add_half(struct localise_fan *fan, const struct localise_half *half)
{
	for (uint32_t i = 0; i < fan->count; i++)
		if (fan->halves[i].top == half->top &&
		    has_same_parts(&fan->halves[i], half)) {
			fan->halves[i].paths++;
			return;
		}
	if (fan->count < LOCALISE_FAN) {
		fan->halves[fan->count++] = *half;
		return;
	}
	for (uint32_t i = 0; i < fan->count; i++)
		if (has_same_parts(&fan->halves[i], half)) {
			fan->halves[i].top = NULL;
			fan->halves[i].paths++;
			return;
		}
}

static bool
has_top(const struct localise_fan *fan, const struct localise_half *half)
{
	for (uint32_t i = 0; i < fan->count; i++)
		if (fan->halves[i].top == half->top &&
		    fan->halves[i].length == half->length)
			return true;
	return false;
}

/* With the suspect halves; then, of the others, those beside them, as over another
 * cable of the same switch. */
static void
fill_with(const struct localise_case *c, struct localise_fan *fan,
    const struct localise_element *tor, enum localise_fan_direction which, bool suspect)
{
	const size_t asked =
	    tor->path_count < MAX_PATHS_ASKED ? tor->path_count : MAX_PATHS_ASKED;

	for (size_t i = 0; i < asked; i++) {
		const struct localise_path *path =
		    tor->paths[asked < tor->path_count ? i * STRIDE % tor->path_count
						       : i];
		const uint8_t end =
		    which == LOCALISE_FAN_UP ? 0 : path->element_count - 1;
		struct localise_half half;

		if (!path->is_traced || path->elements[end] != tor ||
		    rm_mono_since(c->now, path->row_at) > c->current_ns)
			continue;
		half = half_of(c, path, which);
		if (suspect) {
			fan->paths++;
			fan->by_length[half.length]++;
		}
		if (suspect ? half.count > 0 : half.count == 0 && has_top(fan, &half))
			add_half(fan, &half);
	}
}

static const struct localise_fan *
fan_of(struct localise_case *c, struct localise_element *tor,
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
	c->fans[c->fan_count] = (struct localise_fan){ 0 };
	fill_with(c, &c->fans[c->fan_count], tor, direction, true);
	fill_with(c, &c->fans[c->fan_count], tor, direction, false);
	local->fans[direction] = (uint32_t)++c->fan_count;
	return &c->fans[c->fan_count - 1];
}

static float
in_steps(double share)
{
	return fminf(fmaxf(roundf((float)share * SHARE_STEPS), 1) / SHARE_STEPS, 1);
}

int
localise_fan_share(struct localise_case *c, struct localise_element *tor,
    enum localise_fan_direction direction, uint32_t local, float *ret)
{
	const struct localise_fan *fan = fan_of(c, tor, direction);
	double over = 0;

	*ret = 0;
	if (fan == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < fan->count; i++)
		for (uint8_t k = 0; k < fan->halves[i].count; k++)
			if (fan->halves[i].parts[k] == local)
				over += fan->halves[i].paths;
	if (over > 0)
		*ret = in_steps(over / fan->paths);
	return 0;
}

/* What the probe itself crossed its reply may have crossed once more. 0: no room. */
static uint64_t
bit_of(struct rm_observation *o, uint32_t local)
{
	const uint32_t sure = o->element_count - o->spread;

	for (uint32_t i = 0; i < o->spread; i++)
		if (o->elements[sure + i] == local)
			return UINT64_C(1) << i;
	if (o->element_count == RM_OBSERVATION_ELEMENTS)
		return 0;
	o->elements[o->element_count++] = local;
	return UINT64_C(1) << o->spread++;
}

static uint64_t
bits_of(struct rm_observation *o, const struct localise_half *half)
{
	uint64_t bits = 0;

	for (uint8_t i = 0; i < half->count; i++)
		bits |= bit_of(o, half->parts[i]);
	return bits;
}

static void
add_route(struct rm_observation *o, uint64_t bits, double share)
{
	for (uint32_t i = 0; i < o->route_count; i++)
		if (o->routes[i] == bits) {
			o->shares[i] += (float)share;
			return;
		}
	/* The last place is for what took none of them. */
	if (bits == 0 || o->route_count + 1 >= RM_OBSERVATION_ROUTES)
		return;
	o->routes[o->route_count] = bits;
	o->shares[o->route_count++] = (float)share;
}

static bool
meets(const struct localise_half *up, const struct localise_half *down)
{
	return up->top != NULL && up->top == down->top && up->length == down->length;
}

/* The part that leads up, with each part down that begins where it ends. */
static void
add_routes_up(struct rm_observation *o, const struct localise_half *half,
    const struct localise_fan *down, double share)
{
	const uint64_t bits = bits_of(o, half);
	double paths = 0;

	for (uint32_t i = 0; i < down->count; i++)
		if (meets(half, &down->halves[i]))
			paths += down->halves[i].paths;
	if (paths == 0)
		add_route(o, bits, share);
	for (uint32_t i = 0; i < down->count; i++)
		if (meets(half, &down->halves[i]))
			add_route(o, bits | bits_of(o, &down->halves[i]),
			    share * down->halves[i].paths / paths);
}

static void
add_routes(struct rm_observation *o, const struct localise_fan *up,
    const struct localise_fan *down, uint8_t length)
{
	for (uint32_t i = 0; i < up->count; i++)
		if (up->halves[i].length == length)
			add_routes_up(o, &up->halves[i], down,
			    (double)up->halves[i].paths / up->by_length[length]);
	for (uint32_t i = 0; i < down->count; i++) {
		const struct localise_half *half = &down->halves[i];
		bool met = false;

		for (uint32_t k = 0; k < up->count && !met; k++)
			met = meets(&up->halves[k], half);
		if (half->length == length && !met)
			add_route(o, bits_of(o, half),
			    (double)half->paths / down->by_length[length]);
	}
	for (uint32_t i = 0; i < o->route_count; i++)
		o->shares[i] = in_steps((double)o->shares[i]);
}

/* What crosses a switch between the two racks themselves: whatever crosses it, or where
 * that is no suspect so many of their own ways. */
static void
add_transits(const struct localise_case *c, struct rm_observation *o,
    const struct localise_element *pair)
{
	const uint32_t sure = o->element_count - o->spread;
	uint32_t at = c->locals[pair->local].next_transit;

	for (; at != 0; at = c->locals[at - 1].next_transit) {
		const struct localise_local *transit = &c->locals[at - 1];
		const double share = localise_transit_share(c, transit);
		uint64_t bit, over = 0;

		if (share <= 0 || !localise_transit_takes_all(c, transit))
			continue;
		for (uint32_t i = 0; i < o->spread; i++)
			if (o->elements[sure + i] == transit->element->local)
				over |= UINT64_C(1) << i;
		bit = bit_of(o, at - 1);
		for (uint32_t i = 0; i < o->route_count; i++)
			if ((o->routes[i] & over) != 0)
				o->routes[i] |= bit;
		if (over == 0)
			add_route(o, bit, (double)in_steps(share));
	}
}

/* A reply crosses both ToRs once more, for sure. Without that the uplinks of a ToR that
 * loses a share of everything would explain better than the ToR itself what is lost
 * there or back: a reply may have crossed any of them. */
static void
add_ends(struct rm_observation *o, const struct localise_element *pair)
{
	double others = 1;
	uint64_t bits;

	bits = bit_of(o, pair->ends[0]->local) | bit_of(o, pair->ends[1]->local);
	for (uint32_t i = 0; i < o->route_count; i++) {
		o->routes[i] |= bits;
		others -= (double)o->shares[i];
	}
	if (bits == 0 || others <= 0)
		return;
	o->routes[o->route_count] = bits;
	o->shares[o->route_count++] = (float)others;
}

int
localise_fan_replies(struct localise_case *c, struct rm_observation *o,
    const struct localise_element *pair, uint8_t length)
{
	/* Both are made before either is used: they move. */
	if (fan_of(c, pair->ends[0], LOCALISE_FAN_UP) == NULL ||
	    fan_of(c, pair->ends[1], LOCALISE_FAN_DOWN) == NULL)
		return -ENOMEM;
	/* Over minutes two links, crossed in both directions, would explain the losses
	 * of a switch with 1 % too well. */
	o->first_stands = c->slow;
	add_routes(o, fan_of(c, pair->ends[0], LOCALISE_FAN_UP),
	    fan_of(c, pair->ends[1], LOCALISE_FAN_DOWN), length);
	if (c->with_transits)
		add_transits(c, o, pair);
	add_ends(o, pair);
	return 0;
}
