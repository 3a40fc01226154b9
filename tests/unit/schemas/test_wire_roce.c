/* What registrations, plans and pinglists contain about RNICs that are probed over
 * verbs. */
#include <errno.h>
#include <string.h>

#include "rnic_sample.h"
#include "schemas/wire.h"
#include "tests/support/wire_walk.h"
#include "wire_case.h"

static const struct wire_target target = {
	.src = { 801, 1 },
	.dst = { 802, 2 },
	.kind = WIRE_INTER_TOR,
	.address = { 4, { 10, 1, 2, 4 }, WIRE_ROCE_PORT },
	.dst_qpn = 0xffffff,
	.dst_large_qpn = 0xfffffe,
	.dst_lid = 0xbeef,
	.sl = 15,
	.interval_us = 803,
};

static const struct wire_plan_entry entry = {
	.kind = WIRE_WITNESS, .interval_us = 811, .sl = 15
};

static int
write_register(struct wire_writer *writer, struct wire_bytes *out)
{
	const struct wire_register reg = { "node-c", 821, &rnic_roce, 1 };

	return wire_write_register(writer, &reg, out);
}

static void
expect_register(const uint8_t *data, size_t len)
{
	struct wire_register_view view;
	struct wire_rnic rnic;

	assert_int_equal(wire_open_register(&view, data, len), 0);
	assert_int_equal(view.reg.rnic_count, 1);
	memset(&rnic, 0xee, sizeof(rnic));
	wire_register_rnic(&view, 0, &rnic);
	rnic_expect(&rnic, &rnic_roce);
}

static int
write_plan_of(const struct wire_plan_entry *of, uint8_t mesh_sl,
    struct wire_writer *writer, struct wire_bytes *out)
{
	const struct wire_plan plan = {
		.tor = "tor-2",
		.version = 831,
		.mesh = { .peers = 2, .interval_us = 832, .sl = mesh_sl },
		.members = &rnic_roce,
		.member_count = 1,
		.remotes = &rnic_roce,
		.remote_count = 1,
		.entries = of,
		.entry_count = 1,
	};

	return wire_write_plan(writer, &plan, out);
}

static int
write_plan(struct wire_writer *writer, struct wire_bytes *out)
{
	return write_plan_of(&entry, 14, writer, out);
}

static void
expect_plan(const uint8_t *data, size_t len)
{
	struct wire_plan_entry got;
	struct wire_plan_view view;
	struct wire_rnic rnic;

	assert_int_equal(wire_open_plan(&view, data, len), 0);
	assert_int_equal(view.plan.mesh.sl, 14);
	wire_plan_member(&view, 0, &rnic);
	rnic_expect(&rnic, &rnic_roce);
	wire_plan_remote(&view, 0, &rnic);
	rnic_expect(&rnic, &rnic_roce);
	wire_plan_entry(&view, 0, &got);
	assert_int_equal(got.sl, 15);
	assert_int_equal(got.interval_us, 811);
}

static int
write_pinglist_of(
    const struct wire_target *of, struct wire_writer *writer, struct wire_bytes *out)
{
	const struct wire_pinglist pinglist = { "tor-2", 841, 842, of, 1, NULL, 0 };

	return wire_write_pinglist(writer, &pinglist, out);
}

static int
write_pinglist(struct wire_writer *writer, struct wire_bytes *out)
{
	return write_pinglist_of(&target, writer, out);
}

static void
expect_pinglist(const uint8_t *data, size_t len)
{
	struct wire_pinglist_view view;
	struct wire_target got;

	assert_int_equal(wire_open_pinglist(&view, data, len), 0);
	assert_int_equal(view.pinglist.target_count, 1);
	wire_pinglist_target(&view, 0, &got);
	assert_int_equal(got.address.port, WIRE_ROCE_PORT);
	assert_int_equal(got.dst_qpn, 0xffffff);
	assert_int_equal(got.dst_large_qpn, 0xfffffe);
	assert_int_equal(got.dst_lid, 0xbeef);
	assert_int_equal(got.sl, 15);
	assert_int_equal(got.interval_us, 803);
}

