#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "forge.h"
#include "schemas/wire.h"
#include "tests/support/wire_walk.h"
#include "wire_case.h"

#define PATHS 2

static const struct wire_path sample[PATHS] = {
	{
	    .src_guid = 0x0102030405060708,
	    .dst_guid = 0x1112131415161718,
	    .age_ns = 401,
	    .src_port = 49153,
	    .src_port_num = 1,
	    .dst_port_num = 2,
	    .dscp = 26,
	    .family = 4,
	    .flags = WIRE_PATH_COMPLETE | WIRE_PATH_MULTIPATH,
	    .hop_count = 3,
	    .hops = { { 10, 0, 0, 1 }, { 0 }, { 10, 0, 2, 1 } },
	},
	{
	    .src_guid = 1,
	    .dst_guid = 2,
	    .family = 6,
	    .hop_count = WIRE_MAX_HOPS,
	    .hops = { { 0xfd, 1 }, { 0xfd, 2 }, { 0xfd, 3 }, { 0xfd, 4 }, { 0xfd, 5 },
		{ 0xfd, 6 }, { 0xfd, 7 }, { 0xfd, 8 } },
	},
};

static const struct wire_paths paths = { "node-a", 411, 412, sample, PATHS };

static int
write_paths(struct wire_writer *writer, struct wire_bytes *out)
{
	return wire_write_paths(writer, &paths, out);
}

static void
expect_paths(const uint8_t *data, size_t len)
{
	struct wire_paths view;

	assert_int_equal(wire_open_paths(&view, data, len), 0);
	assert_string_equal(view.host, "node-a");
	assert_int_equal(view.incarnation, 411);
	assert_int_equal(view.now_ns, 412);
	assert_int_equal(view.path_count, PATHS);
	assert_memory_equal(view.paths, sample, sizeof(sample));
	assert_true((const uint8_t *)view.paths >= data); /* points into the message */
	assert_true((const uint8_t *)(view.paths + view.path_count) <= data + len);
}

static int
write_traced(struct wire_writer *writer, struct wire_bytes *out)
{
	const struct wire_traced traced = { "tor-1", 421, sample, PATHS };

	return wire_write_traced(writer, &traced, out);
}

static void
expect_traced(const uint8_t *data, size_t len)
{
	struct wire_traced view;

	assert_int_equal(wire_open_traced(&view, data, len), 0);
	assert_string_equal(view.tor, "tor-1");
	assert_int_equal(view.now_ns, 421);
	assert_int_equal(view.path_count, PATHS);
	assert_memory_equal(view.paths, sample, sizeof(sample));
	assert_true((const uint8_t *)view.paths >= data); /* points into the message */
	assert_true((const uint8_t *)(view.paths + view.path_count) <= data + len);
}

static int
write_brake(struct wire_writer *writer, struct wire_bytes *out)
{
	const struct wire_brake brake = { 0x2122232425262728, 250 };

	return wire_write_brake(writer, &brake, out);
}

static void
expect_brake(const uint8_t *data, size_t len)
{
	struct wire_brake view;

	assert_int_equal(wire_open_brake(&view, data, len), 0);
	assert_int_equal(view.version, 0x2122232425262728);
	assert_int_equal(view.rate_permille, 250);
}

/* Returns the result of opening such a brake; the writer must refuse the same values.
 */
static int
brake_of(uint64_t version, uint32_t permille)
{
	struct wire_writer *writer = wire_writer_new();
	const struct wire_brake brake = { version, permille };
	struct wire_brake view;
	struct wire_bytes out;
	struct forge forge;
	size_t root;
	int written, r;

	forge_init(&forge, "RMJ1", 128);
	root = forge_table(&forge, 2);
	forge_number(&forge, root, 0, version);
	forge_number(&forge, root, 1, permille);
	forge_finish(&forge);
	r = wire_open_brake(&view, forge.data, forge.len);
	forge_clear(&forge);
	assert_non_null(writer);
	written = wire_write_brake(writer, &brake, &out);
	assert_int_equal(written, r == 0 ? 0 : -EINVAL);
	if (written == 0)
		assert_int_equal(wire_open_brake(&view, out.data, out.len), 0);
	wire_writer_free(writer);
	return r;
}

static void
a_brake_above_the_maximum_is_refused(void **state)
{
	assert_int_equal(brake_of(1, 0), 0);
	assert_int_equal(brake_of(INT64_MAX, 1000), 0);
	assert_int_equal(brake_of(1, 1001), -EBADMSG);
	assert_int_equal(brake_of(1, UINT32_MAX), -EBADMSG);
	/* No higher version could follow. */
	assert_int_equal(brake_of((uint64_t)INT64_MAX + 1, 0), -EBADMSG);
	assert_int_equal(brake_of(UINT64_MAX, 0), -EBADMSG);
}

enum { TRACED_PATHS = 2, PATHS_PATHS, PATHS_FIELDS };

static int
open_as(
    enum wire_kind kind, size_t count, size_t shift, uint8_t family, uint8_t hop_count)
{
	struct forge forge;
	size_t root, vector;
	int r;

