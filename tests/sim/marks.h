/*
 * marks - what the runs of a scenario must reach, as its file states it: a least
 * recall, precision or F1 of a class, a most of false openings, a longest time to
 * verdict. Pure.
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

#define MARKS_SECONDS SCORE_CLASSES /* the class of times to verdict, of all truths */
#define MARKS_MAX (SCORE_CLASSES * MARK_FIGURES + MARK_TIMES)

struct mark {
	size_t class;  /* of enum score_class, or MARKS_SECONDS */
	size_t figure; /* of enum mark_figure, or mark_time */
	double
	    limit; /* the least it may be; of what is wrong, and of seconds, the most */
};

struct marks {
	struct mark of[MARKS_MAX];
	size_t count;
};

/*
 * Whether the score reaches it; *ret is what was reached. A recall or F1 does not hold
 * where nothing was to be found, nor a time where nothing was found (*ret < 0): nothing
 * was measured.
 */
bool mark_holds(const struct mark *mark, const struct score *score, double *ret);

struct marks_count {
	size_t held, failed;
};

/*
 * A line for each mark of the scenario of this name, and, unless junit is NULL, a
 * testcase. Adds to *count. -EIO: it could not be written.
 */
int marks_report(const struct marks *marks, const char *name, const struct score *score,
    FILE *out, FILE *junit, struct marks_count *count);

#endif
