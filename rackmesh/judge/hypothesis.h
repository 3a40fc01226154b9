/*
 * hypothesis - a set of parts that are assumed to be at fault, and how much likelier
 * each further candidate would make it. Pure.
 *
 * The gain of a candidate is remembered until a part that has a lossy observation in
 * common with it is added or removed, so that a search over many parts stays cheap.
 * What the packets that arrive contribute to a gain does not depend on other parts.
 *
 * A fit costs a few operations for each of the candidate's lossy observations, and for
 * those that differ in survival or share, a few for each of four levels of loss: it
 * begins at the level of the fit before, and the gain is a concave function of the
 * loss.
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
	/* ln of how much likelier this part makes the hypothesis, prior included;
	 * -INFINITY: it has no loss to explain */
	double gain;
};

#define RM_HYPOTHESIS_LEVELS 32

struct rm_levels { /* the shares of loss that are tried */
	size_t count;
	double loss[RM_HYPOTHESIS_LEVELS];
	double log_lost[RM_HYPOTHESIS_LEVELS]; /* ln(P(lost) / base_loss) */
};

struct rm_snapshot { /* a saved hypothesis */
	struct rm_suspect *parts;
	size_t count;
	uint32_t *relieved; /* elements: see rm_hypothesis_relieve */
	size_t relieved_count;
};

/* An observation. Its fit reads only this, which is much less than the input has. */
struct rm_outcome {
	double survival; /* the share of its packets that passes all parts */
	uint32_t lost;
};

struct rm_passing { /* the packets that pass a part */
	double share;
	double log_kept; /* ln of this share */
};

struct rm_group; /* of observations: see hypothesis.c */

struct rm_fit_before {
	struct rm_suspect fit;
	double bound;
	uint32_t candidate;
	bool stale;
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
	size_t count, max, room; /* room: for parts; max <= room */

	struct rm_crossings crossings;
	struct rm_outcome *outcomes; /* for each observation; used for lossy ones */
	size_t outcomes_size;
	struct rm_passing *passing; /* by share in crossings.shares, then by level */
	size_t passing_size;
	double *kept_gains; /* by candidate, then by level: see kept_gain() */
	size_t kept_gains_size;
	struct rm_group *groups; /* of the candidate that is fitted */
	size_t groups_size;
	/* By candidate: its fit to the hypothesis without parts, without relief. No
	 * other fit has a higher gain, except by the relief: a loss adds less to the
	 * gain if other parts explain it, too. */
	struct rm_suspect *alone;
	size_t alone_size;
	/* for each candidate: its fit to the present parts; valid unless stale */
	struct rm_suspect *fits;
	size_t fits_size;
	bool *stale;
	size_t stale_size;
	/* By candidate: an upper bound of its gain now. The gain that was found with
	 * fewer parts is such a bound, because further parts only reduce it. */
	double *bounds;
	size_t bounds_size;
	uint32_t *order; /* candidates by their gain in `alone`, the highest first */
	size_t order_size;
	/* Elements of the wide parts whose narrow parts cost less. */
	uint32_t *relieved;
	size_t relieved_count;
	bool *costs_less; /* for each candidate: it costs less, by `relief` */
	size_t costs_less_size;
	double relief;
	bool *blamed; /* for each candidate: it is a part of the hypothesis */
	size_t blamed_size;
	int *taken; /* for each element: how many parts have it */
	size_t taken_size, element_count;
	/* While a part is lifted: the earlier values of the candidates that have
	 * changed since, until the part is put down; and for each candidate the number
	 * of the last lift in which it changed. */
	struct rm_fit_before *before;
	size_t before_count, before_size;
	uint32_t *changed_in;
	size_t changed_in_size;
	uint32_t lift;
	bool is_lifted;
	char *marked; /* copies of the arrays that a change of the hypothesis changes */
	size_t marked_size, marked_count, marked_relieved;
};

int rm_hypothesis_init(struct rm_hypothesis *h, const struct rm_judge_options *options);
void rm_hypothesis_release(struct rm_hypothesis *h);
/* Sets the share of packets that is lost without a fault. Call it before
 * rm_hypothesis_begin, which computes with it. */
void rm_hypothesis_base_loss(struct rm_hypothesis *h, double base_loss);

/* Sets the observations and candidates; no part is blamed yet. Borrows both arrays.
 * -EINVAL and -ENOMEM as rm_crossings_build. */
