#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/tor-aggregator/rack_run.h"

#define SEEDS 12 /* per kind of loss */
#define MEMBERS 4
#define FAST_NS (30 * RM_NS_PER_MS) /* to each of three peers: 100 a second */
#define FOR_NS (12 * RM_NS_PER_S)
#define SLOW_DEADLINE_NS (8500 * RM_NS_PER_MS)
#define RECOVERED_NS (6000 * RM_NS_PER_MS)
#define AFTERGLOW_NS (3500 * RM_NS_PER_MS)

struct loss { /* one fault, in a rack of four unless said otherwise */
	const char *what;
	enum sim_fault_kind kind;
	double share;
	unsigned large_every;
	int64_t interval_ns, deadline_ns;
	size_t members;
};

static void
run_loss(const struct loss *loss)
{
	const unsigned seeds = run_seeds(SEEDS);
	const size_t members = loss->members != 0 ? loss->members : MEMBERS;

	for (unsigned seed = 0; seed < seeds; seed++) {
		struct run run = run_new(loss->what, members, seed);
		int64_t from_ns;

		run.share = loss->share;
		run.afterglow_ns = AFTERGLOW_NS;
		run.options.interval_ns = loss->interval_ns;
		run.options.large_every = loss->large_every;
		run.options.focuses = seed % 2 == 0;
		run_begin(&run);
		from_ns = run_random_time(&run, 6 * RM_NS_PER_S);
		run_break(
		    &run, loss->kind, sim_random(run.sim) % members, from_ns, FOR_NS)
		    ->deadline_ns = loss->deadline_ns;
		run_until(&run, from_ns + FOR_NS + 8 * RM_NS_PER_S,
		    from_ns + FOR_NS + RECOVERED_NS);
		run_end(&run);
	}
	run_print_latencies(loss->what, seeds);
}

static const enum sim_fault_kind ways[] = { SIM_RNIC_LOSES_SENT,
	SIM_RNIC_LOSES_RECEIVED, SIM_RNIC_LOSES_BOTH };

static void
lossy_ways(const char *what, double share, unsigned large_every)
{
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
		run_loss(&(struct loss){ .what = what,
		    .kind = ways[i],
		    .share = share,
		    .large_every = large_every,
		    .interval_ns = FAST_NS,
		    .deadline_ns = SLOW_DEADLINE_NS });
}

static void
a_twentieth_lost_on_one_way_is_named_with_the_way(void **state)
{
	(void)state;
	lossy_ways("5 % lost", 0.05, 0);
}

static void
a_fifth_lost_on_one_way_is_named_with_the_way(void **state)
{
	(void)state;
	lossy_ways("20 % lost", 0.2, 0);
}

static void
half_lost_on_one_way_is_named_with_the_way(void **state)
{
	(void)state;
	lossy_ways("50 % lost", 0.5, 0);
}

static void
all_lost_on_one_way_is_dead_on_that_way(void **state)
{
	(void)state;
	run_loss(&(struct loss){ .what = "all that is sent to it lost",
	    .kind = SIM_RNIC_RECEIVE,
	    .large_every = 3,
	    .interval_ns = FAST_NS,
	    .deadline_ns = RUN_DEADLINE_NS });
	run_loss(&(struct loss){ .what = "all that it sends lost",
	    .kind = SIM_RNIC_SEND,
	    .large_every = 3,
	    .interval_ns = FAST_NS,
	    .deadline_ns = RUN_DEADLINE_NS });
}

static void
random_loss_is_never_called_an_mtu(void **state)
{
	static const unsigned every[] = { 2, 3, 30 };

	(void)state;
	for (size_t i = 0; i < sizeof every / sizeof *every; i++) {
		lossy_ways("5 % lost of both sizes", 0.05, every[i]);
		lossy_ways("60 % lost of both sizes", 0.6, every[i]);
	}
}

static const enum sim_fault_kind mtus[] = { SIM_RNIC_MTU, SIM_RNIC_MTU_RECEIVE,
	SIM_RNIC_MTU_SEND };