	forge_init(&forge, kind == WIRE_PATHS ? "RMX1" : "RMY1", 1 << 20);
	root = forge_table(&forge, PATHS_FIELDS);
	vector = forge_vector(&forge, count, WIRE_PATH_BYTES, shift);
	for (size_t i = 0; i < count; i++) {
		size_t at = i * WIRE_PATH_BYTES;

		*forge_element(
		    &forge, vector, at + offsetof(struct wire_path, family)) = family;
		*forge_element(&forge, vector,
		    at + offsetof(struct wire_path, hop_count)) = hop_count;
	}
	forge_refer(
	    &forge, root, kind == WIRE_PATHS ? PATHS_PATHS : TRACED_PATHS, vector);
	forge_finish(&forge);
	r = wire_walk(kind, forge.data, forge.len);
	forge_clear(&forge);
	return r;
}

/* Agents and aggregators send paths in different messages; both must be refused in the
 * same cases.
 */
static int
open_paths(size_t count, size_t shift, uint8_t family, uint8_t hop_count)
{
	int r = open_as(WIRE_PATHS, count, shift, family, hop_count);

	assert_int_equal(open_as(WIRE_TRACED, count, shift, family, hop_count), r);
	return r;
}

static void
more_paths_than_the_limit_are_refused(void **state)
{
	assert_int_equal(open_paths(0, 0, 0, 0), 0);
	assert_int_equal(open_paths(WIRE_MAX_PATHS, 0, 4, 1), 0);
	assert_int_equal(open_paths(WIRE_MAX_PATHS + 1, 0, 4, 1), -EMSGSIZE);
}

static void
misaligned_paths_are_refused(void **state)
{
	assert_int_equal(open_paths(2, 4, 4, 1), -EBADMSG);
}

static void
families_and_hops_have_a_range(void **state)
{
	assert_int_equal(open_paths(2, 0, 6, WIRE_MAX_HOPS), 0);
	assert_int_equal(open_paths(2, 0, 6, WIRE_MAX_HOPS + 1), -EBADMSG);
	assert_int_equal(open_paths(2, 0, 5, 1), -EBADMSG);
	assert_int_equal(open_paths(2, 0, 0, 1), -EBADMSG);
}

static void
a_writer_refuses_messages_that_an_opener_refuses(void **state)
{
	struct wire_path *many = calloc(WIRE_MAX_PATHS + 1, sizeof(*many));
	struct wire_writer *writer = wire_writer_new();
	struct wire_paths bad = { "node-a", 1, 2, many, WIRE_MAX_PATHS + 1 };
	struct wire_bytes out = { NULL, 0 };

	assert_non_null(many);
	for (size_t i = 0; i <= WIRE_MAX_PATHS; i++)
		many[i].family = 4;
	assert_int_equal(wire_write_paths(writer, &bad, &out), -EMSGSIZE);
	bad.path_count = 2;
	many[1].hop_count = WIRE_MAX_HOPS + 1;
	assert_int_equal(wire_write_paths(writer, &bad, &out), -EINVAL);
	many[1].hop_count = 0;
	many[1].family = 0;
	assert_int_equal(wire_write_paths(writer, &bad, &out), -EINVAL);
	bad.paths = NULL;
	assert_int_equal(wire_write_paths(writer, &bad, &out), -EINVAL);
	assert_null(out.data);
	many[1].family = 6;
	bad.paths = many;
	bad.path_count = WIRE_MAX_PATHS;
	assert_int_equal(wire_write_paths(writer, &bad, &out), 0);
	assert_int_equal(wire_walk(WIRE_PATHS, out.data, out.len), 0);
	free(many);
	wire_writer_free(writer);
}

static void
a_writer_refuses_traced_paths_that_an_opener_refuses(void **state)
{
	struct wire_path *many = calloc(WIRE_MAX_PATHS + 1, sizeof(*many));
	struct wire_writer *writer = wire_writer_new();
	struct wire_traced bad = { "tor-1", 2, many, WIRE_MAX_PATHS + 1 };
	struct wire_bytes out = { NULL, 0 };

	assert_non_null(many);
	for (size_t i = 0; i <= WIRE_MAX_PATHS; i++)
		many[i].family = 4;
	assert_int_equal(wire_write_traced(writer, &bad, &out), -EMSGSIZE);
	bad.path_count = 2;
	many[1].hop_count = WIRE_MAX_HOPS + 1;
	assert_int_equal(wire_write_traced(writer, &bad, &out), -EINVAL);
	bad.paths = NULL;
	assert_int_equal(wire_write_traced(writer, &bad, &out), -EINVAL);
	assert_null(out.data);
	many[1].hop_count = 1;
	bad.paths = many;
	bad.path_count = WIRE_MAX_PATHS;
	assert_int_equal(wire_write_traced(writer, &bad, &out), 0);
	assert_int_equal(wire_walk(WIRE_TRACED, out.data, out.len), 0);
	free(many);
	wire_writer_free(writer);
}

int
main(int argc, char **argv)
{
	const struct wire_case cases[] = {
		{ WIRE_PATHS, "paths", write_paths, expect_paths },
		{ WIRE_BRAKE, "brake", write_brake, expect_brake },
		{ WIRE_TRACED, "traced", write_traced, expect_traced },
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(more_paths_than_the_limit_are_refused),
		cmocka_unit_test(misaligned_paths_are_refused),
		cmocka_unit_test(families_and_hops_have_a_range),
		cmocka_unit_test(a_writer_refuses_messages_that_an_opener_refuses),
		cmocka_unit_test(a_writer_refuses_traced_paths_that_an_opener_refuses),
		cmocka_unit_test(a_brake_above_the_maximum_is_refused),
	};

	return wire_case_main(
	    cases, 3, tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
