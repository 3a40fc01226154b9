#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/tor-aggregator/rack_run.h"

#define SEEDS 20 /* trials for each kind of rack and fault */
#define SETTLED_NS (9 * RM_NS_PER_S)

/* Two RNICs die at once, or up to two seconds apart, for sending, receiving or both. */
static void
exactly_two_dead_rnics_are_named(void **state)
{
	static const size_t racks[] = { 3, 4, 8, 16 };
	unsigned runs = 0;

	(void)state;
	for (size_t s = 0; s < sizeof racks / sizeof *racks; s++)
		for (unsigned seed = 0; seed < run_seeds(2 * SEEDS); seed++) {
			struct run run = run_new("two dead", racks[s], seed);
			int64_t from_ns, gap_ns;
			size_t first, second;

			run_begin(&run);
			from_ns = run_random_time(&run, 2 * RM_NS_PER_S);
			gap_ns = seed % 2 == 0 ? 0 : run_random_time(&run, 0) * 2;
			first = sim_random(run.sim) % racks[s];
			second = (first + 1 + sim_random(run.sim) % (racks[s] - 1)) %
				 racks[s];
			run_break(&run, (enum sim_fault_kind)(sim_random(run.sim) % 4),
			    first, from_ns, 6 * RM_NS_PER_S);
			run_break(&run, (enum sim_fault_kind)(sim_random(run.sim) % 4),
			    second, from_ns + gap_ns, 6 * RM_NS_PER_S);
			run_until(&run, from_ns + gap_ns + 11 * RM_NS_PER_S,
			    from_ns + gap_ns + 6 * RM_NS_PER_S + RUN_RECOVERED_NS);
			run_end(&run);
			runs++;
		}
	run_print_latencies("two dead", runs);
}

/* After the second fault no pair of the rack works, but known verdicts stay. */
static void
a_second_dead_rnic_in_a_rack_of_three_does_not_blame_the_tor(void **state)
{
	unsigned runs = 0;

	(void)state;
	for (unsigned seed = 0; seed < run_seeds(2 * SEEDS); seed++) {
		struct run run = run_new("second death", 3, seed);
		struct run_expected *second;
		int64_t from_ns;

		run.options.witnesses = 0;
		run_begin(&run);
		from_ns = run_random_time(&run, 2 * RM_NS_PER_S);
		run_break(&run, SIM_RNIC_BOTH, 0, from_ns, 8 * RM_NS_PER_S);
		second = run_break(&run, SIM_RNIC_BOTH, 1 + seed % 2,
		    run_random_time(&run, from_ns + 3 * RM_NS_PER_S), 4 * RM_NS_PER_S);
		strcpy(second->name, "h1/r0 or h2/r0");
		second->deadline_ns =
		    RUN_HOST_DEADLINE_NS; /* a sole guess must not come earlier */
		run_until(&run, from_ns + 7 * RM_NS_PER_S, 0);
		run_end(&run);
		runs++;
	}
	run_print_latencies("second death in a rack of three", runs);
}

/* A dead ToR would have taken both at the same time. */
static void
rnics_of_two_that_die_one_after_the_other_do_not_blame_the_tor_alone(void **state)
{
	unsigned runs = 0;

	(void)state;
	for (unsigned seed = 0; seed < run_seeds(2 * SEEDS); seed++) {
		struct run run = run_new("one after the other", 2, seed);
		struct run_expected *first, *second;
		int64_t from_ns;

		run_begin(&run);
		from_ns = run_random_time(&run, 2 * RM_NS_PER_S);
		first = run_break(&run, SIM_RNIC_BOTH, 0, from_ns, 8 * RM_NS_PER_S);
		first->deadline_ns = RUN_HOST_DEADLINE_NS;
		second = run_break(&run, SIM_RNIC_BOTH, 1,
		    run_random_time(&run, from_ns + 1200 * RM_NS_PER_MS),
		    6 * RM_NS_PER_S);
		strcpy(second->name, "h1/r0 or tor1");
		second->deadline_ns = RUN_HOST_DEADLINE_NS;
		run_until(&run, from_ns + 7 * RM_NS_PER_S, 0);
		run_end(&run);
		runs++;
	}
	run_print_latencies("one after the other in a rack of two", runs);
}

/* The many losses of the dead ones hide that the third one reaches other racks. No
 * verdict on the lossy one is expected: no probe shows that the ToR is not the cause.
 */