static void
an_mtu_that_is_too_small_is_named_with_its_way(void **state)
{
	static const size_t sizes[] = { 3, 4, 8 };

	(void)state;
	for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
		for (size_t i = 0; i < sizeof mtus / sizeof *mtus; i++) {
			run_loss(&(struct loss){ .what = "MTU at 100 probes/s",
			    .kind = mtus[i],
			    .large_every = 3,
			    .interval_ns = FAST_NS,
			    .deadline_ns = 2 * RM_NS_PER_S,
			    .members = sizes[s] });
			run_loss(&(struct loss){ .what = "MTU at 10 probes/s a pair",
			    .kind = mtus[i],
			    .large_every = 3,
			    .deadline_ns = 6 * RM_NS_PER_S,
			    .members = sizes[s] });
		}
}

static void
few_large_probes_take_longer_to_tell_of_an_mtu(void **state)
{
	(void)state;
	run_loss(&(struct loss){ .what = "MTU, few large probes",
	    .kind = SIM_RNIC_MTU,
	    .large_every = 30,
	    .interval_ns = FAST_NS,
	    .deadline_ns = 8 * RM_NS_PER_S });
}

/* Nobody is to blame alone: it is what they all pass. */
static void
an_mtu_of_the_whole_rack_is_nobodys_own(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < run_seeds(SEEDS); seed++) {
		struct run run = run_new("MTU of all", MEMBERS, seed);

		run.options.interval_ns = FAST_NS;
		run.options.large_every = 3;
		run_begin(&run);
		for (size_t i = 0; i < MEMBERS; i++)
			sim_add_fault(run.sim, (struct sim_fault){ SIM_RNIC_MTU, i,
						   3 * RM_NS_PER_S, 9 * RM_NS_PER_S });
		run_until(&run, 14 * RM_NS_PER_S, 0);
		run_end(&run);
	}
}

static void
an_rnic_whose_own_host_cannot_send_probes_is_named(void **state)
{
	(void)state;
	run_loss(&(struct loss){ .what = "cannot send probes",
	    .kind = SIM_RNIC_UNABLE,
	    .large_every = 3,
	    .interval_ns = FAST_NS,
	    .deadline_ns = 2 * RM_NS_PER_S });
}

/* Outages of a tenth of a second lose a twentieth, too, but not all the time. */
static void
bursts_are_no_steady_loss(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < run_seeds(SEEDS); seed++) {
		struct run run = run_new("bursts of one RNIC", MEMBERS, seed);

		run.options.interval_ns = FAST_NS;
		run.options.large_every = 3;
		run_begin(&run);
		for (int i = 0; i < 15; i++) {
			const int64_t from_ns =
			    run_random_time(&run, (1 + 2 * i) * RM_NS_PER_S);

			sim_add_fault(
			    run.sim, (struct sim_fault){ SIM_RNIC_BOTH, 1, from_ns,
					 from_ns + 100 * RM_NS_PER_MS });
		}
		run_until(&run, 32 * RM_NS_PER_S, 0);
		run_end(&run);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_twentieth_lost_on_one_way_is_named_with_the_way),
		cmocka_unit_test(a_fifth_lost_on_one_way_is_named_with_the_way),
		cmocka_unit_test(half_lost_on_one_way_is_named_with_the_way),
		cmocka_unit_test(all_lost_on_one_way_is_dead_on_that_way),
		cmocka_unit_test(random_loss_is_never_called_an_mtu),
		cmocka_unit_test(an_mtu_that_is_too_small_is_named_with_its_way),
		cmocka_unit_test(few_large_probes_take_longer_to_tell_of_an_mtu),
		cmocka_unit_test(an_mtu_of_the_whole_rack_is_nobodys_own),
		cmocka_unit_test(an_rnic_whose_own_host_cannot_send_probes_is_named),
		cmocka_unit_test(bursts_are_no_steady_loss),
	};

	return cmocka_run_group_tests_name("rack_loss", tests, NULL, NULL);
}
