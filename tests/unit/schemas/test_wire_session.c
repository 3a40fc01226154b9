#include <errno.h>
#include <string.h>

#include "forge.h"
#include "schemas/wire.h"
#include "tests/support/wire_walk.h"
#include "wire_case.h"

static const struct wire_tor_state tors[] = {
	{ "tor-1", 7, 0xdeadbeefcafef00d },
	{ "tor-2", 0, 0 },
};

static const struct wire_hello hello = {
	.role = WIRE_ROLE_AGGREGATOR,
	.version_min = 1,
	.version_max = 2,
	.region = "eu-1",
	.id = "aggregator-1",
	.incarnation = 0x123456789abcdef0,
	.now_ns = 987654321,
	.tors = tors,
	.tor_count = 2,
};

static int
write_hello(struct wire_writer *writer, struct wire_bytes *out)
{
	return wire_write_hello(writer, &hello, out);
}

static void
expect_hello(const uint8_t *data, size_t len)
{
	struct wire_hello_view view;
	struct wire_tor_state state;

	assert_int_equal(wire_open_hello(&view, data, len), 0);
	assert_int_equal(view.hello.role, WIRE_ROLE_AGGREGATOR);
	assert_int_equal(view.hello.version_min, 1);
	assert_int_equal(view.hello.version_max, 2);
	assert_string_equal(view.hello.region, "eu-1");
	assert_string_equal(view.hello.id, "aggregator-1");
	assert_int_equal(view.hello.incarnation, 0x123456789abcdef0);
	assert_int_equal(view.hello.now_ns, 987654321);
	assert_null(view.hello.tors);
	assert_int_equal(view.hello.tor_count, 2);
	for (size_t i = 0; i < 2; i++) {
		wire_hello_tor(&view, i, &state);
		assert_string_equal(state.tor, tors[i].tor);
		assert_int_equal(state.plan_version, tors[i].plan_version);
		assert_int_equal(state.plan_digest, tors[i].plan_digest);
		assert_int_equal(state.keys_version, 0);
	}
}

/* The hello of a sender that also reports its keys. */
static int
write_hello_keys(struct wire_writer *writer, struct wire_bytes *out)
{
	const struct wire_tor_state held[] = {
		{ "tor-1", 7, 8, 0xfedcba9876543210, 0xfedcba98 }, { .tor = "tor-2" }
	};
	struct wire_hello report = hello;

	report.tors = held;
	return wire_write_hello(writer, &report, out);
}

static void
expect_hello_keys(const uint8_t *data, size_t len)
{
	struct wire_hello_view view;
	struct wire_tor_state state;

	assert_int_equal(wire_open_hello(&view, data, len), 0);
	wire_hello_tor(&view, 0, &state);
	assert_int_equal(state.plan_digest, 8);
	assert_int_equal(state.keys_version, 0xfedcba9876543210);
	assert_int_equal(state.keys_epoch, 0xfedcba98);
	wire_hello_tor(&view, 1, &state);
	assert_int_equal(state.keys_version, 0);
}

/* The hello of a sender that also reports its release. */
static int
write_hello_software(struct wire_writer *writer, struct wire_bytes *out)
{
	struct wire_hello report = hello;

	report.software = "1.4.0~rc1+git5";
	return wire_write_hello(writer, &report, out);
}

static void
expect_hello_software(const uint8_t *data, size_t len)
{
	struct wire_hello_view view;

	expect_hello(data, len);
	assert_int_equal(wire_open_hello(&view, data, len), 0);
	assert_string_equal(view.hello.software, "1.4.0~rc1+git5");
	assert_int_equal(view.hello.summary_interval_s, 0); /* the field is absent */
}

/* The hello of an aggregator that also reports its summary interval. */
static int
write_hello_interval(struct wire_writer *writer, struct wire_bytes *out)
{
	struct wire_hello report = hello;

	report.summary_interval_s = WIRE_MAX_SUMMARY_INTERVAL_S;
	return wire_write_hello(writer, &report, out);
}

static void
expect_hello_interval(const uint8_t *data, size_t len)
{
	struct wire_hello_view view;

	expect_hello(data, len);
	assert_int_equal(wire_open_hello(&view, data, len), 0);
	assert_int_equal(view.hello.summary_interval_s, WIRE_MAX_SUMMARY_INTERVAL_S);
}

static const struct wire_version peers[] = {
	{ WIRE_COMPONENT_AGENT, "host-1", "1.4.0", 1700000000, true },
	{ WIRE_COMPONENT_ANALYZER, "analyzer-1", "", 1700000001, false },
};

