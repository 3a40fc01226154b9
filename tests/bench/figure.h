/*
 * figure - one measured figure as one line of JSON, for bench.py to judge and print.
 *
 * Noise can only slow a bench down: measure the figure and its yardstick alternately, a
 * few times each, and report the best of both.
 */
#ifndef BENCH_FIGURE_H
#define BENCH_FIGURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct figure { /* printed without escaping */
	const char *name, *unit;
	double value;
	const char *yardstick_is; /* NULL: none */
	double yardstick; /* yardstick: the reference figure, in the same unit */
	/* NULL, or "value >= 1000", "ratio <= 2"; with "aim " in front it is
	 * reported, but does not fail. */
	const char *gate;
	const char *of; /* NULL, or a prefix of the name */
};

void figure_print(const struct figure *figure);

/* CPU time of this process so far, which other processes on the same core do not
 * change. */
uint64_t figure_cpu_ns(void);

/* True: this option is among the arguments. */
bool figure_argument(int argc, char **argv, const char *option);

/* 99th percentile of ns, in us; sorts ns. 0 if there is none. */
double figure_p99_us(int64_t *ns, size_t count);

/* Keeps the smaller of the two; best 0: no value yet. */
void figure_keep_best(double *best, double value);

#endif
