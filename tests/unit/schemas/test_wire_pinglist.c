#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "forge.h"
#include "schemas/wire.h"
#include "tests/support/wire_walk.h"
#include "wire_case.h"

static const uint16_t flows[] = { 50000, 50001 };
static const uint8_t dscps[] = { 26, 0, 26 };
static const uint16_t sizes[] = { 64, 1024, 4096 };

static const struct wire_target targets[] = {
	{
	    .src = { 61, 1 },
	    .dst = { 62, 2 },
	    .kind = WIRE_WITNESS,
	    .address = { 6, { 0xfe, 0x80, [15] = 9 }, 862 },
	    .dst_qpn = 63,
	    .interval_us = 64,
	    .paired = true,
	    .flows = flows,
	    .flow_count = 2,
	    .dscps = dscps,
	    .dscp_count = 3,
	    .sizes = sizes,
	    .size_count = 3,
	},
	{ .src = { 65, 1 }, .dst = { 66, 255 }, .address = { 4, { 1, 2, 3, 4 }, 5 } },
};

static const struct wire_peer roster[] = {
	{ { 71, 1 }, { 4, { 10, 0, 0, 1 }, 0 } },
	{ { 72, 2 }, { 6, { 0xfd, [15] = 1 }, 7 } },
};

static const struct wire_pinglist pinglist = { "tor-1", 81, 82, targets, 2, roster, 2 };

static int
write_pinglist(struct wire_writer *writer, struct wire_bytes *out)
{
	return wire_write_pinglist(writer, &pinglist, out);
}

static void
expect_address(const struct wire_address *got, const struct wire_address *want)
{
	assert_int_equal(got->family, want->family);
	assert_int_equal(got->port, want->port);
	assert_memory_equal(got->bytes, want->bytes, sizeof(got->bytes));
}

static void
expect_id(const struct wire_rnic_id *got, const struct wire_rnic_id *want)
{
	assert_int_equal(got->guid, want->guid);
	assert_int_equal(got->port, want->port);
}

static void
expect_pinglist(const uint8_t *data, size_t len)
{
	struct wire_pinglist_view view;

	assert_int_equal(wire_open_pinglist(&view, data, len), 0);
	assert_string_equal(view.pinglist.tor, "tor-1");
	assert_int_equal(view.pinglist.version, 81);
	assert_int_equal(view.pinglist.rotation, 82);
	assert_int_equal(view.pinglist.target_count, 2);
	assert_int_equal(view.pinglist.roster_count, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct wire_target *want = &targets[i];
		struct wire_target target;
		struct wire_peer peer;

		wire_pinglist_target(&view, i, &target);
		expect_id(&target.src, &want->src);
		expect_id(&target.dst, &want->dst);
		assert_int_equal(target.kind, want->kind);
		expect_address(&target.address, &want->address);
		assert_int_equal(target.dst_qpn, want->dst_qpn);
		assert_int_equal(target.interval_us, want->interval_us);
		assert_int_equal(target.paired, want->paired);
		assert_int_equal(target.flow_count, want->flow_count);
		assert_int_equal(target.dscp_count, want->dscp_count);
		assert_int_equal(target.size_count, want->size_count);
		if (i == 0) {
			assert_memory_equal(target.flows, flows, sizeof(flows));
			assert_memory_equal(target.dscps, dscps, sizeof(dscps));
			assert_memory_equal(target.sizes, sizes, sizeof(sizes));
		}
		wire_pinglist_peer(&view, i, &peer);
		expect_id(&peer.id, &roster[i].id);
		expect_address(&peer.address, &roster[i].address);
	}
}

static int
write_focus(struct wire_writer *writer, struct wire_bytes *out)
{
	const struct wire_focus focus = { { 91, 1 }, { 92, 2 }, 93, 94 };

	return wire_write_focus(writer, &focus, out);
}

static void
expect_focus(const uint8_t *data, size_t len)
{
	struct wire_focus view;

	assert_int_equal(wire_open_focus(&view, data, len), 0);
	expect_id(&view.src, &(struct wire_rnic_id){ 91, 1 });
	expect_id(&view.dst, &(struct wire_rnic_id){ 92, 2 });
	assert_int_equal(view.interval_us, 93);
	assert_int_equal(view.duration_ms, 94);
}

static int
write_ping(struct wire_writer *writer, struct wire_bytes *out)
{
	return wire_write_ping(writer, 0x0807060504030201, out);
}

static void
expect_ping(const uint8_t *data, size_t len)
{
	struct wire_ping view;

	assert_int_equal(wire_open_ping_ending(&view, data, len), 0);
	assert_int_equal(view.now_ns, 0x0807060504030201);
	assert_string_equal(view.ending, "");
	assert_int_equal(view.ends_s, 0);
}

