/*
 * judge_input - what the judge is given: packets that crossed the same elements, the
 * parts that may be at fault, and options.
 */
#ifndef RACKMESH_JUDGE_JUDGE_INPUT_H
#define RACKMESH_JUDGE_JUDGE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RM_OBSERVATION_ELEMENTS 64
#define RM_CANDIDATE_ELEMENTS 2

struct rm_observation {
	uint32_t sent, lost;                        /* lost <= sent */
	uint32_t elements[RM_OBSERVATION_ELEMENTS]; /* each explains a loss, if it is at
						       fault */
	uint32_t element_count;
	/* The packets crossed a candidate once for each of its elements in the list; an
	 * element that is listed twice was crossed twice. No element is spread. */
	bool round_trip;
	/* Where routes are spread: these shares of the packets crossed the last
	 * `spread` of the elements, in this order; it is not known which packets. An
	 * element that is also among those before them was crossed once by all packets,
	 * and once more by that share, as by the reply to a probe. */
	uint32_t spread;
	/* Of a candidate's elements one that all crossed stands for it: by how many its
	 * others were crossed besides counts for nothing. */
	bool first_stands;
	float shares[RM_OBSERVATION_ELEMENTS]; /* 0 < share <= 1 */
};

struct rm_candidate {
	uint32_t elements[RM_CANDIDATE_ELEMENTS];
	uint32_t element_count;
	double log_prior; /* negative: the cost of blaming it */
	/* A wide part, of its first element, or a narrow one: a part of the wide ones
	 * of these elements. Several narrow parts may be at fault in place of a wide
	 * one: see siblings_relief. */
	bool wide;
	uint32_t within[RM_CANDIDATE_ELEMENTS], within_count;
};

#define RM_JUDGE_MOST_DOUBT 60.0 /* ln: evidence beyond it decides */

struct rm_judge_options {
	double base_loss; /* of parts that are not at fault, 0 < base_loss < 1 */
	double alternatives_within; /* ln of the likelihood ratio up to which they are
				       listed */
	size_t max_parts;
	/* Shares of loss that are tried begin here; 0: at 5 %. Above base_loss. */
	double least_loss;
	/* What several narrow parts must be likelier by than fewer wide ones, ln for
	 * each packet that was lost: ways are not known exactly, and chance is not all
	 * that makes them differ. At most RM_JUDGE_MOST_DOUBT in all. */
	double doubt;
	/* Where one narrow part of a wide one is at fault, each other one of it costs
	 * less by this, ln. A wide part gives way to such parts that are likelier by
	 * `clear` together. 0: they are not tried in its place. */
	double siblings_relief, clear;
	double partial_log_prior; /* <= 0: what blaming a part costs besides that lets
				     more than a fiftieth through */
};

#endif
