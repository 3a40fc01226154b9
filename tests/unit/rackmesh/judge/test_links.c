#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rackmesh/judge/links.h"

static void
a_list_of_links_is_read_as_it_was_written(void **state)
{
	const struct rm_link in[] = { { .name = "spine3--tor1" },
		{ .name = "spine3--tor2",
		    .one_way = true,
		    .from = "tor2",
		    .to = "spine3" },
		{ .name = "a--b--c" } };
	char links[RM_LINKS_BYTES] = "";
	const char *at = links;
	struct rm_link out;

	(void)state;
	for (size_t i = 0; i < 3; i++)
		assert_true(rm_links_add(links, &in[i]));
	assert_string_equal(links, "spine3--tor1, tor2->spine3, a--b--c");
	for (size_t i = 0; i < 3; i++) {
		assert_true(rm_links_next(&at, &out));
		assert_string_equal(out.name, in[i].name);
		assert_int_equal(out.one_way, in[i].one_way);
		assert_string_equal(out.from, in[i].from);
		assert_string_equal(out.to, in[i].to);
	}
	assert_false(rm_links_next(&at, &out));
}

static void
a_link_that_does_not_fit_changes_nothing(void **state)
{
	const struct rm_link link = { .name = "spine3--tor1" };
	char links[RM_LINKS_BYTES] = "", before[RM_LINKS_BYTES];

	(void)state;
	do
		strcpy(before, links);
	while (rm_links_add(links, &link));
	assert_string_equal(links, before);
	assert_true(strlen(links) + strlen(", spine3--tor1") >= RM_LINKS_BYTES);
}

static void
a_part_is_among_the_links_by_its_whole_name(void **state)
{
	const char *links = "spine3--tor1, tor2->spine3";
	struct rm_part part = { .type = RM_PART_LINK, .name = "spine3--tor2" };

	(void)state;
	assert_true(rm_links_have(links, &part));
	strcpy(part.name, "spine3--tor4 or spine3--tor1");
	assert_true(rm_links_have(links, &part));
	strcpy(part.name, "spine3--tor");
	assert_false(rm_links_have(links, &part));
	assert_false(rm_links_have("", &part));
	part = (struct rm_part){ .type = RM_PART_SWITCH, .name = "spine3--tor1" };
	assert_false(rm_links_have(links, &part));
}

static void
links_are_counted_and_found_by_their_ends(void **state)
{
	struct rm_part part = { .type = RM_PART_LINK, .name = "spine3--tor1" };

	(void)state;
	assert_int_equal(rm_links_count(""), 0);
	assert_int_equal(rm_links_count("spine3--tor1, tor2->spine3"), 2);
	assert_true(rm_links_end_at(&part, "spine3"));
	assert_true(rm_links_end_at(&part, "tor1"));
	assert_false(rm_links_end_at(&part, "spine"));
	assert_false(rm_links_end_at(&part, "or1"));
	assert_false(rm_links_end_at(&part, "tor2"));
	strcpy(part.name, "spine3--tor1 or spine3--tor2");
	assert_true(rm_links_end_at(&part, "spine3"));
	assert_false(rm_links_end_at(&part, "tor1"));
	assert_false(rm_links_end_at(&part, "tor2"));
	part = (struct rm_part){ .type = RM_PART_SWITCH, .name = "spine3" };
	assert_false(rm_links_end_at(&part, "spine3"));
}

static void
text_that_is_no_list_of_links_has_none(void **state)
{
	static const char *const texts[] = { "", ", ", "->" };
	char longest[4 * RM_NAME_BYTES];
	struct rm_link link;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const char *at = texts[i];

		assert_false(rm_links_next(&at, &link));
	}
	memset(longest, 'a', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	{
		const char *at = longest;

		assert_false(rm_links_next(&at, &link));
	}
	memcpy(longest + RM_NAME_BYTES, "->b", sizeof "->b");
	{
		const char *at = longest;

		assert_false(rm_links_next(&at, &link));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_of_links_is_read_as_it_was_written),
		cmocka_unit_test(a_link_that_does_not_fit_changes_nothing),
		cmocka_unit_test(a_part_is_among_the_links_by_its_whole_name),
		cmocka_unit_test(links_are_counted_and_found_by_their_ends),
		cmocka_unit_test(text_that_is_no_list_of_links_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
