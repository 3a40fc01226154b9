/*
 * runs - simulates all runs of one scenario file in several threads, and prints the
 * results. The output does not depend on the number of threads.
 */
#ifndef TESTS_SIM_RUNS_H
#define TESTS_SIM_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tests/sim/marks.h"
#include "tests/sim/run.h"

#define RUNS_MAX_JOBS 64

struct runs_options {
	uint64_t seed;
	uint32_t runs;  /* number of runs; 0: as in the file */
	uint32_t first; /* number of the first run */
	size_t jobs;
	bool score, errors, verdicts, gate, table;
	FILE *truth;
	FILE *record; /* one run's */
	FILE *junit;  /* file for the report of the marks; NULL: none */
	struct run_scheme schemes[RUN_MAX_SCHEMES];
	size_t scheme_count;
};

struct runs_sum {                 /* sums over all files; all zeros at first */
	struct marks_count marks; /* with gate */
	/* With the option --table: the scores; NULL: no file was simulated yet. */
	struct score *own, *schemes[RUN_MAX_SCHEMES];
	uint64_t files, runs;
};

/* Prints errors. Adds to *sum. */
int runs_file(
    const struct runs_options *options, const char *path, struct runs_sum *sum);
/* Prints the table of our judge and the schemes, over all files. */
void runs_table(const struct runs_options *options, const struct runs_sum *sum);
void runs_sum_clear(struct runs_sum *sum);

#endif