static int
write_ping_ending(struct wire_writer *writer, struct wire_bytes *out)
{
	return wire_write_ping_ending(
	    writer, &(struct wire_ping){ 77, "c1", 0x1122334455667788 }, out);
}

static void
expect_ping_ending(const uint8_t *data, size_t len)
{
	struct wire_ping view;

	assert_int_equal(wire_open_ping_ending(&view, data, len), 0);
	assert_int_equal(view.now_ns, 77);
	assert_string_equal(view.ending, "c1");
	assert_int_equal(view.ends_s, 0x1122334455667788);
}

enum { PINGLIST_TARGETS = 3, PINGLIST_ROSTER, PINGLIST_FIELDS };
enum {
	TARGET_SRC,
	TARGET_DST,
	TARGET_KIND,
	TARGET_ADDRESS,
	TARGET_MIX = 7,
	TARGET_FIELDS
};
enum { PEER_BYTES = 40, PEER_FAMILY = 16 + 18, ADDRESS_FAMILY = 18 };

static int
write_ping_mute(struct wire_writer *writer, struct wire_bytes *out)
{
	return wire_write_ping_ending(writer,
	    &(struct wire_ping){ .now_ns = 78, .ending = "", .mute = true }, out);
}

static void
expect_ping_mute(const uint8_t *data, size_t len)
{
	struct wire_ping view;

	assert_int_equal(wire_open_ping_ending(&view, data, len), 0);
	assert_int_equal(view.now_ns, 78);
	assert_true(view.mute);
}

static int
write_pinglist_timeout(struct wire_writer *writer, struct wire_bytes *out)
{
	struct wire_pinglist report = pinglist;

	report.probe_timeout_ms = 350;
	return wire_write_pinglist(writer, &report, out);
}

static void
expect_pinglist_timeout(const uint8_t *data, size_t len)
{
	struct wire_pinglist_view view;

	expect_pinglist(data, len);
	assert_int_equal(wire_open_pinglist(&view, data, len), 0);
	assert_int_equal(view.pinglist.probe_timeout_ms, 350);
}

struct shape { /* of a forged pinglist */
	size_t targets, roster;
	size_t roster_shift;
	uint8_t kind, target_family, roster_family;
	size_t flows;
	int without; /* index of the target's field to leave out; -1: none */
};

static int
open_shape(const struct shape *shape)
{
	size_t root, all, peers, target, mix;
	struct forge forge;
	int r;

	forge_init(&forge, "RML1", 4 << 20);
	root = forge_table(&forge, PINGLIST_FIELDS);
	all = forge_vector(&forge, shape->targets, 4, 4);
	forge_refer(&forge, root, PINGLIST_TARGETS, all);
	peers = forge_vector(&forge, shape->roster, PEER_BYTES, shape->roster_shift);
	forge_refer(&forge, root, PINGLIST_ROSTER, peers);
	for (size_t i = 0; i < shape->roster; i++)
		*forge_element(&forge, peers, i * PEER_BYTES + PEER_FAMILY) =
		    shape->roster_family;
	target = forge_table(&forge, TARGET_FIELDS);
	forge_refer_all(&forge, all, shape->targets, target);
	if (shape->without != TARGET_SRC)
		forge_struct(&forge, target, TARGET_SRC);
	if (shape->without != TARGET_DST)
		forge_struct(&forge, target, TARGET_DST);
	forge_number(&forge, target, TARGET_KIND, shape->kind);
	if (shape->without != TARGET_ADDRESS)
		forge_struct(&forge, target, TARGET_ADDRESS)[ADDRESS_FAMILY] =
		    shape->target_family;
	mix = forge_table(&forge, 3);
	if (shape->without != TARGET_MIX)
		forge_refer(&forge, target, TARGET_MIX, mix);
	forge_refer(&forge, mix, 0, forge_vector(&forge, shape->flows, 2, 4));
	forge_finish(&forge);
	r = wire_walk(WIRE_PINGLIST, forge.data, forge.len);
	forge_clear(&forge);
	return r;
}

static const struct shape usual = { .targets = 2,
	.roster = 2,
	.target_family = 4,
	.roster_family = 6,
	.flows = 1,
	.without = -1 };

static void
vectors_beyond_their_limits_are_refused(void **state)
{
	struct shape shape = usual;

	assert_int_equal(open_shape(&usual), 0);
	shape.targets = WIRE_MAX_TARGETS;
	shape.roster = WIRE_MAX_ROSTER;
	shape.flows = WIRE_MAX_FLOWS;
	assert_int_equal(open_shape(&shape), 0);
	shape.targets = WIRE_MAX_TARGETS + 1;
	assert_int_equal(open_shape(&shape), -EMSGSIZE);
	shape = usual;
	shape.roster = WIRE_MAX_ROSTER + 1;
	assert_int_equal(open_shape(&shape), -EMSGSIZE);
	shape = usual;
	shape.flows = WIRE_MAX_FLOWS + 1;
	assert_int_equal(open_shape(&shape), -EMSGSIZE);
}

