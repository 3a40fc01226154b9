/*
 * bench_rack - how many results a second one core takes through an aggregator.
 *
 * The batches of 256 agents, encoded in advance, go through its own code in the order
 * and with the ticks of the daemon: verify, ingest (with window, summary and ring),
 * close and judge. Only that code is timed. Each stage is also timed alone with the
 * same results, which shows where the time goes.
 *
 * Yardstick: reading every result once, which every aggregator must do.
 *
 *     --count   only one short pass, for an instruction count by callgrind
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "tests/bench/figure.h"
#include "tests/bench/sim_agents.h"
#include "tests/bench/sim_aggregator.h"
#include "tor-aggregator/agents/agent.h"
#include "tor-aggregator/rack/tor_rack.h"
#include "tor-aggregator/summary/summary.h"
#include "tor-aggregator/window/ring.h"
#include "tor-aggregator/window/roster.h"
#include "tor-aggregator/window/window.h"

#define RNICS 256
#define RATE 100
#define FAR_TORS 4
#define DEAD 3 /* RNICs of the rack with faults */
#define LOSSY 4
#define ALIGNMENT 64

struct message {
	size_t agent;
	rm_mono_t at;
	uint8_t *data; /* offset in the store */
	size_t len;
};

struct placed { /* a result as the stages after ingest get it */
	const struct wire_result *result;
	rm_mono_t sent;
	uint32_t src, dst;
	uint16_t dst_tor;
};

struct bench {
	struct sim_agents *agents;
	struct sim_aggregator aggregator;
	uint8_t *store;
	struct message *messages;
	size_t message_count;
	struct placed *placed;
	size_t result_count;
	rm_mono_t end;
};

struct costs { /* ns in total, of the fastest round of each stage */
	double read, checksum, verify, ingest, tick, window, summary, ring;
};

static volatile uint64_t used;

/* ---- batches, encoded in advance --------------------------------------------- */

