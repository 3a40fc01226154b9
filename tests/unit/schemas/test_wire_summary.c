#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "forge.h"
#include "schemas/wire.h"
#include "tests/support/wire_walk.h"
#include "wire_case.h"

static const uint8_t sketch[] = { 1, 2, 3, 0, 255 };

static const struct wire_row rows[] = {
	{
	    .src_tor = "tor-1",
	    .dst_tor = "tor-2",
	    .dscp = 26,
	    .flow_set = "50000,50001",
	    .bad = true,
	    .sent = 100,
	    .outcomes = { 101, 102, 103, 104, 105, 106, 107, 108 },
	    .lost_forward = 109,
	    .lost_reverse = 110,
	    .lost_unknown = 111,
	    .rtt = { sketch, 5 },
	    .prober_delay = { sketch, 4 },
	    .responder_delay = { sketch, 3 },
	},
	{ .src_tor = "tor-1", .dst_tor = "tor-1", .flow_set = "all" },
};

static const struct wire_rnic_row rnics[] = {
	{
	    .id = { 121, 1 },
	    .host = "node-a",
	    .device = "mlx5_0",
	    .bad = true,
	    .sent = 122,
	    .outcomes = { 123, 124, 125, 126, 127, 128, 129, 130 },
	    .rtt_ns = { 131, 132, 133, 134 },
	    .prober_delay_ns = { 135, 136, 137, 138 },
	    .responder_delay_ns = { 139, 140, 141, 142 },
	},
};

static const struct wire_summary summary = {
	.head = { "aggregator-1", "eu-1", 151, 152 },
	.tor = "tor-1",
	.start_wall_ns = 153,
	.end_wall_ns = 154,
	.partial = true,
	.taken = 155,
	.windowed = 156,
	.late = 157,
	.invalid = 158,
	.duplicate = 159,
	.agent_dropped = 160,
	.rows = rows,
	.row_count = 2,
	.rnics = rnics,
	.rnic_count = 1,
};

static int
write_summary(struct wire_writer *writer, struct wire_bytes *out)
{
	return wire_write_summary(writer, &summary, out);
}

static void
expect_sketch(const struct wire_bytes *got, const struct wire_bytes *want)
{
	assert_int_equal(got->len, want->len);
	if (want->len > 0)
		assert_memory_equal(got->data, want->data, want->len);
}

static void
expect_row(const struct wire_row *got, const struct wire_row *want)
{
	assert_string_equal(got->src_tor, want->src_tor);
	assert_string_equal(got->dst_tor, want->dst_tor);
	assert_int_equal(got->dscp, want->dscp);
	assert_string_equal(got->flow_set, want->flow_set);
	assert_int_equal(got->bad, want->bad);
	assert_int_equal(got->sent, want->sent);
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(got->outcomes[i], want->outcomes[i]);
	assert_int_equal(got->lost_forward, want->lost_forward);
	assert_int_equal(got->lost_reverse, want->lost_reverse);
	assert_int_equal(got->lost_unknown, want->lost_unknown);
	expect_sketch(&got->rtt, &want->rtt);
	expect_sketch(&got->prober_delay, &want->prober_delay);
	expect_sketch(&got->responder_delay, &want->responder_delay);
}

static void
expect_summary(const uint8_t *data, size_t len)
{
	struct wire_summary_view view;
	struct wire_rnic_row rnic;
	struct wire_row row;

	assert_int_equal(wire_open_summary(&view, data, len), 0);
	assert_string_equal(view.summary.head.aggregator, "aggregator-1");
	assert_string_equal(view.summary.head.region, "eu-1");
	assert_int_equal(view.summary.head.incarnation, 151);
	assert_int_equal(view.summary.head.seq, 152);
	assert_string_equal(view.summary.tor, "tor-1");
	assert_int_equal(view.summary.start_wall_ns, 153);
	assert_int_equal(view.summary.end_wall_ns, 154);
	assert_true(view.summary.partial);
	assert_int_equal(view.summary.taken, 155);
	assert_int_equal(view.summary.windowed, 156);
	assert_int_equal(view.summary.late, 157);
	assert_int_equal(view.summary.invalid, 158);
	assert_int_equal(view.summary.duplicate, 159);
	assert_int_equal(view.summary.agent_dropped, 160);
	assert_int_equal(view.summary.row_count, 2);
	for (size_t i = 0; i < 2; i++) {
		wire_summary_row(&view, i, &row);
		expect_row(&row, &rows[i]);
	}
	assert_int_equal(view.summary.rnic_count, 1);
	wire_summary_rnic(&view, 0, &rnic);
	assert_int_equal(rnic.id.guid, 121);
	assert_int_equal(rnic.id.port, 1);
	assert_string_equal(rnic.host, "node-a");
	assert_string_equal(rnic.device, "mlx5_0");
	assert_true(rnic.bad);
	assert_int_equal(rnic.sent, 122);
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(rnic.outcomes[i], 123 + i);
	for (size_t i = 0; i < WIRE_QUANTILES; i++) {
		assert_int_equal(rnic.rtt_ns[i], 131 + i);
		assert_int_equal(rnic.prober_delay_ns[i], 135 + i);
		assert_int_equal(rnic.responder_delay_ns[i], 139 + i);
	}
	assert_int_equal(view.summary.paths_start_wall_ns, 0);
	assert_int_equal(view.summary.path_count, 0);
	assert_false(view.summary.has_state);
}

