#include "tor-aggregator/suspect/rack_legs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/judge/crossings.h"
#include "tor-aggregator/suspect/rack_pair.h"
#include "tor-aggregator/window/rack_view.h"
#include "tor-aggregator/window/window.h"

/*
 * The ln of the prior probability of a fault. RNICs, cables and ports fail most often;
 * blaming a remote RNIC costs least, because it has no consequences. A ToR costs more
 * than one RNIC, so that it is not blamed in a rack of two, and less than two RNICs.
 */
#define PRIOR_RNIC (-10.0)
#define PRIOR_TOR (-14.0)
#define PRIOR_UPLINKS (-12.0)
#define PRIOR_REMOTE (-9.0)
#define PRIOR_NAMED (-2.0)     /* the same for an RNIC that has a verdict */
#define PRIOR_STALL PRIOR_RNIC /* a stalled host loses packets */

/* If more than this share of a pair's probes could not be sent, the sender is at
 * fault. */
#define SEND_FAILED_SHARE 0.3

/* The sizes of probes to a remote RNIC of which some were lost. */
enum { LISTED_SMALL = 1, LISTED_LARGE };
/* of a large packet: three elements as of any packet, and three MTUs */
#define LEG_ELEMENTS 6
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
element_remote(const struct rack_legs *legs, size_t remote)
{
	return (uint32_t)(2 * legs->members + 2 + remote);
}

/* Returns the element for the MTU of a remote RNIC, which only large packets cross. */
static uint32_t
element_large_remote(const struct rack_legs *legs, size_t remote)
{
	return element_remote(legs, legs->remotes + remote);
}

static uint32_t
element_large_send(const struct rack_legs *legs, size_t member)
{
	return element_large_remote(legs, legs->remotes) + (uint32_t)(2 * member);
}

static uint32_t
element_large_receive(const struct rack_legs *legs, size_t member)
{
	return element_large_send(legs, member) + 1;
}

static uint32_t
element_large_tor(const struct rack_legs *legs)
{
	return element_large_send(legs, legs->members);
}

static uint32_t
element_stall(const struct rack_legs *legs, size_t member)
{
	return element_large_tor(legs) + 1 + (uint32_t)member;
}

static bool
is_mtu(const struct rack_legs *legs, size_t candidate)
{
	const uint32_t element = legs->candidates[candidate].elements[0];

	return element >= element_large_send(legs, 0) &&
	       element < element_large_tor(legs);
}

bool
rack_legs_is_member(const struct rack_legs *legs, size_t candidate, size_t *member,
    enum rack_direction *direction)
{
	const struct rm_candidate *c = &legs->candidates[candidate];
	size_t element = c->elements[0];

	if (is_mtu(legs, candidate))
		element -= element_large_send(legs, 0);
	else if (candidate >= RACK_DIRECTIONS * legs->members)
		return false;
	*member = element / 2;
	*direction = c->element_count == 2 ? RACK_BOTH_DIRECTIONS
		     : element % 2 == 0    ? RACK_SEND
					   : RACK_RECEIVE;
	return true;
}

bool
rack_legs_is_tor(const struct rack_legs *legs, size_t candidate)
{
	return candidate == RACK_DIRECTIONS * legs->members;
}

double
rack_legs_prior_of_tor(const struct rack_legs *legs)
{
	return legs->candidates[RACK_DIRECTIONS * legs->members].log_prior;
}

bool
rack_legs_is_uplinks(const struct rack_legs *legs, size_t candidate)
{
	return candidate == RACK_DIRECTIONS * legs->members + 1;
}

bool
rack_legs_is_remote(const struct rack_legs *legs, size_t candidate, size_t *remote)
{
	const uint32_t element = legs->candidates[candidate].elements[0];

	if (element < element_remote(legs, 0) || element >= element_large_send(legs, 0))
		return false;
	*remote = (element - element_remote(legs, 0)) % legs->remotes;
	return true;
}

void
rack_legs_release(struct rack_legs *legs)
{
	free(legs->pairs);
	free(legs->observations);
	free(legs->candidates);
	free(legs->remote_listed);
	free(legs->large_listed);
	free(legs->stalls);
	*legs = (struct rack_legs){ 0 };
}

static void
observe(struct rack_legs *legs, uint32_t sent, uint32_t lost, const uint32_t *elements,
    uint32_t count, bool round_trip)
{
	struct rm_observation *o;

	if (sent == 0)
		return;
	o = &legs->observations[legs->observation_count++];
	*o = (struct rm_observation){ .sent = sent,
		.lost = lost,
		.element_count = count,
		.round_trip = round_trip };
	memcpy(o->elements, elements, count * sizeof *elements);
}

/* Writes the elements of one leg, in a fixed order, and returns their number. */
static uint32_t
leg_of(const struct rack_legs *legs, size_t from, size_t to, bool large,
    uint32_t elements[LEG_ELEMENTS])
{
	const uint32_t all[LEG_ELEMENTS] = { element_tor(legs), element_send(from),
		element_receive(to), element_large_tor(legs),
		element_large_send(legs, from), element_large_receive(legs, to) };

	memcpy(elements, all, sizeof all);
	return large ? LEG_ELEMENTS : LEG_ELEMENTS / 2;
}

