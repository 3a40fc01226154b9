#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/sim/tune.h"

static const struct scheme_type hill = {
	.name = "hill",
	.parameters = {
		{ "window", 20, { 1, 2 }, 2 },
		{ "x", 0, { 0, 1, 2, 3 }, 4 },
		{ "y", 0, { 0, 1, 2, 3 }, 4 },
		{ "z", 0, { 0, 5 }, 2 },
	},
	.parameter_count = 4,
};

/* The mark is highest at x = 3, y = 3; a change of x or y alone lowers it. */
static int
climb(void *arg, const struct scheme_type *type, const double *values, double *ret_mark)
{
	int *tries = arg;

	++*tries;
	*ret_mark = values[1] == values[2] ? 0.5 + values[1] / 10 : 0.4;
	*ret_mark += values[3] / 100;
	return values[0] == 20 ? 0 : -EINVAL;
}

static void
the_best_of_all_pairs_is_found(void **state)
{
	double values[SCHEME_PARAMETERS] = { 20 }, mark;
	int tries = 0;

	assert_int_equal(tune(&hill, 1, climb, &tries, values, &mark), 0);
	assert_true(values[0] == 20);
	assert_true(values[1] == 3);
	assert_true(values[2] == 3);
	assert_true(values[3] == 5);
	assert_true(fabs(mark - 0.85) < 1e-9);
	assert_in_range(tries, 20, 100);
}

static void
precision_counts_more_than_recall(void **state)
{
	assert_true(tune_mark(1, 1) == 1);
	assert_true(tune_mark(1, 0) == 0);
	assert_true(tune_mark(0, 0) == 0);
	assert_true(tune_mark(0.5, 0.5) == 0.5);
	assert_true(tune_mark(0.9, 0.6) > tune_mark(0.6, 0.9));
}

static void
an_error_ends_the_search_and_leaves_the_values(void **state)
{
	double values[SCHEME_PARAMETERS] = { 20 }, mark;
	int tries = 0;

	assert_int_equal(tune(&hill, 0, climb, &tries, values, &mark), -EINVAL);
	assert_true(values[0] == 20);
	assert_true(values[1] == 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_best_of_all_pairs_is_found),
		cmocka_unit_test(precision_counts_more_than_recall),
		cmocka_unit_test(an_error_ends_the_search_and_leaves_the_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
