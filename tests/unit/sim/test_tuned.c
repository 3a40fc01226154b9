#include "tests/sim/tuned.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Published schemes of others. */
static const struct scheme_type *const types[] = { &scheme_ten_percent, &scheme_vote,
	&scheme_007, &scheme_netbouncer, &scheme_pll, &scheme_flock };
#define TYPES (sizeof types / sizeof *types)

static bool
is_in_grid(const struct scheme_parameter *parameter, double value)
{
	for (size_t i = 0; i < parameter->grid_count; i++)
		if (parameter->grid[i] == value)
			return true;
	return value == parameter->value;
}

static void
every_window_is_tuned_within_its_grid(void **state)
{
	for (size_t i = 0; i < TYPES; i++) {
		const struct scheme_parameter *window =
		    &types[i]->parameters[SCHEME_WINDOW];

		for (size_t k = 0; k < window->grid_count; k++) {
			double values[SCHEME_PARAMETERS];

			assert_true(tuned_values(types[i], window->grid[k], values));
			assert_true(values[SCHEME_WINDOW] == window->grid[k]);
			for (size_t p = 1; p < types[i]->parameter_count; p++)
				assert_true(
				    is_in_grid(&types[i]->parameters[p], values[p]));
		}
	}
}

static void
without_a_window_the_values_are_those_of_the_scheme(void **state)
{
	for (size_t i = 0; i < TYPES; i++) {
		double values[SCHEME_PARAMETERS];

		assert_false(tuned_values(types[i], 0, values));
		for (size_t p = 0; p < types[i]->parameter_count; p++)
			assert_true(values[p] == types[i]->parameters[p].value);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_window_is_tuned_within_its_grid),
		cmocka_unit_test(without_a_window_the_values_are_those_of_the_scheme),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
