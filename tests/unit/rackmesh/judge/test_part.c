#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rackmesh/judge/part.h"

static void
assert_round_trip(struct rm_rnic_id id, const char *text)
{
	char formatted[RM_RNIC_ID_TEXT];
	struct rm_rnic_id parsed;

	rm_rnic_id_format(id, formatted);
	assert_string_equal(formatted, text);
	assert_int_equal(rm_rnic_id_parse(text, &parsed), 0);
	assert_true(rm_rnic_id_equal(parsed, id));
}

static void
every_form_of_an_id_is_read_as_it_was_written(void **state)
{
	(void)state;
	assert_round_trip((struct rm_rnic_id){ UINT64_C(0x0c42a1030065aabc), 1 },
	    "0c42:a103:0065:aabc/1");
	assert_round_trip(
	    (struct rm_rnic_id){ UINT64_MAX, 254 }, "ffff:ffff:ffff:ffff/254");
	assert_round_trip((struct rm_rnic_id){ UINT64_C(0x020000000001), RM_PORT_MAC },
	    "02:00:00:00:00:01");
	assert_round_trip(
	    (struct rm_rnic_id){ UINT64_C(0x0123456789abcdef), RM_PORT_SWITCH },
	    "switch:0123456789abcdef");
}

static void
anything_else_is_refused_and_does_not_change_the_result(void **state)
{
	static const char *const bad[] = { "", "/", "switch:", "switch:0123",
		"switch:0123456789abcdefa", "02:00:00:00:00",
		"02:00:00:00:00:01:", "02:00:00:00:00:0g", "0c42:a103:0065:aabc/0",
		"0c42:a103:0065:aabc/255", "0c42:a103:0065:aabc/",
		"0c42:a103:0065:aabc/1 ", "0c42:a103:0065:aabc/01", "0c42:a103:0065/1",
		"c42:a103:0065:aabc/1", "0c42:a103:0065:aabc/1000" };
	struct rm_rnic_id id = { 7, 7 };

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(rm_rnic_id_parse(bad[i], &id), -EINVAL);
	assert_int_equal(id.guid, 7);
	assert_int_equal(id.port, 7);
}

static void
a_switch_is_known_by_the_fnv_of_its_name(void **state)
{
	(void)state;
	/* Published test vectors of FNV-1a (64 bits). */
	assert_true(rm_rnic_id_of_switch("").guid == UINT64_C(0xcbf29ce484222325));
	assert_true(rm_rnic_id_of_switch("a").guid == UINT64_C(0xaf63dc4c8601ec8c));
	assert_true(
	    rm_rnic_id_of_switch("foobar").guid == UINT64_C(0x85944171f73967e8));
	assert_int_equal(rm_rnic_id_of_switch("a").port, RM_PORT_SWITCH);
}

static void
names_are_short_and_plain(void **state)
{
	char longest[RM_NAME_BYTES + 1];

	(void)state;
	memset(longest, 'x', sizeof longest);
	longest[RM_NAME_BYTES - 1] = '\0';
	assert_true(rm_name_valid(longest));
	memset(longest, 'x', sizeof longest);
	longest[RM_NAME_BYTES] = '\0';
	assert_false(rm_name_valid(longest));
	assert_true(rm_name_valid("rack-1.row_2:a"));
	assert_true(rm_name_valid("7"));
	assert_false(rm_name_valid(""));
	assert_false(rm_name_valid("-a"));
	assert_false(rm_name_valid("a b"));
	assert_false(rm_name_valid("a/b"));
	assert_false(rm_name_valid("\xc3\xa9"));
}

