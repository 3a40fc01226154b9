#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rnic_sample.h"
#include "schemas/wire.h"
#include "tests/support/wire_walk.h"
#include "wire_case.h"

static const uint16_t flows[] = { 50000, 50001, 65535 };
static const uint8_t dscps[] = { 26, 26, 0 };
static const uint16_t sizes[] = { 64, 4096 };

#define MIX                                                               \
	.flows = flows, .flow_count = 3, .dscps = dscps, .dscp_count = 3, \
	.sizes = sizes, .size_count = 2

static const struct wire_plan_entry entries[] = {
	{ .src = 1,
	    .dst = 0,
	    .kind = WIRE_INTER_TOR,
	    .interval_us = 100000,
	    .paired = true,
	    MIX },
	{ .src = 0, .dst = 1, .kind = WIRE_SERVICE, .interval_us = 7 },
};

static const struct wire_plan plan = {
	.region = "eu-1",
	.tor = "tor-1",
	.plane = "rail-0",
	.version = 51,
	.digest = 0xfeedfacefeedface,
	.mesh = { .peers = 10, .interval_us = 100001, .rotation_s = 300, MIX },
	.members = rnic_samples,
	.member_count = 2,
	.remotes = rnic_samples,
	.remote_count = 2,
	.entries = entries,
	.entry_count = 2,
};

static int
write_plan(struct wire_writer *writer, struct wire_bytes *out)
{
	return wire_write_plan(writer, &plan, out);
}

static void
expect_plan(const uint8_t *data, size_t len)
{
	struct wire_plan_view view;
	struct wire_plan_entry entry;
	struct wire_rnic rnic;

	assert_int_equal(wire_open_plan(&view, data, len), 0);
	assert_string_equal(view.plan.region, "eu-1");
	assert_string_equal(view.plan.tor, "tor-1");
	assert_string_equal(view.plan.plane, "rail-0");
	assert_int_equal(view.plan.version, 51);
	assert_int_equal(view.plan.digest, 0xfeedfacefeedface);
	assert_int_equal(view.plan.mesh.peers, 10);
	assert_int_equal(view.plan.mesh.interval_us, 100001);
	assert_int_equal(view.plan.mesh.rotation_s, 300);
	assert_int_equal(view.plan.mesh.flow_count, 3);
	assert_memory_equal(view.plan.mesh.flows, flows, sizeof(flows));
	assert_int_equal(view.plan.mesh.dscp_count, 3);
	assert_memory_equal(view.plan.mesh.dscps, dscps, sizeof(dscps));
	assert_int_equal(view.plan.mesh.size_count, 2);
	assert_memory_equal(view.plan.mesh.sizes, sizes, sizeof(sizes));
	assert_int_equal(view.plan.member_count, 2);
	assert_int_equal(view.plan.remote_count, 2);
	assert_int_equal(view.plan.entry_count, 2);
	for (size_t i = 0; i < 2; i++) {
		wire_plan_member(&view, i, &rnic);
		rnic_expect(&rnic, &rnic_samples[i]);
		wire_plan_remote(&view, i, &rnic);
		rnic_expect(&rnic, &rnic_samples[i]);

		wire_plan_entry(&view, i, &entry);
		assert_int_equal(entry.src, entries[i].src);
		assert_int_equal(entry.dst, entries[i].dst);
		assert_int_equal(entry.kind, entries[i].kind);
		assert_int_equal(entry.interval_us, entries[i].interval_us);
		assert_int_equal(entry.paired, entries[i].paired);
		assert_int_equal(entry.flow_count, entries[i].flow_count);
		assert_int_equal(entry.dscp_count, entries[i].dscp_count);
		assert_int_equal(entry.size_count, entries[i].size_count);
	}
	wire_plan_entry(&view, 0, &entry);
	assert_memory_equal(entry.flows, flows, sizeof(flows));
	assert_memory_equal(entry.dscps, dscps, sizeof(dscps));
	assert_memory_equal(entry.sizes, sizes, sizeof(sizes));
	assert_int_equal(view.plan.alias_count, 0);
}

/* The plan of a region that sets the time-out of probes. */
static int
write_plan_timeout(struct wire_writer *writer, struct wire_bytes *out)
{
	struct wire_plan report = plan;

	report.probe_timeout_ms = 350;
	return wire_write_plan(writer, &report, out);
}

