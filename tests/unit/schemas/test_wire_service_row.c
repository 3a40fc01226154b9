#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/wire.h"
#include "wire_case.h"

static const uint8_t sketch[] = { 0x71, 0x72, 0x73 };

static const struct wire_service_row rows[] = {
	{ .service = "kubepods/train-7",
	    .dscp = 26,
	    .sent = 701,
	    .outcomes = { 702, 703, 704, 705, 706, 707, 708, 709 },
	    .rtt = { sketch, sizeof(sketch) } },
	{ .service = "storage.service" },
};

static const struct wire_summary summary = {
	.head = { "aggregator-1", "eu-1", 711, 712 },
	.tor = "tor-1",
	.end_wall_ns = 713,
	.services_start_wall_ns = 714,
	.services = rows,
	.service_count = 2,
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
	struct wire_service_row row;

	assert_int_equal(wire_open_summary(&view, data, len), 0);
	assert_int_equal(view.summary.services_start_wall_ns, 714);
	assert_int_equal(view.summary.service_count, 2);
	assert_null(view.summary.services);
	wire_summary_service(&view, 0, &row);
	assert_string_equal(row.service, "kubepods/train-7");
	assert_int_equal(row.dscp, 26);
	assert_int_equal(row.sent, 701);
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(row.outcomes[i], 702 + i);
	assert_int_equal(row.rtt.len, sizeof(sketch));
	assert_memory_equal(row.rtt.data, sketch, sizeof(sketch));
	wire_summary_service(&view, 1, &row);
	assert_string_equal(row.service, "storage.service");
	assert_int_equal(row.rtt.len, 0);
}

static void
more_services_than_the_limit_are_refused(void **state)
{
	struct wire_service_row *many =
	    calloc(WIRE_MAX_SERVICE_ROWS + 1, sizeof(*many));
	struct wire_writer *writer = wire_writer_new();
	struct wire_summary reported = summary;
	struct wire_summary_view view;
	struct wire_bytes out;

	assert_non_null(many);
	for (size_t i = 0; i <= WIRE_MAX_SERVICE_ROWS; i++)
		many[i].service = "a";
	reported.services = many;
	reported.service_count = WIRE_MAX_SERVICE_ROWS;
	assert_int_equal(wire_write_summary(writer, &reported, &out), 0);
	assert_int_equal(wire_open_summary(&view, out.data, out.len), 0);
	assert_int_equal(view.summary.service_count, WIRE_MAX_SERVICE_ROWS);
	reported.service_count++;
	assert_int_equal(wire_write_summary(writer, &reported, &out), -EMSGSIZE);
	wire_writer_free(writer);
	free(many);
}

int
main(int argc, char **argv)
{
	const struct wire_case cases[] = {
		{ WIRE_SUMMARY, "summary_services", write_summary, expect_summary },
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(more_services_than_the_limit_are_refused),
	};

	return wire_case_main(cases, 1, tests, 1, argc, argv);
}