static int
write_versions(struct wire_writer *writer, struct wire_bytes *out)
{
	const struct wire_versions versions = { .peers = peers, .peer_count = 2 };

	return wire_write_versions(writer, &versions, out);
}

static void
expect_versions(const uint8_t *data, size_t len)
{
	struct wire_versions view;
	struct wire_version peer;

	assert_int_equal(wire_open_versions(&view, data, len), 0);
	assert_int_equal(view.peer_count, 2);
	for (size_t i = 0; i < 2; i++) {
		wire_versions_peer(&view, i, &peer);
		assert_int_equal(peer.component, peers[i].component);
		assert_string_equal(peer.name, peers[i].name);
		assert_string_equal(peer.software, peers[i].software);
		assert_int_equal(peer.since_s, peers[i].since_s);
		assert_int_equal(peer.connected, peers[i].connected);
	}
}

static int
write_welcome(struct wire_writer *writer, struct wire_bytes *out)
{
	const struct wire_welcome welcome = {
		.version = 1,
		.id = "aggregator-1",
		.incarnation = 42,
		.counted_seq = 99,
		.refused = "not your ToR",
	};

	return wire_write_welcome(writer, &welcome, out);
}

static void
expect_welcome(const uint8_t *data, size_t len)
{
	struct wire_welcome view;

	assert_int_equal(wire_open_welcome(&view, data, len), 0);
	assert_int_equal(view.version, 1);
	assert_string_equal(view.id, "aggregator-1");
	assert_int_equal(view.incarnation, 42);
	assert_int_equal(view.counted_seq, 99);
	assert_string_equal(view.refused, "not your ToR");
}

static int
write_welcome_software(struct wire_writer *writer, struct wire_bytes *out)
{
	const struct wire_welcome welcome = {
		.version = 1,
		.id = "aggregator-1",
		.incarnation = 42,
		.counted_seq = 99,
		.refused = "not your ToR",
		.software = "1.4.0",
	};

	return wire_write_welcome(writer, &welcome, out);
}

static void
expect_welcome_software(const uint8_t *data, size_t len)
{
	struct wire_welcome view;

	expect_welcome(data, len);
	assert_int_equal(wire_open_welcome(&view, data, len), 0);
	assert_string_equal(view.software, "1.4.0");
	assert_false(view.knows_overdue);
}

static int
write_welcome_overdue(struct wire_writer *writer, struct wire_bytes *out)
{
	const struct wire_welcome welcome = {
		.version = 1,
		.id = "aggregator-1",
		.incarnation = 42,
		.counted_seq = 99,
		.refused = "not your ToR",
		.software = "1.4.0",
		.knows_overdue = true,
	};

	return wire_write_welcome(writer, &welcome, out);
}

static void
expect_welcome_overdue(const uint8_t *data, size_t len)
{
	struct wire_welcome view;

	expect_welcome(data, len);
	assert_int_equal(wire_open_welcome(&view, data, len), 0);
	assert_true(view.knows_overdue);
}

static int
write_ack(struct wire_writer *writer, struct wire_bytes *out)
{
	const struct wire_ack ack = { WIRE_LANE_SUMMARY, 77, 1234567890123 };

	return wire_write_ack(writer, &ack, out);
}

static void
expect_ack(const uint8_t *data, size_t len)
{
	struct wire_ack view;

	assert_int_equal(wire_open_ack(&view, data, len), 0);
	assert_int_equal(view.lane, WIRE_LANE_SUMMARY);
	assert_int_equal(view.incarnation, 77);
	assert_int_equal(view.seq, 1234567890123);
}

/* Fields of the forged tables. */
enum { HELLO_ROLE, HELLO_REGION = 3, HELLO_TORS = 7, HELLO_SOFTWARE, HELLO_FIELDS };
enum { TOR_NAME, TOR_FIELDS = 3 };
enum { WELCOME_ID = 1, WELCOME_FIELDS = 6 };

static int
open_hello_with_region(const char *region, size_t len)
{
	struct forge forge;
	size_t root;
	int r;

	forge_init(&forge, "RMH1", 65536);
	root = forge_table(&forge, HELLO_FIELDS);
	forge_number(&forge, root, HELLO_ROLE, WIRE_ROLE_AGENT);
	forge_refer(&forge, root, HELLO_REGION, forge_text(&forge, region, len));
	forge_finish(&forge);
	r = wire_walk(WIRE_HELLO, forge.data, forge.len);
	forge_clear(&forge);
	return r;
}

