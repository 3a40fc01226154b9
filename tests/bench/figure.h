/*
 * figure - one measured figure as one line of JSON, for bench.py to judge and print.
 *
 * Noise can only slow a bench down: measure the figure and its yardstick in turns, a
 * few times each, and report the best of both.
 */
#ifndef BENCH_FIGURE_H
#define BENCH_FIGURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct figure { /* nothing is escaped */
	const char *name, *unit;
	double value;
	const char *yardstick_is; /* NULL: none */
	double yardstick;         /* of the same unit */
	const char *gate; /* NULL, or "value >= 1000", "ratio <= 2"; "aim " in front:
			     told, but no failure */
	const char *of;   /* NULL, or what comes before the name */
};

void figure_print(const struct figure *figure);

/* CPU time of this process so far: a neighbour on the same core is not in it. */
uint64_t figure_cpu_ns(void);

/* Is this word among the arguments? */
bool figure_argument(int argc, char **argv, const char *option);

/* 99th percentile of ns (sorted here), in us; 0 when there is none. */
double figure_p99_us(int64_t *ns, size_t count);

/* Keeps the smaller of the two; a best of 0 is none yet. */
void figure_keep_best(double *best, double value);

#endif