/* A registration of one RNIC with this number in this field. */
static int
open_rnic(unsigned field, uint64_t number)
{
	size_t root, vector, rnic;
	struct forge forge;
	int r;

	forge_init(&forge, "RMG1", 4096);
	root = forge_table(&forge, 3);
	vector = forge_vector(&forge, 1, 4, 4);
	forge_refer(&forge, root, 2, vector);
	rnic = rnic_forge(&forge);
	forge_refer_all(&forge, vector, 1, rnic);
	forge_number(&forge, rnic, field, number);
	forge_finish(&forge);
	r = wire_walk(WIRE_REGISTER, forge.data, forge.len);
	forge_clear(&forge);
	return r;
}

static void
numbers_of_qps_have_24_bits(void **state)
{
	assert_int_equal(open_rnic(RNIC_QPN, 0xffffff), 0);
	assert_int_equal(open_rnic(RNIC_QPN, 0x1000000), -EBADMSG);
	assert_int_equal(open_rnic(RNIC_QPN, UINT32_MAX), -EBADMSG);
	assert_int_equal(open_rnic(RNIC_LARGE_QPN, 0xffffff), 0);
	assert_int_equal(open_rnic(RNIC_LARGE_QPN, 0x1000000), -EBADMSG);
}

static void
a_link_is_up_down_or_unknown(void **state)
{
	assert_int_equal(open_rnic(RNIC_LINK, WIRE_LINK_UNKNOWN), 0);
	assert_int_equal(open_rnic(RNIC_LINK, WIRE_LINK_DOWN), 0);
	assert_int_equal(open_rnic(RNIC_LINK, WIRE_LINK_DOWN + 1), -EBADMSG);
	assert_int_equal(open_rnic(RNIC_LINK, 255), -EBADMSG);
}

enum { TARGET_QPN = 4, TARGET_LARGE_QPN = 8, TARGET_SL = 10, TARGET_FIELDS };

static int
open_target(unsigned field, uint64_t number)
{
	size_t root, vector, one, mix;
	struct forge forge;
	int r;

	forge_init(&forge, "RML1", 4096);
	root = forge_table(&forge, 5);
	vector = forge_vector(&forge, 1, 4, 4);
	forge_refer(&forge, root, 3, vector);
	one = forge_table(&forge, TARGET_FIELDS);
	forge_refer_all(&forge, vector, 1, one);
	forge_struct(&forge, one, 0);
	forge_struct(&forge, one, 1);
	forge_struct(&forge, one, 3)[18] = 4;
	mix = forge_table(&forge, 3);
	forge_refer(&forge, one, 7, mix);
	forge_number(&forge, one, field, number);
	forge_finish(&forge);
	r = wire_walk(WIRE_PINGLIST, forge.data, forge.len);
	forge_clear(&forge);
	return r;
}

static void
a_target_has_qps_and_a_level_in_range(void **state)
{
	assert_int_equal(open_target(TARGET_QPN, 0xffffff), 0);
	assert_int_equal(open_target(TARGET_QPN, 0x1000000), -EBADMSG);
	assert_int_equal(open_target(TARGET_LARGE_QPN, 0xffffff), 0);
	assert_int_equal(open_target(TARGET_LARGE_QPN, 0x1000000), -EBADMSG);
	assert_int_equal(open_target(TARGET_SL, 15), 0);
	assert_int_equal(open_target(TARGET_SL, 16), -EBADMSG);
}

