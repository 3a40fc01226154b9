#include <errno.h>
#include <stdlib.h>

#include "forge.h"
#include "schemas/wire.h"
#include "tests/support/wire_walk.h"
#include "wire_case.h"

static const struct wire_stall stalls[] = { { 100, 200 }, { 300, UINT64_MAX } };

static const struct wire_heartbeat beat = {
	.incarnation = 21,
	.seq = 22,
	.now_ns = 23,
	.loop_lag_max_ns = 24,
	.paused = true,
	.stalls = stalls,
	.stall_count = 2,
	.self_loss = 25,
};

static int
write_heartbeat(struct wire_writer *writer, struct wire_bytes *out)
{
	return wire_write_heartbeat(writer, &beat, out);
}

static void
expect_heartbeat(const uint8_t *data, size_t len)
{
	struct wire_heartbeat view;

	assert_int_equal(wire_open_heartbeat(&view, data, len), 0);
	assert_int_equal(view.incarnation, 21);
	assert_int_equal(view.seq, 22);
	assert_int_equal(view.now_ns, 23);
	assert_int_equal(view.loop_lag_max_ns, 24);
	assert_true(view.paused);
	assert_int_equal(view.stall_count, 2);
	assert_memory_equal(view.stalls, stalls, sizeof(stalls));
	assert_int_equal(view.self_loss, 25);
	assert_int_equal(view.results_through_ns, 0);
	assert_false(view.paused_by_hand);
}

static const struct wire_count rows[] = {
	{ 31, 32, 33, 34, 35, 36, { 0 } },
	{ UINT64_MAX, 1, UINT64_MAX, 255, 254, 63, { 0 } },
};

static int
write_counts(struct wire_writer *writer, struct wire_bytes *out)
{
	const struct wire_counts counts = { 41, 42, rows, 2 };

	return wire_write_counts(writer, &counts, out);
}

static void
expect_counts(const uint8_t *data, size_t len)
{
	struct wire_counts view;

	assert_int_equal(wire_open_counts(&view, data, len), 0);
	assert_int_equal(view.incarnation, 41);
	assert_int_equal(view.now_ns, 42);
	assert_int_equal(view.row_count, 2);
	assert_memory_equal(view.rows, rows, sizeof(rows));
}

static const struct wire_counter_value values[] = {
	{ 51, WIRE_COUNTER_SYMBOL_ERR, 0, { 0 } },
	{ UINT64_MAX, UINT16_MAX, 255,
	    { 0 } }, /* values that only a newer peer may know */
};

static int
write_counter_report(struct wire_writer *writer, struct wire_bytes *out)
{
	const struct wire_rnic_counters rnics[] = { { { 52, 1 }, 53, values, 2 },
		{ { 54, 2 }, 55, NULL, 0 } };
	const struct wire_counter_report report = { 56, rnics, 2, NULL };

	return wire_write_counter_report(writer, &report, out);
}

static void
expect_counter_report(const uint8_t *data, size_t len)
{
	struct wire_counter_report view;
	struct wire_rnic_counters rnic;

	assert_int_equal(wire_open_counter_report(&view, data, len), 0);
	assert_int_equal(view.incarnation, 56);
	assert_int_equal(view.rnic_count, 2);
	wire_counter_report_rnic(&view, 0, &rnic);
	assert_int_equal(rnic.id.guid, 52);
	assert_int_equal(rnic.id.port, 1);
	assert_int_equal(rnic.interval_ns, 53);
	assert_int_equal(rnic.value_count, 2);
	assert_memory_equal(rnic.values, values, sizeof(values));
	wire_counter_report_rnic(&view, 1, &rnic);
	assert_int_equal(rnic.id.guid, 54);
	assert_int_equal(rnic.value_count, 0);
}

static void
a_report_of_too_many_counters_is_refused(void **state)
{
	static struct wire_counter_value many[WIRE_MAX_COUNTER_VALUES + 1];
	struct wire_rnic_counters rnics[WIRE_MAX_HOST_RNICS + 1] = { { { 1, 1 }, 2,
	    many, WIRE_MAX_COUNTER_VALUES + 1 } };
	struct wire_counter_report report = { 1, rnics, 1, NULL };
	struct wire_writer *writer = wire_writer_new();
	struct wire_bytes out;

	assert_int_equal(wire_write_counter_report(writer, &report, &out), -EMSGSIZE);
	rnics[0].value_count--;
	report.rnic_count = WIRE_MAX_HOST_RNICS + 1;
	assert_int_equal(wire_write_counter_report(writer, &report, &out), -EMSGSIZE);
	report.rnic_count--;
	assert_int_equal(wire_write_counter_report(writer, &report, &out), 0);
	assert_int_equal(wire_walk(WIRE_COUNTER_REPORT, out.data, out.len), 0);
	wire_writer_free(writer);
}

enum { HEARTBEAT_STALLS = 5, COUNTS_ROWS = 2 };

static int
open_vector(enum wire_kind kind, size_t count, size_t shift)
{
	bool beats = kind == WIRE_HEARTBEAT;
	struct forge forge;
	size_t root, vector;
	int r;

	forge_init(&forge, beats ? "RMT1" : "RMC1", 4 << 20);
	root = forge_table(&forge, 7);
	vector = forge_vector(&forge, count,
	    beats ? sizeof(struct wire_stall) : sizeof(struct wire_count), shift);
	forge_refer(&forge, root, beats ? HEARTBEAT_STALLS : COUNTS_ROWS, vector);
	forge_finish(&forge);
	r = wire_walk(kind, forge.data, forge.len);
	forge_clear(&forge);
	return r;
}

