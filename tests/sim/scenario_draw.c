#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/clock.h"
#include "tests/sim/scenario.h"
#include "tests/sim/unlucky.h"

#define MAX_TRIES 100000 /* attempts to find a part without a fault */

double
scenario_pick(const struct scenario_choice *choice, struct dice *dice)
{
	const double *v = choice->values;
	double share;

	if (choice->type == CHOICE_ONE)
		return v[0];
	share = dice_share(dice);
	if (choice->type == CHOICE_OF)
		return v[(size_t)(share * (double)choice->count)];
	if (choice->type == CHOICE_LOG)
		return v[0] * pow(v[1] / v[0], share);
	return v[0] + (v[1] - v[0]) * share;
}

/* All whole numbers of a range are equally likely. */
static double
pick(const struct scenario_choice *choice, const struct scenario_option *option,
    struct dice *dice)
{
	struct scenario_choice wide = *choice;

	if (!option->whole || choice->type == CHOICE_ONE || choice->type == CHOICE_OF)
		return scenario_pick(choice, dice);
	wide.values[1] += 0.999999;
	return floor(scenario_pick(&wide, dice));
}

void
scenario_draw(
    const struct scenario *scenario, struct dice *dice, struct scenario_draw *ret)
{
	double fabric[FABRIC_OPTIONS];
	bool tall;

	ret->seconds = scenario_pick(&scenario->top[TOP_SECONDS], dice);
	for (size_t i = 0; i < FABRIC_OPTIONS; i++)
		fabric[i] =
		    pick(&scenario->fabric[i], &scenario_fabric_options[i], dice);
	for (size_t i = 0; i < PROBING_OPTIONS; i++)
		ret->probing[i] =
		    pick(&scenario->probing[i], &scenario_probing_options[i], dice);
	for (size_t i = 0; i < NOISE_OPTIONS; i++)
		ret->noise[i] =
		    pick(&scenario->noise[i], &scenario_noise_options[i], dice);
	tall = fabric[FABRIC_TIERS] == 3;
	ret->fabric = (struct clos_options){
		.tiers = (uint32_t)fabric[FABRIC_TIERS],
		.pods = tall ? (uint32_t)fabric[FABRIC_PODS] : 1,
		.racks = (uint32_t)fabric[FABRIC_RACKS],
		.middle = (uint32_t)fabric[FABRIC_MIDDLE],
		.cores = tall ? (uint32_t)fabric[FABRIC_CORES] : 0,
		.cables = (uint32_t)fabric[FABRIC_CABLES],
		.rnics_per_rack = (uint32_t)fabric[FABRIC_RNICS_PER_RACK],
		.rnics_per_host = (uint32_t)fabric[FABRIC_RNICS_PER_HOST],
		.rails = fabric[FABRIC_RAILS] != 0,
		.loopbacks = fabric[FABRIC_LOOPBACKS] != 0,
		.symmetric = fabric[FABRIC_SYMMETRIC] != 0,
	};
}

/* ---- faults ---------------------------------------------------------------------- */

static enum fault_place
place_of(enum fault_kind kind)
{
	switch (kind) {
	case FAULT_HOST_DOWN:
	case FAULT_HOST_STALL:
	case FAULT_AGENT_DOWN:
	case FAULT_AGENT_FROZEN:
	case FAULT_MANAGEMENT_DOWN:
		return PLACE_HOST;
	case FAULT_TOR_DOWN:
		return PLACE_TOR;
	case FAULT_LINK_DOWN:
	case FAULT_LINK_LOSSY:
	case FAULT_LINK_FLAP:
	case FAULT_FLOWS_BLACKHOLED:
	case FAULT_LATENCY:
		return PLACE_LINK;
	case FAULT_SWITCH_DOWN:
	case FAULT_SWITCH_LOSSY:
		return PLACE_SWITCH;
	default:
		return PLACE_RNIC;
	}
}

static bool
is_at(const struct clos *clos, uint32_t number, enum fault_place place)
{
	const struct clos_part *part = clos_part(clos, number);

	switch (place) {
	case PLACE_RNIC:
		return part->type == CLOS_RNIC;
	case PLACE_HOST:
		return part->type == CLOS_HOST;
	case PLACE_TOR:
		return part->type == CLOS_TOR;
	case PLACE_MIDDLE:
		return part->type == CLOS_MIDDLE;
	case PLACE_CORE:
		return part->type == CLOS_CORE;
	case PLACE_SWITCH:
		return part->type == CLOS_MIDDLE || part->type == CLOS_CORE;
	case PLACE_LINK:
		return part->type == CLOS_LINK &&
		       clos_part(clos, part->from)->type != CLOS_RNIC &&
		       clos_part(clos, part->to)->type != CLOS_RNIC;
	case PLACE_CABLE:
		return part->type == CLOS_LINK &&
		       (clos_part(clos, part->from)->type == CLOS_RNIC ||
			   clos_part(clos, part->to)->type == CLOS_RNIC);
	default:
		return false;
	}
}