static void
expect_plan_timeout(const uint8_t *data, size_t len)
{
	struct wire_plan_view view;

	expect_plan(data, len);
	assert_int_equal(wire_open_plan(&view, data, len), 0);
	assert_int_equal(view.plan.probe_timeout_ms, 350);
}

/* Digests are computed from these bytes: if an upgrade changed them, every plan would
 * be sent again. */
static void
a_plan_without_newer_fields_keeps_its_bytes(void **state)
{
	struct wire_writer *writer = wire_writer_new();
	struct wire_bytes out;
	uint8_t kept[4096];
	size_t len;
	FILE *f;

	(void)state;
	assert_non_null(writer);
	assert_int_equal(write_plan(writer, &out), 0);
	f = fopen(WIRE_GOLDEN_DIR "/plan.bin", "rb");
	assert_non_null(f);
	len = fread(kept, 1, sizeof(kept), f);
	fclose(f);
	assert_int_equal(out.len, len);
	assert_memory_equal(out.data, kept, len);
	wire_writer_free(writer);
}

enum {
	PLAN_MESH = 5,
	PLAN_MEMBERS,
	PLAN_REMOTES,
	PLAN_ENTRIES,
	PLAN_PROBE_TIMEOUT = 10,
	PLAN_FIELDS
};
enum { MESH_MIX = 3, MESH_FIELDS };
enum { ENTRY_SRC, ENTRY_DST, ENTRY_KIND, ENTRY_MIX = 5, ENTRY_FIELDS };
enum { MIX_FLOWS, MIX_DSCPS, MIX_SIZES, MIX_FIELDS };

struct shape { /* of a forged plan */
	size_t members, remotes, entries;
	uint32_t src, dst;
	uint8_t kind;
	size_t flows, dscps, sizes;
	uint32_t probe_timeout_ms;
	size_t text; /* length of host, device and driver of each RNIC */
};

/* All elements of a vector refer to the same table, so the message stays small. */
static int
open_shape(const struct shape *shape)
{
	static const char text[WIRE_MAX_STRING] = { [0 ... WIRE_MAX_STRING - 1] = 'x' };
	size_t root, mesh, mix, members, remotes, all, entry, rnic, name;
	struct forge forge;
	int r;

	forge_init(&forge, "RMP1", 4 << 20);
	root = forge_table(&forge, PLAN_FIELDS);
	forge_number(&forge, root, PLAN_PROBE_TIMEOUT, shape->probe_timeout_ms);
	mesh = forge_table(&forge, MESH_FIELDS);
	forge_refer(&forge, root, PLAN_MESH, mesh);
	members = forge_vector(&forge, shape->members, 4, 4);
	forge_refer(&forge, root, PLAN_MEMBERS, members);
	remotes = forge_vector(&forge, shape->remotes, 4, 4);
	forge_refer(&forge, root, PLAN_REMOTES, remotes);
	all = forge_vector(&forge, shape->entries, 4, 4);
	forge_refer(&forge, root, PLAN_ENTRIES, all);
	rnic = rnic_forge(&forge);
	forge_refer_all(&forge, members, shape->members, rnic);
	forge_refer_all(&forge, remotes, shape->remotes, rnic);
	entry = forge_table(&forge, ENTRY_FIELDS);
	forge_number(&forge, entry, ENTRY_SRC, shape->src);
	forge_number(&forge, entry, ENTRY_DST, shape->dst);
	forge_number(&forge, entry, ENTRY_KIND, shape->kind);
	forge_refer_all(&forge, all, shape->entries, entry);
	mix = forge_table(&forge, MIX_FIELDS);
	forge_refer(&forge, mesh, MESH_MIX, mix);
	forge_refer(&forge, entry, ENTRY_MIX, mix);
	forge_refer(&forge, mix, MIX_FLOWS, forge_vector(&forge, shape->flows, 2, 4));
	forge_refer(&forge, mix, MIX_DSCPS, forge_vector(&forge, shape->dscps, 1, 4));
	forge_refer(&forge, mix, MIX_SIZES, forge_vector(&forge, shape->sizes, 2, 4));
	name = forge_text(&forge, text, shape->text);
	forge_refer(&forge, rnic, RNIC_HOST, name);
	forge_refer(&forge, rnic, RNIC_DEVICE, name);
	forge_refer(&forge, rnic, RNIC_DRIVER, name);
	forge_finish(&forge);
	r = wire_walk(WIRE_PLAN, forge.data, forge.len);
	forge_clear(&forge);
	return r;
}

