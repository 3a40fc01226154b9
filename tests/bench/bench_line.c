/*
 * bench_line - encoding points of line protocol.
 *
 * Two kinds of points: one of InfluxDB's own benchmarks (4 tags, 5 fields), and an
 * RNIC's row with its 22 fields.
 *
 * Figures to compare with: the same points by snprintf without escaping, and memcpy of
 * the finished text, which is the lower bound.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/metrics/line_protocol.h"
#include "tests/bench/figure.h"

#define POINTS 1000
#define REPEATS 100
#define ROW_FIELDS 22
#define ROOM (1 << 20)

static char text[ROOM], copy[ROOM];
static volatile char sink;

static const char *const row_fields[ROW_FIELDS] = { "sent", "ok", "no_reply",
	"late_reply", "send_failed", "sent_late", "stale_qpn", "self_loss", "invalid",
	"bad", "rtt_p50_ns", "rtt_p95_ns", "rtt_p99_ns", "rtt_max_ns",
	"prober_delay_p50_ns", "prober_delay_p95_ns", "prober_delay_p99_ns",
	"prober_delay_max_ns", "responder_delay_p50_ns", "responder_delay_p95_ns",
	"responder_delay_p99_ns", "responder_delay_max_ns" };

struct point {
	char host[32], rnic[32];
	int64_t values[ROW_FIELDS];
	rm_wall_t when;
};

static struct point points[POINTS];

static void
points_fill(void)
{
	for (int i = 0; i < POINTS; i++) {
		struct point *point = &points[i];

		snprintf(point->host, sizeof(point->host), "host-%d", i % 250);
		snprintf(point->rnic, sizeof(point->rnic), "0c42:a103:0065:%04x/1", i);
		for (int f = 0; f < ROW_FIELDS; f++)
			point->values[f] = f == 0 || f == 1 ? 6000 - i % 7
					   : f < 10         ? i % 3
							    : 8000 + 7919 * i % 90000;
		point->when.ns = 1767225600000000000 + i * 1000003;
	}
}

static void
put_small(struct rm_line *line, const struct point *point)
{
	rm_line_begin(line, "rm_tor_pair");
	rm_line_tag(line, "region", "lab");
	rm_line_tag(line, "tor", "tor-17");
	rm_line_tag(line, "host", point->host);
	rm_line_tag(line, "dscp", "26");
	for (int f = 0; f < 5; f++)
		rm_line_int(line, row_fields[f], point->values[f]);
	rm_line_end(line, point->when);
}

static int
print_small(char *out, size_t room, const struct point *point)
{
	return snprintf(out, room,
	    "rm_tor_pair,region=%s,tor=%s,host=%s,dscp=%s sent=%" PRId64 "i,ok=%" PRId64
	    "i,no_reply=%" PRId64 "i,late_reply=%" PRId64 "i,send_failed=%" PRId64
	    "i %" PRId64 "\n",
	    "lab", "tor-17", point->host, "26", point->values[0], point->values[1],
	    point->values[2], point->values[3], point->values[4], point->when.ns);
}

static void
put_row(struct rm_line *line, const struct point *point)
{
	rm_line_begin(line, "rm_rnic");
	rm_line_tag(line, "region", "lab");
	rm_line_tag(line, "aggregator", "agg-tor-17");
	rm_line_tag(line, "tor", "tor-17");
	rm_line_tag(line, "host", point->host);
	rm_line_tag(line, "device", "mlx5_0");
	rm_line_tag(line, "rnic", point->rnic);
	for (int f = 0; f < ROW_FIELDS; f++)
		rm_line_int(line, row_fields[f], point->values[f]);
	rm_line_end(line, point->when);
}

static int
print_row(char *out, size_t room, const struct point *point)
{
	int len = snprintf(out, room,
	    "rm_rnic,region=%s,aggregator=%s,tor=%s,host=%s,device=%s,rnic=%s", "lab",
	    "agg-tor-17", "tor-17", point->host, "mlx5_0", point->rnic);

	for (int f = 0; f < ROW_FIELDS; f++)
		len += snprintf(out + len, room - (size_t)len, "%c%s=%" PRId64 "i",
		    f == 0 ? ' ' : ',', row_fields[f], point->values[f]);
	return len + snprintf(out + len, room - (size_t)len, " %" PRId64 "\n",
			 point->when.ns);
}

struct kind {
	const char *name;
	void (*put)(struct rm_line *line, const struct point *point);
	int (*print)(char *out, size_t room, const struct point *point);
	const char *gate;
};

struct costs {
	double put, print, copy; /* ns per point */
};

static size_t
measure_put(const struct kind *kind, double *best)
{
	uint64_t start = figure_cpu_ns();
	struct rm_line line;

	for (int i = 0; i < REPEATS; i++) {
		rm_line_init(&line, text, sizeof(text));
		for (int p = 0; p < POINTS; p++)
			kind->put(&line, &points[p]);
		sink += text[i];
	}
	figure_keep_best(best, (double)(figure_cpu_ns() - start) / REPEATS / POINTS);
	return line.len;
}

static size_t
measure_print(const struct kind *kind, double *best)
{
	uint64_t start = figure_cpu_ns();
	size_t len = 0;

	for (int i = 0; i < REPEATS / 10; i++) {
		len = 0;
		for (int p = 0; p < POINTS; p++)
			len += (size_t)kind->print(
			    copy + len, sizeof(copy) - len, &points[p]);
		sink += copy[i];
	}
	figure_keep_best(
	    best, (double)(figure_cpu_ns() - start) / (REPEATS / 10) / POINTS);
	return len;
}

static void
measure_copy(size_t len, double *best)
{
	uint64_t start = figure_cpu_ns();

	for (int i = 0; i < REPEATS; i++) {
		memcpy(copy, text, len);
		sink += copy[(size_t)i % len];
	}
	figure_keep_best(best, (double)(figure_cpu_ns() - start) / REPEATS / POINTS);
}

/* False: the two texts differ, so the speeds cannot be compared. */
static bool
run(const struct kind *kind, int rounds)
{
	struct costs best = { 0 };
	char name[64];

	for (int i = 0; i < rounds; i++) {
		size_t len = measure_put(kind, &best.put);

		if (measure_print(kind, &best.print) != len ||
		    memcmp(text, copy, len) != 0)
			return false;
		measure_copy(len, &best.copy);
	}
	snprintf(name, sizeof(name), "encode %s", kind->name);
	figure_print(&(struct figure){ name, "points/s", 1e9 / best.put, "snprintf",
	    1e9 / best.print, kind->gate });
	snprintf(name, sizeof(name), "encode %s, time", kind->name);
	figure_print(
	    &(struct figure){ name, "ns/point", best.put, "memcpy", best.copy });
	return true;
}

int
main(int argc, char **argv)
{
	static const struct kind small = { "4 tags, 5 fields", put_small, print_small,
		"value >= 2000000" };
	static const struct kind row = { "6 tags, 22 fields", put_row, print_row,
		"ratio >= 2" };
	int rounds = figure_argument(argc, argv, "--smoke") ? 5 : 25;

	points_fill();
	return run(&small, rounds) && run(&row, rounds) ? EXIT_SUCCESS : EXIT_FAILURE;
}
