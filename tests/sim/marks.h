/*
 * marks - the bounds in a scenario file that its runs must reach: the least recall,
 * precision or F1 of a class, the most false openings, the longest time to a verdict.
 * Pure.
 */
#ifndef TESTS_SIM_MARKS_H
#define TESTS_SIM_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tests/sim/score.h"

enum mark_figure {
	MARK_RECALL,
	MARK_PRECISION,
	MARK_F1,
	MARK_WRONG,
	MARK_NAMED,
	MARK_KINDS_WRONG,
	MARK_FIGURES
};
enum mark_time { MARK_P50, MARK_P90, MARK_P99, MARK_TIMES };

/* class of the times to a verdict, over all truths */
#define MARKS_SECONDS SCORE_CLASSES
#define MARKS_MAX (SCORE_CLASSES * MARK_FIGURES + MARK_TIMES)

struct mark {
	size_t class;  /* a value of enum score_class, or MARKS_SECONDS */
	size_t figure; /* a value of enum mark_figure, or of mark_time */
	/* for errors and seconds the largest value that is allowed; otherwise the
	 * smallest */
	double limit;
};

struct marks {
	struct mark of[MARKS_MAX];
	size_t count;
};

/*
 * True: the mark is reached. *ret is the measured value. A recall or F1 is not reached
 * if there was nothing to find, and a time is not reached if nothing was found (*ret <
 * 0), since nothing was measured.
 */
bool mark_holds(const struct mark *mark, const struct score *score, double *ret);

struct marks_count {
	size_t held, failed;
};

/*
 * Writes a line for each mark of the scenario, and a testcase unless junit is NULL.
 * Adds to *count. -EIO: writing failed.
 */
int marks_report(const struct marks *marks, const char *name, const struct score *score,
    FILE *out, FILE *junit, struct marks_count *count);

#endif