static void
observe_mesh(struct rack_legs *legs, const struct rack_pair *pair, uint32_t slack)
{
	uint32_t legs_of[2 * LEG_ELEMENTS]; /* out and back */
	const uint32_t count = leg_of(legs, pair->src, pair->dst, pair->large, legs_of);
	const uint32_t *back = legs_of + count;
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
	leg_of(legs, pair->dst, pair->src, pair->large, legs_of + count);
	observe(legs, kept_out + lost_out, lost_out, legs_of, count, false);
	observe(legs, pair->answered + lost_back, lost_back, back, count, false);
	observe(legs, lost - lost_out - lost_back, lost - lost_out - lost_back, legs_of,
	    2 * count, true);
}

static void
add_candidate(struct rack_legs *legs, uint32_t element, uint32_t other, double prior)
{
	legs->candidates[legs->candidate_count++] = (struct rm_candidate){
		.elements = { element, other },
		.element_count = element == other ? 1 : 2,
		.log_prior = prior,
	};
}

/* Makes the MTU of a member a candidate, and that of the ToR. */
static void
suspect_mtu(struct rack_legs *legs, size_t member)
{
	const uint32_t send = element_large_send(legs, member);
	const uint32_t receive = element_large_receive(legs, member);

	if (legs->large_listed[legs->members] == 0) {
		legs->large_listed[legs->members] = 1;
		add_candidate(
		    legs, element_large_tor(legs), element_large_tor(legs), PRIOR_TOR);
	}
	if (legs->large_listed[member])
		return;
	legs->large_listed[member] = 1;
	add_candidate(legs, send, receive, PRIOR_RNIC);
	add_candidate(legs, send, send, PRIOR_RNIC);
	add_candidate(legs, receive, receive, PRIOR_RNIC);
}

static void
suspect_mtus(struct rack_legs *legs, const struct rack_pair *pair)
{
	if (!pair->large || pair->answered == pair->sent + pair->send_failed)
		return;
	suspect_mtu(legs, pair->src);
	if (!pair->remote)
		suspect_mtu(legs, pair->dst);
}

/* Makes a remote RNIC to which probes are lost a candidate; if large probes to it are
 * lost, its MTU becomes one, too. */
static void
suspect_remote(struct rack_legs *legs, size_t remote, bool large)
{
	const uint32_t any = element_remote(legs, remote);
	const uint32_t mtu = element_large_remote(legs, remote);
	uint8_t *listed = &legs->remote_listed[remote];

	if (*listed == 0)
		add_candidate(legs, any, any, PRIOR_REMOTE);
	if (large && *listed < LISTED_LARGE)
		add_candidate(legs, mtu, mtu, PRIOR_REMOTE);
	*listed = large || *listed == LISTED_LARGE ? LISTED_LARGE : LISTED_SMALL;
}

static void
observe_remote(struct rack_legs *legs, const struct rack_pair *pair)
{
	uint32_t elements[2 * LEG_ELEMENTS + 1] = { element_send(pair->src),
		element_receive(pair->src), element_tor(legs), element_tor(legs),
		element_remote(legs, pair->dst) };
	const uint32_t lost = pair->sent - pair->answered;
	uint32_t count = 5;

	if (!pair->reflector)
		elements[count++] = element_uplinks(legs);
	if (pair->large) {
		elements[count++] = element_large_send(legs, pair->src);
		elements[count++] = element_large_receive(legs, pair->src);
		elements[count++] = element_large_tor(legs);
		elements[count++] = element_large_tor(legs);
		elements[count++] = element_large_remote(legs, pair->dst);
	}
	observe(legs, pair->sent, lost, elements, count, true);
	if (lost > 0)
		suspect_remote(legs, pair->dst, pair->large);
}

static void
suspect_stall(struct rack_legs *legs, size_t member)
{
	const uint32_t stall = element_stall(legs, member);

	if (!legs->stalls[member].listed)
		add_candidate(legs, stall, stall, PRIOR_STALL);
	legs->stalls[member].listed = true;
}

