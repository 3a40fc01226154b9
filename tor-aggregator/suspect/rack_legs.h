/*
 * rack_legs - a window's pairs as one-way legs: what the judge can observe. Pure.
 *
 * A probe is a leg out and, if it arrived, a leg back. Where the receiver's counts
 * say how many arrived, both legs are observations; the counts are cut into bins
 * by time alone, so a few losses at the edges could be of either leg: those, like all
 * losses of pairs without counts, are observed as round trips only. Pairs of which
 * one end's host is no witness, or one end's port is down, are left out.
 *
 * Large probes are pairs of their own: beside all that small ones cross they cross each
 * end's MTU, a part that only they can blame.
 */
#ifndef TOR_AGGREGATOR_SUSPECT_RACK_LEGS_H
#define TOR_AGGREGATOR_SUSPECT_RACK_LEGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/judge/judge.h"

struct rack;
struct rack_pair;
struct window_closed;

enum rack_direction { RACK_BOTH_DIRECTIONS, RACK_SEND, RACK_RECEIVE, RACK_DIRECTIONS };

struct rack_legs { /* zero it before the first use */
	size_t members;
	double seconds; /* of the window */
	struct rack_pair *pairs;
	size_t pair_count, pair_size;
	struct rm_observation *observations;
	size_t observation_count, observation_size;
	struct rm_candidate *candidates;
	size_t candidate_count, candidate_size;
	size_t elements;
	uint8_t *remote_seen; /* by remote RNIC: a candidate already */
	size_t remote_size;
	uint8_t *large_seen; /* by member: its MTU is a candidate already */
	size_t large_size;
	size_t remotes;
};

/* -ENOMEM: the legs are unusable until the next success. */
int rack_legs_build(struct rack_legs *legs, const struct rack *rack,
    const struct window_closed *window);
/* A verdict on this member stands: blaming it again costs little. After build. */
void rack_legs_expect(struct rack_legs *legs, size_t member);
void rack_legs_release(struct rack_legs *legs);

/* What a candidate stands for; a member's MTU stands for the member. */
bool rack_legs_is_member(const struct rack_legs *legs, size_t candidate, size_t *member,
    enum rack_direction *direction);
bool rack_legs_is_tor(const struct rack_legs *legs, size_t candidate);
double rack_legs_prior_of_tor(const struct rack_legs *legs);
bool rack_legs_is_uplinks(const struct rack_legs *legs, size_t candidate);
bool rack_legs_is_remote(
    const struct rack_legs *legs, size_t candidate, size_t *remote);

#endif