static void
a_string_has_a_limit_and_no_zero_inside(void **state)
{
	char region[WIRE_MAX_STRING + 1];

	memset(region, 'x', sizeof(region));
	assert_int_equal(open_hello_with_region(region, WIRE_MAX_STRING - 1), 0);
	assert_int_equal(open_hello_with_region(region, WIRE_MAX_STRING), -EMSGSIZE);
	assert_int_equal(open_hello_with_region("a\0b", 3), -EBADMSG);
	assert_int_equal(open_hello_with_region("", 0), 0);
}

static void
absent_fields_read_as_empty(void **state)
{
	struct wire_welcome view;
	struct forge forge;

	forge_init(&forge, "RMW1", 1024);
	forge_table(&forge, 0);
	forge_finish(&forge);
	assert_int_equal(wire_open_welcome(&view, forge.data, forge.len), 0);
	assert_int_equal(view.version, 0);
	assert_string_equal(view.id, "");
	assert_string_equal(view.refused, "");
	assert_string_equal(view.software, "");
	forge_clear(&forge);
}

static void
fields_of_a_newer_peer_are_ignored(void **state)
{
	struct wire_welcome view;
	struct forge forge;
	size_t root;

	forge_init(&forge, "RMW1", 1024);
	root = forge_table(&forge, WELCOME_FIELDS + 2);
	forge_number(&forge, root, WELCOME_FIELDS + 1, 12345);
	forge_refer(&forge, root, WELCOME_ID, forge_text(&forge, "newer", 5));
	forge_finish(&forge);
	assert_int_equal(wire_open_welcome(&view, forge.data, forge.len), 0);
	assert_string_equal(view.id, "newer");
	forge_clear(&forge);
}

static int
open_hello_with_tors(size_t count)
{
	struct forge forge;
	size_t root, vector, tor;
	int r;

	forge_init(&forge, "RMH1", 65536);
	root = forge_table(&forge, HELLO_FIELDS);
	forge_number(&forge, root, HELLO_ROLE, WIRE_ROLE_AGENT);
	vector = forge_vector(&forge, count, 4, 4);
	forge_refer(&forge, root, HELLO_TORS, vector);
	tor = forge_table(&forge, TOR_FIELDS);
	forge_refer_all(&forge, vector, count, tor);
	forge_finish(&forge);
	r = wire_walk(WIRE_HELLO, forge.data, forge.len);
	forge_clear(&forge);
	return r;
}

static void
more_tors_than_the_limit_are_refused(void **state)
{
	assert_int_equal(open_hello_with_tors(0), 0);
	assert_int_equal(open_hello_with_tors(WIRE_MAX_TORS), 0);
	assert_int_equal(open_hello_with_tors(WIRE_MAX_TORS + 1), -EMSGSIZE);
	assert_int_equal(open_hello_with_tors(1000), -EBADMSG);
}

static int
open_with_number(enum wire_kind kind, const char *identifier, uint64_t number)
{
	struct forge forge;
	int r;

	forge_init(&forge, identifier, 1024);
	forge_number(&forge, forge_table(&forge, 8), 0, number);
	forge_finish(&forge);
	r = wire_walk(kind, forge.data, forge.len);
	forge_clear(&forge);
	return r;
}

static void
unknown_roles_and_lanes_are_refused(void **state)
{
	assert_int_equal(open_with_number(WIRE_HELLO, "RMH1", 0), -EBADMSG);
	assert_int_equal(open_with_number(WIRE_HELLO, "RMH1", 1), 0);
	assert_int_equal(open_with_number(WIRE_HELLO, "RMH1", 4), 0);
	assert_int_equal(open_with_number(WIRE_HELLO, "RMH1", 5), -EBADMSG);
	assert_int_equal(open_with_number(WIRE_ACK, "RMK1", 0), -EBADMSG);
	assert_int_equal(open_with_number(WIRE_ACK, "RMK1", 1), 0);
	assert_int_equal(open_with_number(WIRE_ACK, "RMK1", 3), 0);
	assert_int_equal(open_with_number(WIRE_ACK, "RMK1", 4), -EBADMSG);
}

static void
a_failed_open_does_not_change_the_view(void **state)
{
	uint8_t bytes[32] __attribute__((aligned(8))) = { 0 };
	struct wire_ack view = { WIRE_LANE_INCIDENT, 5, 6 };

	assert_int_equal(wire_open_ack(&view, bytes, sizeof(bytes)), -EBADMSG);
	assert_int_equal(view.lane, WIRE_LANE_INCIDENT);
	assert_int_equal(view.incarnation, 5);
	assert_int_equal(view.seq, 6);
}

