/*
 * bench_upstream - what a healthy rack's aggregator sends, compared with what it
 * receives.
 *
 * A minute of made-up batches goes through the aggregator's own code. Counted with
 * their frame headers: the batches (raw) and the summaries (upstream), until the last
 * one after the agents have stopped. The 99th percentile of the RTT is then read from
 * the merged sketches of the summaries and compared with that of all raw results. There
 * is one row per destination ToR and class, so the number of these determines the size.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/metrics/sketch.h"
#include "rackmesh/net/frame.h"
#include "tests/bench/figure.h"
#include "tests/bench/sim_agents.h"
#include "tests/bench/sim_aggregator.h"

#define SECONDS 60
#define FLUSH_S 12 /* the last row is due every 10 s */
#define RATE 100   /* results per RNIC and second */

struct tally {
	struct wire_writer *writer;
	struct rm_sketch *all, *one;
	uint64_t raw_bytes, upstream_bytes, row_bytes;
	uint64_t refused;
	uint64_t seq;
	uint32_t *rtts;
	size_t rtt_count, rtt_room;
};

static int
read_back(struct tally *tally, const struct wire_bytes *bytes)
{
	struct wire_summary_view view;
	int r = wire_open_summary(&view, bytes->data, bytes->len);

	for (size_t i = 0; r == 0 && i < view.summary.row_count; i++) {
		struct wire_row row;

		wire_summary_row(&view, i, &row);
		r = rm_sketch_decode(tally->one, row.rtt.data, row.rtt.len);
		if (r == 0)
			rm_sketch_merge(tally->all, tally->one);
	}
	return r;
}

static void
on_summary(const struct wire_summary *summary, void *arg)
{
	struct tally *tally = arg;
	struct wire_summary out = *summary;
	struct wire_bytes bytes;

	out.head = (struct wire_lane_head){ "aggregator-0", "bench", 1, ++tally->seq };
	if (wire_write_summary(tally->writer, &out, &bytes) < 0 ||
	    read_back(tally, &bytes) < 0) {
		tally->refused++;
		return;
	}
	tally->upstream_bytes += bytes.len + RM_FRAME_HEADER_BYTES;
	if (summary->row_count > 0)
		tally->row_bytes += bytes.len + RM_FRAME_HEADER_BYTES;
}

static int
run(struct tally *tally, struct sim_agents *agents, struct sim_aggregator *aggregator)
{
	rm_mono_t end = { SIM_START_NS + SECONDS * RM_NS_PER_S };
	rm_mono_t now = { SIM_START_NS },
		  last = rm_mono_add(end, FLUSH_S * RM_NS_PER_S);
	struct sim_message message;
	int r = sim_agents_next(agents, &message);

	for (; r == 0 && now.ns < last.ns; now = rm_mono_add(now, SIM_TICK_NS)) {
		while (r == 0 && message.at.ns <= now.ns && message.at.ns <= end.ns) {
			r = sim_aggregator_take(aggregator, message.agent, message.at,
			    message.bytes.data, message.bytes.len);
			tally->raw_bytes += message.bytes.len + RM_FRAME_HEADER_BYTES;
			for (size_t i = 0; i < message.count; i++) {
				if (tally->rtt_count == tally->rtt_room)
					return -ENOSPC;
				tally->rtts[tally->rtt_count++] =
				    message.results[i].rtt_ns;
			}
			if (r == 0)
				r = sim_agents_next(agents, &message);
		}
		sim_aggregator_tick(aggregator, now);
	}
	return r;
}

static int
compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void
report(struct tally *tally, const struct sim_aggregator *aggregator, size_t rnics,
    size_t far_tors, bool gated)
{
	double ratio = (double)tally->raw_bytes / (double)tally->upstream_bytes;
	double exact, read;
	char of[64];

	snprintf(of, sizeof(of), "%zu RNICs, %zu ToRs", rnics, 1 + far_tors);
	qsort(tally->rtts, tally->rtt_count, sizeof(*tally->rtts), compare);
	exact = tally->rtts[(tally->rtt_count * 99 + 99) / 100 - 1];
	read = (double)rm_sketch_quantile_ns(tally->all, 0.99);
	figure_print(&(struct figure){
	    "raw, of a minute", "bytes", (double)tally->raw_bytes, .of = of });
	figure_print(&(struct figure){
	    "upstream", "bytes", (double)tally->upstream_bytes, .of = of });
	figure_print(&(struct figure){ "of these, rows with sketches", "bytes",
	    (double)tally->row_bytes, .of = of });
	figure_print(&(struct figure){ "raw to upstream", "to 1", ratio, .of = of,
	    .gate = gated ? "value >= 1000" : NULL });
	figure_print(&(struct figure){
	    "RTT p99 read back", "ns", read, "all raw results", exact, .of = of });
	figure_print(&(struct figure){ "its error", "%", 100 * fabs(read / exact - 1),
	    .of = of, .gate = gated ? "value <= 1" : NULL });
	figure_print(&(struct figure){ "results in no window", "results",
	    (double)(tally->rtt_count - aggregator->ingest.counts.raw.windowed),
	    .of = of, .gate = "value <= 0" });
	figure_print(&(struct figure){ "incidents", "", (double)aggregator->incidents,
	    .of = of, .gate = "value <= 0" });
	figure_print(&(struct figure){ "refused summaries", "", (double)tally->refused,
	    .of = of, .gate = "value <= 0" });
}

static int
measure(size_t rnics, size_t far_tors, bool gated)
{
	struct tally tally = { .rtt_room = rnics * RATE * (SECONDS + 1) };
	struct sim_aggregator aggregator = { 0 };
	struct sim_agents *agents = NULL;
	int r = -ENOMEM;

	tally.writer = wire_writer_new();
	tally.all = rm_sketch_new();
	tally.one = rm_sketch_new();
	tally.rtts = calloc(tally.rtt_room, sizeof(*tally.rtts));
	if (tally.writer == NULL || tally.all == NULL || tally.one == NULL ||
	    tally.rtts == NULL)
		goto out;
	r = sim_agents_new(rnics, RATE, far_tors, &agents);
	if (r == 0)
		r = sim_aggregator_init(&aggregator, agents);
	if (r < 0)
		goto out;
	aggregator.on_summary = on_summary;
	aggregator.arg = &tally;
	r = run(&tally, agents, &aggregator);
	if (r == 0)
		report(&tally, &aggregator, rnics, far_tors, gated);
out:
	sim_aggregator_clear(&aggregator);
	sim_agents_free(agents);
	wire_writer_free(tally.writer);
	rm_sketch_free(tally.all);
	rm_sketch_free(tally.one);
	free(tally.rtts);
	return r;
}

int
main(void)
{
	int r = measure(256, 4, true);

	if (r == 0)
		r = measure(8, 4, false);
	if (r == 0) /* the most that a controller plans by default */
		r = measure(256, 64, false);
	if (r < 0)
		fprintf(stderr, "bench_upstream: %s\n", strerror(-r));
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