static const struct shape usual = { .members = 2,
	.remotes = 3,
	.entries = 4,
	.src = 1,
	.dst = 2,
	.flows = 1,
	.dscps = 1,
	.sizes = 1,
	.text = 5 };

static void
vectors_beyond_their_limits_are_refused(void **state)
{
	struct shape most = usual;

	most.members = WIRE_MAX_MEMBERS;
	most.remotes = WIRE_MAX_REMOTES;
	most.entries = WIRE_MAX_ENTRIES;
	most.flows = WIRE_MAX_FLOWS;
	most.dscps = WIRE_MAX_CLASSES;
	most.sizes = WIRE_MAX_SIZES;
	assert_int_equal(open_shape(&usual), 0);
	assert_int_equal(open_shape(&most), 0);

	most = usual;
	most.members = WIRE_MAX_MEMBERS + 1;
	assert_int_equal(open_shape(&most), -EMSGSIZE);
	most = usual;
	most.remotes = WIRE_MAX_REMOTES + 1;
	assert_int_equal(open_shape(&most), -EMSGSIZE);
	most = usual;
	most.entries = WIRE_MAX_ENTRIES + 1;
	assert_int_equal(open_shape(&most), -EMSGSIZE);
	most = usual;
	most.flows = WIRE_MAX_FLOWS + 1;
	assert_int_equal(open_shape(&most), -EMSGSIZE);
	most = usual;
	most.dscps = WIRE_MAX_CLASSES + 1;
	assert_int_equal(open_shape(&most), -EMSGSIZE);
	most = usual;
	most.sizes = WIRE_MAX_SIZES + 1;
	assert_int_equal(open_shape(&most), -EMSGSIZE);
}

static void
indexes_stay_within_members_and_remotes(void **state)
{
	struct shape shape = usual;

	shape.src = 2;
	assert_int_equal(open_shape(&shape), -EBADMSG);
	shape = usual;
	shape.dst = 3;
	assert_int_equal(open_shape(&shape), -EBADMSG);
	shape = usual;
	shape.dst = UINT32_MAX;
	assert_int_equal(open_shape(&shape), -EBADMSG);
	shape = usual;
	shape.remotes = 0;
	assert_int_equal(open_shape(&shape), -EBADMSG);
	shape.entries = 0;
	assert_int_equal(open_shape(&shape), 0);
}

static void
unknown_probe_kinds_are_refused(void **state)
{
	struct shape shape = usual;

	shape.kind = WIRE_PROBE_KINDS - 1;
	assert_int_equal(open_shape(&shape), 0);
	shape.kind = WIRE_PROBE_KINDS;
	assert_int_equal(open_shape(&shape), -EBADMSG);
}

static void
a_longer_timeout_than_aggregators_wait_is_refused(void **state)
{
	struct shape shape = usual;

	shape.probe_timeout_ms = WIRE_MAX_PROBE_TIMEOUT_MS;
	assert_int_equal(open_shape(&shape), 0);
	shape.probe_timeout_ms++;
	assert_int_equal(open_shape(&shape), -EBADMSG);
}

/* A message of 600 kB whose RNICs share strings: reading each copy would take 800 MB.
 */
static void
shared_strings_cannot_make_a_message_expensive_to_read(void **state)
{
	struct shape shape = usual;

	shape.remotes = WIRE_MAX_REMOTES;
	shape.text = WIRE_MAX_STRING - 1;
	assert_int_equal(open_shape(&shape), -EMSGSIZE);
	shape.remotes = 1000;
	assert_int_equal(open_shape(&shape), 0);
}

static void
a_plan_without_a_mesh_is_refused(void **state)
{
	struct forge forge;

	forge_init(&forge, "RMP1", 4096);
	forge_table(&forge, PLAN_FIELDS);
	forge_finish(&forge);
	assert_int_equal(wire_walk(WIRE_PLAN, forge.data, forge.len), -EBADMSG);
	forge_clear(&forge);
}

