#include <errno.h>
#include <string.h>

#include "forge.h"
#include "schemas/wire.h"
#include "tests/support/wire_walk.h"
#include "wire_case.h"

static const struct wire_alias aliases[] = {
	{ "spine-1", { 4, { 10, 9, 8, 7 }, 0 } },
	{ "spine-2", { 6, { 0xfd, 9, 8, 7 }, 0 } },
};

static const struct wire_plan plan = {
	.region = "eu-1",
	.tor = "tor-1",
	.version = 71,
	.digest = 72,
	.aliases = aliases,
	.alias_count = 2,
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
	struct wire_alias alias;

	assert_int_equal(wire_open_plan(&view, data, len), 0);
	assert_string_equal(view.plan.tor, "tor-1");
	assert_int_equal(view.plan.version, 71);
	assert_int_equal(view.plan.digest, 72);
	assert_null(view.plan.aliases);
	assert_int_equal(view.plan.alias_count, 2);
	for (size_t i = 0; i < 2; i++) {
		wire_plan_alias(&view, i, &alias);
		assert_string_equal(alias.switch_name, aliases[i].switch_name);
		assert_int_equal(alias.address.family, aliases[i].address.family);
		assert_memory_equal(alias.address.bytes, aliases[i].address.bytes, 16);
		assert_int_equal(alias.address.port, 0);
	}
}

/* Fields of the forged tables. */
enum { PLAN_MESH = 5, PLAN_ALIASES = 9, PLAN_FIELDS };
enum { MESH_MIX = 3, MESH_FIELDS };
enum { ALIAS_NAME, ALIAS_ADDRESS, ALIAS_FIELDS };
#define ADDRESS_FAMILY_AT 18

static int
open_aliases(size_t count, bool address, uint8_t family)
{
	size_t root, mesh, all, alias;
	struct forge forge;
	int r;

	forge_init(&forge, "RMP1", 1 << 20);
	root = forge_table(&forge, PLAN_FIELDS);
	mesh = forge_table(&forge, MESH_FIELDS);
	forge_refer(&forge, root, PLAN_MESH, mesh);
	forge_refer(&forge, mesh, MESH_MIX, forge_table(&forge, 3));
	all = forge_vector(&forge, count, 4, 4);
	forge_refer(&forge, root, PLAN_ALIASES, all);
	alias = forge_table(&forge, ALIAS_FIELDS);
	forge_refer_all(&forge, all, count, alias);
	if (address)
		forge_struct(&forge, alias, ALIAS_ADDRESS)[ADDRESS_FAMILY_AT] = family;
	forge_refer(&forge, alias, ALIAS_NAME, forge_text(&forge, "s", 1));
	forge_finish(&forge);
	r = wire_walk(WIRE_PLAN, forge.data, forge.len);
	forge_clear(&forge);
	return r;
}

static void
more_aliases_than_the_limit_are_refused(void **state)
{
	assert_int_equal(open_aliases(0, true, 4), 0);
	assert_int_equal(open_aliases(WIRE_MAX_ALIASES, true, 4), 0);
	assert_int_equal(open_aliases(WIRE_MAX_ALIASES + 1, true, 4), -EMSGSIZE);
}

static void
an_alias_needs_an_address(void **state)
{
	assert_int_equal(open_aliases(1, true, 6), 0);
	assert_int_equal(open_aliases(1, true, 5), -EBADMSG);
	assert_int_equal(open_aliases(1, false, 0), -EBADMSG);
}

static void
a_writer_refuses_messages_that_an_opener_refuses(void **state)
{
	struct wire_writer *writer = wire_writer_new();
	struct wire_alias alias = aliases[0];
	struct wire_bytes out = { NULL, 0 };
	struct wire_plan bad = plan;

	bad.alias_count = WIRE_MAX_ALIASES + 1;
	assert_int_equal(wire_write_plan(writer, &bad, &out), -EMSGSIZE);
	bad.alias_count = 1;
	bad.aliases = &alias;
	alias.address.family = 0;
	assert_int_equal(wire_write_plan(writer, &bad, &out), -EINVAL);
	bad.aliases = NULL;
	assert_int_equal(wire_write_plan(writer, &bad, &out), -EINVAL);
	assert_null(out.data);
	wire_writer_free(writer);
}

int
main(int argc, char **argv)
{
	const struct wire_case cases[] = {
		{ WIRE_PLAN, "plan_aliases", write_plan, expect_plan },
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(more_aliases_than_the_limit_are_refused),
		cmocka_unit_test(an_alias_needs_an_address),
		cmocka_unit_test(a_writer_refuses_messages_that_an_opener_refuses),
	};

	return wire_case_main(
	    cases, 1, tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
