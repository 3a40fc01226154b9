#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rnic_sample.h"
#include "schemas/wire.h"
#include "tests/support/wire_walk.h"
#include "wire_case.h"

static const struct wire_resolve resolve = { 501,
	{ 6, { 0xfe, 0x80, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 }, 502 } };

static int
write_resolve(struct wire_writer *writer, struct wire_bytes *out)
{
	return wire_write_resolve(writer, &resolve, out);
}

static void
expect_resolve(const uint8_t *data, size_t len)
{
	struct wire_resolve view;

	assert_int_equal(wire_open_resolve(&view, data, len), 0);
	assert_int_equal(view.token, 501);
	assert_int_equal(view.address.family, 6);
	assert_memory_equal(view.address.bytes, resolve.address.bytes, 16);
	assert_int_equal(view.address.port, 502);
}

static int
write_resolved(struct wire_writer *writer, struct wire_bytes *out)
{
	const struct wire_resolve_answer answer = { 511, true, rnic_samples[0] };

	return wire_write_resolved(writer, &answer, out);
}

static void
expect_resolved(const uint8_t *data, size_t len)
{
	struct wire_resolve_answer view;

	assert_int_equal(wire_open_resolved(&view, data, len), 0);
	assert_int_equal(view.token, 511);
	assert_true(view.found);
	rnic_expect(&view.rnic, &rnic_samples[0]);
}

static int
write_drill(struct wire_writer *writer, struct wire_bytes *out)
{
	const struct wire_drill drill = { 521, "node-a/mlx5_0", 522, 523, NULL, NULL };

	return wire_write_drill(writer, &drill, out);
}

static void
expect_drill(const uint8_t *data, size_t len)
{
	struct wire_drill view;

	assert_int_equal(wire_open_drill(&view, data, len), 0);
	assert_int_equal(view.token, 521);
	assert_string_equal(view.rnic, "node-a/mlx5_0");
	assert_int_equal(view.seconds, 522);
	assert_int_equal(view.limit, 523);
	assert_string_equal(view.mesh, "");
	assert_string_equal(view.counted, ""); /* older peers do not set the field */
}

static int
write_drill_counted(struct wire_writer *writer, struct wire_bytes *out)
{
	const struct wire_drill drill = { .token = 525, .counted = "tor-8" };

	return wire_write_drill(writer, &drill, out);
}

static void
expect_drill_counted(const uint8_t *data, size_t len)
{
	struct wire_drill view;

	assert_int_equal(wire_open_drill(&view, data, len), 0);
	assert_int_equal(view.token, 525);
	assert_string_equal(view.mesh, "");
	assert_string_equal(view.counted, "tor-8");
	assert_false(
	    view.hosts_only); /* older peers do not set the field, and want all RNICs */
}

static int
write_drill_hosts(struct wire_writer *writer, struct wire_bytes *out)
{
	const struct wire_drill drill = {
		.token = 526, .counted = "tor-9", .hosts_only = true
	};

	return wire_write_drill(writer, &drill, out);
}

static void
expect_drill_hosts(const uint8_t *data, size_t len)
{
	struct wire_drill view;

	assert_int_equal(wire_open_drill(&view, data, len), 0);
	assert_int_equal(view.token, 526);
	assert_string_equal(view.counted, "tor-9");
	assert_true(view.hosts_only);
}

static int
write_drill_mesh(struct wire_writer *writer, struct wire_bytes *out)
{
	const struct wire_drill drill = { 524, NULL, 3600, 0, "tor-7", NULL, false };

	return wire_write_drill(writer, &drill, out);
}

static void
expect_drill_mesh(const uint8_t *data, size_t len)
{
	struct wire_drill view;

	assert_int_equal(wire_open_drill(&view, data, len), 0);
	assert_int_equal(view.token, 524);
	assert_string_equal(view.rnic, "");
	assert_int_equal(view.seconds, 3600);
	assert_string_equal(view.mesh, "tor-7");
}

static const char json[] = "{\"results\":[]}";

