#include "analyzer/racks/tor_mesh.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rackmesh/identity/sight.h"
#include "rackmesh/metrics/sketch.h"

#define S RM_NS_PER_S
#define START (9000 * S)

struct world {
	struct tor_mesh *mesh;
	struct wire_writer *writer;
	rm_mono_t now;
};

static int
setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	*state = w;
	w->now.ns = START;
	w->writer = wire_writer_new();
	return tor_mesh_new(w->now, &w->mesh);
}

static int
teardown(void **state)
{
	struct world *w = *state;

	tor_mesh_free(w->mesh);
	wire_writer_free(w->writer);
	free(w);
	return 0;
}

/* One row of the rack's summary, with an RTT of rtt_ns. */
static void
report(struct world *w, const char *region, const char *src, const char *dst,
    uint64_t lost, uint64_t rtt_ns)
{
	struct rm_sketch *sketch = rm_sketch_new();
	uint8_t bytes[RM_SKETCH_MAX_BYTES];
	struct wire_row row = { .src_tor = src,
		.dst_tor = dst,
		.dscp = 26,
		.flow_set = "all",
		.sent = 100,
		.outcomes = { [WIRE_OK] = 90 - lost,
		    [WIRE_NO_REPLY] = lost,
		    [WIRE_SEND_FAILED] = 10 },
		.lost_forward = lost };
	const struct wire_summary summary = { .head = { "agg1", region, 5, 1 },
		.tor = src,
		.rows = &row,
		.row_count = 1 };
	struct wire_summary_view view;
	struct wire_bytes out;

	if (rtt_ns > 0)
		rm_sketch_add(sketch, rtt_ns);
	row.rtt = (struct wire_bytes){ bytes,
		(size_t)rm_sketch_encode(sketch, bytes, sizeof(bytes)) };
	assert_int_equal(wire_write_summary(w->writer, &summary, &out), 0);
	assert_int_equal(wire_open_summary(&view, out.data, out.len), 0);
	tor_mesh_summary(w->mesh, &view, w->now);
	rm_sketch_free(sketch);
}

struct seen {
	char tors[4][64];
	size_t tor_count, pair_count;
	struct tor_mesh_row pairs[4];
};

static void
see_tor(const char *region, const char *tor, void *arg)
{
	struct seen *seen = arg;

	snprintf(
	    seen->tors[seen->tor_count++], sizeof(seen->tors[0]), "%s/%s", region, tor);
}

static void
see_pair(const struct tor_mesh_row *row, void *arg)
{
	struct seen *seen = arg;

	seen->pairs[seen->pair_count++] = *row;
}

static struct seen
look(struct world *w, enum tor_mesh_period period, const char *region)
{
	const struct rm_sight sight = { .asked = region, .regions = "*" };
	struct seen seen = { 0 };
	const struct tor_mesh_reader reader = { see_tor, see_pair, &seen };

	tor_mesh_read(w->mesh, period, &sight, w->now, &reader);
	return seen;
}

static void
rows_of_one_pair_add_up(void **state)
{
	struct world *w = *state;
	struct seen seen;

	report(w, "lab", "t2", "t1", 5, 20000);
	w->now.ns += 10 * S;
	report(w, "lab", "t2", "t1", 0, 40000);
	report(w, "lab", "t1", "t1", 0, 0);
	for (int period = 0; period < TOR_MESH_PERIODS; period++) {
		seen = look(w, period, NULL);
		assert_int_equal(seen.tor_count, 2);
		assert_string_equal(seen.tors[0], "lab/t1");
		assert_string_equal(seen.tors[1], "lab/t2");
		assert_int_equal(seen.pair_count, 2);
		assert_int_equal(seen.pairs[0].src, 1);
		assert_int_equal(seen.pairs[0].dst, 0);
		assert_int_equal(seen.pairs[0].counts[TOR_MESH_SENT], 180);
		assert_int_equal(seen.pairs[0].counts[TOR_MESH_OK], 175);
		assert_int_equal(seen.pairs[0].counts[TOR_MESH_NO_REPLY], 5);
		assert_int_equal(seen.pairs[0].counts[TOR_MESH_NOT_SENT], 20);
		assert_int_equal(seen.pairs[0].counts[TOR_MESH_LOST_FORWARD], 5);
		assert_in_range(seen.pairs[0].rtt_ns[TOR_MESH_P99], 39000, 41000);
		assert_int_equal(seen.pairs[0].last_seen.ns, w->now.ns);
		assert_int_equal(seen.pairs[1].rtt_ns[TOR_MESH_P99], 0);
	}
}

