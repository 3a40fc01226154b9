#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/tor-aggregator/rack_run.h"

/* A fault of a ToR affects all RNICs, and must not be blamed on any of them. */

#define SEEDS 12
#define MEMBERS 4
#define FAST_NS (30 * RM_NS_PER_MS) /* to each of three peers: 100 a second */

static void
run_mtu_of_all(int64_t interval_ns, unsigned large_run)
{
	for (unsigned seed = 0; seed < run_seeds(SEEDS); seed++) {
		struct run run = run_new("MTU of all", MEMBERS, seed);

		run.options.interval_ns = interval_ns;
		run.options.large_every = 3;
		run.options.large_run = large_run;
		run_begin(&run);
		for (size_t i = 0; i < MEMBERS; i++)
			sim_add_fault(run.sim, (struct sim_fault){ SIM_RNIC_MTU, i,
						   3 * RM_NS_PER_S, 9 * RM_NS_PER_S });
		run_until(&run, 14 * RM_NS_PER_S, 0);
		run_end(&run);
	}
}

/* The ToR is not named as dead either. */
static void
an_mtu_fault_of_the_whole_rack_names_no_rnic(void **state)
{
	(void)state;
	run_mtu_of_all(FAST_NS, 0);
	run_mtu_of_all(0, 5);
}

struct lossy {
	double share; /* in each direction */
	unsigned seeds;
	int64_t for_ns;
};

static void
run_lossy(const struct lossy *lossy, size_t members)
{
	for (unsigned seed = 0; seed < run_seeds(lossy->seeds); seed++) {
		struct run run = run_new("a lossy ToR", members, seed);

		run.options.loss = lossy->share;
		run.options.focuses = true;
		run.options.count_noise = 1;
		run_begin(&run);
		run_until(&run, lossy->for_ns, 0);
		run_end(&run);
	}
}

static void
a_lossy_tor_blames_no_rnic(void **state)
{
	static const struct lossy cases[] = {
		{ 0.005, 1, 130 * RM_NS_PER_S },
		{ 0.02, 2, 30 * RM_NS_PER_S },
		{ 0.05, 3, 20 * RM_NS_PER_S },
		{ 0.07, 3, 20 * RM_NS_PER_S },
		{ 0.1, 3, 20 * RM_NS_PER_S },
		{ 0.14, 3, 20 * RM_NS_PER_S },
		{ 0.25, 3, 20 * RM_NS_PER_S },
		{ 0.45, 3, 20 * RM_NS_PER_S },
	};
	static const size_t sizes[] = { 3, 4, 8, 16 };

	(void)state;
	for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
		for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
			run_lossy(&cases[i], sizes[s]);
}

/* Probes arrive, but replies come after the time-out. */
static void
a_tor_that_is_too_late_is_late_and_not_dead(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < run_seeds(SEEDS); seed++) {
		struct run run = run_new("a late ToR", MEMBERS, seed);

		run_begin(&run);
		run_break(&run, SIM_TOR_LATE, 0, run_random_time(&run, 3 * RM_NS_PER_S),
		    4 * RM_NS_PER_S);
		run_until(&run, 14 * RM_NS_PER_S, 0);
		run_end(&run);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_mtu_fault_of_the_whole_rack_names_no_rnic),
		cmocka_unit_test(a_lossy_tor_blames_no_rnic),
		cmocka_unit_test(a_tor_that_is_too_late_is_late_and_not_dead),
	};

	return cmocka_run_group_tests_name("rack_tor", tests, NULL, NULL);
}