static void
addresses_and_kinds_must_be_known(void **state)
{
	struct shape shape = usual;

	shape.target_family = 5;
	assert_int_equal(open_shape(&shape), -EBADMSG);
	shape = usual;
	shape.roster_family = 0;
	assert_int_equal(open_shape(&shape), -EBADMSG);
	shape = usual;
	shape.kind = WIRE_PROBE_KINDS;
	assert_int_equal(open_shape(&shape), -EBADMSG);
	shape.kind = WIRE_PROBE_KINDS - 1;
	assert_int_equal(open_shape(&shape), 0);
}

static void
a_target_is_whole_or_refused(void **state)
{
	const int needed[] = { TARGET_SRC, TARGET_DST, TARGET_ADDRESS, TARGET_MIX };
	struct shape shape = usual;

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		shape.without = needed[i];
		assert_int_equal(open_shape(&shape), -EBADMSG);
	}
}

static void
a_misaligned_roster_is_refused(void **state)
{
	struct shape shape = usual;

	shape.roster_shift = 4;
	assert_int_equal(open_shape(&shape), -EBADMSG);
}

static void
a_focus_needs_both_ends(void **state)
{
	struct forge forge;
	size_t root;

	forge_init(&forge, "RMF1", 4096);
	root = forge_table(&forge, 4);
	forge_struct(&forge, root, 0);
	forge_finish(&forge);
	assert_int_equal(wire_walk(WIRE_FOCUS, forge.data, forge.len), -EBADMSG);
	forge_struct(&forge, root, 1);
	assert_int_equal(wire_walk(WIRE_FOCUS, forge.data, forge.len), 0);
	forge_clear(&forge);
}

static void
a_writer_refuses_messages_that_an_opener_refuses(void **state)
{
	struct wire_peer *many = calloc(WIRE_MAX_ROSTER + 1, sizeof(*many));
	struct wire_writer *writer = wire_writer_new();
	struct wire_target target = targets[0];
	struct wire_bytes out = { NULL, 0 };
	struct wire_pinglist bad = pinglist;

	assert_non_null(many);
	bad.targets = &target;
	bad.target_count = 1;
	target.address.family = 0;
	assert_int_equal(wire_write_pinglist(writer, &bad, &out), -EINVAL);
	target = targets[0];
	target.kind = WIRE_PROBE_KINDS;
	assert_int_equal(wire_write_pinglist(writer, &bad, &out), -EINVAL);
	target = targets[0];
	target.dscp_count = WIRE_MAX_CLASSES + 1;
	assert_int_equal(wire_write_pinglist(writer, &bad, &out), -EMSGSIZE);
	target = targets[0];
	bad.roster = many;
	bad.roster_count = WIRE_MAX_ROSTER + 1;
	assert_int_equal(wire_write_pinglist(writer, &bad, &out), -EMSGSIZE);
	bad.roster_count = WIRE_MAX_ROSTER; /* an RNIC without an address family */
	assert_int_equal(wire_write_pinglist(writer, &bad, &out), -EINVAL);
	assert_null(out.data);
	for (size_t i = 0; i < WIRE_MAX_ROSTER; i++)
		many[i].address.family = 4;
	assert_int_equal(wire_write_pinglist(writer, &bad, &out), 0);
	assert_int_equal(wire_walk(WIRE_PINGLIST, out.data, out.len), 0);
	bad.probe_timeout_ms = WIRE_MAX_PROBE_TIMEOUT_MS + 1;
	assert_int_equal(wire_write_pinglist(writer, &bad, &out), -EINVAL);
	free(many);
	wire_writer_free(writer);
}

int
main(int argc, char **argv)
{
	const struct wire_case cases[] = {
		{ WIRE_PINGLIST, "pinglist", write_pinglist, expect_pinglist },
		{ WIRE_PINGLIST, "pinglist_timeout", write_pinglist_timeout,
		    expect_pinglist_timeout },
		{ WIRE_FOCUS, "focus", write_focus, expect_focus },
		{ WIRE_PING, "ping", write_ping, expect_ping },
		{ WIRE_PING, "ping_ending", write_ping_ending, expect_ping_ending },
		{ WIRE_PING, "ping_mute", write_ping_mute, expect_ping_mute },
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vectors_beyond_their_limits_are_refused),
		cmocka_unit_test(addresses_and_kinds_must_be_known),
		cmocka_unit_test(a_target_is_whole_or_refused),
		cmocka_unit_test(a_misaligned_roster_is_refused),
		cmocka_unit_test(a_focus_needs_both_ends),
		cmocka_unit_test(a_writer_refuses_messages_that_an_opener_refuses),
	};

	return wire_case_main(cases, sizeof(cases) / sizeof(cases[0]), tests,
	    sizeof(tests) / sizeof(tests[0]), argc, argv);
}