enum { SUMMARY_HEAD, SUMMARY_ROWS = 11, SUMMARY_RNICS, SUMMARY_FIELDS };
enum { ROW_OUTCOMES = 6, ROW_RTT = 10, ROW_PROBER, ROW_RESPONDER, ROW_FIELDS };
enum {
	RNIC_ROW_ID,
	RNIC_ROW_OUTCOMES = 5,
	RNIC_ROW_RTT,
	RNIC_ROW_PROBER,
	RNIC_ROW_RESPONDER,
	RNIC_ROW_FIELDS
};

struct shape { /* of a forged summary */
	size_t rows, rnics;
	size_t outcomes, outcomes_shift;
	int sketch; /* index of the row's sketch field to set */
	size_t sketch_bytes;
	bool without_head, without_quantiles;
};

static int
open_shape(const struct shape *shape)
{
	size_t root, head, all_rows, all_rnics, row, rnic, outcomes;
	struct forge forge;
	int r;

	forge_init(&forge, "RMS1", 4 << 20);
	root = forge_table(&forge, SUMMARY_FIELDS);
	head = forge_table(&forge, 4);
	if (!shape->without_head)
		forge_refer(&forge, root, SUMMARY_HEAD, head);
	all_rows = forge_vector(&forge, shape->rows, 4, 4);
	forge_refer(&forge, root, SUMMARY_ROWS, all_rows);
	all_rnics = forge_vector(&forge, shape->rnics, 4, 4);
	forge_refer(&forge, root, SUMMARY_RNICS, all_rnics);
	row = forge_table(&forge, ROW_FIELDS);
	forge_refer_all(&forge, all_rows, shape->rows, row);
	rnic = forge_table(&forge, RNIC_ROW_FIELDS);
	forge_refer_all(&forge, all_rnics, shape->rnics, rnic);
	forge_struct(&forge, rnic, RNIC_ROW_ID);
	forge_struct(&forge, rnic, RNIC_ROW_RTT);
	forge_struct(&forge, rnic, RNIC_ROW_PROBER);
	if (!shape->without_quantiles)
		forge_struct(&forge, rnic, RNIC_ROW_RESPONDER);
	outcomes = forge_vector(&forge, shape->outcomes, 8, shape->outcomes_shift);
	for (size_t i = 0; i < shape->outcomes; i++)
		*forge_element(&forge, outcomes, 8 * i) = (uint8_t)(i + 1);
	forge_refer(&forge, row, ROW_OUTCOMES, outcomes);
	forge_refer(&forge, rnic, RNIC_ROW_OUTCOMES, outcomes);
	forge_refer(&forge, row, shape->sketch,
	    forge_vector(&forge, shape->sketch_bytes, 1, 4));
	forge_finish(&forge);
	r = wire_walk(WIRE_SUMMARY, forge.data, forge.len);
	forge_clear(&forge);
	return r;
}

static const struct shape usual = {
	.rows = 2, .rnics = 2, .outcomes = 8, .sketch = ROW_RTT
};

static void
vectors_beyond_their_limits_are_refused(void **state)
{
	struct shape shape = usual;

	assert_int_equal(open_shape(&usual), 0);
	shape.rows = WIRE_MAX_ROWS;
	shape.rnics = WIRE_MAX_MEMBERS;
	assert_int_equal(open_shape(&shape), 0);
	shape.rows = WIRE_MAX_ROWS + 1;
	assert_int_equal(open_shape(&shape), -EMSGSIZE);
	shape = usual;
	shape.rnics = WIRE_MAX_MEMBERS + 1;
	assert_int_equal(open_shape(&shape), -EMSGSIZE);
}

