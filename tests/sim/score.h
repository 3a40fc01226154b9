/*
 * score - what was named against what was true. Pure.
 *
 * A truth is a fault of one part, from a moment to another. A part named is right if
 * that part is at fault then, or was within the afterglow; a link also if one of its
 * ends is (R-Pingmesh's, Flock's rule); an RNIC also if its cable or host is. "A or B"
 * (or C) is right if one of them is, and counts as found in the column for it. All else
 * is false. RNICs, hosts, links and devices are counted apart; links directed (the very
 * direction) and undirected (the cable).
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
/* As long as the longest window, and a verdict on it, may still speak of what is over.
 */
#define SCORE_AFTERGLOW_NS (130 * INT64_C(1000000000))

struct truth {
	uint32_t part;
	bool both_directions; /* of a link */
	const char *kind;     /* of the scenario language; borrowed */
	double loss;          /* share of what it loses; 1: dead */
	bool one_class;       /* only packets with this DSCP */
	uint8_t dscp;
	int64_t from_ns, to_ns;
	bool counts; /* false: not enough to be found (a stall); naming a RNIC, link or
		      * device for it is false all the same */
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
	uint64_t truths, found, either; /* either: of the found, told as "A or B" */
	uint64_t named, wrong;          /* openings */
	/* Of the found: what only delays was not called late in the end, or something
	 * else was; or what swallows no flows was called so; or what loses one class of
	 * packets was not said to, or something else was. */
	uint64_t kinds_wrong;
	double precision, recall, f1; /* 1 where nothing could be wrong, or found */
};

struct score;

int score_new(struct score **ret);
void score_free(struct score *score);

/* One run. Then told once per judgement, in time, all that is named at that moment;
 * score_end closes the books of the run. -ENOMEM. */
int score_begin(struct score *score, const struct clos *clos,
    const struct truth *truths, size_t count);
int score_report(struct score *score, int64_t now_ns, const struct scheme_named *named,
    size_t count);
int score_end(struct score *score, int64_t now_ns);

/* Over all runs so far. */
struct score_row score_row(const struct score *score, enum score_class class);
/* Of all found truths of this kind (NULL: all), the share q's time to verdict; < 0:
 * none.
 */
double score_seconds(const struct score *score, const char *kind, double q);
/* Reliability: of openings with a confidence in [i, i + 1) / 10, how many were right.
 */
void score_reliability(
    const struct score *score, uint64_t named[10], uint64_t right[10]);
/* Each false opening and each truth that was missed, as sentences for people. */
void score_print_errors(const struct score *score, FILE *out);
void score_print(const struct score *score, const char *title, FILE *out);
int score_add(struct score *into, const struct score *from);
/* Between processes of one program: all runs so far, none of them open. -EIO: it was
 * not to be had whole. */
int score_save(const struct score *score, FILE *out);
int score_load(FILE *in, struct score **ret);

#endif