/* The types of parts that a kind of fault may have. */
static bool
fits(const struct clos *clos, uint32_t number, enum fault_kind kind)
{
	const enum clos_type type = clos_part(clos, number)->type;
	const bool is_switch =
	    type == CLOS_TOR || type == CLOS_MIDDLE || type == CLOS_CORE;

	switch (kind) {
	case FAULT_FLOWS_BLACKHOLED:
		return type == CLOS_LINK || is_switch;
	case FAULT_LATENCY:
		return type != CLOS_HOST;
	case FAULT_SWITCH_DOWN:
	case FAULT_SWITCH_LOSSY:
		return is_switch;
	case FAULT_LINK_DOWN:
	case FAULT_LINK_LOSSY:
	case FAULT_LINK_FLAP:
		return type == CLOS_LINK;
	default:
		return is_at(clos, number, place_of(kind));
	}
}

/* True: the parts belong to one group: links that leave one switch, or RNICs of one
 * rack. */
static bool
is_beside(const struct clos *clos, uint32_t a, uint32_t b)
{
	const struct clos_part *x = clos_part(clos, a), *y = clos_part(clos, b);

	if (x->type == CLOS_LINK)
		return x->from == y->from;
	return x->type != CLOS_RNIC || x->to == y->to;
}

struct drawing {
	const struct scenario *scenario;
	const struct clos *clos;
	struct dice *dice;
	struct rm_error *error;
	struct fault *faults;
	size_t count, room;
	uint64_t salt; /* selects the unlucky switches; 0: not drawn yet */
};

struct drawing_entry {
	const struct scenario_fault *from;
	enum fault_place place;
	bool together;
	size_t first; /* of its faults */
	double skew;
	/* weights of the unlucky switches; NULL: all switches are equally likely */
	struct unlucky *unlucky;
};

static bool
is_taken(const struct drawing *d, size_t first, uint32_t part)
{
	const uint32_t twin = clos_part(d->clos, part)->type == CLOS_LINK
				  ? clos_part(d->clos, part)->twin
				  : CLOS_NONE;

	for (size_t i = first; i < d->count; i++)
		if (d->faults[i].part == part || d->faults[i].part == twin)
			return true;
	return false;
}

static bool
suits(const struct drawing *d, const struct drawing_entry *e, uint32_t part)
{
	return is_at(d->clos, part, e->place) && fits(d->clos, part, e->from->kind) &&
	       !is_taken(d, e->first, part) &&
	       (!e->together || d->count == e->first ||
		   is_beside(d->clos, d->faults[e->first].part, part));
}

/* If all unlucky parts have a fault already, chooses any other part. */
static int
draw_part(const struct drawing *d, const struct drawing_entry *e, uint32_t *ret)
{
	bool unlucky = e->unlucky != NULL && dice_share(d->dice) < e->skew;

	for (int i = 0; i < 2 * MAX_TRIES; i++) {
		const uint32_t part =
		    (uint32_t)dice_below(d->dice, clos_parts(d->clos));

		unlucky = unlucky && i < MAX_TRIES;
		if ((unlucky && !unlucky_is(e->unlucky, part)) || !suits(d, e, part))
			continue;
		*ret = part;
		return 0;
	}
	return rm_error_set(d->error, -EINVAL,
	    "%s:%d: a %s at a %s: this fabric has not so many", d->scenario->file,
	    e->from->line, scenario_kind_str(e->from->kind),
	    scenario_place_names[e->place]);
}

static int
named_part(const struct drawing *d, const struct scenario_fault *from, uint32_t *ret)
{
	const char *name = from->parts[dice_below(d->dice, from->part_count)];

	*ret = clos_find(d->clos, name);
	if (*ret == CLOS_NONE || !fits(d->clos, *ret, from->kind))
		return rm_error_set(d->error, -EINVAL,
		    "%s:%d: part: %s: this fabric has no such part, or a %s cannot "
		    "befall it",
		    d->scenario->file, from->line, name, scenario_kind_str(from->kind));
	return 0;
}