int rm_hypothesis_begin(struct rm_hypothesis *h, size_t elements,
    const struct rm_observation *observations, size_t observation_count,
    const struct rm_candidate *candidates, size_t candidate_count);
/* Removes all parts. Candidates that cost less keep the lower cost. */
void rm_hypothesis_clear(struct rm_hypothesis *h);

/* From now on, the narrow parts of the wide part with this element cost less by
 * options.siblings_relief; a narrow part of several such wide parts, only once. At most
 * max_parts + 1 calls per hypothesis. */
void rm_hypothesis_relieve(struct rm_hypothesis *h, uint32_t element);

/* A snapshot contains the parts of a hypothesis, and the elements for which parts cost
 * less. Restore it only to a hypothesis of the same candidates. */
int rm_snapshot_init(
    struct rm_snapshot *snapshot, const struct rm_judge_options *options); /* -ENOMEM */
void rm_snapshot_release(struct rm_snapshot *snapshot);
void rm_snapshot_copy(struct rm_snapshot *to, const struct rm_snapshot *from);
void rm_hypothesis_save(const struct rm_hypothesis *h, struct rm_snapshot *ret);
void rm_hypothesis_restore(struct rm_hypothesis *h, const struct rm_snapshot *snapshot);

/* Returns an upper bound of the candidate's gain in any hypothesis with this relief. It
 * is cheap, because nothing is fitted. */
double rm_hypothesis_max_gain(const struct rm_hypothesis *h, size_t candidate);
/* An upper bound of the gains of the nth candidate and all after it, in the order of
 * rm_hypothesis_by_rank. */
double rm_hypothesis_max_gain_from(const struct rm_hypothesis *h, size_t nth);
/* An upper bound of the candidate's gain in this hypothesis. */
double rm_hypothesis_gain_bound(const struct rm_hypothesis *h, size_t candidate);
/* The nth candidate, by the gain in a hypothesis without parts and relief, the highest
 * first. */
size_t rm_hypothesis_by_rank(const struct rm_hypothesis *h, size_t nth);
/* The candidate's fit, if it is remembered; or NULL. */
const struct rm_suspect *rm_hypothesis_known_fit(
    const struct rm_hypothesis *h, size_t candidate);
/* The candidate's fit, computed unless it is remembered. The candidate is no part now.
 */
struct rm_suspect rm_hypothesis_fit(struct rm_hypothesis *h, size_t candidate);
/* True: the candidate is a part of the hypothesis. */
bool rm_hypothesis_blames(const struct rm_hypothesis *h, size_t candidate);
/* True: a part of the hypothesis has an element of the candidate. */
bool rm_hypothesis_overlaps(const struct rm_hypothesis *h, size_t candidate);
/* Adds a part at the end. Its share of loss is fitted between the levels: with a level,
 * the difference among the many packets that cross a wide part would be explained by
 * further parts. Its gain stays that of the level, as the gains of candidates are. */
void rm_hypothesis_add(struct rm_hypothesis *h, struct rm_suspect part);
/* Fits the share of loss of a part again, as the other parts have changed, or removes
 * the part. Does nothing if no part has changed that has a lossy observation in common
 * with it. */
void rm_hypothesis_refit(struct rm_hypothesis *h, size_t at);
/* Removes a part and returns it. */
struct rm_suspect rm_hypothesis_remove(struct rm_hypothesis *h, size_t at);
/* Removes a part for a while, one part at a time. If rm_hypothesis_put_down then adds
 * it unchanged, all fits that were remembered before are valid again. */
struct rm_suspect rm_hypothesis_lift(struct rm_hypothesis *h, size_t at);
void rm_hypothesis_put_down(
    struct rm_hypothesis *h, struct rm_suspect lifted, struct rm_suspect part);

/* Remembers the hypothesis with all its fits, one at a time. No part is lifted.
 * -ENOMEM.
 */
int rm_hypothesis_mark(struct rm_hypothesis *h);
/* Makes the hypothesis what it was at the last rm_hypothesis_mark() since
 * rm_hypothesis_begin(). Other than rm_hypothesis_restore(), it keeps the fits. */
void rm_hypothesis_return(struct rm_hypothesis *h);

/* ln of how much likelier the observations are with this hypothesis than without a
 * part, priors included. It is not the sum of the parts' gains, which depend on the
 * order in which parts were added. */
double rm_hypothesis_score(const struct rm_hypothesis *h);

#endif