/* Probes of a stalled host. */
static void
observe_stalled(struct rack_legs *legs, const struct window_pair *pair)
{
	const uint32_t lost = pair->outcomes[WIRE_NO_REPLY];
	const uint32_t sent = lost + pair->outcomes[WIRE_OK] +
			      pair->outcomes[WIRE_LATE_REPLY] +
			      pair->outcomes[WIRE_INVALID];
	uint32_t elements[5] = { element_tor(legs), element_tor(legs),
		element_stall(legs, pair->src) };
	uint32_t count = 3;

	if (pair->dst < WINDOW_REMOTE_BASE) {
		elements[count++] = element_send(pair->dst);
		elements[count++] = element_receive(pair->dst);
		legs->stalls[pair->dst].sent += sent;
		legs->stalls[pair->dst].lost += lost;
	} else {
		const size_t remote = pair->dst - WINDOW_REMOTE_BASE;

		elements[count++] = element_remote(legs, remote);
		if (pair->kind != WIRE_TOR_REFLECTOR)
			elements[count++] = element_uplinks(legs);
		if (lost > 0)
			suspect_remote(legs, remote, false);
	}
	observe(legs, sent, lost, elements, count, true);
	if (lost > 0)
		suspect_stall(legs, pair->src);
	legs->any_stall = true;
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
	const size_t both = RACK_PAIR_SIZES * (pairs + 1);

	if (rm_scratch(&legs->pairs, &legs->pair_size, both, sizeof *legs->pairs) < 0 ||
	    rm_scratch(&legs->observations, &legs->observation_size,
		OBSERVATIONS_PER_PAIR * both, sizeof *legs->observations) < 0 ||
	    rm_scratch(&legs->candidates, &legs->candidate_size,
		(2 * RACK_DIRECTIONS + 1) * rack->member_count + 3 +
		    2 * rack->remote_count,
		sizeof *legs->candidates) < 0 ||
	    rm_scratch(&legs->remote_listed, &legs->remote_size, rack->remote_count + 1,
		1) < 0 ||
	    rm_scratch(&legs->large_listed, &legs->large_size, rack->member_count + 1,
		1) < 0 ||
	    rm_scratch(&legs->stalls, &legs->stall_size, rack->member_count + 1,
		sizeof(*legs->stalls)) < 0)
		return -ENOMEM;
	return 0;
}

/* Adds an observation of the probes that a member could not send, if their share is
 * large. */
static void
observe_send_failures(struct rack_legs *legs, const struct rack_pair *pair)
{
	const uint32_t failed = pair->send_failed,
		       elements[] = { element_send(pair->src),
			       element_large_send(legs, pair->src) };

	if (failed > SEND_FAILED_SHARE * (failed + pair->sent))
		observe(legs, failed, failed, elements, pair->large ? 2 : 1, false);
}

static void
add_pair(struct rack_legs *legs, const struct rack_pair *pair, uint32_t slack)
{
	legs->pair_count++;
	if (pair->remote)
		observe_remote(legs, pair);
	else
		observe_mesh(legs, pair, slack);
	observe_send_failures(legs, pair);
	suspect_mtus(legs, pair);
}

static int
begin(struct rack_legs *legs, const struct rack *rack,
    const struct window_closed *window, size_t pairs)
{
	if (reserve_all(legs, rack, pairs) < 0)
		return -ENOMEM;
	legs->seconds = fmax(
	    (double)rm_mono_since(window->end, window->start) / (double)RM_NS_PER_S, 1);
	legs->members = rack->member_count;
	legs->remotes = rack->remote_count;
	legs->elements = element_stall(legs, legs->members);
	legs->pair_count = 0;
	legs->observation_count = 0;
	memset(legs->remote_listed, 0, rack->remote_count + 1);
	memset(legs->large_listed, 0, rack->member_count + 1);
	memset(legs->stalls, 0, (rack->member_count + 1) * sizeof(*legs->stalls));
	legs->any_stall = false;
	list_candidates(legs);
	return 0;
}

static void
add_window_pair(struct rack_legs *legs, const struct window_pair *from)
{
	struct rack_pair *pairs = &legs->pairs[legs->pair_count];
	const size_t sizes = rack_pair_split(from, pairs);

	for (size_t k = 0; k < sizes; k++)
		add_pair(legs, &pairs[k],
		    rack_pair_slack(from, pairs[k].sent, legs->seconds));
}

int
rack_legs_build(
    struct rack_legs *legs, const struct rack *rack, const struct window_closed *window)
{
	if (begin(legs, rack, window, window->pair_count) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < window->pair_count; i++) {
		const struct window_pair *from = &window->pairs[i];
		const enum rack_pair_use use = rack_pair_use(rack, from);

		if (use == RACK_PAIR_EVIDENCE)
			add_window_pair(legs, from);
		else if (use == RACK_PAIR_STALLED)
			observe_stalled(legs, from);
	}
	return 0;
}

int
rack_legs_build_sums(struct rack_legs *legs, const struct rack *rack,
    const struct window_closed *evidence, const struct window_closed *stalled)
{
	if (begin(legs, rack, evidence, evidence->pair_count + stalled->pair_count) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < evidence->pair_count; i++)
		if (rack_pair_use(rack, &evidence->pairs[i]) != RACK_PAIR_UNUSABLE)
			add_window_pair(legs, &evidence->pairs[i]);
	for (size_t i = 0; i < stalled->pair_count; i++)
		if (rack_pair_use(rack, &stalled->pairs[i]) != RACK_PAIR_UNUSABLE)
			observe_stalled(legs, &stalled->pairs[i]);
	return 0;
}

void
rack_legs_expect(struct rack_legs *legs, size_t member)
{
	for (size_t i = 0; i < legs->candidate_count; i++) {
		enum rack_direction direction;
		size_t m;

		if (rack_legs_is_member(legs, i, &m, &direction) && m == member)
			legs->candidates[i].log_prior = PRIOR_NAMED;
	}
}
