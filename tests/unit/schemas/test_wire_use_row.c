#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/wire.h"
#include "wire_case.h"

static const struct wire_use_row rows[] = {
	{ "pod:a (ml/trainer-0)", "tor-2", "tor-1@10.0.0.1 spine-1@10.0.0.2", 7, 701,
	    702 },
	{ .service = "unit:b" },
};

static const struct wire_summary summary = {
	.head = { "aggregator-1", "eu-1", 721, 722 },
	.tor = "tor-1",
	.end_wall_ns = 723,
	.uses_known = WIRE_USES_ALL,
	.uses = rows,
	.use_count = 2,
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
	struct wire_use_row row;

	assert_int_equal(wire_open_summary(&view, data, len), 0);
	assert_int_equal(view.summary.uses_known, WIRE_USES_ALL);
	assert_int_equal(view.summary.use_count, 2);
	assert_null(view.summary.uses);
	wire_summary_use(&view, 0, &row);
	assert_string_equal(row.service, "pod:a (ml/trainer-0)");
	assert_string_equal(row.dst_tor, "tor-2");
	assert_string_equal(row.path, rows[0].path);
	assert_int_equal(row.flows, 7);
	assert_int_equal(row.sent, 701);
	assert_int_equal(row.lost, 702);
	wire_summary_use(&view, 1, &row);
	assert_string_equal(row.service, "unit:b");
	assert_string_equal(row.dst_tor, "");
	assert_string_equal(row.path, "");
	assert_int_equal(row.flows, 0);
}

static void
more_uses_than_the_limit_are_refused(void **state)
{
	static struct wire_use_row many[WIRE_MAX_USE_ROWS + 1];
	struct wire_writer *writer = wire_writer_new();
	struct wire_summary reported = summary;
	struct wire_summary_view view;
	struct wire_bytes out;

	for (size_t i = 0; i <= WIRE_MAX_USE_ROWS; i++)
		many[i] = rows[0];
	reported.uses = many;
	reported.use_count = WIRE_MAX_USE_ROWS;
	assert_int_equal(wire_write_summary(writer, &reported, &out), 0);
	assert_int_equal(wire_open_summary(&view, out.data, out.len), 0);
	assert_int_equal(view.summary.use_count, WIRE_MAX_USE_ROWS);
	reported.use_count++;
	assert_int_equal(wire_write_summary(writer, &reported, &out), -EMSGSIZE);
	wire_writer_free(writer);
}

int
main(int argc, char **argv)
{
	const struct wire_case cases[] = {
		{ WIRE_SUMMARY, "summary_uses", write_summary, expect_summary },
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(more_uses_than_the_limit_are_refused),
	};

	return wire_case_main(cases, 1, tests, 1, argc, argv);
}
