/*
 * bench_history - what a point costs an analyzer on its path to the database.
 *
 * Summaries of a rack (eight rows with sketches, sixteen RNICs) become points of line
 * protocol; gzip compresses batches of points.
 *
 * Yardstick: memcpy of the same points.
 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/history/history_points.h"
#include "analyzer/history/influx_parts.h"
#include "tests/bench/figure.h"
#include "tests/bench/sim_aggregators.h"
#include "tests/support/lane_messages.h"

#define SUMMARIES 200 /* a batch of 5,000 points */
#define ROOM (4u << 20)

struct costs {
	double points, gzip, copy; /* ns per point */
};

struct bench {
	struct sim_aggregators *sim;
	struct history_points *points;
	uint8_t *messages[SUMMARIES]; /* malloc'd, so aligned */
	size_t lens[SUMMARIES];
	char *text;
	size_t len;
	uint64_t count;
};

static volatile char sink;

static int
bench_open(struct bench *bench)
{
	const struct sim_aggregators_options options = { .aggregators = 100,
		.rows = 8,
		.rnics = 16,
		.start_wall_ns = UINT64_C(1767225600000000000),
		.step_ns = 1000000000,
		.incarnation = 7,
		.region = "lab" };
	int r = sim_aggregators_new(&options, &bench->sim);

	bench->points = history_points_new();
	bench->text = malloc(ROOM);
	if (bench->points == NULL || bench->text == NULL)
		return -1;
	for (size_t i = 0; r == 0 && i < SUMMARIES; i++) {
		struct wire_bytes bytes;

		r = sim_aggregators_summary(bench->sim, i % 100, i / 100 + 1, &bytes);
		if (r < 0)
			break;
		bench->messages[i] = malloc(bytes.len);
		if (bench->messages[i] == NULL)
			return -1;
		memcpy(bench->messages[i], bytes.data, bytes.len);
		bench->lens[i] = bytes.len;
	}
	return r;
}

static void
bench_close(struct bench *bench)
{
	for (size_t i = 0; i < SUMMARIES; i++)
		free(bench->messages[i]);
	history_points_free(bench->points);
	sim_aggregators_free(bench->sim);
	free(bench->text);
}

/* Writes the points of all summaries, one after the other. */
static int
measure_points(struct bench *bench, double *best)
{
	uint64_t start = figure_cpu_ns();

	bench->len = 0;
	bench->count = 0;
	for (size_t i = 0; i < SUMMARIES; i++) {
		struct history_text text;

		if (lane_message_points(bench->points, WIRE_LANE_SUMMARY,
			bench->messages[i], bench->lens[i], &text) < 0 ||
		    bench->len + text.len > ROOM)
			return -1;
		memcpy(bench->text + bench->len, text.text, text.len);
		bench->len += text.len;
		bench->count += text.points;
	}
	figure_keep_best(
	    best, (double)(figure_cpu_ns() - start) / (double)bench->count);
	return 0;
}

static int
measure_gzip(const struct bench *bench, double *best, size_t *packed_len)
{
	uint64_t start = figure_cpu_ns();
	uint8_t *packed;

	if (influx_gzip(bench->text, bench->len, &packed, packed_len) < 0)
		return -1;
	figure_keep_best(
	    best, (double)(figure_cpu_ns() - start) / (double)bench->count);
	free(packed);
	return 0;
}

static int
measure_copy(const struct bench *bench, double *best)
{
	char *copy = malloc(bench->len);
	uint64_t start;

	if (copy == NULL)
		return -1;
	memset(copy, 0, bench->len); /* the pages are allocated now */
	start = figure_cpu_ns();
	memcpy(copy, bench->text, bench->len);
	figure_keep_best(
	    best, (double)(figure_cpu_ns() - start) / (double)bench->count);
	sink += copy[bench->len / 2];
	free(copy);
	return 0;
}

static void
print(const struct bench *bench, const struct costs *best, size_t packed_len)
{
	double count = (double)bench->count;

	figure_print(&(struct figure){ .name = "a summary into points",
	    .unit = "ns/point",
	    .value = best->points,
	    .yardstick_is = "memcpy",
	    .yardstick = best->copy });
	figure_print(&(struct figure){ .name = "packed by gzip",
	    .unit = "ns/point",
	    .value = best->gzip,
	    .yardstick_is = "memcpy",
	    .yardstick = best->copy });
	figure_print(&(struct figure){ .name = "packed size",
	    .unit = "B/point",
	    .value = (double)packed_len / count,
	    .yardstick_is = "plain",
	    .yardstick = (double)bench->len / count,
	    .gate = "ratio <= 0.5" });
}

int
main(int argc, char **argv)
{
	int rounds = figure_argument(argc, argv, "--smoke") ? 5 : 25, r;
	struct bench bench = { 0 };
	struct costs best = { 0 };
	size_t packed_len = 0;

	r = bench_open(&bench);
	for (int i = 0; r == 0 && i < rounds; i++) {
		r = measure_points(&bench, &best.points);
		if (r == 0)
			r = measure_gzip(&bench, &best.gzip, &packed_len);
		if (r == 0)
			r = measure_copy(&bench, &best.copy);
	}
	if (r == 0)
		print(&bench, &best, packed_len);
	bench_close(&bench);
	return r == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
