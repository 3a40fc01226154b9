#include "tests/sim/fate_state.h"

#include <errno.h>
#include <stdlib.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

/* share of the median by which RTTs vary, upward and downward */
#define RTT_SPREAD 0.25

bool
fault_is_active(const struct fault *fault, int64_t now_ns)
{
	if (now_ns < fault->from_ns || now_ns >= fault->to_ns)
		return false;
	return fault->on_ns == 0 ||
	       (now_ns - fault->from_ns) % (fault->on_ns + fault->off_ns) <
		   fault->on_ns;
}

void
fate_advance(struct fate *fate, int64_t now_ns)
{
	for (size_t i = 0; i < fate->move_count; i++) {
		const struct fate_move *move = &fate->moves[i];
		const bool was = fate->advanced_ns >= move->from_ns &&
				 fate->advanced_ns < move->to_ns;
		const bool is = now_ns >= move->from_ns && now_ns < move->to_ns;

		if (was == is)
			continue;
		clos_withdraw(fate->clos, move->link, is);
		fate->epoch++;
	}
	fate->advanced_ns = now_ns;
}

uint32_t
fate_epoch(const struct fate *fate)
{
	return fate->epoch;
}

/* ---- life ------------------------------------------------------------------------ */

int
fate_new(struct clos *clos, const struct fault *faults, size_t count,
    const struct scenario_draw *draw, uint64_t seed, struct fate **ret)
{
	struct fate *fate = calloc(1, sizeof *fate);

	if (fate == NULL)
		return -ENOMEM;
	fate->clos = clos;
	fate->faults = faults;
	fate->dice = dice_of(seed, 1);
	fate->dice_apart = dice_of(seed, 3);
	fate->salt = dice_next(&fate->dice);
	fate->advanced_ns = -1;
	fate->epoch = 1;
	fate->loss = draw->noise[NOISE_LOSS];
	fate->rtt_ns = draw->noise[NOISE_RTT_US] * 1e3;
	fate->tail = draw->noise[NOISE_RTT_TAIL];
	fate->tail_ns = draw->noise[NOISE_RTT_TAIL_US] * 1e3;
	fate->spray = draw->noise[NOISE_SPRAY];
	if (fate_index(fate, count) < 0) {
		fate_free(fate);
		return -ENOMEM;
	}
	fate_plan_moves(fate, count, draw);
	*ret = fate;
	return 0;
}

void
fate_free(struct fate *fate)
{
	if (fate == NULL)
		return;
	free(fate->first);
	free(fate->at);
	free(fate);
}

/* ---- paths ----------------------------------------------------------------------- */

static uint64_t
flow_hash(const struct fate *fate, const struct fate_packet *p, bool back)
{
	const uint64_t ends =
	    back ? (uint64_t)p->dst << 32 | p->src : (uint64_t)p->src << 32 | p->dst;

	return dice_mix(fate->salt + dice_mix(ends) + 2 * p->port + back);
}

static bool
is_touched(const struct fate *fate, uint32_t part)
{
	return fate->first[part] != fate->first[part + 1];
}

static bool
leg_is_touched(const struct fate *fate, const uint32_t *links, uint8_t count)
{
	bool touched = false;

	for (uint8_t i = 0; i < count; i++)
		touched |= is_touched(fate, links[i]) ||
			   is_touched(fate, clos_part(fate->clos, links[i])->from) ||
			   is_touched(fate, clos_part(fate->clos, links[i])->to);
	return touched;
}

void
fate_path(
    const struct fate *fate, const struct fate_packet *flow, struct fate_path *ret)
{
	const uint64_t hash = flow_hash(fate, flow, false);
	const uint64_t back =
	    clos_is_symmetric(fate->clos) ? hash : flow_hash(fate, flow, true);

	ret->out_count =
	    (uint8_t)clos_route(fate->clos, flow->src, flow->dst, hash, ret->out);
	ret->back_count =
	    (uint8_t)clos_route(fate->clos, flow->dst, flow->src, back, ret->back);
	ret->touched = leg_is_touched(fate, ret->out, ret->out_count) ||
		       leg_is_touched(fate, ret->back, ret->back_count);
	ret->sprayed = fate->spray > 0 && ret->out_count > 2 &&
		       (double)(dice_mix(hash + 77) >> 11) * 0x1p-53 < fate->spray;
}

/* ---- packets --------------------------------------------------------------------- */