static int
bench_encode(struct bench *bench, size_t seconds)
{
	size_t room = RNICS * RATE * seconds * 128, at = 0;
	struct sim_message message;
	int r = sim_agents_next(bench->agents, &message);

	bench->end = (rm_mono_t){ SIM_START_NS + (int64_t)seconds * RM_NS_PER_S };
	bench->store = aligned_alloc(ALIGNMENT, room);
	bench->messages = calloc(RNICS * 5 * seconds, sizeof(*bench->messages));
	if (bench->store == NULL || bench->messages == NULL)
		return -ENOMEM;
	while (r == 0 && message.at.ns < bench->end.ns) {
		if (at + message.bytes.len + ALIGNMENT > room)
			return -ENOSPC;
		memcpy(bench->store + at, message.bytes.data, message.bytes.len);
		bench->messages[bench->message_count++] =
		    (struct message){ message.agent, message.at, bench->store + at,
			    message.bytes.len };
		at += (message.bytes.len + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
		bench->result_count += message.count;
		r = sim_agents_next(bench->agents, &message);
	}
	return r;
}

static int
bench_place(struct bench *bench)
{
	const struct roster *roster = tor_rack_roster(bench->aggregator.rack);
	size_t n = 0;

	bench->placed = calloc(bench->result_count, sizeof(*bench->placed));
	if (bench->placed == NULL)
		return -ENOMEM;
	for (size_t m = 0; m < bench->message_count; m++) {
		const struct message *message = &bench->messages[m];
		struct wire_batch_view view;
		int r = wire_open_batch(&view, message->data, message->len);

		if (r < 0)
			return r;
		for (size_t i = 0; i < view.count; i++) {
			const struct wire_result *result = &view.results[i];
			const struct roster_rnic *src, *dst;

			src =
			    roster_find(roster, (struct wire_rnic_id){ result->src_guid,
						    result->src_port_num });
			dst =
			    roster_find(roster, (struct wire_rnic_id){ result->dst_guid,
						    result->dst_port_num });
			if (src == NULL || dst == NULL)
				return -ENOENT;
			bench->placed[n++] = (struct placed){ result,
				rm_mono_add(message->at, -(int64_t)result->sent_age_ns),
				src->index, dst->index, dst->tor_number };
		}
	}
	return 0;
}

/* ---- all stages together -------------------------------------------------------- */

/* Checks that every result is in a window, and that there are incidents if there are
 * faults. */
static int
measure_whole(struct bench *bench, bool faults, struct costs *best)
{
	struct sim_aggregator *aggregator = &bench->aggregator;
	double ingest = 0, tick = 0;
	size_t next = 0;
	int r;

	sim_aggregator_clear(aggregator);
	r = sim_aggregator_init(aggregator, bench->agents);
	if (r < 0)
		return r;
	for (rm_mono_t now = { SIM_START_NS }; now.ns <= bench->end.ns;
	     now = rm_mono_add(now, SIM_TICK_NS)) {
		uint64_t start = figure_cpu_ns(), between;

		for (; next < bench->message_count &&
		       bench->messages[next].at.ns <= now.ns;
		     next++) {
			const struct message *m = &bench->messages[next];

			r = sim_aggregator_take(
			    aggregator, m->agent, m->at, m->data, m->len);
			if (r < 0)
				return r;
		}
		between = figure_cpu_ns();
		sim_aggregator_tick(aggregator, now);
		ingest += (double)(between - start);
		tick += (double)(figure_cpu_ns() - between);
	}
	if (aggregator->ingest.counts.raw.windowed != bench->result_count ||
	    (aggregator->incidents > 0) != faults)
		return -EPROTO;
	if (best->ingest == 0 || ingest + tick < best->ingest + best->tick) {
		best->ingest = ingest;
		best->tick = tick;
	}
	return 0;
}

/* ---- each stage alone ---- */

static int
measure_messages(struct bench *bench, struct costs *best)
{
	uint64_t start = figure_cpu_ns(), between;

	for (size_t i = 0; i < bench->message_count; i++)
		used += crc32_z(0, bench->messages[i].data, bench->messages[i].len);
	between = figure_cpu_ns();
	figure_keep_best(&best->checksum, (double)(between - start));
	for (size_t i = 0; i < bench->message_count; i++) {
		struct wire_batch_view view;
		int r = wire_open_batch(
		    &view, bench->messages[i].data, bench->messages[i].len);

		if (r < 0)
			return r;
	}
	figure_keep_best(&best->verify, (double)(figure_cpu_ns() - between));
	return 0;
}

static void
measure_read(struct bench *bench, struct costs *best)
{
	uint64_t sum = 0, start = figure_cpu_ns();

	for (size_t i = 0; i < bench->result_count; i++) {
		const struct wire_result *result = bench->placed[i].result;

		sum += result->src_guid + result->dst_guid + result->sent_age_ns +
		       result->rtt_ns + result->outcome;
	}
	used += sum;
	figure_keep_best(&best->read, (double)(figure_cpu_ns() - start));
}

static int
measure_window(struct bench *bench, struct costs *best)
{
	const struct window_options options = { .bin_ns = TOR_RACK_BIN_NS,
		.judge_bins = TOR_RACK_JUDGE_BINS,
		.open_bins = 16,
		.timeout_ns = SIM_TIMEOUT_NS,
		.wait_ns = 500 * RM_NS_PER_MS,
		.max_pairs = 131072 };
	rm_mono_t tick = { SIM_START_NS };
	struct window_closed closed;
	struct window *window;
	uint64_t start, refused = 0;
	int r = window_new(&options, tick, &window);

	if (r < 0)
		return r;
	start = figure_cpu_ns();
	for (size_t i = 0; i < bench->result_count; i++) {
		const struct placed *p = &bench->placed[i];

		refused += window_add(window, p->sent, p->result, p->src, p->dst) !=
			   WINDOW_COUNTED;
		if (p->sent.ns - tick.ns < SIM_TICK_NS)
			continue;
		tick = p->sent;
		while (window_close(
		    window, tick, rm_mono_add(tick, -SIM_TIMEOUT_NS), &closed))
			used += closed.pair_count;
	}
	figure_keep_best(&best->window, (double)(figure_cpu_ns() - start));
	window_free(window);
	return refused == 0 ? 0 : -EPROTO;
}

static int
measure_summary(struct bench *bench, struct costs *best)
{
	const struct summary_options options = { 10 * RM_NS_PER_S, 60 * RM_NS_PER_S };
	struct summary *summary;
	uint64_t start;
	int r = summary_new(
	    &options, (rm_mono_t){ SIM_START_NS }, (rm_wall_t){ 1 }, &summary);

	if (r < 0)
		return r;
	start = figure_cpu_ns();
	for (size_t i = 0; i < bench->result_count; i++) {
		const struct placed *p = &bench->placed[i];

		summary_add(summary, p->result, p->src, p->dst_tor);
	}
	figure_keep_best(&best->summary, (double)(figure_cpu_ns() - start));
	summary_free(summary);
	return 0;
}

static int
measure_ring(struct bench *bench, struct costs *best)
{
	struct ring *ring;
	uint64_t start;
	int r = ring_new(64 << 20, &ring);

	if (r < 0)
		return r;
	start = figure_cpu_ns();
	for (size_t i = 0; i < bench->result_count; i++)
		ring_put(ring, bench->placed[i].sent, false, bench->placed[i].result);
	figure_keep_best(&best->ring, (double)(figure_cpu_ns() - start));
	ring_free(ring);
	return 0;
}

static int
measure_stages(struct bench *bench, struct costs *best)
{
	int r = measure_messages(bench, best);

	measure_read(bench, best);
	if (r == 0)
		r = measure_window(bench, best);
	if (r == 0)
		r = measure_summary(bench, best);
	if (r == 0)
		r = measure_ring(bench, best);
	return r;
}

/* ---- main ---- */

static double
share_of_core(const struct bench *bench, const struct costs *best)
{
	return (best->ingest + best->tick) / (double)bench->result_count * RNICS *
	       RATE / 1e9 * 100;
}

static void
report_faults(const struct bench *bench, const struct costs *best)
{
	figure_print(&(struct figure){ "the same rack, 3 RNICs dead and 4 lossy",
	    "% of core", share_of_core(bench, best), .gate = "value <= 5" });
}

static void
report(const struct bench *bench, const struct costs *best)
{
	const double n = (double)bench->result_count, whole = best->ingest + best->tick;
	const struct {
		const char *name;
		double ns;
	} stages[] = {
		{ "frame checksum (the link's)", best->checksum },
		{ "verify", best->verify },
		{ "ingest: verify, check, window, summary, ring", best->ingest },
		{ "close and judge, every 50 ms", best->tick },
		{ "alone: window, add and close", best->window },
		{ "alone: summary", best->summary },
		{ "alone: ring", best->ring },
		{ "all of it: ingest, close, judge", whole },
	};

	for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++)
		figure_print(&(struct figure){ stages[i].name, "ns/result",
		    stages[i].ns / n, "read once", best->read / n });
	figure_print(&(struct figure){ "results per second and core", "/s",
	    n / whole * 1e9, .gate = "aim value >= 2000000" });
	figure_print(&(struct figure){ "256 RNICs at 100 results/s each", "% of core",
	    share_of_core(bench, best), .gate = "value <= 5" });
}

