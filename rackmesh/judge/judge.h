/*
 * judge - finds the few parts that, at fault together, explain the losses best. Pure.
 *
 * An observation is a number of packets that crossed the same elements, and how many of
 * them were lost. A candidate is a part that may be at fault: a set of elements with a
 * prior. A part at fault loses a share of the packets that cross it, and the judge fits
 * that share; packets that cross no such part are lost at the rate base_loss. Parts are
 * added greedily while each makes the explanation likelier; they are removed, or
 * replaced, if parts that were added later make them unnecessary. No two blamed parts
 * share an element.
 *
 * Cost: after a part is added, removed or replaced, the judge fits again the parts and
 * candidates that have a lossy observation in common with it, and no others; of all
 * other candidates it only compares a bound. So the number of fits grows linearly with
 * the number of faults whose losses are on different paths, and with its square if each
 * fault has lossy paths in common with all others. Observations without losses are read
 * once. Memory is linear in the number of pairs of an observation and a candidate that
 * it crossed.
 *
 * The likelihood and the greedy search follow Flock (Harsh, Meng, Agrawal, Godfrey:
 * "Flock: Accurate Network Fault Localization at Scale", 2023; code at
 * github.com/netarch/FaultLocalization), in log space; the fitted share, the
 * replacement of parts and the list of alternatives are ours.
 */
#ifndef RACKMESH_JUDGE_JUDGE_H
#define RACKMESH_JUDGE_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/judge/judge_input.h"

struct rm_alternative {
	size_t candidate;
	/* ln of how much less likely it is than the part in whose place it could be */
	double behind;
	double loss; /* its own fitted share of loss */
};

struct rm_blamed {
	size_t candidate;
	/* fitted share of loss of the packets that cross the part, 0 .. 1 */
	double loss;
	double gain; /* ln of how much likelier this part makes the explanation, prior
			included */
	/* The judge also searches for an explanation without the part that it added
	 * first, because several other parts may explain the losses equally well.
	 * rival_behind is the ln of how much less likely the worse one of these two
	 * explanations is.
	 * INFINITY: both explanations blame this part, or there is only one. If the
	 * judge tried narrow parts in place of this wide part, it is the ln of how much
	 * less likely the explanation with the narrow parts is. */
	double rival_behind;
	const struct rm_alternative *alternatives; /* nearest first */
	size_t alternative_count;
};

struct rm_explanation {
	/* the part that explains most losses is the first */
	const struct rm_blamed *parts;
	size_t part_count;
	/* lost packets of observations that crossed no blamed part */
	uint64_t unexplained_lost;
};

struct rm_judge;

int rm_judge_new(const struct rm_judge_options *options, struct rm_judge **ret);
void rm_judge_free(struct rm_judge *judge);
/* Replaces the base_loss of the judge's options from now on. -EINVAL: out of range. */
int rm_judge_base_loss(struct rm_judge *judge, double base_loss);

/* Blames at most this many parts from now on; values outside 1 .. options.max_parts are
 * set to the nearest of the two. */
void rm_judge_most_parts(struct rm_judge *judge, size_t most);

/* elements: the number of elements; each index in the observations and candidates must
 * be less than this (-EINVAL otherwise). -ENOMEM, -EINVAL: *ret is not written. A
 * result is valid until the next call, even if that call fails. */
int rm_judge_explain(struct rm_judge *judge, size_t elements,
    const struct rm_observation *observations, size_t observation_count,
    const struct rm_candidate *candidates, size_t candidate_count,
    struct rm_explanation *ret);

#endif
