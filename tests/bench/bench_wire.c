/*
 * bench_wire - one batch of 90 results: encoded, verified, iterated over.
 *
 * Yardstick: memcpy of the same bytes, the lower bound for moving a batch.
 */
#include <stdlib.h>
#include <string.h>

#include "schemas/wire.h"
#include "tests/bench/figure.h"
#include "tests/bench/latency.h"

#define RESULTS 90
#define REPEATS 20000

static struct wire_result results[RESULTS];
/* Values read are added to this, so that the compiler does not remove the reads. */
static volatile uint64_t sink;

struct costs {
	double copy, encode, verify, iterate; /* ns per batch */
};

static const struct wire_batch_head head = {
	.host = "host-0",
	.incarnation = 1,
	.seq = 1,
	.now_ns = UINT64_C(1000000000),
};

static int
measure_encode(struct wire_writer *writer, double *best, struct wire_bytes *out)
{
	uint64_t start = figure_cpu_ns();

	for (int i = 0; i < REPEATS; i++) {
		int r = wire_write_batch(writer, &head, results, RESULTS, out);

		if (r < 0)
			return r;
	}
	figure_keep_best(best, (double)(figure_cpu_ns() - start) / REPEATS);
	return 0;
}

static void
measure_copy(const struct wire_bytes *bytes, double *best)
{
	static uint8_t copy[1 << 16];
	uint64_t start = figure_cpu_ns();

	for (int i = 0; i < REPEATS; i++) {
		memcpy(copy, bytes->data, bytes->len);
		sink += copy[i % bytes->len];
	}
	figure_keep_best(best, (double)(figure_cpu_ns() - start) / REPEATS);
}

static int
measure_verify(const struct wire_bytes *bytes, double *best)
{
	uint64_t start = figure_cpu_ns();
	struct wire_batch_view view;

	for (int i = 0; i < REPEATS; i++) {
		int r = wire_open_batch(&view, bytes->data, bytes->len);

		if (r < 0)
			return r;
		sink += view.count;
	}
	figure_keep_best(best, (double)(figure_cpu_ns() - start) / REPEATS);
	return 0;
}

static int
measure_iterate(const struct wire_bytes *bytes, double *best)
{
	struct wire_batch_view view;
	uint64_t sum = 0, start;
	int r = wire_open_batch(&view, bytes->data, bytes->len);

	if (r < 0)
		return r;
	start = figure_cpu_ns();
	for (int i = 0; i < REPEATS; i++) {
		for (size_t j = 0; j < view.count; j++)
			sum += view.results[j].dst_guid + view.results[j].rtt_ns +
			       view.results[j].outcome;
		sink += sum;
	}
	figure_keep_best(best, (double)(figure_cpu_ns() - start) / REPEATS);
	return 0;
}

static void
results_fill(void)
{
	struct latency latency = { .state = 1 };

	for (size_t i = 0; i < RESULTS; i++)
		results[i] = (struct wire_result){ .src_guid = 1,
			.dst_guid = 2 + i,
			.sent_age_ns = latency_random(&latency) % 200000000,
			.rtt_ns = latency_next(&latency, 8000),
			.seq = (uint32_t)i,
			.src_port = 50000,
			.size_bytes = 128,
			.stamp_source = WIRE_STAMP_KERNEL,
			.flags = WIRE_SPLIT };
}

int
main(int argc, char **argv)
{
	int rounds = figure_argument(argc, argv, "--smoke") ? 5 : 25, r = 0;
	struct wire_writer *writer = wire_writer_new();
	struct costs best = { 0 };
	struct wire_bytes bytes;

	if (writer == NULL)
		return EXIT_FAILURE;
	results_fill();
	for (int i = 0; i < rounds && r == 0; i++) {
		r = measure_encode(writer, &best.encode, &bytes);
		if (r == 0)
			measure_copy(&bytes, &best.copy);
		if (r == 0)
			r = measure_verify(&bytes, &best.verify);
		if (r == 0)
			r = measure_iterate(&bytes, &best.iterate);
	}
	wire_writer_free(writer);
	if (r < 0)
		return EXIT_FAILURE;
	figure_print(
	    &(struct figure){ "encode", "ns/batch", best.encode, "memcpy", best.copy });
	figure_print(
	    &(struct figure){ "verify", "ns/batch", best.verify, "memcpy", best.copy });
	figure_print(&(struct figure){
	    "iterate", "ns/batch", best.iterate, "memcpy", best.copy });
	return EXIT_SUCCESS;
}