static void
bench_free(struct bench *bench)
{
	sim_aggregator_clear(&bench->aggregator);
	sim_agents_free(bench->agents);
	free(bench->store);
	free(bench->messages);
	free(bench->placed);
}

/* Measures a rack with faults. */
static int
measure_faults(size_t seconds, int rounds)
{
	struct bench bench = { 0 };
	struct costs best = { 0 };
	int r = sim_agents_new(RNICS, RATE, FAR_TORS, &bench.agents);

	if (r == 0) {
		sim_agents_break(bench.agents, DEAD, LOSSY);
		r = bench_encode(&bench, seconds);
	}
	for (int i = 0; i < rounds && r == 0; i++)
		r = measure_whole(&bench, true, &best);
	if (r == 0)
		report_faults(&bench, &best);
	bench_free(&bench);
	return r;
}

int
main(int argc, char **argv)
{
	bool smoke = figure_argument(argc, argv, "--smoke");
	bool count = figure_argument(argc, argv, "--count");
	struct bench bench = { 0 };
	struct costs best = { 0 };
	int rounds = count ? 1 : smoke ? 3 : 7;
	int r = sim_agents_new(RNICS, RATE, FAR_TORS, &bench.agents);

	if (r == 0)
		r = bench_encode(&bench, count ? 5 : smoke ? 8 : 20);
	for (int i = 0; i < rounds && r == 0; i++) {
		r = measure_whole(&bench, false, &best);
		if (r == 0 && bench.placed == NULL)
			r = bench_place(&bench);
		if (r == 0 && !count)
			r = measure_stages(&bench, &best);
	}
	if (r == 0 && count)
		printf("{\"results\": %zu}\n", bench.result_count);
	else if (r == 0)
		report(&bench, &best);
	bench_free(&bench);
	if (r == 0 && !count)
		r = measure_faults(smoke ? 8 : 20, rounds);
	if (r < 0)
		fprintf(stderr, "bench_rack: %s\n", strerror(-r));
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