static int
write_drilled(struct wire_writer *writer, struct wire_bytes *out)
{
	const struct wire_drill_answer answer = { 531, 404,
		{ (const uint8_t *)json, sizeof(json) }, false, false };

	return wire_write_drilled(writer, &answer, out);
}

static void
expect_drilled(const uint8_t *data, size_t len)
{
	struct wire_drill_answer view;

	assert_int_equal(wire_open_drilled(&view, data, len), 0);
	assert_int_equal(view.token, 531);
	assert_int_equal(view.status, 404);
	assert_int_equal(view.json.len, sizeof(json));
	assert_memory_equal(view.json.data, json, sizeof(json));
	assert_false(view.mesh);
	assert_false(view.counted);
}

static int
write_drilled_counted(struct wire_writer *writer, struct wire_bytes *out)
{
	const struct wire_drill_answer answer = { 533, 200,
		{ (const uint8_t *)json, sizeof(json) }, false, true };

	return wire_write_drilled(writer, &answer, out);
}

static void
expect_drilled_counted(const uint8_t *data, size_t len)
{
	struct wire_drill_answer view;

	assert_int_equal(wire_open_drilled(&view, data, len), 0);
	assert_int_equal(view.token, 533);
	assert_false(view.mesh);
	assert_true(view.counted);
}

static int
write_drilled_mesh(struct wire_writer *writer, struct wire_bytes *out)
{
	const struct wire_drill_answer answer = { 532, 200,
		{ (const uint8_t *)json, sizeof(json) }, true, false };

	return wire_write_drilled(writer, &answer, out);
}

static void
expect_drilled_mesh(const uint8_t *data, size_t len)
{
	struct wire_drill_answer view;

	assert_int_equal(wire_open_drilled(&view, data, len), 0);
	assert_int_equal(view.token, 532);
	assert_true(view.mesh);
	assert_int_equal(view.json.len, sizeof(json));
}

static void
an_unresolved_address_is_an_rnic_of_zeros(void **state)
{
	struct wire_resolve_answer answer = { 7, false, rnic_samples[0] }, view;
	struct wire_writer *writer = wire_writer_new();
	struct wire_rnic nobody = {
		.host = "", .device = "", .driver = "", .tors = { "", "" }, .plane = ""
	};
	struct wire_bytes out;

	assert_int_equal(wire_write_resolved(writer, &answer, &out), 0);
	assert_int_equal(wire_walk(WIRE_RESOLVE_ANSWER, out.data, out.len), 0);
	assert_int_equal(wire_open_resolved(&view, out.data, out.len), 0);
	assert_int_equal(view.token, 7);
	assert_false(view.found);
	rnic_expect(&view.rnic, &nobody);
	wire_writer_free(writer);
}

static int
open_resolve(bool there, uint8_t family)
{
	struct forge forge;
	size_t root;
	int r;

	forge_init(&forge, "RMV1", 1024);
	root = forge_table(&forge, 2);
	if (there)
		forge_struct(&forge, root, 1)[18] = family;
	forge_finish(&forge);
	r = wire_walk(WIRE_RESOLVE, forge.data, forge.len);
	forge_clear(&forge);
	return r;
}

static void
a_question_needs_an_address(void **state)
{
	assert_int_equal(open_resolve(true, 4), 0);
	assert_int_equal(open_resolve(true, 6), 0);
	assert_int_equal(open_resolve(true, 5), -EBADMSG);
	assert_int_equal(open_resolve(false, 0), -EBADMSG);
}

