/*
 * judge - the fewest, likeliest parts that explain losses jointly. Pure.
 *
 * An observation is a number of packets that all crossed the same elements, and how
 * many of them were lost. A candidate is a part that may be at fault: a set of
 * elements with a prior. A part at fault loses a share of all that crosses it, all the
 * rest loses base_loss; the share is fitted. Parts are added greedily while that
 * makes the whole likelier, dropped or exchanged when later ones make them needless. No
 * two of them share an element.
 *
 * The likelihood and the greedy search follow Flock (Harsh, Meng, Agrawal, Godfrey:
 * "Flock: Accurate Network Fault Localization at Scale", 2023; code at
 * github.com/netarch/FaultLocalization), in log space; the fitted share, the
 * exchange and the list of alternatives are ours.
 */
#ifndef RACKMESH_JUDGE_JUDGE_H
#define RACKMESH_JUDGE_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/judge/judge_input.h"

struct rm_alternative {
	size_t candidate;
	double behind; /* ln of how much less likely than the part it would replace */
	double loss;   /* its own fitted share */
};

struct rm_blamed {
	size_t candidate;
	double loss; /* fitted share of what crosses it, 0 .. 1 */
	double gain; /* ln of how much likelier with it than without, prior included */
	/* ln of how much less likely the whole is that was found without the part which
	 * explains most alone, several parts in its place maybe. INFINITY: that one
	 * blames this part, too, or none was found. Of a wide part, if narrow ones were
	 * tried in its place: of the whole with these. */
	double rival_behind;
	const struct rm_alternative *alternatives; /* nearest first */
	size_t alternative_count;
};

struct rm_explanation {
	const struct rm_blamed *parts; /* the one that explains most first */
	size_t part_count;
	uint64_t unexplained_lost; /* in observations that no blamed part touches */
};

struct rm_judge;

int rm_judge_new(const struct rm_judge_options *options, struct rm_judge **ret);
void rm_judge_free(struct rm_judge *judge);
/* Another base_loss than in its options, from now on. -EINVAL: out of its range. */
int rm_judge_base_loss(struct rm_judge *judge, double base_loss);

/* At most so many parts from now on, 1 .. options.max_parts; what is beyond is cut. */
void rm_judge_most_parts(struct rm_judge *judge, size_t most);

/* elements: their number; all indexes are below it (-EINVAL otherwise). *ret lives
 * until the next call. -ENOMEM, -EINVAL: *ret is untouched. */
int rm_judge_explain(struct rm_judge *judge, size_t elements,
    const struct rm_observation *observations, size_t observation_count,
    const struct rm_candidate *candidates, size_t candidate_count,
    struct rm_explanation *ret);

#endif