/* leaving: the RNIC sends the packet; otherwise it receives it. */
static bool
concerns(const struct fault *fault, const struct fate_packet *packet, bool leaving)
{
	const enum fault_direction direction = fault->direction == FAULT_ONE
						   ? FAULT_SEND + fault->salt % 2
						   : fault->direction;

	if (fault->dscp >= 0 && packet->dscp != fault->dscp)
		return false;
	if (packet->bytes < fault->min_bytes)
		return false;
	return direction == FAULT_BOTH ||
	       direction == (leaving ? FAULT_SEND : FAULT_RECEIVE);
}

static bool
swallows(struct fate *fate, const struct fault *fault, const struct fate_packet *packet,
    bool back)
{
	switch (fault->kind) {
	case FAULT_RNIC_LOSSY:
	case FAULT_LINK_LOSSY:
	case FAULT_SWITCH_LOSSY:
	case FAULT_BURST:
		return dice_share(&fate->dice) < fault->loss;
	case FAULT_RNIC_MTU:
		return packet->bytes > WIRE_ROCE_SMALL_BYTES;
	case FAULT_FLOWS_BLACKHOLED:
		return (double)(dice_mix(flow_hash(fate, packet, back) ^ fault->salt) >>
				11) *
			   0x1p-53 <
		       fault->share;
	case FAULT_LATENCY:
		return false;
	default:
		return true;
	}
}

/* True: some path from one rack to the other crosses the switch. */
static bool
is_between(const struct clos *clos, uint32_t node, uint32_t a, uint32_t b)
{
	const struct clos_part *p = clos_part(clos, node);
	const uint32_t from = clos_part(clos, a)->pod, to = clos_part(clos, b)->pod;

	return p->type == CLOS_TOR    ? node == a || node == b
	       : p->type == CLOS_CORE ? from != to
				      : p->pod == from || p->pod == to;
}

/* most draws of two racks, until a path between them crosses the switch */
#define MAX_DRAWS 256

/* True: the packet goes from the first to the second of the two racks that the salt
 * selects. */
static bool
is_of_pair(const struct fate *fate, const struct fault *fault,
    const struct fate_packet *packet, bool back)
{
	const uint32_t first = clos_first(fate->clos, CLOS_TOR),
		       racks = clos_first(fate->clos, CLOS_MIDDLE) - first;
	const uint32_t src = clos_part(fate->clos, packet->src)->to,
		       dst = clos_part(fate->clos, packet->dst)->to;
	uint64_t salt = fault->salt;
	uint32_t a, b;

	for (uint32_t i = 0; i < MAX_DRAWS; i++, salt = dice_mix(salt)) {
		a = (uint32_t)(salt % racks);
		b = first + (a + 1 + (uint32_t)((salt >> 32) % (racks - 1))) % racks;
		a += first;
		if (is_between(fate->clos, fault->part, a, b))
			break;
	}
	if ((back ? dst : src) == a && (back ? src : dst) == b)
		return true;
	return fault->pair == 2 && (back ? src : dst) == a && (back ? dst : src) == b;
}

/* Whether the packet waits at the dead part until the fault ends or pauses. */
static bool
is_held(const struct fault *fault, int64_t now_ns, int64_t *slow_ns)
{
	int64_t end_ns = fault->to_ns;

	if (fault->on_ns > 0) {
		const int64_t turn_ns = fault->on_ns + fault->off_ns;
		const int64_t turns = (now_ns - fault->from_ns) / turn_ns;
		const int64_t pause_ns =
		    fault->from_ns + turns * turn_ns + fault->on_ns;

		end_ns = pause_ns < end_ns ? pause_ns : end_ns;
	}
	if (end_ns == INT64_MAX || now_ns + fault->held_ns < end_ns)
		return false;
	if (*slow_ns < end_ns - now_ns)
		*slow_ns = end_ns - now_ns;
	return true;
}

/* Decides what happens to the packet at one part of the path. */
static bool
is_lost_at(struct fate *fate, uint32_t part, const struct fate_packet *packet,
    bool back, bool leaving, int64_t now_ns, int64_t *slow_ns)
{
	const bool is_rnic = part < clos_rnics(fate->clos);

	for (uint32_t i = fate->first[part]; i < fate->first[part + 1]; i++) {
		const struct fault *fault = &fate->faults[fate->at[i]];

		if (!fault_is_active(fault, now_ns))
			continue;
		if (is_rnic ? !concerns(fault, packet, leaving)
			    : (fault->dscp >= 0 && packet->dscp != fault->dscp) ||
				  packet->bytes < fault->min_bytes)
			continue;
		if (fault->pair > 0 && !is_of_pair(fate, fault, packet, back))
			continue;
		if (fault->kind == FAULT_LATENCY)
			*slow_ns += fault->latency_ns;
		else if (swallows(fate, fault, packet, back) &&
			 !is_held(fault, now_ns, slow_ns))
			return true;
	}
	return false;
}

