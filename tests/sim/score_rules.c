#include "tests/sim/score_state.h"

enum score_class
score_class_of(enum clos_type type)
{
	switch (type) {
	case CLOS_RNIC:
		return SCORE_RNICS;
	case CLOS_HOST:
		return SCORE_HOSTS;
	case CLOS_LINK:
		return SCORE_LINKS;
	case CLOS_TOR:
	case CLOS_MIDDLE:
	case CLOS_CORE:
		break;
	}
	return SCORE_DEVICES;
}

bool
score_holds(const struct truth *truth, int64_t now_ns)
{
	return now_ns >= truth->from_ns &&
	       (truth->to_ns >= SCORE_FOREVER - SCORE_AFTERGLOW_NS ||
		   now_ns <= truth->to_ns + SCORE_AFTERGLOW_NS);
}

static bool
is_direction(const struct clos *clos, const struct truth *truth, uint32_t link)
{
	return truth->part == link ||
	       (truth->both_directions && truth->part == clos_part(clos, link)->twin);
}

static bool
is_cable_of(const struct clos *clos, uint32_t link, uint32_t rnic)
{
	const struct clos_part *p = clos_part(clos, link);

	return p->type == CLOS_LINK && (p->from == rnic || p->to == rnic);
}

/* True: part is this end of a link, or the host of the RNIC at this end. */
static bool
is_end(const struct clos *clos, uint32_t end, uint32_t part)
{
	return end == part || (clos_part(clos, end)->type == CLOS_RNIC &&
				  clos_part(clos, end)->from == part);
}

static bool
excuses_link(const struct score *score, const struct truth *truth, uint32_t link,
    enum score_class class)
{
	const struct clos_part *p = clos_part(score->clos, link);

	if (class == SCORE_LINKS_DIRECTED && is_direction(score->clos, truth, link))
		return true;
	if (class == SCORE_LINKS && (truth->part == link || truth->part == p->twin))
		return true;
	return is_end(score->clos, p->from, truth->part) ||
	       is_end(score->clos, p->to, truth->part);
}

static bool
excuses(const struct score *score, const struct truth *truth, uint32_t part,
    enum score_class class)
{
	const struct clos_part *p = clos_part(score->clos, part);

	if (!truth->counts) /* a stall is a fault of its host only */
		return class == SCORE_HOSTS && truth->part == part;
	if (p->type == CLOS_LINK)
		return excuses_link(score, truth, part, class);
	if (truth->part == part)
		return true;
	return p->type == CLOS_RNIC &&
	       (truth->part == p->from || is_cable_of(score->clos, truth->part, part));
}

static bool
is_switch(enum clos_type type)
{
	return type == CLOS_TOR || type == CLOS_MIDDLE || type == CLOS_CORE;
}

/* Whether the cable passes nothing in either direction. */
static bool
is_dead(const struct score *score, uint32_t link, int64_t now_ns)
{
	const uint32_t twin = clos_part(score->clos, link)->twin;

	for (size_t i = 0; i < score->truth_count; i++) {
		const struct truth *t = &score->truths[i];

		if ((t->part == link || t->part == twin) && t->counts &&
		    t->both_directions && t->loss >= 1 && score_holds(t, now_ns))
			return true;
	}
	return false;
}

/* True: the dead cables leave no path across the switch. Then no probe can distinguish
 * it from a dead switch. A ToR without uplinks still forwards within its rack. */
static bool
is_cut_off(const struct score *score, uint32_t sw, int64_t now_ns)
{
	const uint32_t *links;
	const uint32_t count = clos_leaving(score->clos, sw, &links);
	uint32_t alive = 0;

	for (uint32_t i = 0; i < count; i++)
		if (is_switch(
			clos_part(score->clos, clos_part(score->clos, links[i])->to)
			    ->type) &&
		    !is_dead(score, links[i], now_ns))
			alive++;
	return alive <= (clos_part(score->clos, sw)->type == CLOS_TOR ? 0 : 1);
}

static bool
is_down(const struct score *score, uint32_t sw, int64_t now_ns)
{
	for (size_t i = 0; i < score->truth_count; i++)
		if (score->truths[i].part == sw && score->truths[i].loss >= 1 &&
		    score_holds(&score->truths[i], now_ns))
			return true;
	return false;
}

bool
score_is_right(
    const struct score *score, uint32_t part, enum score_class class, int64_t now_ns)
{
	for (size_t i = 0; i < score->truth_count; i++)
		if (score_holds(&score->truths[i], now_ns) &&
		    excuses(score, &score->truths[i], part, class))
			return true;
	return class == SCORE_DEVICES && is_cut_off(score, part, now_ns);
}

bool
score_hides(const struct score *score, uint32_t part, const struct score_case *c,
    int64_t now_ns)
{
	const struct clos_part *link = clos_part(score->clos, c->part);

	return is_switch(clos_part(score->clos, part)->type) &&
	       link->type == CLOS_LINK && (link->from == part || link->to == part) &&
	       is_dead(score, c->part, now_ns) &&
	       (is_down(score, part, now_ns) || is_cut_off(score, part, now_ns));
}

bool
score_finds(const struct score *score, uint32_t part, enum score_class class,
    const struct score_case *c)
{
	const enum clos_type type = clos_part(score->clos, part)->type;
	const enum clos_type wanted = clos_part(score->clos, c->part)->type;

	if (type == CLOS_LINK && wanted == CLOS_LINK)
		return class == c->class && part == c->part;
	if (type == CLOS_RNIC && wanted == CLOS_LINK)
		return is_cable_of(score->clos, c->part, part);
	if (type == CLOS_LINK && wanted == CLOS_RNIC)
		return is_cable_of(score->clos, part, c->part);
	return part == c->part;
}