static void
a_writer_refuses_messages_that_an_opener_refuses(void **state)
{
	struct wire_writer *writer = wire_writer_new();
	struct wire_plan_entry entry = entries[0];
	struct wire_bytes out = { NULL, 0 };
	struct wire_plan bad = plan;

	bad.entries = &entry;
	bad.entry_count = 1;
	entry.src = 2;
	assert_int_equal(wire_write_plan(writer, &bad, &out), -EINVAL);
	entry = entries[0];
	entry.dst = 2;
	assert_int_equal(wire_write_plan(writer, &bad, &out), -EINVAL);
	entry = entries[0];
	entry.kind = WIRE_PROBE_KINDS;
	assert_int_equal(wire_write_plan(writer, &bad, &out), -EINVAL);
	entry = entries[0];
	entry.flow_count = WIRE_MAX_FLOWS + 1;
	assert_int_equal(wire_write_plan(writer, &bad, &out), -EMSGSIZE);
	entry = entries[0];
	bad.mesh.size_count = WIRE_MAX_SIZES + 1;
	assert_int_equal(wire_write_plan(writer, &bad, &out), -EMSGSIZE);
	bad = plan;
	bad.probe_timeout_ms = WIRE_MAX_PROBE_TIMEOUT_MS + 1;
	assert_int_equal(wire_write_plan(writer, &bad, &out), -EINVAL);
	bad = plan;
	bad.member_count = WIRE_MAX_MEMBERS + 1;
	assert_int_equal(wire_write_plan(writer, &bad, &out), -EMSGSIZE);
	assert_null(out.data);
	wire_writer_free(writer);
}

/* Grows a plan until the writer refuses it, first in large steps and then in small
 * ones. */
static void
a_plan_larger_than_a_frame_is_not_written(void **state)
{
	struct wire_rnic *many = calloc(WIRE_MAX_REMOTES, sizeof(*many));
	struct wire_writer *writer = wire_writer_new();
	struct wire_bytes out = { NULL, 0 };
	char text[WIRE_MAX_STRING];
	struct wire_plan large = plan;
	int r = 0;

	assert_non_null(many);
	memset(text, 'x', sizeof(text));
	text[WIRE_MAX_STRING - 1] = 0;
	for (size_t i = 0; i < WIRE_MAX_REMOTES; i++)
		many[i].host = many[i].device = many[i].driver = text;
	large.remotes = many;
	large.remote_count = WIRE_MAX_REMOTES;
	assert_int_equal(wire_write_plan(writer, &large, &out), -EMSGSIZE);
	assert_null(out.data);

	for (large.remote_count = 1300; r == 0; large.remote_count++)
		r = wire_write_plan(writer, &large, &out);
	assert_int_equal(r, -EMSGSIZE);
	large.remote_count -= 2; /* back to the last number that was accepted */
	assert_in_range(large.remote_count, 1301, 1400);
	r = 0;
	for (size_t len = 0; r == 0 && len < WIRE_MAX_STRING; len += 105) {
		large.region = text + WIRE_MAX_STRING - 1 - len;
		large.tor = large.plane = large.region;
		r = wire_write_plan(writer, &large, &out);
		if (r == 0) {
			assert_true(out.len <= WIRE_MAX_BYTES);
			assert_int_equal(wire_walk(WIRE_PLAN, out.data, out.len), 0);
		}
	}
	assert_int_equal(r, -EMSGSIZE);
	free(many);
	wire_writer_free(writer);
}

int
main(int argc, char **argv)
{
	const struct wire_case cases[] = {
		{ WIRE_PLAN, "plan", write_plan, expect_plan },
		{ WIRE_PLAN, "plan_timeout", write_plan_timeout, expect_plan_timeout },
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plan_without_newer_fields_keeps_its_bytes),
		cmocka_unit_test(vectors_beyond_their_limits_are_refused),
		cmocka_unit_test(indexes_stay_within_members_and_remotes),
		cmocka_unit_test(unknown_probe_kinds_are_refused),
		cmocka_unit_test(a_longer_timeout_than_aggregators_wait_is_refused),
		cmocka_unit_test(
		    shared_strings_cannot_make_a_message_expensive_to_read),
		cmocka_unit_test(a_plan_without_a_mesh_is_refused),
		cmocka_unit_test(a_writer_refuses_messages_that_an_opener_refuses),
		cmocka_unit_test(a_plan_larger_than_a_frame_is_not_written),
	};

	return wire_case_main(cases, sizeof(cases) / sizeof(cases[0]), tests,
	    sizeof(tests) / sizeof(tests[0]), argc, argv);
}
