#include "analyzer/suspicion/localise_pairs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define STEP_NS (250 * RM_NS_PER_MS)

struct pair { /* a pair of racks, and the path in each direction */
	struct localise_element *from, *to, *there, *back;
};

static struct localise_element *
element(const char *name)
{
	struct localise_element *ret = calloc(1, sizeof *ret + 1);

	assert_non_null(ret);
	snprintf(ret->a, sizeof ret->a, "%s", name);
	return ret;
}

static struct pair
pair_new(const char *from, const char *to)
{
	struct pair pair = { element(from), element(to), element(""), element("") };

	pair.there->ends[0] = pair.back->ends[1] = pair.from;
	pair.there->ends[1] = pair.back->ends[0] = pair.to;
	pair.there->back = pair.back;
	pair.back->back = pair.there;
	return pair;
}

static void
pair_free(struct pair *pair)
{
	free(pair->from);
	free(pair->to);
	free(pair->there);
	free(pair->back);
}

static void
note(struct localise_pairs *pairs, const struct pair *pair, bool and_back,
    bool reported, int64_t ns)
{
	const struct localise_suspect suspect = {
		.type = RM_PART_SWITCH, .transit = pair->there, .and_back = and_back
	};

	localise_pairs_note(pairs, &suspect, reported, (rm_mono_t){ ns });
}

static bool
is_on(const struct localise_pairs *pairs, struct localise_element *from,
    struct localise_element *to)
{
	struct localise_path *path =
	    calloc(1, sizeof *path + 2 * sizeof *path->elements);
	bool ret;

	assert_non_null(path);
	path->element_count = 2;
	path->elements[0] = from;
	path->elements[1] = to;
	ret = localise_pairs_on(pairs, path);
	free(path);
	return ret;
}

static void
assert_text(const struct localise_pairs *pairs, const char *expected)
{
	char text[RM_EVIDENCE_TEXT];

	localise_pairs_report(pairs, text);
	assert_string_equal(text, expected);
}

static void
a_named_pair_is_reported_at_once(void **state)
{
	struct pair pair = pair_new("tor1", "tor2");
	struct localise_pairs pairs = { .count = 0 };

	(void)state;
	assert_true(is_on(&pairs, pair.to, pair.from));
	note(&pairs, &pair, false, true, RM_NS_PER_S);
	assert_text(&pairs, "only from tor1 to tor2");
	assert_true(is_on(&pairs, pair.from, pair.to));
	assert_false(is_on(&pairs, pair.to, pair.from));
	note(&pairs, &pair, true, true, RM_NS_PER_S);
	assert_text(&pairs, "only between tor1 and tor2");
	assert_true(is_on(&pairs, pair.to, pair.from));
	pair_free(&pair);
}

static void
another_pair_is_reported_after_it_is_blamed_for_a_while(void **state)
{
	struct pair first = pair_new("tor1", "tor2"), second = pair_new("tor3", "tor4");
	struct localise_pairs pairs = { .count = 0 };

	(void)state;
	for (int64_t ns = RM_NS_PER_S; ns < 3 * RM_NS_PER_S; ns += STEP_NS) {
		note(&pairs, &first, false, true, ns);
		note(&pairs, &second, true, false, ns);
		assert_text(&pairs, "only from tor1 to tor2");
		assert_false(is_on(&pairs, second.from, second.to));
	}
	/* After a pause earlier losses do not count. */
	for (int64_t ns = 5 * RM_NS_PER_S; ns < 7 * RM_NS_PER_S; ns += STEP_NS)
		note(&pairs, &second, true, false, ns);
	assert_text(&pairs, "only from tor1 to tor2");
	for (int64_t ns = 7 * RM_NS_PER_S; ns < 8 * RM_NS_PER_S; ns += STEP_NS)
		note(&pairs, &second, true, false, ns);
	assert_text(&pairs, "only from tor1 to tor2 and between tor3 and tor4");
	assert_true(is_on(&pairs, second.to, second.from));
	pair_free(&first);
	pair_free(&second);
}

static void
a_pair_that_is_not_blamed_any_more_is_removed(void **state)
{
	struct pair first = pair_new("tor1", "tor2"), second = pair_new("tor3", "tor4");
	struct localise_pairs pairs = { .count = 0 };

	(void)state;
	note(&pairs, &first, true, true, RM_NS_PER_S);
	note(&pairs, &second, false, true, RM_NS_PER_S);
	note(&pairs, &second, false, false, 20 * RM_NS_PER_S);
	assert_text(&pairs, "only from tor3 to tor4");
	pair_free(&first);
	pair_free(&second);
}

static void
pairs_whose_long_names_do_not_fit_are_counted(void **state)
{
	struct localise_pairs pairs = { .count = 0 };
	char text[RM_EVIDENCE_TEXT];

	(void)state;
	for (int i = 0; i < 20; i++) {
		char from[RM_NAME_BYTES], to[RM_NAME_BYTES];
		struct pair pair;

		snprintf(from, sizeof from, "%.*d", RM_NAME_BYTES - 1, i);
		snprintf(to, sizeof to, "%.*d", RM_NAME_BYTES - 1, 100 + i);
		pair = pair_new(from, to);
		note(&pairs, &pair, false, true, RM_NS_PER_S);
		pair_free(&pair);
	}
	localise_pairs_report(&pairs, text);
	assert_non_null(strstr(text, " and 15 more"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_named_pair_is_reported_at_once),
		cmocka_unit_test(
		    another_pair_is_reported_after_it_is_blamed_for_a_while),
		cmocka_unit_test(a_pair_that_is_not_blamed_any_more_is_removed),
		cmocka_unit_test(pairs_whose_long_names_do_not_fit_are_counted),
	};

	return cmocka_run_group_tests_name("localise_pairs", tests, NULL, NULL);
}