static void
sketches_have_a_limit(void **state)
{
	struct shape shape = usual;

	for (shape.sketch = ROW_RTT; shape.sketch <= ROW_RESPONDER; shape.sketch++) {
		shape.sketch_bytes = WIRE_MAX_SKETCH;
		assert_int_equal(open_shape(&shape), 0);
		shape.sketch_bytes = WIRE_MAX_SKETCH + 1;
		assert_int_equal(open_shape(&shape), -EMSGSIZE);
	}
}

static void
a_newer_peer_may_count_more_outcomes_and_none_fewer(void **state)
{
	struct shape shape = usual;

	shape.outcomes = 9;
	assert_int_equal(open_shape(&shape), 0);
	shape.outcomes = 7;
	assert_int_equal(open_shape(&shape), -EBADMSG);
	shape.outcomes = 0;
	assert_int_equal(open_shape(&shape), -EBADMSG);
	shape.outcomes = 65;
	assert_int_equal(open_shape(&shape), -EMSGSIZE);
	shape = usual;
	shape.outcomes_shift = 4;
	assert_int_equal(open_shape(&shape), -EBADMSG);
}

static void
heads_and_quantiles_are_required(void **state)
{
	struct shape shape = usual;

	shape.without_head = true;
	assert_int_equal(open_shape(&shape), -EBADMSG);
	shape = usual;
	shape.without_quantiles = true;
	assert_int_equal(open_shape(&shape), -EBADMSG);
}

static void
a_writer_refuses_messages_that_an_opener_refuses(void **state)
{
	static uint8_t large[WIRE_MAX_SKETCH + 1];
	struct wire_writer *writer = wire_writer_new();
	struct wire_row *many = calloc(WIRE_MAX_ROWS, sizeof(*many));
	struct wire_row row = rows[0];
	struct wire_bytes out = { NULL, 0 };
	struct wire_summary bad = summary;
	char text[WIRE_MAX_STRING];

	assert_non_null(many);
	memset(text, 'x', sizeof(text));
	text[WIRE_MAX_STRING - 1] = 0;
	bad.rows = &row;
	bad.row_count = 1;
	row.prober_delay = (struct wire_bytes){ large, sizeof(large) };
	assert_int_equal(wire_write_summary(writer, &bad, &out), -EMSGSIZE);
	row.prober_delay = (struct wire_bytes){ NULL, 1 };
	assert_int_equal(wire_write_summary(writer, &bad, &out), -EINVAL);
	row = rows[0];
	bad.row_count = WIRE_MAX_ROWS + 1;
	assert_int_equal(wire_write_summary(writer, &bad, &out), -EMSGSIZE);
	bad = summary;
	bad.rnic_count = WIRE_MAX_MEMBERS + 1;
	assert_int_equal(wire_write_summary(writer, &bad, &out), -EMSGSIZE);

	bad = summary;
	bad.rows = many;
	bad.row_count =
	    WIRE_MAX_ROWS; /* writing all of them would need more than 2 GB */
	for (size_t i = 0; i < WIRE_MAX_ROWS; i++) {
		many[i].src_tor = many[i].dst_tor = many[i].flow_set = text;
		many[i].rtt = many[i].prober_delay = many[i].responder_delay =
		    (struct wire_bytes){ large, WIRE_MAX_SKETCH };
	}
	assert_int_equal(wire_write_summary(writer, &bad, &out), -EMSGSIZE);
	assert_null(out.data);
	memset(many, 0, WIRE_MAX_ROWS * sizeof(*many));
	assert_int_equal(wire_write_summary(writer, &bad, &out), 0);
	assert_int_equal(wire_walk(WIRE_SUMMARY, out.data, out.len), 0);
	free(many);
	wire_writer_free(writer);
}

int
main(int argc, char **argv)
{
	const struct wire_case cases[] = {
		{ WIRE_SUMMARY, "summary", write_summary, expect_summary },
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vectors_beyond_their_limits_are_refused),
		cmocka_unit_test(sketches_have_a_limit),
		cmocka_unit_test(a_newer_peer_may_count_more_outcomes_and_none_fewer),
		cmocka_unit_test(heads_and_quantiles_are_required),
		cmocka_unit_test(a_writer_refuses_messages_that_an_opener_refuses),
	};

	return wire_case_main(
	    cases, 1, tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
