/*
 * judge_input - the input of the judge: observations (packets that crossed the same
 * elements), candidates (parts that may be at fault), and options.
 */
#ifndef RACKMESH_JUDGE_JUDGE_INPUT_H
#define RACKMESH_JUDGE_JUDGE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RM_OBSERVATION_ELEMENTS 64
#define RM_CANDIDATE_ELEMENTS 2

struct rm_observation {
	uint32_t sent, lost; /* lost <= sent */
	/* a fault of any of these elements explains the losses */
	uint32_t elements[RM_OBSERVATION_ELEMENTS];
	uint32_t element_count;
	/* The packets crossed a candidate once for each of its elements in the list; an
	 * element that is listed twice was crossed twice. `spread` is 0. */
	bool round_trip;
	/* If packets are spread over several paths (ECMP): only a share of the packets
	 * crossed each of the last `spread` elements, and it is not known which packets
	 * did. shares[0] is the share of the first of these elements. One that is
	 * listed among the elements before them, too, was crossed once by all packets,
	 * and once more by that share, e.g. by the replies to probes. */
	uint32_t spread;
	/* If all packets crossed one element of a candidate, the shares that crossed
	 * its other element are not added to it. */
	bool first_stands;
	float shares[RM_OBSERVATION_ELEMENTS]; /* 0 < share <= 1 */
};

struct rm_candidate {
	uint32_t elements[RM_CANDIDATE_ELEMENTS];
	uint32_t element_count;
	/* ln of the prior, negative: the cost of assuming that this part is at fault */
	double log_prior;
	/* A wide part is known by its first element. A narrow part is a part of the
	 * wide parts with the elements in `within`. Several narrow parts may be at
	 * fault instead of a wide one: see siblings_relief. */
	bool wide;
	uint32_t within[RM_CANDIDATE_ELEMENTS], within_count;
};

#define RM_JUDGE_MOST_DOUBT 60.0 /* ln: stronger evidence always decides */

struct rm_judge_options {
	/* share of packets that are lost without a fault, 0 < base_loss < 1 */
	double base_loss;
	double alternatives_within; /* ln of the likelihood ratio up to which
				       alternatives of a part are listed */
	size_t max_parts;
	/* The smallest share of loss that is tried for a part, above base_loss; 0: 5 %.
	 */
	double least_loss;
	/* ln, for each lost packet: an explanation with more parts has to be likelier
	 * by this, because paths are not known exactly, so that not only chance makes
	 * loss differ between them. At most RM_JUDGE_MOST_DOUBT in all. */
	double doubt;
	/* ln: if one narrow part of a wide part is at fault, each other narrow part of
	 * it costs less by siblings_relief. Narrow parts replace the wide part if they
	 * are together likelier by `clear`. siblings_relief 0: this is not tried. */
	double siblings_relief, clear;
	double partial_log_prior; /* <= 0: further cost of blaming a part that loses
				     less than 98 % of its packets */
};

#endif
