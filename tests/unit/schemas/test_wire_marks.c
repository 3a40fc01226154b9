#include <stdlib.h>

#include "schemas/wire.h"
#include "wire_case.h"

static const struct wire_row rows[] = {
	{ .src_tor = "tor-1",
	    .dst_tor = "tor-2",
	    .dscp = 26,
	    .flow_set = "all",
	    .sent = 900,
	    .arrived = 801,
	    .rewritten = 802,
	    .congested = 803,
	    .arrived_dscp = 8 },
	{ .src_tor = "tor-1", .dst_tor = "tor-1", .flow_set = "all" },
};

static const struct wire_summary summary = {
	.head = { "aggregator-1", "eu-1", 811, 812 },
	.tor = "tor-1",
	.end_wall_ns = 813,
	.rows = rows,
	.row_count = 2,
};

static int
write_summary(struct wire_writer *writer, struct wire_bytes *out)
{
	return wire_write_summary(writer, &summary, out);
}

static void
expect_summary(const uint8_t *data, size_t len)
{
	struct wire_summary_view view;
	struct wire_row row;

	assert_int_equal(wire_open_summary(&view, data, len), 0);
	wire_summary_row(&view, 0, &row);
	assert_int_equal(row.arrived, 801);
	assert_int_equal(row.rewritten, 802);
	assert_int_equal(row.congested, 803);
	assert_int_equal(row.arrived_dscp, 8);
	wire_summary_row(&view, 1, &row);
	assert_int_equal(row.arrived, 0);
	assert_int_equal(row.rewritten, 0);
}

static int
write_with_hops(struct wire_writer *writer, struct wire_bytes *out)
{
	struct wire_row measured[2] = { rows[0], rows[1] };
	struct wire_summary reported = summary;

	measured[0].hops_known = 804;
	measured[0].hops = 805;
	measured[0].hops_least = 3;
	measured[0].hops_most = 5;
	reported.rows = measured;
	return wire_write_summary(writer, &reported, out);
}

static void
expect_hops(const uint8_t *data, size_t len)
{
	struct wire_summary_view view;
	struct wire_row row;

	expect_summary(data, len);
	assert_int_equal(wire_open_summary(&view, data, len), 0);
	wire_summary_row(&view, 0, &row);
	assert_int_equal(row.hops_known, 804);
	assert_int_equal(row.hops, 805);
	assert_int_equal(row.hops_least, 3);
	assert_int_equal(row.hops_most, 5);
	wire_summary_row(&view, 1, &row);
	assert_int_equal(row.hops_known, 0);
}

int
main(int argc, char **argv)
{
	const struct wire_case cases[] = {
		{ WIRE_SUMMARY, "summary_marks", write_summary, expect_summary },
		{ WIRE_SUMMARY, "summary_hops", write_with_hops, expect_hops },
	};

	return wire_case_main(cases, 2, NULL, 0, argc, argv);
}
