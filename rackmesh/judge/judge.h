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

#define RM_OBSERVATION_ELEMENTS 32
#define RM_CANDIDATE_ELEMENTS 2

struct rm_observation {
	uint32_t sent, lost;                        /* lost <= sent */
	uint32_t elements[RM_OBSERVATION_ELEMENTS]; /* one at fault explains a loss */
	uint32_t element_count;
	/* It counts by how many of its elements a candidate was crossed, and one that
	 * is listed twice was crossed twice; no share of it is spread. */
	bool round_trip;
	/* Where routes are spread: the last `spread` of the elements, in this order,
	 * were crossed by these shares of the packets, nobody knows by which. */
	uint32_t spread;
	float shares[RM_OBSERVATION_ELEMENTS]; /* 0 < share <= 1 */
};

struct rm_candidate {
	uint32_t elements[RM_CANDIDATE_ELEMENTS];
	uint32_t element_count;
	double log_prior; /* negative: what blaming it costs */
};

struct rm_judge_options {
	double base_loss;           /* of what is not at fault, 0 < base_loss < 1 */
	double alternatives_within; /* ln of the likelihood ratio up to which they are
				       listed */
	size_t max_parts;
	/* Shares of loss that are tried begin here; 0: at 5 %. Above base_loss. */
	double least_loss;
	double partial_log_prior; /* <= 0: what blaming a part costs besides that lets
				     more than a fiftieth through */
};

struct rm_alternative {
	size_t candidate;
	double behind; /* ln of how much less likely than the part it would replace */
	double loss;   /* its own fitted share */
};

struct rm_blamed {
	size_t candidate;
	double loss; /* fitted share of what crosses it, 0 .. 1 */
	double gain; /* ln of how much likelier with it than without, prior included */
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

/* elements: their number; all indexes are below it (-EINVAL otherwise). *ret lives
 * until the next call. -ENOMEM, -EINVAL: *ret is untouched. */
int rm_judge_explain(struct rm_judge *judge, size_t elements,
    const struct rm_observation *observations, size_t observation_count,
    const struct rm_candidate *candidates, size_t candidate_count,
    struct rm_explanation *ret);

#endif
