#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tor-aggregator/lasting/rack_steady.h"

static double
weight_of(unsigned seconds, unsigned lossy, uint32_t round_trips)
{
	return rack_steady_weight(
	    seconds, lossy, seconds * rack_steady_expected(round_trips));
}

/* The exact ln P(at least k of n). */
static double
log_tail(unsigned n, unsigned k, double p)
{
	double sum = 0;

	for (unsigned i = k; i <= n; i++)
		sum += exp(lgamma(n + 1) - lgamma(i + 1) - lgamma(n - i + 1) +
			   i * log(p) + (n - i) * log1p(-p));
	return log(sum);
}

static void
chance_is_never_likelier_than_the_weight_implies(void **state)
{
	(void)state;
	for (unsigned n = 5; n <= 120; n += 5)
		for (unsigned k = 1; k <= n; k++)
			for (uint32_t trips = 20; trips <= 2000; trips *= 3)
				assert_true(
				    log_tail(n, k, rack_steady_expected(trips)) <=
				    1e-9 - weight_of(n, k, trips));
}

static void
an_expected_number_of_losses_has_no_weight(void **state)
{
	(void)state;
	assert_true(weight_of(120, 0, 60) == 0);
	assert_true(weight_of(120, 2, 60) == 0);
	assert_true(weight_of(20, 20, 60) > RACK_STEADY_SURE);
}

static void
a_loss_is_over_when_it_stays_away_for_long(void **state)
{
	double over = 0;
	int seconds = 0;

	(void)state;
	while (over < RACK_STEADY_OVER && seconds < 1000) {
		over = rack_steady_over(over, 0.01, 60, 0);
		seconds++;
	}
	assert_in_range(seconds, 10, 40);
}

static void
a_continuing_loss_is_never_over(void **state)
{
	double over = 0;

	(void)state;
	for (int i = 0; i < 100000;
	     i++) { /* 1 % of 60 probes a second, unevenly spread */
		over = rack_steady_over(over, 0.01, 60, i % 10 < 3 ? 2 : 0);
		assert_true(over < RACK_STEADY_OVER_SOON);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chance_is_never_likelier_than_the_weight_implies),
		cmocka_unit_test(an_expected_number_of_losses_has_no_weight),
		cmocka_unit_test(a_loss_is_over_when_it_stays_away_for_long),
		cmocka_unit_test(a_continuing_loss_is_never_over),
	};

	return cmocka_run_group_tests_name("rack_steady", tests, NULL, NULL);
}