static void
two_dead_rnics_beside_a_lossy_one_do_not_blame_the_tor(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < run_seeds(2 * SEEDS); seed++) {
		struct run run = run_new("two dead and a lossy one", 3, seed);
		int64_t from_ns;

		run.options.focuses = true;
		run_begin(&run);
		from_ns = run_random_time(&run, 2 * RM_NS_PER_S);
		run_break(&run, SIM_RNIC_BOTH, 0, from_ns, 30 * RM_NS_PER_S);
		run_break(&run, SIM_RNIC_BOTH, 1, from_ns + 3 * RM_NS_PER_S,
		    30 * RM_NS_PER_S);
		sim_add_fault(run.sim,
		    (struct sim_fault){ SIM_RNIC_LOSSY, 2, from_ns + 8 * RM_NS_PER_S,
			from_ns + 20 * RM_NS_PER_S });
		run_until(&run, from_ns + 20 * RM_NS_PER_S, 0);
		run_end(&run);
	}
}

static void
three_dead_rnics_of_eight_are_all_named(void **state)
{
	unsigned runs = 0;

	(void)state;
	for (unsigned seed = 0; seed < run_seeds(2 * SEEDS); seed++) {
		struct run run = run_new("three dead", 8, seed);
		int64_t from_ns;

		run_begin(&run);
		from_ns = run_random_time(&run, 2 * RM_NS_PER_S);
		for (size_t i = 0; i < 3; i++)
			run_break(&run, (enum sim_fault_kind)(sim_random(run.sim) % 4),
			    (seed + 3 * i) % 8, from_ns, 4 * RM_NS_PER_S);
		run_until(&run, from_ns + SETTLED_NS,
		    from_ns + 4 * RM_NS_PER_S + RUN_RECOVERED_NS);
		run_end(&run);
		runs++;
	}
	run_print_latencies("three of eight dead", runs);
}

static void
a_dead_rnic_is_found_beside_a_host_that_is_no_witness(void **state)
{
	static const enum sim_fault_kind hosts[] = { SIM_AGENT_KILLED, SIM_AGENT_FROZEN,
		SIM_HOST_GONE, SIM_MANAGEMENT_DOWN };
	static const size_t racks[] = { 3, 4, 8 };
	unsigned runs = 0;

	(void)state;
	for (size_t s = 0; s < sizeof racks / sizeof *racks; s++)
		for (unsigned seed = 0; seed < run_seeds(2 * SEEDS); seed++) {
			struct run run =
			    run_new("dead beside a sick host", racks[s], seed);
			struct run_expected *rnic;
			int64_t from_ns;
			size_t first;

			run_begin(&run);
			from_ns = run_random_time(&run, 2 * RM_NS_PER_S);
			first = sim_random(run.sim) % racks[s];
			run_break(
			    &run, hosts[seed % 4], first, from_ns, 8 * RM_NS_PER_S);
			rnic = run_break(&run,
			    (enum sim_fault_kind)(sim_random(run.sim) % 4),
			    (first + 1) % racks[s], run_random_time(&run, from_ns),
			    4 * RM_NS_PER_S);
			run_until(&run, from_ns + 10 * RM_NS_PER_S, 0);
			assert_true(rnic->named_ns != 0);
			run_end(&run);
			runs++;
		}
	run_print_latencies("dead beside a sick host", runs);
}

static void
a_rack_of_256_is_judged_like_a_small_one(void **state)
{
	unsigned runs = 0;

	(void)state;
	for (unsigned seed = 0; seed < run_seeds(2); seed++) {
		struct run run = run_new("rack of 256", 256, seed);
		int64_t from_ns;

		run_begin(&run);
		from_ns = run_random_time(&run, RM_NS_PER_S);
		for (size_t i = 0; i < 3; i++)
			run_break(&run, (enum sim_fault_kind)(sim_random(run.sim) % 4),
			    (seed * 17 + 60 * i) % 256, from_ns, 2 * RM_NS_PER_S);
		run_until(&run, from_ns + 6 * RM_NS_PER_S, 0);
		run_end(&run);
		runs++;
	}
	run_print_latencies("three of 256 dead", runs);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exactly_two_dead_rnics_are_named),
		cmocka_unit_test(
		    a_second_dead_rnic_in_a_rack_of_three_does_not_blame_the_tor),
		cmocka_unit_test(
		    rnics_of_two_that_die_one_after_the_other_do_not_blame_the_tor_alone),
		cmocka_unit_test(
		    two_dead_rnics_beside_a_lossy_one_do_not_blame_the_tor),
		cmocka_unit_test(three_dead_rnics_of_eight_are_all_named),
		cmocka_unit_test(a_dead_rnic_is_found_beside_a_host_that_is_no_witness),
		cmocka_unit_test(a_rack_of_256_is_judged_like_a_small_one),
	};

	return cmocka_run_group_tests_name("rack_several_faults", tests, NULL, NULL);
}