static enum fault_direction
direction_of(enum fault_kind kind, double drawn)
{
	if (kind == FAULT_RNIC_SEND_DEAD)
		return FAULT_SEND;
	if (kind == FAULT_RNIC_RECEIVE_DEAD)
		return FAULT_RECEIVE;
	return (enum fault_direction)(int)drawn;
}

static struct fault
draw_fault(const struct drawing *d, const struct scenario_fault *from, uint32_t part)
{
	double v[FAULT_OPTIONS];
	struct fault fault = { .kind = from->kind, .part = part };

	for (size_t i = 0; i < FAULT_OPTIONS; i++)
		v[i] = pick(&from->options[i], &scenario_fault_options[i], d->dice);
	fault.direction =
	    direction_of(from->kind, scenario_pick(&from->direction, d->dice));
	fault.loss = v[FAULT_LOSS];
	fault.share = v[FAULT_SHARE];
	fault.dscp = (int)v[FAULT_DSCP];
	fault.min_bytes = (uint32_t)v[FAULT_MIN_BYTES];
	fault.latency_ns = (int64_t)(v[FAULT_LATENCY_US] * 1e3);
	fault.held_ns = (int64_t)(v[FAULT_HELD_MS] * 1e6);
	fault.from_ns = (int64_t)(v[FAULT_FROM_S] * 1e9);
	fault.to_ns = v[FAULT_LASTS_S] == 0
			  ? INT64_MAX
			  : fault.from_ns + (int64_t)(v[FAULT_LASTS_S] * 1e9);
	fault.on_ns = (int64_t)(v[FAULT_ON_MS] * 1e6);
	fault.off_ns = (int64_t)(v[FAULT_OFF_MS] * 1e6);
	fault.kernel = v[FAULT_KERNEL] != 0;
	fault.rerouted_ns =
	    v[FAULT_REROUTED_AFTER_S] == 0
		? INT64_MAX
		: fault.from_ns + (int64_t)(v[FAULT_REROUTED_AFTER_S] * 1e9);
	fault.pair = (int)v[FAULT_PAIR];
	fault.salt = dice_next(d->dice);
	return fault;
}

static double
pick_of(const struct drawing *d, const struct scenario_fault *from,
    enum scenario_fault_option option)
{
	return pick(&from->options[option], &scenario_fault_options[option], d->dice);
}

static int
draw_unlucky(struct drawing *d, struct drawing_entry *e)
{
	const double share = pick_of(d, e->from, FAULT_SKEW_TO);

	e->skew = pick_of(d, e->from, FAULT_SKEW);
	if (e->skew <= 0)
		return 0;
	if (d->salt == 0)
		d->salt = dice_next(d->dice) | 1;
	return unlucky_new(d->clos, share, d->salt, &e->unlucky);
}

static int
add_faults(struct drawing *d, const struct drawing_entry *e, size_t count)
{
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++) {
		uint32_t part = CLOS_NONE;

		if (d->count == d->room) {
			const size_t room = d->room == 0 ? 16 : 2 * d->room;
			struct fault *grown = realloc(d->faults, room * sizeof *grown);

			if (grown == NULL)
				return -ENOMEM;
			d->faults = grown;
			d->room = room;
		}
		r = e->from->part_count > 0 ? named_part(d, e->from, &part)
					    : draw_part(d, e, &part);
		if (r == 0)
			d->faults[d->count++] = draw_fault(d, e->from, part);
	}
	return r;
}

static int
draw_entry(struct drawing *d, const struct scenario_fault *from)
{
	struct drawing_entry e = { .from = from, .first = d->count };
	const size_t count = (size_t)pick_of(d, from, FAULT_COUNT);
	int r;

	e.together = pick_of(d, from, FAULT_TOGETHER) != 0;
	e.place = (enum fault_place)(int)scenario_pick(&from->type, d->dice);
	if (e.place == PLACE_BY_KIND)
		e.place = place_of(from->kind);
	r = draw_unlucky(d, &e);
	if (r == 0)
		r = add_faults(d, &e, count);
	unlucky_free(e.unlucky);
	return r;
}

int
scenario_faults(const struct scenario *scenario, const struct clos *clos,
    struct dice *dice, struct fault **ret, size_t *count, struct rm_error *error)
{
	struct drawing d = {
		.scenario = scenario, .clos = clos, .dice = dice, .error = error
	};
	int r = 0;

	for (size_t i = 0; i < scenario->fault_count && r == 0; i++)
		r = draw_entry(&d, &scenario->faults[i]);
	if (r < 0) {
		free(d.faults);
		return r;
	}
	*ret = d.faults;
	*count = d.count;
	return 0;
}
