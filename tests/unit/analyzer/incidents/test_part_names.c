#include "analyzer/incidents/part_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void
a_verdict_names_the_tors_of_all_links_that_it_lists(void **state)
{
	const struct rm_verdict links = { .part = { RM_PART_SWITCH, "spine1", "" },
		.kind = RM_KIND_LINKS_DOWN,
		.evidence.links = "spine1--tor2, spine1->tor3" };
	const struct rm_verdict link = { .part = { RM_PART_LINK, "spine1--tor2", "" } };

	(void)state;
	assert_true(part_names_tor_of(&links, "tor2"));
	assert_true(part_names_tor_of(&links, "tor3"));
	assert_false(part_names_tor_of(&links, "tor1"));
	assert_true(part_names_tor_of(&link, "tor2"));
	assert_false(part_names_tor_of(&link, "tor3"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_verdict_names_the_tors_of_all_links_that_it_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