static void
an_answer_to_a_drill_has_a_limit(void **state)
{
	struct wire_writer *writer = wire_writer_new();
	uint8_t *large = calloc(1, WIRE_MAX_JSON + 1);
	struct wire_drill_answer answer = { 1, 200, { large, WIRE_MAX_JSON + 1 },
		false };
	struct wire_bytes out = { NULL, 0 };
	struct forge forge;
	size_t root;

	assert_non_null(large);
	assert_int_equal(wire_write_drilled(writer, &answer, &out), -EMSGSIZE);
	assert_null(out.data);
	answer.json.len = WIRE_MAX_JSON;
	assert_int_equal(wire_write_drilled(writer, &answer, &out), 0);
	assert_int_equal(wire_walk(WIRE_DRILL_ANSWER, out.data, out.len), 0);
	answer.json = (struct wire_bytes){ NULL, 0 };
	assert_int_equal(wire_write_drilled(writer, &answer, &out), 0);
	assert_int_equal(wire_walk(WIRE_DRILL_ANSWER, out.data, out.len), 0);
	free(large);
	wire_writer_free(writer);

	forge_init(&forge, "RMN1", WIRE_MAX_BYTES);
	root = forge_table(&forge, 3);
	forge_refer(&forge, root, 2, forge_vector(&forge, WIRE_MAX_JSON + 1, 1, 4));
	forge_finish(&forge);
	assert_int_equal(
	    wire_walk(WIRE_DRILL_ANSWER, forge.data, forge.len), -EMSGSIZE);
	forge_clear(&forge);
}

static void
a_writer_refuses_messages_that_an_opener_refuses(void **state)
{
	struct wire_resolve_answer answer = { 1, true, rnic_samples[0] };
	struct wire_writer *writer = wire_writer_new();
	struct wire_resolve bad = resolve;
	struct wire_drill drill = { 1, NULL, 2, 3, NULL, NULL, false };
	struct wire_bytes out = { NULL, 0 };
	char text[WIRE_MAX_STRING + 1];

	memset(text, 'x', sizeof(text));
	text[WIRE_MAX_STRING] = 0;
	drill.rnic = text;
	assert_int_equal(wire_write_drill(writer, &drill, &out), -EMSGSIZE);
	drill = (struct wire_drill){ .token = 1, .counted = text };
	assert_int_equal(wire_write_drill(writer, &drill, &out), -EMSGSIZE);
	drill = (struct wire_drill){ .token = 1, .mesh = text };
	assert_int_equal(wire_write_drill(writer, &drill, &out), -EMSGSIZE);
	bad.address.family = 0;
	assert_int_equal(wire_write_resolve(writer, &bad, &out), -EINVAL);
	answer.rnic.address_count = WIRE_MAX_ADDRESSES + 1;
	assert_int_equal(wire_write_resolved(writer, &answer, &out), -EMSGSIZE);
	assert_null(out.data);
	wire_writer_free(writer);
}

int
main(int argc, char **argv)
{
	const struct wire_case cases[] = {
		{ WIRE_RESOLVE, "resolve", write_resolve, expect_resolve },
		{ WIRE_RESOLVE_ANSWER, "resolve_answer", write_resolved,
		    expect_resolved },
		{ WIRE_DRILL, "drill", write_drill, expect_drill },
		{ WIRE_DRILL_ANSWER, "drill_answer", write_drilled, expect_drilled },
		{ WIRE_DRILL, "drill_mesh", write_drill_mesh, expect_drill_mesh },
		{ WIRE_DRILL_ANSWER, "drill_answer_mesh", write_drilled_mesh,
		    expect_drilled_mesh },
		{ WIRE_DRILL, "drill_counted", write_drill_counted,
		    expect_drill_counted },
		{ WIRE_DRILL, "drill_hosts", write_drill_hosts, expect_drill_hosts },
		{ WIRE_DRILL_ANSWER, "drill_answer_counted", write_drilled_counted,
		    expect_drilled_counted },
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_unresolved_address_is_an_rnic_of_zeros),
		cmocka_unit_test(a_question_needs_an_address),
		cmocka_unit_test(an_answer_to_a_drill_has_a_limit),
		cmocka_unit_test(a_writer_refuses_messages_that_an_opener_refuses),
	};

	return wire_case_main(cases, sizeof(cases) / sizeof(cases[0]), tests,
	    sizeof(tests) / sizeof(tests[0]), argc, argv);
}
