#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/tor-aggregator/rack_run.h"
#include "tor-aggregator/suspect/rack_evidence.h"
#include "tor-aggregator/suspect/rack_loss.h"

#define SEEDS 12 /* trials for each kind of loss */
#define MEMBERS 4
#define FAST_NS (30 * RM_NS_PER_MS) /* to each of three peers: 100 a second */
#define FOR_NS (12 * RM_NS_PER_S)
#define SLOW_DEADLINE_NS (8500 * RM_NS_PER_MS)
#define RECOVERED_NS (6000 * RM_NS_PER_MS)
#define AFTERGLOW_NS (3500 * RM_NS_PER_MS)

struct loss { /* one fault; the rack has four members by default */
	const char *what;
	enum sim_fault_kind kind;
	double share;
	unsigned large_every, large_run;
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
		run.options.large_run = loss->large_run;
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

static const enum sim_fault_kind directions[] = { SIM_RNIC_LOSES_SENT,
	SIM_RNIC_LOSES_RECEIVED, SIM_RNIC_LOSES_BOTH };

static void
lossy_directions(const char *what, double share, unsigned large_every)
{
	for (size_t i = 0; i < sizeof directions / sizeof *directions; i++)
		run_loss(&(struct loss){ .what = what,
		    .kind = directions[i],
		    .share = share,
		    .large_every = large_every,
		    .interval_ns = FAST_NS,
		    .deadline_ns = SLOW_DEADLINE_NS });
}

static void
five_percent_loss_in_one_direction_is_named_with_it(void **state)
{
	(void)state;
	lossy_directions("5 % lost", 0.05, 0);
}

static void
twenty_percent_loss_in_one_direction_is_named_with_it(void **state)
{
	(void)state;
	lossy_directions("20 % lost", 0.2, 0);
}

static void
fifty_percent_loss_in_one_direction_is_named_with_it(void **state)
{
	(void)state;
	lossy_directions("50 % lost", 0.5, 0);
}

static void
total_loss_in_one_direction_is_dead_in_that_direction(void **state)
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
		lossy_directions("5 % lost of both sizes", 0.05, every[i]);
		lossy_directions("60 % lost of both sizes", 0.6, every[i]);
	}
}

static const enum sim_fault_kind mtus[] = { SIM_RNIC_MTU, SIM_RNIC_MTU_RECEIVE,
	SIM_RNIC_MTU_SEND };

static void
too_small_an_mtu_is_named_with_its_direction(void **state)
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

/* The next five probes of all members are large, so none arrives for half a second. */
static void
large_probes_in_a_row_are_an_mtu_and_no_death(void **state)
{
	static const size_t sizes[] = { 3, 4, 8 };

	(void)state;
	for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
		for (size_t i = 0; i < sizeof mtus / sizeof *mtus; i++)
			run_loss(&(struct loss){ .what = "MTU, large ones in a row",
			    .kind = mtus[i],
			    .large_every = 3,
			    .large_run = 5,
			    .deadline_ns = 6 * RM_NS_PER_S,
			    .members = sizes[s] });
}

