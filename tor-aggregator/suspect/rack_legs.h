/*
 * rack_legs - a window's pairs as one-way legs, the observations of the judge. Pure.
 *
 * A probe is a leg out and, if it arrived, a leg back. If the receiver's counts show
 * how many probes arrived, each leg is an observation. The counts are assigned to bins
 * by time only, so a few losses at the edges of the window could be of either leg: such
 * losses, and all losses of pairs without receive counts, are observed as round trips.
 * Pairs are left out if the host of one end is no witness, or the port of one end is
 * down. Probes that a stalled host sent are observed as round trips that do not cross
 * its RNIC, but another element, the stall.
 *
 * Large probes are pairs of their own: they cross one more element per end, the MTU, so
 * that an MTU fault can be told from loss.
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

struct rack_stall {          /* of one member */
	bool listed;         /* the stall of its host is a candidate already */
	uint32_t sent, lost; /* probes from stalled hosts of the rack to it */
};

struct rack_legs { /* all zeros before the first use */
	size_t members;
	double seconds; /* length of the window */
	struct rack_pair *pairs;
	size_t pair_count, pair_size; /* *_size: items that fit into the array */
	struct rm_observation *observations;
	size_t observation_count, observation_size;
	struct rm_candidate *candidates;
	size_t candidate_count, candidate_size;
	size_t elements;
	uint8_t *remote_listed; /* one per remote RNIC: it is a candidate already */
	size_t remote_size;
	uint8_t *large_listed; /* one per member: its MTU is a candidate already */
	size_t large_size;
	struct rack_stall *stalls; /* by member */
	size_t stall_size;
	bool any_stall; /* probes of a stalled host are observed */
	size_t remotes;
};

/* Returns 0, or -ENOMEM: then the legs are unusable until the next success. */
int rack_legs_build(struct rack_legs *legs, const struct rack *rack,
    const struct window_closed *window);
/* The same for sums over several windows: of pairs that were RACK_PAIR_EVIDENCE when
 * they were added (evidence), and of pairs that were RACK_PAIR_STALLED. A host that is
 * stalled now takes nothing back of what was evidence before. */
int rack_legs_build_sums(struct rack_legs *legs, const struct rack *rack,
    const struct window_closed *evidence, const struct window_closed *stalled);
/* Call it after rack_legs_build for each member with a verdict: then blaming this
 * member again costs little. */
void rack_legs_expect(struct rack_legs *legs, size_t member);
void rack_legs_release(struct rack_legs *legs);

/* True: the candidate stands for this member, or for its MTU. */
bool rack_legs_is_member(const struct rack_legs *legs, size_t candidate, size_t *member,
    enum rack_direction *direction);
bool rack_legs_is_tor(const struct rack_legs *legs, size_t candidate);
double rack_legs_prior_of_tor(const struct rack_legs *legs);
bool rack_legs_is_uplinks(const struct rack_legs *legs, size_t candidate);
bool rack_legs_is_remote(
    const struct rack_legs *legs, size_t candidate, size_t *remote);

#endif
