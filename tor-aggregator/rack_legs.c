#include "tor-aggregator/rack_legs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/fabric/crossings.h"
#include "tor-aggregator/rack_judge.h"
#include "tor-aggregator/window.h"

/*
 * ln of how likely each is at fault, before anything is seen. RNICs, cables and ports
 * fail most often; a foreigner costs least to blame because nothing follows from it. A
 * ToR is dearer than one RNIC, so that a rack of two is not its fault, and
 * cheaper than two.
 */
#define PRIOR_RNIC (-10.0)
#define PRIOR_TOR (-14.0)
#define PRIOR_UPLINKS (-12.0)
#define PRIOR_FOREIGNER (-9.0)
#define PRIOR_NAMED (-2.0) /* of an RNIC that is known to be dead already */

/* Packets of a pair that the bins' edges may have moved from one leg to the other. */
#define SLACK_PACKETS 2
#define SLACK_SHARE 0.15

/* What fails beyond this share of a pair's probes bears witness against the sender. */
#define SEND_FAILED_SHARE 0.3

#define OBSERVATIONS_PER_PAIR 4

static uint32_t
element_send(size_t member)
{
	return (uint32_t)(2 * member);
}

static uint32_t
element_receive(size_t member)
{
	return (uint32_t)(2 * member + 1);
}

static uint32_t
element_tor(const struct rack_legs *legs)
{
	return (uint32_t)(2 * legs->members);
}

static uint32_t
element_uplinks(const struct rack_legs *legs)
{
	return (uint32_t)(2 * legs->members + 1);
}

static uint32_t
element_foreigner(const struct rack_legs *legs, size_t foreigner)
{
	return (uint32_t)(2 * legs->members + 2 + foreigner);
}

bool
rack_legs_is_member(
    const struct rack_legs *legs, size_t candidate, size_t *member, enum rack_way *way)
{
	if (candidate >= RACK_WAYS * legs->members)
		return false;
	*member = candidate / RACK_WAYS;
	*way = (enum rack_way)(candidate % RACK_WAYS);
	return true;
}

bool
rack_legs_is_tor(const struct rack_legs *legs, size_t candidate)
{
	return candidate == RACK_WAYS * legs->members;
}

double
rack_legs_prior_of_tor(const struct rack_legs *legs)
{
	return legs->candidates[RACK_WAYS * legs->members].log_prior;
}

bool
rack_legs_is_uplinks(const struct rack_legs *legs, size_t candidate)
{
	return candidate == RACK_WAYS * legs->members + 1;
}

bool
rack_legs_is_foreigner(
    const struct rack_legs *legs, size_t candidate, size_t *foreigner)
{
	if (candidate < RACK_WAYS * legs->members + 2)
		return false;
	*foreigner =
	    legs->candidates[candidate].elements[0] - element_foreigner(legs, 0);
	return true;
}

void
rack_legs_release(struct rack_legs *legs)
{
	free(legs->pairs);
	free(legs->observations);
	free(legs->candidates);
	free(legs->foreign_seen);
	*legs = (struct rack_legs){ 0 };
}

static bool
is_witness(const struct rack *rack, size_t member)
{
	return rack->hosts[rack->members[member].host_index].state == HOST_OK;
}

static uint32_t
clamp(double x, uint32_t low, uint32_t high)
{
	if (!(x > low))
		return low;
	return x < high ? (uint32_t)lround(x) : high;
}

/* False: not of this rack, or one of its ends is no witness. */
static bool
read_pair(
    const struct rack *rack, const struct window_pair *from, struct rack_pair *ret)
{
	const uint32_t *outcomes = from->outcomes;
	struct rack_pair pair = {
		.src = from->src,
		.foreign = from->dst >= WINDOW_FOREIGN_BASE,
		.reflector = from->kind == WIRE_TOR_REFLECTOR,
		.answered = outcomes[WIRE_OK] + outcomes[WIRE_LATE_REPLY] +
			    outcomes[WIRE_INVALID],
		.newest_sent = from->newest_sent,
		.newest_lost = from->newest_lost,
		.send_failed = outcomes[WIRE_SEND_FAILED],
	};

	pair.dst = pair.foreign ? from->dst - WINDOW_FOREIGN_BASE : from->dst;
	if (from->src >= rack->member_count || from->src == from->dst ||
	    !is_witness(rack, pair.src))
		return false;
	if (pair.foreign
		? pair.dst >= rack->foreigner_count
		: pair.dst >= rack->member_count || !is_witness(rack, pair.dst))
		return false;
	pair.sent = pair.answered + outcomes[WIRE_NO_REPLY];
	pair.counted = from->counted && !pair.foreign;
	pair.arrived = clamp(from->arrived, pair.answered, pair.sent);
	if (pair.sent + pair.send_failed == 0)
		return false;
	*ret = pair;
	return true;
}

static void
observe(struct rack_legs *legs, uint32_t sent, uint32_t lost, const uint32_t *elements,
    uint32_t count)
{
	struct rm_observation *o;

	if (sent == 0)
		return;
	o = &legs->observations[legs->observation_count++];
	*o = (struct rm_observation){
		.sent = sent, .lost = lost, .element_count = count
	};
	memcpy(o->elements, elements, count * sizeof *elements);
}

