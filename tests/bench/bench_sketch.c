/*
 * bench_sketch - what it costs to add a latency to a sketch.
 *
 * Yardstick: storing the same latencies in an array, which must be sorted later to get
 * a percentile.
 */
#include <stdio.h>
#include <stdlib.h>

#include "rackmesh/metrics/sketch.h"
#include "tests/bench/figure.h"
#include "tests/bench/latency.h"

#define VALUES 65536
#define PASSES 16

static uint64_t values[VALUES];
/* Volatile: keeps the compiler from removing the stores. */
static volatile uint64_t store[VALUES];

static double
measure_add(struct rm_sketch *sketch)
{
	uint64_t start = figure_cpu_ns();

	for (int pass = 0; pass < PASSES; pass++)
		for (size_t i = 0; i < VALUES; i++)
			rm_sketch_add(sketch, values[i]);
	return (double)(figure_cpu_ns() - start) / ((double)PASSES * VALUES);
}

static double
measure_store(void)
{
	uint64_t start = figure_cpu_ns();

	for (int pass = 0; pass < PASSES; pass++)
		for (size_t i = 0; i < VALUES; i++)
			store[i] = values[i];
	return (double)(figure_cpu_ns() - start) / ((double)PASSES * VALUES);
}

static double
measure_encode(const struct rm_sketch *sketch, int *len)
{
	uint8_t bytes[RM_SKETCH_MAX_BYTES];
	uint64_t start = figure_cpu_ns();

	for (int i = 0; i < 1000; i++)
		*len = rm_sketch_encode(sketch, bytes, sizeof(bytes));
	return (double)(figure_cpu_ns() - start) / 1000;
}

int
main(int argc, char **argv)
{
	int rounds = figure_argument(argc, argv, "--smoke") ? 5 : 25, len = 0;
	double add = 0, plain = 0, encode = 0;
	struct rm_sketch *sketch = rm_sketch_new();
	struct latency latency = { .state = 1 };

	if (sketch == NULL)
		return EXIT_FAILURE;
	for (size_t i = 0; i < VALUES; i++)
		values[i] = latency_next(&latency, 8000);
	for (int i = 0; i < rounds; i++) {
		figure_keep_best(&add, measure_add(sketch));
		figure_keep_best(&plain, measure_store());
		figure_keep_best(&encode, measure_encode(sketch, &len));
	}
	rm_sketch_free(sketch);
	if (len <= 0)
		return EXIT_FAILURE;
	figure_print(&(struct figure){ "add", "ns/value", add, "array store", plain });
	figure_print(&(struct figure){ "encode", "ns/sketch", encode });
	figure_print(&(struct figure){ "encoded size", "bytes", len });
	return EXIT_SUCCESS;
}
