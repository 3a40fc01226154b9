#include <errno.h>

#include "schemas/wire.h"
#include "tests/support/wire_walk.h"
#include "wire_case.h"

static const struct wire_tor_standing tors[] = {
	{ "tor1", true, true, 4096 },
	{ "tor2", false, true, 0 },
	{ "tor3", true, false, UINT32_MAX },
};

static int
write_standing(struct wire_writer *writer, struct wire_bytes *out)
{
	const struct wire_standing standing = { 0x4142434445464748, tors, 3, NULL };

	return wire_write_standing(writer, &standing, out);
}

static void
expect_standing(const uint8_t *data, size_t len)
{
	struct wire_standing view;

	assert_int_equal(wire_open_standing(&view, data, len), 0);
	assert_int_equal(view.now_ns, 0x4142434445464748);
	assert_null(view.tors);
	assert_int_equal(view.tor_count, 3);
	assert_int_equal(
	    view.role_count, 0); /* the golden file is older than the field */
	for (size_t i = 0; i < 3; i++) {
		struct wire_tor_standing tor;

		wire_standing_tor(&view, i, &tor);
		assert_string_equal(tor.tor, tors[i].tor);
		assert_int_equal(tor.active, tors[i].active);
		assert_int_equal(tor.delivers, tors[i].delivers);
		assert_int_equal(tor.agents, tors[i].agents);
	}
}

static const struct wire_tor_role roles[] = { { "tor1", true }, { "tor2", false } };

static int
write_roles(struct wire_writer *writer, struct wire_bytes *out)
{
	const struct wire_standing standing = {
		.now_ns = 7, .roles = roles, .role_count = 2
	};

	return wire_write_standing(writer, &standing, out);
}

static void
expect_roles(const uint8_t *data, size_t len)
{
	struct wire_standing view;

	assert_int_equal(wire_open_standing(&view, data, len), 0);
	assert_int_equal(view.now_ns, 7);
	assert_int_equal(view.tor_count, 0);
	assert_null(view.roles);
	assert_int_equal(view.role_count, 2);
	for (size_t i = 0; i < 2; i++) {
		struct wire_tor_role role;

		wire_standing_role(&view, i, &role);
		assert_string_equal(role.tor, roles[i].tor);
		assert_int_equal(role.primary, roles[i].primary);
	}
}

static const char *const live[] = { "agg-a", "agg-b", "" };

static const struct wire_heartbeat beat = {
	.incarnation = 31,
	.seq = 32,
	.now_ns = 33,
	.results_through_ns = 34,
	.live = live,
	.live_count = 3,
};

static int
write_live(struct wire_writer *writer, struct wire_bytes *out)
{
	return wire_write_heartbeat(writer, &beat, out);
}

static void
expect_live(const uint8_t *data, size_t len)
{
	struct wire_heartbeat view;

	assert_int_equal(wire_open_heartbeat(&view, data, len), 0);
	assert_int_equal(view.incarnation, 31);
	assert_int_equal(view.seq, 32);
	assert_int_equal(view.now_ns, 33);
	assert_int_equal(view.results_through_ns, 34);
	assert_null(view.live);
	assert_int_equal(view.live_count, 3);
	assert_int_equal(view.live_mute, 0);
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(wire_heartbeat_live(&view, i), live[i]);
}

static int
write_mute(struct wire_writer *writer, struct wire_bytes *out)
{
	struct wire_heartbeat mute = beat;

	mute.live_mute = 5;
	return wire_write_heartbeat(writer, &mute, out);
}

static void
expect_mute(const uint8_t *data, size_t len)
{
	struct wire_heartbeat view;

	assert_int_equal(wire_open_heartbeat(&view, data, len), 0);
	assert_int_equal(view.live_count, 3);
	assert_int_equal(view.live_mute, 5);
}

static void
a_standing_without_tors_is_valid(void **state)
{
	struct wire_writer *writer = wire_writer_new();
	const struct wire_standing none = { .now_ns = 1 };
	struct wire_standing view;
	struct wire_bytes bytes;

	assert_int_equal(wire_write_standing(writer, &none, &bytes), 0);
	assert_int_equal(wire_open_standing(&view, bytes.data, bytes.len), 0);
	assert_int_equal(view.now_ns, 1);
	assert_int_equal(view.tor_count, 0);
	wire_writer_free(writer);
}

static void
as_many_as_the_limits_allow_fit_and_no_more(void **state)
{
	struct wire_writer *writer = wire_writer_new();
	struct wire_tor_standing many[WIRE_MAX_TORS + 1];
	const char *names[WIRE_MAX_LIVE + 1];
	struct wire_standing standing = { .tors = many, .tor_count = WIRE_MAX_TORS };
	struct wire_heartbeat flood = { .live = names, .live_count = WIRE_MAX_LIVE };
	struct wire_bytes bytes;

	for (size_t i = 0; i <= WIRE_MAX_TORS; i++)
		many[i] = (struct wire_tor_standing){ .tor = "t" };
	for (size_t i = 0; i <= WIRE_MAX_LIVE; i++)
		names[i] = "a";
	assert_int_equal(wire_write_standing(writer, &standing, &bytes), 0);
	assert_int_equal(wire_walk(WIRE_STANDING, bytes.data, bytes.len), 0);
	standing.tor_count++;
	assert_int_equal(wire_write_standing(writer, &standing, &bytes), -EMSGSIZE);
	standing.tors = NULL;
	standing.tor_count = 1;
	assert_int_equal(wire_write_standing(writer, &standing, &bytes), -EINVAL);
	assert_int_equal(wire_write_heartbeat(writer, &flood, &bytes), 0);
	assert_int_equal(wire_walk(WIRE_HEARTBEAT, bytes.data, bytes.len), 0);
	flood.live_count++;
	assert_int_equal(wire_write_heartbeat(writer, &flood, &bytes), -EMSGSIZE);
	wire_writer_free(writer);
}

int
main(int argc, char **argv)
{
	const struct wire_case cases[] = {
		{ WIRE_STANDING, "standing", write_standing, expect_standing },
		{ WIRE_STANDING, "standing_roles", write_roles, expect_roles },
		{ WIRE_HEARTBEAT, "heartbeat_live", write_live, expect_live },
		{ WIRE_HEARTBEAT, "heartbeat_mute", write_mute, expect_mute },
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_standing_without_tors_is_valid),
		cmocka_unit_test(as_many_as_the_limits_allow_fit_and_no_more),
	};

	return wire_case_main(
	    cases, 4, tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
