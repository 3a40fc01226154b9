#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "forge.h"
#include "schemas/wire.h"
#include "tests/support/wire_walk.h"
#include "wire_case.h"

#define RESULTS 3

/* Golden bytes hold these values: never change them. */
static const struct wire_result results[RESULTS] = {
	{
	    .src_guid = 0x0102030405060708,
	    .dst_guid = 0x1112131415161718,
	    .sent_age_ns = 0x2122232425262728,
	    .rtt_ns = 3001,
	    .prober_delay_ns = 3002,
	    .responder_delay_ns = 3003,
	    .round_trip_ns = 3004,
	    .seq = 3005,
	    .dst_qpn = 3006,
	    .flow_label = 3007,
	    .responder_count = 3008,
	    .src_port = 50001,
	    .size_bytes = 4096,
	    .src_port_num = 1,
	    .dst_port_num = 2,
	    .outcome = WIRE_INVALID,
	    .invalid_reason = WIRE_ABSURD,
	    .kind = WIRE_SERVICE,
	    .dscp = 26,
	    .arrived_dscp = 27,
	    .arrived_ecn = 3,
	    .arrived_ttl = 61,
	    .stamp_source = WIRE_STAMP_USER,
	    .flags = WIRE_SPLIT | WIRE_COUNTED | WIRE_ARRIVAL | WIRE_LATE_SEND,
	    .reserved = 0,
	},
	{ .src_guid = 1, .outcome = WIRE_SEND_FAILED },
	{ .src_guid = 2, .outcome = 200, .stamp_source = WIRE_STAMP_NIC },
};

static const struct wire_batch_head head = { "node-a", 11, 12, 13, 14, 15 };

static int
write_batch(struct wire_writer *writer, struct wire_bytes *out)
{
	return wire_write_batch(writer, &head, results, RESULTS, out);
}

static void
expect_batch(const uint8_t *data, size_t len)
{
	struct wire_batch_view view;

	assert_int_equal(wire_open_batch(&view, data, len), 0);
	assert_string_equal(view.head.host, "node-a");
	assert_int_equal(view.head.incarnation, 11);
	assert_int_equal(view.head.seq, 12);
	assert_int_equal(view.head.now_ns, 13);
	assert_int_equal(view.head.dropped_batches, 14);
	assert_int_equal(view.head.dropped_results, 15);
	assert_int_equal(view.count, RESULTS);
	assert_memory_equal(view.results, results, sizeof(results));
	assert_true(
	    (const uint8_t *)view.results >= data); /* points into the message */
	assert_true((const uint8_t *)(view.results + view.count) <= data + len);
}

enum { BATCH_RESULTS = 6, BATCH_FIELDS };
enum { AT_REASON = 63, AT_KIND = 64, AT_STAMP_SOURCE = 69 };

static int
open_results(size_t count, size_t shift, size_t byte, uint8_t value)
{
	struct forge forge;
	size_t root, vector;
	int r;

	forge_init(&forge, "RMB1", 1 << 20);
	root = forge_table(&forge, BATCH_FIELDS);
	vector = forge_vector(&forge, count, WIRE_RESULT_BYTES, shift);
	*forge_element(&forge, vector, byte) = value;
	forge_refer(&forge, root, BATCH_RESULTS, vector);
	forge_finish(&forge);
	r = wire_walk(WIRE_BATCH, forge.data, forge.len);
	forge_clear(&forge);
	return r;
}

static void
more_results_than_the_limit_are_refused(void **state)
{
	assert_int_equal(open_results(WIRE_MAX_RESULTS, 0, 0, 0), 0);
	assert_int_equal(open_results(WIRE_MAX_RESULTS + 1, 0, 0, 0), -EMSGSIZE);
}

/* The verifier of FlatBuffers accepts them. */
static void
misaligned_results_are_refused(void **state)
{
	assert_int_equal(open_results(2, 0, 0, 0), 0);
	assert_int_equal(open_results(2, 4, 0, 0), -EBADMSG);
}

static void
values_out_of_range_are_refused_but_outcomes_may_be_newer(void **state)
{
	const size_t last = WIRE_RESULT_BYTES;

	assert_int_equal(offsetof(struct wire_result, invalid_reason), AT_REASON);
	assert_int_equal(offsetof(struct wire_result, kind), AT_KIND);
	assert_int_equal(offsetof(struct wire_result, stamp_source), AT_STAMP_SOURCE);
	assert_int_equal(
	    open_results(2, 0, last + AT_REASON, WIRE_INVALID_REASONS), -EBADMSG);
	assert_int_equal(
	    open_results(2, 0, last + AT_KIND, WIRE_PROBE_KINDS), -EBADMSG);
	assert_int_equal(open_results(2, 0, last + AT_STAMP_SOURCE, 5), -EBADMSG);
	assert_int_equal(
	    open_results(2, 0, last + offsetof(struct wire_result, outcome), 255), 0);
}

static void
a_batch_may_be_empty(void **state)
{
	struct wire_writer *writer = wire_writer_new();
	struct wire_batch_view view;
	struct wire_bytes out;

	assert_int_equal(wire_write_batch(writer, &head, NULL, 0, &out), 0);
	assert_int_equal(wire_open_batch(&view, out.data, out.len), 0);
	assert_int_equal(view.count, 0);
	wire_writer_free(writer);
}

static void
a_full_batch_comes_back(void **state)
{
	struct wire_result *full = calloc(WIRE_MAX_RESULTS + 1, sizeof(*full));
	struct wire_writer *writer = wire_writer_new();
	struct wire_bytes out = { NULL, 0 };
	struct wire_batch_view view;

	assert_non_null(full);
	for (size_t i = 0; i < WIRE_MAX_RESULTS; i++)
		full[i].seq = i;
	assert_int_equal(
	    wire_write_batch(writer, &head, full, WIRE_MAX_RESULTS + 1, &out),
	    -EMSGSIZE);
	assert_int_equal(wire_write_batch(writer, &head, NULL, 1, &out), -EINVAL);
	assert_null(out.data);
	assert_int_equal(
	    wire_write_batch(writer, &head, full, WIRE_MAX_RESULTS, &out), 0);
	assert_int_equal(wire_open_batch(&view, out.data, out.len), 0);
	assert_int_equal(view.count, WIRE_MAX_RESULTS);
	assert_memory_equal(view.results, full, WIRE_MAX_RESULTS * sizeof(*full));

	full[5].kind = WIRE_PROBE_KINDS;
	assert_int_equal(wire_write_batch(writer, &head, full, 6, &out), -EINVAL);
	free(full);
	wire_writer_free(writer);
}

int
main(int argc, char **argv)
{
	const struct wire_case cases[] = {
		{ WIRE_BATCH, "batch", write_batch, expect_batch },
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(more_results_than_the_limit_are_refused),
		cmocka_unit_test(misaligned_results_are_refused),
		cmocka_unit_test(
		    values_out_of_range_are_refused_but_outcomes_may_be_newer),
		cmocka_unit_test(a_batch_may_be_empty),
		cmocka_unit_test(a_full_batch_comes_back),
	};

	return wire_case_main(
	    cases, 1, tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
