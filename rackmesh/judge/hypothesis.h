/*
 * hypothesis - a set of parts held to be at fault, and what another would add. Pure.
 *
 * What a candidate would add is remembered until a part that shares an observation
 * with it comes or goes: a search over many parts stays cheap.
 */
#ifndef RACKMESH_JUDGE_HYPOTHESIS_H
#define RACKMESH_JUDGE_HYPOTHESIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/judge/crossings.h"

struct rm_suspect { /* a candidate at its best share of loss */
	size_t candidate;
	double loss;
	double
	    gain; /* ln of how much likelier with it, prior included; -INFINITY: none */
};

#define RM_HYPOTHESIS_LEVELS 32

struct rm_levels { /* shares of loss that are tried */
	size_t count;
	double loss[RM_HYPOTHESIS_LEVELS];
	double log_lost[RM_HYPOTHESIS_LEVELS]; /* ln P(lost) over that of base_loss */
	double log_kept[RM_HYPOTHESIS_LEVELS];
};

struct rm_snapshot { /* of a hypothesis */
	struct rm_suspect *parts;
	size_t count;
	uint32_t *relieved; /* elements: see rm_hypothesis_relieve */
	size_t relieved_count;
};

struct rm_hypothesis {
	double base_loss;
	struct rm_levels levels;
	double partial_log_prior;
	const struct rm_observation *observations;
	size_t observation_count;
	const struct rm_candidate *candidates;
	size_t candidate_count;
	struct rm_suspect *parts;
	size_t count, max;

	struct rm_crossings crossings;
	double *survival; /* by observation: share that the parts let through */
	size_t survival_size;
	/* By candidate: its fit where no other is blamed, without relief. None is ever
	 * better but by that: a loss brings less where others explain it, too. */
	struct rm_suspect *alone;
	size_t alone_size;
	struct rm_suspect *fits; /* by candidate, unless stale */
	size_t fits_size;
	bool *stale;
	size_t stale_size;
	/* By candidate: no fit to what is blamed now is better. What it was found to
	 * add to fewer parts is more than it adds to these and others. */
	double *bounds;
	size_t bounds_size;
	uint32_t *order; /* candidates, those with most alone first */
	size_t order_size;
	uint32_t *relieved; /* elements of wide parts */
	size_t relieved_count;
	bool *costs_less; /* by candidate: by `relief` */
	size_t costs_less_size;
	double relief;
	bool *blamed; /* by candidate: it is a part */
	size_t blamed_size;
	struct rm_suspect *aside; /* fits, stale and bounds while a part is away */
	size_t aside_size;
	bool *stale_aside;
	size_t stale_aside_size;
	double *bounds_aside;
	size_t bounds_aside_size;
};

int rm_hypothesis_init(struct rm_hypothesis *h, const struct rm_judge_options *options);
void rm_hypothesis_release(struct rm_hypothesis *h);
/* What is not at fault loses that much from now on; before rm_hypothesis_begin. */
void rm_hypothesis_base_loss(struct rm_hypothesis *h, double base_loss);

/* What it is about from now on; no part is blamed yet. Borrows both arrays. -EINVAL and
 * -ENOMEM as rm_crossings_build. */
int rm_hypothesis_begin(struct rm_hypothesis *h, size_t elements,
    const struct rm_observation *observations, size_t observation_count,
    const struct rm_candidate *candidates, size_t candidate_count);
/* No part again; what costs less still does. */
void rm_hypothesis_clear(struct rm_hypothesis *h);

/* The narrow parts of the wide one of this element cost less by the options'
 * siblings_relief in this hypothesis, for at most max_parts + 1 elements: once, however
 * many of them a part is narrow for. */
void rm_hypothesis_relieve(struct rm_hypothesis *h, uint32_t element);

/* The parts of a hypothesis, and which cost less in it, of the same candidates. */
int rm_snapshot_init(
    struct rm_snapshot *snapshot, const struct rm_judge_options *options); /* -ENOMEM */
void rm_snapshot_release(struct rm_snapshot *snapshot);
void rm_snapshot_copy(struct rm_snapshot *to, const struct rm_snapshot *from);
void rm_hypothesis_save(const struct rm_hypothesis *h, struct rm_snapshot *ret);
void rm_hypothesis_restore(struct rm_hypothesis *h, const struct rm_snapshot *snapshot);

/* At most that is what the candidate adds to any hypothesis: less than asking. */
double rm_hypothesis_most(const struct rm_hypothesis *h, size_t candidate);
/* At most that is what the nth candidate adds, and each one after it. */
double rm_hypothesis_rest(const struct rm_hypothesis *h, size_t nth);
/* At most that is what it adds to this one. */
double rm_hypothesis_bound(const struct rm_hypothesis *h, size_t candidate);
/* The nth candidate by what it adds alone, without relief, the best first. */
size_t rm_hypothesis_nth(const struct rm_hypothesis *h, size_t nth);
/* What it would add, where that is known; or NULL. */
const struct rm_suspect *rm_hypothesis_known(
    const struct rm_hypothesis *h, size_t candidate);
/* What the candidate, which is no part now, would add. */
struct rm_suspect rm_hypothesis_fit(struct rm_hypothesis *h, size_t candidate);
bool rm_hypothesis_blames(const struct rm_hypothesis *h, size_t candidate);
/* At the end. What it lets through is fitted between the levels, or the many packets
 * that a wide part sees would have others blamed for the difference; the gain of a part
 * stays that of its level, as candidates' are. */
void rm_hypothesis_put(struct rm_hypothesis *h, struct rm_suspect part);
/* A part in the light of the others: its share anew, or out with it. Costs nothing
 * while none that it shares an observation with has changed. */
void rm_hypothesis_refit(struct rm_hypothesis *h, size_t at);
struct rm_suspect rm_hypothesis_take(struct rm_hypothesis *h, size_t at);
/* As rm_hypothesis_take, to see what the hypothesis is without it; one at a time. Put
 * back unchanged, all is known again that was known before. */
struct rm_suspect rm_hypothesis_lift(struct rm_hypothesis *h, size_t at);
void rm_hypothesis_put_down(
    struct rm_hypothesis *h, struct rm_suspect lifted, struct rm_suspect part);

/* ln of how much likelier the whole makes what was seen, priors included: not the sum
 * of gains, which depend on order. */
double rm_hypothesis_score(const struct rm_hypothesis *h);

#endif