static void
observe_mesh(struct rack_legs *legs, const struct rack_pair *pair, uint32_t slack)
{
	const uint32_t out[] = { element_send(pair->src), element_tor(legs),
		element_receive(pair->dst) };
	const uint32_t back[] = { element_send(pair->dst), element_tor(legs),
		element_receive(pair->src) };
	const uint32_t round_trip[] = { out[0], out[1], out[2], back[0], back[2] };
	const uint32_t lost = pair->sent - pair->answered;
	uint32_t lost_out = 0, lost_back = 0, kept_out = pair->answered;

	if (pair->counted) {
		const uint32_t missing_out = pair->sent - pair->arrived;
		const uint32_t missing_back = lost - missing_out;

		lost_out = missing_out > slack ? missing_out - slack : 0;
		lost_back = missing_back > slack ? missing_back - slack : 0;
		if (pair->arrived > slack && pair->arrived - slack > kept_out)
			kept_out = pair->arrived - slack;
	}
	observe(legs, kept_out + lost_out, lost_out, out, 3);
	observe(legs, pair->answered + lost_back, lost_back, back, 3);
	observe(legs, lost - lost_out - lost_back, lost - lost_out - lost_back,
	    round_trip, 5);
}

static void
observe_foreign(struct rack_legs *legs, const struct rack_pair *pair)
{
	const uint32_t elements[] = { element_send(pair->src),
		element_receive(pair->src), element_tor(legs),
		element_foreigner(legs, pair->dst), element_uplinks(legs) };
	const uint32_t lost = pair->sent - pair->answered;

	observe(legs, pair->sent, lost, elements, pair->reflector ? 4 : 5);
	if (lost == 0 || legs->foreign_seen[pair->dst])
		return;
	legs->foreign_seen[pair->dst] = 1;
	legs->candidates[legs->candidate_count++] = (struct rm_candidate){
		.elements = { element_foreigner(legs, pair->dst) },
		.element_count = 1,
		.log_prior = PRIOR_FOREIGNER,
	};
}

static uint32_t
slack_of(const struct window_pair *pair, uint32_t sent)
{
	const uint32_t share = (uint32_t)(SLACK_SHARE * sent);

	/* Counted by the receiver, maybe, but not among those we call sent. */
	return (share > SLACK_PACKETS ? share : SLACK_PACKETS) +
	       pair->outcomes[WIRE_SENT_LATE] + pair->outcomes[WIRE_SELF_LOSS] +
	       pair->outcomes[WIRE_STALE_QPN];
}

static void
list_candidates(struct rack_legs *legs)
{
	struct rm_candidate *c = legs->candidates;

	for (size_t i = 0; i < legs->members; i++) {
		*c++ = (struct rm_candidate){ { element_send(i), element_receive(i) },
			2, PRIOR_RNIC };
		*c++ = (struct rm_candidate){ { element_send(i) }, 1, PRIOR_RNIC };
		*c++ = (struct rm_candidate){ { element_receive(i) }, 1, PRIOR_RNIC };
	}
	*c++ = (struct rm_candidate){ { element_tor(legs) }, 1, PRIOR_TOR };
	*c++ = (struct rm_candidate){ { element_uplinks(legs) }, 1, PRIOR_UPLINKS };
	legs->candidate_count = (size_t)(c - legs->candidates);
}

static int
reserve_all(struct rack_legs *legs, const struct rack *rack, size_t pairs)
{
	if (rm_scratch(&legs->pairs, &legs->pair_size, pairs + 1, sizeof *legs->pairs) <
		0 ||
	    rm_scratch(&legs->observations, &legs->observation_size,
		OBSERVATIONS_PER_PAIR * pairs + 1, sizeof *legs->observations) < 0 ||
	    rm_scratch(&legs->candidates, &legs->candidate_size,
		RACK_WAYS * rack->member_count + 2 + rack->foreigner_count,
		sizeof *legs->candidates) < 0 ||
	    rm_scratch(&legs->foreign_seen, &legs->foreign_size,
		rack->foreigner_count + 1, 1) < 0)
		return -ENOMEM;
	return 0;
}

/* What a member could not even send, if that is much of what it tried. */
static void
observe_send_failures(struct rack_legs *legs, const struct rack_pair *pair)
{
	const uint32_t element = element_send(pair->src);
	const uint32_t failed = pair->send_failed;

	if (failed > SEND_FAILED_SHARE * (failed + pair->sent))
		observe(legs, failed, failed, &element, 1);
}

int
rack_legs_build(
    struct rack_legs *legs, const struct rack *rack, const struct window_closed *window)
{
	if (reserve_all(legs, rack, window->pair_count) < 0)
		return -ENOMEM;
	legs->members = rack->member_count;
	legs->elements = 2 * rack->member_count + 2 + rack->foreigner_count;
	legs->pair_count = 0;
	legs->observation_count = 0;
	memset(legs->foreign_seen, 0, rack->foreigner_count + 1);
	list_candidates(legs);
	for (size_t i = 0; i < window->pair_count; i++) {
		struct rack_pair *pair = &legs->pairs[legs->pair_count];

		if (!read_pair(rack, &window->pairs[i], pair))
			continue;
		legs->pair_count++;
		if (pair->foreign)
			observe_foreign(legs, pair);
		else
			observe_mesh(
			    legs, pair, slack_of(&window->pairs[i], pair->sent));
		observe_send_failures(legs, pair);
	}
	return 0;
}

void
rack_legs_expect(struct rack_legs *legs, size_t member)
{
	for (size_t way = 0; way < RACK_WAYS; way++)
		legs->candidates[RACK_WAYS * member + way].log_prior = PRIOR_NAMED;
}
