/* The faults of each part, and when paths move. */
#include <errno.h>
#include <stdlib.h>

#include "tests/sim/fate_state.h"

/* ---- lists of faults by part --------------------------------------------------- */

static void
put(struct fate *fate, uint32_t part, uint32_t fault, bool place)
{
	if (place)
		fate->at[fate->first[part]++] = fault;
	else
		fate->first[part]++;
}

static void
put_link(struct fate *fate, uint32_t number, bool place)
{
	const struct fault *fault = &fate->faults[number];
	const uint32_t twin = clos_part(fate->clos, fault->part)->twin;

	if (fault->direction != FAULT_RECEIVE)
		put(fate, fault->part, number, place);
	if (fault->direction == FAULT_BOTH || fault->direction == FAULT_RECEIVE)
		put(fate, twin, number, place);
}

static void
put_fault(struct fate *fate, uint32_t number, bool place)
{
	const struct fault *fault = &fate->faults[number];

	switch (fault->kind) {
	case FAULT_HOST_DOWN:
		for (uint32_t i = 0; i < clos_rnics(fate->clos); i++)
			if (clos_part(fate->clos, i)->from == fault->part)
				put(fate, i, number, place);
		return;
	case FAULT_HOST_STALL:
	case FAULT_AGENT_DOWN:
	case FAULT_AGENT_FROZEN:
	case FAULT_MANAGEMENT_DOWN:
		return;
	default:
		if (clos_part(fate->clos, fault->part)->type == CLOS_LINK)
			put_link(fate, number, place);
		else
			put(fate, fault->part, number, place);
	}
}

/* Counts the faults of each part, then computes where each list begins, then fills the
 * lists. */
int
fate_index(struct fate *fate, size_t count)
{
	const uint32_t parts = clos_parts(fate->clos);
	uint32_t total = 0;

	fate->first = calloc(parts + 1, sizeof *fate->first);
	if (fate->first == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		put_fault(fate, i, false);
	for (uint32_t p = 0; p <= parts; p++) {
		const uint32_t own = p < parts ? fate->first[p] : 0;

		fate->first[p] = total;
		total += own;
	}
	fate->at = calloc(total + 1, sizeof *fate->at);
	if (fate->at == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		put_fault(fate, i, true);
	for (uint32_t p = parts; p > 0; p--)
		fate->first[p] = fate->first[p - 1];
	fate->first[0] = 0;
	return 0;
}

/* ---- paths that move ------------------------------------------------------------- */

static bool
is_between_switches(const struct clos *clos, uint32_t part)
{
	const struct clos_part *p = clos_part(clos, part);

	return p->type == CLOS_LINK && clos_part(clos, p->from)->type != CLOS_RNIC &&
	       clos_part(clos, p->to)->type != CLOS_RNIC;
}

static void
add_move(struct fate *fate, uint32_t link, int64_t from_ns, int64_t to_ns)
{
	if (fate->move_count < FATE_MAX_MOVES && is_between_switches(fate->clos, link))
		fate->moves[fate->move_count++] =
		    (struct fate_move){ link, from_ns, to_ns };
}

static void
plan_reroutes(struct fate *fate, const struct fault *fault)
{
	const struct clos *clos = fate->clos;

	if (fault->rerouted_ns == INT64_MAX)
		return;
	if (clos_part(clos, fault->part)->type == CLOS_LINK) {
		add_move(fate, fault->part, fault->rerouted_ns, fault->to_ns);
	} else if (clos_part(clos, fault->part)->type != CLOS_RNIC &&
		   clos_part(clos, fault->part)->type != CLOS_HOST) {
		const uint32_t *links;
		const uint32_t n = clos_leaving(clos, fault->part, &links);

		for (uint32_t i = 0; i < n; i++)
			add_move(fate, links[i], fault->rerouted_ns, fault->to_ns);
	}
}

void
fate_plan_moves(struct fate *fate, size_t faults, const struct scenario_draw *draw)
{
	const double per_hour = draw->noise[NOISE_PATH_MOVES_PER_HOUR];
	double at = 0;

	for (size_t i = 0; i < faults; i++)
		plan_reroutes(fate, &fate->faults[i]);
	while (per_hour > 0 && fate->move_count < FATE_MAX_MOVES) {
		uint32_t link = 0;

		at += dice_exponential(&fate->dice, 3600 / per_hour);
		if (at >= draw->seconds)
			return;
		for (int i = 0; i < 1000 && !is_between_switches(fate->clos, link); i++)
			link =
			    (uint32_t)dice_below(&fate->dice, clos_parts(fate->clos));
		add_move(fate, link, (int64_t)(at * 1e9),
		    (int64_t)((at + draw->noise[NOISE_PATH_MOVE_S]) * 1e9));
	}
}

/* ---- noise in the form of faults ------------------------------------------------- */

int
fate_add_bursts(const struct scenario *scenario, const struct scenario_draw *draw,
    const struct clos *clos, struct dice *dice, struct fault **faults, size_t *count)
{
	const double per_hour = draw->noise[NOISE_BURSTS_PER_HOUR];
	const uint32_t first = clos_first(clos, CLOS_LINK);
	double at = 0;

	if (per_hour <= 0)
		return 0;
	for (;;) {
		struct fault *grown;

		at += dice_exponential(dice, 3600 / per_hour);
		if (at >= draw->seconds)
			return 0;
		grown = realloc(*faults, (*count + 1) * sizeof **faults);
		if (grown == NULL)
			return -ENOMEM;
		*faults = grown;
		grown[*count] = (struct fault){ .kind = FAULT_BURST,
			.part = first + (uint32_t)dice_below(dice, clos_links(clos)),
			.direction = FAULT_ONE,
			.loss = draw->noise[NOISE_BURST_LOSS],
			.dscp = -1,
			.from_ns = (int64_t)(at * 1e9),
			.rerouted_ns = INT64_MAX };
		grown[*count].to_ns =
		    grown[*count].from_ns +
		    (int64_t)(1e6 *
			      scenario_pick(&scenario->noise[NOISE_BURST_MS], dice));
		(*count)++;
	}
}
