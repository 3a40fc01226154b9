#include "wire_case.h"

#include <errno.h>
#include <string.h>

static const struct wire_cable cables[] = {
	{ "eth[0-3]", "tor-1" },
	{ "", "tor-2" },
};
static const struct wire_tor_aggregator aggregators[] = {
	{ "tor-1", "agg-1a.example:7471" },
	{ "tor-1", "192.0.2.12:7471" },
	{ "tor-2", "[fd00::2]:7471" },
};

static int
write_place(struct wire_writer *writer, struct wire_bytes *out)
{
	const struct wire_place place = { 0x1122334455667788, "gpu17" };

	return wire_write_place(writer, &place, out);
}

static void
expect_place(const uint8_t *data, size_t len)
{
	struct wire_place view;

	assert_int_equal(wire_open_place(&view, data, len), 0);
	assert_true(view.token == 0x1122334455667788);
	assert_string_equal(view.host, "gpu17");
}

static int
write_placed(struct wire_writer *writer, struct wire_bytes *out)
{
	const struct wire_place_answer answer = {
		.token = 7,
		.cables = cables,
		.cable_count = 2,
		.aggregators = aggregators,
		.aggregator_count = 3,
	};

	return wire_write_placed(writer, &answer, out);
}

static void
expect_placed(const uint8_t *data, size_t len)
{
	struct wire_place_answer view;
	struct wire_tor_aggregator aggregator;
	struct wire_cable cable;

	assert_int_equal(wire_open_placed(&view, data, len), 0);
	assert_int_equal(view.token, 7);
	assert_string_equal(view.error, "");
	assert_int_equal(view.cable_count, 2);
	for (size_t i = 0; i < 2; i++) {
		wire_placed_cable(&view, i, &cable);
		assert_string_equal(cable.device, cables[i].device);
		assert_string_equal(cable.tor, cables[i].tor);
	}
	assert_int_equal(view.aggregator_count, 3);
	for (size_t i = 0; i < 3; i++) {
		wire_placed_aggregator(&view, i, &aggregator);
		assert_string_equal(aggregator.tor, aggregators[i].tor);
		assert_string_equal(aggregator.address, aggregators[i].address);
	}
}

static int
write_unplaced(struct wire_writer *writer, struct wire_bytes *out)
{
	const struct wire_place_answer answer = { 8, "nobody knows it", NULL, 0, NULL,
		0, NULL };

	return wire_write_placed(writer, &answer, out);
}

static void
expect_unplaced(const uint8_t *data, size_t len)
{
	struct wire_place_answer view;

	assert_int_equal(wire_open_placed(&view, data, len), 0);
	assert_string_equal(view.error, "nobody knows it");
	assert_int_equal(view.cable_count + view.aggregator_count, 0);
}

static void
an_answer_has_its_limits(void **state)
{
	static struct wire_cable many[WIRE_MAX_CABLES + 1];
	struct wire_place_answer answer = { .cables = many,
		.cable_count = WIRE_MAX_CABLES };
	struct wire_writer *writer = wire_writer_new();
	struct wire_bytes out;

	assert_non_null(writer);
	assert_int_equal(wire_write_placed(writer, &answer, &out), 0);
	answer.cable_count++;
	assert_int_equal(wire_write_placed(writer, &answer, &out), -EMSGSIZE);
	answer.cable_count = 0;
	answer.aggregator_count = WIRE_MAX_PLACE_AGGREGATORS + 1;
	answer.aggregators = aggregators; /* the writer must not read them */
	assert_int_equal(wire_write_placed(writer, &answer, &out), -EMSGSIZE);
	wire_writer_free(writer);
}

int
main(int argc, char **argv)
{
	const struct wire_case cases[] = {
		{ WIRE_PLACE, "place", write_place, expect_place },
		{ WIRE_PLACE_ANSWER, "place_answer", write_placed, expect_placed },
		{ WIRE_PLACE_ANSWER, "place_answer_error", write_unplaced,
		    expect_unplaced },
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_has_its_limits),
	};

	return wire_case_main(cases, 3, tests, 1, argc, argv);
}
