#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/sim/score_table.h"

#define S INT64_C(1000000000)

static struct clos *
fabric(void)
{
	struct clos *clos = NULL;

	assert_int_equal(
	    clos_new(
		&(struct clos_options){
		    .tiers = 2, .racks = 2, .middle = 2, .rnics_per_rack = 4 },
		&clos),
	    0);
	return clos;
}

/* Two RNICs die; those in `named` are found `seconds` later. */
static struct score *
score_of(
    const struct clos *clos, const char *const *named, size_t count, int64_t seconds)
{
	const struct truth truths[] = {
		{ .part = clos_find(clos, "h1/r0"),
		    .both_directions = true,
		    .kind = "rnic-down",
		    .loss = 1,
		    .from_ns = 5 * S,
		    .to_ns = SCORE_FOREVER,
		    .counts = true },
		{ .part = clos_find(clos, "h2/r0"),
		    .both_directions = true,
		    .kind = "rnic-down",
		    .loss = 1,
		    .from_ns = 5 * S,
		    .to_ns = SCORE_FOREVER,
		    .counts = true },
	};
	struct scheme_named names[4] = { 0 };
	struct score *score = NULL;

	for (size_t i = 0; i < count; i++)
		names[i] = (struct scheme_named){ .part = clos_find(clos, named[i]),
			.other = CLOS_NONE,
			.confidence = 1 };
	assert_int_equal(score_new(&score), 0);
	assert_int_equal(score_begin(score, clos, truths, 2), 0);
	assert_int_equal(score_report(score, (5 + seconds) * S, names, count), 0);
	assert_int_equal(score_end(score, 20 * S), 0);
	return score;
}

static char *
table_of(const struct score *const *scores, const char *const *names, size_t count)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	score_table(scores, names, count, out);
	fclose(out);
	return text;
}

static void
the_table_has_a_line_per_scheme_and_a_column_per_class(void **state)
{
	static const char *const both[] = { "h1/r0", "h2/r0" };
	static const char *const half[] = { "h1/r0", "h3/r0", "spine1" };
	static const char *const names[] = { "ours", "theirs", "nobody's" };
	struct clos *clos = fabric();
	struct score *ours = score_of(clos, both, 2, 2),
		     *theirs = score_of(clos, half, 3, 4),
		     *nobody = score_of(clos, NULL, 0, 1);
	const struct score *scores[] = { ours, theirs, nobody };
	char *text = table_of(scores, names, 3);

	assert_string_equal(text,
	    "| F1 (precision / recall) | RNICs | devices | named without fault | "
	    "seconds: "
	    "p50 "
	    "/ p90 / p99 |\n"
	    "|---|---|---|---|---|\n"
	    "| ours | 1.000 (1.000 / 1.000) | – | 0 | 2.0 / 2.0 / 2.0 |\n"
	    "| theirs | 0.500 (0.500 / 0.500) | 1 wrong | 2 | 4.0 / 4.0 / 4.0 |\n"
	    "| nobody's | none found | – | 0 | – / – / – |\n");
	free(text);
	score_free(ours);
	score_free(theirs);
	score_free(nobody);
	clos_free(clos);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    the_table_has_a_line_per_scheme_and_a_column_per_class),
	};

	return cmocka_run_group_tests_name("score_table", tests, NULL, NULL);
}
