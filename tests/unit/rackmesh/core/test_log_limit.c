#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "rackmesh/core/log.h"

static struct rm_log_limit limit;
static const char file[] = "file.c";

static bool
allows(int line, const char *text, int64_t ms, uint64_t *suppressed)
{
	rm_mono_t now = { RM_NS_PER_S * 1000 + ms * RM_NS_PER_MS };

	return rm_log_limit_allows(&limit, file, line, text, now, suppressed);
}

static void
a_repeated_text_comes_back_after_ten_seconds_with_its_count(void **state)
{
	uint64_t suppressed = 9;

	memset(&limit, 0, sizeof(limit));
	for (int i = 0; i < 5; i++) {
		assert_true(allows(1, "same", i, &suppressed));
		assert_int_equal(suppressed, 0);
	}
	for (int i = 5; i < 12; i++)
		assert_false(allows(1, "same", i, &suppressed));
	assert_false(allows(1, "same", 9999, &suppressed));
	assert_true(allows(1, "same", 10000, &suppressed));
	assert_int_equal(suppressed, 8);
	assert_true(allows(1, "same", 10001, &suppressed));
	assert_int_equal(suppressed, 0);
}

static void
different_texts_of_one_place_pass_up_to_fifty(void **state)
{
	uint64_t suppressed = 0;
	char text[24];

	memset(&limit, 0, sizeof(limit));
	for (int i = 0; i < 60; i++) {
		snprintf(text, sizeof(text), "host %d", i);
		assert_int_equal(allows(1, text, i, &suppressed), i < 50);
	}
	assert_true(allows(1, "host", 10000, &suppressed));
	assert_int_equal(suppressed, 10);
}

static void
one_noisy_place_does_not_silence_another(void **state)
{
	uint64_t suppressed;

	memset(&limit, 0, sizeof(limit));
	for (int i = 0; i < 100; i++)
		allows(1, "same", i, &suppressed);
	assert_true(allows(2, "same", 100, &suppressed));
	assert_int_equal(suppressed, 0);
}

static void
more_places_than_the_table_has_share_the_last_one(void **state)
{
	uint64_t suppressed;
	unsigned allowed = 0;

	memset(&limit, 0, sizeof(limit));
	for (int i = 0; i < RM_LOG_LIMIT_CALLERS; i++)
		assert_true(allows(i, "same", 0, &suppressed));
	for (int i = 0; i < 100; i++)
		allowed += allows(RM_LOG_LIMIT_CALLERS + i, "same", 0, &suppressed);
	assert_int_equal(allowed, RM_LOG_LIMIT_SAME);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    a_repeated_text_comes_back_after_ten_seconds_with_its_count),
		cmocka_unit_test(different_texts_of_one_place_pass_up_to_fifty),
		cmocka_unit_test(one_noisy_place_does_not_silence_another),
		cmocka_unit_test(more_places_than_the_table_has_share_the_last_one),
	};

	return cmocka_run_group_tests_name("log_limit", tests, NULL, NULL);
}