/* The writer must align to 8 even if no field of the message needs more than 4. */
static void
a_message_of_small_fields_is_aligned_to_8_too(void **state)
{
	struct wire_writer *writer = wire_writer_new();
	struct wire_welcome welcome = { .version = 1 }, view;
	const char *const ids[] = { "", "a", "abcd", "abcdefgh", "abcdefghijkl" };
	struct wire_bytes out;

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		welcome.id = ids[i];
		assert_int_equal(wire_write_welcome(writer, &welcome, &out), 0);
		assert_int_equal(out.len % 8, 0);
		assert_int_equal(wire_open_welcome(&view, out.data, out.len), 0);
		assert_string_equal(view.id, ids[i]);
	}
	wire_writer_free(writer);
}

static void
more_bytes_than_a_frame_carries_are_refused(void **state)
{
	struct forge forge;

	forge_init(&forge, "RMQ1", WIRE_MAX_BYTES + 64);
	forge_table(&forge, 1);
	forge.len = WIRE_MAX_BYTES;
	forge_finish(&forge);
	assert_int_equal(wire_walk(WIRE_PING, forge.data, forge.len), 0);
	forge.len = WIRE_MAX_BYTES + 8;
	forge_finish(&forge);
	assert_int_equal(wire_walk(WIRE_PING, forge.data, forge.len), -EMSGSIZE);
	forge_clear(&forge);
}

static void
a_writer_refuses_messages_that_an_opener_refuses(void **state)
{
	struct wire_writer *writer = wire_writer_new();
	struct wire_bytes out = { NULL, 0 };
	char region[WIRE_MAX_STRING + 1];
	struct wire_tor_state many[WIRE_MAX_TORS + 1] = { { "tor", 0, 0 } };
	struct wire_hello bad = hello;
	const struct wire_ack ack = { 4, 0, 0 };

	memset(region, 'x', sizeof(region));
	region[WIRE_MAX_STRING] = 0;
	bad.region = region;
	assert_int_equal(wire_write_hello(writer, &bad, &out), -EMSGSIZE);
	region[WIRE_MAX_STRING - 1] = 0;
	assert_int_equal(wire_write_hello(writer, &bad, &out), 0);

	bad = hello;
	bad.tors = many;
	bad.tor_count = WIRE_MAX_TORS + 1;
	out.data = NULL;
	assert_int_equal(wire_write_hello(writer, &bad, &out), -EMSGSIZE);
	bad.tors = NULL;
	bad.tor_count = 1;
	assert_int_equal(wire_write_hello(writer, &bad, &out), -EINVAL);
	bad = hello;
	bad.role = 0;
	assert_int_equal(wire_write_hello(writer, &bad, &out), -EINVAL);
	assert_int_equal(wire_write_ack(writer, &ack, &out), -EINVAL);
	assert_null(out.data);

	bad = hello;
	bad.region = NULL;
	bad.tors = many;
	bad.tor_count = WIRE_MAX_TORS;
	assert_int_equal(wire_write_hello(writer, &bad, &out), 0);
	assert_int_equal(wire_walk(WIRE_HELLO, out.data, out.len), 0);
	wire_writer_free(writer);
}

int
main(int argc, char **argv)
{
	const struct wire_case cases[] = {
		{ WIRE_HELLO, "hello", write_hello, expect_hello },
		{ WIRE_HELLO, "hello_keys", write_hello_keys, expect_hello_keys },
		{ WIRE_HELLO, "hello_software", write_hello_software,
		    expect_hello_software },
		{ WIRE_HELLO, "hello_interval", write_hello_interval,
		    expect_hello_interval },
		{ WIRE_WELCOME, "welcome", write_welcome, expect_welcome },
		{ WIRE_WELCOME, "welcome_software", write_welcome_software,
		    expect_welcome_software },
		{ WIRE_WELCOME, "welcome_overdue", write_welcome_overdue,
		    expect_welcome_overdue },
		{ WIRE_VERSIONS, "versions", write_versions, expect_versions },
		{ WIRE_ACK, "ack", write_ack, expect_ack },
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_string_has_a_limit_and_no_zero_inside),
		cmocka_unit_test(absent_fields_read_as_empty),
		cmocka_unit_test(fields_of_a_newer_peer_are_ignored),
		cmocka_unit_test(more_tors_than_the_limit_are_refused),
		cmocka_unit_test(unknown_roles_and_lanes_are_refused),
		cmocka_unit_test(a_failed_open_does_not_change_the_view),
		cmocka_unit_test(a_message_of_small_fields_is_aligned_to_8_too),
		cmocka_unit_test(more_bytes_than_a_frame_carries_are_refused),
		cmocka_unit_test(a_writer_refuses_messages_that_an_opener_refuses),
	};

	return wire_case_main(cases, sizeof(cases) / sizeof(cases[0]), tests,
	    sizeof(tests) / sizeof(tests[0]), argc, argv);
}