static void
few_large_probes_take_longer_to_report_of_an_mtu(void **state)
{
	(void)state;
	run_loss(&(struct loss){ .what = "MTU, few large probes",
	    .kind = SIM_RNIC_MTU,
	    .large_every = 30,
	    .interval_ns = FAST_NS,
	    .deadline_ns = 8 * RM_NS_PER_S });
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

/* Outages of 0.1 s also lose a twentieth of the probes, but only at times. */
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

/* ---- losses too small for a window of five seconds ---- */

#define QUIET_LOSS 1e-4

struct slow { /* one RNIC with a small loss, in a rack of its own */
	const char *what;
	double share;
	int64_t deadline_ns, for_ns,
	    over_ns; /* over_ns: latest end of the incident, after the fault's end */
};

static void
run_slow(const struct slow *slow, size_t members, enum sim_fault_kind kind)
{
	const unsigned seeds = run_seeds(3);

	for (unsigned seed = 0; seed < seeds; seed++) {
		struct run run = run_new(slow->what, members, seed);
		struct run_expected *expected;
		int64_t from_ns;

		run.share = slow->share;
		run.afterglow_ns = slow->over_ns;
		run.options.loss = QUIET_LOSS;
		run.options.focuses = true;
		run_begin(&run);
		from_ns = run_random_time(&run, 6 * RM_NS_PER_S);
		expected = run_break(
		    &run, kind, sim_random(run.sim) % members, from_ns, slow->for_ns);
		expected->deadline_ns = slow->deadline_ns;
		if (members < 8) /* few peers count too few of its packets */
			expected->direction = RM_DIRECTION_UNKNOWN;
		run_until(&run,
		    from_ns + slow->for_ns + slow->over_ns + 120 * RM_NS_PER_S,
		    from_ns + slow->for_ns + slow->over_ns + 3 * RM_NS_PER_S);
		run_end(&run);
	}
}

static void
slow_directions(const struct slow *slow)
{
	static const size_t sizes[] = { 3, 4, 8, 16 };

	for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
		for (size_t i = 0; i < sizeof directions / sizeof *directions; i++)
			run_slow(slow, sizes[s], directions[i]);
	run_print_latencies(slow->what, run_seeds(3));
}

static void
one_percent_loss_is_named_within_ninety_seconds(void **state)
{
	(void)state;
	slow_directions(&(struct slow){ .what = "1 % lost",
	    .share = 0.01,
	    .deadline_ns = 90 * RM_NS_PER_S,
	    .for_ns = 120 * RM_NS_PER_S,
	    .over_ns = 60 * RM_NS_PER_S });
}

static void
half_a_percent_loss_is_named_within_three_minutes(void **state)
{
	(void)state;
	slow_directions(&(struct slow){ .what = "0.5 % lost",
	    .share = 0.005,
	    .deadline_ns = 180 * RM_NS_PER_S,
	    .for_ns = 200 * RM_NS_PER_S,
	    .over_ns = 120 * RM_NS_PER_S });
}

/* After its end, no RNIC may be named for these losses. */
static void
a_larger_loss_that_is_over_is_forgotten_at_once(void **state)
{
	static const double shares[] = { 0.03, 0.1, 0.4 };

	(void)state;
	for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
		run_slow(&(struct slow){ .what = "larger loss that ends",
			     .share = shares[i],
			     .deadline_ns = 30 * RM_NS_PER_S,
			     .for_ns = 40 * RM_NS_PER_S,
			     .over_ns = 12 * RM_NS_PER_S },
		    4, SIM_RNIC_LOSES_BOTH);
}

/* Only the two RNICs of this pair probe each other, so the loss may be of either. */
static void
in_an_isolated_rack_of_two_either_is_named(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < run_seeds(4); seed++) {
		struct run run = run_new("1 % lost, no witnesses", 2, seed);
		struct run_expected *expected;

		run.share = 0.01;
		run.afterglow_ns = 120 * RM_NS_PER_S;
		run.options.loss = QUIET_LOSS;
		run.options.focuses = true;
		run.options.witnesses = 0;
		run_begin(&run);
		expected = run_break(&run, SIM_RNIC_LOSES_BOTH, seed % 2,
		    run_random_time(&run, 6 * RM_NS_PER_S), 200 * RM_NS_PER_S);
		snprintf(expected->name, sizeof expected->name, "h0/r0 or h1/r0");
		expected->direction = RM_DIRECTION_UNKNOWN;
		expected->deadline_ns = 120 * RM_NS_PER_S;
		run_until(&run, 360 * RM_NS_PER_S, 0);
		run_end(&run);
	}
	run_print_latencies("1 % lost, no witnesses", run_seeds(4));
}

static void
an_rnic_that_loses_as_much_as_others_is_never_named(void **state)
{
	static const size_t sizes[] = { 2, 3, 4, 10 };

	(void)state;
	for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
		for (unsigned seed = 0; seed < run_seeds(2); seed++) {
			struct run run = run_new("loss of all", sizes[s], seed);

			run.options.loss = seed % 2 == 0 ? QUIET_LOSS : 1e-3;
			run.options.focuses = true;
			run_begin(&run);
			run_until(&run, 1200 * RM_NS_PER_S, 0);
			run_end(&run);
		}
}

static bool
is_elsewhere(uint64_t inside, uint64_t inside_lost, uint64_t outside_lost)
{
	const struct rack_tally tally = { .inside_sent = inside,
		.inside_answered = inside - inside_lost,
		.outside_sent = 170,
		.outside_answered = 170 - outside_lost };

	return rack_loss_is_elsewhere(&tally);
}

static void
losses_only_outside_the_rack_are_lost_elsewhere(void **state)
{
	(void)state;
	assert_true(is_elsewhere(20, 0, 40));
	assert_true(is_elsewhere(100, 1, 40));
	assert_true(is_elsewhere(1, 0, 170));
	assert_false(is_elsewhere(20, 1, 40));
	assert_false(is_elsewhere(10, 0, 40)); /* too few probes */
	assert_false(is_elsewhere(0, 0, 170));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(five_percent_loss_in_one_direction_is_named_with_it),
		cmocka_unit_test(twenty_percent_loss_in_one_direction_is_named_with_it),
		cmocka_unit_test(fifty_percent_loss_in_one_direction_is_named_with_it),
		cmocka_unit_test(total_loss_in_one_direction_is_dead_in_that_direction),
		cmocka_unit_test(random_loss_is_never_called_an_mtu),
		cmocka_unit_test(too_small_an_mtu_is_named_with_its_direction),
		cmocka_unit_test(large_probes_in_a_row_are_an_mtu_and_no_death),
		cmocka_unit_test(few_large_probes_take_longer_to_report_of_an_mtu),
		cmocka_unit_test(an_rnic_whose_own_host_cannot_send_probes_is_named),
		cmocka_unit_test(bursts_are_no_steady_loss),
		cmocka_unit_test(one_percent_loss_is_named_within_ninety_seconds),
		cmocka_unit_test(half_a_percent_loss_is_named_within_three_minutes),
		cmocka_unit_test(a_larger_loss_that_is_over_is_forgotten_at_once),
		cmocka_unit_test(in_an_isolated_rack_of_two_either_is_named),
		cmocka_unit_test(an_rnic_that_loses_as_much_as_others_is_never_named),
		cmocka_unit_test(losses_only_outside_the_rack_are_lost_elsewhere),
	};

	return cmocka_run_group_tests_name("rack_loss", tests, NULL, NULL);
}