static int
open_plan(uint8_t mesh_sl, uint8_t entry_sl)
{
	size_t root, mesh, all, members, remotes, one, mix;
	struct forge forge;
	int r;

	forge_init(&forge, "RMP1", 16384);
	root = forge_table(&forge, 10);
	mesh = forge_table(&forge, 5);
	forge_refer(&forge, root, 5, mesh);
	members = forge_vector(&forge, 1, 4, 4);
	forge_refer(&forge, root, 6, members);
	remotes = forge_vector(&forge, 1, 4, 4);
	forge_refer(&forge, root, 7, remotes);
	all = forge_vector(&forge, 1, 4, 4);
	forge_refer(&forge, root, 8, all);
	one = rnic_forge(&forge);
	forge_refer_all(&forge, members, 1, one);
	forge_refer_all(&forge, remotes, 1, one);
	one = forge_table(&forge, 7);
	forge_refer_all(&forge, all, 1, one);
	mix = forge_table(&forge, 3);
	forge_refer(&forge, mesh, 3, mix);
	forge_refer(&forge, one, 5, mix);
	forge_number(&forge, mesh, 4, mesh_sl);
	forge_number(&forge, one, 6, entry_sl);
	forge_finish(&forge);
	r = wire_walk(WIRE_PLAN, forge.data, forge.len);
	forge_clear(&forge);
	return r;
}

static void
a_service_level_has_4_bits(void **state)
{
	assert_int_equal(open_plan(15, 15), 0);
	assert_int_equal(open_plan(16, 0), -EBADMSG);
	assert_int_equal(open_plan(0, 16), -EBADMSG);
}

static int
write_rnic(const struct wire_rnic *rnic)
{
	const struct wire_register reg = { "h", 1, rnic, 1 };
	struct wire_writer *writer = wire_writer_new();
	struct wire_bytes out;
	int r = wire_write_register(writer, &reg, &out);

	wire_writer_free(writer);
	return r;
}

static int
write_target(const struct wire_target *of)
{
	struct wire_writer *writer = wire_writer_new();
	struct wire_bytes out;
	int r = write_pinglist_of(of, writer, &out);

	wire_writer_free(writer);
	return r;
}

static void
a_writer_refuses_messages_that_an_opener_refuses(void **state)
{
	struct wire_writer *writer = wire_writer_new();
	struct wire_plan_entry steep = entry;
	struct wire_rnic rnic = rnic_roce;
	struct wire_target bad = target;
	struct wire_bytes out = { NULL, 0 };

	rnic.qpn = 0x1000000;
	assert_int_equal(write_rnic(&rnic), -EINVAL);
	rnic = rnic_roce;
	rnic.large_qpn = 0x1000000;
	assert_int_equal(write_rnic(&rnic), -EINVAL);
	rnic = rnic_roce;
	rnic.link = WIRE_LINK_DOWN + 1;
	assert_int_equal(write_rnic(&rnic), -EINVAL);

	bad.dst_qpn = 0x1000000;
	assert_int_equal(write_target(&bad), -EINVAL);
	bad = target;
	bad.dst_large_qpn = 0x1000000;
	assert_int_equal(write_target(&bad), -EINVAL);
	bad = target;
	bad.sl = 16;
	assert_int_equal(write_target(&bad), -EINVAL);

	assert_int_equal(write_plan_of(&entry, 16, writer, &out), -EINVAL);
	steep.sl = 16;
	assert_int_equal(write_plan_of(&steep, 0, writer, &out), -EINVAL);
	assert_null(out.data);
	wire_writer_free(writer);
}

int
main(int argc, char **argv)
{
	const struct wire_case cases[] = {
		{ WIRE_REGISTER, "register_roce", write_register, expect_register },
		{ WIRE_PLAN, "plan_roce", write_plan, expect_plan },
		{ WIRE_PINGLIST, "pinglist_roce", write_pinglist, expect_pinglist },
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_qps_have_24_bits),
		cmocka_unit_test(a_link_is_up_down_or_unknown),
		cmocka_unit_test(a_target_has_qps_and_a_level_in_range),
		cmocka_unit_test(a_service_level_has_4_bits),
		cmocka_unit_test(a_writer_refuses_messages_that_an_opener_refuses),
	};

	return wire_case_main(
	    cases, 3, tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
