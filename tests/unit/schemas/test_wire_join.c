#include <errno.h>

#include "forge.h"
#include "schemas/wire.h"
#include "tests/support/wire_walk.h"
#include "wire_case.h"

static const struct wire_join join = { 0x3132333435363738, { 601, 2 }, 0xffffff, 602,
	WIRE_QP_XRC };

static int
write_join(struct wire_writer *writer, struct wire_bytes *out)
{
	return wire_write_join(writer, &join, out);
}

static void
expect_join(const uint8_t *data, size_t len)
{
	struct wire_join view;

	assert_int_equal(wire_open_join(&view, data, len), 0);
	assert_int_equal(view.token, 0x3132333435363738);
	assert_int_equal(view.rnic.guid, 601);
	assert_int_equal(view.rnic.port, 2);
	assert_int_equal(view.qpn, 0xffffff);
	assert_int_equal(view.dst_qpn, 602);
	assert_int_equal(view.qp_type, WIRE_QP_XRC);
}

enum { JOIN_RNIC = 1, JOIN_QPN, JOIN_DST_QPN, JOIN_TYPE, JOIN_FIELDS };

static int
open_join(bool rnic, uint32_t qpn, uint32_t dst_qpn, uint8_t type)
{
	struct forge forge;
	size_t root;
	int r;

	forge_init(&forge, "RMO1", 1024);
	root = forge_table(&forge, JOIN_FIELDS);
	if (rnic)
		forge_struct(&forge, root, JOIN_RNIC);
	forge_number(&forge, root, JOIN_QPN, qpn);
	forge_number(&forge, root, JOIN_DST_QPN, dst_qpn);
	forge_number(&forge, root, JOIN_TYPE, type);
	forge_finish(&forge);
	r = wire_walk(WIRE_JOIN, forge.data, forge.len);
	forge_clear(&forge);
	return r;
}

static void
a_join_names_an_rnic(void **state)
{
	assert_int_equal(open_join(true, 1, 2, WIRE_QP_RC), 0);
	assert_int_equal(open_join(false, 1, 2, WIRE_QP_RC), -EBADMSG);
}

static void
numbers_of_qps_have_24_bits(void **state)
{
	assert_int_equal(open_join(true, 0xffffff, 0xffffff, WIRE_QP_RC), 0);
	assert_int_equal(open_join(true, 0x1000000, 1, WIRE_QP_RC), -EBADMSG);
	assert_int_equal(open_join(true, 1, 0x1000000, WIRE_QP_RC), -EBADMSG);
	assert_int_equal(open_join(true, UINT32_MAX, 1, WIRE_QP_RC), -EBADMSG);
}

static void
only_connected_qps_are_joined(void **state)
{
	assert_int_equal(open_join(true, 1, 2, 0), -EBADMSG);
	assert_int_equal(open_join(true, 1, 2, WIRE_QP_XRC), 0);
	assert_int_equal(open_join(true, 1, 2, WIRE_QP_XRC + 1), -EBADMSG);
}

static void
a_writer_refuses_messages_that_an_opener_refuses(void **state)
{
	struct wire_writer *writer = wire_writer_new();
	struct wire_bytes out = { NULL, 0 };
	struct wire_join bad = join;

	bad.qp_type = 0;
	assert_int_equal(wire_write_join(writer, &bad, &out), -EINVAL);
	bad.qp_type = WIRE_QP_XRC + 1;
	assert_int_equal(wire_write_join(writer, &bad, &out), -EINVAL);
	bad = join;
	bad.qpn = 0x1000000;
	assert_int_equal(wire_write_join(writer, &bad, &out), -EINVAL);
	bad = join;
	bad.dst_qpn = UINT32_MAX;
	assert_int_equal(wire_write_join(writer, &bad, &out), -EINVAL);
	assert_null(out.data);
	wire_writer_free(writer);
}

int
main(int argc, char **argv)
{
	const struct wire_case cases[] = {
		{ WIRE_JOIN, "join", write_join, expect_join },
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_join_names_an_rnic),
		cmocka_unit_test(numbers_of_qps_have_24_bits),
		cmocka_unit_test(only_connected_qps_are_joined),
		cmocka_unit_test(a_writer_refuses_messages_that_an_opener_refuses),
	};

	return wire_case_main(
	    cases, 1, tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