static void
every_type_has_a_name_and_an_alertname(void **state)
{
	(void)state;
	for (int a = RM_PART_RNIC; a < RM_PART_TYPES; a++)
		for (int b = RM_PART_RNIC; b < a; b++) {
			assert_string_not_equal(rm_part_type_str((enum rm_part_type)a),
			    rm_part_type_str((enum rm_part_type)b));
			assert_string_not_equal(rm_part_alertname((enum rm_part_type)a),
			    rm_part_alertname((enum rm_part_type)b));
		}
	assert_string_equal(rm_part_type_str(RM_PART_RNIC), "rnic");
	assert_string_equal(rm_part_alertname(RM_PART_HOST), "RackmeshHost");
	assert_string_equal(rm_part_type_str((enum rm_part_type)0), "unknown");
	assert_string_equal(rm_part_alertname(RM_PART_TYPES), "RackmeshUnknown");
}

static void
type_name_and_place_make_a_part(void **state)
{
	struct rm_part a = { RM_PART_RNIC, "h1/r0", "tor1" }, b = a;

	(void)state;
	assert_true(rm_part_equal(&a, &b));
	strcpy(b.place, "tor2");
	assert_false(rm_part_equal(&a, &b));
	b = a;
	b.type = RM_PART_PATH;
	assert_false(rm_part_equal(&a, &b));
	b = a;
	strcpy(b.name, "h1/r1");
	assert_false(rm_part_equal(&a, &b));
}

static void
an_undecided_part_names_each_of_its_candidates(void **state)
{
	const struct rm_part part = { RM_PART_RNIC, "h1/r0 or h2/r0", "tor1" };
	const struct rm_part one = { RM_PART_RNIC, "h1/r0", "tor1" };
	const struct rm_part three = { RM_PART_SWITCH, "core1 or agg1 or agg2", "" };

	(void)state;
	assert_true(rm_part_names(&three, "core1"));
	assert_true(rm_part_names(&three, "agg1"));
	assert_true(rm_part_names(&three, "agg2"));
	assert_false(rm_part_names(&three, "agg1 or agg2"));
	assert_true(rm_part_names(&part, "h1/r0"));
	assert_true(rm_part_names(&part, "h2/r0"));
	assert_false(rm_part_names(&part, "h1/r"));
	assert_false(rm_part_names(&part, "2/r0"));
	assert_false(rm_part_names(&part, ""));
	assert_true(rm_part_names(&one, "h1/r0"));
	assert_false(rm_part_names(&one, "h1/r00"));
}

static void
three_links_with_the_longest_names_fit(void **state)
{
	char a[RM_NAME_BYTES], b[RM_NAME_BYTES], link[3][2 * RM_NAME_BYTES + 2],
	    name[1024];
	struct rm_part part = { .type = RM_PART_LINK };

	(void)state;
	for (int i = 0; i < 3; i++) {
		memset(a, 'a' + i, sizeof(a));
		memset(b, 'k' + i, sizeof(b));
		a[sizeof(a) - 1] = b[sizeof(b) - 1] = '\0';
		assert_true(rm_name_valid(a) && rm_name_valid(b));
		snprintf(link[i], sizeof(link[i]), "%s--%s", a, b);
	}
	snprintf(name, sizeof(name), "%s" RM_PART_OR "%s" RM_PART_OR "%s", link[0],
	    link[1], link[2]);
	assert_int_equal(strlen(name) + 1, sizeof(part.name));
	strcpy(part.name, name);
	for (int i = 0; i < 3; i++)
		assert_true(rm_part_names(&part, link[i]));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form_of_an_id_is_read_as_it_was_written),
		cmocka_unit_test(
		    anything_else_is_refused_and_does_not_change_the_result),
		cmocka_unit_test(a_switch_is_known_by_the_fnv_of_its_name),
		cmocka_unit_test(names_are_short_and_plain),
		cmocka_unit_test(every_type_has_a_name_and_an_alertname),
		cmocka_unit_test(type_name_and_place_make_a_part),
		cmocka_unit_test(an_undecided_part_names_each_of_its_candidates),
		cmocka_unit_test(three_links_with_the_longest_names_fit),
	};

	return cmocka_run_group_tests_name("part", tests, NULL, NULL);
}