static void
vectors_beyond_their_limits_are_refused(void **state)
{
	assert_int_equal(open_vector(WIRE_HEARTBEAT, WIRE_MAX_STALLS, 0), 0);
	assert_int_equal(
	    open_vector(WIRE_HEARTBEAT, WIRE_MAX_STALLS + 1, 0), -EMSGSIZE);
	assert_int_equal(open_vector(WIRE_COUNTS, WIRE_MAX_COUNTS, 0), 0);
	assert_int_equal(open_vector(WIRE_COUNTS, WIRE_MAX_COUNTS + 1, 0), -EMSGSIZE);
}

static void
misaligned_elements_are_refused(void **state)
{
	assert_int_equal(open_vector(WIRE_HEARTBEAT, 1, 4), -EBADMSG);
	assert_int_equal(open_vector(WIRE_COUNTS, 1, 4), -EBADMSG);
	/* A vector without elements cannot be misaligned. */
	assert_int_equal(open_vector(WIRE_COUNTS, 0, 4), 0);
}

static void
a_writer_refuses_messages_that_an_opener_refuses(void **state)
{
	struct wire_count *many = calloc(WIRE_MAX_COUNTS + 1, sizeof(*many));
	struct wire_writer *writer = wire_writer_new();
	struct wire_counts counts = { 1, 2, many, WIRE_MAX_COUNTS + 1 };
	const struct wire_stall stall[WIRE_MAX_STALLS + 1] = { { 0, 0 } };
	struct wire_bytes out = { NULL, 0 };
	struct wire_heartbeat bad = beat;

	assert_non_null(many);
	assert_int_equal(wire_write_counts(writer, &counts, &out), -EMSGSIZE);
	bad.stalls = stall;
	bad.stall_count = WIRE_MAX_STALLS + 1;
	assert_int_equal(wire_write_heartbeat(writer, &bad, &out), -EMSGSIZE);
	bad.stalls = NULL;
	bad.stall_count = 1;
	assert_int_equal(wire_write_heartbeat(writer, &bad, &out), -EINVAL);
	assert_null(out.data);
	counts.row_count = WIRE_MAX_COUNTS;
	assert_int_equal(wire_write_counts(writer, &counts, &out), 0);
	assert_int_equal(wire_walk(WIRE_COUNTS, out.data, out.len), 0);
	free(many);
	wire_writer_free(writer);
}

/* The first golden file is older than the field, which reads 0 there. */
static void
a_heartbeat_has_the_time_until_which_results_are_complete(void **state)
{
	struct wire_writer *writer = wire_writer_new();
	struct wire_heartbeat vouching = beat, view;
	struct wire_bytes bytes;

	vouching.results_through_ns = 26;
	assert_int_equal(wire_write_heartbeat(writer, &vouching, &bytes), 0);
	assert_int_equal(wire_open_heartbeat(&view, bytes.data, bytes.len), 0);
	assert_int_equal(view.results_through_ns, 26);
	assert_int_equal(view.slowed_permille, 0);
	wire_writer_free(writer);
}

/* The first golden file is older than the field, which reads false there. */
static void
a_heartbeat_has_the_pause_by_an_operator(void **state)
{
	struct wire_writer *writer = wire_writer_new();
	struct wire_heartbeat paused = beat, view;
	struct wire_bytes bytes;

	paused.paused_by_hand = true;
	assert_int_equal(wire_write_heartbeat(writer, &paused, &bytes), 0);
	assert_int_equal(wire_open_heartbeat(&view, bytes.data, bytes.len), 0);
	assert_true(view.paused_by_hand);
	wire_writer_free(writer);
}

static const struct wire_heartbeat slow_beat = {
	.incarnation = 21,
	.seq = 23,
	.now_ns = 24,
	.results_through_ns = 23,
	.slowed_permille = 100,
	.slowed_reason = WIRE_SLOW_MEMORY,
};

static int
write_slow_heartbeat(struct wire_writer *writer, struct wire_bytes *out)
{
	return wire_write_heartbeat(writer, &slow_beat, out);
}

static void
expect_slow_heartbeat(const uint8_t *data, size_t len)
{
	struct wire_heartbeat view;

	assert_int_equal(wire_open_heartbeat(&view, data, len), 0);
	assert_int_equal(view.incarnation, 21);
	assert_int_equal(view.seq, 23);
	assert_int_equal(view.now_ns, 24);
	assert_int_equal(view.results_through_ns, 23);
	assert_int_equal(view.slowed_permille, 100);
	assert_int_equal(view.slowed_reason, WIRE_SLOW_MEMORY);
	assert_int_equal(view.stall_count, 0);
}

int
main(int argc, char **argv)
{
	const struct wire_case cases[] = {
		{ WIRE_HEARTBEAT, "heartbeat", write_heartbeat, expect_heartbeat },
		{ WIRE_HEARTBEAT, "heartbeat_slowed", write_slow_heartbeat,
		    expect_slow_heartbeat },
		{ WIRE_COUNTS, "counts", write_counts, expect_counts },
		{ WIRE_COUNTER_REPORT, "counter_report", write_counter_report,
		    expect_counter_report },
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    a_heartbeat_has_the_time_until_which_results_are_complete),
		cmocka_unit_test(a_heartbeat_has_the_pause_by_an_operator),
		cmocka_unit_test(a_report_of_too_many_counters_is_refused),
		cmocka_unit_test(vectors_beyond_their_limits_are_refused),
		cmocka_unit_test(misaligned_elements_are_refused),
		cmocka_unit_test(a_writer_refuses_messages_that_an_opener_refuses),
	};

	return wire_case_main(
	    cases, 4, tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