static void
a_region_is_looked_at_alone(void **state)
{
	struct world *w = *state;
	struct seen seen;

	report(w, "a", "t1", "t2", 1, 0);
	report(w, "b", "t1", "t2", 2, 0);
	seen = look(w, TOR_MESH_MINUTE, "b");
	assert_int_equal(seen.tor_count, 2);
	assert_string_equal(seen.tors[0], "b/t1");
	assert_int_equal(seen.pair_count, 1);
	assert_int_equal(seen.pairs[0].src, 0);
	assert_int_equal(seen.pairs[0].dst, 1);
	assert_int_equal(seen.pairs[0].counts[TOR_MESH_NO_REPLY], 2);
	assert_int_equal(look(w, TOR_MESH_MINUTE, NULL).tor_count, 4);
}

static void
the_minute_and_the_hour_drop_old_rows(void **state)
{
	struct world *w = *state;

	report(w, "lab", "t1", "t2", 1, 0);
	w->now.ns = START + 69 * S;
	assert_int_equal(look(w, TOR_MESH_MINUTE, NULL).pair_count, 1);
	assert_int_equal(tor_mesh_covered_ns(w->mesh, TOR_MESH_MINUTE, w->now), 69 * S);
	w->now.ns = START + 70 * S;
	assert_int_equal(look(w, TOR_MESH_MINUTE, NULL).pair_count, 0);
	assert_int_equal(tor_mesh_covered_ns(w->mesh, TOR_MESH_MINUTE, w->now), 60 * S);
	assert_int_equal(look(w, TOR_MESH_HOUR, NULL).pair_count, 1);
	w->now.ns = START + 5 * 900 * S;
	assert_int_equal(look(w, TOR_MESH_HOUR, NULL).pair_count, 0);
	assert_int_equal(look(w, TOR_MESH_HOUR, NULL).tor_count, 2);
	w->now.ns += S;
	tor_mesh_expire(w->mesh, w->now);
	assert_int_equal(look(w, TOR_MESH_HOUR, NULL).tor_count, 0);
}

/* An aggregator that could not reach the analyzer sends its backlog afterwards. */
static void
a_late_row_counts_in_the_minute_of_its_time(void **state)
{
	struct world *w = *state;
	struct seen seen;

	w->now.ns = START + 1000 * S;
	report(w, "lab", "t1", "t2", 0, 20000);
	w->now.ns = START;
	report(w, "lab", "t1", "t2", 7, 90000);
	w->now.ns = START + 1000 * S;
	seen = look(w, TOR_MESH_MINUTE, NULL);
	assert_int_equal(seen.pairs[0].counts[TOR_MESH_NO_REPLY], 0);
	seen = look(w, TOR_MESH_HOUR, NULL);
	assert_int_equal(seen.pairs[0].counts[TOR_MESH_NO_REPLY], 7);
	assert_in_range(seen.pairs[0].rtt_ns[TOR_MESH_P50], 19000, 21000);
	assert_int_equal(seen.pairs[0].last_seen.ns, w->now.ns);
}

static void
rows_without_sense_are_refused_and_counted(void **state)
{
	struct world *w = *state;

	report(w, "lab", "t1", "a \"name\"", 1, 0);
	report(w, "lab", "", "t2", 1, 0);
	report(w, "lab", "t1", "t2", 91, 0); /* more lost than sent */
	report(w, "field", "t1", "t2", 91, 0);
	assert_int_equal(*tor_mesh_refused(w->mesh), 4);
	assert_int_equal(
	    tor_mesh_refused_in(w->mesh, &(struct rm_sight){ .regions = "lab" }), 3);
	assert_int_equal(tor_mesh_refused_in(w->mesh,
			     &(struct rm_sight){ .asked = "field", .regions = "*" }),
	    1);
	assert_int_equal(look(w, TOR_MESH_HOUR, NULL).tor_count, 0);
}

static void
lost_probes_do_not_show_an_older_round_trip_time(void **state)
{
	struct world *w = *state;
	struct seen seen;

	report(w, "lab", "t1", "t2", 0, 20000);
	w->now.ns += 10 * S;
	report(w, "lab", "t1", "t2", 90, 0);
	seen = look(w, TOR_MESH_MINUTE, NULL);
	assert_int_equal(seen.pairs[0].counts[TOR_MESH_NO_REPLY], 90);
	assert_int_equal(seen.pairs[0].rtt_ns[TOR_MESH_P50], 0);
	assert_int_equal(seen.pairs[0].rtt_ns[TOR_MESH_P99], 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(rows_of_one_pair_add_up),
		TEST(lost_probes_do_not_show_an_older_round_trip_time),
		TEST(a_region_is_looked_at_alone),
		TEST(the_minute_and_the_hour_drop_old_rows),
		TEST(a_late_row_counts_in_the_minute_of_its_time),
		TEST(rows_without_sense_are_refused_and_counted),
	};

	return cmocka_run_group_tests_name("tor_mesh", tests, NULL, NULL);
}
