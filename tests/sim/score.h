/*
 * score - compares the named parts with the truth. Pure.
 *
 * A truth is a real fault of one part, with its beginning and end. A named part is
 * right if it is at fault at that time, or was so within the afterglow
 * (SCORE_AFTERGLOW_NS before). A link is right also if one of its ends is at fault (as
 * in R-Pingmesh and Flock), an RNIC also if its cable or its host is. "A or B" (or C)
 * is right if one of them is at fault, and is counted as found in a column of its own.
 * Every other named part is false. Several links of a switch in one verdict count as
 * each of them, and not as the switch. RNICs, hosts, links and devices are counted
 * separately; links are counted twice, directed (in the faulty direction) and
 * undirected (the cable).
 */
#ifndef TESTS_SIM_SCORE_H
#define TESTS_SIM_SCORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tests/sim/clos.h"
#include "tests/sim/scheme.h"

#define SCORE_FOREVER INT64_MAX
/* For this time after a fault, verdicts of the longest window may still name its part.
 */
#define SCORE_AFTERGLOW_NS (130 * INT64_C(1000000000))

struct truth {
	uint32_t part;
	bool both_directions; /* of a link */
	const char *kind;     /* the kind as in scenario files; borrowed */
	double loss;          /* share of packets that the part loses; 1: all */
	bool one_class;       /* only packets with this DSCP */
	uint8_t dscp;
	int64_t from_ns, to_ns;
	/* false: the fault need not be found (a stall); naming an RNIC, link or device
	 * because of it still counts as false */
	bool counts;
};

enum score_class {
	SCORE_RNICS,
	SCORE_HOSTS,
	SCORE_LINKS, /* undirected */
	SCORE_LINKS_DIRECTED,
	SCORE_DEVICES, /* switches */
	SCORE_CLASSES
};

struct score_row {
	uint64_t truths, found,
	    either;            /* either: found truths that were named as "A or B" */
	uint64_t named, wrong; /* openings */
	/* Found truths whose kind was wrong at the end. The kind is wrong in these
	 * cases: a part that only delays packets was not called late, or a part was
	 * called late that does not; a part was reported to drop whole flows and does
	 * not; a part loses a single class of packets, and the verdict has no class or
	 * another one. */
	uint64_t kinds_wrong;
	/* 1 if no part could be named wrongly, or if there was nothing to find */
	double precision, recall, f1;
};

struct score;

int score_new(struct score **ret);
void score_free(struct score *score);

/* Begins a run. Then call score_report once per judgement, in order of time, with all
 * parts that are named at that moment; score_end ends the run. -ENOMEM. */
int score_begin(struct score *score, const struct clos *clos,
    const struct truth *truths, size_t count);
int score_report(struct score *score, int64_t now_ns, const struct scheme_named *named,
    size_t count);
int score_end(struct score *score, int64_t now_ns);

/* Returns the figures over all runs so far. */
struct score_row score_row(const struct score *score, enum score_class class);
/* Returns the quantile q of the times to a verdict of all found truths of this kind
 * (NULL: all); < 0: none was found. */
double score_seconds(const struct score *score, const char *kind, double q);
/* Prints the reliability: how many openings with a confidence in [i, i + 1) / 10 were
 * right. */
void score_reliability(
    const struct score *score, uint64_t named[10], uint64_t right[10]);
/* Prints a sentence for each false opening and each missed truth. */
void score_print_errors(const struct score *score, FILE *out);
void score_print(const struct score *score, const char *title, FILE *out);
int score_add(struct score *into, const struct score *from);
/* Both functions pass a score between processes of one program. It covers all ended
 * runs. -EIO: it could not be read or written completely. */
int score_save(const struct score *score, FILE *out);
int score_load(FILE *in, struct score **ret);

#endif