static bool
is_lost_on(struct fate *fate, const uint32_t *links, uint8_t count,
    const struct fate_packet *packet, bool back, int64_t now_ns, int64_t *slow_ns)
{
	for (uint8_t i = 0; i < count; i++) {
		const struct clos_part *link = clos_part(fate->clos, links[i]);

		if (is_lost_at(fate, link->from, packet, back, true, now_ns, slow_ns) ||
		    is_lost_at(fate, links[i], packet, back, true, now_ns, slow_ns))
			return true;
	}
	return is_lost_at(fate, clos_part(fate->clos, links[count - 1])->to, packet,
	    back, false, now_ns, slow_ns);
}

static void
spray(struct fate *fate, const struct fate_packet *packet, struct fate_path *path)
{
	path->out_count = (uint8_t)clos_route(
	    fate->clos, packet->src, packet->dst, dice_next(&fate->dice), path->out);
	path->back_count = (uint8_t)clos_route(
	    fate->clos, packet->dst, packet->src, dice_next(&fate->dice), path->back);
	path->touched = leg_is_touched(fate, path->out, path->out_count) ||
			leg_is_touched(fate, path->back, path->back_count);
}

static int64_t
draw_rtt(struct fate *fate, uint8_t hops)
{
	const uint64_t bits = dice_next(&fate->dice);
	double rtt = fate->rtt_ns * (hops / 2) *
		     (1 - RTT_SPREAD + 2 * RTT_SPREAD * (double)(bits >> 40) * 0x1p-24);

	if ((double)(bits & 0xffffff) * 0x1p-24 < fate->tail)
		rtt += dice_exponential(&fate->dice, fate->tail_ns);
	return (int64_t)rtt;
}

enum fate_end
fate_round_trip(struct fate *fate, const struct fate_path *path,
    const struct fate_packet *packet, int64_t now_ns, int64_t *rtt_ns, int64_t *late_ns)
{
	struct fate_path sprayed;
	int64_t slow_ns = 0;
	double share;

	if (path->sprayed) {
		spray(fate, packet, &sprayed);
		sprayed.sprayed = true;
		path = &sprayed;
	}
	if (path->out_count == 0 || path->back_count == 0)
		return FATE_LOST_FORWARD;
	if (path->touched && is_lost_on(fate, path->out, path->out_count, packet, false,
				 now_ns, &slow_ns))
		return FATE_LOST_FORWARD;
	*late_ns = slow_ns;
	if (path->touched && is_lost_on(fate, path->back, path->back_count, packet,
				 true, now_ns, &slow_ns))
		return FATE_LOST_REVERSE;
	share = fate->loss > 0 ? dice_share(&fate->dice) : 1;
	if (share < fate->loss)
		return FATE_LOST_FORWARD;
	if (share < 2 * fate->loss)
		return FATE_LOST_REVERSE;
	*rtt_ns = draw_rtt(fate, path->out_count) + slow_ns;
	return FATE_ANSWERED;
}

bool
fate_hop_answers(struct fate *fate, const struct fate_path *path, size_t i,
    const struct fate_packet *packet, int64_t now_ns)
{
	int64_t slow_ns = 0;

	return !is_lost_on(
	    fate, path->out, (uint8_t)(i + 1), packet, false, now_ns, &slow_ns);
}

bool
fate_hop_answers_apart(struct fate *fate, const struct fate_path *path, size_t i,
    const struct fate_packet *packet, int64_t now_ns)
{
	const struct dice dice = fate->dice;
	bool answers;

	fate->dice = fate->dice_apart;
	answers = fate_hop_answers(fate, path, i, packet, now_ns);
	fate->dice_apart = fate->dice;
	fate->dice = dice;
	return answers;
}

bool
fate_port_is_down(const struct fate *fate, uint32_t rnic, int64_t now_ns)
{
	for (uint32_t i = fate->first[rnic]; i < fate->first[rnic + 1]; i++) {
		const struct fault *fault = &fate->faults[fate->at[i]];

		if (fault->kind == FAULT_RNIC_PORT_DOWN &&
		    fault_is_active(fault, now_ns))
			return true;
	}
	return false;
}
