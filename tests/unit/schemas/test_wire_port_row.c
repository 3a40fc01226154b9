#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/wire.h"
#include "wire_case.h"

static const struct wire_port_row rows[] = {
	{ "tor-1", "Ethernet48", "spine-1",
	    "the switch's port Ethernet48 counted 40 packets with an error in 10 s" },
	{ .switch_name = "spine-2", .port = "Ethernet1/7" },
};

static const struct wire_summary summary = {
	.head = { "aggregator-1", "eu-1", 721, 722 },
	.tor = "tor-1",
	.end_wall_ns = 723,
	.ports = rows,
	.port_count = 2,
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
	struct wire_port_row row;

	assert_int_equal(wire_open_summary(&view, data, len), 0);
	assert_int_equal(view.summary.port_count, 2);
	assert_null(view.summary.ports);
	wire_summary_port(&view, 0, &row);
	assert_string_equal(row.switch_name, "tor-1");
	assert_string_equal(row.port, "Ethernet48");
	assert_string_equal(row.neighbor, "spine-1");
	assert_string_equal(row.sentence, rows[0].sentence);
	wire_summary_port(&view, 1, &row);
	assert_string_equal(row.switch_name, "spine-2");
	assert_string_equal(row.neighbor, "");
	assert_string_equal(row.sentence, "");
}

static void
more_ports_than_the_limit_are_refused(void **state)
{
	struct wire_port_row many[WIRE_MAX_PORT_ROWS + 1];
	struct wire_writer *writer = wire_writer_new();
	struct wire_summary reported = summary;
	struct wire_summary_view view;
	struct wire_bytes out;

	for (size_t i = 0; i <= WIRE_MAX_PORT_ROWS; i++)
		many[i] = rows[0];
	reported.ports = many;
	reported.port_count = WIRE_MAX_PORT_ROWS;
	assert_int_equal(wire_write_summary(writer, &reported, &out), 0);
	assert_int_equal(wire_open_summary(&view, out.data, out.len), 0);
	assert_int_equal(view.summary.port_count, WIRE_MAX_PORT_ROWS);
	reported.port_count++;
	assert_int_equal(wire_write_summary(writer, &reported, &out), -EMSGSIZE);
	wire_writer_free(writer);
}

int
main(int argc, char **argv)
{
	const struct wire_case cases[] = {
		{ WIRE_SUMMARY, "summary_ports", write_summary, expect_summary },
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(more_ports_than_the_limit_are_refused),
	};

	return wire_case_main(cases, 1, tests, 1, argc, argv);
}
